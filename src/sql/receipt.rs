//! What the audit keeps of an errand: before it, after it, or that it never began.

use serde_json::{Value, json};

use crate::audit::{Caps, Digest, Entry};
use crate::sql::errand::Errand;
use crate::sql::gate::{Finding, ListTables, QueryResult, Refusal, Reply, Request};
use crate::sql::guard;
use crate::sql::settings::SqlSettings;

/// Bytes of a text that a record keeps whole: every text that passes the guard does.
const KEPT: usize = guard::MAX_BYTES;

/// Bytes that are kept of a longer one.
const KEPT_OF_LONGER: usize = 1_000;

/// Characters of a column's name that are kept; a result itself has no longer ones.
const NAME_CHARS: usize = 200;

/// Columns of a result, SQLite's own limit.
const MOST_COLUMNS: usize = 2_000;

/// The record that is on disk before the errand begins; `given` is the model's text where a fence was taken off it.
pub fn before(errand: &Errand, given: Option<&str>, settings: &SqlSettings) -> Entry {
    let (sql, arguments, caps) = match errand {
        Errand::RunQuery { sql } => {
            let caps = Caps { rows: settings.max_rows as u64, bytes: settings.max_bytes as u64 };
            (Some(sql.as_str().to_owned()), None, Some(caps))
        }
        Errand::DescribeTable { table } => (None, Some(json!({ "table": kept(table) })), None),
        Errand::ListTables(wanted) => (None, Some(listing(wanted)), None),
    };
    Entry::Query {
        tool: errand.tool().to_owned(),
        sql,
        given: given.map(kept),
        arguments,
        deadline_ms: u64::try_from(errand.time(settings).as_millis()).ok(),
        caps,
    }
}

/// The record of what came of it; `of` is the sequence number of the record before.
pub fn after(of: u64, ms: f64, outcome: &Result<Reply, Refusal>) -> Entry {
    let result = match outcome {
        Ok(Reply::RunQuery(result)) => Some(result),
        _ => None,
    };
    Entry::Outcome {
        of,
        ok: outcome.is_ok(),
        ms,
        rows: result.map(|result| result.row_count as u64),
        truncated: result.and_then(|result| result.truncated).map(|cap| word(&cap)),
        columns: result.map(column_names).unwrap_or_default(),
        rows_hash: result.and_then(rows_hash),
        error: outcome.as_ref().err().map(|refusal| kept(&refusal.message)),
    }
}

/// The record of a request that was not granted.
pub fn refused(request: &Request, refusal: &Refusal) -> Entry {
    let (tool, sql, arguments) = match request {
        Request::ListTables(wanted) => ("list_tables", None, Some(listing(wanted))),
        Request::DescribeTable { table } => ("describe_table", None, Some(json!({ "table": kept(table) }))),
        Request::RunQuery { sql } => ("run_query", Some(kept(sql)), None),
        Request::SaveFinding(Finding { finding, audit_seq }) => {
            ("save_finding", None, Some(json!({ "finding": kept(finding), "audit_seq": audit_seq })))
        }
    };
    Entry::Refusal {
        by: word(&refusal.kind),
        reason: kept(&refusal.message),
        tool: Some(tool.to_owned()),
        sql,
        arguments,
    }
}

/// The record of a finding, with the SQL of the query that shows it.
pub fn finding(finding: &Finding, sql: &str) -> Entry {
    Entry::Finding { finding: finding.finding.clone(), of: finding.audit_seq, sql: Some(sql.to_owned()) }
}

fn listing(wanted: &ListTables) -> Value {
    json!({ "filter": wanted.filter.as_deref().map(kept), "offset": wanted.offset, "limit": wanted.limit })
}

/// The text; of one that is too long to keep its beginning, its length and its digest.
fn kept(text: &str) -> String {
    if text.len() <= KEPT {
        return text.to_owned();
    }
    let start = &text[..text.floor_char_boundary(KEPT_OF_LONGER)];
    format!("{start}…[{} bytes in all, {}]", text.len(), Digest::of(text.as_bytes()))
}

/// An honest reader has shortened the names and has no more columns than SQLite allows; one that isn't must not be able to
/// make a record that is too long to write.
fn column_names(result: &QueryResult) -> Vec<String> {
    let short = |name: &String| name.chars().take(NAME_CHARS).collect();
    result.columns.iter().take(MOST_COLUMNS).map(short).collect()
}

fn rows_hash(result: &QueryResult) -> Option<String> {
    serde_json::to_vec(&result.rows).ok().map(|rows| Digest::of(&rows).to_string())
}

/// A unit variant as it is written in JSON.
fn word(variant: &impl serde::Serialize) -> String {
    serde_json::to_value(variant).ok().and_then(|value| value.as_str().map(ToOwned::to_owned)).unwrap_or_default()
}
