//! The calls of one reply: each runs in its order and gets exactly one result, even where it never ran.

use serde_json::Value;

use crate::agent::abort::Cut;
use crate::agent::event::{Event, ToolExecution};
use crate::agent::run::Run;
use crate::extension::{Tool, ToolError};
use crate::session::{AssistantMessage, Block, Message, StopReason, ToolCall, ToolResultMessage, now};

/// The result of one call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) content: Vec<Block>,
    pub(super) details: Value,
    pub(super) is_error: bool,
}

/// Why the calls of a reply did not all run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Halt {
    Cut(Cut),
    Fatal(String),
}

impl Outcome {
    pub(super) fn failed(sentence: impl Into<String>) -> Self {
        Self { content: vec![Block::text(sentence)], details: Value::Null, is_error: true }
    }
}

impl Halt {
    /// What the result says of a call that was running, or still to run, when the halt came.
    fn sentence(&self) -> &'static str {
        match self {
            Self::Cut(Cut::Aborted) => "This call has no result: the run was stopped by the user.",
            Self::Cut(Cut::Time) => "This call has no result: the time for this prompt is used up.",
            Self::Fatal(_) => "This call did not run: the run ended before it.",
        }
    }
}

impl Run<'_> {
    /// Runs the calls of a reply; the results follow the reply in the conversation, in the same order.
    pub(super) async fn dispatch(&mut self, reply: &AssistantMessage) -> (Vec<Message>, Option<Halt>) {
        let mut results = Vec::new();
        let mut halt: Option<Halt> = None;
        let registry = self.registry;
        for call in reply.tool_calls() {
            let tool = registry.find_tool(&call.name);
            let label = tool.map_or_else(|| call.name.clone(), |tool| tool.label(&call.arguments));
            self.emit(Event::ToolExecutionStart {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                args: Value::Object(call.arguments.clone()),
                label: label.clone(),
            });
            let outcome = match &halt {
                Some(halt) => Outcome::failed(halt.sentence()),
                None if reply.stop_reason == StopReason::Length => Outcome::failed(
                    "This call did not run: your reply was cut by its length limit, so its arguments may be \
                     incomplete. Make the call again in a shorter reply.",
                ),
                None => match self.call(call, tool).await {
                    Ok(outcome) => outcome,
                    Err(stop) => {
                        let outcome = match &stop {
                            Halt::Fatal(sentence) => Outcome::failed(sentence),
                            Halt::Cut(_) => Outcome::failed(stop.sentence()),
                        };
                        halt = Some(stop);
                        outcome
                    }
                },
            };
            results.push(self.settle(call, label, outcome));
        }
        (results, halt)
    }

    /// Runs one call, unless the budget or its repetition says otherwise.
    async fn call(&mut self, call: &ToolCall, tool: Option<&dyn Tool>) -> Result<Outcome, Halt> {
        if let Some(limit) = self.meter.calls_spent(self.budget) {
            return Ok(Outcome::failed(format!("This call did not run: {limit}.")));
        }
        self.meter.calls += 1;
        if let Some(outcome) = self.repeats.instead(call) {
            return Ok(outcome);
        }
        let Some(tool) = tool else {
            return Ok(Outcome::failed(self.unknown_tool(&call.name)));
        };
        let work = tool.call(call.arguments.clone());
        let outcome = match self.stop.guard(self.meter.deadline(), work).await.map_err(Halt::Cut)? {
            Ok(output) => {
                Outcome { content: vec![Block::text(output.content)], details: output.details, is_error: false }
            }
            Err(ToolError::Fatal(sentence)) => return Err(Halt::Fatal(sentence)),
            Err(error) => Outcome::failed(error.to_string()),
        };
        self.repeats.keep(call, &outcome);
        Ok(outcome)
    }

    /// Tells the call's end and puts its result into the conversation.
    fn settle(&mut self, call: &ToolCall, label: String, outcome: Outcome) -> Message {
        let Outcome { content, details, is_error } = outcome;
        self.emit(Event::ToolExecutionEnd {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            label,
            result: ToolExecution { content: content.clone(), details: details.clone() },
            is_error,
        });
        let message = Message::ToolResult(ToolResultMessage {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            content,
            details,
            is_error,
            timestamp: now(),
        });
        self.say(message.clone());
        message
    }

    fn unknown_tool(&self, name: &str) -> String {
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        match names.as_slice() {
            [] => format!("there is no tool “{name}”, and no other: answer in words"),
            names => format!("there is no tool “{name}”: call one of {}", names.join(", ")),
        }
    }
}
