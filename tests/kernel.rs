//! On a kernel without Landlock: refused, or gone on without, as the operator says, and said in both cases.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use nix::libc;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

#[test]
fn without_landlock_the_program_refuses_and_says_what_to_do() {
    let room = Room::new();
    let output = room.run(&["query", "SELECT 1"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("this kernel's Landlock is at ABI 0"), "{said}");
    assert!(said.contains("--sandbox best-effort"), "{said}");
}

#[test]
fn with_best_effort_it_answers_and_puts_the_weakness_on_record_and_on_show() {
    let room = Room::new();
    let output = room.run(&["--sandbox", "best-effort", "query", "--format", "csv", "SELECT 40 + 2 AS n"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "n\n42");
    let audit = fs::read_to_string(room.0.path().join("out/audit.jsonl")).unwrap();
    let start = audit.lines().find(|line| line.contains("best-effort")).expect("the start is on record");
    // The other belts are on all the same.
    assert!(start.contains(r#""enforced":false"#) && !start.contains(r#""seccomp":0"#), "{start}");
    let asked = room.run(&["--sandbox", "best-effort", "--", "how many accounts churned in June 2026?"]);
    let shown = String::from_utf8(asked.stderr).unwrap();
    assert!(asked.status.success() && shown.contains("best effort"), "{shown}");
}

#[test]
fn without_landlock_doctor_is_not_green() {
    let room = Room::new();
    for arguments in [&["doctor"][..], &["--sandbox", "best-effort", "doctor"]] {
        let output = room.run(arguments);
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(6), "{said}");
        assert!(said.contains("FAIL"), "{said}");
    }
}

struct Room(tempfile::TempDir);

impl Room {
    fn new() -> Self {
        let room = Self(tempfile::tempdir().unwrap());
        fs::create_dir(room.0.path().join("data")).unwrap();
        let program = env!("CARGO_BIN_EXE_pi-sql");
        let made = Command::new(program).arg("sample").arg(room.0.path().join("data/s.db")).output().unwrap();
        assert!(made.status.success());
        room
    }

    /// Runs the program as on a kernel that does not know Landlock's calls.
    #[expect(unsafe_code, reason = "a filter is put on between fork and exec, which has no safe interface")]
    fn run(&self, arguments: &[&str]) -> Output {
        let calls = [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self];
        let rules: BTreeMap<i64, Vec<_>> = calls.into_iter().map(|call| (call, Vec::new())).collect();
        let missing = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        let architecture = std::env::consts::ARCH.try_into().unwrap();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, missing, architecture).unwrap();
        let program: BpfProgram = filter.try_into().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_pi-sql"));
        command.current_dir(self.0.path()).args(["--db", "data/s.db", "--out", "out"]).args(arguments);
        // SAFETY: the filter was made before; putting it on is two system calls.
        unsafe { command.pre_exec(move || apply_filter(&program).map_err(std::io::Error::other)) };
        command.output().unwrap()
    }
}
