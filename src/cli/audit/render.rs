//! One record for eyes: a line, with longer texts indented below it.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Deserialize;
use serde_json::Value;

use super::count;
use crate::audit::Entry;
use crate::ui::text::harmless;

/// What stands before each line of a longer text; no record begins so.
const INDENT: &str = "          | ";

/// A line of the log, as far as it is shown.
#[derive(Deserialize)]
struct Shown {
    seq: u64,
    time: String,
    question: Option<String>,
    #[serde(flatten)]
    entry: Entry,
}

/// A summary, and the texts below it.
#[derive(Default)]
struct Block {
    summary: String,
    texts: Vec<String>,
}

/// Writes one record. What can't be read as one is shown for what it is.
pub(super) fn record(line: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let Ok(shown) = serde_json::from_slice::<Shown>(line) else {
        return writeln!(out, "     ? not a record of this version: {}", harmless(&String::from_utf8_lossy(line)));
    };
    let block = describe(&shown.entry);
    let mut head = format!("{:>6} {} {:<8}", shown.seq, harmless(&shown.time), shown.entry.kind());
    if !block.summary.is_empty() {
        let _ = write!(head, " {}", harmless(&block.summary));
    }
    if let Some(question) = &shown.question {
        let _ = write!(head, "  #{}", harmless(question));
    }
    writeln!(out, "{}", head.trim_end())?;
    for line in block.texts.iter().flat_map(|text| text.lines()) {
        writeln!(out, "{INDENT}{}", harmless(line))?;
    }
    Ok(())
}

fn describe(entry: &Entry) -> Block {
    match entry {
        Entry::Start { version, database, model, belts, arguments } => {
            let mut texts = vec![format!("database {database}"), format!("belts {belts}")];
            if !arguments.is_empty() {
                texts.push(format!("arguments {}", arguments.join(" ")));
            }
            Block { summary: format!("pi-sql {version}, {model}"), texts }
        }
        Entry::Database { identity } => Block { summary: "is another now".into(), texts: vec![identity.to_string()] },
        Entry::Question { text, front, model } => {
            Block { summary: format!("by {front}, to {model}"), texts: vec![text.clone()] }
        }
        Entry::Query { tool, sql, given, arguments, deadline_ms, caps } => {
            let mut summary = tool.clone();
            if let Some(ms) = deadline_ms {
                let _ = write!(summary, ", at most {ms} ms");
            }
            if let Some(caps) = caps {
                let _ = write!(summary, ", {}, {}", count(caps.rows, "row"), count(caps.bytes, "byte"));
            }
            let mut texts = call(sql.as_ref(), arguments.as_ref());
            if let Some(given) = given {
                texts.push(format!("given as:\n{given}"));
            }
            Block { summary, texts }
        }
        Entry::Outcome { of, ok, ms, rows, truncated, columns, rows_hash: _, error } => {
            let mut summary = format!("of {of}: {} in {ms} ms", if *ok { "done" } else { "failed" });
            if let Some(rows) = rows {
                let _ = write!(summary, ", {}", count(*rows, "row"));
            }
            if let Some(cap) = truncated {
                let _ = write!(summary, ", cut by the cap on {cap}");
            }
            if !columns.is_empty() {
                let _ = write!(summary, " ({})", columns.join(", "));
            }
            Block { summary, texts: error.iter().cloned().collect() }
        }
        Entry::Refusal { by, reason, tool, sql, arguments } => {
            let tool = tool.as_ref().map(|tool| format!("{tool}, ")).unwrap_or_default();
            Block { summary: format!("{tool}by {by}: {reason}"), texts: call(sql.as_ref(), arguments.as_ref()) }
        }
        Entry::Finding { finding, of, sql } => Block {
            summary: format!("from {of}"),
            texts: std::iter::once(finding.clone()).chain(sql.clone()).collect(),
        },
        Entry::Answer { outcome, text, exit, grounded, results } => {
            let mut summary = format!("{outcome}, exit {exit}");
            if let Some(grounded) = grounded {
                summary.push_str(if *grounded { ", grounded" } else { ", not grounded" });
            }
            if !results.is_empty() {
                let results: Vec<String> = results.iter().map(u64::to_string).collect();
                let _ = write!(summary, ", from {}", results.join(", "));
            }
            Block { summary, texts: vec![text.clone()] }
        }
        Entry::Death { role, how } => Block { summary: format!("{role}: {how}"), ..Block::default() },
        Entry::Repair { what, bytes, kept, digest: _ } => {
            Block { summary: format!("{what} ({}, now in {kept})", count(*bytes, "byte")), ..Block::default() }
        }
        Entry::Rotate { previous, last_hash: _ } => {
            Block { summary: format!("goes on from {previous}"), ..Block::default() }
        }
        Entry::Stop { reason, exit } => Block { summary: format!("{reason}, exit {exit}"), ..Block::default() },
    }
}

/// What a tool was called with.
fn call(sql: Option<&String>, arguments: Option<&Value>) -> Vec<String> {
    sql.cloned().into_iter().chain(arguments.map(Value::to_string)).collect()
}
