//! One test a row of `docs/replicas.md`, each in an open process and in one that can write nothing.

use super::stage::{Actor, Stage};

const COUNT: &str = "SELECT count(*) FROM t";
const TABLE: &str = "CREATE TABLE t(x); INSERT INTO t VALUES (1), (2), (3);";

/// What both kinds of reader say, which leave the directory as it is.
fn seen(stage: &Stage) -> String {
    let before = stage.listing();
    let [open, locked_down] = ["reader", "locked-down reader"].map(|part| {
        let mut reader = Actor::new(part, &stage.path);
        let answer = reader.ask(COUNT);
        if answer.ends_with("Ok(Integer(3))") || answer.ends_with("Ok(Integer(4))") {
            assert_eq!(reader.ask(COUNT), answer, "the second reading differs from the first ({part})");
        }
        reader.leave();
        assert_eq!(stage.listing(), before, "the {part} left something behind");
        answer
    });
    assert_eq!(open, locked_down);
    open
}

#[test]
fn rollback_alone() {
    assert_eq!(seen(&Stage::new(TABLE)), "Locked Ok(Integer(3))");
}

#[test]
fn rollback_with_an_idle_writer() {
    let stage = Stage::new(TABLE);
    let mut writer = Actor::new("writer", &stage.path);
    assert_eq!(writer.ask("INSERT INTO t VALUES (4)"), "done");
    assert_eq!(seen(&stage), "Locked Ok(Integer(4))");
    writer.leave();
}

#[test]
fn rollback_with_a_writer_in_the_middle_of_a_transaction() {
    let stage = Stage::new(TABLE);
    let mut writer = Actor::new("writer", &stage.path);
    assert_eq!(writer.ask("BEGIN IMMEDIATE; INSERT INTO t VALUES (4)"), "done");
    assert_eq!(seen(&stage), "Locked Ok(Integer(3))");
    writer.leave();
}

#[test]
fn rollback_with_a_writer_that_holds_the_file() {
    let stage = Stage::new(TABLE);
    let mut writer = Actor::new("writer", &stage.path);
    assert_eq!(writer.ask("BEGIN EXCLUSIVE; INSERT INTO t VALUES (4)"), "done");
    assert!(seen(&stage).starts_with("Locked("));
    writer.leave();
}

#[test]
fn rollback_with_the_journal_of_a_crashed_writer() {
    let stage = Stage::new(TABLE);
    let mut writer = Actor::new("writer", &stage.path);
    let spill = "PRAGMA cache_size=5; BEGIN; \
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 3000) INSERT INTO t SELECT hex(zeroblob(200)) FROM n";
    assert_eq!(writer.ask(spill), "done");
    writer.crash();
    assert!(stage.listing()["replica.db-journal"].len() > 512);
    assert!(seen(&stage).starts_with("HotJournal("));
}

#[test]
fn rollback_with_a_journal_that_is_over() {
    for mode in ["TRUNCATE", "PERSIST"] {
        let stage = Stage::new(TABLE);
        stage.write(&format!("PRAGMA journal_mode={mode}; INSERT INTO t VALUES (4)"));
        assert!(stage.beside("replica.db-journal").exists());
        assert_eq!(seen(&stage), "Locked Ok(Integer(4))");
    }
}

#[test]
fn wal_cleanly_closed() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    assert_eq!(stage.listing().len(), 1);
    assert_eq!(seen(&stage), "Immutable Ok(Integer(3))");
}

#[test]
fn wal_with_a_live_writer() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let mut writer = Actor::new("writer", &stage.path);
    assert_eq!(writer.ask("INSERT INTO t VALUES (4)"), "done");
    assert_eq!(seen(&stage), "Locked Ok(Integer(4))");
    writer.leave();
}

#[test]
fn wal_with_a_live_writer_that_has_written_nothing() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let mut writer = Actor::new("writer", &stage.path);
    assert_eq!(writer.ask("SELECT count(*) FROM t"), "done");
    assert_eq!(stage.listing()["replica.db-wal"].len(), 0);
    assert_eq!(seen(&stage), "Locked Ok(Integer(3))");
    writer.leave();
}

#[test]
fn wal_with_a_live_writer_after_a_truncating_checkpoint() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let mut writer = Actor::new("writer", &stage.path);
    assert_eq!(writer.ask("INSERT INTO t VALUES (4); PRAGMA wal_checkpoint(TRUNCATE)"), "done");
    assert_eq!(stage.listing()["replica.db-wal"].len(), 0);
    assert_eq!(seen(&stage), "Locked Ok(Integer(4))");
    writer.leave();
}

#[test]
fn wal_of_a_crashed_writer() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let mut writer = Actor::new("writer", &stage.path);
    assert_eq!(writer.ask("INSERT INTO t VALUES (4)"), "done");
    writer.crash();
    assert_eq!(seen(&stage), "Locked Ok(Integer(4))");
}

#[test]
fn wal_of_a_crashed_writer_without_its_index() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let mut writer = Actor::new("writer", &stage.path);
    assert_eq!(writer.ask("INSERT INTO t VALUES (4)"), "done");
    writer.crash();
    std::fs::remove_file(stage.beside("replica.db-shm")).unwrap();
    assert!(seen(&stage).starts_with("NeedsRecovery("));
}

#[test]
fn wal_with_an_empty_log_and_no_index() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    std::fs::write(stage.beside("replica.db-wal"), b"").unwrap();
    assert_eq!(seen(&stage), "Immutable Ok(Integer(3))");
}

#[test]
fn wal_with_what_another_reader_left() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let other = rusqlite::Connection::open_with_flags(&stage.path, flags).unwrap();
    other.query_row(COUNT, [], |_| Ok(())).unwrap();
    drop(other);
    assert_eq!(stage.listing().len(), 3);
    assert_eq!(seen(&stage), "Locked Ok(Integer(3))");
}

#[test]
fn wal_with_an_index_and_no_log() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    std::fs::write(stage.beside("replica.db-shm"), vec![0; 32768]).unwrap();
    assert_eq!(seen(&stage), "Immutable Ok(Integer(3))");
}

#[test]
fn wal_whose_writer_locks_everybody_out() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let mut writer = Actor::new("writer", &stage.path);
    assert_eq!(writer.ask("PRAGMA locking_mode=EXCLUSIVE; INSERT INTO t VALUES (4)"), "done");
    assert!(!stage.beside("replica.db-shm").exists());
    assert!(seen(&stage).starts_with("Locked("));
    writer.leave();
}

#[test]
fn rollback_mounted_alone() {
    let stage = Stage::new(TABLE);
    assert_eq!(alone(&stage), "Locked Ok(Integer(3))");
}

#[test]
fn rollback_mounted_alone_after_a_crash_in_the_middle_of_a_commit() {
    let stage = Stage::new("CREATE TABLE t(x, y UNIQUE)");
    stage.write("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 3000) INSERT INTO t SELECT i, hex(i) || hex(zeroblob(100)) FROM n");
    let mut writer = Actor::new("writer", &stage.path);
    assert_eq!(
        writer.ask("PRAGMA cache_size=5; BEGIN; DELETE FROM t WHERE x % 3 = 0; UPDATE t SET y = y || x"),
        "done"
    );
    writer.crash();
    std::fs::remove_file(stage.beside("replica.db-journal")).unwrap();
    assert!(alone(&stage).starts_with("Corrupt "), "{}", alone(&stage));
}

#[test]
fn wal_mounted_alone() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLE}"));
    let mut writer = Actor::new("writer", &stage.path);
    assert_eq!(writer.ask("INSERT INTO t VALUES (4)"), "done");
    assert_eq!(alone(&stage), "AsOfLastCheckpoint Ok(Integer(3))");
    assert_eq!(writer.ask("PRAGMA wal_checkpoint"), "done");
    assert_eq!(alone(&stage), "AsOfLastCheckpoint Ok(Integer(4))");
    writer.leave();
}

/// What is seen when only the file itself is mounted.
fn alone(stage: &Stage) -> String {
    let before = stage.listing();
    let mut reader = Actor::new("reader of a lone file", &stage.path);
    let answer = reader.ask(COUNT);
    reader.leave();
    assert_eq!(stage.listing(), before);
    answer
}

#[test]
fn each_test_the_page_names_exists() {
    let page = include_str!("../../../../docs/replicas.md");
    let sources = concat!(include_str!("replicas.rs"), include_str!("reading.rs"));
    let names: Vec<&str> = page.split('`').skip(1).step_by(2).filter(|name| name.matches('_').count() > 1).collect();
    assert!(names.len() > 25);
    for name in names {
        assert!(sources.contains(&format!("fn {name}()")), "{name}");
    }
}
