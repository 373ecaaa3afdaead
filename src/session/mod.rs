//! The conversation: messages in pi's format, and the tree they are kept in.
#![forbid(unsafe_code)]

mod message;
mod tree;

pub(crate) use message::now;
pub use message::{AssistantMessage, Block, Message, StopReason, ToolCall, ToolResultMessage, Usage, UserMessage};
pub use tree::{Entry, EntryId, EntryKind, Header, Tree, UnknownEntry};
