//! The audit under `kill -9`, hundreds of times, and under several writers.

use std::thread::{self, sleep};
use std::time::{Duration, Instant, SystemTime};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::processes::nobody_is_left;
use crate::support::{ANSWER, Place, QUESTION};

/// How many runs are killed; fewer on a machine that is too slow for them, but never fewer than the second.
const KILLS: u32 = 200;
const KILLS_AT_LEAST: u32 = 50;
const AT_ONCE: u32 = 4;
const LONGEST: Duration = Duration::from_secs(25);

#[test]
fn the_chain_is_whole_after_each_of_hundreds_of_kills() {
    let place = Place::new();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let seed = now.as_secs() | 1;
    let mut state = seed;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let started = Instant::now();
    let (mut killed, mut finished) = (0, 0);
    // The moment is drawn from a time that follows how long a run takes here, so that most are killed somewhere within (microseconds).
    let mut within = 120_000;
    while killed < KILLS && started.elapsed() < LONGEST {
        let runs: Vec<_> = (0..AT_ONCE)
            .map(|number| {
                let run =
                    if number % 2 == 0 { place.ask(QUESTION) } else { place.query("SELECT count(*) FROM events") };
                (run.start(), Duration::from_micros(random(within)))
            })
            .map(|(running, delay)| {
                thread::spawn(move || {
                    sleep(delay);
                    let _ = kill(Pid::from_raw(running.pid()), Signal::SIGKILL);
                    running.end().code()
                })
            })
            .collect();
        for run in runs {
            match run.join().unwrap() {
                137 => {
                    killed += 1;
                    within = (within * 21 / 20).min(500_000);
                }
                0 => {
                    finished += 1;
                    within = (within * 17 / 20).max(5_000);
                }
                code => panic!("exit code {code}, seed {seed}"),
            }
        }
        place.query("SELECT 1 AS n").go().exits(0).shows("1");
        place.verified();
    }
    nobody_is_left(&place);
    assert!(killed >= KILLS_AT_LEAST, "{killed} killed, {finished} finished, seed {seed}");
    let records = place.records();
    let numbers: Vec<u64> = records.iter().map(|record| record["seq"].as_u64().unwrap()).collect();
    assert!(numbers.iter().zip(1..).all(|(found, expected)| *found == expected), "seed {seed}");
    // Whatever ran was on record first: no outcome without its query.
    for outcome in records.iter().filter(|record| record["kind"] == "outcome") {
        let of = outcome["of"].as_u64().unwrap();
        assert!(records.iter().any(|record| record["seq"] == of && record["kind"] == "query"), "seed {seed}");
    }
    println!("{killed} killed, {finished} finished, {} records, {:?}", records.len(), started.elapsed());
}

#[test]
fn several_questions_at_once_share_one_log() {
    let place = Place::new();
    let running: Vec<_> = (0..12).map(|_| place.ask(QUESTION).start()).collect();
    for run in running {
        run.end().exits(0).prints(ANSWER);
    }
    place.verified();
    assert_eq!(place.answers().len(), 12);
    assert_eq!(place.stops(), [0; 12]);
    // Each run has its own records, from its start to its stop, in order.
    let records = place.records();
    let mut runs = std::collections::BTreeMap::<String, Vec<String>>::new();
    for record in &records {
        let run = record["run"].as_str().unwrap().to_owned();
        runs.entry(run).or_default().push(record["kind"].as_str().unwrap().to_owned());
    }
    assert_eq!(runs.len(), 12);
    for kinds in runs.values() {
        assert_eq!((kinds[0].as_str(), kinds.last().unwrap().as_str()), ("start", "stop"), "{kinds:?}");
    }
}

#[test]
fn a_log_that_is_rotated_under_several_writers_stays_one_chain() {
    let place = Place::new();
    let small = r#"{"audit": {"rotate_bytes": 4000}}"#;
    place.query("SELECT 1").settings(small).go().exits(0);
    let running: Vec<_> = (0..8).map(|_| place.ask(QUESTION).start()).collect();
    for run in running {
        run.end().exits(0).prints(ANSWER);
    }
    assert!(place.out().join("audit.000002.jsonl").exists());
    place.verified();
}
