//! What models, tickets and other people's tools have tried, through the whole program against a real file.
//!
//! The numbers are those of the collection of public reports that the guard's table cites too.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::support::{Place, Run};

/// Everything below these directories: size, time of change, content.
fn listing(directories: &[&Path]) -> BTreeMap<PathBuf, (u64, i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut todo: Vec<PathBuf> = directories.iter().map(|path| path.to_path_buf()).collect();
    while let Some(directory) = todo.pop() {
        let meta = std::fs::metadata(&directory).unwrap();
        found.insert(directory.clone(), (0, meta.mtime(), meta.mtime_nsec(), Vec::new()));
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else {
                let meta = std::fs::metadata(&path).unwrap();
                let hash = Sha256::digest(std::fs::read(&path).unwrap()).to_vec();
                found.insert(path, (meta.len(), meta.mtime(), meta.mtime_nsec(), hash));
            }
        }
    }
    found
}

/// A database in a directory of its own, a second one beside it, and a home and a temporary directory to write to.
struct Stage {
    place: Place,
}

impl Stage {
    fn new() -> Self {
        let place = Place::new();
        for directory in ["data", "tmp", "home", "cwd"] {
            std::fs::create_dir(place.path(directory)).unwrap();
        }
        std::fs::rename(place.db(), place.path("data/sample.db")).unwrap();
        std::fs::copy(place.path("data/sample.db"), place.path("data/other.db")).unwrap();
        Self { place }
    }

    fn query(&self, sql: &str) -> Run {
        // The text goes in by stdin, where nothing can be mistaken for an option.
        let run = self.place.run(["query", "-"]).stdin(sql).db(self.place.path("data/sample.db"));
        run.cwd(self.place.path("cwd")).env("TMPDIR", self.place.path("tmp")).env("HOME", self.place.path("home"))
    }

    fn listing(&self) -> BTreeMap<PathBuf, (u64, i64, i64, Vec<u8>)> {
        let inside = ["data", "tmp", "home", "cwd"].map(|name| self.place.path(name));
        listing(&inside.each_ref().map(PathBuf::as_path))
    }

    /// Each is refused or harmless, and nothing anywhere is created or changed.
    fn leaves_nothing_behind(&self, attacks: impl IntoIterator<Item = String>, answered: bool) {
        let before = self.listing();
        let outside = |name: &str| Path::new(name).exists();
        for attack in attacks {
            let ran = self.query(&attack).go();
            assert!(if answered { ran.code() == 0 } else { [2, 3].contains(&ran.code()) }, "{attack}\n{ran}");
            assert!(answered || ran.stdout.is_empty(), "{attack}\n{ran}");
            assert!(!ran.stdout.contains("root:"), "{attack}\n{ran}");
            assert_eq!(self.listing(), before, "{attack}\n{ran}");
            for name in ["/tmp/pi-sql-attack.db", "/var/tmp/pi-sql-attack.db", "/dev/shm/pi-sql-attack.db"] {
                assert!(!outside(name), "{attack} made {name}");
            }
        }
        self.place.verified();
    }
}

#[test]
fn nothing_is_written_by_any_statement() {
    let stage = Stage::new();
    let data = stage.place.path("data");
    let data = data.display();
    let attacks = [
        // 16, 20: WITH in front of a write.
        "WITH a AS (SELECT 1) DELETE FROM accounts".to_owned(),
        "WITH a AS (SELECT 1) INSERT INTO plans SELECT * FROM plans".into(),
        "WITH a AS (DELETE FROM accounts RETURNING *) SELECT * FROM a".into(),
        // 17, 19, 31: other files, pragmas, vacuum.
        format!("ATTACH '{data}/other.db' AS o"),
        format!("ATTACH '{data}/new.db' AS o"),
        format!("ATTACH 'file:{data}/new.db?mode=rwc' AS o"),
        "ATTACH '/etc/passwd' AS o".into(),
        "VACUUM".into(),
        format!("VACUUM INTO '{data}/copy.db'"),
        "VACUUM INTO '/tmp/pi-sql-attack.db'".into(),
        // 18: stacked.
        format!("SELECT 1; ATTACH '{data}/new.db' AS o; CREATE TABLE o.t(x)"),
        format!("SELECT 1; VACUUM INTO '{data}/copy.db'"),
        "SELECT 1; VACUUM INTO '/dev/shm/pi-sql-attack.db'".into(),
        // 21: a comment in front. 22: a harmless word. 23: words a list forgets.
        "/* SELECT */ DELETE FROM accounts".into(),
        "-- SELECT\nDELETE FROM accounts".into(),
        "SELECT created_at FROM accounts; UPDATE accounts SET name = ''".into(),
        "UPDATE accounts SET name = 'x'".into(),
        "REPLACE INTO plans VALUES (1, 'x', 1, 'x')".into(),
        "REINDEX".into(),
        "ANALYZE".into(),
        "DROP TABLE accounts".into(),
        "ALTER TABLE accounts ADD COLUMN x".into(),
        "CREATE TABLE t(x)".into(),
        "CREATE TEMP TABLE t(x)".into(),
        "CREATE TEMP TABLE t AS SELECT * FROM accounts".into(),
        // 24: a comment sign in a string.
        "SELECT '--'\n; DELETE FROM accounts".into(),
        "SELECT '/*'; DELETE FROM accounts; SELECT '*/'".into(),
        // 28: transactions around it.
        "BEGIN; DELETE FROM accounts; ROLLBACK".into(),
        "SAVEPOINT s".into(),
        // 32: NUL and odd spaces; an unclosed comment.
        "SELECT 1\0; DELETE FROM accounts".into(),
        "\u{a0}DELETE FROM accounts".into(),
        "\u{feff}DELETE FROM accounts".into(),
        "DELETE FROM accounts /*".into(),
    ];
    stage.leaves_nothing_behind(attacks, false);
}

#[test]
fn no_pragma_acts_even_when_it_is_only_explained() {
    let stage = Stage::new();
    let pragmas = [
        "query_only=0",
        "writable_schema=1",
        "journal_mode=WAL",
        "journal_mode=DELETE",
        "user_version=7",
        "temp_store_directory='/tmp'",
        "wal_checkpoint(TRUNCATE)",
        "optimize",
        "incremental_vacuum",
        "application_id=1",
    ];
    let prefixes = ["", "EXPLAIN ", "EXPLAIN QUERY PLAN "];
    stage.leaves_nothing_behind(
        pragmas.iter().flat_map(|pragma| prefixes.map(|prefix| format!("{prefix}PRAGMA {pragma}"))),
        false,
    );
}

#[test]
fn no_function_reaches_a_file_or_code() {
    let stage = Stage::new();
    let attacks = [
        "SELECT load_extension('/tmp/x.so')",
        "SELECT writefile('/tmp/pi-sql-attack.db', 'x')",
        "SELECT readfile('/etc/passwd')",
        "SELECT edit('x', 'sh')",
        "SELECT fts3_tokenizer('simple', x'4141414141414141')",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM pragma_optimize",
        "SELECT * FROM sqlite_dbpage",
        "SELECT sqlite_compileoption_get(1)",
        "SELECT zeroblob(1000000000)",
        "SELECT hex(randomblob(1000000000))",
    ];
    stage.leaves_nothing_behind(attacks.map(str::to_owned), false);
}

/// 26: a name is looked up, never pasted.
#[test]
fn a_name_of_a_table_is_only_ever_a_name() {
    let stage = Stage::new();
    let before = stage.listing();
    for name in [
        "accounts'); DROP TABLE accounts; --",
        "accounts)",
        "\"accounts\"; --",
        "temp.accounts",
        "sqlite_schema",
        "",
        "x\u{1b}[2J",
    ] {
        let place = &stage.place;
        let ran = place.run(["schema", "--", name]).db(place.path("data/sample.db")).go().fails(2, "There is no table");
        assert!(!ran.stderr.contains('\u{1b}'));
    }
    assert_eq!(stage.listing(), before);
}

/// 30: the sample database holds an account whose name is an order.
#[test]
fn orders_in_rows_are_only_rows() {
    let stage = Stage::new();
    let sql = "SELECT name FROM accounts WHERE name LIKE '%ignore%' OR name LIKE '%instruction%' OR name LIKE '%DROP%'";
    stage.leaves_nothing_behind([sql.to_owned()], true);
}

/// 34–40: every one ends, by a limit or at the deadline, and the next query is answered.
#[test]
fn bombs_end_and_leave_nothing_behind() {
    let stage = Stage::new();
    let short = r#"{"sql": {"deadline_ms": 500, "grace_ms": 500}}"#;
    stage.place.file("cwd/.pi/settings.json", short);
    let text = "printf('%.*c', 900000, 'a')";
    let bombs = [
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n".to_owned(),
        "SELECT count(*) FROM events a JOIN events b ON 1 = 1 JOIN events c ON 1 = 1".into(),
        "SELECT a.id FROM events a, events b, events c ORDER BY a.id * b.id % 7 LIMIT 1".into(),
        "WITH n(s) AS (SELECT 'xxxxxxxx' UNION ALL SELECT s || s FROM n) SELECT max(length(s)) FROM n".into(),
        "WITH n(i, s) AS (SELECT 1, printf('%.*c', 900000, 'x') UNION SELECT i + 1, s || i FROM n) SELECT count(*) FROM n".into(),
        format!("SELECT replace({text}, 'a', {text})"),
        format!("SELECT {text} LIKE '%{}'", "a%".repeat(5000)),
        "SELECT printf('%1000000000c', 'x')".into(),
        "SELECT count(*) FROM json_each('[' || printf('%.*c', 3000000, '1') || ']') a, events b, events c, events d".into(),
    ];
    stage.leaves_nothing_behind(bombs, false);
    stage.query("SELECT count(*) AS n FROM plans").go().exits(0).shows("5");
}

#[test]
fn single_calls_that_no_deadline_reaches_are_bounded() {
    let stage = Stage::new();
    let text = "printf('%.*c', 900000, 'a')";
    let set =
        "(WITH n(i) AS (SELECT 200 UNION ALL SELECT i + 1 FROM n LIMIT 30000) SELECT group_concat(char(i), '') FROM n)";
    let calls = [
        format!("SELECT length(trim({text}, {set} || 'a'))"),
        format!("SELECT instr({text}, printf('%.*c', 450000, 'a') || 'b')"),
    ];
    stage.leaves_nothing_behind(calls, true);
}

#[test]
fn a_wal_database_that_is_being_written_is_read_without_a_trace() {
    let stage = Stage::new();
    let writer = rusqlite::Connection::open(stage.place.path("data/sample.db")).unwrap();
    writer.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE extra(x); INSERT INTO extra VALUES (1)").unwrap();
    stage.leaves_nothing_behind(["SELECT count(*) FROM extra".to_owned()], true);
    stage.leaves_nothing_behind(["DELETE FROM extra".to_owned(), "PRAGMA wal_checkpoint(TRUNCATE)".into()], false);
    writer.execute_batch("INSERT INTO extra VALUES (2)").unwrap();
    stage.query("SELECT count(*) AS n FROM extra").go().exits(0).shows("2");
}

#[test]
fn a_wal_database_gets_no_files_beside_it() {
    let stage = Stage::new();
    let path = stage.place.path("data/sample.db");
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer.execute_batch("CREATE TABLE extra(x); DROP TABLE extra").unwrap();
    drop(writer);
    let names = || {
        let mut names: Vec<_> =
            std::fs::read_dir(stage.place.path("data")).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["other.db", "sample.db"]);
    stage.leaves_nothing_behind(["SELECT count(*) FROM accounts".to_owned()], true);
    stage.leaves_nothing_behind(["DELETE FROM accounts".to_owned(), "PRAGMA journal_mode=DELETE".into()], false);
}
