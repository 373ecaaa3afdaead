//! Look-ups: one query that tells in which columns a word of the question is a value, and how the data spells it.

use std::fmt::Write as _;

use serde_json::Value;

use super::link::{Link, Target};
use super::schema::{Col, Schema};
use super::sql::text_literal;
use super::words::Token;

/// The most column × word pairs one look-up asks about, so that its cost stays that of a few scans.
const MOST_PAIRS: usize = 60;

/// The fit of a value that the data holds.
const FOUND: u8 = 10;

/// Values that look-ups have found, by word.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// Each word that was looked for (in lower case), and where it is.
    found: Vec<(String, Vec<Link>)>,
}

impl Places {
    /// What is known of a text: `None` when it was never looked for.
    pub(super) fn of(&self, text: &str) -> Option<Vec<Link>> {
        let lower = text.to_lowercase();
        self.found.iter().find(|(known, _)| *known == lower).map(|(_, links)| links.clone())
    }

    /// Whether no look-up has told anything.
    pub(super) fn is_empty(&self) -> bool {
        self.found.iter().all(|(_, links)| links.is_empty())
    }

    /// The longest run of words from `at` on that a look-up has found.
    pub(super) fn longest(&self, tokens: &[Token], at: usize) -> Option<(usize, Vec<Link>)> {
        (1..=4.min(tokens.len() - at)).rev().find_map(|length| {
            let text = tokens[at..at + length].iter().map(|token| token.lower.as_str()).collect::<Vec<_>>().join(" ");
            let links = self.of(&text)?;
            (!links.is_empty()).then_some((length, links))
        })
    }

    /// Takes in what a look-up for these words gave.
    pub(super) fn learn(&mut self, schema: &Schema, words: &[String], rows: &[Vec<Value>]) {
        for word in words {
            let lower = word.to_lowercase();
            let links = rows
                .iter()
                .filter_map(|row| {
                    let [Value::String(place), Value::String(value), ..] = row.as_slice() else { return None };
                    let col = schema.labelled(place)?;
                    (value.to_lowercase() == lower)
                        .then(|| Link { target: Target::Value(col, value.clone()), fit: FOUND })
                })
                .collect();
            self.found.push((lower, links));
        }
    }
}

/// The query that looks for these words; `None` when there is no column to look in.
pub(super) fn query(schema: &Schema, words: &[String]) -> Option<String> {
    let columns: Vec<Col> = (0..schema.tables.len())
        .flat_map(|table| schema.columns(table))
        .filter(|&col| schema.column(col).is_text() && !schema.column(col).about.samples_complete)
        .take(MOST_PAIRS / words.len().max(1))
        .collect();
    if columns.is_empty() || words.is_empty() {
        return None;
    }
    let list = words.iter().map(|word| text_literal(word)).collect::<Vec<_>>().join(", ");
    let mut sql = String::new();
    for (place, col) in columns.iter().enumerate() {
        let column = &schema.column(*col).about.quoted;
        let _ = write!(
            sql,
            "{}SELECT {} AS place, {column} AS value, COUNT(*) AS found FROM {} WHERE {column} COLLATE NOCASE IN ({list}) GROUP BY {column}",
            if place == 0 { "" } else { " UNION ALL " },
            text_literal(&schema.label(*col)),
            schema.tables[col.table].quoted,
        );
    }
    Some(sql)
}
