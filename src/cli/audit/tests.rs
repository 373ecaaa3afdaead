use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clap::Parser;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::audit::{Caps, Durability, Log, Options, Record};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    audit: AuditArgs,
}

fn audit(directory: &Path, line: &str) -> (Result<(), Failure>, String) {
    let args = Line::try_parse_from(std::iter::once("audit").chain(line.split(' '))).unwrap().audit;
    let mut out = Vec::new();
    let result = run(&args, directory, &mut out);
    (result, String::from_utf8(out).unwrap())
}

/// Every kind but rotate and repair.
fn records() -> Vec<Record> {
    let ask = |entry| Record::of_question("q-7", entry);
    vec![
        Record::of_run(Entry::Start {
            version: "0.1.0".into(),
            database: json!({"path": "/data/analytics.db", "size": 4096}),
            model: "offline/planner".into(),
            belts: json!({"reader": ["landlock"]}),
            arguments: vec!["--no-session".into()],
        }),
        ask(Entry::Question { text: "how many?".into(), front: "text".into(), model: "offline/planner".into() }),
        ask(Entry::Query {
            tool: "run_query".into(),
            sql: Some("SELECT count(*)\nFROM accounts".into()),
            given: Some("```sql\nSELECT count(*)\nFROM accounts\n```".into()),
            arguments: None,
            deadline_ms: Some(5_000),
            caps: Some(Caps { rows: 1_000, bytes: 65_536 }),
        }),
        ask(Entry::Outcome {
            of: 3,
            ok: true,
            ms: 3.1,
            rows: Some(1),
            truncated: None,
            columns: vec!["count(*)".into()],
            rows_hash: Some(Digest::of(b"[[142]]").to_string()),
            error: None,
        }),
        ask(Entry::Refusal {
            by: "guard".into(),
            reason: "only one SELECT".into(),
            tool: Some("run_query".into()),
            sql: Some("DROP TABLE accounts".into()),
            arguments: None,
        }),
        ask(Entry::Finding { finding: "142 accounts.".into(), of: 3, sql: None }),
        ask(Entry::Answer {
            outcome: "answered".into(),
            text: "142 accounts.".into(),
            exit: 0,
            grounded: Some(true),
            results: vec![3],
        }),
        Record::of_run(Entry::Death { role: "reader".into(), how: "killed at its deadline".into() }),
        Record::of_run(Entry::Stop { reason: "done".into(), exit: 0 }),
    ]
}

fn log() -> (TempDir, Log) {
    let directory = tempfile::tempdir().unwrap();
    let mut log = Log::open(directory.path(), Options::for_run("run")).unwrap();
    log.append(&records(), Durability::Later).unwrap();
    (directory, log)
}

#[test]
fn a_record_is_a_line_or_a_short_block() {
    let (directory, _log) = log();
    let (result, shown) = audit(directory.path(), "show");
    result.unwrap();
    let without_times: Vec<String> = shown
        .lines()
        .map(|line| {
            if line.starts_with("     ") && !line.contains('|') {
                [&line[..6], &line[31..]].concat()
            } else {
                line.to_owned()
            }
        })
        .collect();
    assert_eq!(
        without_times.join("\n"),
        r#"     1 start    pi-sql 0.1.0, offline/planner
          | database {"path":"/data/analytics.db","size":4096}
          | belts {"reader":["landlock"]}
          | arguments --no-session
     2 question by text, to offline/planner  #q-7
          | how many?
     3 query    run_query, at most 5000 ms, 1000 rows, 65536 bytes  #q-7
          | SELECT count(*)
          | FROM accounts
          | given as:
          | ```sql
          | SELECT count(*)
          | FROM accounts
          | ```
     4 outcome  of 3: done in 3.1 ms, 1 row (count(*))  #q-7
     5 refusal  run_query, by guard: only one SELECT  #q-7
          | DROP TABLE accounts
     6 finding  from 3  #q-7
          | 142 accounts.
     7 answer   answered, exit 0, grounded, from 3  #q-7
          | 142 accounts.
     8 death    reader: killed at its deadline
     9 stop     done, exit 0"#
    );
}

#[test]
fn json_gives_the_lines_of_the_log_as_they_are() {
    let (directory, _log) = log();
    let (result, shown) = audit(directory.path(), "show --format json");
    result.unwrap();
    assert_eq!(shown, fs::read_to_string(directory.path().join("audit.jsonl")).unwrap());
}

#[test]
fn show_picks_by_question_kind_number_and_end() {
    let (directory, _log) = log();
    let picked = |line: &str| audit(directory.path(), &format!("show --format json {line}")).1.lines().count();
    assert_eq!(picked("--question q-"), 6);
    assert_eq!(picked("--question q-8"), 0);
    assert_eq!(picked("--kind query"), 1);
    assert_eq!(picked("--seq 9"), 1);
    assert_eq!(picked("--question q-7 --kind stop"), 0);
    assert_eq!(picked("--limit 2"), 2);
    assert!(audit(directory.path(), "show --limit 1").1.contains("stop"));
    assert!(Line::try_parse_from(["audit", "show", "--kind", "qery"]).is_err());
    assert!(Line::try_parse_from(["audit", "verify", "--head", "sha256:12"]).is_err());
}

#[test]
fn hostile_text_reaches_no_terminal_whoever_wrote_it() {
    let (directory, mut log) = log();
    let hostile = "\u{1b}]0;x\u{7}\u{9b}2J\r\n     9 2026 stop\u{2028}\u{202e}\u{200b}";
    let entry = Entry::Death { role: hostile.into(), how: hostile.into() };
    log.append(&[Record::of_question(hostile, entry)], Durability::Later).unwrap();
    let entry = Entry::Question { text: hostile.into(), front: hostile.into(), model: hostile.into() };
    log.append(&[Record::of_run(entry)], Durability::Later).unwrap();
    let live = directory.path().join("audit.jsonl");
    let forged = [fs::read(&live).unwrap(), hostile.as_bytes().to_vec(), b"\xff\n".to_vec()].concat();
    fs::write(&live, forged).unwrap();
    for line in ["show", "tail", "show --format json"] {
        let (result, shown) = audit(directory.path(), line);
        result.unwrap();
        assert!(shown.lines().all(|line| matches!(harmless(line), std::borrow::Cow::Borrowed(_))), "{shown}");
    }
    let shown = audit(directory.path(), "show --limit 4").1;
    assert_eq!(shown.lines().filter(|line| line.starts_with("     9 ")).count(), 0, "{shown}");
}

#[test]
fn verify_says_whole_or_where_it_breaks_with_exit_7() {
    let (directory, log) = log();
    let head = log.head();
    let (result, said) = audit(directory.path(), &format!("verify --head {head}"));
    result.unwrap();
    assert_eq!(said, format!("the chain is whole: 9 records, in 1 file\nhead {head}\n"));
    let other = Digest::of(b"another");
    let (result, _) = audit(directory.path(), &format!("verify --head {other}"));
    assert!(result.unwrap_err().to_string().contains("shortened or rewritten"));
    let live = directory.path().join("audit.jsonl");
    fs::write(&live, fs::read_to_string(&live).unwrap().replace("how many", "how much")).unwrap();
    let (result, said) = audit(directory.path(), "verify");
    let failure = result.unwrap_err();
    assert_eq!(failure.kind(), ExitKind::Output);
    assert_eq!(
        failure.to_string(),
        "the audit log is broken: audit.jsonl, line 2: edited: its content doesn't match its own hash"
    );
    assert_eq!(said, "");
}

#[test]
fn a_missing_log_is_a_failure_and_not_an_empty_one() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("nowhere");
    for line in ["verify", "show", "tail", "tail -f"] {
        assert_eq!(audit(&missing, line).0.unwrap_err().kind(), ExitKind::Output, "{line}");
    }
}

/// Takes some lines and then goes away, as `head` does.
struct Leaving {
    lines_left: usize,
    seen: Vec<u8>,
}

impl Write for Leaving {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.lines_left == 0 {
            return Err(ErrorKind::BrokenPipe.into());
        }
        self.seen.extend_from_slice(bytes);
        self.lines_left = self.lines_left.saturating_sub(bytes.split(|byte| *byte == b'\n').count() - 1);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn tail_follows_across_full_files_and_ends_quietly_when_its_reader_leaves() {
    let (directory, log) = log();
    drop(log);
    let path = directory.path().to_owned();
    let done = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&done);
    let writer = thread::spawn(move || {
        let mut log = Log::open(&path, Options { run: "run".into(), rotate_at: 1_000 }).unwrap();
        while !stop.load(Ordering::Relaxed) {
            let entry = Entry::Death { role: "reader".into(), how: "its deadline".into() };
            log.append(&[Record::of_run(entry)], Durability::Later).unwrap();
            thread::sleep(Duration::from_millis(5));
        }
    });
    // However far ahead the writer is when this begins, what comes must come without a gap.
    let args = Line::try_parse_from(["audit", "tail", "-f", "-n", "0", "--format", "json"]).unwrap().audit;
    let mut out = Leaving { lines_left: 40, seen: Vec::new() };
    run(&args, directory.path(), &mut out).unwrap();
    done.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    let seqs: Vec<u64> = String::from_utf8(out.seen)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs.len(), 40);
    assert!(seqs.windows(2).all(|pair| pair[1] == pair[0] + 1), "{seqs:?}");
}
