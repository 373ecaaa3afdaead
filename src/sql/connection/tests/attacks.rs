//! What belt 1 claims to stop, sent to it with every other belt off, against a real file.

use std::time::{Duration, Instant};

use rusqlite::ErrorCode;
use rusqlite::types::Value;

use super::stage::{Actor, Stage, all, number, rows, soon};
use crate::sql::connection::{Database, Denial, Limits, harden};

const TABLES: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, price REAL); INSERT INTO t VALUES (1, 'one', 1.5), (2, 'two', 2.5);
    CREATE TABLE log(x);
    CREATE INDEX by_name ON t(name);
    CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1); END;
    CREATE VIRTUAL TABLE f5 USING fts5(body); INSERT INTO f5 VALUES ('the printer is on fire');
    CREATE VIRTUAL TABLE f4 USING fts4(body); INSERT INTO f4 VALUES ('the printer is on fire');
    CREATE VIRTUAL TABLE r USING rtree(id, low, high); INSERT INTO r VALUES (1, 2, 3);";

/// Statements that would write, reach another file, or change the connection.
const FORBIDDEN: &[&str] = &[
    "INSERT INTO t VALUES (3, 'three', 3)",
    "INSERT INTO t VALUES (3, 'x', 3) RETURNING id",
    "REPLACE INTO t VALUES (1, 'uno', 1)",
    "UPDATE t SET name='x'",
    "DELETE FROM t",
    "/* harmless */ DELETE FROM t",
    "WITH a AS (SELECT 1) DELETE FROM t",
    "WITH a AS (SELECT 1) UPDATE t SET name='x'",
    "EXPLAIN DELETE FROM t",
    "CREATE TABLE new(x)",
    "CREATE TABLE IF NOT EXISTS t(x)",
    "CREATE TEMP TABLE new(x)",
    "CREATE TEMP TABLE new AS SELECT * FROM t",
    "CREATE VIEW v AS SELECT 1",
    "CREATE TEMP VIEW v AS SELECT 1",
    "CREATE TRIGGER tr2 AFTER INSERT ON t BEGIN SELECT 1; END",
    "CREATE TEMP TRIGGER tr2 AFTER INSERT ON t BEGIN SELECT 1; END",
    "CREATE INDEX i ON t(price)",
    "CREATE VIRTUAL TABLE v USING fts5(x)",
    "CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, f5, row)",
    "DROP TABLE t",
    "DROP INDEX by_name",
    "ALTER TABLE t ADD COLUMN c",
    "ALTER TABLE t RENAME TO u",
    "ANALYZE",
    "REINDEX",
    "VACUUM",
    "VACUUM INTO 'copy.db'",
    "VACUUM INTO '/tmp/pi-sql-belt-1-copy.db'",
    "ATTACH 'other.db' AS o",
    "ATTACH '/etc/passwd' AS o",
    "ATTACH ':memory:' AS o",
    "ATTACH 'file:other.db?mode=rwc' AS o",
    "DETACH main",
    "BEGIN",
    "BEGIN IMMEDIATE",
    "BEGIN EXCLUSIVE",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT s",
    "RELEASE s",
    "INSERT INTO f5(f5) VALUES ('optimize')",
    "SELECT load_extension('x')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT fts3_tokenizer('simple', x'0011223344556677')",
    "SELECT writefile('out', 'x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT edit('x', 'sh')",
    "SELECT optimize(f4) FROM f4",
    "SELECT sqlite_log(1, 'x')",
    "SELECT rtreecheck('r')",
    "SELECT randomblob(1000000000)",
    "SELECT zeroblob(1000000000)",
    "SELECT sqlite_compileoption_get(1)",
    "SELECT * FROM dbstat",
    "SELECT * FROM sqlite_dbpage",
    "SELECT * FROM sqlite_stmt",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_integrity_check",
    "SELECT * FROM pragma_quick_check",
    "SELECT * FROM pragma_foreign_key_check",
    "SELECT * FROM pragma_optimize",
    "SELECT * FROM pragma_compile_options",
    "SELECT * FROM pragma_wal_checkpoint",
];

/// Pragmas that change something, many of them while they are only being prepared.
const PRAGMAS: &[&str] = &[
    "query_only=0",
    "query_only(0)",
    "writable_schema=1",
    "trusted_schema=1",
    "journal_mode=DELETE",
    "journal_mode=WAL",
    "journal_mode",
    "locking_mode=EXCLUSIVE",
    "cache_size=1",
    "mmap_size=1000000000",
    "temp_store=1",
    "temp_store_directory='/tmp'",
    "hard_heap_limit=0",
    "soft_heap_limit=0",
    "threads=8",
    "user_version=7",
    "temp.user_version=7",
    "application_id=7",
    "schema_version=7",
    "data_version=7",
    "page_size=512",
    "foreign_keys=1",
    "case_sensitive_like=1",
    "recursive_triggers=1",
    "ignore_check_constraints=1",
    "legacy_alter_table=1",
    "reverse_unordered_selects=1",
    "busy_timeout=100000",
    "wal_checkpoint(TRUNCATE)",
    "incremental_vacuum",
    "optimize",
    "integrity_check",
    "shrink_memory",
    "secure_delete=1",
    "synchronous=0",
    "encoding='UTF-16'",
    "auto_vacuum=1",
    "database_list",
];

fn refuse_all(stage: &Stage, statements: impl Iterator<Item = String>) {
    let before = stage.listing();
    let mut database = stage.open();
    for sql in statements {
        let outcome = database.read(soon(), |connection| all(connection, &sql)).unwrap();
        assert!(outcome.is_err(), "{sql} gave {outcome:?}");
        assert_eq!(stage.listing(), before, "{sql} left something behind");
        let error = outcome.unwrap_err();
        let known = [
            "not authorized",
            "authorization denied",
            "no such function",
            "no such table",
            "prohibited",
            "in progress",
        ];
        assert!(known.iter().any(|text| error.to_string().contains(text)), "{sql}: {error}");
    }
    assert_eq!(number(&mut database, "SELECT count(*) FROM t"), 2);
    assert!(!std::path::Path::new("/tmp/pi-sql-belt-1-copy.db").exists());
    assert!(!std::path::Path::new("copy.db").exists() && !std::path::Path::new("other.db").exists());
}

#[test]
fn nothing_but_reading_is_prepared() {
    let stage = Stage::new(TABLES);
    refuse_all(&stage, FORBIDDEN.iter().map(ToString::to_string));
}

#[test]
fn no_pragma_acts_also_not_while_it_is_explained() {
    let stage = Stage::new(TABLES);
    let prefixes = ["", "EXPLAIN ", "EXPLAIN QUERY PLAN ", "/**/ "];
    refuse_all(&stage, prefixes.iter().flat_map(|prefix| PRAGMAS.iter().map(move |p| format!("{prefix}PRAGMA {p}"))));
}

#[test]
fn the_same_holds_for_a_wal_database_with_a_live_writer() {
    let stage = Stage::new(&format!("PRAGMA journal_mode=WAL; {TABLES}"));
    let mut writer = Actor::new("writer", &stage.path);
    writer.ask("INSERT INTO log VALUES (2)");
    refuse_all(&stage, FORBIDDEN.iter().map(ToString::to_string).chain(PRAGMAS.iter().map(|p| format!("PRAGMA {p}"))));
    writer.leave();
}

#[test]
fn only_the_first_of_two_statements_could_ever_run_and_neither_does() {
    let stage = Stage::new(TABLES);
    let mut database = stage.open();
    for sql in ["SELECT 1; DELETE FROM t", "SELECT 1; ATTACH 'x' AS x", "SELECT '--'\n; DELETE FROM t"] {
        assert!(rows(&mut database, sql).is_err(), "{sql}");
    }
}

/// A reading holds a statement open, which alone makes VACUUM fail; so here it is without.
#[test]
fn without_a_reading_no_copy_is_written_either() {
    let stage = Stage::new(TABLES);
    let before = stage.listing();
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let mut opened = rusqlite::Connection::open_with_flags(&stage.path, flags).unwrap();
    harden::before_first_read(&opened, &Limits::default()).unwrap();
    harden::after_first_read(&mut opened, &Limits::default()).unwrap();
    for sql in ["VACUUM".to_owned(), format!("VACUUM INTO '{}'", stage.beside("copy.db").display())] {
        let error = all(&opened, &sql).unwrap_err().to_string();
        assert!(error.contains("authoriz"), "{sql}: {error}");
        assert_eq!(stage.listing(), before);
    }
}

/// Each layer alone: what still stands when the authorizer is taken away.
#[test]
fn without_the_authorizer_nothing_is_written_either() {
    let stage = Stage::new(TABLES);
    let before = stage.listing();
    let mut opened =
        rusqlite::Connection::open_with_flags(&stage.path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    harden::before_first_read(&opened, &Limits::default()).unwrap();
    harden::after_first_read(&mut opened, &Limits::default()).unwrap();
    opened.authorizer(None::<fn(rusqlite::hooks::AuthContext<'_>) -> rusqlite::hooks::Authorization>).unwrap();
    for sql in FORBIDDEN.iter().filter(|sql| !sql.starts_with("SELECT")) {
        let _ = all(&opened, sql);
        assert_eq!(stage.listing(), before, "{sql}");
    }
    for sql in ["SELECT load_extension('x')", "SELECT fts3_tokenizer('a', x'00')", "SELECT writefile('out', 'x')"] {
        assert!(all(&opened, sql).is_err(), "{sql}");
    }
    let tables = all(&opened, "SELECT count(*) FROM sqlite_temp_schema").unwrap();
    assert_eq!(tables, [[Value::Integer(0)]]);
}

#[test]
fn what_was_refused_is_said_in_plain_words() {
    let stage = Stage::new(TABLES);
    let mut database = stage.open();
    let mut denial = |sql: &str| {
        database.read(soon(), |connection| all(connection, sql).unwrap_err().to_string()).unwrap();
        database.take_denial().unwrap()
    };
    assert_eq!(
        denial("SELECT zeroblob(9)").to_string(),
        "the function zeroblob() is not available here: answer without it"
    );
    assert_eq!(denial("PRAGMA journal_mode"), Denial::Pragma("journal_mode".into()));
    assert_eq!(denial("ATTACH 'x' AS x"), Denial::OtherFile);
    assert_eq!(denial("DELETE FROM t"), Denial::Change);
    assert_eq!(denial("BEGIN"), Denial::Transaction);
    assert_eq!(database.take_denial(), None);
}

#[test]
fn honest_reads_of_every_kind_work() {
    let stage = Stage::new(&format!(
        "{TABLES}
        CREATE TABLE g(a INT, b INT AS (a * 2) VIRTUAL, c INT AS (trim(a, 'x') + 1) STORED); INSERT INTO g VALUES (20);
        CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w VALUES ('a', 1);
        CREATE TABLE s(x INT) STRICT; INSERT INTO s VALUES (5);
        CREATE VIEW v AS SELECT name, instr(name, 'o') AS o, name REGEXP '^t' AS t FROM t;
        CREATE INDEX e ON t(replace(name, 'o', '0'));
        CREATE TABLE j(doc); INSERT INTO j VALUES ('{{\"a\": [1, 2, 3]}}');
        CREATE TABLE child(t_id REFERENCES t(id))"
    ));
    let mut database = stage.open();
    for (sql, expected) in [
        ("SELECT count(*) FROM f5 WHERE f5 MATCH 'printer'", 1),
        ("SELECT length(snippet(f5, 0, '[', ']', '…', 3)) > 0 FROM f5('fire') ORDER BY bm25(f5)", 1),
        ("SELECT length(highlight(f5, 0, '[', ']')) > 0 FROM f5('fire') ORDER BY rank", 1),
        ("SELECT count(*) FROM f4 WHERE body MATCH 'fire' AND offsets(f4) <> '' AND matchinfo(f4) IS NOT NULL", 1),
        ("SELECT count(*) FROM r WHERE low <= 2.5 AND high >= 2.5", 1),
        ("SELECT b + c FROM g", 61),
        ("SELECT v FROM w WHERE k = 'a'", 1),
        ("SELECT x FROM s", 5),
        ("SELECT sum(o) + sum(t) FROM v", 5),
        ("SELECT count(*) FROM t WHERE replace(name, 'o', '0') = 'tw0'", 1),
        ("SELECT sum(value) FROM j, json_each(j.doc, '$.a')", 6),
        ("SELECT doc ->> '$.a[1]' FROM j", 2),
        ("SELECT count(*) FROM j, json_tree(j.doc)", 5),
        ("SELECT count(*) FROM pragma_table_info('t')", 3),
        ("SELECT count(*) FROM pragma_table_xinfo('g')", 3),
        ("SELECT count(*) FROM pragma_index_list('t') i, pragma_index_info(i.name)", 2),
        ("SELECT count(*) > 2 FROM pragma_index_xinfo('by_name')", 0),
        ("SELECT count(*) FROM pragma_foreign_key_list('child')", 1),
        ("SELECT count(*) > 5 FROM pragma_table_list", 1),
        ("SELECT count(*) > 100 FROM pragma_function_list", 1),
        ("SELECT count(*) > 1 FROM pragma_collation_list", 1),
        ("SELECT count(*) FROM sqlite_schema WHERE type = 'view'", 1),
        ("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT sum(i) FROM n", 55),
        ("VALUES (7)", 7),
        ("SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY name ORDER BY price) FROM t)", 2),
        ("SELECT CAST(median(price) * 100 AS INT) FROM t", 200),
        ("SELECT CAST(percentile(price, 50) AS INT) FROM t", 2),
        ("SELECT CAST(sqrt(16) + ceil(1.2) + pow(2, 3) AS INT)", 14),
        ("SELECT unixepoch('2026-06-01') - unixepoch('2026-05-31')", 86400),
        ("SELECT datetime('now', 'localtime') IS NOT NULL", 1),
        ("SELECT length(printf('%.2f', 1.005) || format('%s', 'x'))", 5),
        ("SELECT count(*) FROM t AS a FULL JOIN t AS b USING (id)", 2),
        ("SELECT 'update; delete' LIKE '%delete%'", 1),
    ] {
        assert_eq!(number(&mut database, sql), expected, "{sql}");
    }
    assert_eq!(rows(&mut database, "EXPLAIN QUERY PLAN SELECT * FROM t WHERE name = 'one'").unwrap().len(), 1);
    let misspelt = rows(&mut database, "SELECT \"nmae\" FROM t").unwrap_err();
    assert!(misspelt.contains("no such column"), "{misspelt}");
}

#[test]
fn text_functions_work_in_a_utf16_database() {
    let stage = Stage::new("PRAGMA encoding='UTF-16le'; CREATE TABLE t(s); INSERT INTO t VALUES ('é€x€é')");
    let mut database = stage.open();
    for (sql, expected) in [
        ("SELECT instr(s, 'x') FROM t", 3),
        ("SELECT trim(s, 'é') = '€x€' AND rtrim(s, 'é€') = 'é€x' FROM t", 1),
        ("SELECT replace(s, '€', '--') = 'é--x--é' FROM t", 1),
        ("SELECT s REGEXP '^é.x' FROM t", 1),
    ] {
        assert_eq!(number(&mut database, sql), expected, "{sql}");
    }
}

#[test]
fn a_view_may_not_call_what_could_harm() {
    let stage = Stage::new(TABLES);
    stage.write("CREATE VIEW bad AS SELECT fts3_tokenizer('simple'); CREATE VIEW big AS SELECT zeroblob(9) AS z");
    let mut database = stage.open();
    assert!(rows(&mut database, "SELECT * FROM bad").is_err());
    assert!(rows(&mut database, "SELECT * FROM big").is_err());
}

#[test]
fn each_bomb_ends_by_a_limit_before_it_costs_anything() {
    let stage = Stage::new(TABLES);
    let mut database = stage.open();
    let nested = format!("SELECT {}1{}", "abs(".repeat(400), ")".repeat(400));
    let sums = format!("SELECT {}", ["1"; 400].join("+"));
    let union = ["SELECT 1"; 400].join(" UNION ALL ");
    let columns = format!("SELECT {}", vec!["1"; 2100].join(","));
    let long = format!("SELECT '{}'", "x".repeat(200_000));
    let arguments = format!("SELECT max({})", ["1"; 200].join(","));
    let pattern = format!("SELECT 'x' LIKE '{}'", "%a".repeat(400));
    let bombs = [
        "SELECT printf('%500000000c', 'x')",
        "SELECT format('%*d', 500000000, 1)",
        "SELECT hex(hex(hex(hex(printf('%1000000c', 'x')))))",
        "SELECT replace(printf('%1000000c', 'x'), ' ', printf('%1000000c', 'y'))",
        "SELECT group_concat(printf('%1000000c', 'x')) FROM json_each('[1,2,3,4,5,6,7,8,9]')",
        "SELECT json_group_array(printf('%1000000c', 'x')) FROM json_each('[1,2,3,4,5,6,7,8,9]')",
        "WITH n(s) AS (SELECT 'xxxxxxxx' UNION ALL SELECT s || s FROM n) SELECT max(length(s)) FROM n",
        &nested,
        &sums,
        &union,
        &columns,
        &long,
        &arguments,
        &pattern,
    ];
    for bomb in bombs {
        let outcome = database.read(soon(), |connection| all(connection, bomb)).unwrap();
        assert!(outcome.is_err(), "{}", &bomb[..60.min(bomb.len())]);
        assert_ne!(outcome.unwrap_err().sqlite_error_code(), Some(ErrorCode::OperationInterrupted));
    }
    assert_eq!(number(&mut database, "SELECT count(*) FROM t"), 2);
}

#[test]
fn a_call_that_took_sqlite_a_minute_ends_with_its_answer() {
    let stage = Stage::new(TABLES);
    let mut database = stage.open();
    let text = "printf('%.*c', 3000000, 'a')";
    let set = "(SELECT group_concat(char(i + 200), '') FROM n)";
    let n = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000)";
    for (sql, expected) in [
        (format!("{n} SELECT length(trim({text}, {set} || 'a'))"), 0),
        (format!("{n} SELECT length(rtrim({text}, {set}))"), 3_000_000),
        (format!("SELECT instr({text}, printf('%.*c', 1500000, 'a') || 'b')"), 0),
        (format!("SELECT length(replace({text}, printf('%.*c', 1500000, 'a') || 'b', ''))"), 3_000_000),
        (format!("SELECT {text} || 'b' REGEXP '(a|a)*c'"), 0),
    ] {
        assert_eq!(number(&mut database, &sql), expected);
    }
}

/// In another process, since the heap limit holds for all of them.
#[test]
fn the_heap_limit_ends_a_query_and_the_reader_lives() {
    let stage = Stage::new(TABLES);
    let mut reader = Actor::new("reader", &stage.path);
    let answer = reader.ask(
        "WITH n(i, s) AS (SELECT 1, printf('%.*c', 100000, 'x') UNION SELECT i + 1, s || i FROM n) SELECT count(*) FROM n",
    );
    assert!(answer.contains("OutOfMemory"), "{answer}");
    assert_eq!(reader.ask("SELECT count(*) FROM t"), "Locked Ok(Integer(2))");
    reader.leave();
}

#[test]
fn regexp_is_the_usual_one_and_bounded() {
    let stage = Stage::new(TABLES);
    let mut database = stage.open();
    for (sql, expected) in [
        ("SELECT count(*) FROM t WHERE name REGEXP '^(one|three)$'", 1),
        ("SELECT 'Émile' REGEXP '(?i)^ém'", 1),
        ("SELECT 2026 REGEXP '^20\\d\\d$'", 1),
        ("SELECT 1.5 REGEXP '^1\\.5$'", 1),
        ("SELECT (NULL REGEXP 'a') IS NULL AND ('a' REGEXP NULL) IS NULL", 1),
        ("SELECT CAST(x'ff61' AS TEXT) REGEXP 'a$'", 1),
        // A pattern from a column is compiled for each row.
        ("SELECT sum(name REGEXP name) FROM t", 2),
    ] {
        assert_eq!(number(&mut database, sql), expected, "{sql}");
    }
    for (sql, reason) in [
        ("SELECT 'a' REGEXP '('", "not valid"),
        ("SELECT 'a' REGEXP '(\\w{100}){100}'", "expands to too much"),
        ("SELECT 'a' REGEXP 5", "not text"),
    ] {
        let error = rows(&mut database, sql).unwrap_err();
        assert!(error.contains(reason), "{sql}: {error}");
    }
    let work = "SELECT printf('%.*c', 3000000, 'a') REGEXP '(?:a{1,50}){20}b'";
    assert!(rows(&mut database, work).unwrap_err().contains("too long for this REGEXP pattern"));
    let long = format!("SELECT 'a' REGEXP '{}'", "a".repeat(501));
    assert!(rows(&mut database, &long).unwrap_err().contains("longer than 500"));
}

#[test]
fn a_damaged_file_is_an_error_or_an_answer_never_a_crash() {
    let stage = Stage::new(TABLES);
    stage.write(
        "WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i+1 FROM n LIMIT 300) \
         INSERT INTO t SELECT i, 'name ' || i, i * 0.5 FROM n; \
         INSERT INTO f5 SELECT name FROM t; INSERT INTO f4 SELECT name FROM t; INSERT INTO r SELECT id+1, id, id+1 FROM t",
    );
    let sound = std::fs::read(&stage.path).unwrap();
    let mut seed = 0x2026_0601_u64;
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    let (mut refused, mut failed, mut answered) = (0, 0, 0);
    for round in 0..400 {
        let mut bytes = sound.clone();
        for _ in 0..=next(20) {
            // Half of the damage hits the pages that say where things are.
            let at = if round % 2 == 0 { 100 + next(2 * 4096) } else { next(bytes.len()) };
            bytes[at] = u8::try_from(next(256)).unwrap();
        }
        if round % 10 == 9 {
            bytes.truncate(next(bytes.len()));
        }
        let damaged = Stage::empty();
        std::fs::write(&damaged.path, &bytes).unwrap();
        let before = damaged.listing();
        match Database::open(&damaged.path, &Limits::default()) {
            Err(_) => refused += 1,
            Ok(mut database) => {
                for sql in [
                    "SELECT count(*), sum(price), max(name) FROM t",
                    "SELECT * FROM t WHERE name > 'name 2' ORDER BY price DESC",
                    "SELECT count(*) FROM f5('name')",
                    "SELECT count(*) FROM f4 WHERE body MATCH 'name'",
                    "SELECT count(*) FROM r WHERE low < 50",
                    "SELECT * FROM sqlite_schema",
                ] {
                    let deadline = Instant::now() + Duration::from_millis(500);
                    match database.read(deadline, |connection| all(connection, sql)) {
                        Ok(Ok(_)) => answered += 1,
                        Ok(Err(_)) | Err(_) => failed += 1,
                    }
                }
            }
        }
        assert_eq!(damaged.listing(), before);
    }
    assert!(refused > 20 && failed > 20 && answered > 20, "{refused} refused, {failed} failed, {answered} answered");
}
