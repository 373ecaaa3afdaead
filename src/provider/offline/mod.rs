//! `offline/planner`: a deterministic planner behind the same trait as any model.
//!
//! It sees what a model sees and answers only with tool calls and text. It keeps nothing between replies: each one
//! replays the conversation, so any reply follows from the messages alone. What it does not understand it names.

mod agenda;
mod atoms;
mod calendar;
mod dates;
mod freshness;
mod lexicon;
mod link;
mod lookup;
mod moment;
mod path;
mod plan;
mod read;
mod running;
mod schema;
mod sentence;
mod span;
mod sql;
mod stem;
#[cfg(test)]
mod tests;
mod transcript;
mod trouble;
mod unread;
mod words;

use async_trait::async_trait;

use self::agenda::Step;
use self::transcript::Transcript;
use super::{Delta, Provider, ProviderError, Request};
use crate::session::{AssistantMessage, Block, StopReason, ToolCall, Usage, now};

/// The provider's name.
const PROVIDER: &str = "offline";
/// The model's id.
const MODEL: &str = "planner";

/// A model without weights: rules of English and of schemas.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planner;

impl Planner {
    /// The planner.
    pub fn new() -> Self {
        Self
    }

    fn next(request: Request<'_>) -> Vec<Block> {
        let transcript = Transcript::of(request);
        match agenda::next(&transcript) {
            Step::Say(text) => vec![Block::text(text)],
            Step::Call(calls) => {
                let missing = calls.iter().find(|(name, _)| request.tools.iter().all(|tool| tool.name != *name));
                if let Some((name, _)) = missing {
                    return vec![Block::text(format!("CANNOT: I need the tool {name} for this, and may not call it."))];
                }
                calls
                    .into_iter()
                    .enumerate()
                    .map(|(place, (name, arguments))| {
                        // The id follows from the place in the conversation, so that a replay gives the same.
                        let id = format!("call_{}_{}", request.messages.len(), place + 1);
                        Block::ToolCall(ToolCall { id, name: name.to_owned(), arguments })
                    })
                    .collect()
            }
        }
    }
}

#[async_trait]
impl Provider for Planner {
    fn name(&self) -> &str {
        PROVIDER
    }

    fn model(&self) -> &str {
        MODEL
    }

    async fn reply(
        &self,
        request: Request<'_>,
        on_delta: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<AssistantMessage, ProviderError> {
        let content = Self::next(request);
        let mut stop_reason = StopReason::Stop;
        for block in &content {
            match block {
                Block::Text { text } => on_delta(Delta::TextDelta { delta: text.clone() }),
                Block::ToolCall(call) => {
                    stop_reason = StopReason::ToolUse;
                    on_delta(Delta::ToolcallEnd { tool_call: call.clone() });
                }
                Block::Thinking { .. } => {}
            }
        }
        Ok(AssistantMessage {
            content,
            provider: PROVIDER.to_owned(),
            model: MODEL.to_owned(),
            usage: Usage::default(),
            stop_reason,
            error_message: None,
            timestamp: now(),
        })
    }
}
