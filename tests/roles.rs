//! Roles that die, and the operator's signals.

use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::processes::{nobody_is_left, role, roles, until};
use crate::support::{ANSWER, Place, QUESTION, Running};

/// A view without end, so that whoever reads it is still at it when the test comes.
const ENDLESS: &str = "CREATE VIEW visits AS WITH n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n";
const COUNT: &str = "SELECT count(*) FROM visits";
/// The promise is one second. Slack is for machines that run other tests meanwhile.
const SOON: Duration = Duration::from_secs(6);

/// A place where a query takes the whole deadline of ten seconds.
fn endless() -> Place {
    Place::with(ENDLESS)
}

/// Waits until the reader is inside a query.
fn busy(place: &Place) {
    until("a query is running", || {
        let records = place.records();
        let asked = records.iter().rev().find(|record| record["kind"] == "query" && record["tool"] == "run_query")?;
        (!records.iter().any(|record| record["of"] == asked["seq"])).then_some(())
    });
}

fn ask(place: &Place) -> Running {
    let running = place.ask("how many visits are there?").start();
    busy(place);
    running
}

fn query(place: &Place) -> Running {
    let running = place.query(COUNT).start();
    busy(place);
    running
}

#[test]
fn a_reader_killed_in_a_query_is_an_error_of_the_database() {
    let place = endless();
    let running = query(&place);
    role(&place, "reader").signal(Signal::SIGKILL);
    running.end_within(SOON).fails(5, "the reader died (it was killed by SIGKILL");
    assert_eq!(place.records_of("death")[0]["role"], "reader");
    assert_eq!(place.stops(), [5]);
    nobody_is_left(&place);
    place.verified();
}

#[test]
fn a_reader_killed_in_a_question_is_replaced_and_the_question_ends_in_a_sentence() {
    let place = endless();
    let running = ask(&place);
    role(&place, "reader").signal(Signal::SIGKILL);
    let ran = running.end().silent();
    assert!([3, 5].contains(&ran.code()), "{ran}");
    let _ = ran.says("the reader died");
    nobody_is_left(&place);
    place.verified();
}

#[test]
fn a_reader_that_does_not_stop_at_its_deadline_is_killed() {
    let place = endless();
    let running = place.query(COUNT).settings(r#"{"sql": {"deadline_ms": 1500, "grace_ms": 300}}"#).start();
    busy(&place);
    role(&place, "reader").signal(Signal::SIGSTOP);
    running.end_within(SOON).fails(3, "took too long");
    assert!(place.records_of("death")[0]["how"].as_str().unwrap().contains("did not answer in time"));
    nobody_is_left(&place);
    place.verified();
}

#[test]
fn an_agent_killed_in_a_question_is_an_error_of_the_model() {
    let place = endless();
    let running = ask(&place);
    role(&place, "agent").signal(Signal::SIGKILL);
    running.end_within(SOON).fails(4, "the agent died: it was killed by SIGKILL");
    assert_eq!(place.records_of("answer")[0]["outcome"], "failed");
    assert_eq!(place.stops(), [4]);
    nobody_is_left(&place);
    place.verified();
}

#[test]
fn an_agent_killed_between_two_questions_is_replaced() {
    let place = Place::new();
    let line = r#"{"question": "how many plans are there?", "rows": [[5]]}"#;
    let cases = place.file("cases.jsonl", [line; 40].join("\n"));
    let mut running = place.run(["eval", cases.to_str().unwrap()]).start();
    for _ in 0..4 {
        roles(&place).iter().filter(|process| process.role == "agent").for_each(|agent| agent.signal(Signal::SIGKILL));
        sleep(Duration::from_millis(60));
        if running.has_ended() {
            break;
        }
    }
    let ran = running.end();
    // Killed before it was ready, it can't be told from one that could never start.
    assert!([0, 6].contains(&ran.code()), "{ran}");
    assert!(ran.code() == 6 || place.answers().len() == 40, "{ran}");
    nobody_is_left(&place);
    place.verified();
}

#[test]
fn without_the_spawner_the_run_ends() {
    for start in [ask, query] {
        let place = endless();
        let running = start(&place);
        role(&place, "spawner").signal(Signal::SIGKILL);
        running.end_within(SOON).fails(6, "the spawner is gone, and every role with it");
        assert_eq!(place.stops(), [6]);
        nobody_is_left(&place);
        place.verified();
    }
}

#[test]
fn without_the_supervisor_nobody_is_left() {
    for start in [ask, query] {
        let place = endless();
        let running = start(&place);
        kill(Pid::from_raw(running.pid()), Signal::SIGKILL).unwrap();
        running.end_within(SOON).exits(137).silent();
        nobody_is_left(&place);
        place.query("SELECT 1").go().exits(0);
        place.verified();
    }
}

/// Whenever it happens: the run ends, with a code that is documented, a sentence where it failed, and nobody left.
#[test]
fn any_role_may_die_at_any_moment() {
    for victim in ["reader", "agent", "spawner"] {
        for delay in [0, 1, 2, 4, 8, 12, 18, 26, 40] {
            let place = Place::new();
            let running = place.ask(QUESTION).start();
            let started = Instant::now();
            while started.elapsed() < Duration::from_millis(400) {
                if let Some(process) = roles(&place).into_iter().find(|process| process.role == victim) {
                    sleep(Duration::from_millis(delay));
                    process.signal(Signal::SIGKILL);
                    break;
                }
            }
            let ran = running.end();
            let failed = ran.code() != 0;
            assert!([0, 3, 4, 5, 6].contains(&ran.code()), "{victim} after {delay} ms\n{ran}");
            assert!(failed || ran.stdout == ANSWER, "{victim} after {delay} ms\n{ran}");
            assert!(
                !failed || (ran.stdout.is_empty() && ran.stderr.lines().count() > 0),
                "{victim} after {delay} ms\n{ran}"
            );
            assert_eq!(place.stops(), [i64::from(ran.code())], "{victim} after {delay} ms\n{ran}");
            nobody_is_left(&place);
            place.verified();
        }
    }
}

#[test]
fn a_signal_stops_everything_and_the_log_says_so() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        for start in [ask, query] {
            let place = endless();
            let running = start(&place);
            kill(Pid::from_raw(running.pid()), signal).unwrap();
            let code = 128 + signal as i32;
            running.end_within(SOON).fails(code, "stopped before");
            assert_eq!(place.stops(), [i64::from(code)]);
            nobody_is_left(&place);
            place.verified();
        }
    }
}

#[test]
fn a_signal_stops_also_a_run_whose_roles_hang() {
    let place = endless();
    let running = ask(&place);
    let all = roles(&place);
    assert_eq!(all.len(), 3, "{all:?}");
    for process in &all {
        process.signal(Signal::SIGSTOP);
    }
    kill(Pid::from_raw(running.pid()), Signal::SIGTERM).unwrap();
    running.end_within(SOON).fails(143, "stopped before");
    assert_eq!(place.stops(), [143]);
    nobody_is_left(&place);
    place.verified();
}

/// From the first instruction on: before there is a log it just ends, from then on the log says how.
#[test]
fn a_signal_at_any_moment_stops_everything() {
    let cases = [r#"{"question": "how many plans are there?", "rows": [[5]]}"#; 200].join("\n");
    for delay in [0, 2, 5, 10, 15, 20, 30, 40, 60, 90, 150, 250] {
        let place = Place::new();
        let file = place.file("cases.jsonl", &cases);
        let running = place.run(["eval", file.to_str().unwrap()]).start();
        sleep(Duration::from_millis(delay));
        kill(Pid::from_raw(running.pid()), Signal::SIGTERM).unwrap();
        let ran = running.end_within(SOON).exits(143);
        let records = place.records();
        assert!(records.is_empty() || place.stops() == [143], "after {delay} ms\n{records:#?}\n{ran}");
        nobody_is_left(&place);
    }
}

#[test]
fn a_signal_stops_a_run_whose_output_nobody_reads() {
    let place = endless();
    let sql = "SELECT id, printf('%.*c', 2000, 'x') FROM visits";
    for format in ["table", "json", "csv", "jsonl", "markdown"] {
        // The pipe's reader sleeps; its end is inherited, so the pipe stays open and full.
        let before = place.records_of("outcome").len();
        let run = place.query(sql).args(["--rows", "3000", "--format", format]);
        let mut running = run.shell(r#"mkfifo p$$; sleep 30 <p$$ & exec "$@" >p$$"#).start();
        until("the rows are there", || (place.records_of("outcome").len() > before).then_some(()));
        sleep(Duration::from_millis(300));
        kill(Pid::from_raw(running.pid()), Signal::SIGTERM).unwrap();
        until("the run has ended", || running.has_ended().then_some(()));
        nobody_is_left(&place);
    }
    assert_eq!(place.stops(), [143; 5]);
    place.verified();
}

/// A pipe that is full from the start: the first byte of anything waits.
#[test]
fn a_signal_stops_every_command_whose_output_nobody_reads() {
    let place = Place::new();
    let full = r#"mkfifo p$$; sleep 30 <p$$ & exec 9>p$$; head -c 65536 /dev/zero >&9; exec "$@" "#;
    let cases = place.file("cases.jsonl", "{\"question\": \"how many plans are there?\", \"rows\": [[5]]}\n");
    for (command, stream) in [
        (&["ask", QUESTION][..], ">&9"),
        (&["ask", QUESTION, "--format", "json"], ">&9"),
        (&["ask", QUESTION, "--mode", "json"], ">&9"),
        (&["ask", QUESTION], "2>&9"),
        (&["ask", "how many flibbertigibbets?"], "2>&9"),
        (&["query", "SELECT 1"], ">&9"),
        (&["query", "SELECT 1"], "2>&9"),
        (&["query", "DELETE FROM plans"], "2>&9"),
        (&["schema"], ">&9"),
        (&["prompt"], ">&9"),
        (&["doctor"], ">&9"),
        (&["eval", cases.to_str().unwrap()], ">&9"),
        (&["audit", "show"], ">&9"),
    ] {
        let mut running = place.run(command).shell(&format!("{full}{stream}")).start();
        // Long enough to be at its output; what isn't yet is stopped all the same.
        sleep(Duration::from_millis(500));
        assert!(!running.has_ended(), "{command:?} {stream}: its output was not waited for");
        kill(Pid::from_raw(running.pid()), Signal::SIGTERM).unwrap();
        until(&format!("{command:?} {stream} has ended"), || running.has_ended().then_some(()));
        nobody_is_left(&place);
    }
    place.verified();
}

#[test]
fn an_agent_that_hangs_is_given_up_after_its_time() {
    let place = endless();
    let running = place
        .ask("how many visits are there?")
        .settings(r#"{"budget": {"seconds": 1}, "sql": {"deadline_ms": 1000}}"#)
        .start();
    busy(&place);
    role(&place, "agent").signal(Signal::SIGSTOP);
    running.end().fails(4, "the agent died: it did not come to an end in its time");
    assert_eq!(place.stops(), [4]);
    nobody_is_left(&place);
    place.verified();
}

#[test]
fn streams_may_be_closed_or_their_readers_gone() {
    let place = Place::new();
    for script in [
        r#"exec "$@" <&-"#,
        r#"exec "$@" <&- 2>&-"#,
        r#"exec "$@" 3</dev/null 4</dev/null 5</dev/null 6</dev/null 7</dev/null 8</dev/null 9</dev/null"#,
        r#"exec "$@" 3<&0 <&-"#,
        r#"trap '' INT TERM HUP PIPE CHLD XFSZ USR1 QUIT; exec "$@""#,
    ] {
        place.ask(QUESTION).shell(script).go().exits(0).prints(ANSWER);
    }
    // Nobody would ever see the answer.
    for script in [r#"exec "$@" >&-"#, r#"exec "$@" <&- >&-"#, r#"exec "$@" <&- >&- 2>&-"#] {
        let ran = place.ask(QUESTION).shell(script).go().silent();
        assert!([0, 7].contains(&ran.code()), "{ran}");
    }
    place.ask(QUESTION).shell(r#"{ "$@"; echo "code $?" >&2; } | head -c 0"#).go().exits(0).says("code 7");
    place
        .query("SELECT * FROM events")
        .args(["--rows", "20000"])
        .shell(r#"{ "$@"; echo "code $?" >&2; } | head -n 1"#)
        .go()
        .exits(0)
        .says("code 7");
    nobody_is_left(&place);
    place.verified();
}

/// `nohup`, and a shell's `&`: what the caller wants ignored is ignored.
#[test]
fn a_signal_that_the_caller_ignored_is_ignored() {
    for (name, signal) in [("HUP", Signal::SIGHUP), ("INT", Signal::SIGINT)] {
        let place = Place::with(ENDLESS);
        let ignoring = format!("--ignore-signal={name}");
        let run = place.query(COUNT).settings(r#"{"sql": {"deadline_ms": 1500}}"#).via(["env", &ignoring]);
        let running = run.start();
        busy(&place);
        kill(Pid::from_raw(running.pid()), signal).unwrap();
        running.end().fails(3, "took too long");
    }
}

/// A parent that ignores the deaths of its children hands that on; ours must be noticed all the same.
#[test]
fn a_death_is_noticed_also_where_the_caller_ignored_deaths() {
    let place = endless();
    let running = place.query(COUNT).shell(r#"trap '' CHLD; exec "$@""#).start();
    busy(&place);
    role(&place, "reader").signal(Signal::SIGKILL);
    running.end_within(SOON).fails(5, "the reader died");
    // dash does not hand it on; this does.
    let running = place.query(COUNT).via(["env", "--ignore-signal=CHLD"]).start();
    busy(&place);
    role(&place, "reader").signal(Signal::SIGKILL);
    running.end_within(SOON).fails(5, "the reader died");
    nobody_is_left(&place);
}
