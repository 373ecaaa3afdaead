//! Output that can't be written: then nothing runs.

use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use crate::processes::{nobody_is_left, until};
use crate::support::{ANSWER, Place, QUESTION};

/// Neither a question nor a query gets through, and no query is on record without having been.
fn nothing_runs(place: &Place, part: &str) {
    place.ask(QUESTION).go().fails(7, part);
    place.query("SELECT 1").go().fails(7, part);
    place.run(["schema"]).go().fails(7, part);
    nobody_is_left(place);
}

#[test]
fn the_output_directory_is_made_and_closed_to_others() {
    let place = Place::new();
    let out = place.path("a/b/out");
    place.ask(QUESTION).out(&out).go().exits(0).prints(ANSWER);
    let mode = |name: &str| std::fs::metadata(out.join(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(""), 0o700);
    for name in ["audit.jsonl", "audit.lock", "findings.jsonl"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    // Also where the caller's mask would allow more, or less.
    for mask in ["0", "777"] {
        let out = place.path(format!("masked-{mask}"));
        let ran = place.ask(QUESTION).out(&out).shell(&format!(r#"umask {mask}; exec "$@""#)).go();
        if mask == "0" {
            let ran = ran.exits(0);
            let mode = std::fs::metadata(out.join("audit.jsonl")).unwrap().permissions().mode() & 0o7777;
            assert_eq!(mode, 0o600, "{ran}");
        } else {
            let _ = ran.fails(7, "can't be used");
        }
    }
}

#[test]
fn a_directory_that_cannot_be_written_stops_everything() {
    let place = Place::new();
    std::fs::create_dir(place.out()).unwrap();
    // The program drops root's right to write everywhere, so this holds for root too.
    std::fs::set_permissions(place.out(), PermissionsExt::from_mode(0o500)).unwrap();
    nothing_runs(&place, "can't be used");
    std::fs::set_permissions(place.out(), PermissionsExt::from_mode(0o700)).unwrap();
    place.ask(QUESTION).go().exits(0).prints(ANSWER);
    std::fs::set_permissions(place.out().join("audit.jsonl"), PermissionsExt::from_mode(0o400)).unwrap();
    nothing_runs(&place, "can't be used");
    std::fs::set_permissions(place.out().join("audit.jsonl"), PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::set_permissions(place.out().join("findings.jsonl"), PermissionsExt::from_mode(0o400)).unwrap();
    nothing_runs(&place, "findings");
}

#[test]
fn something_else_in_the_directorys_place_stops_everything() {
    let place = Place::new();
    std::fs::write(place.out(), "a file").unwrap();
    nothing_runs(&place, "can't be used");
    std::fs::remove_file(place.out()).unwrap();
    symlink("out", place.out()).unwrap();
    nothing_runs(&place, "can't be used");
    for out in ["/proc/pi-sql", "/dev/null", "/proc/self/fd/0", ""] {
        let ran = place.query("SELECT 1").out(out).go();
        assert!([2, 7].contains(&ran.code()) && ran.stdout.is_empty(), "{out}\n{ran}");
    }
}

#[test]
fn something_else_in_the_logs_place_stops_everything() {
    let place = Place::new();
    let log = place.out().join("audit.jsonl");
    std::fs::create_dir_all(&log).unwrap();
    nothing_runs(&place, "audit.jsonl");
    std::fs::remove_dir(&log).unwrap();
    std::fs::write(&log, "this was never a log\n").unwrap();
    nothing_runs(&place, "is not an audit log");
    place.run(["audit", "verify"]).go().fails(7, "line 1");
    std::fs::write(&log, [0xff; 5000]).unwrap();
    place.run(["audit", "verify"]).go().fails(7, "line 1");
    std::fs::remove_file(&log).unwrap();
    symlink("/dev/null", &log).unwrap();
    nothing_runs(&place, "audit.jsonl");
    std::fs::remove_file(&log).unwrap();
    nix::unistd::mkfifo(&log, nix::sys::stat::Mode::S_IRWXU).unwrap();
    nothing_runs(&place, "audit.jsonl");
    std::fs::remove_file(&log).unwrap();
    let _ = std::fs::remove_file(place.out().join("audit.lock"));
    std::fs::create_dir(place.out().join("audit.lock")).unwrap();
    nothing_runs(&place, "audit.lock");
    std::fs::remove_dir(place.out().join("audit.lock")).unwrap();
    let findings = place.out().join("findings.jsonl");
    let _ = std::fs::remove_file(&findings);
    std::fs::create_dir(&findings).unwrap();
    nothing_runs(&place, "findings.jsonl");
    std::fs::remove_dir(&findings).unwrap();
    nix::unistd::mkfifo(&findings, nix::sys::stat::Mode::S_IRWXU).unwrap();
    nothing_runs(&place, "findings.jsonl");
}

#[test]
fn an_edited_log_stops_everything_until_somebody_has_looked() {
    let place = Place::new();
    place.ask(QUESTION).go().exits(0);
    let log = place.out().join("audit.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let last = text.lines().last().unwrap();
    std::fs::write(&log, text.replace(last, &last.replace("done", "dome"))).unwrap();
    nothing_runs(&place, "was edited");
    std::fs::write(&log, text.replacen("churned", "charmed", 1)).unwrap();
    place.run(["audit", "verify"]).go().fails(7, "audit.jsonl, line ");
}

#[test]
fn half_a_line_is_kept_and_the_chain_goes_on() {
    let place = Place::new();
    place.ask(QUESTION).go().exits(0);
    let mut log = std::fs::File::options().append(true).open(place.out().join("audit.jsonl")).unwrap();
    log.write_all(b"{\"seq\":99,\"time\":\"2026-").unwrap();
    place.run(["audit", "verify"]).go().fails(7, "torn");
    place.ask(QUESTION).go().exits(0).prints(ANSWER);
    assert!(place.verified().contains("1 repair"));
    assert_eq!(place.records_of("repair").len(), 1);
}

/// What is done to a log.
type Spoil = fn(&std::path::Path);

/// The log is moved away, cut or replaced under a conversation: from then on nothing runs.
#[test]
fn a_log_that_loses_its_records_in_the_middle_of_a_run_ends_the_run() {
    let line = r#"{"question": "how many plans are there?", "rows": [[5]]}"#;
    let spoil: [(&str, Spoil); 3] = [
        ("cut", |log| std::fs::File::options().write(true).open(log).unwrap().set_len(0).unwrap()),
        ("moved", |log| std::fs::rename(log, log.with_extension("away")).unwrap()),
        ("replaced", |log| {
            std::fs::copy(log, log.with_extension("copy")).unwrap();
            let text = std::fs::read_to_string(log).unwrap();
            let half = text[..text.len() / 2].rfind('\n').unwrap() + 1;
            std::fs::write(log.with_extension("new"), &text[..half]).unwrap();
            std::fs::rename(log.with_extension("new"), log).unwrap();
        }),
    ];
    for (name, spoil) in spoil {
        let place = Place::new();
        let cases = place.file("cases.jsonl", [line; 300].join("\n"));
        let running = place.run(["eval", cases.to_str().unwrap()]).start();
        until("a question is answered", || (!place.answers().is_empty()).then_some(()));
        spoil(&place.out().join("audit.jsonl"));
        let ran = running.end().exits(7);
        assert!(ran.stderr.contains("records have gone"), "{name}\n{ran}");
        nobody_is_left(&place);
    }
}

#[test]
fn a_log_whose_lock_somebody_keeps_is_said_after_a_while() {
    let place = Place::new();
    place.query("SELECT 1").go().exits(0);
    let lock = std::fs::File::options().append(true).open(place.out().join("audit.lock")).unwrap();
    lock.lock().unwrap();
    place.query("SELECT 1").go().fails(7, "has kept the audit lock");
    // Whoever stands in line can still be stopped.
    let waiting = place.ask(QUESTION).start();
    std::thread::sleep(std::time::Duration::from_millis(300));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(waiting.pid()), nix::sys::signal::Signal::SIGTERM).unwrap();
    waiting.end_within(std::time::Duration::from_secs(6)).exits(143).silent();
    lock.unlock().unwrap();
    place.query("SELECT 1").go().exits(0);
    place.verified();
}

/// A disk that fills at every moment of a run, as a limit on the size of a file shows it: refused, and never a death.
#[test]
fn a_full_disk_stops_everything_with_a_sentence_and_the_log_stays_whole() {
    let place = Place::new();
    place.ask(QUESTION).go().exits(0);
    let one = std::fs::metadata(place.out().join("audit.jsonl")).unwrap().len();
    let blocks = one.div_ceil(512);
    let (mut refused, mut answered) = (0, 0);
    for limit in 0..=blocks + 2 {
        let _ = std::fs::remove_dir_all(place.out());
        let ran = place.ask(QUESTION).shell(&format!(r#"ulimit -f {limit}; exec "$@""#)).go();
        // What was said is on record; only the end of the run may be missing then.
        assert!(ran.stdout.is_empty() || place.answers() == [ANSWER.trim()], "{ran}");
        if ran.code() == 0 {
            let _ = ran.prints(ANSWER);
            answered += 1;
        } else {
            let ran = ran.exits(7).says("can't be written");
            assert!(!ran.stderr.contains("panicked"), "{ran}");
            refused += 1;
            place.query("SELECT 1").go().exits(0);
        }
        place.verified();
        nobody_is_left(&place);
    }
    assert!(refused >= 5 && answered >= 1, "{refused} refused, {answered} answered");
}

#[test]
fn a_full_file_system_stops_everything_with_a_sentence() {
    let place = Place::new();
    std::fs::create_dir(place.out()).unwrap();
    let mounts = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if !mounts.is_ok_and(|mounted| mounted.status.success()) {
        // The limit above stands for it; this line gets past the test harness, so that the gap is seen.
        let _ = std::io::stderr().write_all(b"note: no file system can be mounted here, so a full one was not tried\n");
        return;
    }
    let script = r#"mount -t tmpfs -o size=16k,mode=700 none "$PI_SQL_OUT" && dd if=/dev/zero of="$PI_SQL_OUT/x" bs=4k count=COUNT status=none; "$@"; code=$?; "$1" audit verify >&2 || exit 99; exit $code"#;
    for count in ["3", "4"] {
        let run = place.ask(QUESTION).via(["unshare", "-rm", "sh", "-c", &script.replace("COUNT", count), "sh"]);
        let ran = run.go();
        // With no page left there is no log to verify.
        assert!(ran.code() == 7 || count == "4" && ran.code() == 99, "{count} pages taken\n{ran}");
        assert!(ran.stdout.is_empty(), "{count} pages taken\n{ran}");
        let _ = ran.says("error: ");
    }
    let script = r#"mount -t tmpfs -o ro,size=64k,mode=700 none "$PI_SQL_OUT" && exec "$@""#;
    let read_only = place.ask(QUESTION).via(["unshare", "-rm", "sh", "-c", script, "sh"]);
    read_only.go().fails(7, "Read-only file system");
}
