//! Why a question could not be planned, in words for the person who asked.

use super::schema::Schema;

/// Why a question could not be planned.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trouble {
    /// A word that carries meaning and is not known.
    Unknown(String),
    /// Words that are known, but not how they belong to the rest.
    Stuck(String),
    /// There are several readings.
    Ask {
        /// What to ask.
        question: String,
        /// The readings.
        choices: Vec<String>,
    },
    /// It can't be answered, and this is why.
    Decline(String),
    /// A phrase counts from today, and today is not known.
    Today,
}

/// How many names a reply lists before it stops.
const MOST_NAMES: usize = 12;

impl Trouble {
    /// The reply's text.
    pub(super) fn text(&self, schema: &Schema) -> String {
        match self {
            Self::Unknown(word) => format!("CANNOT: I don't know what “{word}” means here. {}", known(schema)),
            Self::Stuck(words) => {
                format!(
                    "CANNOT: I don't understand how “{words}” belongs to the rest of the question. Please put it in simpler words."
                )
            }
            Self::Ask { question, choices } => {
                let lines =
                    [question.as_str()].into_iter().chain(choices.iter().map(String::as_str)).collect::<Vec<_>>();
                format!("ASK: {}", lines.join("\n- "))
            }
            Self::Decline(reason) => format!("CANNOT: {reason}"),
            Self::Today => {
                "CANNOT: the question counts from today, and I have not been told today's date. Please name the dates."
                    .to_owned()
            }
        }
    }
}

/// What there is to ask about.
fn known(schema: &Schema) -> String {
    let seen: Vec<String> = schema
        .tables
        .iter()
        .take(MOST_NAMES)
        .map(|table| {
            let columns: Vec<&str> =
                table.columns.iter().take(MOST_NAMES).map(|column| column.about.name.as_str()).collect();
            if table.described && !columns.is_empty() {
                format!("{} ({})", table.name, columns.join(", "))
            } else {
                table.name.clone()
            }
        })
        .collect();
    if seen.is_empty() {
        return "The database shows no tables.".to_owned();
    }
    let more = if schema.tables.len() > MOST_NAMES { ", and more" } else { "" };
    format!("I know these tables: {}{more}.", seen.join("; "))
}
