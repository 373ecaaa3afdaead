//! The program as it ships has all its belts, no switch to take one off, and no hole.
#![cfg(not(feature = "belt-switches"))]

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pi-sql");

#[test]
fn it_has_neither_the_command_that_takes_belts_off_nor_the_words_of_the_hole() {
    let output = Command::new(PROGRAM).arg("trial").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "there is no such command");
    let program = fs::read(PROGRAM).unwrap();
    let contains = |words: &str| program.windows(words.len()).any(|found| found == words.as_bytes());
    assert!(contains("there is no such probe"), "words are found where they are");
    for words in ["as ordered", "forbidden call 0000000000", "builds for tests only"] {
        assert!(!contains(words), "{words:?} is in the program");
    }
}

#[test]
fn a_role_that_is_told_of_a_hole_does_not_start() {
    for trial in [
        r#"{"output": "/", "wanted": {"Hole": [{"number": 39, "arguments": []}]}}"#,
        r#"{"output": "/", "wanted": {"End": "panic"}}"#,
    ] {
        for role in ["supervisor", "spawner", "reader", "agent"] {
            let stderr = start(role, trial);
            assert!(stderr.contains("unknown variant"), "{role}: {stderr}");
        }
    }
    // Told of a probe in its table it gets further: to the channel that it is not given here.
    let stderr = start("reader", r#"{"output": "/", "wanted": {"Probe": "fork"}}"#);
    assert!(stderr.contains("descriptor 3"), "{stderr}");
}

fn start(role: &str, trial: &str) -> String {
    let told = format!(
        r#"{{"strictness": "required", "database": "/", "database_directories": [], "port": null,
            "belts": {{"off": ["seccomp", "landlock"], "trap": true}}, "trial": {trial}}}"#
    );
    let output = Command::new(PROGRAM).arg0(format!("pi-sql:{role}")).arg(told).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{role}");
    String::from_utf8(output.stderr).unwrap()
}
