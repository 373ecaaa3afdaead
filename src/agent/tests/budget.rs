//! What happens when a budget is used up.

use std::time::Duration;

use serde_json::json;

use super::rig::{Rig, Step, budget, call, completed, fault, say};
use crate::agent::{Budget, SettledReason};
use crate::session::Message;

const LONG: Duration = Duration::from_hours(1);

fn echo(n: u32) -> Step {
    call(&[(&format!("c{n}"), "echo", json!({"n": n}))])
}

/// Runs the script; the model must be told of the budget and offered no tools, and the run must end in this answer.
async fn ends(budget: Budget, steps: Vec<Step>, said: &str, answer: &str) -> Rig {
    let mut rig = Rig::new(budget, steps);
    let (settled, _) = rig.prompt("how many?").await;
    assert_eq!((settled.reason, settled.error.as_deref()), (SettledReason::Budget, Some(said)));
    assert_eq!(rig.answer(), answer);
    let seen = rig.seen();
    let last = seen.last().unwrap();
    assert!(last.tools.is_empty());
    assert!(seen[..seen.len() - 1].iter().all(|earlier| !earlier.tools.is_empty()));
    let Some(Message::User(note)) = last.messages.last() else { panic!("no note") };
    assert_eq!(
        note.text(),
        format!("No more tools: {said}. Answer now from what you have seen, or say what is missing.")
    );
    rig
}

#[tokio::test(start_paused = true)]
async fn each_budget_ends_in_one_last_reply_without_tools() {
    let steps = || vec![echo(1), echo(2), say("two, I think")];
    let answer = "two, I think";
    ends(Budget { turns: 2, ..budget() }, steps(), "the budget of 2 turns is used up", answer).await;
    ends(Budget { calls: 2, ..budget() }, steps(), "the budget of 2 tool calls is used up", answer).await;
    ends(Budget { tokens: 24, ..budget() }, steps(), "the budget of 24 tokens is used up", answer).await;
    let steps = vec![echo(1), echo(2).waiting(LONG), say(answer)];
    let budget = Budget { time: Duration::from_secs(5), ..budget() };
    ends(budget, steps, "the time of 5 s is used up", answer).await;
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_budget_do_not_run() {
    let calls = [("c1", "echo", json!({"n": 1})), ("c2", "echo", json!({"n": 1})), ("c3", "echo", json!({"n": 3}))];
    let said = "the budget of 2 tool calls is used up";
    let rig = ends(Budget { calls: 2, ..budget() }, vec![call(&calls), say("one")], said, "one").await;
    assert_eq!(rig.ran().len(), 1, "the repetition counts, the third does not run");
    assert_eq!(rig.results()[2], ("c3".into(), true, format!("This call did not run: {said}.")));
}

#[tokio::test(start_paused = true)]
async fn the_clock_stops_a_tool_and_the_calls_after_it() {
    let calls = call(&[("c1", "slow", json!({})), ("c2", "hang", json!({})), ("c3", "echo", json!({}))]);
    let budget = Budget { time: Duration::from_millis(1500), ..budget() };
    let rig = ends(budget, vec![calls, say("one")], "the time of 1.5 s is used up", "one").await;
    assert_eq!(rig.ran(), ["slow {}", "hang {}"]);
    let results = rig.results();
    assert!(!results[0].1);
    assert!(results[1..].iter().all(|(_, is_error, text)| *is_error && text.contains("is used up")), "{results:?}");
}

#[tokio::test(start_paused = true)]
async fn words_said_before_the_clock_stopped_the_reply_are_kept() {
    let steps = vec![say("I begin with a long").waiting(LONG), say("one")];
    let budget = Budget { time: Duration::from_secs(5), ..budget() };
    let rig = ends(budget, steps, "the time of 5 s is used up", "one").await;
    assert!(matches!(&rig.seen()[1].messages[1], Message::Assistant(reply) if reply.text() == "I begin w"));
}

#[tokio::test(start_paused = true)]
async fn where_the_model_gives_no_last_sentence_the_harness_does() {
    let said = "the budget of 1 turn is used up";
    let closed = "CLOSED: the budget of 1 turn is used up.";
    let dead_ends = [
        vec![fault(false)],
        vec![fault(true), fault(true), fault(true), fault(true)],
        vec![say("")],
        vec![echo(2)],
        vec![say("it is 14").cut_by_length()],
        vec![say("it is").waiting(LONG)],
    ];
    for steps in dead_ends {
        let mut rig = Rig::new(Budget { turns: 1, ..budget() }, [vec![echo(1)], steps].concat());
        let (settled, _) = rig.prompt("how many?").await;
        assert_eq!((settled.reason, settled.error.as_deref()), (SettledReason::Budget, Some(said)));
        assert_eq!(rig.answer(), closed);
        assert_eq!(rig.ran().len(), 1, "a call is not run where no tools were on offer");
        let messages = rig.agent.tree().branch_messages();
        assert!(matches!(messages.last(), Some(Message::Assistant(reply)) if reply.provider == "harness"));
        assert_eq!(rig.prompt("and now?").await.0, completed(), "the next prompt has its own budget");
    }
}

#[tokio::test(start_paused = true)]
async fn the_clock_runs_while_a_retry_waits() {
    let budget = Budget { time: Duration::from_secs(1), ..budget() };
    ends(budget, vec![fault(true), say("one")], "the time of 1 s is used up", "one").await;
}

#[tokio::test(start_paused = true)]
async fn a_budget_of_nothing_still_ends_in_a_sentence() {
    let none = Budget { turns: 0, calls: 0, tokens: 0, time: Duration::ZERO, grace: Duration::ZERO, ..budget() };
    let mut rig = Rig::new(none, []);
    let (settled, _) = rig.prompt("how many?").await;
    assert_eq!(settled.reason, SettledReason::Budget);
    assert_eq!(rig.answer(), "CLOSED: the time of 0 s is used up.");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_uses_the_last_of_a_budget_is_an_answer() {
    let mut rig = Rig::new(Budget { turns: 1, tokens: 1, ..budget() }, [say("142")]);
    assert_eq!(rig.prompt("how many?").await.0, completed());
}
