//! Listens to the events of one question and makes its envelope.

use std::time::Instant;

use serde::Deserialize;

use crate::agent::{Event, Settled, SettledReason};
use crate::session::{Message, Usage};
use crate::sql::gate::QueryResult;
use crate::sql::outcome::Outcome;
use crate::sql::proof::{Proof, prove};
use crate::ui::envelope::{AuditRange, Basis, Envelope, OutcomeKind, Query, VERSION};

/// What is heard of one question.
pub struct Collector {
    question: String,
    started: Instant,
    results: Vec<(String, QueryResult)>,
    usage: Usage,
    last_text: String,
    settled: Option<Settled>,
}

/// How a question ended, before it has its answer's record.
#[derive(Debug)]
pub struct Ending {
    /// How.
    pub outcome: OutcomeKind,
    /// The sentence.
    pub text: String,
    /// What a question back may be answered with.
    pub choices: Vec<String>,
    /// The numbers of the answer.
    pub proof: Option<Proof>,
}

/// A query's details, as the tool gives them to front ends.
#[derive(Deserialize)]
struct Details {
    sql: String,
    #[serde(flatten)]
    result: QueryResult,
}

impl Collector {
    /// Begins with a question.
    pub fn new(question: impl Into<String>) -> Self {
        Self {
            question: question.into(),
            started: Instant::now(),
            results: Vec::new(),
            usage: Usage::default(),
            last_text: String::new(),
            settled: None,
        }
    }

    /// Takes an event.
    pub fn hear(&mut self, event: &Event) {
        match event {
            Event::MessageEnd { message: Message::Assistant(reply) } => {
                self.usage += reply.usage;
                self.last_text = reply.text();
            }
            Event::ToolExecutionEnd { tool_name, result, is_error: false, .. } if tool_name == "run_query" => {
                if let Ok(Details { sql, result }) = serde_json::from_value(result.details.clone()) {
                    self.results.push((sql, result));
                }
            }
            Event::AgentSettled(settled) => self.settled = Some(settled.clone()),
            _ => {}
        }
    }

    /// Whether the one end has come.
    pub fn is_settled(&self) -> bool {
        self.settled.is_some()
    }

    /// The results so far, oldest first.
    pub fn results(&self) -> impl Iterator<Item = &QueryResult> {
        self.results.iter().map(|(_, result)| result)
    }

    /// How the question ended. `fault` is what broke outside the agent, if anything did.
    pub fn ending(&self, fault: Option<String>) -> Ending {
        let failed = |text: String| Ending { outcome: OutcomeKind::Failed, text, choices: Vec::new(), proof: None };
        if let Some(fault) = fault {
            return failed(fault);
        }
        let settled = self.settled.clone().unwrap_or(Settled { reason: SettledReason::Aborted, error: None });
        match settled.reason {
            SettledReason::Completed | SettledReason::Budget => {}
            SettledReason::Aborted => return failed("the question was stopped before it was answered".into()),
            SettledReason::Error | SettledReason::Fatal => {
                return failed(settled.error.unwrap_or_else(|| "the model did not answer".into()));
            }
        }
        match Outcome::of(&self.last_text) {
            Outcome::Answered(text) if text.is_empty() => failed("the model answered with nothing".into()),
            Outcome::Answered(text) => {
                let proof = prove(&text, &self.question, &self.results().collect::<Vec<_>>());
                Ending { outcome: OutcomeKind::Answered, text, choices: Vec::new(), proof: Some(proof) }
            }
            Outcome::Asked { question, choices } => {
                Ending { outcome: OutcomeKind::Asked, text: question, choices, proof: None }
            }
            Outcome::Declined(text) => {
                Ending { outcome: OutcomeKind::Declined, text, choices: Vec::new(), proof: None }
            }
        }
    }

    /// The envelope, once the answer is on record.
    pub fn envelope(self, ending: Ending, basis: Basis, model: String, audit: AuditRange, exit: u8) -> Envelope {
        let result = match ending.outcome {
            OutcomeKind::Answered => self.results.len().checked_sub(1),
            _ => None,
        };
        Envelope {
            v: VERSION,
            question: self.question,
            outcome: ending.outcome,
            answer: ending.text,
            choices: ending.choices,
            queries: self.results.iter().map(|(sql, result)| Query::of(sql, result)).collect(),
            result,
            grounded: ending.proof.as_ref().map(Proof::is_whole),
            receipts: ending.proof.map(|proof| proof.receipts).unwrap_or_default(),
            basis,
            model,
            usage: self.usage.into(),
            session: None,
            audit,
            best_effort_sandbox: false,
            exit,
            ms: self.started.elapsed().as_secs_f64() * 1000.0,
        }
    }
}
