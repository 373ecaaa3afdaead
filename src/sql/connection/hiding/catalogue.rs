//! The schema as it stands in the file, read once when a database with something to hide is opened.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::sql::schema::{text, text_or_null};

/// A table, a view, or a table behind a virtual one.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) without_rowid: bool,
    /// The statement that made it.
    pub(super) sql: String,
    /// None where it can't be read: a broken view, an unknown module.
    pub(super) columns: Vec<Column>,
    pub(super) references: Vec<Reference>,
}

/// A column that holds values of another table's column, by foreign key.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) column: String,
    pub(super) table: String,
    /// None for that table's primary key, which starts with the column of this place in it.
    pub(super) to: Option<String>,
    pub(super) place: i64,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Table,
    View,
    Virtual,
    /// A table in which a virtual one keeps what it holds.
    Shadow,
}

/// A column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) generated: bool,
    /// Whether a virtual table adds it by itself (`rank`, its own name): not a column anybody would name to hide.
    pub(super) is_own: bool,
    /// Whether it is the primary key, alone, of type INTEGER: another name of the rowid.
    pub(super) is_rowid: bool,
    /// Its place in the primary key, from 1; 0 outside of it.
    pub(super) key: i64,
}

/// Everything but SQLite's own tables.
pub(super) fn read(connection: &Connection) -> rusqlite::Result<Vec<Entry>> {
    let mut texts = connection.prepare("SELECT name, sql FROM main.sqlite_schema WHERE type IN ('table', 'view')")?;
    let texts: HashMap<String, String> =
        texts.query_map([], |row| Ok((text(row, 0)?, text(row, 1)?)))?.collect::<rusqlite::Result<_>>()?;
    let mut entries = connection.prepare(
        "SELECT name, type, wr FROM pragma_table_list \
         WHERE schema = 'main' AND substr(name, 1, 7) <> 'sqlite_' COLLATE NOCASE",
    )?;
    let mut entries: Vec<Entry> = entries
        .query_map([], |row| {
            let name = text(row, 0)?;
            let kind = match text(row, 1)?.as_str() {
                "view" => Kind::View,
                "virtual" => Kind::Virtual,
                "shadow" => Kind::Shadow,
                _ => Kind::Table,
            };
            let sql = texts.get(&name).cloned().unwrap_or_default();
            Ok(Entry { name, kind, without_rowid: row.get(2)?, sql, columns: Vec::new(), references: Vec::new() })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut columns = connection.prepare(
        "SELECT name, hidden IN (2, 3), hidden = 1, pk = 1 AND type = 'INTEGER' COLLATE NOCASE, pk \
         FROM pragma_table_xinfo(?1)",
    )?;
    let mut references =
        connection.prepare("SELECT \"from\", \"table\", \"to\", seq + 1 FROM pragma_foreign_key_list(?1)")?;
    for entry in &mut entries {
        let rows = columns.query_map([&entry.name], |row| {
            let (name, generated, is_own) = (text(row, 0)?, row.get(1)?, row.get(2)?);
            Ok(Column { name, generated, is_own, is_rowid: row.get(3)?, key: row.get(4)? })
        });
        let Ok(rows) = rows.and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>) else { continue };
        let keys = rows.iter().filter(|column| column.key > 0).count();
        entry.columns = rows
            .into_iter()
            .map(|column| Column { is_rowid: column.is_rowid && keys == 1 && !entry.without_rowid, ..column })
            .collect();
        entry.references = references
            .query_map([&entry.name], |row| {
                let to = text_or_null(row, 2)?;
                Ok(Reference { column: text(row, 0)?, table: text(row, 1)?, to, place: row.get(3)? })
            })?
            .collect::<rusqlite::Result<_>>()?;
    }
    Ok(entries)
}
