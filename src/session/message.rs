//! Messages as the loop and the session file know them; a provider converts them at its own edge.
//!
//! Field names and roles are those of pi's session format, version 3.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// What a person (or the harness on their behalf) said.
    User(UserMessage),
    /// A model's reply.
    Assistant(AssistantMessage),
    /// What a tool gave back for one call.
    ToolResult(ToolResultMessage),
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The text, as blocks.
    pub content: Vec<Block>,
    /// Unix time in milliseconds.
    pub timestamp: i64,
}

/// A model's reply, whole or cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantMessage {
    /// Text, thinking and tool calls in the order the model gave them.
    pub content: Vec<Block>,
    /// The provider's name, e.g. `offline`.
    pub provider: String,
    /// The model's id at that provider.
    pub model: String,
    /// Tokens of this reply.
    #[serde(default)]
    pub usage: Usage,
    /// Why the reply ended.
    pub stop_reason: StopReason,
    /// The fault in words, when `stop_reason` is `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Unix time in milliseconds.
    pub timestamp: i64,
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMessage {
    /// The call this answers.
    pub tool_call_id: String,
    /// The tool's name.
    pub tool_name: String,
    /// What the model sees.
    pub content: Vec<Block>,
    /// What a front end sees beside it: structured, never sent to a model.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// Whether the call failed.
    pub is_error: bool,
    /// Unix time in milliseconds.
    pub timestamp: i64,
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Block {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A model's thinking, replayed with its signature.
    #[serde(rename_all = "camelCase")]
    Thinking {
        /// The thinking, in words.
        thinking: String,
        /// What the provider wants back unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking_signature: Option<String>,
    },
    /// A call of a tool.
    ToolCall(ToolCall),
}

/// A model's wish to run a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The call's id, echoed by its result.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Arguments as the model gave them, not yet checked.
    pub arguments: Map<String, Value>,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// The model was done.
    Stop,
    /// The reply was cut by its length: its tool calls must not run.
    Length,
    /// The model waits for its tool calls.
    ToolUse,
    /// The provider failed.
    Error,
    /// A person stopped it.
    Aborted,
}

/// Tokens of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// Price in the provider's currency, if prices are configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Message {
    /// A person's text, stamped now.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(UserMessage { content: vec![Block::text(text)], timestamp: now() })
    }
}

impl AssistantMessage {
    /// The reply's text blocks, joined by newlines.
    pub fn text(&self) -> String {
        join_text(&self.content)
    }

    /// The calls in the reply, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

impl UserMessage {
    /// The message's text blocks, joined by newlines.
    pub fn text(&self) -> String {
        join_text(&self.content)
    }
}

impl ToolResultMessage {
    /// The result's text blocks, joined by newlines.
    pub fn text(&self) -> String {
        join_text(&self.content)
    }
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.cost = match (self.cost, other.cost) {
            (None, None) => None,
            (left, right) => Some(left.unwrap_or(0.0) + right.unwrap_or(0.0)),
        };
    }
}

fn join_text(blocks: &[Block]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

/// Unix time in milliseconds.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_use_the_field_names_of_pis_session_format() {
        let message = Message::ToolResult(ToolResultMessage {
            tool_call_id: "c1".into(),
            tool_name: "run_query".into(),
            content: vec![Block::text("ok")],
            details: Value::Null,
            is_error: false,
            timestamp: 1,
        });
        let json = serde_json::to_string(&message).unwrap();
        assert_eq!(
            json,
            r#"{"role":"toolResult","toolCallId":"c1","toolName":"run_query","content":[{"type":"text","text":"ok"}],"isError":false,"timestamp":1}"#
        );
        assert_eq!(serde_json::from_str::<Message>(&json).unwrap(), message);
    }
}
