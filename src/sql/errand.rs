//! What a reader is sent to do: the same in a process of its own and in this one.
//!
//! An errand can only be made of a text that the guard let through, also when it comes out of a frame.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::sql::connection::{Database, Restricted};
use crate::sql::gate::{ListTables, Refusal, RefusalKind, Reply};
use crate::sql::guard::Guarded;
use crate::sql::schema::{CountBudget, TableName};
use crate::sql::settings::SqlSettings;
use crate::sql::{hints, query, schema};

/// How long a look at the schema may take. It needs milliseconds; only a view's first row can need more.
const LOOK_TIME: Duration = Duration::from_secs(1);

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Errand {
    /// List a page of tables.
    ListTables(ListTables),
    /// Describe the table of that name, if there is one.
    DescribeTable {
        /// The name as the model gave it: only ever looked up.
        table: String,
    },
    /// Run a query.
    RunQuery {
        /// The text as it is executed.
        sql: Guarded,
    },
}

impl Errand {
    /// The tool that sends on it, as the audit names it.
    pub fn tool(&self) -> &'static str {
        match self {
            Self::ListTables(_) => "list_tables",
            Self::DescribeTable { .. } => "describe_table",
            Self::RunQuery { .. } => "run_query",
        }
    }

    /// Whether this can be what came of it: anything that went wrong, or a reply of its own kind.
    pub fn is_answered_by(&self, outcome: &Result<Reply, Refusal>) -> bool {
        matches!(
            (self, outcome),
            (_, Err(_))
                | (Self::ListTables(_), Ok(Reply::ListTables(_)))
                | (Self::DescribeTable { .. }, Ok(Reply::DescribeTable(_)))
                | (Self::RunQuery { .. }, Ok(Reply::RunQuery(_)))
        )
    }

    /// How long it may take.
    pub fn time(&self, settings: &SqlSettings) -> Duration {
        match self {
            Self::RunQuery { .. } => settings.deadline(),
            Self::ListTables(_) | Self::DescribeTable { .. } => LOOK_TIME.min(settings.deadline()),
        }
    }

    /// Does it, within its time from now.
    pub fn run(&self, database: &mut Database, settings: &SqlSettings) -> Result<Reply, Refusal> {
        let deadline = Instant::now() + self.time(settings);
        let read = database.read(deadline, |connection| {
            // What an earlier statement was refused is none of this one's business.
            drop(connection.take_denial());
            self.run_on(connection, settings, deadline).map_err(|refusal| {
                match (refusal.kind, connection.take_denial()) {
                    // SQLite's own words are “not authorized”; the authorizer knows what it was.
                    (RefusalKind::Sqlite, Some(denial)) => hints::denial_refusal(connection, &denial),
                    _ => refusal,
                }
            })
        });
        read.map_err(|error| hints::database_refusal(&error)).flatten()
    }

    fn run_on(&self, connection: &Restricted, settings: &SqlSettings, deadline: Instant) -> Result<Reply, Refusal> {
        match self {
            Self::ListTables(wanted) => {
                schema::list(connection, wanted, CountBudget::default(), Instant::now()).map(Reply::ListTables)
            }
            Self::DescribeTable { table } => {
                let table = TableName::look_up(connection, table)?;
                schema::describe(connection, &table, settings.describe_options()).map(Reply::DescribeTable)
            }
            Self::RunQuery { sql } => query::run(connection, sql, settings.caps(), deadline).map(Reply::RunQuery),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_errand_is_answered_by_its_own_kind_or_by_a_refusal() {
        let errand = Errand::DescribeTable { table: "t".into() };
        assert!(!errand.is_answered_by(&Ok(Reply::SaveFinding { audit_seq: 1 })));
        let refusal = Refusal { kind: RefusalKind::Request, message: String::new() };
        assert!(errand.is_answered_by(&Err(refusal)));
    }
}
