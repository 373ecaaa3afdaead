//! The order of events, reply by reply.

use serde_json::json;

use super::check::in_short;
use super::rig::{Rig, budget, call, completed, fault, say};
use crate::agent::SettledReason;
use crate::session::{Message, StopReason};

#[tokio::test(start_paused = true)]
async fn a_question_with_two_calls_has_pis_order_of_events() {
    let calls = call(&[("c1", "echo", json!({"x": 1})), ("c2", "echo", json!({"x": "two"}))]).with_text("I look");
    let mut rig = Rig::new(budget(), [calls, say("three")]);
    let (settled, events) = rig.prompt("how many?").await;
    assert_eq!(settled, completed());
    let expected = [
        "agent_start",
        "turn_start 0",
        "message_start user",
        "message_end user",
        "message_start assistant",
        "update I l",
        "update ook",
        "update call c1",
        "update call c2",
        "message_end assistant",
        "tool_start c1 echo(1)",
        "tool_end c1 ok",
        "message_start toolResult",
        "message_end toolResult",
        "tool_start c2 echo(two)",
        "tool_end c2 ok",
        "message_start toolResult",
        "message_end toolResult",
        "turn_end 2",
        "turn_start 1",
        "message_start assistant",
        "update th",
        "update ree",
        "message_end assistant",
        "turn_end 0",
        "agent_end 5",
        "agent_settled completed",
    ];
    assert_eq!(in_short(&events), expected);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_failed_for_a_moment_is_asked_for_again_with_growing_waits() {
    let mut rig = Rig::new(budget(), [fault(true), fault(true), say("three")]);
    let started = tokio::time::Instant::now();
    let (settled, events) = rig.prompt("how many?").await;
    assert_eq!(settled, completed());
    assert_eq!(started.elapsed().as_secs(), 2 + 4);
    let expected = [
        "message_start assistant",
        "update hal",
        "message_end assistant",
        "retry_start 1 after 2000",
        "message_start assistant",
        "update hal",
        "message_end assistant",
        "retry_start 2 after 4000",
        "message_start assistant",
        "update th",
        "update ree",
        "message_end assistant",
        "retry_end 2 true",
        "turn_end 0",
    ];
    assert_eq!(in_short(&events)[4..18], expected);
    assert_eq!(rig.seen()[2].messages.len(), 1, "failed replies are kept but not sent again");
    assert_eq!(rig.agent.tree().entries().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn after_three_retries_the_run_ends_with_the_models_fault() {
    let mut rig = Rig::new(budget(), [fault(true), fault(true), fault(true), fault(true), say("too late")]);
    let (settled, events) = rig.prompt("how many?").await;
    assert_eq!(settled.reason, SettledReason::Error);
    assert_eq!(settled.error.unwrap(), "scripted did not answer: overloaded: try later");
    assert_eq!(rig.seen().len(), 4);
    assert!(in_short(&events).contains(&"retry_end 3 false".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_will_not_pass_is_not_tried_again() {
    let mut rig = Rig::new(budget(), [fault(false), say("hello again")]);
    let (settled, events) = rig.prompt("how many?").await;
    assert_eq!(settled.reason, SettledReason::Error);
    let expected = ["update hal", "message_end assistant", "turn_end 0", "agent_end 2", "agent_settled error"];
    assert_eq!(in_short(&events)[5..], expected);
    let (settled, _) = rig.prompt("again?").await;
    assert_eq!((settled, rig.answer()), (completed(), "hello again".into()), "the next prompt starts afresh");
}

#[tokio::test(start_paused = true)]
async fn a_conversation_goes_on_and_a_command_is_expanded() {
    let mut rig = Rig::new(budget(), [say("142"), say("because")]);
    rig.prompt("/ask how many?").await;
    rig.prompt("why?").await;
    let seen = rig.seen();
    let texts: Vec<String> = seen[1]
        .messages
        .iter()
        .map(|message| match message {
            Message::User(user) => user.text(),
            Message::Assistant(reply) => reply.text(),
            Message::ToolResult(result) => result.text(),
        })
        .collect();
    assert_eq!(texts, ["Please answer: how many?", "142", "why?"]);
    assert_eq!(seen[0].tools, super::rig::TOOLS);
}

#[tokio::test(start_paused = true)]
async fn an_empty_prompt_ends_at_once_and_stays_out_of_the_conversation() {
    let mut rig = Rig::new(budget(), []);
    let (settled, events) = rig.prompt(" \n").await;
    assert_eq!(settled.reason, SettledReason::Error);
    assert_eq!(in_short(&events), ["agent_start", "agent_end 0", "agent_settled error"]);
    assert!(rig.agent.tree().entries().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_empty_reply_is_asked_for_once_more() {
    let mut rig = Rig::new(budget(), [say(" "), say("142")]);
    assert_eq!(rig.prompt("how many?").await.0, completed());
    assert_eq!(rig.answer(), "142");

    let mut rig = Rig::new(budget(), [say(""), say("")]);
    let (settled, _) = rig.prompt("how many?").await;
    assert_eq!((settled.reason, settled.error.as_deref()), (SettledReason::Error, Some("the model said nothing")));
    assert_eq!(rig.answer(), "CLOSED: the model said nothing.");
}

#[tokio::test(start_paused = true)]
async fn a_text_cut_by_its_length_is_never_the_answer() {
    let mut rig = Rig::new(budget(), [say("there are 14").cut_by_length(), say("142")]);
    assert_eq!(rig.prompt("how many?").await.0, completed());
    assert_eq!(rig.answer(), "142");
    let Some(Message::User(note)) = rig.seen()[1].messages.last().cloned() else { panic!("no note") };
    assert!(note.text().contains("fewer words"), "{}", note.text());
    let kept = rig.agent.tree().branch_messages();
    assert!(matches!(kept[1], Message::Assistant(reply) if reply.stop_reason == StopReason::Length));
}
