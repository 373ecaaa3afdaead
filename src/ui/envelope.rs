//! The envelope: one question's answer with everything it rests on, as one JSON object.
//!
//! Its shape is fixed by `v` and written down in `docs/envelope.schema.json`; fields are only ever added.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::session::Usage;
use crate::sql::connection::OpenedAs;
use crate::sql::gate::{Cap, QueryResult};
use crate::sql::proof::Receipt;

/// The envelope's version.
pub const VERSION: u32 = 1;

/// A question's answer with everything it rests on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Envelope {
    /// [`VERSION`].
    pub v: u32,
    /// As asked.
    pub question: String,
    /// How it ended.
    pub outcome: OutcomeKind,
    /// The sentence: the answer, the question back, the reason, or the fault.
    pub answer: String,
    /// What a question back may be answered with.
    pub choices: Vec<String>,
    /// Every query that returned rows, in order.
    pub queries: Vec<Query>,
    /// Index of the query whose rows answer the question.
    pub result: Option<usize>,
    /// Whether every number of the answer is in a result or in the question; none where there is no answer.
    pub grounded: Option<bool>,
    /// Where the numbers came from.
    pub receipts: Vec<Receipt>,
    /// What the answer is about.
    pub basis: Basis,
    /// Who answered.
    pub model: String,
    /// What it took.
    pub usage: UsageShown,
    /// The session, when one is kept.
    pub session: Option<String>,
    /// The records of this question.
    pub audit: AuditRange,
    /// Whether a kernel belt was missing and the operator allowed it.
    pub best_effort_sandbox: bool,
    /// The exit code this outcome stands for.
    pub exit: u8,
    /// Milliseconds from question to answer.
    pub ms: f64,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeKind {
    /// One sentence with the number in it.
    Answered,
    /// A question back.
    Asked,
    /// An honest no.
    Declined,
    /// There was an answer, but a number in it could not be proven.
    Withheld,
    /// Something broke; the sentence says what.
    Failed,
}

/// One query that returned rows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Query {
    /// As executed.
    pub sql: String,
    /// Column names.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<Value>>,
    /// How many rows are here.
    pub row_count: usize,
    /// Which cap cut it.
    pub truncated: Option<Cap>,
    /// Milliseconds in the reader.
    pub ms: f64,
    /// Its audit record.
    pub audit_seq: u64,
}

/// What an answer is about.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Basis {
    /// The database's file name.
    pub database: String,
    /// When the file was last changed, UTC.
    pub as_of: Option<String>,
    /// How it was read; `as_of_last_checkpoint` means that later commits could not be seen.
    pub opened: Option<OpenedAs>,
    /// The newest data seen in the results, where a result shows it.
    pub newest: Option<String>,
    /// The date range the answer is about, where the question named one.
    pub range: Option<String>,
}

/// Tokens and price.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct UsageShown {
    /// Tokens sent.
    input: u64,
    /// Tokens received.
    output: u64,
    /// Price, where prices are configured.
    cost: Option<f64>,
}

/// The audit records of a question, and the chain's head after the last.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuditRange {
    /// The question's record.
    pub first: u64,
    /// The answer's record.
    pub last: u64,
    /// The chain's head.
    pub head: String,
}

impl Envelope {
    /// The query whose rows answer the question.
    pub fn answering_query(&self) -> Option<&Query> {
        self.queries.get(self.result?)
    }
}

impl OutcomeKind {
    /// As the audit and the envelope spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Asked => "asked",
            Self::Declined => "declined",
            Self::Withheld => "withheld",
            Self::Failed => "failed",
        }
    }
}

impl Query {
    /// A result with the text that gave it.
    pub fn of(sql: &str, result: &QueryResult) -> Self {
        Self {
            sql: sql.to_owned(),
            columns: result.columns.clone(),
            rows: result.rows.clone(),
            row_count: result.row_count,
            truncated: result.truncated,
            ms: result.ms,
            audit_seq: result.audit_seq,
        }
    }
}

impl From<Usage> for UsageShown {
    fn from(usage: Usage) -> Self {
        Self { input: usage.input, output: usage.output, cost: usage.cost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `BLESS=1 cargo test envelope` writes the file anew; a change of it is a change of the contract.
    #[test]
    fn the_published_schema_is_the_one_of_the_type() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/envelope.schema.json");
        let schema = format!("{}\n", serde_json::to_string_pretty(&schemars::schema_for!(Envelope)).unwrap());
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, &schema).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), schema);
    }
}
