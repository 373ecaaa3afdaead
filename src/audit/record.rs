//! What is recorded: one entry a line, in plain values, so that the log can be read without this program.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One record before it has its place in the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The id of the question it belongs to; none for what concerns the whole run.
    pub question: Option<String>,
    /// What happened.
    pub entry: Entry,
}

/// What happened; `kind` names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// A run began.
    Start {
        /// The program's version.
        version: String,
        /// The database's identity: path, size, inode, change counter.
        database: Value,
        /// The model in use, `provider/id`.
        model: String,
        /// The belts in force, as each role reported them.
        belts: Value,
        /// The command line, where it says more than the above.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        arguments: Vec<String>,
    },
    /// From here on the answers come from another file, or from the same one read in another way.
    Database {
        /// The database's identity, as in `start`.
        identity: Value,
    },
    /// A person (or a batch file on their behalf) asked.
    Question {
        /// Their words.
        text: String,
        /// Where it came in: `text`, `json` or `eval`.
        front: String,
        /// The model that answers, `provider/id`.
        model: String,
    },
    /// The database is about to be asked. Written and synced before that happens.
    Query {
        /// The tool: `run_query`, `list_tables`, `describe_table`.
        tool: String,
        /// The SQL as it is executed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sql: Option<String>,
        /// The SQL as the model gave it, where that differs (a stripped fence).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        given: Option<String>,
        /// The arguments of a tool that takes no SQL.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Value>,
        /// Milliseconds until it is stopped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline_ms: Option<u64>,
        /// What cuts its result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caps: Option<Caps>,
    },
    /// The database has answered.
    Outcome {
        /// The sequence number of the query.
        of: u64,
        /// Whether it succeeded.
        ok: bool,
        /// Milliseconds it took.
        ms: f64,
        /// How many rows came back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rows: Option<u64>,
        /// Which cap cut them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        truncated: Option<String>,
        /// Their column names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        columns: Vec<String>,
        /// The digest of the encoded rows: the same query on the same data gives the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rows_hash: Option<String>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// Something was asked for and not granted; the database never saw it.
    Refusal {
        /// Which belt refused.
        by: String,
        /// Its reason.
        reason: String,
        /// The tool that was called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// The SQL, if that was refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sql: Option<String>,
        /// The arguments, if those were refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Value>,
    },
    /// A finding was kept.
    Finding {
        /// One sentence.
        finding: String,
        /// The sequence number of the query that shows it.
        of: u64,
        /// That query's SQL.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sql: Option<String>,
    },
    /// A question has its end.
    Answer {
        /// `answered`, `asked`, `declined`, `withheld` or `failed`.
        outcome: String,
        /// The words the person got.
        text: String,
        /// The exit code.
        exit: u8,
        /// Whether every number in it was found in a result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grounded: Option<bool>,
        /// The sequence numbers of the queries it rests on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        results: Vec<u64>,
    },
    /// A role died.
    Death {
        /// The role.
        role: String,
        /// By what: a signal, an exit code, a deadline.
        how: String,
    },
    /// A crash had left a broken end; it was moved out of the log.
    Repair {
        /// What was found.
        what: String,
        /// How many bytes.
        bytes: u64,
        /// The file beside the log that holds those bytes now.
        kept: String,
        /// Their digest.
        digest: String,
    },
    /// The log goes on in this file.
    Rotate {
        /// The file before this one.
        previous: String,
        /// The hash of its last line.
        last_hash: String,
    },
    /// A run ended.
    Stop {
        /// Why.
        reason: String,
        /// The exit code.
        exit: u8,
    },
}

/// What cuts a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Rows.
    pub rows: u64,
    /// Bytes of encoded rows.
    pub bytes: u64,
}

impl Record {
    /// A record of the whole run.
    pub fn of_run(entry: Entry) -> Self {
        Self { question: None, entry }
    }

    /// A record of one question.
    pub fn of_question(id: impl Into<String>, entry: Entry) -> Self {
        Self { question: Some(id.into()), entry }
    }
}

impl Entry {
    /// Every kind, as the log spells it.
    pub const KINDS: [&'static str; 12] = [
        "start", "database", "question", "query", "outcome", "refusal", "finding", "answer", "death", "repair",
        "rotate", "stop",
    ];

    /// Its kind, as the log spells it.
    pub fn kind(&self) -> &'static str {
        let position = match self {
            Self::Start { .. } => 0,
            Self::Database { .. } => 1,
            Self::Question { .. } => 2,
            Self::Query { .. } => 3,
            Self::Outcome { .. } => 4,
            Self::Refusal { .. } => 5,
            Self::Finding { .. } => 6,
            Self::Answer { .. } => 7,
            Self::Death { .. } => 8,
            Self::Repair { .. } => 9,
            Self::Rotate { .. } => 10,
            Self::Stop { .. } => 11,
        };
        Self::KINDS[position]
    }
}
