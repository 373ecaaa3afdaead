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
            Self::Unknown(word) => {
                let meant = nearest(schema, word).map(|name| format!(" Did you mean “{name}”?")).unwrap_or_default();
                format!("CANNOT: I don't know what “{word}” means here.{meant} {}", known(schema))
            }
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
    let seen: Vec<&str> = schema.tables.iter().take(MOST_NAMES).map(|table| table.name.as_str()).collect();
    if seen.is_empty() {
        return "The database shows no tables.".to_owned();
    }
    let more = if schema.tables.len() > MOST_NAMES { ", and more" } else { "" };
    format!("I know these tables: {}{more}.", seen.join(", "))
}

/// The name of a table or column that a word is a slip of the pen away from.
fn nearest<'a>(schema: &'a Schema, word: &str) -> Option<&'a str> {
    /// In a shorter word two letters are too much of it.
    const LONG: usize = 6;
    let lower = word.to_lowercase();
    let most = if lower.chars().count() >= LONG { 2 } else { 1 };
    let columns = schema.tables.iter().flat_map(|table| table.columns.iter().map(|column| column.about.name.as_str()));
    let names = schema.tables.iter().map(|table| table.name.as_str()).chain(columns);
    let near = names.map(|name| (distance(&lower, &name.to_lowercase()), name));
    near.filter(|(letters, _)| *letters <= most && lower.chars().count() > most * 2)
        .min_by_key(|(letters, _)| *letters)
        .map(|(_, name)| name)
}

/// How many letters must be added, left out or changed to make one word of the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (place, letter) in left.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], place + 1);
        for (at, other) in right.iter().enumerate() {
            let changed = corner + usize::from(letter != *other);
            corner = row[at + 1];
            row[at + 1] = changed.min(corner + 1).min(row[at] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn letters_that_differ_are_counted() {
        assert_eq!(distance("acounts", "accounts"), 1);
        assert_eq!(distance("accuonts", "accounts"), 2);
        assert_eq!(distance("", "plans"), 5);
        assert_eq!(distance("plans", "plans"), 0);
    }
}
