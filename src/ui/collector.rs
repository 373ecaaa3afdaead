//! Listens to the events of one question and makes its envelope.

use std::time::Instant;

use crate::agent::{Event, Settled, SettledReason};
use crate::session::{Message, Usage};
use crate::sql::gate::QueryResult;
use crate::sql::outcome::Outcome;
use crate::sql::proof::{Proof, prove};
use crate::ui::envelope::{AuditRange, Basis, Envelope, OutcomeKind, Query, VERSION};

/// Bytes of an answer that are kept: far more than a sentence, and little enough for its record.
const LONGEST_ANSWER: usize = 64 << 10;

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
                self.last_text.truncate(self.last_text.floor_char_boundary(LONGEST_ANSWER));
            }
            Event::AgentSettled(settled) => self.settled = Some(settled.clone()),
            _ => {}
        }
    }

    /// Takes rows that were handed to the agent: from whoever handed them out, since an agent could claim any.
    pub fn add_result(&mut self, sql: String, result: QueryResult) {
        self.results.push((sql, result));
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::ToolExecution;
    use crate::session::{AssistantMessage, Block, StopReason};

    fn says(text: &str) -> Event {
        let reply = AssistantMessage {
            content: vec![Block::text(text)],
            provider: "p".into(),
            model: "m".into(),
            usage: Usage::default(),
            stop_reason: StopReason::Stop,
            error_message: None,
            timestamp: 0,
        };
        Event::MessageEnd { message: Message::Assistant(reply) }
    }

    fn rows(value: u64) -> QueryResult {
        QueryResult {
            truncated: None,
            columns: vec!["n".into()],
            rows: vec![vec![json!(value)]],
            row_count: 1,
            notes: Vec::new(),
            ms: 0.1,
            audit_seq: 3,
        }
    }

    fn grounded(prepare: impl FnOnce(&mut Collector)) -> Option<bool> {
        let mut collector = Collector::new("how many?");
        prepare(&mut collector);
        collector.hear(&says("777 accounts."));
        collector.hear(&Event::AgentSettled(Settled { reason: SettledReason::Completed, error: None }));
        collector.ending(None).proof.as_ref().map(Proof::is_whole)
    }

    #[test]
    fn rows_that_an_agent_only_claims_prove_nothing() {
        let claim = Event::ToolExecutionEnd {
            tool_call_id: "c".into(),
            tool_name: "run_query".into(),
            label: "run_query(SELECT 777)".into(),
            result: ToolExecution { content: Vec::new(), details: json!({"sql": "SELECT 777", "rows": [[777]]}) },
            is_error: false,
        };
        assert_eq!(grounded(|collector| collector.hear(&claim)), Some(false));
        assert_eq!(grounded(|collector| collector.add_result("SELECT 777".into(), rows(777))), Some(true));
    }

    #[test]
    fn an_answer_without_end_is_cut_before_it_is_recorded() {
        let mut collector = Collector::new("how many?");
        collector.hear(&says(&"é".repeat(1 << 20)));
        collector.hear(&Event::AgentSettled(Settled { reason: SettledReason::Completed, error: None }));
        assert!(collector.ending(None).text.len() <= LONGEST_ANSWER);
    }
}
