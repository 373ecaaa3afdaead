//! The conversation: messages in pi's format, and the tree they are kept in.
#![forbid(unsafe_code)]

mod message;

pub(crate) use message::now;
pub use message::{AssistantMessage, Block, Message, StopReason, ToolCall, ToolResultMessage, Usage, UserMessage};
