//! Never silently stale: what moves between and during readings.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use rusqlite::ErrorCode;
use rusqlite::types::Value;

use super::stage::{Actor, Stage, all, number, rows, soon};
use crate::sql::connection::{Database, Freshness, Limits, OpenError, OpenedAs, Reopened};

const TABLE: &str = "CREATE TABLE t(x); INSERT INTO t VALUES (1), (2), (3);";
const COUNT: &str = "SELECT count(*) FROM t";

#[test]
fn a_commit_is_seen_by_the_next_reading_in_rollback_mode() {
    let stage = Stage::new(TABLE);
    let mut database = stage.open();
    assert_eq!(database.refresh().unwrap(), Freshness::Same);
    let counter = database.identity().change_counter;
    stage_write_elsewhere(&stage, "INSERT INTO t VALUES (4)");
    assert_eq!(database.refresh().unwrap(), Freshness::Written);
    assert_eq!(number(&mut database, COUNT), 4);
    assert!(database.identity().change_counter > counter);
}

#[test]
fn a_commit_is_seen_by_the_next_reading_in_wal_mode() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let mut writer = Actor::new("writer", &stage.path);
    writer.ask("INSERT INTO t VALUES (4)");
    let mut database = stage.open();
    assert_eq!(number(&mut database, COUNT), 4);
    writer.ask("INSERT INTO t VALUES (5)");
    assert_eq!(database.refresh().unwrap(), Freshness::Written);
    assert_eq!(number(&mut database, COUNT), 5);
    assert_eq!(database.identity().opened, OpenedAs::Locked);
    // A writer that ends can't take the log away under us, and the next one goes on with it.
    writer.leave();
    assert_eq!(number(&mut database, COUNT), 5);
    stage_write_elsewhere(&stage, "INSERT INTO t VALUES (6)");
    assert_eq!(number(&mut database, COUNT), 6);
}

#[test]
fn a_writer_that_arrives_while_a_wal_file_is_read_alone_is_noticed() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let mut database = stage.open();
    assert_eq!(number(&mut database, COUNT), 3);
    assert_eq!(database.identity().opened, OpenedAs::Immutable);
    let mut writer = Actor::new("writer", &stage.path);
    writer.ask("INSERT INTO t VALUES (4)");
    assert_eq!(database.refresh().unwrap(), Freshness::Reopened(Reopened::Journal));
    assert_eq!(number(&mut database, COUNT), 4);
    assert_eq!(database.identity().opened, OpenedAs::Locked);
    writer.leave();
}

#[test]
fn a_file_read_alone_and_written_meanwhile_is_opened_anew() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let mut database = stage.open();
    assert_eq!(number(&mut database, COUNT), 3);
    stage_write_elsewhere(&stage, "INSERT INTO t VALUES (4)");
    assert_eq!(database.refresh().unwrap(), Freshness::Reopened(Reopened::Written));
    assert_eq!(number(&mut database, COUNT), 4);
}

#[test]
fn a_result_read_alone_while_the_file_moved_is_thrown_away() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let mut database = stage.open();
    let outcome = database.read(soon(), |connection| {
        let rows = all(connection, COUNT);
        stage_write_elsewhere(&stage, "INSERT INTO t VALUES (4)");
        rows
    });
    assert!(matches!(outcome, Err(OpenError::Changed(_))));
    assert_eq!(number(&mut database, COUNT), 4);
}

#[test]
fn a_change_of_journal_mode_creates_nothing() {
    let stage = Stage::new(TABLE);
    let mut database = stage.open();
    assert_eq!(number(&mut database, COUNT), 3);
    stage_write_elsewhere(&stage, "PRAGMA journal_mode=WAL; INSERT INTO t VALUES (4)");
    let before = stage.listing();
    assert_eq!(before.len(), 1);
    // Left to itself, SQLite would now create -wal and -shm.
    assert_eq!(number(&mut database, COUNT), 4);
    assert_eq!(database.identity().opened, OpenedAs::Immutable);
    assert_eq!(stage.listing(), before);
    stage_write_elsewhere(&stage, "PRAGMA journal_mode=DELETE; INSERT INTO t VALUES (5)");
    assert_eq!(number(&mut database, COUNT), 5);
    assert_eq!(database.identity().opened, OpenedAs::Locked);
}

#[test]
fn a_replica_published_by_rename_or_by_link_is_opened_anew() {
    let stage = Stage::new(TABLE);
    let other = Stage::new("CREATE TABLE t(x); INSERT INTO t VALUES (10);");
    let third = Stage::new("CREATE TABLE t(x);");
    let link = stage.beside("current.db");
    symlink(&stage.path, &link).unwrap();
    let mut database = Database::open(&link, &Limits::default()).unwrap();
    assert_eq!(number(&mut database, COUNT), 3);

    fs::rename(&other.path, &stage.path).unwrap();
    assert_eq!(database.refresh().unwrap(), Freshness::Reopened(Reopened::Replaced));
    assert_eq!(number(&mut database, COUNT), 1);

    symlink(&third.path, stage.beside("new")).unwrap();
    fs::rename(stage.beside("new"), &link).unwrap();
    assert_eq!(number(&mut database, COUNT), 0);
    assert_eq!(database.identity().resolved, fs::canonicalize(&third.path).unwrap().to_str().unwrap());
}

#[test]
fn a_replica_taken_away_is_an_error_until_it_is_back() {
    let stage = Stage::new(TABLE);
    let mut database = stage.open();
    fs::rename(&stage.path, stage.beside("away")).unwrap();
    assert!(matches!(database.refresh(), Err(OpenError::Missing(_))));
    assert!(rows(&mut database, COUNT).unwrap_err().starts_with("there is no file"));
    fs::rename(stage.beside("away"), &stage.path).unwrap();
    assert_eq!(number(&mut database, COUNT), 3);
}

#[test]
fn a_replica_cut_short_under_us_is_an_error() {
    let stage = Stage::new("CREATE TABLE t(x); INSERT INTO t VALUES (hex(zeroblob(50000)))");
    let mut database = stage.open();
    let file = fs::OpenOptions::new().write(true).open(&stage.path).unwrap();
    file.set_len(8192).unwrap();
    assert!(rows(&mut database, "SELECT x FROM t").unwrap_err().contains("damaged"));
}

#[test]
fn a_new_schema_is_seen_and_virtual_tables_still_work_after_it() {
    let stage = Stage::new("CREATE VIRTUAL TABLE r USING rtree(id, a, b); INSERT INTO r VALUES (1, 2, 3)");
    let mut database = stage.open();
    assert_eq!(number(&mut database, "SELECT count(*) FROM r"), 1);
    stage_write_elsewhere(&stage, "CREATE TABLE new(x); INSERT INTO r VALUES (2, 3, 4)");
    assert_eq!(number(&mut database, "SELECT count(*) FROM r"), 2);
    assert_eq!(number(&mut database, "SELECT count(*) FROM new"), 0);
}

#[test]
fn all_statements_of_one_reading_see_one_commit() {
    for mode in ["DELETE", "WAL"] {
        let stage = Stage::new(&format!("PRAGMA journal_mode={mode}; {TABLE}"));
        let mut writer = Actor::new("writer", &stage.path);
        writer.ask("PRAGMA busy_timeout=0; INSERT INTO t VALUES (4)");
        let mut database = stage.open();
        let (first, second) = database
            .read(soon(), |connection| {
                let first = all(connection, COUNT).unwrap();
                writer.ask("INSERT INTO t VALUES (5)");
                (first, all(connection, COUNT).unwrap())
            })
            .unwrap();
        assert_eq!(first, second, "{mode}");
        writer.ask("INSERT INTO t VALUES (6)");
        assert!(number(&mut database, COUNT) >= 5);
        writer.leave();
    }
}

#[test]
fn a_writer_is_held_up_only_while_a_reading_runs() {
    let stage = Stage::new(TABLE);
    let mut writer = Actor::new("writer", &stage.path);
    let mut database = stage.open();
    assert_eq!(number(&mut database, COUNT), 3);
    assert_eq!(writer.ask("PRAGMA busy_timeout=0; INSERT INTO t VALUES (4)"), "done");
    writer.leave();
}

#[test]
fn a_statement_that_does_not_end_is_stopped_at_the_deadline() {
    let stage = Stage::new(TABLE);
    let mut database = stage.open();
    for endless in [
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n",
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 5000) SELECT count(*) FROM n a, n b, n c ON 1=1",
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 5000) SELECT sum(a.i*b.i) OVER () FROM n a, n b, n c",
    ] {
        let deadline = Instant::now() + Duration::from_millis(50);
        let error = database.read(deadline, |connection| all(connection, endless)).unwrap().unwrap_err();
        assert_eq!(error.sqlite_error_code(), Some(ErrorCode::OperationInterrupted), "{endless}");
        // The next one has its own deadline.
        assert_eq!(number(&mut database, COUNT), 3);
    }
}

#[test]
fn a_busy_writer_does_not_make_readings_fail() {
    let stage = Stage::new(TABLE);
    let mut writer = Actor::new("writer", &stage.path);
    let mut database = stage.open();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..30 {
                assert_eq!(writer.ask("PRAGMA busy_timeout=5000; INSERT INTO t SELECT 7"), "done");
            }
        });
        for _ in 0..60 {
            number(&mut database, COUNT);
        }
    });
    writer.leave();
    assert_eq!(number(&mut database, COUNT), 33);
}

/// The writer opens, writes and closes again and again: `-wal` and `-shm` come and go, and no look may catch them
/// in a state that is taken for damage, for staleness, or for an invitation to create them.
#[test]
fn a_writer_that_comes_and_goes_is_followed_without_an_error() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let mut writer = Actor::new("visiting writer", &stage.path);
    let mut open = Some(stage.open());
    let mut seen = 3;
    std::thread::scope(|scope| {
        let visits = scope.spawn(|| {
            for _ in 0..150 {
                assert_eq!(writer.ask("INSERT INTO t VALUES (0)"), "done");
            }
        });
        while !visits.is_finished() {
            let database = open.get_or_insert_with(|| stage.open());
            match database.read(soon(), |connection| all(connection, COUNT)) {
                Ok(Ok(rows)) => {
                    let Value::Integer(count) = rows[0][0] else { panic!("{rows:?}") };
                    assert!(count >= seen, "{count} after {seen}");
                    seen = count;
                }
                // Read as immutable while the writer came.
                Err(error) if error.is_passing() => {}
                other => panic!("{other:?}"),
            }
            // Closed now and then, so that the writer finds nobody and takes its files away.
            if seen % 3 == 0 {
                open = None;
            }
        }
    });
    writer.leave();
    drop(open);
    assert_eq!(number(&mut stage.open(), COUNT), 153);
    stage_write_elsewhere(&stage, "INSERT INTO t VALUES (0)");
    assert_eq!(stage.listing().len(), 1);
}

/// Writes from another process: within one, closing the writer would lift our own locks.
fn stage_write_elsewhere(stage: &Stage, sql: &str) {
    let mut writer = Actor::new("writer", &stage.path);
    assert_eq!(writer.ask(sql), "done");
    writer.leave();
}
