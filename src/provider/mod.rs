//! Models: one trait that streams, and who implements it.
#![forbid(unsafe_code)]

pub mod offline;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::session::{AssistantMessage, Message, ToolCall};

/// What a model is told about one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name the model calls it by.
    pub name: String,
    /// What it does and when to use it, for the model.
    pub description: String,
    /// JSON Schema of its arguments object.
    pub parameters: Value,
}

/// Everything a model sees for one reply. Nothing else reaches it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The tools on offer; empty when the model must answer in words.
    pub tools: &'a [ToolSpec],
    /// The conversation so far, oldest first.
    pub messages: &'a [Message],
}

/// A piece of a reply while it streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Delta {
    /// More text.
    TextDelta {
        /// The text to append.
        delta: String,
    },
    /// More thinking.
    ThinkingDelta {
        /// The thinking to append.
        delta: String,
    },
    /// A tool call is complete.
    #[serde(rename_all = "camelCase")]
    ToolcallEnd {
        /// The call.
        tool_call: ToolCall,
    },
}

/// A model behind a wire, or behind none.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The provider's name, the part of `--model P/ID` before the slash.
    fn name(&self) -> &str;

    /// The model's id, the part after the slash.
    fn model(&self) -> &str;

    /// Streams one reply: each piece goes to `on_delta` as it comes, the whole message is returned at the end.
    ///
    /// Dropping the future cancels the request.
    async fn reply(
        &self,
        request: Request<'_>,
        on_delta: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<AssistantMessage, ProviderError>;
}

/// The model that answers when no other is named: built in, without key, network or weights.
pub const DEFAULT: &str = "offline/planner";

/// No such model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no model “{0}”: use {DEFAULT}")]
pub struct UnknownModel(String);

/// The model of that name, `provider/id`.
pub fn select(model: &str) -> Result<Box<dyn Provider>, UnknownModel> {
    match model {
        DEFAULT => Ok(Box::new(offline::Planner::new())),
        _ => Err(UnknownModel(model.to_owned())),
    }
}

/// A model could not reply.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{provider} did not answer: {message}")]
pub struct ProviderError {
    /// The provider's name.
    pub provider: String,
    /// What went wrong, and what to do about it.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
}
