//! The schema without what is hidden, in memory and without rows: what somebody who asks may know of.
//!
//! Statements are prepared here and never run.

use rusqlite::Connection;

use super::catalogue::{Column, Entry, Kind};
use super::names::HiddenNames;
use crate::sql::connection::limits::Limits;
use crate::sql::connection::{regexp, text};

/// An empty database that looks as if nothing hidden had ever been there.
#[derive(Debug)]
pub(super) struct Mirror {
    connection: Connection,
}

impl Mirror {
    /// Builds it. Views that turn out to tell of something hidden are taken out later.
    pub(super) fn new(entries: &[Entry], names: &HiddenNames, limits: &Limits) -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        text::register(&connection, limits)?;
        regexp::register(&connection, limits)?;
        // One transaction: thousands of tables are made in milliseconds.
        connection.execute_batch("BEGIN")?;
        let shown = |kind: Kind| entries.iter().filter(move |e| e.kind == kind && !names.hides_table(&e.name));
        // With a virtual table come the tables behind it, so it goes first.
        for entry in shown(Kind::Virtual) {
            if connection.execute_batch(&entry.sql).is_err() {
                let _ = connection.execute_batch(&plain_table(entry, names));
            }
        }
        for entry in shown(Kind::Table).chain(shown(Kind::Shadow)) {
            // What can't be made here is refused as if it weren't there: an error, but not a hole.
            let _ = connection.execute_batch(&plain_table(entry, names));
        }
        for entry in shown(Kind::View) {
            let _ = connection.execute_batch(&entry.sql);
        }
        connection.execute_batch("COMMIT")?;
        for (limit, wanted) in limits.for_sqlite() {
            connection.set_limit(limit, wanted)?;
        }
        Ok(Self { connection })
    }

    /// Whether a statement makes sense here.
    pub(super) fn prepare(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare(sql).map(drop)
    }

    /// The columns of a view as they are here.
    pub(super) fn columns(&self, view: &Entry) -> rusqlite::Result<Vec<String>> {
        let statement = self.connection.prepare(&format!("SELECT * FROM {}", quoted(&view.name)))?;
        Ok(statement.column_names().map(ToOwned::to_owned).collect())
    }

    /// Takes a view out.
    pub(super) fn drop_view(&self, view: &Entry) -> rusqlite::Result<()> {
        self.connection.execute_batch(&format!("DROP VIEW IF EXISTS {}", quoted(&view.name)))
    }

    /// Takes the hidden columns out of a view.
    pub(super) fn cut_view(&self, view: &Entry, names: &HiddenNames) -> rusqlite::Result<()> {
        self.drop_view(view)?;
        let columns: Vec<String> = shown(view, names).map(|column| quoted(&column.name)).collect();
        let nulls = vec!["NULL"; columns.len()].join(", ");
        let sql = format!("CREATE VIEW {} ({}) AS SELECT {nulls}", quoted(&view.name), columns.join(", "));
        self.connection.execute_batch(&sql)
    }
}

/// A table with the shown columns, and with a rowid only where a rowid tells nothing hidden.
fn plain_table(entry: &Entry, names: &HiddenNames) -> String {
    let columns: Vec<String> = shown(entry, names).map(|column| quoted(&column.name)).collect();
    let rowid_is_hidden =
        entry.columns.iter().any(|column| column.is_rowid && names.hides_column(&entry.name, &column.name));
    let name = quoted(&entry.name);
    let columns_text = columns.join(", ");
    match columns.first() {
        Some(first) if entry.without_rowid || rowid_is_hidden => {
            format!("CREATE TABLE {name} ({columns_text}, PRIMARY KEY ({first})) WITHOUT ROWID")
        }
        _ => format!("CREATE TABLE {name} ({columns_text})"),
    }
}

fn shown<'a>(entry: &'a Entry, names: &HiddenNames) -> impl Iterator<Item = &'a Column> {
    entry.columns.iter().filter(|column| !names.hides_column(&entry.name, &column.name))
}

/// A name of the schema, ready for SQL.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
