//! What whoever looks on may ask for, and what they are told at once.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::Event;

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// Run a prompt; refused while one runs.
    Prompt {
        /// Echoed by the response.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The text.
        message: String,
    },
    /// Stop the prompt that runs; the response comes when nothing runs any more.
    Abort {
        /// Echoed by the response.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
}

/// What became of a command: a prompt was accepted or not; how it goes on is told by events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "response")]
pub struct Response {
    /// The command's id, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The command's type; `parse` where it could not be read.
    pub command: String,
    /// Whether it was accepted.
    pub success: bool,
    /// Why it was not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Everything an agent sends: one JSON object each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Outgoing {
    /// Something happened.
    Event(Event),
    /// A command was answered.
    Response(Response),
}

impl Command {
    /// Reads one line or frame; what can't be read gets the response that says so.
    pub fn read(json: &str) -> Result<Self, Box<Response>> {
        let unreadable = |error: serde_json::Error| Box::new(Response::refused("parse", None, error.to_string()));
        let value: Value = serde_json::from_str(json).map_err(unreadable)?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
        let (id, command) = (text("id"), text("type").unwrap_or_else(|| "parse".to_owned()));
        serde_json::from_value(value).map_err(|error| Box::new(Response::refused(command, id, error.to_string())))
    }

    /// The command's type, as it is written.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Prompt { .. } => "prompt",
            Self::Abort { .. } => "abort",
        }
    }
}

impl Response {
    /// The command was accepted.
    pub fn accepted(command: impl Into<String>, id: Option<String>) -> Self {
        Self { id, command: command.into(), success: true, error: None }
    }

    /// The command was refused; the sentence says why and what to do.
    pub fn refused(command: impl Into<String>, id: Option<String>, error: impl Into<String>) -> Self {
        Self { id, command: command.into(), success: false, error: Some(error.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_and_what_is_none_is_answered() {
        assert_eq!(
            Command::read(r#"{"id":"1","type":"prompt","message":"hi"}"#),
            Ok(Command::Prompt { id: Some("1".into()), message: "hi".into() })
        );
        assert_eq!(Command::read(r#"{"type":"abort"}"#), Ok(Command::Abort { id: None }));
        for (bad, command, id) in [
            ("{", "parse", None),
            ("[]", "parse", None),
            (r#"{"type":"dance","id":"7"}"#, "dance", Some("7")),
            (r#"{"type":"prompt","id":"8"}"#, "prompt", Some("8")),
            (r#"{"type":"prompt","message":3}"#, "prompt", None),
        ] {
            let response = Command::read(bad).unwrap_err();
            assert_eq!((response.command.as_str(), response.id.as_deref()), (command, id), "{bad}");
            assert!(!response.success && response.error.is_some(), "{bad}");
        }
    }

    #[test]
    fn outgoing_objects_tell_events_and_responses_apart() {
        let response = Outgoing::Response(Response::accepted("prompt", Some("1".into())));
        let json = serde_json::to_string(&response).unwrap();
        assert_eq!(json, r#"{"type":"response","id":"1","command":"prompt","success":true}"#);
        assert_eq!(serde_json::from_str::<Outgoing>(&json).unwrap(), response);
        let event = Outgoing::Event(Event::AgentStart);
        let json = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Outgoing>(&json).unwrap(), event);
    }
}
