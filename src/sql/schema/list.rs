//! The tables and views, a page at a time.

use std::time::Instant;

use crate::sql::connection::Restricted;
use crate::sql::gate::{ListTables, Refusal, TableKind, TableList, TableSummary};
use crate::sql::hints;
use crate::sql::schema::count::{CountBudget, count};
use crate::sql::schema::{TableName, visible_tables};

/// Tables on a page when nobody says: a page of names that a small model can still read.
const DEFAULT_PAGE: usize = 50;

/// Tables on a page at most: what the counting budget can still say something about.
pub const LARGEST_PAGE: usize = 200;

/// A page of the tables whose names contain the filter; `started` is when the budget began to run.
pub fn list(
    connection: &Restricted,
    wanted: &ListTables,
    budget: CountBudget,
    started: Instant,
) -> Result<TableList, Refusal> {
    let _ours = connection.ours();
    let mut tables = visible_tables(connection).map_err(|error| hints::schema_refusal(&error))?;
    if let Some(filter) = &wanted.filter {
        let filter = filter.trim().to_lowercase();
        tables.retain(|table| table.as_str().to_lowercase().contains(&filter));
    }
    let total = tables.len();
    let limit = if wanted.limit == 0 { DEFAULT_PAGE } else { wanted.limit.min(LARGEST_PAGE) };
    let page: Vec<TableName> = tables.into_iter().skip(wanted.offset).take(limit).collect();
    let end = wanted.offset.saturating_add(page.len());

    let mut to_count = page.iter().filter(|table| table.kind() != TableKind::View).count();
    let tables = page.iter().map(|table| {
        let deadline = budget.deadline(started, to_count);
        to_count -= usize::from(table.kind() != TableKind::View);
        TableSummary {
            name: table.as_str().to_owned(),
            quoted: table.quoted(),
            kind: table.kind(),
            rows: count(connection, table, deadline),
        }
    });
    Ok(TableList { total, tables: tables.collect(), next_offset: (end < total).then_some(end) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::fixture::{database, database_with};
    use crate::sql::gate::RowCount;

    fn page(connection: &Restricted, filter: &str, offset: usize, limit: usize) -> TableList {
        let filter = (!filter.is_empty()).then(|| filter.to_owned());
        list(connection, &ListTables { filter, offset, limit }, CountBudget::default(), Instant::now()).unwrap()
    }

    #[test]
    fn every_kind_is_listed_and_what_stands_behind_is_not() {
        let connection = database(
            "CREATE TABLE plans (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE);
             INSERT INTO plans (name) VALUES ('Pro'), ('Team');
             CREATE VIEW cheap AS SELECT * FROM plans; CREATE VIEW broken AS SELECT * FROM gone;
             CREATE TABLE \"order\" (id); CREATE TABLE \"🧾 bills\" (id);
             CREATE TABLE keyed (k TEXT PRIMARY KEY) WITHOUT ROWID;
             CREATE VIRTUAL TABLE notes USING fts5(body); CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
             ANALYZE;",
        );
        let list = page(&connection, "", 0, 0);
        let shown: Vec<_> = list.tables.iter().map(|table| (table.quoted.as_str(), table.kind, table.rows)).collect();
        assert_eq!(
            shown,
            [
                ("boxes", TableKind::Virtual, RowCount::Exact(0)),
                ("broken", TableKind::View, RowCount::Unknown),
                ("cheap", TableKind::View, RowCount::Unknown),
                ("keyed", TableKind::Table, RowCount::Exact(0)),
                ("notes", TableKind::Virtual, RowCount::Exact(0)),
                ("\"order\"", TableKind::Table, RowCount::Exact(0)),
                ("plans", TableKind::Table, RowCount::Exact(2)),
                ("\"🧾 bills\"", TableKind::Table, RowCount::Exact(0)),
            ]
        );
        assert_eq!((list.total, list.next_offset), (8, None));
    }

    #[test]
    fn two_thousand_tables_come_in_pages_and_a_filter_finds_one() {
        let connection = database_with(|writer| {
            writer.execute_batch("BEGIN").unwrap();
            for n in 0..2_000 {
                writer.execute_batch(&format!("CREATE TABLE t{n:04} (id)")).unwrap();
            }
            writer.execute_batch("COMMIT").unwrap();
        });
        let first = page(&connection, "", 0, 0);
        assert_eq!((first.total, first.tables.len(), first.next_offset), (2_000, DEFAULT_PAGE, Some(DEFAULT_PAGE)));
        assert_eq!(page(&connection, "", 0, usize::MAX).tables.len(), LARGEST_PAGE);
        let last = page(&connection, "", 1_999, 10);
        assert_eq!((last.tables[0].name.as_str(), last.next_offset), ("t1999", None));
        assert_eq!(page(&connection, "T0042", 0, 0).tables.len(), 1);
        assert_eq!(page(&connection, "%", 0, 0).total, 0, "a filter is text, not a pattern");
        assert_eq!(page(&connection, "", usize::MAX, usize::MAX).tables, []);
    }

    #[test]
    fn no_time_left_still_gives_every_name() {
        let connection = database(
            "CREATE TABLE a (x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
             INSERT INTO a SELECT i FROM n; CREATE TABLE b (x)",
        );
        let budget = CountBudget { per_table: std::time::Duration::ZERO, total: std::time::Duration::ZERO };
        let list = list(&connection, &ListTables::default(), budget, Instant::now()).unwrap();
        let rows: Vec<RowCount> = list.tables.iter().map(|table| table.rows).collect();
        assert_eq!(rows, [RowCount::AtLeast(1_000), RowCount::Exact(0)]);
    }
}
