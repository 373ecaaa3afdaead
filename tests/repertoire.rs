//! The lists are the measured minimum: everything the roles do is in them, and nothing is in them that no role does.
//!
//! The roles run under `strace` through all they have to do, under their own filters; every call is then looked up in the
//! table. An entry that was never used must say why it is there all the same (`fallback`).

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use pi_sql::sandbox::{Call, Role, Test, Way, calls, shims};
use rusqlite::Connection;

/// One process of a traced run.
struct Traced {
    role: Role,
    /// Under whose list, which call, with which arguments.
    calls: Vec<(Role, i64, Vec<u64>)>,
}

/// What was used of the table: role, call and case.
type Used = BTreeSet<(String, &'static str, usize)>;

#[test]
#[ignore = "needs strace: scripts/test runs it where there is one"]
fn every_entry_of_every_list_is_used_and_nothing_outside_them_is_tried() {
    let stage = Stage::new();
    let mut used = Used::new();
    let mut run = |name: &str, arguments: &[&str]| {
        for process in stage.trace(name, arguments) {
            for (list, number, arguments) in &process.calls {
                let matched = matching(*list, *number, arguments);
                assert!(
                    !matched.is_empty(),
                    "{name}: the {} called {number}({arguments:x?}), which the {list}'s list has not",
                    process.role
                );
                used.extend(matched.into_iter().map(|(call, case)| (list.to_string(), call, case)));
            }
        }
    };
    run("plain", &["--", "how many accounts churned in June 2026?"]);
    run("query", &["query", "SELECT count(*), random(), datetime('now') FROM accounts"]);
    run("rows", &["query", "--rows", "5000", "SELECT a.*, b.* FROM accounts a JOIN accounts b LIMIT 5000"]);
    run("schema", &["schema", "accounts"]);
    // A log with a live writer, whose index is shared memory.
    let writer = stage.writer("PRAGMA journal_mode=wal; CREATE TABLE extra(x); INSERT INTO extra VALUES (1)");
    run("log", &["query", "SELECT count(*) FROM extra"]);
    writer.execute_batch("PRAGMA journal_mode=delete").unwrap();
    // Somebody writes, for a moment.
    let busy = std::thread::spawn(move || {
        writer.execute_batch("BEGIN EXCLUSIVE; INSERT INTO extra VALUES (2)").unwrap();
        std::thread::sleep(Duration::from_millis(1_500));
        writer.execute_batch("COMMIT").unwrap();
    });
    std::thread::sleep(Duration::from_millis(100));
    run("busy", &["query", "SELECT count(*) FROM extra"]);
    busy.join().unwrap();
    // Many questions, each with a new agent; the audit's files fill up meanwhile, and the database is replaced.
    // And a crashed writer leaves half a record behind.
    let replacing = stage.disturb_for(Duration::from_secs(6));
    run("many", &["--pi", "pi", "eval", "questions.jsonl"]);
    replacing.join().unwrap();
    let unused: Vec<String> = entries(&used);
    assert!(unused.is_empty(), "never used: take these out, or say why not\n{}", unused.join("\n"));
}

#[test]
#[ignore = "needs strace: scripts/test runs it where there is one"]
fn an_allocator_that_is_told_to_behave_otherwise_keeps_to_the_lists() {
    let stage = Stage::new();
    for tunable in
        ["mmap_threshold=1024", "trim_threshold=1", "arena_max=1", "tcache_count=0", "hugetlb=1", "perturb=7"]
    {
        let mut asked = command(env!("CARGO_BIN_EXE_pi-sql"));
        asked.env("GLIBC_TUNABLES", format!("glibc.malloc.{tunable}")).env("RUST_BACKTRACE", "full");
        asked.current_dir(stage.0.path()).args(["--db", "real.db", "--out", "out"]);
        let output = asked.args(["--", "how many accounts churned in June 2026?"]).output().unwrap();
        assert!(output.status.success(), "{tunable}: {}", text(&output));
    }
}

/// Entries and cases that nobody used and that don't say why they are there all the same.
fn entries(used: &Used) -> Vec<String> {
    let mut unused = BTreeSet::new();
    for role in [Role::Supervisor, Role::Spawner, Role::Reader, Role::Agent] {
        for call in all(role).filter(|call| !call.fallback) {
            // The cases of a shim are what it refuses, and may go further than what is tried.
            let cases = if shims(role).iter().any(|shim| std::ptr::eq(&raw const shim.call, call)) {
                1
            } else {
                call.cases.len().max(1)
            };
            for case in 0..cases {
                // The spawner's list repeats its children's, which are judged where they belong.
                if !used.contains(&(role.to_string(), call.name, key(call, case))) && !children_have(role, call) {
                    unused.insert(format!("{role}: {} case {case}: {}", call.name, call.why));
                }
            }
        }
    }
    unused.into_iter().collect()
}

fn children_have(role: Role, call: &Call) -> bool {
    role == Role::Spawner
        && [Role::Reader, Role::Agent].iter().any(|child| all(*child).any(|other| std::ptr::eq(other, call)))
}

/// A role's list, and what is answered with an error.
fn all(role: Role) -> impl Iterator<Item = &'static Call> {
    calls(role, Way::Nothing).into_iter().flatten().chain(shims(role).iter().map(|shim| &shim.call))
}

/// Entries are told apart by their reasons, since one call may stand in several groups.
fn key(call: &Call, case: usize) -> usize {
    case + 100 * call.why.len()
}

fn matching(role: Role, number: i64, arguments: &[u64]) -> Vec<(&'static str, usize)> {
    let mut found = Vec::new();
    for call in all(role).filter(|call| call.number == number) {
        if call.cases.is_empty() {
            found.push((call.name, key(call, 0)));
        }
        for (index, case) in call.cases.iter().enumerate() {
            if case
                .iter()
                .all(|condition| holds(condition.whole, condition.test, arguments[usize::from(condition.argument)]))
            {
                let refused = shims(role).iter().any(|shim| std::ptr::eq(&raw const shim.call, call));
                found.push((call.name, key(call, if refused { 0 } else { index })));
            }
        }
    }
    found
}

fn holds(whole: bool, test: Test, argument: u64) -> bool {
    let argument = if whole { argument } else { argument & 0xffff_ffff };
    match test {
        Test::Is(value) => argument == value,
        Test::Bits(mask, value) => argument & mask == value,
        Test::Over(value) => argument > value,
        Test::UpTo(value) => argument <= value,
        // Nothing here aborts; that each process means itself is tried elsewhere.
        Test::Own => true,
    }
}

/// A directory with a database, questions, and settings that make the audit's files small.
struct Stage(tempfile::TempDir);

impl Stage {
    fn new() -> Self {
        let stage = Self(tempfile::tempdir().unwrap());
        let made = command(env!("CARGO_BIN_EXE_pi-sql")).arg("sample").arg(stage.path("real.db")).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        std::os::unix::fs::symlink("real.db", stage.path("linked.db")).unwrap();
        fs::create_dir(stage.path("pi")).unwrap();
        fs::write(stage.path("pi/settings.json"), r#"{"audit": {"rotate_bytes": 4096}}"#).unwrap();
        let question = r#"{"question": "how many accounts churned in June 2026?", "rows": [[142]]}"#;
        fs::write(stage.path("questions.jsonl"), format!("{question}\n").repeat(6)).unwrap();
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn writer(&self, sql: &str) -> Connection {
        let connection = Connection::open(self.path("real.db")).unwrap();
        connection.execute_batch(sql).unwrap();
        connection
    }

    /// Replaces the database again and again, as a replica's publisher would, and breaks the audit's end now and then.
    fn disturb_for(&self, time: Duration) -> std::thread::JoinHandle<()> {
        let (real, new) = (self.path("real.db"), self.path("new.db"));
        let (audit, lock) = (self.path("out/audit.jsonl"), self.path("out/audit.lock"));
        let append = |path: &Path| fs::OpenOptions::new().append(true).open(path);
        std::thread::spawn(move || {
            let end = std::time::Instant::now() + time;
            while std::time::Instant::now() < end {
                fs::copy(&real, &new).unwrap();
                fs::rename(&new, &real).unwrap();
                std::thread::sleep(Duration::from_millis(100));
                // Under the log's own lock, so that it is the end of the log and not of a file that is full by now.
                if let (Ok(lock), Ok(mut log)) = (fs::File::open(&lock), append(&audit)) {
                    lock.lock().unwrap();
                    if fs::metadata(&audit).is_ok_and(|now| now.ino() == log.metadata().unwrap().ino()) {
                        log.write_all(b"{\"seq\":").unwrap();
                    }
                }
            }
        })
    }

    fn trace(&self, name: &str, arguments: &[&str]) -> Vec<Traced> {
        let traces = self.path(name);
        fs::create_dir(&traces).unwrap();
        let mut strace = command("strace");
        strace.args(["-ff", "-n", "-q", "-e", "raw=!execveat,execve", "-e", "signal=none", "-o"]).arg(traces.join("t"));
        strace.arg(env!("CARGO_BIN_EXE_pi-sql")).args(["--db", "pi/../linked.db", "--out", "out"]).args(arguments);
        let output = strace.current_dir(self.0.path()).output().expect("strace is needed here: install it");
        assert!(output.status.success(), "{name}: {}", text(&output));
        let processes: Vec<Traced> = fs::read_dir(&traces)
            .unwrap()
            .map(|entry| read(&fs::read_to_string(entry.unwrap().path()).unwrap()))
            .collect();
        assert!(processes.len() >= 3, "{name}: {} processes", processes.len());
        processes
    }
}

fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

fn text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Reads one process's trace. What a role does before its own list is in force counts for the spawner's, where it has one.
fn read(trace: &str) -> Traced {
    let role = [Role::Spawner, Role::Reader, Role::Agent]
        .into_iter()
        .find(|role| trace.contains(&format!("pi-sql:{role}\"")))
        .unwrap_or(Role::Supervisor);
    let lines: Vec<(i64, Vec<u64>)> = trace.lines().filter_map(line).collect();
    let installed = lines.iter().rposition(|(number, _)| *number == nix::libc::SYS_seccomp);
    let installed = installed.unwrap_or_else(|| panic!("the {role} put no filter in force"));
    let mut calls = Vec::new();
    for (index, (number, arguments)) in lines.into_iter().enumerate() {
        match role {
            _ if index > installed => calls.push((role, number, arguments)),
            Role::Reader | Role::Agent => calls.push((Role::Spawner, number, arguments)),
            Role::Supervisor | Role::Spawner => {}
        }
    }
    Traced { role, calls }
}

/// `[ 257] openat(0xffffff9c, 0x55…, 0x80000)  = 0x3`
fn line(line: &str) -> Option<(i64, Vec<u64>)> {
    let (number, rest) = line.strip_prefix('[')?.split_once(']')?;
    let (name, rest) = rest.split_once('(')?;
    let number = number.trim().parse().ok()?;
    if name.trim() == "execveat" {
        return Some((number, vec![0, 0, 0, 0, 0x1000]));
    }
    let arguments = rest.split_once(')').map_or(rest, |(arguments, _)| arguments);
    let number_of = |text: &str| u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok();
    let mut arguments: Vec<u64> = arguments.split(',').filter_map(number_of).collect();
    arguments.resize(6, 0);
    Some((number, arguments))
}
