//! `pi-sql doctor` is green where all is well, and says so where it is not.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

#[test]
fn every_attack_is_stopped_in_every_role_and_every_control_works() {
    let room = tempfile::tempdir().unwrap();
    let output = doctor(room.path(), "out", &["--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let attempts = report["attempts"].as_array().unwrap();
    let wrong: Vec<&Value> = attempts.iter().filter(|attempt| attempt["ok"] != true).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for role in ["supervisor", "spawner", "reader", "agent"] {
        let found: BTreeSet<&str> = attempts
            .iter()
            .filter(|attempt| attempt["role"] == role)
            .map(|attempt| attempt["found"].as_str().unwrap())
            .collect();
        assert!(found.contains("killed") && found.contains("works"), "{role}: {found:?}");
    }
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["ok"] == true), "{checks:#?}");
    for name in ["guard", "role", "database", "write", "audit"] {
        assert!(checks.iter().any(|check| check["name"] == name), "{name}");
    }
    assert_eq!(report["healthy"], output.status.success());
}

#[test]
fn an_output_directory_that_the_reader_can_read_is_a_hole() {
    let room = tempfile::tempdir().unwrap();
    let output = doctor(room.path(), "data/out", &[]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("FAIL hole      reader: “read the audit log” works"), "{said}");
    assert!(said.contains("name another with --out"), "{said}");
}

fn doctor(room: &Path, out: &str, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_pi-sql");
    std::fs::create_dir(room.join("data")).unwrap();
    let made = Command::new(program).arg("sample").arg(room.join("data/s.db")).output().unwrap();
    assert!(made.status.success());
    let mut command = Command::new(program);
    command.current_dir(room).args(["--db", "data/s.db", "--out", out, "doctor"]).args(arguments);
    command.output().unwrap()
}
