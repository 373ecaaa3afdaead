//! What holds for every run, whatever the model says.

use crate::agent::{Agent, Event, Settled, SettledReason};
use crate::provider::Delta;
use crate::session::{Message, StopReason, ToolCall};

/// What is open while the events of a run are read.
#[derive(Default)]
struct Open {
    turn: bool,
    turns: u32,
    message: Option<&'static str>,
    words: String,
    tool: Option<String>,
    /// A call that has ended and whose result must come next.
    owed: Option<String>,
    /// Calls of the turn's last reply that have no result yet.
    calls: Vec<ToolCall>,
    retrying: bool,
    ended: Vec<Message>,
}

/// Every start has its end, and there is one settled, at the end.
pub(super) fn events(events: &[Event], settled: &Settled) {
    let [Event::AgentStart, middle @ .., Event::AgentEnd { messages }, Event::AgentSettled(last)] = events else {
        panic!("not a run: {events:#?}");
    };
    assert_eq!(last, settled);
    let mut open = Open::default();
    for event in middle {
        read(&mut open, event);
    }
    assert!(!open.turn && open.message.is_none() && open.tool.is_none() && !open.retrying, "left open: {middle:#?}");
    assert_eq!(&open.ended, messages, "agent_end tells what the run added");
    let words = messages.iter().rev().find_map(|message| match message {
        Message::Assistant(reply) => Some(reply.text()),
        _ => None,
    });
    match settled.reason {
        SettledReason::Completed | SettledReason::Budget => {
            assert!(words.is_some_and(|words| !words.trim().is_empty()), "no sentence: {middle:#?}");
        }
        SettledReason::Error | SettledReason::Fatal => assert!(settled.error.is_some()),
        SettledReason::Aborted => {}
    }
}

fn read(open: &mut Open, event: &Event) {
    if !matches!(event, Event::TurnStart { .. }) {
        assert!(open.turn, "outside of a turn: {event:?}");
    }
    match event {
        Event::TurnStart { turn_index } => {
            assert!(!open.turn);
            assert_eq!(*turn_index, open.turns);
            (open.turn, open.turns) = (true, open.turns + 1);
        }
        Event::MessageStart { message } => {
            assert!(open.message.is_none() && open.tool.is_none(), "{event:?}");
            open.message = Some(role(message));
            open.words.clear();
            if let Message::ToolResult(result) = message {
                assert_eq!(open.owed.take().as_deref(), Some(result.tool_call_id.as_str()));
            }
            assert!(open.owed.is_none(), "a result must come directly after its call: {event:?}");
        }
        Event::MessageUpdate { assistant_message_event } => {
            assert_eq!(open.message, Some("assistant"));
            if let Delta::TextDelta { delta } = assistant_message_event {
                open.words.push_str(delta);
            }
        }
        Event::MessageEnd { message } => {
            assert_eq!(open.message.take(), Some(role(message)));
            if let Message::Assistant(reply) = message {
                assert_eq!(open.words, reply.text(), "the deltas are the text");
                assert!(open.calls.is_empty(), "calls without a result: {:?}", open.calls);
                open.calls = reply.tool_calls().cloned().collect();
            }
            open.ended.push(message.clone());
        }
        Event::ToolExecutionStart { tool_call_id, tool_name, .. } => {
            assert!(open.message.is_none() && open.tool.is_none() && open.owed.is_none());
            let call = open.calls.remove(0);
            assert_eq!((&call.id, &call.name), (tool_call_id, tool_name), "calls run in their order");
            open.tool = Some(call.id);
        }
        Event::ToolExecutionEnd { tool_call_id, .. } => {
            assert_eq!(open.tool.take().as_ref(), Some(tool_call_id));
            open.owed = Some(tool_call_id.clone());
        }
        Event::AutoRetryStart { .. } => open.retrying = true,
        Event::AutoRetryEnd { .. } => assert!(std::mem::take(&mut open.retrying)),
        Event::TurnEnd { message, tool_results } => {
            assert!(open.message.is_none() && open.tool.is_none() && open.owed.is_none() && open.calls.is_empty());
            let at = open.ended.len() - tool_results.len();
            assert_eq!(&open.ended[at..], tool_results.as_slice());
            assert_eq!(&open.ended[at - 1], message);
            open.turn = false;
        }
        Event::AgentStart | Event::AgentEnd { .. } | Event::AgentSettled(_) => panic!("in the middle: {event:?}"),
    }
}

/// Each call is directly followed by its result, and no result stands anywhere else; both stored and sent.
pub(super) fn history(agent: &Agent) {
    results_follow_their_calls(agent.tree().branch_messages().into_iter());
    let context = agent.tree().context();
    results_follow_their_calls(context.iter());
    for message in &context {
        if let Message::Assistant(reply) = message {
            assert_ne!(reply.stop_reason, StopReason::Error);
            assert!(!reply.text().trim().is_empty() || reply.tool_calls().next().is_some());
        }
    }
}

fn results_follow_their_calls<'a>(messages: impl Iterator<Item = &'a Message>) {
    let mut waiting: Vec<&ToolCall> = Vec::new();
    for message in messages {
        if let Message::ToolResult(result) = message {
            assert_eq!(waiting.remove(0).id, result.tool_call_id);
            continue;
        }
        assert!(waiting.is_empty(), "{waiting:?} have no result before {message:?}");
        if let Message::Assistant(reply) = message {
            waiting = reply.tool_calls().collect();
        }
    }
    assert!(waiting.is_empty(), "{waiting:?} have no result");
}

fn role(message: &Message) -> &'static str {
    match message {
        Message::User(_) => "user",
        Message::Assistant(_) => "assistant",
        Message::ToolResult(_) => "toolResult",
    }
}

/// The events in short, for comparing their order.
pub(super) fn in_short(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|event| match event {
            Event::AgentStart => "agent_start".into(),
            Event::TurnStart { turn_index } => format!("turn_start {turn_index}"),
            Event::MessageStart { message } => format!("message_start {}", role(message)),
            Event::MessageUpdate { assistant_message_event: Delta::TextDelta { delta } } => format!("update {delta}"),
            Event::MessageUpdate { assistant_message_event: Delta::ThinkingDelta { .. } } => "update thinking".into(),
            Event::MessageUpdate { assistant_message_event: Delta::ToolcallEnd { tool_call } } => {
                format!("update call {}", tool_call.id)
            }
            Event::MessageEnd { message } => format!("message_end {}", role(message)),
            Event::ToolExecutionStart { tool_call_id, label, .. } => format!("tool_start {tool_call_id} {label}"),
            Event::ToolExecutionEnd { tool_call_id, is_error, .. } => {
                format!("tool_end {tool_call_id} {}", if *is_error { "error" } else { "ok" })
            }
            Event::AutoRetryStart { attempt, delay_ms, .. } => format!("retry_start {attempt} after {delay_ms}"),
            Event::AutoRetryEnd { success, attempt, .. } => format!("retry_end {attempt} {success}"),
            Event::TurnEnd { tool_results, .. } => format!("turn_end {}", tool_results.len()),
            Event::AgentEnd { messages } => format!("agent_end {}", messages.len()),
            Event::AgentSettled(settled) => format!("agent_settled {:?}", settled.reason).to_lowercase(),
        })
        .collect()
}
