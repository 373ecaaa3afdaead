//! The names that are hidden in one database.

use std::collections::{BTreeMap, BTreeSet};

/// The hidden tables and columns, compared as SQLite compares names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HiddenNames {
    tables: BTreeSet<String>,
    columns: BTreeMap<String, BTreeSet<String>>,
}

impl HiddenNames {
    pub(in crate::sql::connection) fn hide_table(&mut self, table: &str) -> bool {
        self.tables.insert(table.to_ascii_lowercase())
    }

    pub(in crate::sql::connection) fn hide_column(&mut self, table: &str, column: &str) -> bool {
        self.columns.entry(table.to_ascii_lowercase()).or_default().insert(column.to_ascii_lowercase())
    }

    /// Whether nothing is hidden.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.columns.is_empty()
    }

    /// Whether a whole table or view is hidden.
    pub fn hides_table(&self, table: &str) -> bool {
        self.tables.contains(&table.to_ascii_lowercase())
    }

    /// Whether a column is hidden, by itself or with its table.
    pub fn hides_column(&self, table: &str, column: &str) -> bool {
        self.hides_table(table) || self.hides_column_itself(table, column)
    }

    /// Whether a column is hidden by itself.
    pub(super) fn hides_column_itself(&self, table: &str, column: &str) -> bool {
        let columns = self.columns.get(&table.to_ascii_lowercase());
        columns.is_some_and(|columns| columns.contains(&column.to_ascii_lowercase()))
    }

    pub(super) fn has_hidden_columns(&self, table: &str) -> bool {
        self.columns.contains_key(&table.to_ascii_lowercase())
    }

    /// Whether a text holds any hidden name as a word: a comment and a string tell as much as code.
    pub fn mentioned_in(&self, text: &str) -> bool {
        self.all().any(|name| holds_word(text, name, is_word))
    }

    /// Whether the name of an index is made with a hidden name: `idx_staff_ssn`.
    pub fn is_part_of(&self, name: &str) -> bool {
        self.all().any(|hidden| holds_word(name, hidden, char::is_alphanumeric))
    }

    /// Whether a message holds a hidden name that isn't in the text it is about.
    pub fn are_told_by(&self, message: &str, about: &str) -> bool {
        self.all().any(|name| holds_word(message, name, is_word) && !holds_word(about, name, is_word))
    }

    /// The hidden columns of the tables that a text names.
    pub(super) fn of_tables_in<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let tables = self.columns.iter().filter(move |(table, _)| mentions(text, table));
        tables.flat_map(|(_, columns)| columns.iter().map(String::as_str))
    }

    /// What is hidden, for the operator's eyes.
    pub fn to_list(&self) -> Vec<String> {
        let columns = self.columns.iter().filter(|(table, _)| !self.tables.contains(*table));
        let columns = columns.flat_map(|(table, columns)| columns.iter().map(move |name| format!("{table}.{name}")));
        self.tables.iter().cloned().chain(columns).collect()
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().chain(self.columns.values().flatten()).map(String::as_str)
    }
}

/// Whether a text may name something; a name with a quote in it is written in too many ways to look for.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    name.contains(['"', '`', ']', '\'']) || holds_word(text, name, is_word)
}

fn holds_word(text: &str, name: &str, is_word: impl Fn(char) -> bool) -> bool {
    let (text, name) = (text.to_ascii_lowercase(), name.to_ascii_lowercase());
    text.match_indices(&name).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_some_and(&is_word);
        let after = text[at + name.len()..].chars().next().is_some_and(&is_word);
        !before && !after
    })
}

/// Fewer than SQLite takes for part of a name, since it takes U+FEFF for a space in places: rather one find too many.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_words_in_any_case() {
        let mut names = HiddenNames::default();
        names.hide_table("Salaries");
        names.hide_column("staff", "ssn");
        assert!(names.hides_column("SALARIES", "anything") && names.hides_column("Staff", "SSN"));
        assert!(!names.hides_table("staff") && !names.hides_column("staff", "name"));
        assert!(names.mentioned_in("-- see \"SSN\"") && names.mentioned_in("main.salaries"));
        assert!(!names.mentioned_in("ssns, old_salaries"));
        assert!(names.is_part_of("idx_staff_ssn_2") && !names.is_part_of("lessnoise"));
        assert_eq!(names.to_list(), ["salaries", "staff.ssn"]);
    }
}
