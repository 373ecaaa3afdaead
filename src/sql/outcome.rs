//! What a final text is: an answer, a question back, or an honest no.
//!
//! A model says so itself, in words (`.pi/SYSTEM.md`): a text that starts with `ASK:` asks back, its choices on lines
//! that start with `- `; one that starts with `CANNOT:` declines. Everything else answers.

/// A final text, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One sentence with the number in it.
    Answered(String),
    /// A question back, with choices if there are any.
    Asked {
        /// The question.
        question: String,
        /// What it may be answered with.
        choices: Vec<String>,
    },
    /// An honest no, with the reason.
    Declined(String),
}

impl Outcome {
    /// Reads a final text.
    pub fn of(text: &str) -> Self {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("ASK:") {
            let (choices, question): (Vec<&str>, Vec<&str>) =
                rest.lines().map(str::trim).filter(|line| !line.is_empty()).partition(|line| line.starts_with("- "));
            return Self::Asked {
                question: question.join("\n"),
                choices: choices.iter().map(|line| line[2..].trim().to_owned()).collect(),
            };
        }
        match text.strip_prefix("CANNOT:") {
            Some(reason) => Self::Declined(reason.trim().to_owned()),
            None => Self::Answered(text.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_itself_what_it_is() {
        assert_eq!(Outcome::of(" 142 accounts churned.\n"), Outcome::Answered("142 accounts churned.".into()));
        assert_eq!(Outcome::of("CANNOT: no table has prices."), Outcome::Declined("no table has prices.".into()));
        assert_eq!(
            Outcome::of("ASK: Which plan?\n- Pro\n- Team"),
            Outcome::Asked { question: "Which plan?".into(), choices: vec!["Pro".into(), "Team".into()] }
        );
    }
}
