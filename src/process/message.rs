//! What roles say to each other.

use serde::{Deserialize, Serialize};

use crate::agent::{Budget, Command, Event, Response};
use crate::process::trial::Order;
use crate::resources::{Skill, Template};
use crate::sandbox::{Report, Role};
use crate::sql::connection::{Hide, Identity};
use crate::sql::errand::Errand;
use crate::sql::gate::{Refusal, Reply, Request};
use crate::sql::settings::SqlSettings;

/// Supervisor to spawner. A start carries two descriptors beside it: the new role's channel and its standard error.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToSpawner {
    Start(Role),
    /// A throw-away one, which attempts something and ends.
    Try(Role, Box<Order>),
    Kill(i32),
}

/// Spawner to supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromSpawner {
    Ready(Report),
    Refused(String),
    Started { role: Role, pid: i32 },
    NotStarted { role: Role, reason: String },
    Ended { pid: i32, how: String },
}

/// Supervisor to reader.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToReader {
    /// What it needs before it opens the database; sent once, first. What is hidden is not told in its arguments, which
    /// every user of the machine may read.
    Begin {
        hide: Hide,
    },
    Run {
        id: u64,
        errand: Errand,
        settings: SqlSettings,
    },
}

/// Reader to supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromReader {
    Ready(Box<ReaderReady>),
    Refused(ReaderRefused),
    /// The database is another file, or opened in another way, than before: from here on answers come from this one.
    Changed(Box<Identity>),
    Done {
        id: u64,
        outcome: Result<Reply, Refusal>,
    },
}

/// A reader that can work.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReaderReady {
    pub(crate) report: Report,
    pub(crate) database: Identity,
    /// Everything that is hidden: what was named, and what is made of it.
    pub(crate) hidden: Vec<String>,
}

/// Why a reader can't work.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ReaderRefused {
    Sandbox(String),
    Database(Unusable),
    /// What it is to hide isn't there.
    Hide(Unusable),
}

/// A database can't be used.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Unusable {
    /// For the operator and the audit: names files, and what is hidden.
    pub(crate) reason: String,
    /// For whoever asks: names neither.
    pub(crate) refusal: Refusal,
}

/// Supervisor to agent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToAgent {
    Begin(Box<AgentSetup>),
    Command(Command),
    Answer { id: u64, outcome: Result<Reply, Refusal> },
}

/// What an agent is told at its start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentSetup {
    /// The model, `provider/id`.
    pub model: String,
    /// The system prompt, word for word.
    pub system: String,
    /// What `load_skill` can load.
    pub skills: Vec<Skill>,
    /// What `/ask` expands to; none when the project took it away.
    pub ask: Option<Template>,
    /// When to stop.
    pub budget: Budget,
}

/// Agent to supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromAgent {
    Ready(Report),
    Refused(String),
    Event(Event),
    Response(Response),
    Call { id: u64, request: Request },
}

impl FromReader {
    /// Whether a reader may say this: first that it is ready, or that it never will be, and neither again. Each refusal
    /// makes a record, so one that goes on saying it would fill the disk.
    pub(crate) fn is_in_turn(&self, ready: bool) -> bool {
        ready != matches!(self, Self::Ready(_) | Self::Refused(_))
    }
}

impl FromAgent {
    /// Whether an agent may say this: likewise. Nothing runs for one whose belts are not known, and each report is
    /// answered with all that an agent is told, so one that repeats it would fill the supervisor's memory.
    pub(crate) fn is_in_turn(&self, ready: bool) -> bool {
        ready != matches!(self, Self::Ready(_) | Self::Refused(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_reports_once_and_does_nothing_before_it() {
        let refused = || "no belt".to_owned();
        let call = FromAgent::Call { id: 1, request: Request::RunQuery { sql: "SELECT 1".into() } };
        assert!(call.is_in_turn(true) && !call.is_in_turn(false));
        let report = FromAgent::Refused(refused());
        assert!(report.is_in_turn(false) && !report.is_in_turn(true));
        let done = FromReader::Done { id: 1, outcome: Ok(Reply::SaveFinding { audit_seq: 1 }) };
        assert!(done.is_in_turn(true) && !done.is_in_turn(false));
        let report = FromReader::Refused(ReaderRefused::Sandbox(refused()));
        assert!(report.is_in_turn(false) && !report.is_in_turn(true));
    }
}
