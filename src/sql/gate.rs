//! The one door between a tool and the data: requests in, replies out.
//!
//! In the appliance the door is a channel to the supervisor, which guards, audits and forwards to the reader; as a
//! library it is a value in the same process. Either way a tool can't tell, and can't go round it.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a tool may ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    /// A page of the tables and views.
    ListTables(ListTables),
    /// One table's columns, keys, indexes and samples.
    DescribeTable {
        /// The name as the model gave it.
        table: String,
    },
    /// One SELECT, not yet guarded.
    RunQuery {
        /// The text as the model gave it.
        sql: String,
    },
    /// A finding to keep.
    SaveFinding(Finding),
}

/// Which tables to list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ListTables {
    /// Only names that contain this, ignoring case.
    pub filter: Option<String>,
    /// How many to skip.
    pub offset: usize,
    /// How many to give.
    pub limit: usize,
}

/// A finding to keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// One sentence.
    pub finding: String,
    /// The audit sequence of the query that shows it.
    pub audit_seq: u64,
}

/// What comes back when a request is granted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Reply {
    /// A page of tables.
    ListTables(TableList),
    /// One table.
    DescribeTable(TableDescription),
    /// Rows.
    RunQuery(QueryResult),
    /// The finding is on disk.
    SaveFinding {
        /// Its audit sequence.
        audit_seq: u64,
    },
}

/// A page of tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableList {
    /// How many match in all.
    pub total: usize,
    /// This page.
    pub tables: Vec<TableSummary>,
    /// Where the next page starts, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
}

/// One table in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableSummary {
    /// The name, as the schema spells it.
    pub name: String,
    /// The name ready to paste into SQL, quoted where it must be.
    pub quoted: String,
    /// What it is.
    pub kind: TableKind,
    /// How many rows, with how sure that is.
    pub rows: RowCount,
}

/// What a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    /// An ordinary table.
    Table,
    /// A view.
    View,
    /// A virtual table (full-text search, R-tree …).
    Virtual,
}

/// A row count that says how sure it is; written `5000`, `≥10001`, `~5400000` or `unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum RowCount {
    /// Counted to the end.
    Exact(u64),
    /// Counted until the budget ran out.
    AtLeast(u64),
    /// Estimated.
    About(u64),
    /// Not known.
    Unknown,
}

/// One table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableDescription {
    /// The name, as the schema spells it.
    pub table: String,
    /// The name ready to paste into SQL.
    pub quoted: String,
    /// What it is.
    pub kind: TableKind,
    /// How many rows, with how sure that is.
    pub rows: RowCount,
    /// The columns in order.
    pub columns: Vec<ColumnDescription>,
    /// Foreign keys of this table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKey>,
    /// Foreign keys of other tables that point here; `table` is the other table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub referenced_by: Vec<ForeignKey>,
    /// Indexes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<IndexDescription>,
    /// A view's own SELECT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnDescription {
    /// The name, as the schema spells it.
    pub name: String,
    /// The name ready to paste into SQL.
    pub quoted: String,
    /// The declared type; empty when none was declared.
    #[serde(rename = "type")]
    pub declared_type: String,
    /// Storage classes really seen in a sample (`integer`, `real`, `text`, `blob`, `null`), most frequent first.
    pub storage: Vec<String>,
    /// Position in the primary key, from 1; 0 when not part of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub primary_key: u32,
    /// Declared NOT NULL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_null: bool,
    /// Computed by the schema, not stored by hand.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
    /// A few distinct values, most frequent first in the sample; empty when the operator turned samples off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Value>,
    /// Whether `samples` holds every distinct value of the column (only then may a value be called absent).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub samples_complete: bool,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// The columns that point.
    pub columns: Vec<String>,
    /// The table at the other end.
    pub table: String,
    /// The columns pointed at.
    pub to: Vec<String>,
}

/// An index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexDescription {
    /// Its name.
    pub name: String,
    /// Its columns; an expression shows as `null`.
    pub columns: Vec<Option<String>>,
    /// Whether it proves its columns unique over every row (a partial index does not).
    pub unique: bool,
}

/// Rows, capped while stepping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryResult {
    /// Which cap cut the result, first so that nobody reads past it.
    pub truncated: Option<Cap>,
    /// Column names.
    pub columns: Vec<String>,
    /// Rows of JSON cells (see `sql::cell`).
    pub rows: Vec<Vec<Value>>,
    /// How many rows are here; never an answer by itself.
    pub row_count: usize,
    /// What was done to single cells so that JSON can hold them (cut, lossy text, big integers …), one note a kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Milliseconds in the reader.
    pub ms: f64,
    /// The audit sequence of the query; 0 until the supervisor has stamped it.
    #[serde(default)]
    pub audit_seq: u64,
}

/// What cut a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cap {
    /// The row cap.
    Rows,
    /// The byte cap.
    Bytes,
    /// The deadline, after at least one row.
    Time,
}

/// Why a request was not granted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Who refused.
    pub kind: RefusalKind,
    /// One sentence the model can act on, hint included.
    pub message: String,
}

/// Who refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// Belt 2, the guard.
    Guard,
    /// Belt 3: no such table.
    Unknown,
    /// SQLite, or its authorizer.
    Sqlite,
    /// The deadline passed.
    Deadline,
    /// The reader died and was replaced.
    Reader,
    /// The database can't be used: missing, replaced by something else, locked, damaged.
    Database,
    /// The audit or the output can't be written: nothing runs any more.
    Audit,
    /// The request itself is not usable.
    Request,
}

/// The door.
#[async_trait]
pub trait Gate: Send + Sync {
    /// Asks; waits for the answer.
    async fn call(&self, request: Request) -> Result<Reply, Refusal>;
}

impl From<RowCount> for String {
    fn from(count: RowCount) -> Self {
        match count {
            RowCount::Exact(n) => n.to_string(),
            RowCount::AtLeast(n) => format!("≥{n}"),
            RowCount::About(n) => format!("~{n}"),
            RowCount::Unknown => "unknown".into(),
        }
    }
}

impl TryFrom<String> for RowCount {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if let Some(n) = text.strip_prefix('≥') {
            n.parse().map(Self::AtLeast)
        } else if let Some(n) = text.strip_prefix('~') {
            n.parse().map(Self::About)
        } else if text == "unknown" {
            Ok(Self::Unknown)
        } else {
            text.parse().map(Self::Exact)
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}
