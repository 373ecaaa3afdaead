//! One table, as far as a question needs it.

use std::collections::HashSet;
use std::time::Instant;

use crate::sql::cell::shorten;
use crate::sql::connection::Restricted;
use crate::sql::gate::{ColumnDescription, Refusal, RefusalKind, RowCount, TableDescription, TableKind};
use crate::sql::hints;
use crate::sql::schema::count::{CountBudget, count};
use crate::sql::schema::profile::{Column, profile};
use crate::sql::schema::{TableName, keys, quote, text};

/// Characters of a view's definition.
const DEFINITION_CHARS: usize = 4_000;

/// What a description may tell.
#[derive(Clone, Copy, Debug)]
pub struct DescribeOptions {
    /// Whether values from the rows may be shown.
    pub samples: bool,
}

impl Default for DescribeOptions {
    fn default() -> Self {
        Self { samples: true }
    }
}

/// Describes a table, view or virtual table.
pub fn describe(
    connection: &Restricted,
    table: &TableName,
    options: DescribeOptions,
) -> Result<TableDescription, Refusal> {
    let _ours = connection.ours();
    let mut description = skeleton(connection, table).map_err(|error| unreadable(table, &error))?;
    let columns = std::mem::take(&mut description.columns);
    // Rows come last: should the deadline stop them, everything else is already there.
    let (rows, columns) = look_at_rows(connection, table, columns, options);
    Ok(TableDescription { rows, columns, ..description })
}

/// Everything but what only the rows can tell.
fn skeleton(connection: &Restricted, table: &TableName) -> rusqlite::Result<TableDescription> {
    Ok(TableDescription {
        table: table.as_str().to_owned(),
        quoted: table.quoted(),
        kind: table.kind(),
        rows: RowCount::Unknown,
        columns: columns(connection, table)?,
        foreign_keys: keys::foreign_keys(connection, table)?,
        referenced_by: keys::referenced_by(connection, table)?,
        indexes: keys::indexes(connection, table)?,
        definition: if table.kind() == TableKind::View { definition(connection, table)? } else { None },
    })
}

fn columns(connection: &Restricted, table: &TableName) -> rusqlite::Result<Vec<ColumnDescription>> {
    // `hidden` is 1 for what a virtual table keeps to itself, 2 and 3 for generated columns.
    let mut statement = connection.prepare(
        "SELECT name, type, pk, \"notnull\", hidden IN (2, 3) FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid",
    )?;
    let columns = statement.query_map([table.as_str()], |row| {
        let name = text(row, 0)?;
        Ok(ColumnDescription {
            quoted: quote(&name),
            name,
            declared_type: text(row, 1)?,
            storage: Vec::new(),
            primary_key: row.get(2)?,
            not_null: row.get(3)?,
            generated: row.get(4)?,
            samples: Vec::new(),
            samples_complete: false,
        })
    })?;
    let columns = columns.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(columns.into_iter().filter(|column| !connection.hides_column(table.as_str(), &column.name)).collect())
}

fn definition(connection: &Restricted, table: &TableName) -> rusqlite::Result<Option<String>> {
    let mut statement = connection.prepare("SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?1")?;
    let found = statement.query_map([table.as_str()], |row| text(row, 0))?.next().transpose()?;
    // A comment may name what the view doesn't read.
    let tells = |sql: &String| connection.hiding().is_some_and(|hiding| hiding.names().mentioned_in(sql));
    Ok(found.filter(|sql| !tells(sql)).map(|sql| shorten(&sql, DEFINITION_CHARS)))
}

fn look_at_rows(
    connection: &Restricted,
    table: &TableName,
    mut columns: Vec<ColumnDescription>,
    options: DescribeOptions,
) -> (RowCount, Vec<ColumnDescription>) {
    let indexed = leading_columns(connection, table).unwrap_or_default();
    let to_look_at: Vec<Column<'_>> = columns
        .iter()
        .map(|column| Column { quoted: &column.quoted, indexed: indexed.contains(&column.name) })
        .collect();
    let profile = profile(connection, table, &to_look_at);
    let rows = match (profile.whole, table.kind()) {
        (true, _) => RowCount::Exact(profile.rows),
        (false, TableKind::View) if profile.rows > 0 => RowCount::AtLeast(profile.rows),
        (false, _) => count(connection, table, Instant::now() + CountBudget::default().per_table),
    };
    for (column, seen) in columns.iter_mut().zip(profile.columns) {
        column.storage = seen.storage;
        if options.samples {
            column.samples = seen.samples;
            column.samples_complete = seen.complete;
        }
    }
    (rows, columns)
}

/// Columns that an index over every row starts with, in plain byte order.
fn leading_columns(connection: &Restricted, table: &TableName) -> rusqlite::Result<HashSet<String>> {
    if table.kind() != TableKind::Table {
        return Ok(HashSet::new());
    }
    let mut statement = connection.prepare(
        "SELECT x.name FROM pragma_index_list(?1) AS i JOIN pragma_index_xinfo(i.name) AS x \
         WHERE NOT i.partial AND x.seqno = 0 AND x.coll = 'BINARY' AND x.name IS NOT NULL",
    )?;
    let names = statement.query_map([table.as_str()], |row| text(row, 0))?;
    names.collect()
}

fn unreadable(table: &TableName, error: &rusqlite::Error) -> Refusal {
    let refusal = hints::schema_refusal(error);
    if table.kind() == TableKind::Table || refusal.kind != RefusalKind::Sqlite {
        return refusal;
    }
    let message = format!(
        "“{}” is in the schema but can't be read: {}. It is broken in the database itself; use other tables.",
        table.as_str(),
        refusal.message.trim_end_matches('.')
    );
    Refusal { kind: RefusalKind::Sqlite, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::fixture::{database, database_with};
    use serde_json::json;

    fn described(script: &str, name: &str) -> TableDescription {
        describe_in(&database(script), name).unwrap()
    }

    fn describe_in(connection: &Restricted, name: &str) -> Result<TableDescription, Refusal> {
        describe(connection, &TableName::look_up(connection, name)?, DescribeOptions::default())
    }

    const THOUSANDS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)";

    #[test]
    fn columns_say_what_is_declared_and_what_is_stored() {
        let table = described(
            "CREATE TABLE \"order\" (id INTEGER PRIMARY KEY, code STRING NOT NULL, \"unit price\" REAL,
                 double AS (\"unit price\" * 2) VIRTUAL, kept INTEGER GENERATED ALWAYS AS (id + 1) STORED, raw);
             INSERT INTO \"order\" (id, code, \"unit price\", raw) VALUES
                 (1, 'A', 1.5, NULL), (2, '15E2621', 2, x'00'), (3, 'A', 3, 'text');",
            "ORDER",
        );
        assert_eq!((table.table.as_str(), table.quoted.as_str()), ("order", "\"order\""));
        assert_eq!(table.rows, RowCount::Exact(3));
        let shown: Vec<_> = table
            .columns
            .iter()
            .map(|c| (c.quoted.as_str(), c.declared_type.as_str(), c.primary_key, c.not_null, c.generated))
            .collect();
        assert_eq!(
            shown,
            [
                ("id", "INTEGER", 1, false, false),
                ("code", "STRING", 0, true, false),
                ("\"unit price\"", "REAL", 0, false, false),
                ("double", "", 0, false, true),
                ("kept", "INTEGER", 0, false, true),
                ("raw", "", 0, false, false),
            ]
        );
        let code = &table.columns[1];
        assert_eq!(code.storage, ["text", "real"], "STRING has numeric affinity");
        assert_eq!(code.samples, [json!("A"), json!("Infinity")]);
        assert!(code.samples_complete);
        let raw = &table.columns[5];
        assert_eq!(raw.storage, ["null", "text", "blob"]);
        assert!(!raw.samples_complete, "a blob is not among the samples");
    }

    #[test]
    fn samples_are_complete_only_when_every_row_was_seen() {
        let script = format!(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, kind TEXT, late TEXT, many TEXT);
             {THOUSANDS} INSERT INTO t SELECT i, iif(i % 3, 'a', 'b'), iif(i = 30000, 'rare', 'usual'), 'v' || (i % 9) FROM n;"
        );
        let table = described(&script, "t");
        assert_eq!(table.rows, RowCount::Exact(60_000));
        let kind = &table.columns[1];
        assert_eq!(kind.samples, [json!("a"), json!("b")]);
        assert!(!kind.samples_complete, "not all rows were seen");
        assert!(!table.columns[2].samples_complete);
        assert_eq!(table.columns[0].samples.len(), 3, "values that never repeat only show their form");

        let indexed = described(
            &format!(
                "{script} CREATE INDEX k ON t (kind); CREATE INDEX l ON t (late, id); CREATE INDEX m ON t (many);
                 CREATE INDEX p ON t (id) WHERE id > 1"
            ),
            "t",
        );
        assert!(indexed.columns[1].samples_complete, "an index proves it");
        assert_eq!(indexed.columns[2].samples, [json!("usual"), json!("rare")]);
        assert!(indexed.columns[2].samples_complete);
        assert!(!indexed.columns[3].samples_complete, "nine values are one more than are shown");
    }

    #[test]
    fn an_index_that_ignores_case_proves_nothing() {
        let table = described(
            &format!(
                "CREATE TABLE t (name TEXT COLLATE NOCASE); CREATE INDEX n ON t (name);
                 {THOUSANDS} INSERT INTO t SELECT iif(i = 50000, 'A', 'a') FROM n;"
            ),
            "t",
        );
        assert_eq!(table.columns[0].samples, [json!("a")]);
        assert!(!table.columns[0].samples_complete);
    }

    #[test]
    fn the_newest_rows_are_looked_at_too() {
        let table = described(
            &format!(
                "CREATE TABLE t (at, w); {THOUSANDS} INSERT INTO t SELECT iif(i < 59990, i, '2026-01-01'), 1 FROM n;"
            ),
            "t",
        );
        assert_eq!(table.columns[0].storage, ["integer", "text"]);
    }

    #[test]
    fn long_texts_are_cut_and_prove_nothing() {
        let table = described("CREATE TABLE t (body); INSERT INTO t VALUES (printf('%.*c', 1000000, 'x')), ('ß')", "t");
        let body = &table.columns[0];
        assert!(body.samples[0].as_str().unwrap().len() <= 80);
        assert!(!body.samples_complete);
    }

    #[test]
    fn text_that_is_not_utf8_is_shown_and_proves_nothing() {
        let table = described("CREATE TABLE t (a TEXT); INSERT INTO t VALUES (CAST(x'ff41' AS TEXT))", "t");
        assert_eq!(table.columns[0].samples, [json!("\u{fffd}A")]);
        assert!(!table.columns[0].samples_complete);
    }

    #[test]
    fn samples_can_be_turned_off_and_storage_stays() {
        let connection = database("CREATE TABLE t (a); INSERT INTO t VALUES ('secret')");
        let table = TableName::look_up(&connection, "t").unwrap();
        let described = describe(&connection, &table, DescribeOptions { samples: false }).unwrap();
        assert!(!serde_json::to_string(&described).unwrap().contains("secret"));
        assert_eq!(described.columns[0].storage, ["text"]);
    }

    #[test]
    fn an_empty_table_is_complete_and_empty() {
        let table = described("CREATE TABLE t (a TEXT, b) STRICT".replace(", b", ", b INT").as_str(), "t");
        assert_eq!(table.rows, RowCount::Exact(0));
        assert_eq!(table.columns[0].storage, [""; 0]);
        assert!(table.columns[0].samples.is_empty() && table.columns[0].samples_complete);
    }

    #[test]
    fn keys_and_order_of_a_table_without_rowid() {
        let table = described(
            "CREATE TABLE w (a, b, c, PRIMARY KEY (c, a)) WITHOUT ROWID; INSERT INTO w VALUES (1, 2, 3)",
            "w",
        );
        let keys: Vec<u32> = table.columns.iter().map(|column| column.primary_key).collect();
        assert_eq!(keys, [2, 0, 1]);
        assert_eq!(table.rows, RowCount::Exact(1));
        assert_eq!(table.indexes[0].columns, [Some("c".to_owned()), Some("a".to_owned())]);
    }

    #[test]
    fn a_view_shows_its_definition_and_a_broken_one_says_so() {
        let connection = database(
            "CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y');
             CREATE VIEW v AS SELECT b, sum(a) AS total FROM t GROUP BY b;
             CREATE VIEW broken AS SELECT * FROM gone; CREATE VIEW worse AS SELECT missing FROM t;",
        );
        let view = describe_in(&connection, "v").unwrap();
        assert_eq!((view.kind, view.rows), (TableKind::View, RowCount::Exact(2)));
        assert!(view.definition.unwrap().contains("GROUP BY b"));
        assert_eq!(view.columns[1].samples, [json!(1), json!(2)]);
        for (name, cause) in [("broken", "gone"), ("worse", "missing")] {
            let refusal = describe_in(&connection, name).unwrap_err();
            assert!(
                refusal.message.contains(cause) && refusal.message.contains("broken in the database itself"),
                "{refusal}"
            );
        }
    }

    #[test]
    fn one_column_that_can_not_be_computed_does_not_hide_the_others() {
        let table = described(
            "CREATE TABLE t (a, body TEXT); INSERT INTO t (a, body) VALUES (1, '{\"x\": 2}'), (2, 'not json');
             CREATE VIEW v AS SELECT a, json_extract(body, '$.x') AS part FROM t",
            "v",
        );
        assert_eq!(table.columns[0].samples, [json!(1), json!(2)]);
        assert!(!table.columns[1].samples_complete);
    }

    #[test]
    fn virtual_tables_show_their_own_columns_only() {
        let connection = database(
            "CREATE VIRTUAL TABLE notes USING fts5(title, body); INSERT INTO notes VALUES ('a', 'b');
             CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1); INSERT INTO boxes VALUES (1, 0, 1);",
        );
        let names = |name: &str| -> Vec<String> {
            describe_in(&connection, name).unwrap().columns.into_iter().map(|column| column.name).collect()
        };
        assert_eq!(names("notes"), ["title", "body"]);
        assert_eq!(names("boxes"), ["id", "x0", "x1"]);
        assert_eq!(describe_in(&connection, "boxes").unwrap().rows, RowCount::Exact(1));
    }

    #[test]
    fn odd_names_come_back_ready_for_sql() {
        let connection = database(
            "CREATE TABLE \"say \"\"hi\"\" 📈\" (\"select\", \"a b\", \"x\"\"y\", naïve); \
             INSERT INTO \"say \"\"hi\"\" 📈\" VALUES (1, 2, 3, 4)",
        );
        let table = describe_in(&connection, "say \"hi\" 📈").unwrap();
        let columns: Vec<&str> = table.columns.iter().map(|column| column.quoted.as_str()).collect();
        let sql = format!("SELECT {} FROM {}", columns.join(", "), table.quoted);
        let sum: i64 = connection.query_row(&sql, [], |row| Ok(row.get::<_, i64>(0)? + row.get::<_, i64>(3)?)).unwrap();
        assert_eq!(sum, 5);
        assert_eq!(table.columns[2].samples, [json!(3)]);
    }

    #[test]
    fn a_wide_table_among_two_thousand_is_described() {
        let connection = database_with(|writer| {
            let columns: Vec<String> = (0..1_500).map(|n| format!("c{n}")).collect();
            writer.execute_batch("BEGIN").unwrap();
            for n in 0..2_000 {
                writer.execute_batch(&format!("CREATE TABLE t{n} (id INTEGER PRIMARY KEY, up REFERENCES t0)")).unwrap();
            }
            writer.execute_batch(&format!("CREATE TABLE wide ({}); COMMIT", columns.join(", "))).unwrap();
        });
        assert_eq!(describe_in(&connection, "wide").unwrap().columns.len(), 1_500);
        let parent = describe_in(&connection, "t0").unwrap();
        assert_eq!(parent.referenced_by.len(), 2_000);
        assert_eq!(parent.referenced_by[0].to, ["id"]);
    }
}
