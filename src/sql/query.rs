//! One guarded query, capped by stepping.
//!
//! The text is never edited: a LIMIT put in by a program would change what some queries mean. Rows are taken until a
//! cap is reached, then one more step tells whether there were more.

use std::io;
use std::time::Instant;

use rusqlite::{Row, Rows, Statement};
use serde::Serialize;
use serde_json::Value;

use crate::sql::cell::{Cell, Notes, shorten};
use crate::sql::connection::Restricted;
use crate::sql::gate::{Cap, QueryResult, Refusal, RefusalKind};
use crate::sql::guard::Guarded;
use crate::sql::hints;

/// Bytes below which a cell is not cut, however many columns share the cap.
const SHORTEST_CELL: usize = 16;

/// Characters of a column's name; an expression without an alias is named by its whole text.
const NAME_CHARS: std::ops::RangeInclusive<usize> = 30..=200;

/// Share of the byte cap that the names may take together.
const NAMES_SHARE: usize = 4;

/// How much of a result is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Rows. 200 are more than anybody reads and than a model should: what needs more, needs an aggregate.
    pub rows: usize,
    /// Bytes of names and rows as JSON. 64 KiB are some 20,000 tokens, the most a small model can take.
    pub bytes: usize,
    /// Bytes of one text cell. 4 KiB hold a ticket; what is longer is read with `substr()`.
    pub cell: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { rows: 200, bytes: 64 << 10, cell: 4 << 10 }
    }
}

/// Runs a guarded query until its end, a cap or the deadline.
///
/// The deadline is looked at between rows; that a single long step ends too is up to the connection's own handler.
pub fn run(connection: &Restricted, sql: &Guarded, caps: Caps, deadline: Instant) -> Result<QueryResult, Refusal> {
    run_text(connection, sql.as_str(), caps, deadline)
}

fn run_text(connection: &Restricted, sql: &str, caps: Caps, deadline: Instant) -> Result<QueryResult, Refusal> {
    let started = Instant::now();
    let refused = |error: rusqlite::Error| hints::query_refusal(connection, sql, &error);
    if let Some(hiding) = connection.hiding() {
        // First as it looks to somebody who doesn't know what is hidden: a hidden name is then one that isn't there.
        hiding.check(sql).map_err(refused)?;
        if hiding.joins_unseen(sql) {
            return Err(hints::join_refusal());
        }
    }
    let mut statement = connection.prepare(sql).map_err(refused)?;
    check(&statement)?;
    if statement.is_explain() != 0 && connection.hiding().is_some() {
        return Err(hints::explain_refusal());
    }
    let fair = caps.bytes / NAMES_SHARE / statement.column_count().max(1);
    let name_chars = fair.clamp(*NAME_CHARS.start(), *NAME_CHARS.end());
    let columns: Vec<String> = statement.column_names().map(|name| shorten(name, name_chars)).collect();
    let mut taken = Taken::new(caps, &columns);
    let truncated = match taken.step(&mut statement.raw_query(), deadline) {
        Ok(truncated) => truncated,
        Err(error) if hints::is_interrupt(&error) && !taken.rows.is_empty() => Some(Cap::Time),
        Err(error) => return Err(refused(error)),
    };
    if truncated == Some(Cap::Time) && taken.rows.is_empty() {
        return Err(hints::deadline_refusal());
    }
    Ok(QueryResult {
        truncated,
        row_count: taken.rows.len(),
        notes: taken.notes.sentences(&columns),
        columns,
        rows: taken.rows,
        ms: (started.elapsed().as_secs_f64() * 1e5).round() / 100.0,
        audit_seq: 0,
    })
}

/// What SQLite itself says of the statement, after the guard and the authorizer have agreed to it.
fn check(statement: &Statement<'_>) -> Result<(), Refusal> {
    let reason = if statement.is_explain() == 1 {
        "EXPLAIN shows SQLite's own program, which answers nothing: write EXPLAIN QUERY PLAN, or the SELECT itself."
    } else if !statement.readonly() {
        "This would write, and nothing here can be written: send one SELECT."
    } else if statement.column_count() == 0 {
        "This gives no columns: send one SELECT."
    } else if statement.parameter_count() > 0 {
        "The text has parameters (?, :name, @name or $name), and nothing fills them: write the values themselves."
    } else {
        return Ok(());
    };
    Err(Refusal { kind: RefusalKind::Sqlite, message: reason.to_owned() })
}

/// The rows taken so far.
struct Taken {
    caps: Caps,
    columns: usize,
    rows: Vec<Vec<Value>>,
    bytes: usize,
    notes: Notes,
}

impl Taken {
    fn new(caps: Caps, columns: &[String]) -> Self {
        Self { caps, columns: columns.len(), rows: Vec::new(), bytes: encoded_size(columns), notes: Notes::default() }
    }

    /// Steps to the end or to a cap; what was taken stays, whatever happens.
    fn step(&mut self, rows: &mut Rows<'_>, deadline: Instant) -> rusqlite::Result<Option<Cap>> {
        while let Some(row) = rows.next()? {
            if self.rows.len() >= self.caps.rows.max(1) {
                return Ok(Some(Cap::Rows));
            }
            if !self.take(row)? {
                return Ok(Some(Cap::Bytes));
            }
            if Instant::now() >= deadline {
                // One more step tells whether this was the last row; it is as long as any.
                return Ok(rows.next()?.map(|_| Cap::Time));
            }
        }
        Ok(None)
    }

    /// Takes a row if it fits. The first always does: its cells are cut until they fit.
    fn take(&mut self, row: &Row<'_>) -> rusqlite::Result<bool> {
        let mut cell = self.caps.cell.max(SHORTEST_CELL);
        loop {
            let cells: Vec<Cell> = (0..self.columns)
                .map(|column| Ok(Cell::of(row.get_ref(column)?, cell)))
                .collect::<rusqlite::Result<_>>()?;
            let size = encoded_size(cells.iter().map(|cell| &cell.value));
            if self.bytes + size <= self.caps.bytes || (self.rows.is_empty() && cell == SHORTEST_CELL) {
                self.bytes += size;
                self.keep(cells);
                return Ok(true);
            }
            if !self.rows.is_empty() {
                return Ok(false);
            }
            let share = self.caps.bytes / self.columns.max(1) / 2;
            cell = if cell > share { share.max(SHORTEST_CELL) } else { SHORTEST_CELL };
        }
    }

    fn keep(&mut self, cells: Vec<Cell>) {
        for (column, cell) in cells.iter().enumerate() {
            self.notes.add(column, &cell.oddities);
        }
        self.rows.push(cells.into_iter().map(|cell| cell.value).collect());
    }
}

/// Bytes of a list as the model will see it.
fn encoded_size<T: Serialize>(items: impl IntoIterator<Item = T>) -> usize {
    let mut size = Size(2);
    for item in items {
        // Counting can't fail.
        let _ = serde_json::to_writer(&mut size, &item);
        size.0 += 1;
    }
    size.0
}

/// Counts bytes; `<` counts as the `\u003c` it becomes.
struct Size(usize);

impl io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.iter().map(|byte| if *byte == b'<' { "\\u003c".len() } else { 1 }).sum::<usize>();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::fixture::{database, database_with};
    use proptest::prelude::*;
    use serde_json::json;
    use std::time::Duration;

    const NUMBERS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)";

    fn later() -> Instant {
        Instant::now() + Duration::from_mins(1)
    }

    fn run_with(script: &str, sql: &str, caps: Caps) -> Result<QueryResult, Refusal> {
        run_text(&database(script), sql, caps, later())
    }

    fn ok(sql: &str) -> QueryResult {
        run_with("CREATE TABLE t (a)", sql, Caps::default()).unwrap()
    }

    #[test]
    fn a_result_of_exactly_the_cap_is_whole_and_one_more_row_is_not() {
        let whole = ok(&format!("{NUMBERS} SELECT i FROM n LIMIT 200"));
        assert_eq!((whole.row_count, whole.truncated), (200, None));
        let cut = ok(&format!("{NUMBERS} SELECT i FROM n LIMIT 201"));
        assert_eq!((cut.row_count, cut.truncated), (200, Some(Cap::Rows)));
        assert_eq!(cut.rows[199], [json!(200)]);
    }

    #[test]
    fn the_byte_cap_counts_what_the_model_will_see() {
        let caps = Caps { bytes: 1_000, ..Caps::default() };
        let cut = run_with("CREATE TABLE t (a)", &format!("{NUMBERS} SELECT '<<<<<<<<<<' FROM n"), caps).unwrap();
        assert_eq!(cut.truncated, Some(Cap::Bytes));
        let seen = serde_json::to_string(&cut.rows).unwrap().replace('<', "\\u003c");
        assert!((900..=1_002).contains(&seen.len()), "{}", seen.len());
    }

    #[test]
    fn one_row_is_kept_however_large_it_is() {
        let columns = vec!["a"; 1_500].join(", ");
        let script = "CREATE TABLE t (a); INSERT INTO t VALUES (printf('%.*c', 1000000, 'x')), ('y')";
        let cut = run_with(script, &format!("SELECT {columns} FROM t"), Caps::default()).unwrap();
        assert_eq!((cut.row_count, cut.truncated), (1, Some(Cap::Bytes)));
        assert!(serde_json::to_string(&cut.rows).unwrap().len() <= 100 << 10);
        assert!(cut.notes[0].starts_with("long cells are cut"), "{:?}", cut.notes);
        assert!(cut.rows[0][0].as_str().unwrap().ends_with("…[cut: 1000000 bytes in all]"));
        let fits = run_with(script, &format!("SELECT {} FROM t", vec!["a"; 300].join(", ")), Caps::default()).unwrap();
        assert_eq!((fits.row_count, fits.truncated), (2, None), "cells share the cap");
        assert!(serde_json::to_string(&fits.rows).unwrap().len() <= 64 << 10);
    }

    #[test]
    fn duplicate_column_names_stay_as_they_are() {
        let result = ok("SELECT 1 AS a, 2 AS a, 3");
        assert_eq!(result.columns, ["a", "a", "3"]);
        assert_eq!(result.rows, [[json!(1), json!(2), json!(3)]]);
    }

    #[test]
    fn cells_keep_what_they_are_and_notes_say_what_was_done() {
        let result = ok("SELECT 9007199254740993 AS big, 1.0 AS whole, x'00ff' AS raw, 9e999 AS huge, \
             CAST(x'ff41' AS TEXT) AS bad, NULL AS none, 'a' || char(0) || 'b' AS nul");
        assert_eq!(
            serde_json::to_string(&result.rows[0]).unwrap(),
            "[\"9007199254740993\",1.0,\"<blob 2 bytes sha256:06eb7d6a69ee>\",\"Infinity\",\"\u{fffd}A\",null,\"a\\u0000b\"]"
        );
        assert_eq!(result.notes.len(), 4, "{:?}", result.notes);
    }

    #[test]
    fn sqlites_traps_come_through_as_they_are() {
        let result = ok("SELECT (SELECT sum(a) FROM t) AS s, (SELECT count(a) FROM t) AS c, 7 / 2 AS d, \
             date('2024-02-30') AS day, max('9', '10') AS m, 1 WHERE 1 NOT IN (SELECT 2 WHERE 0)");
        assert_eq!(result.rows, [[json!(null), json!(0), json!(3), json!("2024-03-01"), json!("9"), json!(1)]]);
        assert_eq!(ok("SELECT 1 WHERE 1 NOT IN (2, NULL)").rows.len(), 0);
        let overflow = run_with(
            "CREATE TABLE t (a); INSERT INTO t VALUES (9223372036854775807), (1)",
            "SELECT sum(a) FROM t",
            Caps::default(),
        );
        let message = overflow.unwrap_err().message;
        assert!(message.starts_with("SQLite: integer overflow. The sum is beyond 64 bits"), "{message}");
    }

    #[test]
    fn an_error_after_some_rows_is_an_error_not_a_short_result() {
        let script = "CREATE TABLE t (a); INSERT INTO t VALUES (1), (-9223372036854775807 - 1)";
        assert!(run_with(script, "SELECT abs(a) FROM t", Caps::default()).is_err());
    }

    #[test]
    fn statements_that_can_not_answer_are_refused_with_what_to_write() {
        for (sql, part) in [
            ("SELECT ?", "write the values themselves"),
            ("SELECT :month", "write the values themselves"),
            ("EXPLAIN SELECT 1", "write EXPLAIN QUERY PLAN"),
            ("SELECT 1; SELECT 2", "Only one statement"),
            ("-- nothing", "no statement"),
            ("", "no statement"),
            ("DELETE FROM t", "only reading is allowed"),
            ("EXPLAIN DELETE FROM t", "only reading is allowed"),
            ("PRAGMA query_only = 0", "only reading is allowed"),
            ("ATTACH 'x.db' AS x", "only reading is allowed"),
            ("SELECT randomblob(9)", "The function randomblob() is not allowed"),
        ] {
            let message = run_with("CREATE TABLE t (a)", sql, Caps::default()).unwrap_err().message;
            assert!(message.contains(part), "{sql}: {message}");
        }
        assert_eq!(ok("EXPLAIN QUERY PLAN SELECT * FROM t").rows[0][3], json!("SCAN t"));
        assert_eq!(ok("SELECT 1; -- done").row_count, 1);
        assert_eq!(ok("VALUES (1, 2), (3, 4)").rows.len(), 2);
    }

    #[test]
    fn the_deadline_keeps_rows_that_are_there_and_refuses_when_there_are_none() {
        let mut connection = database("CREATE TABLE t (a)");
        let past = Instant::now();
        let cut = run_text(&connection, &format!("{NUMBERS} SELECT i FROM n"), Caps::default(), past).unwrap();
        assert_eq!((cut.row_count, cut.truncated), (1, Some(Cap::Time)));
        assert_eq!(run_text(&connection, "SELECT 1", Caps::default(), past).unwrap().truncated, None);
        connection.progress_handler(1_000, Some(|| true)).unwrap();
        let endless = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        let refusal = run_text(&connection, endless, Caps::default(), later()).unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::Deadline);
        let some = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 9";
        assert_eq!(run_text(&connection, some, Caps::default(), later()).unwrap().truncated, Some(Cap::Time));
    }

    #[test]
    fn a_wide_result_and_a_long_column_name_stay_within_bounds() {
        let wide = ok(&format!("SELECT {}", vec!["1"; 2_000].join(", ")));
        assert_eq!((wide.columns.len(), wide.rows[0].len()), (2_000, 2_000));
        let long = ok(&format!("SELECT '{}'", "x".repeat(50_000)));
        assert!(long.columns[0].chars().count() <= NAME_CHARS.end() + 1);
        let named: Vec<String> = (0..700).map(|n| format!("1 AS {}{n}", "x".repeat(120))).collect();
        let both = ok(&format!("SELECT {}", named.join(", ")));
        assert!(serde_json::to_string(&both).unwrap().len() < 64 << 10);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_value_comes_back_exactly(n: i64, x: f64, text in "\\PC*|.*", bytes: Vec<u8>) {
            let connection = database_with(|writer| {
                writer.execute_batch("CREATE TABLE t (n, x, s, b)").unwrap();
                writer.execute("INSERT INTO t VALUES (?1, ?2, ?3, ?4)", (n, x, &text, &bytes)).unwrap();
            });
            let result = run_text(&connection, "SELECT * FROM t", Caps::default(), later()).unwrap();
            // Through the wire and back, as a reader of the answer has it.
            let row: Vec<Value> = serde_json::from_str(&serde_json::to_string(&result.rows[0]).unwrap()).unwrap();
            let number = row[0].as_i64().or_else(|| row[0].as_str().and_then(|digits| digits.parse().ok()));
            prop_assert_eq!(number, Some(n));
            if x.is_finite() {
                prop_assert_eq!(row[1].as_f64(), Some(x));
                prop_assert!(row[1].is_f64());
            }
            prop_assert_eq!(row[2].as_str(), Some(text.as_str()));
            let start = format!("<blob {} bytes sha256:", bytes.len());
            prop_assert!(row[3].as_str().is_some_and(|shown| shown.starts_with(&start)));
        }

        #[test]
        fn a_result_says_truncated_exactly_when_rows_are_missing(n in 0_usize..60, rows in 1_usize..40, bytes in 0_usize..900) {
            let caps = Caps { rows, bytes, ..Caps::default() };
            let sql = format!("{NUMBERS} SELECT i, 'row ' || i FROM n LIMIT {n}");
            let result = run_with("CREATE TABLE t (a)", &sql, caps).unwrap();
            prop_assert_eq!(result.truncated.is_some(), result.row_count < n);
            prop_assert!(result.row_count <= rows);
            prop_assert!(result.row_count >= n.min(1), "one row is always kept");
            prop_assert_eq!(result.row_count, result.rows.len());
        }
    }
}
