//! SQLite, asked what a text is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::config::DbConfig;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Batch, Connection, Error};

/// What SQLite makes of a text.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Nothing to run.
    Empty,
    /// An error at prepare, the authorizer's included.
    Error {
        /// Whether the first statement has it, not what follows.
        first: bool,
        message: String,
        /// The part of the text that the message is about, where SQLite says so.
        at: Option<usize>,
    },
    /// More than one statement.
    Several,
    /// One statement.
    One { readonly: bool, columns: usize, parameters: usize, explain: i32 },
}

/// What SQLite asked the authorizer for meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// To select, which no statement but a query asks for (a PRAGMA asks for itself only).
    pub(super) select: bool,
    /// For anything that a query doesn't need.
    pub(super) more: bool,
}

impl Verdict {
    /// Whether this is one query, ready to run.
    pub(super) fn is_query(&self, asked: Asked) -> bool {
        let one = matches!(self, Self::One { readonly: true, columns: 1.., parameters: 0, .. });
        one && asked == Asked { select: true, more: false }
    }
}

/// Whether the authorizer forbids what it doesn't list, or only takes note.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Authorizer {
    Forbids,
    Notes,
}

/// An in-memory database with names that invite mistakes.
pub(super) struct Sqlite {
    connection: Connection,
    asked: Arc<Notes>,
}

#[derive(Default)]
struct Notes {
    select: AtomicBool,
    more: AtomicBool,
}

impl Sqlite {
    pub(super) fn open(authorizer: Authorizer) -> Self {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                r#"CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, "update" TEXT, "a;b" TEXT, merge INT, updated_at TEXT);
                   CREATE TABLE accounts (id INTEGER PRIMARY KEY, name TEXT, plan TEXT);
                   CREATE TABLE events (id INTEGER PRIMARY KEY, account_id INT, kind TEXT, occurred_at TEXT, ms REAL);
                   CREATE TABLE tickets (id INTEGER PRIMARY KEY, subject TEXT, body TEXT);
                   CREATE TABLE [odd (name; --] ([a'b] TEXT, `c"d` TEXT, größe INT);
                   CREATE TABLE [from] ([select] TEXT PRIMARY KEY) WITHOUT ROWID;
                   CREATE VIEW v AS WITH c AS (SELECT a, b FROM t) SELECT * FROM c;
                   CREATE VIRTUAL TABLE docs USING fts5(body);
                   CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END;
                   SELECT * FROM docs; PRAGMA query_only = 1;"#,
            )
            .unwrap();
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).unwrap();
        Self::with_authorizer(connection, authorizer)
    }

    fn with_authorizer(mut connection: Connection, authorizer: Authorizer) -> Self {
        let asked = Arc::new(Notes::default());
        let notes = Arc::clone(&asked);
        connection
            .authorizer(Some(move |context: AuthContext<'_>| match context.action {
                AuthAction::Select => {
                    notes.select.store(true, Ordering::Relaxed);
                    Authorization::Allow
                }
                action if belongs_to_a_query(&action) || authorizer == Authorizer::Notes => {
                    notes.more.fetch_or(!belongs_to_a_query(&action), Ordering::Relaxed);
                    Authorization::Allow
                }
                _ => Authorization::Deny,
            }))
            .unwrap();
        Self { connection, asked }
    }

    /// Prepares every statement of a text and steps none.
    pub(super) fn judge(&self, text: &str) -> (Verdict, Asked) {
        self.asked.select.store(false, Ordering::Relaxed);
        self.asked.more.store(false, Ordering::Relaxed);
        let mut statements = Batch::new(&self.connection, text);
        let verdict = match statements.next() {
            Ok(None) => Verdict::Empty,
            Err(error) => failed(error, true),
            Ok(Some(statement)) => match statements.next() {
                Ok(None) => Verdict::One {
                    readonly: statement.readonly(),
                    columns: statement.column_count(),
                    parameters: statement.parameter_count(),
                    explain: statement.is_explain(),
                },
                Ok(Some(_)) => Verdict::Several,
                Err(error) => failed(error, false),
            },
        };
        let asked =
            Asked { select: self.asked.select.load(Ordering::Relaxed), more: self.asked.more.load(Ordering::Relaxed) };
        (verdict, asked)
    }
}

fn failed(error: Error, first: bool) -> Verdict {
    match error {
        Error::SqlInputError { msg, offset, .. } => {
            Verdict::Error { first, message: msg, at: usize::try_from(offset).ok() }
        }
        error => Verdict::Error { first, message: error.to_string(), at: None },
    }
}

/// What a query may ask for; which functions it may call is the connection's to say, not the guard's.
fn belongs_to_a_query(action: &AuthAction<'_>) -> bool {
    match action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive | AuthAction::Function { .. } => true,
        // Pragma functions and full-text tables ask for these.
        AuthAction::Pragma { pragma_name, pragma_value } => {
            matches!(*pragma_name, "table_info" | "table_xinfo" | "table_list")
                || (*pragma_name == "data_version" && pragma_value.is_none())
        }
        _ => false,
    }
}

#[test]
fn the_oracle_sees_through_what_only_looks_read_only() {
    let forbids = Sqlite::open(Authorizer::Forbids);
    let is_query = |text: &str| {
        let (verdict, asked) = forbids.judge(text);
        verdict.is_query(asked)
    };
    for text in [
        "BEGIN",
        "ATTACH 'x' AS y",
        "VACUUM",
        "PRAGMA table_info(t)",
        "PRAGMA query_only = 0",
        "EXPLAIN QUERY PLAN DROP TRIGGER IF EXISTS x",
        "DELETE FROM t",
        "SELECT ?",
        "SELECT 1; x",
        "SELECT 1; SELECT 2",
        "",
    ] {
        assert!(!is_query(text), "{text}: {:?}", forbids.judge(text));
    }
    for text in [
        "SELECT 1",
        "VALUES (1), (2)",
        "SELECT * FROM v, docs",
        "SELECT name FROM pragma_table_info('t')",
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT 3",
        "EXPLAIN QUERY PLAN SELECT * FROM docs WHERE docs MATCH 'a'",
    ] {
        assert!(is_query(text), "{text}: {:?}", forbids.judge(text));
    }
    let (_, asked) = Sqlite::open(Authorizer::Notes).judge("WITH c AS (SELECT 1) DELETE FROM t");
    assert!(asked.more);
}
