//! Writers that die at any moment, writers side by side, writers on a full disk: each one a process of its own.

#![expect(clippy::disallowed_methods, reason = "the tests start this same test binary as a writer")]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, Signal};

use super::log_tests::{open, question};
use super::*;

const DIRECTORY: &str = "PI_SQL_TEST_AUDIT_DIRECTORY";
const RUN: &str = "PI_SQL_TEST_AUDIT_RUN";
const APPENDS: &str = "PI_SQL_TEST_AUDIT_APPENDS";
const SEED: &str = "PI_SQL_TEST_AUDIT_SEED";
/// Small, so that kills also hit rotations.
const SMALL_FILES: u64 = 100_000;
/// A slow machine kills less often rather than testing for ever.
const LONGEST_RUN: Duration = Duration::from_secs(8);
const KILLS: usize = 300;

/// Enough of a random generator for a test that prints its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn start(process: &str, directory: &Path, run: &str, appends: u64, seed: u64) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", &format!("audit::crash_tests::{process}"), "--ignored", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory)
        .env(RUN, run)
        .env(APPENDS, appends.to_string())
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn number(name: &str) -> u64 {
    env::var(name).unwrap().parse().unwrap()
}

/// Says what was acknowledged, in one write, so that a kill can't tear it unseen.
fn acknowledge(seqs: &[u64], head: Head) {
    let seqs: Vec<String> = seqs.iter().map(u64::to_string).collect();
    let line = format!("acknowledged {} {head}\n", seqs.join(","));
    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
}

/// The acknowledgements in a writer's output: sequence numbers and the head after them.
fn acknowledged(output: impl Read) -> Vec<(Vec<u64>, Digest)> {
    let mut found = Vec::new();
    for line in BufReader::new(output).split(b'\n') {
        let line = String::from_utf8(line.unwrap()).unwrap();
        let Some(at) = line.find("acknowledged ") else { continue };
        let words: Vec<&str> = line[at..].split(' ').collect();
        if let Some(Ok(head)) = words.get(2).map(|head| head.parse()) {
            found.push((words[1].split(',').map(|seq| seq.parse().unwrap()).collect(), head));
        }
    }
    found
}

#[test]
#[ignore = "a process that the other tests start"]
fn writer() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let mut random = Random(number(SEED));
    let options = Options { run: env::var(RUN).unwrap(), rotate_at: SMALL_FILES };
    let mut log = Log::open(Path::new(&directory), options).unwrap();
    for _ in 0..number(APPENDS) {
        let records: Vec<Record> = (0..=random.below(3))
            .map(|_| {
                let size = if random.below(10) == 0 { 60_000 } else { 200 };
                question(&"x\n".repeat(usize::try_from(random.below(size)).unwrap()))
            })
            .collect();
        let durability = if random.below(8) == 0 { Durability::Now } else { Durability::Later };
        let seqs = log.append(&records, durability).unwrap();
        acknowledge(&seqs, log.head());
    }
}

#[test]
fn a_writer_killed_at_any_moment_loses_nothing_acknowledged_and_breaks_nothing() {
    let seed = RandomState::new().hash_one("seed");
    let mut random = Random(seed);
    let mut directory = tempfile::tempdir().unwrap();
    let (mut repairs, mut acknowledgements, mut rotations) = (0, 0, 0);
    let (mut last, mut torn, mut repaired) = (None, false, 0);
    let begin = Instant::now();
    let mut kills = 0;
    while kills < KILLS && begin.elapsed() < LONGEST_RUN {
        let mut child = start("writer", directory.path(), "run", u64::MAX, random.below(u64::MAX));
        sleep(Duration::from_micros(random.below(25_000)));
        child.kill().unwrap();
        let acknowledged = acknowledged(child.stdout.take().unwrap());
        child.wait().unwrap();
        kills += 1;
        acknowledgements += acknowledged.len();
        last = acknowledged.last().map(|(_, head)| *head).or(last);
        let live = directory.path().join("audit.jsonl");
        if random.below(3) == 0 && live.exists() {
            // A kill seldom tears a write in this kernel; a power cut does.
            let half: &[u8] = if random.below(2) == 0 { b"{\"seq\":12,\"time\":\"2026" } else { b"\0\0\0\0\0\0\0" };
            fs::OpenOptions::new().append(true).open(&live).unwrap().write_all(half).unwrap();
            torn = true;
        }
        if random.below(3) == 0 {
            // The next writer finds it so, and may be killed in the middle of its repair.
            continue;
        }
        let context = format!("seed {seed}, kill {kills}");
        let log = open(directory.path(), SMALL_FILES);
        let verified = verify(directory.path(), last).unwrap_or_else(|error| panic!("{error} ({context})"));
        assert_eq!(verified.head, log.head(), "{context}");
        assert!(!torn || verified.repairs > repaired, "a repair is recorded ({context})");
        (repairs, torn) = (repairs + verified.repairs - repaired, false);
        repaired = verified.repairs;
        if kills % 20 < 2 {
            rotations += verified.files - 1;
            directory = tempfile::tempdir().unwrap();
            (last, repaired) = (None, 0);
        }
    }
    println!(
        "{kills} kills in {:?}: {acknowledgements} acknowledged appends, {rotations} rotations, {repairs} repairs",
        begin.elapsed()
    );
    assert!(acknowledgements > 0 && repairs > 0, "the test must hit what it is for (seed {seed})");
}

#[test]
fn several_writers_at_once_keep_one_chain() {
    const WRITERS: u64 = 4;
    const EACH: u64 = 200;
    let directory = tempfile::tempdir().unwrap();
    let children: Vec<(String, Child)> = (0..WRITERS)
        .map(|n| (format!("run-{n}"), start("writer", directory.path(), &format!("run-{n}"), EACH, n)))
        .collect();
    let mut owner = BTreeMap::new();
    for (run, mut child) in children {
        let acknowledged = acknowledged(child.stdout.take().unwrap());
        assert!(child.wait().unwrap().success());
        assert_eq!(acknowledged.len() as u64, EACH);
        for seq in acknowledged.into_iter().flat_map(|(seqs, _)| seqs) {
            assert_eq!(owner.insert(seq, run.clone()), None, "record {seq} was given twice");
        }
    }
    let verified = verify(directory.path(), None).unwrap();
    let mut reader = Reader::open(directory.path()).unwrap();
    let mut found = BTreeMap::new();
    while let Some(line) = reader.next_line().unwrap() {
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        if value["kind"] == "question" {
            found.insert(value["seq"].as_u64().unwrap(), value["run"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(found, owner);
    assert_eq!(verified.records, found.len() as u64 + verified.files as u64 - 1);
}

#[test]
#[ignore = "a process that the other tests start"]
fn writer_on_a_full_disk() {
    // Blocked, the signal stays pending and the write fails with EFBIG, as it does where the signal is ignored.
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    SigSet::from(Signal::SIGXFSZ).thread_block().unwrap();
    let directory = Path::new(&directory);
    let live = directory.join("audit.jsonl");
    let mut log = open(directory, ROTATE_AT);
    log.append(&[question("fits")], Durability::Now).unwrap();
    let head = log.head();
    let length = fs::metadata(&live).unwrap().len();
    let (_, most) = getrlimit(Resource::RLIMIT_FSIZE).unwrap();
    setrlimit(Resource::RLIMIT_FSIZE, length + 100, most).unwrap();
    for _ in 0..3 {
        let error = log.append(&[question("too much")], Durability::Now).unwrap_err();
        assert!(matches!(error, AuditError::Write { .. }), "{error}");
        assert_eq!(fs::metadata(&live).unwrap().len(), length, "the part that was written is cut off again");
        assert_eq!(log.head(), head);
        assert_eq!(verify(directory, None).unwrap().head, head);
    }
    setrlimit(Resource::RLIMIT_FSIZE, most, most).unwrap();
    let seqs = log.append(&[question("room again")], Durability::Now).unwrap();
    acknowledge(&seqs, log.head());
}

#[test]
fn a_full_disk_is_an_error_that_leaves_a_whole_log() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = start("writer_on_a_full_disk", directory.path(), "run", 0, 0);
    let acknowledged = acknowledged(child.stdout.take().unwrap());
    assert!(child.wait().unwrap().success());
    assert_eq!(acknowledged[0].0, [2], "no number is lost with a record that was never written");
    assert_eq!(verify(directory.path(), Some(acknowledged[0].1)).unwrap().records, 2);
}
