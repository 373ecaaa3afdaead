//! `pi-sql health`: its verdicts, and that looking leaves no trace.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn health(place: &TempDir, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_pi-sql");
    Command::new(program).arg("health").args(arguments).current_dir(place.path()).env_clear().output().unwrap()
}

fn code(place: &TempDir, arguments: &[&str]) -> Option<i32> {
    health(place, arguments).status.code()
}

/// A place with a database, and no run yet.
fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let database = rusqlite::Connection::open(place.path().join("app.db")).unwrap();
    database.execute_batch("CREATE TABLE accounts (id INTEGER PRIMARY KEY)").unwrap();
    place
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_database_that_opens_is_healthy_and_nothing_is_written() {
    let place = place();
    let output = health(&place, &["--db", "app.db"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("healthy: app.db opens"));
    assert_eq!(names(place.path()), ["app.db"]);
}

#[test]
fn what_does_not_open_is_not_healthy() {
    let place = place();
    fs::write(place.path().join("text.db"), "no database").unwrap();
    for missing in ["none.db", "nowhere/app.db", "text.db", "."] {
        assert_eq!(code(&place, &["--db", missing]), Some(5), "{missing}");
    }
}

#[test]
fn an_age_is_held_against_the_last_good_run() {
    let place = place();
    let age = ["--db", "app.db", "--max-age", "1h"];
    assert_eq!(code(&place, &age), Some(7), "no log");
    let query = |sql: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pi-sql"));
        command.args(["query", "--db", "app.db", sql]).current_dir(place.path()).env_clear().output().unwrap().status
    };
    assert!(!query("SELECT nothing").success());
    assert_eq!(code(&place, &age), Some(7), "no good run");
    assert!(query("SELECT count(*) FROM accounts").success());
    let log = fs::read(place.path().join("sql-output/audit.jsonl")).unwrap();
    assert_eq!(code(&place, &age), Some(0));
    assert_eq!(code(&place, &["--db", "app.db", "--max-age", "1ns"]), Some(7), "overdue");
    assert_eq!(fs::read(place.path().join("sql-output/audit.jsonl")).unwrap(), log, "a look is not on record");
}

#[test]
fn an_age_that_is_none_is_a_usage_error() {
    assert_eq!(code(&place(), &["--db", "app.db", "--max-age", "soon"]), Some(2));
}
