//! What an operator hides, through the program itself.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use rusqlite::Connection;

const SCRIPT: &str = "CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, ssn TEXT);
    INSERT INTO staff (name, ssn) VALUES ('ann', 'seckey-4321'), ('bob', 'seckey-8765');
    CREATE TABLE salaries (staff_id INTEGER REFERENCES staff (id), amount INTEGER);
    INSERT INTO salaries VALUES (1, 918273);
    CREATE INDEX by_ssn ON staff (ssn);
    CREATE VIEW pay AS SELECT name, amount FROM staff JOIN salaries ON staff_id = id;";

/// A project with a database, and settings that hide something.
struct Project(tempfile::TempDir);

impl Project {
    fn new(hide: &str) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        Connection::open(project.path("real.db")).unwrap().execute_batch(SCRIPT).unwrap();
        fs::create_dir(project.path(".pi")).unwrap();
        fs::write(project.path(".pi/settings.json"), format!("{{\"sql\": {{\"hide\": {hide}}}}}")).unwrap();
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_pi-sql"))
            .current_dir(self.0.path())
            .env_clear()
            .args(["--db", "real.db", "--out", "out"])
            .args(arguments)
            .output()
            .unwrap()
    }
}

/// Everything a person sees.
fn seen(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn queries_and_schema_obey_the_settings() {
    let project = Project::new("[\"salaries\", \"staff.ssn\"]");
    let counted = project.run(&["query", "SELECT count(*) AS n FROM staff", "--format", "csv"]);
    assert_eq!(String::from_utf8_lossy(&counted.stdout), "n\n2\n");
    for (sql, said) in [
        ("SELECT ssn FROM staff", "no such column: ssn"),
        ("SELECT amount FROM salaries", "no such table: salaries"),
        ("SELECT amount FROM pay", "no such table: pay"),
        ("SELECT * FROM staff", "Name the columns you need: id, name."),
        ("SELECT sql FROM sqlite_schema", "use list_tables and describe_table"),
        ("SELECT count(*) FROM staff JOIN (SELECT 'seckey-4321' AS ssn) USING (ssn)", "cannot join using column ssn"),
        ("SELECT count(*) FROM staff NATURAL JOIN (SELECT 'seckey-4321' AS ssn)", "Join with ON"),
    ] {
        let output = project.run(&["query", sql]);
        assert_eq!(output.status.code(), Some(2), "{sql}: {}", seen(&output));
        assert!(seen(&output).contains(said), "{sql}: {}", seen(&output));
        assert!(!seen(&output).contains("918273") && !seen(&output).contains("8765"), "{}", seen(&output));
    }
    for arguments in [&["schema"][..], &["schema", "--format", "json"], &["schema", "staff", "--format", "json"]] {
        let output = project.run(arguments);
        assert!(output.status.success(), "{}", seen(&output));
        for told in ["ssn", "seckey", "salaries", "pay"] {
            assert!(!seen(&output).contains(told), "{told}: {}", seen(&output));
        }
    }
    assert_eq!(
        seen(&project.run(&["schema", "salaries"])).lines().next(),
        Some("error: There is no table “salaries”; call list_tables to see what there is.")
    );
}

#[test]
fn a_question_is_answered_without_what_is_hidden() {
    let project = Project::new("[\"salaries\", \"staff.ssn\"]");
    let output = project.run(&["--model", "offline/planner", "--", "how many staff are there?"]);
    assert!(output.status.success(), "{}", seen(&output));
    assert!(seen(&output).contains('2'), "{}", seen(&output));
    for told in ["ssn", "seckey", "salaries"] {
        assert!(!seen(&output).contains(told), "{told}: {}", seen(&output));
    }
}

#[test]
fn the_audit_names_what_is_hidden_and_nothing_of_its_values() {
    let project = Project::new("[\"Salaries\", \"staff.ssn\"]");
    project.run(&["schema"]);
    let log = fs::read_to_string(project.path("out/audit.jsonl")).unwrap();
    let start: serde_json::Value = log
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .find(|record| record["kind"] == "start")
        .unwrap();
    assert_eq!(start["belts"]["hide"], serde_json::json!(["Salaries", "staff.ssn"]), "{start}");
    assert_eq!(start["belts"]["hidden"], serde_json::json!(["pay", "salaries", "staff.ssn"]), "{start}");
    assert!(!log.contains("seckey") && !log.contains("918273"));
}

#[test]
fn a_name_to_hide_that_is_not_there_stops_the_program() {
    for (hide, said) in [
        ("[\"salarys\"]", "sql.hide names “salarys”, but the database has no such table or column (nearest: salaries)"),
        ("[\"a.b.c\"]", "“a.b.c” is no name to hide"),
        ("\"salaries\"", "expected a list of texts"),
    ] {
        let project = Project::new(hide);
        let output = project.run(&["query", "SELECT 1"]);
        assert_eq!(output.status.code(), Some(2), "{hide}: {}", seen(&output));
        assert!(seen(&output).contains(said), "{}", seen(&output));
    }
}
