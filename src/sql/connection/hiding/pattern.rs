//! What an operator writes to hide something: `table`, `table.column`, `*.column`, `prefix*`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Everything an operator hides: the list `sql.hide` of the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Hide(Vec<Pattern>);

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    written: String,
    pub(super) table: Part,
    pub(super) column: Option<Part>,
}

/// The name of a table or a column, where `*` stands for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// What stands between the stars, in lower case.
    pieces: Vec<String>,
}

/// A line of the list can't be understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "hide: “{0}” is no name to hide: write table, table.column, *.column or prefix*; a name with a dot or a star in it \
     goes in double quotes"
)]
pub struct PatternError(String);

impl Hide {
    /// Whether nothing is hidden.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the other's lines in; false if they were there already.
    pub(in crate::sql::connection) fn add(&mut self, other: &Self) -> bool {
        let before = self.0.len();
        self.0.extend(other.0.iter().filter(|line| !self.0.contains(line)).cloned().collect::<Vec<_>>());
        self.0.len() > before
    }

    pub(super) fn patterns(&self) -> &[Pattern] {
        &self.0
    }
}

impl TryFrom<Vec<String>> for Hide {
    type Error = PatternError;

    fn try_from(written: Vec<String>) -> Result<Self, PatternError> {
        written.into_iter().map(Pattern::try_from).collect::<Result<_, _>>().map(Self)
    }
}

impl From<Hide> for Vec<String> {
    fn from(hide: Hide) -> Self {
        hide.0.into_iter().map(|pattern| pattern.written).collect()
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    fn try_from(written: String) -> Result<Self, PatternError> {
        let parts = || {
            let (table, rest) = Part::read(written.trim())?;
            if rest.is_empty() {
                return Some((table, None));
            }
            let (column, rest) = Part::read(rest.strip_prefix('.')?)?;
            rest.is_empty().then_some((table, Some(column)))
        };
        match parts() {
            Some((table, column)) => Ok(Self { written, table, column }),
            None => Err(PatternError(written)),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl Part {
    /// One part and the text behind it.
    fn read(text: &str) -> Option<(Self, &str)> {
        let Some(quoted) = text.strip_prefix('"') else {
            let end = text.find(['.', '"']).unwrap_or(text.len());
            let pieces = text[..end].split('*').map(str::to_lowercase).collect();
            return (end > 0).then_some((Self { pieces }, &text[end..]));
        };
        let mut name = String::new();
        let mut rest = quoted;
        loop {
            let (before, after) = rest.split_once('"')?;
            name.push_str(before);
            rest = after;
            match rest.strip_prefix('"') {
                Some(after) => {
                    name.push('"');
                    rest = after;
                }
                None => break,
            }
        }
        (!name.is_empty()).then_some((Self { pieces: vec![name.to_lowercase()] }, rest))
    }

    /// Whether it may mean more than one name.
    pub(super) fn is_open(&self) -> bool {
        self.pieces.len() > 1
    }

    /// Whether a name is meant. Case is ignored for all letters, where SQLite ignores it for ASCII only: rather one
    /// too many than one too few.
    pub(super) fn matches(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let Some((first, others)) = self.pieces.split_first() else { return false };
        let Some((last, middle)) = others.split_last() else { return name == *first };
        let Some(mut rest) = name.strip_prefix(first.as_str()) else { return false };
        for piece in middle {
            let Some(at) = rest.find(piece.as_str()) else { return false };
            rest = &rest[at + piece.len()..];
        }
        rest.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(written: &str) -> Result<Pattern, PatternError> {
        Pattern::try_from(written.to_owned())
    }

    #[test]
    fn a_star_stands_for_anything_and_case_for_nothing() {
        for (written, name, expected) in [
            ("Salaries", "SALARIES", true),
            ("salar*", "salaries", true),
            ("salar*", "the_salaries", false),
            ("*_pay_*", "old_pay_2025", true),
            ("*_pay_*", "old_pay", false),
            ("a*a", "a", false),
            ("ÄRZTE", "ärzte", true),
            ("\"a*\"", "ab", false),
            ("\"a*\"", "a*", true),
            ("\"say \"\"hi\"\"\"", "say \"hi\"", true),
        ] {
            assert_eq!(pattern(written).unwrap().table.matches(name), expected, "{written} {name}");
        }
    }

    #[test]
    fn a_column_stands_behind_a_dot() {
        let both = pattern(" staff.\"e.mail\"").unwrap();
        assert!(both.table.matches("staff") && both.column.unwrap().matches("E.Mail"));
        assert!(pattern("*.ssn").unwrap().table.matches("anything"));
        for wrong in ["", " ", ".", "a.", ".a", "main.a.b", "\"a", "\"\"", "a\"b\"", "\"a\"b"] {
            assert_eq!(pattern(wrong), Err(PatternError(wrong.into())), "{wrong}");
        }
    }

    #[test]
    fn a_list_is_written_as_it_was_read() {
        let written = vec!["Staff.SSN".to_owned(), "pay*".to_owned()];
        assert_eq!(Vec::from(Hide::try_from(written.clone()).unwrap()), written);
    }
}
