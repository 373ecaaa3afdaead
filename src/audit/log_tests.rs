//! What the log promises its writer.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::*;

pub(super) fn question(text: &str) -> Record {
    let entry = Entry::Question { text: text.into(), front: "text".into(), model: "offline/planner".into() };
    Record::of_question("q1", entry)
}

pub(super) fn open(directory: &Path, rotate_at: u64) -> Log {
    Log::open(directory, Options { run: "run".into(), rotate_at }).unwrap()
}

fn kinds(directory: &Path) -> Vec<String> {
    let mut reader = Reader::open(directory).unwrap();
    let mut kinds = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        kinds.push(value["kind"].as_str().unwrap().to_owned());
    }
    kinds
}

fn with_records(count: usize) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let records: Vec<Record> = (0..count).map(|n| question(&format!("how many in {n}?"))).collect();
    open(directory.path(), ROTATE_AT).append(&records, Durability::Later).unwrap();
    directory
}

fn append_bytes(path: &Path, bytes: &[u8]) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn records_are_numbered_and_chained_and_the_head_is_the_last_one() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("a/b");
    let mut log = open(&directory, ROTATE_AT);
    assert_eq!(log.head(), Head::START);
    assert_eq!(log.append(&[question("a"), question("b")], Durability::Now).unwrap(), [1, 2]);
    assert_eq!(log.append(&[question("c")], Durability::Later).unwrap(), [3]);
    log.sync().unwrap();
    let verified = verify(&directory, Some(log.head().hash)).unwrap();
    assert_eq!(verified, Verified { files: 1, records: 3, repairs: 0, head: log.head() });
}

#[test]
fn only_the_owner_reads_what_we_make() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("out");
    open(&directory, 1).append(&[question("a"), question("b")], Durability::Now).unwrap();
    open(&directory, 1).append(&[question("c")], Durability::Now).unwrap();
    assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);
    for entry in fs::read_dir(&directory).unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_torn_end_is_kept_aside_and_recorded_wherever_it_was_torn() {
    let directory = with_records(3);
    let live = directory.path().join("audit.jsonl");
    let whole = fs::read(&live).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in (last + 1..whole.len()).step_by(7).chain([whole.len() - 1]) {
        fs::write(&live, &whole[..cut]).unwrap();
        assert!(matches!(
            verify(directory.path(), None),
            Err(VerifyError::Broken(Broken { line: 3, reason: Reason::Torn, .. }))
        ));
        let mut log = open(directory.path(), ROTATE_AT);
        assert_eq!(log.head().seq, 3, "the repair has the torn record's place");
        assert_eq!(log.append(&[question("after")], Durability::Now).unwrap(), [4]);
        assert_eq!(verify(directory.path(), None).unwrap().repairs, 1);
        let mut reader = Reader::open(directory.path()).unwrap();
        let lines: Vec<_> = (0..3).map(|_| reader.next_line().unwrap().unwrap()).collect();
        let repair: serde_json::Value = serde_json::from_slice(&lines[2]).unwrap();
        let kept = directory.path().join(repair["kept"].as_str().unwrap());
        assert_eq!(fs::read(&kept).unwrap(), &whole[last..cut], "nothing is lost");
        assert_eq!(repair["digest"], Digest::of(&whole[last..cut]).to_string());
        fs::remove_file(kept).unwrap();
    }
}

#[test]
fn a_torn_end_is_repaired_by_a_log_that_was_open_all_along() {
    let directory = with_records(1);
    let mut log = open(directory.path(), ROTATE_AT);
    append_bytes(&directory.path().join("audit.jsonl"), b"{\"seq\":2,\"ti");
    assert_eq!(log.append(&[question("x")], Durability::Now).unwrap(), [3]);
    assert_eq!(kinds(directory.path()), ["question", "repair", "question"]);
    assert_eq!(verify(directory.path(), None).unwrap().head, log.head());
}

#[test]
fn an_end_of_zeros_is_a_torn_end() {
    for junk in [&[0; 5_000][..], b"\0\0\0\n", b"\0\0\"}\n{\"seq\"", b"\n"] {
        let directory = with_records(2);
        append_bytes(&directory.path().join("audit.jsonl"), junk);
        drop(open(directory.path(), ROTATE_AT));
        assert_eq!(kinds(directory.path()), ["question", "question", "repair"]);
        assert_eq!(verify(directory.path(), None).unwrap().records, 3);
    }
}

#[test]
fn the_very_first_line_may_be_torn() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("audit.jsonl"), b"{\"seq\":1,\"time").unwrap();
    drop(open(directory.path(), ROTATE_AT));
    assert_eq!(kinds(directory.path()), ["repair"]);
    assert_eq!(verify(directory.path(), None).unwrap().records, 1);
}

#[test]
fn a_repair_that_was_interrupted_before_its_record_is_recorded_later() {
    let directory = with_records(2);
    fs::write(directory.path().join("audit.torn-3-0123456789abcdef"), b"{\"seq\":3").unwrap();
    for _ in 0..2 {
        drop(open(directory.path(), ROTATE_AT));
        assert_eq!(kinds(directory.path()), ["question", "question", "repair"]);
    }
}

#[test]
fn a_file_linked_to_a_name_of_the_log_is_neither_cut_nor_added_to() {
    let database = b"SQLite format 3\0 and not one end of a line";
    let root = tempfile::tempdir().unwrap();
    let outside = root.path().join("replica.db");
    fs::write(&outside, database).unwrap();
    let refused = |directory: &Path| {
        let error = Log::open(directory, Options::for_run("run")).unwrap_err();
        assert!(matches!(error, AuditError::NotALog { .. }), "{error}");
        assert_eq!(fs::read(&outside).unwrap(), database);
    };
    let as_log = root.path().join("as-log");
    fs::create_dir(&as_log).unwrap();
    fs::hard_link(&outside, as_log.join("audit.jsonl")).unwrap();
    refused(&as_log);
    let as_kept = with_records(2);
    let torn = b"{\"seq\":3,";
    append_bytes(&as_kept.path().join("audit.jsonl"), torn);
    let digest = Digest::of(torn).to_string();
    fs::hard_link(&outside, as_kept.path().join(format!("audit.torn-3-{}", &digest[7..23]))).unwrap();
    refused(as_kept.path());
}

#[test]
fn a_kept_end_that_is_a_pipe_or_a_link_is_not_waited_for_and_not_followed() {
    for number in 0..2 {
        let directory = with_records(2);
        let kept = directory.path().join("audit.torn-3-0123456789abcdef");
        match number {
            0 => nix::unistd::mkfifo(&kept, nix::sys::stat::Mode::S_IRWXU).unwrap(),
            _ => std::os::unix::fs::symlink("/dev/zero", &kept).unwrap(),
        }
        let error = Log::open(directory.path(), Options::for_run("run")).unwrap_err();
        assert!(matches!(error, AuditError::NotALog { .. }), "{error}");
    }
}

#[test]
fn an_edited_last_line_stops_the_log() {
    let directory = with_records(2);
    let live = directory.path().join("audit.jsonl");
    let edited = fs::read_to_string(&live).unwrap().replace("how many in 1?", "how many in 7?");
    fs::write(&live, &edited).unwrap();
    let error = Log::open(directory.path(), Options::for_run("run")).unwrap_err();
    assert!(matches!(error, AuditError::Edited { .. }), "{error}");
    assert_eq!(fs::read_to_string(&live).unwrap(), edited, "the evidence is left as it is");
}

#[test]
fn what_is_not_a_log_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let case = |name: &str| {
        let directory = root.path().join(name);
        fs::create_dir(&directory).unwrap();
        let live = directory.join("audit.jsonl");
        (directory, live)
    };
    let refused = |directory: &Path| {
        let error = Log::open(directory, Options::for_run("run")).unwrap_err();
        assert!(matches!(error, AuditError::NotALog { .. }), "{error}");
    };
    let (directory, live) = case("text");
    fs::write(&live, "my shopping list\neggs\n").unwrap();
    refused(&directory);
    assert_eq!(fs::read(&live).unwrap(), b"my shopping list\neggs\n");
    let (directory, live) = case("link");
    fs::write(root.path().join("target"), "").unwrap();
    symlink(root.path().join("target"), &live).unwrap();
    refused(&directory);
    let (directory, live) = case("directory");
    fs::create_dir(&live).unwrap();
    refused(&directory);
    let (directory, live) = case("pipe");
    nix::unistd::mkfifo(&live, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused(&directory);
    assert!(verify(&directory, None).is_err(), "a reader doesn't wait for the pipe either");
}

#[test]
fn a_directory_that_can_not_be_made_is_named() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    for directory in [&file, &file.join("below"), Path::new("/proc/no-such-place")] {
        let error = Log::open(directory, Options::for_run("run")).unwrap_err();
        assert!(error.to_string().contains(&directory.display().to_string()), "{error}");
    }
}

#[test]
fn a_log_that_is_cut_or_replaced_while_in_use_stops() {
    type Damage = fn(&Path);
    let damages: [Damage; 3] = [
        |live| fs::OpenOptions::new().write(true).open(live).unwrap().set_len(10).unwrap(),
        |live| fs::remove_file(live).unwrap(),
        |live| {
            let other = with_records(1);
            fs::rename(other.path().join("audit.jsonl"), live).unwrap();
        },
    ];
    for damage in damages {
        let directory = with_records(2);
        let mut log = open(directory.path(), ROTATE_AT);
        damage(&directory.path().join("audit.jsonl"));
        let error = log.append(&[question("x")], Durability::Now).unwrap_err();
        assert!(matches!(error, AuditError::Shortened { .. }), "{error}");
    }
}

#[test]
fn the_chain_runs_on_through_full_files() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = open(directory.path(), 1_000);
    for n in 0..20 {
        log.append(&[question(&format!("{n}")), question("again")], Durability::Later).unwrap();
    }
    let verified = verify(directory.path(), Some(log.head().hash)).unwrap();
    assert!(verified.files > 5, "{verified:?}");
    assert_eq!(verified.records, 40 + verified.files as u64 - 1, "one rotate record a new file");
    let second = fs::read_to_string(directory.path().join("audit.000002.jsonl")).unwrap();
    assert!(second.lines().next().unwrap().contains("\"kind\":\"rotate\",\"previous\":\"audit.000001.jsonl\""));
}

#[test]
fn logs_that_share_a_directory_see_each_other_through_rotation() {
    let directory = tempfile::tempdir().unwrap();
    let mut logs: Vec<Log> = (0..3).map(|_| open(directory.path(), 2_000)).collect();
    let mut last = 0;
    for round in 0..30 {
        if round == 10 {
            fs::remove_file(directory.path().join("audit.lock")).unwrap();
        }
        for log in &mut logs {
            let seq = log.append(&[question("x")], Durability::Later).unwrap()[0];
            assert!(seq > last);
            last = seq;
        }
    }
    assert_eq!(verify(directory.path(), None).unwrap().head.seq, last);
}

#[test]
fn a_crash_between_the_two_halves_of_a_rotation_is_made_good() {
    for begun in [false, true] {
        let directory = with_records(2);
        let live = directory.path().join("audit.jsonl");
        fs::rename(&live, directory.path().join("audit.000001.jsonl")).unwrap();
        if begun {
            fs::write(&live, "{\"seq\":3,").unwrap();
        }
        let mut log = open(directory.path(), ROTATE_AT);
        log.append(&[question("x")], Durability::Now).unwrap();
        verify(directory.path(), Some(log.head().hash)).unwrap();
        let expected: &[&str] = if begun { &["rotate", "repair", "question"] } else { &["rotate", "question"] };
        assert_eq!(kinds(directory.path())[2..], *expected);
    }
}

#[test]
fn the_number_of_an_archived_file_is_not_given_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = open(directory.path(), 1_000);
    while !directory.path().join("audit.000002.jsonl").exists() {
        log.append(&[question("x")], Durability::Later).unwrap();
    }
    for archived in ["audit.000001.jsonl", "audit.000002.jsonl"] {
        fs::remove_file(directory.path().join(archived)).unwrap();
    }
    for _ in 0..10 {
        log.append(&[question("x")], Durability::Later).unwrap();
    }
    assert!(directory.path().join("audit.000003.jsonl").exists());
    assert!(!directory.path().join("audit.000001.jsonl").exists());
}

#[test]
fn following_crosses_full_files_and_never_shows_half_a_line() {
    let directory = tempfile::tempdir().unwrap();
    let (last, mut follow) = Follow::from_end(directory.path(), 3).unwrap();
    assert!(last.is_empty());
    let mut log = open(directory.path(), 1_500);
    let mut followed = Vec::new();
    for n in 0..40 {
        log.append(&[question(&format!("{n}"))], Durability::Later).unwrap();
        if n % 7 == 0 {
            // Several files may have become full since the last look.
            for _ in 0..20 {
                followed.extend(follow.poll().unwrap());
            }
        }
    }
    append_bytes(&directory.path().join("audit.jsonl"), b"{\"seq\":99");
    for _ in 0..20 {
        followed.extend(follow.poll().unwrap());
    }
    log.append(&[question("last")], Durability::Later).unwrap();
    followed.extend(follow.poll().unwrap());
    let mut reader = Reader::open(directory.path()).unwrap();
    let mut all = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        all.push(line);
    }
    assert_eq!(followed, all);
    let (last, mut follow) = Follow::from_end(directory.path(), 12).unwrap();
    assert_eq!(last, all[all.len() - 12..], "the last lines may stand in several files");
    assert!(follow.poll().unwrap().is_empty());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test runs the documented commands")]
fn the_documented_commands_check_a_log_without_this_program() {
    let directory = with_records(5);
    let text = include_str!("../../docs/audit.md");
    let script = text.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let run = || Command::new("sh").args(["-eu", "-c", script]).current_dir(directory.path()).output().unwrap();
    let output = run();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("{}\n", verify(directory.path(), None).unwrap().head)
    );
    let live = directory.path().join("audit.jsonl");
    fs::write(&live, fs::read_to_string(&live).unwrap().replace("how many in 2?", "how many in 3?")).unwrap();
    let output = run();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 3"), "{output:?}");
}

#[test]
fn every_kind_is_documented() {
    let text = include_str!("../../docs/audit.md");
    for kind in Entry::KINDS {
        assert!(text.contains(&format!("\n| `{kind}` | ")), "{kind} is missing in docs/audit.md");
    }
}
