//! What a request leads to: a record, and what follows once the record is on disk.

use std::path::Path;
use std::time::Instant;

use serde_json::json;
use uuid::Uuid;

use crate::audit::{Entry, Record};
use crate::process::supervisor::SupervisorError;
use crate::sandbox::{Report, Role};
use crate::sql::admission::{Admission, Granted, Shown};
use crate::sql::connection::Identity;
use crate::sql::errand::Errand;
use crate::sql::findings::Findings;
use crate::sql::gate::{Finding, Refusal, RefusalKind, Reply, Request};
use crate::sql::receipt;
use crate::sql::settings::SqlSettings;

/// Who asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// The agent, under its own call id; agents are counted, since a new one counts its calls afresh.
    Agent { generation: u64, id: u64 },
    /// A front end, under its ticket.
    Front(u64),
}

/// An errand on record.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) origin: Origin,
    pub(super) errand: Errand,
    pub(super) settings: SqlSettings,
    /// The audit sequence of its record.
    pub(super) seq: u64,
    /// When it was let in.
    pub(super) ordered: Instant,
    /// Whether its reader has told that the database is another one since.
    pub(super) told_of_change: bool,
}

/// A record, and what follows once it is on disk.
pub(super) struct Step {
    pub(super) record: Record,
    pub(super) then: Then,
}

/// What follows a record.
pub(super) enum Then {
    /// Nothing: it is a note.
    Nothing,
    /// The errand may run.
    Run(Origin, Errand, SqlSettings),
    /// Whoever asked gets an answer.
    Answer(Origin, Result<Reply, Refusal>),
    /// The finding is written beside the audit, then whoever asked is told.
    Save(Origin, Finding),
}

impl Then {
    /// Whether this may only happen once the record is safe from a power cut.
    pub(super) fn needs_sync(&self) -> bool {
        matches!(self, Self::Run(..) | Self::Save(..))
    }
}

/// The state that decisions rest on.
pub(super) struct Desk {
    /// The current question: its id and its words.
    question: Option<(String, String)>,
    tickets: u64,
    /// Counts agents.
    pub(super) agent_generation: u64,
    findings: Findings,
    /// What a finding of this conversation may rest on.
    shown: Shown,
    /// What the agent has asked for during this question.
    pub(super) calls: u32,
    /// Whether the database itself has failed during this question.
    pub(super) database_failed: bool,
    /// What the roles have reported.
    pub(super) reports: Vec<Report>,
}

impl Desk {
    pub(super) fn open(output: &Path) -> Result<Self, SupervisorError> {
        Ok(Self {
            question: None,
            tickets: 0,
            agent_generation: 0,
            findings: Findings::open(output).map_err(|error| SupervisorError::Output(error.to_string()))?,
            shown: Shown::default(),
            calls: 0,
            database_failed: false,
            reports: Vec::new(),
        })
    }

    /// A new question, with an id of its own.
    pub(super) fn question(&mut self, text: &str, front: &str, model: String) -> Record {
        self.question = Some((Uuid::now_v7().to_string(), text.to_owned()));
        self.calls = 0;
        self.database_failed = false;
        self.about_question(Entry::Question { text: text.to_owned(), front: front.to_owned(), model })
    }

    /// The conversation is over: what it found is no ground for the next one.
    pub(super) fn end_conversation(&mut self) {
        self.question = None;
        self.shown.clear();
    }

    /// The SQL of a query that gave rows in this conversation.
    pub(super) fn shown(&self, seq: u64) -> &str {
        self.shown.sql(seq).unwrap_or_default()
    }

    pub(super) fn next_ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    pub(super) fn agent_call(&self, id: u64) -> Origin {
        Origin::Agent { generation: self.agent_generation, id }
    }

    /// A record about the current question, if there is one.
    pub(super) fn about_question(&self, entry: Entry) -> Record {
        Record { question: self.question.as_ref().map(|(id, _)| id.clone()), entry }
    }

    /// Keeps what a role reported; a new process's report takes its predecessor's place.
    pub(super) fn note_report(&mut self, report: Report) {
        self.reports.retain(|known| known.role != report.role);
        self.reports.push(report);
    }

    /// Decides on a request.
    pub(super) fn admit(&self, origin: Origin, request: &Request, settings: &SqlSettings) -> Step {
        let Admission { entry, granted } = Admission::of(request, &self.shown, settings);
        let then = match granted {
            Granted::Errand(errand) => Then::Run(origin, errand, settings.clone()),
            Granted::Finding(finding) => Then::Save(origin, finding),
            Granted::Refused(refusal) => Then::Answer(origin, Err(refusal)),
        };
        Step { record: self.about_question(entry), then }
    }

    /// What an errand came to.
    pub(super) fn outcome(&mut self, job: &Job, mut outcome: Result<Reply, Refusal>) -> Step {
        let ms = (job.ordered.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        let record = self.about_question(receipt::after(job.seq, ms, &outcome));
        self.shown.note(job.seq, &job.errand, &mut outcome);
        self.database_failed |= matches!(&outcome, Err(refusal) if refusal.kind == RefusalKind::Database);
        Step { record, then: Then::Answer(job.origin, outcome) }
    }

    /// A role is dead.
    pub(super) fn death(&self, role: Role, how: &str) -> Step {
        let entry = Entry::Death { role: role.to_string(), how: how.to_owned() };
        Step { record: self.about_question(entry), then: Then::Nothing }
    }

    /// From here on the answers come from another file, or from the same one opened in another way.
    pub(super) fn database_changed(&self, identity: &Identity) -> Step {
        let entry = Entry::Database { identity: json!(identity) };
        Step { record: self.about_question(entry), then: Then::Nothing }
    }

    /// Writes a finding whose record is on disk.
    pub(super) fn save(&mut self, finding: &Finding, seq: u64) -> Result<Reply, SupervisorError> {
        let sql = self.shown.sql(finding.audit_seq).unwrap_or_default();
        let question = self.question.as_ref().map(|(_, text)| text.as_str());
        self.findings
            .append(question, finding, sql, seq)
            .map_err(|error| SupervisorError::Output(error.to_string()))?;
        Ok(Reply::SaveFinding { audit_seq: seq })
    }
}
