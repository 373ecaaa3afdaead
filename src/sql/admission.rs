//! What is let in, and on what record: the one decision that the supervisor and a local gate share.

use std::collections::BTreeMap;

use crate::audit::Entry;
use crate::sql::errand::Errand;
use crate::sql::gate::{Finding, Refusal, RefusalKind, Reply, Request};
use crate::sql::settings::SqlSettings;
use crate::sql::{guard, receipt};

/// Queries that a finding may rest on: the last ones of a conversation.
const KEPT: usize = 1_000;

/// Bytes of a finding: one sentence, and then some.
const LONGEST_FINDING: usize = 2_000;

/// A decision: what goes on record first, and what may follow.
#[derive(Debug)]
pub struct Admission {
    /// The record. Nothing follows before it is written.
    pub entry: Entry,
    /// What follows.
    pub granted: Granted,
}

/// What may follow a decision's record.
#[derive(Debug)]
pub enum Granted {
    /// The errand may run, once its record is safe from a power cut.
    Errand(Errand),
    /// The finding may be kept, likewise.
    Finding(Finding),
    /// Nothing: whoever asked gets this.
    Refused(Refusal),
}

/// The SQL of the queries that have given rows in a conversation, by audit sequence: what a finding may rest on.
#[derive(Debug, Default)]
pub struct Shown(BTreeMap<u64, String>);

impl Admission {
    /// Decides on a request. Belt 2 is in here: the text of a query has passed the guard, or is refused.
    pub fn of(request: &Request, shown: &Shown, settings: &SqlSettings) -> Self {
        let errand = match request {
            Request::ListTables(wanted) => Ok((Errand::ListTables(wanted.clone()), None)),
            Request::DescribeTable { table } => Ok((Errand::DescribeTable { table: table.clone() }, None)),
            Request::RunQuery { sql } => guarded(sql),
            Request::SaveFinding(finding) => match ground(finding, shown) {
                Ok(sql) => {
                    let entry = receipt::finding(finding, sql);
                    return Self { entry, granted: Granted::Finding(finding.clone()) };
                }
                Err(message) => Err(Refusal { kind: RefusalKind::Request, message }),
            },
        };
        match errand {
            Ok((errand, given)) => {
                Self { entry: receipt::before(&errand, given, settings), granted: Granted::Errand(errand) }
            }
            Err(refusal) => Self { entry: receipt::refused(request, &refusal), granted: Granted::Refused(refusal) },
        }
    }
}

impl Shown {
    /// The SQL of that query, if it gave rows here.
    pub fn sql(&self, seq: u64) -> Option<&str> {
        self.0.get(&seq).map(String::as_str)
    }

    /// Notes what an errand came to, and stamps a result with the sequence number of its record.
    pub fn note(&mut self, seq: u64, errand: &Errand, outcome: &mut Result<Reply, Refusal>) {
        if let (Ok(Reply::RunQuery(result)), Errand::RunQuery { sql }) = (outcome, errand) {
            result.audit_seq = seq;
            self.0.insert(seq, sql.as_str().to_owned());
            while self.0.len() > KEPT {
                self.0.pop_first();
            }
        }
    }

    /// The conversation is over: what it found is no ground for the next one.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The SQL that a finding rests on, or why the finding can't be kept.
fn ground<'a>(finding: &Finding, shown: &'a Shown) -> Result<&'a str, String> {
    let Finding { finding, audit_seq } = finding;
    if finding.len() > LONGEST_FINDING {
        return Err(format!(
            "The finding is {} bytes long and {LONGEST_FINDING} are kept: write one sentence with its number.",
            finding.len()
        ));
    }
    shown.sql(*audit_seq).ok_or_else(|| {
        format!("No query with audit_seq {audit_seq} has given rows here. Pass the audit_seq of a run_query result.")
    })
}

/// The errand for a text, and the text as it was given where a fence was taken off.
fn guarded(given: &str) -> Result<(Errand, Option<&str>), Refusal> {
    let inner = guard::strip_fence(given);
    let sql = guard::check(inner.unwrap_or(given))?;
    Ok((Errand::RunQuery { sql }, inner.map(|_| given)))
}
