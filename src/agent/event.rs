//! What a run tells whoever looks on.
//!
//! Names and fields are pi's. An update is a delta only, so a run's events grow with its text and not with its square;
//! a reply's whole message comes once more, at its end.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::provider::Delta;
use crate::session::{Block, Message};

/// Something happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    /// A prompt begins to run.
    AgentStart,
    /// A turn begins: what is said to the model, its reply, its calls.
    TurnStart {
        /// Which one of this prompt, from 0.
        turn_index: u32,
    },
    /// A message begins; a reply is still empty and its `stopReason` means nothing yet.
    MessageStart {
        /// The message.
        message: Message,
    },
    /// A piece of the reply.
    MessageUpdate {
        /// The piece.
        assistant_message_event: Delta,
    },
    /// A message is whole and part of the conversation.
    MessageEnd {
        /// The message.
        message: Message,
    },
    /// A call is about to run.
    ToolExecutionStart {
        /// The call's id.
        tool_call_id: String,
        /// The tool's name as the model gave it.
        tool_name: String,
        /// The arguments as the model gave them.
        args: Value,
        /// The call in one line for a person.
        label: String,
    },
    /// A call has its result, or will never have one.
    ToolExecutionEnd {
        /// The call's id.
        tool_call_id: String,
        /// The tool's name as the model gave it.
        tool_name: String,
        /// The call in one line for a person.
        label: String,
        /// The result.
        result: ToolExecution,
        /// Whether the call failed.
        is_error: bool,
    },
    /// A reply failed for a moment and is asked for again after a wait.
    AutoRetryStart {
        /// Which retry, from 1.
        attempt: u32,
        /// How many there are at most.
        max_attempts: u32,
        /// The wait.
        delay_ms: u64,
        /// Why the reply failed.
        error_message: String,
    },
    /// The retries of a reply are over.
    AutoRetryEnd {
        /// Whether a reply came.
        success: bool,
        /// How many retries were begun.
        attempt: u32,
        /// Why no reply came.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        final_error: Option<String>,
    },
    /// A turn is over.
    TurnEnd {
        /// Its last reply.
        message: Message,
        /// The results of that reply's calls.
        tool_results: Vec<Message>,
    },
    /// The prompt has run.
    AgentEnd {
        /// Every message it added to the conversation.
        messages: Vec<Message>,
    },
    /// The one end: always sent, once for a prompt, and always last.
    AgentSettled(Settled),
}

/// The result of a call: one part for the model, one for whoever looks on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolExecution {
    /// What the model sees.
    pub content: Vec<Block>,
    /// Structured data; never sent to a model.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
}

/// How a prompt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// Why.
    pub reason: SettledReason,
    /// What stood in the way, for every reason but `completed` and `aborted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Why a prompt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettledReason {
    /// The model was done.
    Completed,
    /// A person stopped it.
    Aborted,
    /// The model did not answer.
    Error,
    /// A budget was used up; the last message still ends in a sentence.
    Budget,
    /// A tool's other side is gone: nothing can go on.
    Fatal,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(event: &Event) -> String {
        let json = serde_json::to_string(event).unwrap();
        assert_eq!(&serde_json::from_str::<Event>(&json).unwrap(), event);
        json
    }

    #[test]
    fn events_have_pis_names_and_fields() {
        let execution = ToolExecution { content: vec![Block::text("3")], details: Value::Null };
        let cases = [
            (Event::AgentStart, r#"{"type":"agent_start"}"#),
            (Event::TurnStart { turn_index: 0 }, r#"{"type":"turn_start","turnIndex":0}"#),
            (
                Event::MessageUpdate { assistant_message_event: Delta::TextDelta { delta: "a".into() } },
                r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"a"}}"#,
            ),
            (
                Event::ToolExecutionEnd {
                    tool_call_id: "c".into(),
                    tool_name: "add".into(),
                    label: "add(1, 2)".into(),
                    result: execution,
                    is_error: false,
                },
                r#"{"type":"tool_execution_end","toolCallId":"c","toolName":"add","label":"add(1, 2)","result":{"content":[{"type":"text","text":"3"}]},"isError":false}"#,
            ),
            (
                Event::AutoRetryEnd { success: true, attempt: 1, final_error: None },
                r#"{"type":"auto_retry_end","success":true,"attempt":1}"#,
            ),
            (
                Event::AgentSettled(Settled { reason: SettledReason::Budget, error: Some("the budget".into()) }),
                r#"{"type":"agent_settled","reason":"budget","error":"the budget"}"#,
            ),
        ];
        for (event, json) in cases {
            assert_eq!(written(&event), json);
        }
    }
}
