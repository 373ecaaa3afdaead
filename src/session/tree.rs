//! The session tree in memory: every message is a child of the one before it; the leaf is where the next one goes.
//!
//! Shapes are those of pi's session format, version 3. A new entry is always a child of the leaf, so a parent is never
//! missing and the walk to the root never ends early.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use jiff::{Timestamp, Unit};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::session::{Block, Message, StopReason, ToolCall, ToolResultMessage, now};

/// The version of pi's session format that is written here.
const VERSION: u32 = 3;

/// The first line of a session; not part of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session", rename_all = "camelCase")]
pub struct Header {
    /// The format's version.
    pub version: u32,
    /// The session's id, a UUID of version 7.
    pub id: Uuid,
    /// When it began, in UTC.
    pub timestamp: String,
    /// The directory it belongs to, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// An entry's id: eight hexadecimal digits, unique in its session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(String);

/// One line of a session after the header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its id.
    pub id: EntryId,
    /// The entry it follows; none for a root.
    pub parent_id: Option<EntryId>,
    /// When it was added, in UTC.
    pub timestamp: String,
    /// What it holds.
    #[serde(flatten)]
    pub kind: EntryKind,
}

/// What an entry holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EntryKind {
    /// A message of the conversation.
    Message {
        /// The message.
        message: Message,
    },
}

/// A conversation with all its branches.
#[derive(Clone, Debug)]
pub struct Tree {
    header: Header,
    entries: Vec<Entry>,
    positions: HashMap<EntryId, usize>,
    leaf: Option<EntryId>,
}

/// No entry has this id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this session has no entry “{0}”: take an id from its list of entries")]
pub struct UnknownEntry(EntryId);

impl Header {
    /// The header of a session that begins now.
    pub fn new() -> Self {
        Self { version: VERSION, id: Uuid::now_v7(), timestamp: utc_now(), cwd: None }
    }
}

impl Default for Header {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// An empty tree under this header.
    pub fn new(header: Header) -> Self {
        Self { header, entries: Vec::new(), positions: HashMap::new(), leaf: None }
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Every entry of every branch, in the order they were added.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Where the next entry goes; none while the tree is empty or the next entry begins a new root.
    pub fn leaf(&self) -> Option<&EntryId> {
        self.leaf.as_ref()
    }

    /// Adds a message below the leaf and moves the leaf to it.
    pub fn append(&mut self, message: Message) -> &Entry {
        let id = self.fresh_id();
        let position = self.entries.len();
        self.positions.insert(id.clone(), position);
        let parent_id = self.leaf.replace(id.clone());
        self.entries.push(Entry { id, parent_id, timestamp: utc_now(), kind: EntryKind::Message { message } });
        &self.entries[position]
    }

    /// Moves the leaf, so that the next message begins a branch there; `None` begins a new root.
    pub fn branch(&mut self, at: Option<&EntryId>) -> Result<(), UnknownEntry> {
        if let Some(id) = at.filter(|id| !self.positions.contains_key(id)) {
            return Err(UnknownEntry(id.clone()));
        }
        self.leaf = at.cloned();
        Ok(())
    }

    /// The messages from the root to the leaf.
    pub fn branch_messages(&self) -> Vec<&Message> {
        let mut messages = Vec::new();
        let mut next = self.leaf.as_ref();
        while let Some(entry) = next.and_then(|id| self.positions.get(id)).map(|&position| &self.entries[position]) {
            let EntryKind::Message { message } = &entry.kind;
            messages.push(message);
            next = entry.parent_id.as_ref();
        }
        messages.reverse();
        messages
    }

    /// What a model is sent: the messages from the root to the leaf in a form that any provider takes back.
    ///
    /// Each call has its result directly behind it there, even where the leaf was moved between the two or the run
    /// was dropped in the middle.
    pub fn context(&self) -> Vec<Message> {
        let mut context = Vec::new();
        let mut unanswered: VecDeque<&ToolCall> = VecDeque::new();
        for message in self.branch_messages().into_iter().filter(|message| is_sent(message)) {
            match message {
                Message::ToolResult(result) => {
                    if unanswered.pop_front_if(|call| call.id == result.tool_call_id).is_some() {
                        context.push(message.clone());
                    }
                    continue;
                }
                Message::User(_) => context.extend(unanswered.drain(..).map(no_result)),
                Message::Assistant(reply) => {
                    context.extend(unanswered.drain(..).map(no_result));
                    unanswered.extend(reply.tool_calls());
                }
            }
            context.push(message.clone());
        }
        context.extend(unanswered.into_iter().map(no_result));
        context
    }

    fn fresh_id(&self) -> EntryId {
        loop {
            // The first digits of a version 7 UUID are the time, the last ones are random.
            let digits = Uuid::now_v7().simple().to_string();
            let id = EntryId(digits[digits.len() - 8..].to_owned());
            if !self.positions.contains_key(&id) {
                return id;
            }
        }
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self::new(Header::new())
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Failed replies stay in the tree as a record only, and no provider takes back a reply without words or calls.
fn is_sent(message: &Message) -> bool {
    match message {
        Message::Assistant(reply) => {
            reply.stop_reason != StopReason::Error
                && (!reply.text().trim().is_empty() || reply.tool_calls().next().is_some())
        }
        Message::User(_) | Message::ToolResult(_) => true,
    }
}

/// What stands in for the result of a call that has none.
fn no_result(call: &ToolCall) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: vec![Block::text("This call has no result: the run ended before it.")],
        details: Value::Null,
        is_error: true,
        timestamp: now(),
    })
}

/// Now, in UTC to the millisecond, as pi writes it.
fn utc_now() -> String {
    let now = Timestamp::now();
    format!("{:.3}", now.round(Unit::Millisecond).unwrap_or(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{AssistantMessage, Usage};

    fn reply(text: &str, stop_reason: StopReason) -> Message {
        Message::Assistant(AssistantMessage {
            content: vec![Block::text(text)],
            provider: "p".into(),
            model: "m".into(),
            usage: Usage::default(),
            stop_reason,
            error_message: None,
            timestamp: 1,
        })
    }

    fn texts(tree: &Tree) -> Vec<String> {
        tree.context()
            .iter()
            .map(|message| match message {
                Message::User(user) => user.text(),
                Message::Assistant(reply) => reply.text(),
                Message::ToolResult(result) => result.text(),
            })
            .collect()
    }

    #[test]
    fn entries_have_the_shape_of_pis_session_format() {
        let mut tree = Tree::default();
        let first = tree.append(Message::user("a")).clone();
        let second = serde_json::to_value(tree.append(Message::user("b"))).unwrap();
        assert_eq!(second["type"], "message");
        assert_eq!(second["parentId"], serde_json::to_value(&first.id).unwrap());
        assert_eq!(second["message"]["role"], "user");
        let id = second["id"].as_str().unwrap();
        assert!(id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        let time = second["timestamp"].as_str().unwrap();
        assert!(time.len() == "2026-11-30T18:58:38.854Z".len() && time.ends_with('Z'), "{time}");
        assert!(first.parent_id.is_none());
        assert_eq!(serde_json::from_value::<Entry>(serde_json::to_value(&first).unwrap()).unwrap(), first);
        let header = serde_json::to_value(tree.header()).unwrap();
        assert_eq!((header["type"].as_str(), header["version"].as_u64()), (Some("session"), Some(3)));
    }

    #[test]
    fn a_branch_sees_only_its_own_past() {
        let mut tree = Tree::default();
        let root = tree.append(Message::user("question")).id.clone();
        tree.append(reply("first try", StopReason::Stop));
        tree.branch(Some(&root)).unwrap();
        tree.append(reply("second try", StopReason::Stop));
        assert_eq!(texts(&tree), ["question", "second try"]);
        assert_eq!(tree.entries().len(), 3);
        tree.branch(None).unwrap();
        assert_eq!(texts(&tree), Vec::<String>::new());
        let elsewhere = EntryId("00000000".into());
        assert_eq!(tree.branch(Some(&elsewhere)), Err(UnknownEntry(elsewhere)));
    }

    #[test]
    fn a_branch_between_a_call_and_its_result_is_sent_with_a_result() {
        let call = |id: &str| ToolCall { id: id.into(), name: "look".into(), arguments: serde_json::Map::new() };
        let Message::Assistant(mut calling) = reply("I look", StopReason::ToolUse) else { unreachable!() };
        calling.content.extend(["c1", "c2"].map(|id| Block::ToolCall(call(id))));
        let result = |id: &str| match no_result(&call(id)) {
            Message::ToolResult(result) => {
                Message::ToolResult(ToolResultMessage { content: vec![Block::text(id)], ..result })
            }
            other => other,
        };
        let mut tree = Tree::default();
        tree.append(Message::user("question"));
        tree.append(Message::Assistant(calling));
        let first = tree.append(result("c1")).id.clone();
        assert_eq!(texts(&tree)[2..], ["c1", "This call has no result: the run ended before it."]);
        tree.append(result("c2"));
        tree.append(result("c9"));
        assert_eq!(texts(&tree), ["question", "I look", "c1", "c2"], "a result without a call is left out");
        tree.branch(Some(&first)).unwrap();
        tree.append(Message::user("another"));
        let expected = ["question", "I look", "c1", "This call has no result: the run ended before it.", "another"];
        assert_eq!(texts(&tree), expected);
    }

    #[test]
    fn failed_and_empty_replies_are_kept_but_not_sent() {
        let mut tree = Tree::default();
        tree.append(Message::user("question"));
        tree.append(reply("half", StopReason::Error));
        tree.append(reply(" ", StopReason::Aborted));
        tree.append(reply("said before the stop", StopReason::Aborted));
        assert_eq!(texts(&tree), ["question", "said before the stop"]);
        assert_eq!(tree.branch_messages().len(), 4);
    }
}
