//! A person stops the run.

use std::time::Duration;

use serde_json::json;

use super::rig::{Rig, Step, aborted, budget, call, completed, fault, say};
use crate::agent::{Abort, Budget, Event, SettledReason};
use crate::session::{Message, StopReason};

const LONG: Duration = Duration::from_mins(2);

fn script() -> Vec<Step> {
    vec![
        fault(true),
        call(&[("c1", "echo", json!({"n": 1})), ("c2", "slow", json!({})), ("c3", "nothing", json!({}))]),
        call(&[("c4", "echo", json!({"n": 2}))]).with_text("I look again"),
        call(&[("c5", "echo", json!({"n": 3}))]),
        say("three").waiting(Duration::from_secs(1)),
    ]
}

#[tokio::test(start_paused = true)]
async fn an_abort_at_any_event_ends_the_run_in_good_order() {
    let budget = Budget { turns: 3, ..budget() };
    let (settled, events) = Rig::new(budget.clone(), script()).prompt("how many?").await;
    assert_eq!(settled.reason, SettledReason::Budget);
    let mut stopped = 0;
    for after in 1..=events.len() {
        let mut rig = Rig::new(budget.clone(), script());
        let (settled, seen) = rig.prompt_until("how many?", Some(after)).await;
        stopped += usize::from(settled == aborted());
        assert!(seen.len() <= events.len() + 6, "it goes on for no longer than the results it owes");
        assert_ne!(rig.prompt("and now?").await.0.reason, SettledReason::Aborted, "the next prompt runs");
    }
    // Only the last few events come when nothing is left to stop: the last delta, its end, and what follows.
    assert!(stopped >= events.len() - 5, "{stopped} of {}", events.len());
}

#[tokio::test(start_paused = true)]
async fn words_said_before_an_abort_are_kept() {
    let mut rig = Rig::new(budget(), [say("it takes long").waiting(LONG)]);
    let started = tokio::time::Instant::now();
    assert_eq!(rig.prompt_until("how many?", Some(6)).await.0, aborted());
    assert!(started.elapsed() < LONG);
    let messages = rig.agent.tree().branch_messages();
    let Some(Message::Assistant(reply)) = messages.last() else { panic!("no reply") };
    assert_eq!((reply.text().as_str(), reply.stop_reason), ("it tak", StopReason::Aborted));
}

#[tokio::test(start_paused = true)]
async fn a_running_tool_is_stopped_and_every_call_still_has_its_result() {
    let calls = call(&[("c1", "echo", json!({})), ("c2", "hang", json!({})), ("c3", "echo", json!({"x": 1}))]);
    let mut rig = Rig::new(budget(), [calls]);
    let handle = Abort::new();
    let by_a_person = handle.clone();
    let person = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        by_a_person.fire();
    };
    let mut ignore = |_| {};
    let (settled, ()) = tokio::join!(rig.agent.prompt("how many?", &handle, &mut ignore), person);
    assert_eq!(settled, aborted());
    super::check::history(&rig.agent);
    assert_eq!(rig.ran(), ["echo {}", "hang {}"]);
    let results = rig.results();
    assert!(!results[0].1);
    assert!(results[1..].iter().all(|(_, is_error, text)| *is_error && text.contains("stopped by the user")));
}

#[tokio::test(start_paused = true)]
async fn a_call_announced_before_an_abort_does_not_begin_after_it() {
    let script = || [call(&[("c1", "echo", json!({}))])];
    let (_, events) = Rig::new(budget(), script()).prompt("how many?").await;
    let announced = events.iter().position(|event| matches!(event, Event::ToolExecutionStart { .. })).unwrap() + 1;
    for _ in 0..32 {
        let mut rig = Rig::new(budget(), script());
        assert_eq!(rig.prompt_until("how many?", Some(announced)).await.0, aborted());
        assert!(rig.ran().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn an_abort_before_a_prompt_does_not_stop_it() {
    let mut rig = Rig::new(budget(), [say("142")]);
    let handle = Abort::new();
    handle.fire();
    assert_eq!(rig.agent.prompt("how many?", &handle, &mut |_| {}).await, completed());
    handle.fire();
    assert_eq!(rig.agent.prompt("and now?", &handle, &mut |_| {}).await, completed());
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_was_dropped_in_the_middle_leaves_a_usable_conversation() {
    let calls = call(&[("c1", "echo", json!({})), ("c2", "hang", json!({})), ("c3", "echo", json!({"x": 1}))]);
    let mut rig = Rig::new(budget(), [calls, say("142")]);
    let patience = Duration::from_secs(1);
    let handle = Abort::new();
    tokio::time::timeout(patience, rig.agent.prompt("how many?", &handle, &mut |_| {})).await.unwrap_err();
    assert_eq!(rig.agent.prompt("and now?", &handle, &mut |_| {}).await, completed());
    let seen = rig.seen();
    let results = seen[1].messages.iter().filter(|message| matches!(message, Message::ToolResult(_)));
    assert_eq!((seen[1].messages.len(), results.count()), (6, 3), "{:#?}", seen[1].messages);
}

#[tokio::test(start_paused = true)]
async fn an_abort_ends_the_wait_before_a_retry() {
    let mut rig = Rig::new(Budget { time: LONG * 9, ..budget() }, [fault(true)]);
    let started = tokio::time::Instant::now();
    assert_eq!(rig.prompt_until("how many?", Some(8)).await.0, aborted());
    assert_eq!(started.elapsed(), Duration::ZERO);
}
