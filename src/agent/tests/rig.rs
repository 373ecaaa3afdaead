//! A scripted model, a few tools, and an agent of both.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::check;
use crate::agent::{Abort, Agent, Budget, Event, Retry, Settled, SettledReason};
use crate::extension::{Command, Registry, Tool, ToolError, ToolOutput};
use crate::provider::{Delta, Provider, ProviderError, Request, ToolSpec};
use crate::session::{AssistantMessage, Block, Message, StopReason, ToolCall, Usage};

/// One reply of the script.
#[derive(Clone, Debug)]
pub(super) struct Step {
    text: String,
    calls: Vec<ToolCall>,
    stop_reason: StopReason,
    usage: Usage,
    wait: Duration,
    fault: Option<ProviderError>,
}

/// What the model saw in one request.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) tools: Vec<String>,
    pub(super) messages: Vec<Message>,
}

/// The model: streams its script's words by halves, and says `done` when the script is over.
struct Script {
    steps: Mutex<VecDeque<Step>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// The tools, told apart by name: `echo`, `fail`, `fatal`, `hang`, `slow` (1 s).
struct Scripted {
    name: &'static str,
    ran: Arc<Mutex<Vec<String>>>,
}

pub(super) struct Rig {
    pub(super) agent: Agent,
    pub(super) seen: Arc<Mutex<Vec<Seen>>>,
    pub(super) ran: Arc<Mutex<Vec<String>>>,
}

pub(super) const TOOLS: [&str; 5] = ["echo", "fail", "fatal", "hang", "slow"];

pub(super) fn say(text: &str) -> Step {
    Step {
        text: text.into(),
        calls: Vec::new(),
        stop_reason: StopReason::Stop,
        usage: Usage { input: 10, output: 2, ..Usage::default() },
        wait: Duration::ZERO,
        fault: None,
    }
}

/// A reply that makes these calls, each `(id, tool, arguments)`.
pub(super) fn call(calls: &[(&str, &str, Value)]) -> Step {
    let calls = calls
        .iter()
        .map(|(id, name, arguments)| ToolCall {
            id: (*id).into(),
            name: (*name).into(),
            arguments: arguments.as_object().cloned().unwrap(),
        })
        .collect();
    Step { calls, stop_reason: StopReason::ToolUse, ..say("") }
}

pub(super) fn fault(retryable: bool) -> Step {
    let error = ProviderError { provider: "scripted".into(), message: "overloaded: try later".into(), retryable };
    Step { fault: Some(error), ..say("half a") }
}

impl Step {
    pub(super) fn cut_by_length(self) -> Self {
        Self { stop_reason: StopReason::Length, ..self }
    }

    pub(super) fn with_text(self, text: &str) -> Self {
        Self { text: text.into(), ..self }
    }

    /// Waits in the middle of its words.
    pub(super) fn waiting(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    fn deltas(&self) -> (Vec<Delta>, Vec<Delta>) {
        let middle = self.text.char_indices().nth(self.text.chars().count() / 2).map_or(0, |(at, _)| at);
        let (left, right) = self.text.split_at(middle);
        let text = |part: &str| Delta::TextDelta { delta: part.to_owned() };
        let head = if left.is_empty() { Vec::new() } else { vec![text(left)] };
        let mut tail = if right.is_empty() { Vec::new() } else { vec![text(right)] };
        tail.extend(self.calls.iter().map(|call| Delta::ToolcallEnd { tool_call: call.clone() }));
        (head, tail)
    }
}

#[async_trait]
impl Provider for Script {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn model(&self) -> &'static str {
        "script"
    }

    async fn reply(
        &self,
        request: Request<'_>,
        on_delta: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<AssistantMessage, ProviderError> {
        self.seen.lock().unwrap().push(Seen {
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            messages: request.messages.to_vec(),
        });
        let step = self.steps.lock().unwrap().pop_front().unwrap_or_else(|| say("done"));
        let (head, tail) = step.deltas();
        head.into_iter().for_each(&mut *on_delta);
        if step.wait > Duration::ZERO {
            tokio::time::sleep(step.wait).await;
        }
        if let Some(fault) = step.fault {
            return Err(fault);
        }
        tail.into_iter().for_each(on_delta);
        let mut content = if step.text.is_empty() { Vec::new() } else { vec![Block::text(step.text)] };
        content.extend(step.calls.into_iter().map(Block::ToolCall));
        Ok(AssistantMessage {
            content,
            provider: "scripted".into(),
            model: "script".into(),
            usage: step.usage,
            stop_reason: step.stop_reason,
            error_message: None,
            timestamp: 1,
        })
    }
}

#[async_trait]
impl Tool for Scripted {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: self.name.into(), description: String::new(), parameters: json!({"type": "object"}) }
    }

    async fn call(&self, arguments: Map<String, Value>) -> Result<ToolOutput, ToolError> {
        let arguments = Value::Object(arguments).to_string();
        self.ran.lock().unwrap().push(format!("{} {arguments}", self.name));
        match self.name {
            "fail" => return Err(ToolError::Failed("it failed: try the other one".into())),
            "fatal" => return Err(ToolError::Fatal("the audit can't be written".into())),
            "hang" => pending().await,
            "slow" => tokio::time::sleep(Duration::from_secs(1)).await,
            _ => {}
        }
        Ok(ToolOutput { details: json!({"echoed": arguments}), content: arguments })
    }
}

/// A budget whose sentence can be told from the model's words.
pub(super) fn budget() -> Budget {
    Budget {
        retry: Retry { attempts: 3, base: Duration::from_secs(2) },
        closing: "CLOSED: {reason}.".into(),
        ..Budget::default()
    }
}

impl Rig {
    pub(super) fn new(budget: Budget, steps: impl IntoIterator<Item = Step>) -> Self {
        let (seen, ran) = (Arc::default(), Arc::default());
        let script = Script { steps: Mutex::new(steps.into_iter().collect()), seen: Arc::clone(&seen) };
        let mut registry = Registry::default();
        for name in TOOLS {
            registry.tool(Scripted { name, ran: Arc::clone(&ran) }).unwrap();
        }
        let expand = Box::new(|arguments: &str| format!("Please answer: {arguments}"));
        registry.command(Command { name: "ask".into(), description: String::new(), expand }).unwrap();
        Self { agent: Agent::new(Box::new(script), registry, "Be brief.".into(), budget), seen, ran }
    }

    /// Runs a prompt to its end and checks what every run must hold.
    pub(super) async fn prompt(&mut self, text: &str) -> (Settled, Vec<Event>) {
        self.prompt_until(text, None).await
    }

    /// The same, aborted by whoever looks on as soon as it has seen this many events.
    pub(super) async fn prompt_until(&mut self, text: &str, stop_after: Option<usize>) -> (Settled, Vec<Event>) {
        let abort = Abort::new();
        let mut events = Vec::new();
        let mut sink = |event| {
            events.push(event);
            if Some(events.len()) == stop_after {
                abort.fire();
            }
        };
        let settled = self.agent.prompt(text, &abort, &mut sink).await;
        check::events(&events, &settled);
        check::history(&self.agent);
        (settled, events)
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(super) fn ran(&self) -> Vec<String> {
        self.ran.lock().unwrap().clone()
    }

    /// The last words in the conversation.
    pub(super) fn answer(&self) -> String {
        self.agent
            .tree()
            .branch_messages()
            .iter()
            .rev()
            .find_map(|message| if let Message::Assistant(reply) = message { Some(reply.text()) } else { None })
            .unwrap()
    }

    /// Each result in the conversation: its call, whether it failed, its text.
    pub(super) fn results(&self) -> Vec<(String, bool, String)> {
        let messages = self.agent.tree().branch_messages();
        let results = messages.iter().filter_map(|message| match message {
            Message::ToolResult(result) => Some((result.tool_call_id.clone(), result.is_error, result.text())),
            _ => None,
        });
        results.collect()
    }
}

pub(super) fn completed() -> Settled {
    Settled { reason: SettledReason::Completed, error: None }
}

pub(super) fn aborted() -> Settled {
    Settled { reason: SettledReason::Aborted, error: None }
}
