//! What becomes of calls.

use serde_json::json;

use super::rig::{Rig, budget, call, completed, say};
use crate::agent::SettledReason;

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_is_told_to_the_model_and_the_loop_goes_on() {
    let calls = call(&[("c1", "fail", json!({})), ("c2", "nothing", json!({})), ("c3", "echo", json!({"x": 1}))]);
    let mut rig = Rig::new(budget(), [calls, say("142")]);
    assert_eq!(rig.prompt("how many?").await.0, completed());
    let expected = [
        ("c1", true, "it failed: try the other one"),
        ("c2", true, "there is no tool “nothing”: call one of echo, fail, fatal, hang, slow"),
        ("c3", false, r#"{"x":1}"#),
    ]
    .map(|(id, is_error, text)| (id.to_owned(), is_error, text.to_owned()));
    assert_eq!(rig.results(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_reply_cut_by_its_length_never_runs_its_calls() {
    let cut = call(&[("c1", "echo", json!({"x": 1})), ("c2", "fatal", json!({}))]).cut_by_length();
    let mut rig = Rig::new(budget(), [cut, call(&[("c3", "echo", json!({"x": 1}))]), say("142")]);
    assert_eq!(rig.prompt("how many?").await.0, completed());
    assert_eq!(rig.ran(), [r#"echo {"x":1}"#], "only the call of the whole reply ran");
    let results = rig.results();
    assert!(results[..2].iter().all(|(_, is_error, text)| *is_error && text.contains("cut by its length")));
    assert!(!results[2].1, "a call that never ran is no repetition");
}

#[tokio::test(start_paused = true)]
async fn a_fatal_tool_ends_the_run_and_the_calls_after_it() {
    let calls = call(&[("c1", "echo", json!({})), ("c2", "fatal", json!({})), ("c3", "echo", json!({"x": 2}))]);
    let mut rig = Rig::new(budget(), [calls, say("never said")]);
    let (settled, _) = rig.prompt("how many?").await;
    assert_eq!(settled.reason, SettledReason::Fatal);
    assert_eq!(settled.error.as_deref(), Some("the audit can't be written"));
    assert_eq!(rig.ran().len(), 2);
    assert_eq!(rig.seen().len(), 1);
    let failed: Vec<bool> = rig.results().iter().map(|(_, is_error, _)| *is_error).collect();
    assert_eq!(failed, [false, true, true]);
}

#[tokio::test(start_paused = true)]
async fn a_call_made_again_gets_its_earlier_result_and_then_an_error() {
    let again = |id: &str| call(&[(id, "echo", json!({"a": 1, "b": 2}))]);
    let turned = call(&[("c2", "echo", json!({"b": 2, "a": 1}))]);
    let mut rig = Rig::new(budget(), [again("c1"), turned, again("c3"), again("c4"), say("142")]);
    assert_eq!(rig.prompt("how many?").await.0, completed());
    assert_eq!(rig.ran().len(), 1);
    let results = rig.results();
    assert!(!results[1].1 && results[1].2.starts_with(r#"{"a":1,"b":2}"#) && results[1].2.contains("earlier result"));
    assert!(results[2].1 && results[2].2.contains("Change course"));
    assert!(results[3].1);
    rig.prompt("and now?").await;
}

#[tokio::test(start_paused = true)]
async fn a_new_prompt_may_make_the_same_call() {
    let same = || call(&[("c", "echo", json!({}))]);
    let mut rig = Rig::new(budget(), [same(), say("1"), same(), say("2")]);
    rig.prompt("how many?").await;
    rig.prompt("and now?").await;
    assert_eq!(rig.ran().len(), 2);
}
