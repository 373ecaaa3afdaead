//! What a role is given, seen from outside: nothing of the caller's environment, descriptors or terminal.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use crate::processes::{Process, nobody_is_left, role, roles, until};
use crate::support::{ANSWER, PROGRAM, Place, QUESTION, Run, Running};

const ENDLESS: &str = "CREATE VIEW visits AS WITH n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n";

/// A run that is inside a query, with every role alive.
fn busy(place: &Place, prepare: impl FnOnce(Run) -> Run) -> (Running, Vec<Process>) {
    let running = prepare(place.ask("how many visits are there?")).start();
    until("a query is running", || place.records_of("query").iter().any(|r| r["tool"] == "run_query").then_some(()));
    let all = ["spawner", "reader", "agent"].map(|name| role(place, name)).to_vec();
    (running, all)
}

/// Looks into a process; only a caller who may trace it can, and to all others it must be closed.
fn look<T>(process: &Process, look: impl Fn(&Process) -> std::io::Result<T>, check: impl FnOnce(T)) {
    match look(process) {
        Ok(found) => check(found),
        Err(error) if error.kind() == ErrorKind::PermissionDenied && !nix::unistd::geteuid().is_root() => {}
        Err(error) => panic!("{process:?}: {error}"),
    }
}

#[test]
fn no_role_sees_the_callers_environment() {
    let place = Place::with(ENDLESS);
    let (running, all) = busy(&place, |run| run.env("ANTHROPIC_API_KEY", "sk-secret").env("LD_PRELOAD", "/nowhere.so"));
    for process in &all {
        look(
            process,
            |process| std::fs::read(process.proc("environ")),
            |found| {
                assert!(found.is_empty(), "{process:?}: {}", String::from_utf8_lossy(&found));
            },
        );
        let arguments = String::from_utf8_lossy(&std::fs::read(process.proc("cmdline")).unwrap()).into_owned();
        assert!(!arguments.contains("secret"), "{arguments}");
    }
    drop(running);
    nobody_is_left(&place);
}

#[test]
fn no_role_holds_a_descriptor_it_has_no_use_for() {
    let place = Place::with(ENDLESS);
    let secret = place.file("secret", "of the caller's");
    let script =
        format!(r#"exec 3<"{0}" 4<"{0}" 5<"{0}" 6<"{0}" 7<"{0}" 8<"{0}" 9<"{0}"; exec "$@""#, secret.display());
    let (running, all) = busy(&place, |run| run.shell(&script));
    let database = place.db().to_str().unwrap().to_owned();
    for process in &all {
        look(process, Process::descriptors, |found| {
            let streams: Vec<&str> = (0..4).map(|number| found[&number].as_str()).collect();
            assert_eq!(streams[..2], ["/dev/null"; 2], "{process:?}");
            assert!(streams[2].starts_with("pipe:") && streams[3].starts_with("socket:"), "{process:?}: {found:?}");
            let others: BTreeSet<&str> =
                found.iter().filter(|(number, _)| **number > 3).map(|(_, target)| target.as_str()).collect();
            let useful = |target: &str| match process.role.as_str() {
                "reader" => target.starts_with(&database),
                // What its runtime waits with, and wakes itself with.
                "agent" => {
                    target.starts_with("anon_inode:[event") || target.starts_with("socket:") && target == streams[3]
                }
                "spawner" => target == "anon_inode:[signalfd]" || target == "/dev/null" || target.ends_with("/pi-sql"),
                _ => false,
            };
            let odd: Vec<_> = others.iter().filter(|target| !useful(target)).collect();
            assert!(odd.is_empty(), "{process:?} holds {odd:?}");
        });
    }
    drop(running);
    nobody_is_left(&place);
}

#[test]
fn no_role_holds_the_terminal() {
    let place = Place::with(ENDLESS);
    // `script` gives the run a terminal of its own.
    let run = place.ask("how many visits are there?");
    let running = run.shell(r#"exec script -qec "$1 ask 'how many visits are there?'" /dev/null"#).start();
    until("a query is running", || place.records_of("query").iter().any(|r| r["tool"] == "run_query").then_some(()));
    for name in ["spawner", "reader", "agent"] {
        assert_eq!(role(&place, name).terminal(), 0, "{name}");
    }
    let supervisor = roles(&place).len();
    assert_eq!(supervisor, 3);
    drop(running);
    nobody_is_left(&place);
}

#[test]
fn no_role_gains_privileges_or_has_any() {
    let place = Place::with(ENDLESS);
    let (running, all) = busy(&place, |run| run);
    for process in &all {
        let status = std::fs::read_to_string(process.proc("status")).unwrap();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        assert_eq!(field("NoNewPrivs:"), "1", "{process:?}");
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
            assert_eq!(u64::from_str_radix(&field(set), 16).unwrap(), 0, "{process:?} {set}");
        }
        assert_eq!(field("Threads:"), "1", "{process:?}");
    }
    drop(running);
    nobody_is_left(&place);
}

/// Fewer descriptors or less memory than a run wants: it ends with a sentence, or answers; a lower limit of the caller's
/// is never taken for a fault.
#[test]
fn a_run_short_of_descriptors_or_memory_ends_with_a_sentence_or_answers() {
    let place = Place::new();
    let limits = (3..30).map(|files| format!("ulimit -n {files}"));
    let limits = limits.chain([50_000, 200_000, 800_000].map(|memory| format!("ulimit -v {memory}")));
    let mut answered = Vec::new();
    for limit in limits {
        let ran = place.ask(QUESTION).shell(&format!(r#"{limit}; exec "$@""#)).go();
        assert!([0, 6, 7].contains(&ran.code()), "{limit}\n{ran}");
        assert!(ran.code() == 0 || ran.stderr.contains("error: "), "{limit}\n{ran}");
        if ran.code() == 0 {
            let _ = ran.prints(ANSWER);
            answered.push(limit);
        }
        nobody_is_left(&place);
    }
    assert!(answered.len() > 5 && answered.contains(&"ulimit -v 800000".to_owned()), "{answered:?}");
    place.verified();
}

/// The inode that runs is the one that is started again, whatever its name is now.
#[test]
fn a_program_replaced_while_it_runs_goes_on_with_itself() {
    let place = Place::new();
    let line = r#"{"question": "how many plans are there?", "rows": [[5]]}"#;
    let cases = place.file("cases.jsonl", [line; 20].join("\n"));
    let program = place.path("program");
    std::fs::copy(PROGRAM, &program).unwrap();
    let script = format!(r#"shift; exec "{}" "$@""#, program.display());
    let running = place.run(["eval", cases.to_str().unwrap()]).shell(&script).start();
    until("a question is answered", || (!place.answers().is_empty()).then_some(()));
    std::fs::remove_file(&program).unwrap();
    place.file("program", "#!/bin/sh\nexit 1\n");
    running.end().exits(0);
    assert_eq!(place.answers().len(), 20);
    nobody_is_left(&place);
}

/// A role is not a command: started by hand it has no channel, and ends.
#[test]
fn a_role_started_by_hand_ends_at_once() {
    let place = Place::new();
    for name in ["pi-sql:reader", "pi-sql:agent", "pi-sql:spawner", "pi-sql:supervisor"] {
        for told in
            ["{}", "", r#"{"strictness":"required","database":"/etc/passwd","database_directories":["/"],"port":null}"#]
        {
            let script = r#"exec bash -c 'exec -a "$1" "$0" "$2"' "$1" "$2" "$3""#;
            let ran = place.run([name, told]).shell(script).go().silent();
            assert!(ran.code() != 0 && !ran.stderr.contains("panicked"), "{ran}");
        }
    }
}
