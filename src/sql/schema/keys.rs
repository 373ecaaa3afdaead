//! A table's foreign keys, both ways, and its indexes.

use rusqlite::{OptionalExtension, Row};

use crate::sql::connection::Restricted;
use crate::sql::gate::{ForeignKey, IndexDescription};
use crate::sql::schema::{TableName, text, text_or_null};

/// Foreign keys of this table.
pub(super) fn foreign_keys(connection: &Restricted, table: &TableName) -> rusqlite::Result<Vec<ForeignKey>> {
    let parts = parts(
        connection,
        "SELECT id, \"table\", \"from\", \"to\", '' FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq",
        table,
    )?;
    let keys = parts.chunk_by(Part::same_key).map(|key| {
        let target = &key[0].target;
        // The schema's own spelling, where the table exists.
        let spelt = spelling(connection, target)?.unwrap_or_else(|| target.clone());
        join(connection, key, spelt)
    });
    let mut keys = keys.collect::<rusqlite::Result<Vec<ForeignKey>>>()?;
    keys.retain(|key| is_visible(connection, (table.as_str(), &key.columns), (&key.table, &key.to)));
    Ok(keys)
}

/// Foreign keys of other tables that point here.
pub(super) fn referenced_by(connection: &Restricted, table: &TableName) -> rusqlite::Result<Vec<ForeignKey>> {
    let parts = parts(
        connection,
        "SELECT f.id, f.\"table\", f.\"from\", f.\"to\", l.name FROM pragma_table_list AS l \
         JOIN pragma_foreign_key_list(l.name) AS f \
         WHERE l.schema = 'main' AND l.type = 'table' AND f.\"table\" = ?1 COLLATE NOCASE \
         ORDER BY l.name, f.id DESC, f.seq",
        table,
    )?;
    let keys = parts.chunk_by(Part::same_key).map(|key| join(connection, key, key[0].owner.clone()));
    let mut keys = keys.collect::<rusqlite::Result<Vec<ForeignKey>>>()?;
    keys.retain(|key| is_visible(connection, (&key.table, &key.columns), (table.as_str(), &key.to)));
    Ok(keys)
}

/// Whether neither end of a key is hidden.
fn is_visible(connection: &Restricted, from: (&str, &[String]), to: (&str, &[String])) -> bool {
    [from, to].into_iter().all(|(table, columns)| {
        !connection.hides_table(table) && !columns.iter().any(|column| connection.hides_column(table, column))
    })
}

/// Indexes of this table.
pub(super) fn indexes(connection: &Restricted, table: &TableName) -> rusqlite::Result<Vec<IndexDescription>> {
    let mut statement =
        connection.prepare("SELECT name, \"unique\" AND NOT partial FROM pragma_index_list(?1) ORDER BY seq DESC")?;
    let mut indexes: Vec<IndexDescription> = statement
        .query_map([table.as_str()], |row| {
            Ok(IndexDescription { name: text(row, 0)?, columns: Vec::new(), unique: row.get(1)? })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut columns = connection.prepare("SELECT name FROM pragma_index_info(?1) ORDER BY seqno")?;
    for index in &mut indexes {
        index.columns =
            columns.query_map([&index.name], |row| text_or_null(row, 0))?.collect::<rusqlite::Result<_>>()?;
    }
    if let Some(hiding) = connection.hiding() {
        let mut definition = connection.prepare("SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?1")?;
        let names = hiding.names();
        indexes = indexes
            .into_iter()
            .map(|index| {
                // Its expressions and its WHERE are in its text only; without one it is a constraint's.
                let sql = definition.query_row([&index.name], |row| text(row, 0)).optional()?.unwrap_or_default();
                let columns = index.columns.iter().flatten();
                let hidden = columns.into_iter().any(|column| connection.hides_column(table.as_str(), column))
                    || names.is_part_of(&index.name)
                    || names.mentioned_in(&sql);
                Ok((!hidden).then_some(index))
            })
            .filter_map(Result::transpose)
            .collect::<rusqlite::Result<_>>()?;
    }
    Ok(indexes)
}

/// One column of a foreign key.
struct Part {
    id: i64,
    target: String,
    from: String,
    to: Option<String>,
    owner: String,
}

impl Part {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let to = text_or_null(row, 3)?;
        Ok(Self { id: row.get(0)?, target: text(row, 1)?, from: text(row, 2)?, to, owner: text(row, 4)? })
    }

    fn same_key(&self, other: &Self) -> bool {
        self.id == other.id && self.owner == other.owner
    }
}

fn parts(connection: &Restricted, sql: &str, table: &TableName) -> rusqlite::Result<Vec<Part>> {
    connection.prepare(sql)?.query_map([table.as_str()], Part::from_row)?.collect()
}

/// One key from its columns; `table` is the one at the other end, seen from the table that is described.
fn join(connection: &Restricted, parts: &[Part], table: String) -> rusqlite::Result<ForeignKey> {
    let columns = parts.iter().map(|part| part.from.clone()).collect();
    let to: Vec<String> = parts.iter().filter_map(|part| part.to.clone()).collect();
    // A key that names no columns points at its target's primary key.
    let to = if to.is_empty() { primary_key(connection, &parts[0].target)? } else { to };
    Ok(ForeignKey { columns, table, to })
}

fn primary_key(connection: &Restricted, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?;
    statement.query_map([table], |row| text(row, 0))?.collect()
}

fn spelling(connection: &Restricted, table: &str) -> rusqlite::Result<Option<String>> {
    let mut statement =
        connection.prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND name = ?1 COLLATE NOCASE")?;
    statement.query_row([table], |row| text(row, 0)).optional()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::fixture::database;

    fn key(columns: &[&str], table: &str, to: &[&str]) -> ForeignKey {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ForeignKey { columns: owned(columns), table: table.into(), to: owned(to) }
    }

    #[test]
    fn foreign_keys_are_found_from_both_ends() {
        let connection = database(
            "CREATE TABLE Parent (a, b, PRIMARY KEY (b, a));
             CREATE TABLE child (x, y, z REFERENCES parent, self REFERENCES child (x), lost REFERENCES gone,
                 FOREIGN KEY (x, y) REFERENCES PARENT (a, b));",
        );
        let child = TableName::look_up(&connection, "child").unwrap();
        let parent = TableName::look_up(&connection, "parent").unwrap();
        assert_eq!(
            foreign_keys(&connection, &child).unwrap(),
            [
                key(&["z"], "Parent", &["b", "a"]),
                key(&["self"], "child", &["x"]),
                key(&["lost"], "gone", &[]),
                key(&["x", "y"], "Parent", &["a", "b"]),
            ]
        );
        assert_eq!(
            referenced_by(&connection, &parent).unwrap(),
            [key(&["z"], "child", &["b", "a"]), key(&["x", "y"], "child", &["a", "b"])]
        );
        assert_eq!(referenced_by(&connection, &child).unwrap(), [key(&["self"], "child", &["x"])]);
    }

    #[test]
    fn an_index_is_unique_only_if_it_covers_every_row() {
        let connection = database(
            "CREATE TABLE t (a UNIQUE, b, c); CREATE INDEX plain ON t (b, c DESC); CREATE INDEX worked ON t (b, upper(c));
             CREATE UNIQUE INDEX part ON t (b) WHERE c > 0; CREATE UNIQUE INDEX whole ON t (b, a);",
        );
        let table = TableName::look_up(&connection, "t").unwrap();
        let shown: Vec<(String, Vec<Option<String>>, bool)> =
            indexes(&connection, &table).unwrap().into_iter().map(|i| (i.name, i.columns, i.unique)).collect();
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(
            shown,
            [
                ("sqlite_autoindex_t_1".into(), vec![some("a")], true),
                ("plain".into(), vec![some("b"), some("c")], false),
                ("worked".into(), vec![some("b"), None], false),
                ("part".into(), vec![some("b")], false),
                ("whole".into(), vec![some("b"), some("a")], true),
            ]
        );
    }
}
