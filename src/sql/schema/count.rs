//! Row counts under a time budget, each saying how sure it is.
//!
//! Rows are counted by stepping over them: `count(*)` is one step that no deadline reaches into, and on a file of 50 GB
//! it takes minutes.

use std::time::{Duration, Instant};

use rusqlite::OptionalExtension;

use crate::sql::connection::Restricted;
use crate::sql::gate::{RowCount, TableKind};
use crate::sql::schema::TableName;

/// Rows between two looks at the clock: some 50 µs of counting.
const ROWS_A_LOOK: u64 = 1_000;

/// Rows of a virtual table that are counted: one of its steps may cost anything.
const VIRTUAL_ROWS: u64 = 10_000;

/// Rowids that are tried to estimate a table too big to count: measured 5 % off at 2.3 ms.
const PROBES: u64 = 400;

/// Share of a table's time for counting; the rest is for the estimate.
const COUNTING_SHARE: f64 = 0.8;

/// How long counting may take.
#[derive(Clone, Copy, Debug)]
pub struct CountBudget {
    /// One table at most.
    pub per_table: Duration,
    /// All tables of a page together.
    pub total: Duration,
}

impl Default for CountBudget {
    /// 50 ms count about half a million rows; half a second is what a person waits for a list.
    fn default() -> Self {
        Self { per_table: Duration::from_millis(50), total: Duration::from_millis(500) }
    }
}

impl CountBudget {
    /// The end of one table's time: a fair share of what is left, so that early big tables don't starve late ones.
    pub(super) fn deadline(&self, started: Instant, tables_left: usize) -> Instant {
        let now = Instant::now();
        let left = self.total.saturating_sub(now.saturating_duration_since(started));
        let share = left / u32::try_from(tables_left.max(1)).unwrap_or(u32::MAX);
        now + share.min(self.per_table)
    }
}

/// Counts a table's rows until the deadline, then estimates.
///
/// A view is not counted: its first row may already need the whole view.
pub(super) fn count(connection: &Restricted, table: &TableName, deadline: Instant) -> RowCount {
    let attempt = match table.kind() {
        TableKind::View => Ok(RowCount::Unknown),
        TableKind::Virtual => step(connection, table, VIRTUAL_ROWS, deadline),
        TableKind::Table => count_or_estimate(connection, table, deadline),
    };
    // A table that can't be read is still worth listing; the query on it will say why.
    attempt.unwrap_or(RowCount::Unknown)
}

fn count_or_estimate(connection: &Restricted, table: &TableName, deadline: Instant) -> rusqlite::Result<RowCount> {
    let now = Instant::now();
    let counting = deadline.saturating_duration_since(now).mul_f64(COUNTING_SHARE);
    let counted = step(connection, table, u64::MAX, now + counting)?;
    match counted {
        RowCount::AtLeast(seen) if table.has_rowid() => {
            let estimate = estimate(connection, table, deadline)?;
            Ok(estimate.filter(|estimate| *estimate > seen).map_or(counted, RowCount::About))
        }
        _ => Ok(counted),
    }
}

/// Steps over the rows; SQLite picks the smallest index that has them all.
fn step(connection: &Restricted, table: &TableName, most: u64, deadline: Instant) -> rusqlite::Result<RowCount> {
    let mut statement = connection.prepare(&format!("SELECT 1 FROM {}", table.quoted()))?;
    let mut rows = statement.raw_query();
    let mut seen = 0;
    while rows.next()?.is_some() {
        seen += 1;
        if seen > most || (seen % ROWS_A_LOOK == 0 && Instant::now() >= deadline) {
            return Ok(RowCount::AtLeast(seen));
        }
    }
    Ok(RowCount::Exact(seen))
}

/// The span of rowids times the share of them that are taken, from a fixed random sample of the span.
fn estimate(connection: &Restricted, table: &TableName, deadline: Instant) -> rusqlite::Result<Option<u64>> {
    let quoted = table.quoted();
    let Some(rowid) = rowid_alias(connection, table)? else { return Ok(None) };
    // Two subselects are two seeks; `max(rowid) - min(rowid)` in one SELECT reads the whole table.
    let ends = format!("SELECT (SELECT min({rowid}) FROM {quoted}), (SELECT max({rowid}) FROM {quoted})");
    let (Some(first), Some(last)) =
        connection.query_row(&ends, [], |row| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?)))?
    else {
        return Ok(None);
    };
    let span = last.abs_diff(first).saturating_add(1);
    let mut probe = connection.prepare(&format!("SELECT 1 FROM {quoted} WHERE {rowid} = ?1"))?;
    let (mut tried, mut hits) = (0_u64, 0_u64);
    let mut random = 0_u64;
    while tried < PROBES && Instant::now() < deadline {
        let offset = (u128::from(split_mix(&mut random)) * u128::from(span)) >> 64;
        let at = i128::from(first) + i128::try_from(offset).unwrap_or_default();
        let at = i64::try_from(at).unwrap_or(last);
        hits += u64::from(probe.query_row([at], |_| Ok(())).optional()?.is_some());
        tried += 1;
    }
    let estimate = u128::from(span) * u128::from(hits) / u128::from(tried.max(1));
    Ok((hits > 0).then(|| two_digits(u64::try_from(estimate).unwrap_or(u64::MAX))))
}

/// A name of the rowid that no column of the table has taken.
pub(super) fn rowid_alias(connection: &Restricted, table: &TableName) -> rusqlite::Result<Option<&'static str>> {
    if !table.has_rowid() {
        return Ok(None);
    }
    let mut taken = connection.prepare("SELECT 1 FROM pragma_table_xinfo(?1) WHERE name = ?2 COLLATE NOCASE")?;
    for alias in ["rowid", "_rowid_", "oid"] {
        if !taken.exists([table.as_str(), alias])? {
            return Ok(Some(alias));
        }
    }
    Ok(None)
}

/// The same sequence on every call: an estimate should not move by itself.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Rounded to two digits: an estimate that is 5 % off must not look like a count.
fn two_digits(n: u64) -> u64 {
    let unit = 10_u64.pow(n.checked_ilog10().unwrap_or(0).saturating_sub(1));
    (n / unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::fixture::database;

    const MILLION_GAPS: &str = "CREATE TABLE big (id INTEGER PRIMARY KEY, word TEXT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
        INSERT INTO big SELECT i * 3, 'w' FROM n;";

    fn count_now(script: &str, table: &str, deadline: Instant) -> RowCount {
        let connection = database(script);
        count(&connection, &TableName::look_up(&connection, table).unwrap(), deadline)
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_mins(1)
    }

    #[test]
    fn a_count_to_the_end_is_exact() {
        assert_eq!(count_now("CREATE TABLE t (a)", "t", later()), RowCount::Exact(0));
        assert_eq!(count_now(MILLION_GAPS, "big", later()), RowCount::Exact(200_000));
        let without_rowid = "CREATE TABLE w (k TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES ('a'), ('b')";
        assert_eq!(count_now(without_rowid, "w", later()), RowCount::Exact(2));
    }

    #[test]
    fn a_table_too_big_for_its_time_is_estimated_and_says_so() {
        let connection = database(MILLION_GAPS);
        let big = TableName::look_up(&connection, "big").unwrap();
        let Some(estimate) = estimate(&connection, &big, later()).unwrap() else { panic!("no estimate") };
        assert!((160_000..=240_000).contains(&estimate), "{estimate}");
        assert_eq!(count(&connection, &big, Instant::now()), RowCount::AtLeast(1_000), "no time for an estimate");
    }

    #[test]
    fn tables_without_a_rowid_give_at_least_what_was_seen() {
        let script = "CREATE TABLE w (k INTEGER PRIMARY KEY) WITHOUT ROWID;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO w SELECT i FROM n";
        assert_eq!(count_now(script, "w", Instant::now()), RowCount::AtLeast(1_000));
    }

    #[test]
    fn extreme_rowids_and_columns_called_rowid_do_not_break_the_estimate() {
        let connection = database(
            "CREATE TABLE t (a); INSERT INTO t (rowid, a) VALUES (-9223372036854775808, 1), (9223372036854775807, 2);
             CREATE TABLE r (rowid TEXT, _rowid_ TEXT, oid TEXT); INSERT INTO r VALUES ('a', 'b', 'c')",
        );
        let r = TableName::look_up(&connection, "r").unwrap();
        assert_eq!(rowid_alias(&connection, &r).unwrap(), None);
        for name in ["t", "r"] {
            let table = TableName::look_up(&connection, name).unwrap();
            assert_eq!(estimate(&connection, &table, later()).unwrap(), None, "{name}");
        }
    }

    #[test]
    fn views_are_not_counted_and_virtual_tables_only_so_far() {
        let script = "CREATE TABLE t (a); CREATE VIEW v AS SELECT count(*) FROM t;
            CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('one'), ('two')";
        assert_eq!(count_now(script, "v", later()), RowCount::Unknown);
        assert_eq!(count_now(script, "f", later()), RowCount::Exact(2));
    }

    #[test]
    fn estimates_are_rounded_so_that_they_do_not_look_like_counts() {
        assert_eq!(two_digits(5_437_211), 5_400_000);
        assert_eq!(two_digits(99), 99);
        assert_eq!(two_digits(0), 0);
    }
}
