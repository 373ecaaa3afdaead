//! A table's name, proven to be in the live schema.

use rusqlite::{OptionalExtension, Row};

use crate::sql::connection::Restricted;
use crate::sql::gate::{Refusal, RefusalKind, TableKind};
use crate::sql::hints;
use crate::sql::schema::{nearest, quote};

/// Tables, views and virtual tables; the tables behind virtual ones and SQLite's own are left out.
const VISIBLE: &str = "SELECT name, type, wr FROM pragma_table_list \
    WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND substr(name, 1, 7) <> 'sqlite_' COLLATE NOCASE";

/// The longest part of an unknown name that a message repeats, in characters.
const ECHOED: usize = 80;

/// A table, view or virtual table of the live schema. Built only by looking it up there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableName {
    name: String,
    kind: TableKind,
    without_rowid: bool,
}

impl TableName {
    /// Looks a name up, ignoring case as SQLite does; a name in quotes or behind `main.` is understood too.
    pub fn look_up(connection: &Restricted, name: &str) -> Result<Self, Refusal> {
        let _ours = connection.ours();
        for spelling in std::iter::once(name.to_owned()).chain(bare(name)) {
            if let Some(found) = find(connection, &spelling).map_err(|error| hints::schema_refusal(&error))? {
                return Ok(found);
            }
        }
        Err(unknown(connection, name))
    }

    /// The name, as the schema spells it.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// The name ready to paste into SQL.
    pub fn quoted(&self) -> String {
        quote(&self.name)
    }

    /// What it is.
    pub fn kind(&self) -> TableKind {
        self.kind
    }

    /// Whether its rows have a `rowid` to look them up by.
    pub fn has_rowid(&self) -> bool {
        self.kind == TableKind::Table && !self.without_rowid
    }

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let kind = match row.get_ref(1)?.as_bytes()? {
            b"view" => TableKind::View,
            b"virtual" => TableKind::Virtual,
            _ => TableKind::Table,
        };
        Ok(Self { name: text(row, 0)?, kind, without_rowid: row.get(2)? })
    }
}

/// Everything a question may be about, in the order of its names.
pub(crate) fn visible_tables(connection: &Restricted) -> rusqlite::Result<Vec<TableName>> {
    let mut statement = connection.prepare(&format!("{VISIBLE} ORDER BY name COLLATE NOCASE"))?;
    let mut tables = statement.query_map([], TableName::from_row)?.collect::<rusqlite::Result<Vec<_>>>()?;
    tables.retain(|table| !connection.hides_table(&table.name));
    Ok(tables)
}

/// The columns of a table that may be shown, in order; a table that can't be read has none.
pub(crate) fn visible_columns(connection: &Restricted, table: &TableName) -> Vec<String> {
    let Ok(mut statement) =
        connection.prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid")
    else {
        return Vec::new();
    };
    let Ok(names) = statement.query_map([table.as_str()], |row| row.get::<_, String>(0)) else { return Vec::new() };
    names.flatten().filter(|column| !connection.hides_column(table.as_str(), column)).collect()
}

/// A text column, empty for NULL.
pub(in crate::sql) fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(text_or_null(row, column)?.unwrap_or_default())
}

/// A text column; bytes that are not UTF-8 don't make the whole schema unreadable.
pub(in crate::sql) fn text_or_null(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(row.get_ref(column)?.as_bytes_or_null()?.map(|text| String::from_utf8_lossy(text).into_owned()))
}

fn find(connection: &Restricted, name: &str) -> rusqlite::Result<Option<TableName>> {
    let found = connection
        .query_row(&format!("{VISIBLE} AND name = ?1 COLLATE NOCASE"), [name], TableName::from_row)
        .optional()?;
    Ok(found.filter(|table| !connection.hides_table(&table.name)))
}

/// The name inside quotes, without a leading `main.`; `None` when there is nothing to take away.
fn bare(name: &str) -> Option<String> {
    let trimmed = name.trim();
    let local = match trimmed.get(..5) {
        Some(schema) if schema.eq_ignore_ascii_case("main.") => &trimmed[5..],
        _ => trimmed,
    };
    let inner = |open: char, close: char| local.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    let unquoted = inner('"', '"')
        .map(|inside| inside.replace("\"\"", "\""))
        .or_else(|| inner('`', '`').map(|inside| inside.replace("``", "`")))
        .or_else(|| inner('[', ']').map(ToOwned::to_owned))
        .unwrap_or_else(|| local.to_owned());
    (unquoted != name).then_some(unquoted)
}

fn unknown(connection: &Restricted, name: &str) -> Refusal {
    let tables = match visible_tables(connection) {
        Ok(tables) => tables,
        Err(error) => return hints::schema_refusal(&error),
    };
    let near = nearest(name, tables.iter().map(TableName::as_str));
    let hint = if near.is_empty() {
        "call list_tables to see what there is".to_owned()
    } else {
        format!("nearest names: {}", near.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", "))
    };
    let shown = crate::sql::cell::shorten(name, ECHOED);
    Refusal { kind: RefusalKind::Unknown, message: format!("There is no table “{shown}”; {hint}.") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::fixture::database;

    #[test]
    fn names_are_found_as_sqlite_finds_them() {
        let connection =
            database("CREATE TABLE Events (id); CREATE TABLE \"say \"\"hi\"\"\" (id); CREATE TABLE É (id)");
        for name in ["Events", "events", "EVENTS", " events ", "\"Events\"", "`events`", "[events]", "main.events"] {
            assert_eq!(TableName::look_up(&connection, name).unwrap().as_str(), "Events", "{name}");
        }
        assert_eq!(TableName::look_up(&connection, "say \"hi\"").unwrap().quoted(), "\"say \"\"hi\"\"\"");
        assert_eq!(TableName::look_up(&connection, "\"say \"\"hi\"\"\"").unwrap().as_str(), "say \"hi\"");
        assert!(TableName::look_up(&connection, "é").is_err(), "only ASCII letters are the same in both cases");
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest_ones() {
        let connection = database("CREATE TABLE events (id); CREATE TABLE accounts (id)");
        let refusal = TableName::look_up(&connection, "event").unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::Unknown);
        assert_eq!(refusal.message, "There is no table “event”; nearest names: events.");
        let refusal = TableName::look_up(&connection, "weather").unwrap_err();
        assert_eq!(refusal.message, "There is no table “weather”; call list_tables to see what there is.");
    }

    #[test]
    fn a_name_is_bound_so_that_sql_in_it_is_only_a_strange_name() {
        let connection = database("CREATE TABLE events (id)");
        for name in
            ["events; DROP TABLE events", "events\" --", "' OR 1=1 --", "", "\0", "events\0x", "%", "sqlite_schema"]
        {
            assert_eq!(TableName::look_up(&connection, name).unwrap_err().kind, RefusalKind::Unknown, "{name}");
        }
        let long = "x".repeat(1_000_000);
        assert!(TableName::look_up(&connection, &long).unwrap_err().message.len() < 400);
    }

    #[test]
    fn tables_behind_virtual_ones_are_left_out() {
        let connection = database("CREATE VIRTUAL TABLE notes USING fts5(body); CREATE TABLE notes_data_of_ours (id)");
        let names: Vec<String> = visible_tables(&connection).unwrap().into_iter().map(|table| table.name).collect();
        assert_eq!(names, ["notes", "notes_data_of_ours"]);
    }
}
