//! Proof: which cell of which result each number of an answer came from.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::sql::gate::QueryResult;

/// Rows of a result that can prove a number by merely holding it; a longer result holds almost any small number.
const PROVING_ROWS: usize = 50;

/// One number of an answer and the cell it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Receipt {
    /// The number as written.
    pub text: String,
    /// Index of the query.
    pub query: usize,
    /// Index of the row.
    pub row: usize,
    /// Index of the column.
    pub column: usize,
}

/// The numbers of an answer, proven and not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Proven, in the order of the text.
    pub receipts: Vec<Receipt>,
    /// Numbers that are neither in a result nor in the question.
    pub unproven: Vec<String>,
}

impl Proof {
    /// Whether every number is accounted for.
    pub fn is_whole(&self) -> bool {
        self.unproven.is_empty()
    }
}

static DATE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d{2}(-\d{2})?([ T]\d{2}:\d{2}(:\d{2})?)?").ok());
static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d[\d,]*(\.\d+)?").ok());

/// Looks every number of `answer` up: in the results, then in the question. Dates belong to ranges, which the answer's
/// basis states, and are left out here.
pub fn prove(answer: &str, question: &str, results: &[&QueryResult]) -> Proof {
    let mut proof = Proof::default();
    let (Some(date), Some(number)) = (DATE.as_ref(), NUMBER.as_ref()) else { return proof };
    let undated = date.replace_all(answer, " ");
    let asked: Vec<&str> = number.find_iter(question).map(|found| found.as_str()).collect();
    for found in number.find_iter(&undated) {
        let text = found.as_str().trim_end_matches(',');
        if let Some(receipt) = find(text, results) {
            proof.receipts.push(receipt);
        } else if !asked.contains(&text) {
            proof.unproven.push(text.to_owned());
        }
    }
    proof
}

/// The newest result first: the answer is about the last query.
fn find(text: &str, results: &[&QueryResult]) -> Option<Receipt> {
    let plain = text.replace(',', "");
    let decimals = plain.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    for (query, result) in results.iter().enumerate().rev() {
        for (row, cells) in result.rows.iter().take(PROVING_ROWS).enumerate() {
            if let Some(column) = cells.iter().position(|cell| shows(cell, &plain, decimals)) {
                return Some(Receipt { text: text.to_owned(), query, row, column });
            }
        }
    }
    None
}

/// Whether a cell, rounded to as many decimals as the text has, reads like the text.
fn shows(cell: &Value, plain: &str, decimals: usize) -> bool {
    match cell {
        Value::Number(number) if number.is_f64() => {
            number.as_f64().is_some_and(|value| format!("{:.decimals$}", value.abs()) == plain)
        }
        Value::Number(number) => number.to_string().trim_start_matches('-') == plain,
        // Text holds numbers too: `Plan 9`, or an integer too large for JSON.
        Value::String(text) => text.split(|c: char| !c.is_ascii_digit() && c != '.').any(|part| part == plain),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(rows: Vec<Vec<Value>>) -> QueryResult {
        QueryResult {
            truncated: None,
            columns: vec!["n".into()],
            row_count: rows.len(),
            rows,
            notes: Vec::new(),
            ms: 0.1,
            audit_seq: 3,
        }
    }

    fn check(answer: &str, question: &str, rows: Vec<Vec<Value>>) -> Proof {
        let result = result(rows);
        prove(answer, question, &[&result])
    }

    #[test]
    fn a_number_is_proven_by_a_cell_grouped_or_rounded() {
        let checked = check("1,234 of them, 56.7 on average.", "how many?", vec![vec![json!(1234), json!(56.6666)]]);
        assert_eq!(checked.unproven, Vec::<String>::new());
        assert_eq!(checked.receipts[1], Receipt { text: "56.7".into(), query: 0, row: 0, column: 1 });
    }

    #[test]
    fn a_number_from_the_question_or_in_a_date_needs_no_cell() {
        let checked = check("7 since 2026-06-01, of the top 5.", "top 5?", vec![vec![json!(7)]]);
        assert_eq!(checked.unproven, Vec::<String>::new());
    }

    #[test]
    fn a_number_from_nowhere_is_named() {
        assert_eq!(check("143 accounts.", "how many?", vec![vec![json!(142)]]).unproven, ["143"]);
    }

    #[test]
    fn a_long_result_proves_nothing_past_its_first_rows() {
        let rows = (0..200).map(|n| vec![json!(n)]).collect();
        assert_eq!(check("there are 150.", "how many?", rows).unproven, ["150"]);
    }
}
