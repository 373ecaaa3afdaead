//! `pi-sql eval FILE…`: questions with known answers, asked of the whole machine and counted.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Value;

use crate::cli::appliance::Appliance;
use crate::cli::options::Options;
use crate::cli::{ExitKind, Failure, ask};
use crate::ui::envelope::{Envelope, OutcomeKind};

/// Numbers that differ by less are the same.
const TOLERANCE: f64 = 1e-6;

/// `pi-sql eval`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of JSON lines: `question`, `rows` (the right result), `ordered` (whether its order counts).
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Also print every question that was answered wrong.
    #[arg(long)]
    wrong: bool,
    /// Also print every question that was not answered, with the reason.
    #[arg(long)]
    declined: bool,
}

/// One question with its right result.
#[derive(Deserialize)]
struct Case {
    question: String,
    rows: Vec<Vec<Value>>,
    #[serde(default)]
    ordered: bool,
}

/// What came of a file of questions. `telling` counts those whose right result is more than nothing, 0 or NULL.
#[derive(Default)]
struct Tally {
    questions: usize,
    right: usize,
    wrong: usize,
    declined: usize,
    telling: usize,
    telling_right: usize,
}

/// Asks every question of every file, each in a conversation of its own.
pub(crate) fn run(options: &Options, args: &Args, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let unwritable = |error| Failure::new(ExitKind::Output, "the counts can't be written").because(error);
    let mut cases = Vec::new();
    for file in &args.files {
        cases.push((file, read(file)?));
    }
    let appliance = Appliance::load(options)?;
    let mut supervisor = appliance.start(options, true)?;
    writeln!(out, "{:<40} questions  answered  right  wrong  declined  telling  telling right", "file")
        .map_err(unwritable)?;
    for (file, cases) in cases {
        let mut tally = Tally::default();
        for case in cases {
            let envelope = ask::answer(&mut supervisor, &appliance, options, &case.question, "eval", &mut |_| ())?;
            if envelope.exit > 128 {
                supervisor.stop("stopped", envelope.exit)?;
                return Ok(ExitCode::from(envelope.exit));
            }
            let verdict = tally.count(&case, &envelope);
            if (args.wrong && verdict == Verdict::Wrong) || (args.declined && verdict == Verdict::Declined) {
                let sql = envelope
                    .result
                    .and_then(|index| envelope.queries.get(index))
                    .map_or("", |query| query.sql.as_str());
                writeln!(out, "{verdict:?}: {}\n  {}\n  {sql}", case.question, envelope.answer).map_err(unwritable)?;
            }
            supervisor.new_conversation()?;
        }
        let Tally { questions, right, wrong, declined, telling, telling_right } = tally;
        writeln!(
            out,
            "{:<40} {questions:>9}  {:>8}  {right:>5}  {wrong:>5}  {declined:>8}  {telling:>7}  {telling_right:>13}",
            file.file_name().unwrap_or_default().to_string_lossy(),
            right + wrong,
        )
        .map_err(unwritable)?;
    }
    supervisor.stop("eval", 0)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Right,
    Wrong,
    Declined,
}

impl Tally {
    fn count(&mut self, case: &Case, envelope: &Envelope) -> Verdict {
        let verdict = match envelope.outcome {
            OutcomeKind::Answered => {
                let rows = envelope.result.and_then(|index| envelope.queries.get(index)).map(|query| &query.rows);
                if rows.is_some_and(|rows| same_result(rows, &case.rows, case.ordered)) {
                    Verdict::Right
                } else {
                    Verdict::Wrong
                }
            }
            _ => Verdict::Declined,
        };
        let telling = case.rows.iter().flatten().any(|cell| !cell.is_null() && cell.as_f64() != Some(0.0));
        self.questions += 1;
        self.telling += usize::from(telling);
        match verdict {
            Verdict::Right => {
                self.right += 1;
                self.telling_right += usize::from(telling);
            }
            Verdict::Wrong => self.wrong += 1,
            Verdict::Declined => self.declined += 1,
        }
        verdict
    }
}

/// Whether two results are the same: columns in any order, rows too unless their order counts.
fn same_result(found: &[Vec<Value>], right: &[Vec<Value>], ordered: bool) -> bool {
    if found.len() != right.len() {
        return false;
    }
    let Some(width) = right.first().map(Vec::len) else { return true };
    if found.iter().chain(right).any(|row| row.len() != width) {
        return false;
    }
    permutations(width).iter().any(|order| {
        let arranged: Vec<Vec<&Value>> =
            found.iter().map(|row| order.iter().map(|&index| &row[index]).collect()).collect();
        let expected: Vec<Vec<&Value>> = right.iter().map(|row| row.iter().collect()).collect();
        if ordered { equal_rows(&arranged, &expected) } else { equal_rows(&sorted(arranged), &sorted(expected)) }
    })
}

/// Every order of so many columns; past six columns only the given one, since 7! is no longer cheap.
fn permutations(width: usize) -> Vec<Vec<usize>> {
    if width > 6 {
        return vec![(0..width).collect()];
    }
    let mut orders = vec![Vec::new()];
    for column in 0..width {
        orders = orders
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..=order.len()).map(move |at| {
                    let mut longer = order.clone();
                    longer.insert(at, column);
                    longer
                })
            })
            .collect();
    }
    orders
}

fn sorted(mut rows: Vec<Vec<&Value>>) -> Vec<Vec<&Value>> {
    let key = |row: &Vec<&Value>| row.iter().map(|cell| cell_key(cell)).collect::<Vec<_>>();
    rows.sort_by_cached_key(key);
    rows
}

/// Numbers sort as they compare: rounded to the tolerance.
fn cell_key(cell: &Value) -> String {
    match number(cell) {
        Some(value) => format!("{value:030.5}"),
        None => cell.to_string(),
    }
}

fn equal_rows(left: &[Vec<&Value>], right: &[Vec<&Value>]) -> bool {
    left.iter().zip(right).all(|(left, right)| left.iter().zip(right).all(|(left, right)| equal(left, right)))
}

fn equal(left: &Value, right: &Value) -> bool {
    match (number(left), number(right)) {
        (Some(left), Some(right)) => (left - right).abs() <= TOLERANCE * left.abs().max(1.0),
        _ => left == right,
    }
}

fn number(cell: &Value) -> Option<f64> {
    cell.as_f64()
}

fn read(file: &Path) -> Result<Vec<Case>, Failure> {
    let unusable = |what: String| Failure::new(ExitKind::Usage, format!("{}: {what}", file.display()));
    let lines = BufReader::new(File::open(file).map_err(|error| unusable(error.to_string()))?).lines();
    let mut cases = Vec::new();
    for (index, line) in lines.enumerate() {
        let line = line.map_err(|error| unusable(error.to_string()))?;
        if !line.trim().is_empty() {
            let case = serde_json::from_str(&line).map_err(|error| unusable(format!("line {}: {error}", index + 1)))?;
            cases.push(case);
        }
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rows(value: Value) -> Vec<Vec<Value>> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn columns_may_come_in_any_order_and_rows_too_unless_their_order_counts() {
        let right = rows(json!([["a", 1], ["b", 2]]));
        assert!(same_result(&rows(json!([[2, "b"], [1, "a"]])), &right, false));
        assert!(!same_result(&rows(json!([[2, "b"], [1, "a"]])), &right, true));
        assert!(same_result(&rows(json!([[1.000_000_01, "a"], [2, "b"]])), &right, true));
        assert!(!same_result(&rows(json!([["a", 1], ["b", 3]])), &right, false));
        assert!(!same_result(&rows(json!([["a", 1]])), &right, false));
    }
}
