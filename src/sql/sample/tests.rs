use std::fs;
use std::os::unix::fs::symlink;

use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

use super::*;

struct Sample {
    _directory: TempDir,
    connection: Connection,
}

impl Sample {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sample.db");
        write(&path, false).unwrap();
        Self { connection: Connection::open(&path).unwrap(), _directory: directory }
    }

    fn cell(&self, sql: &str) -> String {
        match self.connection.query_row(sql, [], |row| row.get::<_, Value>(0)).unwrap() {
            Value::Null => "NULL".into(),
            Value::Integer(number) => number.to_string(),
            Value::Real(number) => number.to_string(),
            Value::Text(text) => text,
            Value::Blob(_) => panic!("{sql} gives a blob"),
        }
    }

    fn none(&self, what: &str, sql: &str) {
        assert_eq!(self.cell(&format!("SELECT count(*) FROM ({sql})")), "0", "{what}");
    }
}

fn entries(directory: &Path) -> Vec<String> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_answer_in_the_docs_is_true() {
    let sample = Sample::new();
    let page = include_str!("../../../docs/sample.md");
    let mut checked = 0;
    for line in page.lines().filter(|line| line.contains("| `SELECT")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [about, answer, sql] = cells[..] else { panic!("not three cells: {line}") };
        assert_eq!(sample.cell(sql.trim_matches('`')), answer, "{about}");
        checked += 1;
    }
    assert!(checked >= 25, "only {checked} rows found");
    for table in ["accounts", "subscriptions", "plans", "events"] {
        let count = sample.cell(&format!("SELECT format('%,d', count(*)) FROM {table}"));
        assert!(page.contains(&format!("| `{table}` | {count} |")), "{table} has {count} rows");
    }
}

#[test]
fn the_same_bytes_each_time() {
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (directory.path().join("a"), directory.path().join("b"));
    write(&first, false).unwrap();
    write(&second, false).unwrap();
    assert!(fs::read(first).unwrap() == fs::read(second).unwrap());
}

#[test]
fn the_file_is_small_sound_and_leaves_nothing_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sample.db");
    write(&path, false).unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 4_000_000);
    let connection = Connection::open(&path).unwrap();
    for (pragma, expected) in [("integrity_check", "ok"), ("journal_mode", "delete"), ("encoding", "UTF-8")] {
        let found: String = connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0)).unwrap();
        assert_eq!(found, expected, "{pragma}");
    }
    assert!(!connection.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap());
    assert_eq!(entries(directory.path()), ["sample.db"]);
}

#[test]
fn lives_hang_together() {
    let sample = Sample::new();
    sample.none(
        "events are numbered in the order of time",
        "SELECT 1 FROM events AS a JOIN events AS b ON b.id = a.id + 1 WHERE b.occurred_at < a.occurred_at",
    );
    sample.none(
        "each account signed up once, when it was created",
        "SELECT 1 FROM accounts AS a LEFT JOIN events AS e ON e.account_id = a.id AND e.kind = 'signup'
         WHERE e.occurred_at IS NOT a.created_at",
    );
    sample.none(
        "nobody does anything but come back after churning",
        "SELECT 1 FROM (SELECT kind, lead(kind) OVER (PARTITION BY account_id ORDER BY id) AS next FROM events)
         WHERE kind = 'churned' AND next <> 'reactivated'",
    );
    sample.none(
        "a subscription ends by churning or by changing the plan",
        "SELECT 1 FROM subscriptions AS s WHERE ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM events AS e
         WHERE e.account_id = s.account_id AND e.occurred_at = s.ended_at
         AND e.kind IN ('churned', 'upgraded', 'downgraded'))",
    );
    sample.none(
        "who churned ended a subscription",
        "SELECT 1 FROM events AS e WHERE kind = 'churned' AND NOT EXISTS (SELECT 1 FROM subscriptions AS s
         WHERE s.account_id = e.account_id AND s.ended_at = e.occurred_at)",
    );
    sample.none(
        "subscriptions of one account don't overlap",
        "SELECT 1 FROM subscriptions AS a JOIN subscriptions AS b ON a.account_id = b.account_id AND a.id < b.id
         WHERE a.ended_at IS NULL OR a.ended_at > b.started_at",
    );
    sample.none(
        "every time is the text it should be",
        "SELECT 1 FROM events WHERE occurred_at IS NOT strftime('%Y-%m-%d %H:%M:%S', occurred_at)",
    );
    assert_eq!(sample.cell("SELECT min(substr(occurred_at, 1, 7)) FROM events"), "2024-10");
    assert_eq!(sample.cell("SELECT max(substr(occurred_at, 1, 10)) FROM events"), "2026-10-31");
}

#[test]
fn the_edges_of_june_are_there() {
    let sample = Sample::new();
    for edge in ["2026-05-31 23:59:59", "2026-06-01 00:00:00", "2026-06-30 23:59:59", "2026-07-01 00:00:00"] {
        let sql = format!("SELECT count(*) FROM events WHERE kind = 'churned' AND occurred_at = '{edge}'");
        assert_eq!(sample.cell(&sql), "1", "{edge}");
    }
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine.db");
    fs::write(&path, "mine").unwrap();
    assert!(matches!(write(&path, false), Err(SampleError::Exists(_))));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    write(&path, true).unwrap();
    assert!(fs::read(&path).unwrap().starts_with(b"SQLite format 3\0"));
    assert_eq!(entries(directory.path()), ["mine.db"]);
}

#[test]
fn a_name_taken_meanwhile_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sample.db");
    let draft = Draft::beside(&path).unwrap();
    fs::write(&path, "theirs").unwrap();
    assert!(matches!(draft.publish(&path, false), Err(SampleError::Exists(_))));
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    assert_eq!(entries(directory.path()), ["sample.db"]);
}

#[test]
fn what_is_no_place_for_a_file_is_refused_with_a_reason() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("target"), "kept").unwrap();
    symlink(at("target"), at("link")).unwrap();
    fs::write(at("old.db-wal"), "pages").unwrap();
    for (path, reason) in [
        (at("folder"), "is a directory"),
        (at("folder/"), "is a directory"),
        (PathBuf::from("/"), "is a directory"),
        (PathBuf::from(""), "is a directory"),
        (at("link"), "is a symbolic link"),
        (PathBuf::from("/dev/null"), "is a device, pipe or socket"),
        (at("nowhere/sample.db"), "does not exist: create it first"),
        (at("target/sample.db"), "does not exist: create it first"),
        (at("old.db"), "old.db-wal is left of another database"),
    ] {
        let error = write(&path, true).unwrap_err().to_string();
        assert!(error.contains(reason), "{}: {error}", path.display());
    }
    assert_eq!(fs::read(at("target")).unwrap(), b"kept");
}
