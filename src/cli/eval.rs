//! `pi-sql eval FILE…`: questions with known answers, asked of the whole machine and counted.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Value;

use crate::cli::appliance::Appliance;
use crate::cli::options::Options;
use crate::cli::output::unwritable;
use crate::cli::query::finish;
use crate::cli::{ExitKind, Failure, ask};
use crate::process::Supervisor;
use crate::ui::envelope::{Envelope, OutcomeKind};
use crate::ui::text::harmless;

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
    let mut cases = Vec::new();
    for file in &args.files {
        cases.push((file, read(file)?));
    }
    let appliance = Appliance::load(options)?;
    let mut supervisor = appliance.start(options, true)?;
    let outcome = ask_all(&mut supervisor, &appliance, options, args, cases, out);
    finish(supervisor, outcome)?;
    Ok(ExitCode::SUCCESS)
}

fn ask_all(
    supervisor: &mut Supervisor,
    appliance: &Appliance,
    options: &Options,
    args: &Args,
    cases: Vec<(&PathBuf, Vec<Case>)>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let unwritable = |error| unwritable("the counts", error);
    writeln!(out, "{:<40} questions  answered  right  wrong  declined  telling  telling right", "file")
        .map_err(unwritable)?;
    for (file, cases) in cases {
        let mut tally = Tally::default();
        for case in cases {
            let envelope = ask::answer(supervisor, appliance, options, &case.question, "eval", &mut |_| ())?;
            if let Some(signal) = envelope.exit.checked_sub(128).filter(|signal| *signal > 0) {
                return Err(Failure::new(ExitKind::Signal(signal), "stopped before the last question was answered"));
            }
            let verdict = tally.count(&case, &envelope);
            if (args.wrong && verdict == Verdict::Wrong) || (args.declined && verdict == Verdict::Declined) {
                let sql = envelope.answering_query().map_or("", |query| query.sql.as_str());
                let [question, answer, sql] = [&case.question, &envelope.answer, sql].map(harmless);
                writeln!(out, "{verdict:?}: {question}\n  {answer}\n  {sql}").map_err(unwritable)?;
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
        .and_then(|()| out.flush())
        .map_err(unwritable)?;
    }
    Ok(())
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
                let query = envelope.answering_query();
                if query.is_some_and(|query| same_result(&query.rows, &case.rows, case.ordered)) {
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
    match cell.as_f64() {
        Some(value) => format!("{value:030.5}"),
        None => cell.to_string(),
    }
}

fn equal_rows(left: &[Vec<&Value>], right: &[Vec<&Value>]) -> bool {
    left.iter().zip(right).all(|(left, right)| left.iter().zip(right).all(|(left, right)| equal(left, right)))
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => (left - right).abs() <= TOLERANCE * left.abs().max(1.0),
        _ => left == right,
    }
}

fn read(file: &Path) -> Result<Vec<Case>, Failure> {
    let unusable = |what: String| Failure::new(ExitKind::Usage, format!("{}: {what}", file.display()));
    let lines = BufReader::new(File::open(file).map_err(|error| unusable(error.to_string()))?).lines();
    let mut cases = Vec::new();
    for (index, line) in lines.enumerate() {
        let line = line.map_err(|error| unusable(error.to_string()))?;
        if !line.trim().is_empty() {
            let broken = |what: &dyn std::fmt::Display| unusable(format!("line {}: {what}", index + 1));
            let case: Case = serde_json::from_str(&line).map_err(|error| broken(&error))?;
            if case.question.trim().is_empty() {
                return Err(broken(&"the question is empty"));
            }
            cases.push(case);
        }
    }
    // A count of nothing would look like a perfect score.
    if cases.is_empty() { Err(unusable("there is no question in it".into())) } else { Ok(cases) }
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
