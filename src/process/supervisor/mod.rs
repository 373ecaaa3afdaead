//! The supervisor: holds the disk, keeps the audit, and is the only road from an agent to a reader.
//!
//! A plain poll loop without a runtime. Each turn reads what has come, decides what follows, **appends every due audit
//! record and syncs once**, and only then lets anything happen: so nothing runs that is not on disk, and nothing is
//! answered that is not either.

mod desk;
mod directories;
mod error;
mod signals;
mod spawner;
mod watch;
mod worker;

use std::collections::VecDeque;
use std::mem;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::agent::{Command, Event, Response};
use crate::audit::{self, Durability, Entry, Head, Log, Record};
use crate::process::channel::ChannelError;
use crate::process::descriptor::close_inherited_at_exec;
use crate::process::message::{AgentSetup, ToAgent};
use crate::process::role::RoleArguments;
use crate::process::supervisor::desk::{Desk, Job, Origin};
use crate::process::supervisor::signals::Signals;
use crate::process::supervisor::worker::Worker;
use crate::sandbox::{self, Belts, Grants, Report, Role, Strictness};
use crate::sql::connection::Identity;
use crate::sql::gate::{QueryResult, Refusal, Reply, Request};
use crate::sql::settings::SqlSettings;

pub(in crate::process) use crate::process::supervisor::directories::database_directories;
pub use crate::process::supervisor::error::SupervisorError;
pub(crate) use crate::process::supervisor::signals::{ENDING, signal_that_came};
pub(in crate::process) use crate::process::supervisor::spawner::Spawner;
pub(in crate::process) use crate::process::supervisor::worker::LastWords;

/// How long a role may take from order to ready. Measured: 2 ms; a loaded host may need seconds.
const START_PATIENCE: Duration = Duration::from_secs(20);
/// How long one turn waits when nothing is due: it only has to be some end.
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// How long an agent may be behind its own clock before it counts as stuck.
const AGENT_SLACK: Duration = Duration::from_secs(5);

/// What a run is made of.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The database, as named.
    pub database: PathBuf,
    /// The output directory.
    pub output: PathBuf,
    /// How strict to be about the kernel.
    pub strictness: Strictness,
    /// How the audit is kept.
    pub audit: audit::Options,
    /// What a query may take and give.
    pub sql: SqlSettings,
    /// Who answers questions; none when only a person's own requests are served.
    pub agent: Option<AgentSetup>,
}

/// Something a front end waits for.
#[derive(Debug)]
pub enum Happening {
    /// The agent says something happened.
    Event(Event),
    /// The agent was handed rows. Receipts rest on these: what an agent says of its results is not proof of them.
    Rows {
        /// The query, as executed.
        sql: String,
        /// What it gave.
        result: QueryResult,
    },
    /// The agent answers a command.
    Response(Response),
    /// A front end's own request is done.
    Reply {
        /// What [`Supervisor::request`] returned.
        ticket: u64,
        /// What came of it.
        outcome: Result<Reply, Refusal>,
    },
    /// The agent is gone; the sentence says how. Another is on its way.
    AgentDied(String),
    /// The operator, or the host, wants the program to stop.
    Signal(i32),
}

/// The supervisor of one run.
pub struct Supervisor {
    setup: Setup,
    log: Log,
    desk: Desk,
    signals: Signals,
    spawner: Spawner,
    reader: Option<Worker>,
    agent: Option<Worker>,
    /// The database the reader has open.
    database: Option<Identity>,
    /// Everything that is hidden in it, in words.
    hidden: Vec<String>,
    /// Work that is on record and waits for the reader.
    waiting: VecDeque<Job>,
    /// Work the reader is at, and when it must be done.
    running: Option<(Job, Instant)>,
    /// When the question must have its end, whatever the agent says.
    latest_end: Option<Instant>,
    happenings: Vec<Happening>,
}

impl Supervisor {
    /// Starts a run: locks this process down, opens the audit, starts the roles, checks what they report, and puts the
    /// start on record.
    pub fn start(setup: Setup) -> Result<Self, SupervisorError> {
        sandbox::prepare(&Belts::default())?;
        close_inherited_at_exec()?;
        let directories = database_directories(&setup.database)?;
        let log = Log::open(&setup.output, setup.audit.clone())?;
        let desk = Desk::open(&setup.output)?;
        let signals = Signals::block()?;
        let arguments = RoleArguments {
            strictness: setup.strictness,
            database: setup.database.clone(),
            database_directories: directories,
            port: None,
            belts: Belts::default(),
            trial: None,
        };
        let spawner = Spawner::start(&arguments)?;
        let reader = Worker::order_reader(spawner.socket(), &setup.sql)?;
        let agent = setup.agent.as_ref().map(|_| Worker::order(spawner.socket(), Role::Agent)).transpose()?;
        let grants = Grants { output: Some(setup.output.clone()), ..Grants::default() };
        let own = sandbox::lock_down(Role::Supervisor, &grants, setup.strictness)?;
        own.check(Role::Supervisor, setup.strictness)?;
        let mut supervisor = Self {
            setup,
            log,
            desk,
            signals,
            spawner,
            reader: Some(reader),
            agent,
            database: None,
            hidden: Vec::new(),
            waiting: VecDeque::new(),
            running: None,
            latest_end: None,
            happenings: Vec::new(),
        };
        supervisor.desk.note_report(own);
        match supervisor.await_roles().and_then(|()| supervisor.record_start()) {
            Ok(()) => Ok(supervisor),
            Err(error) => {
                // What could not start is on record too, if that can be written.
                let entry = Entry::Stop { reason: error.to_string(), exit: error.exit_code() };
                let _ = supervisor.log.append(&[Record::of_run(entry)], Durability::Now);
                Err(error)
            }
        }
    }

    /// The identity of the database the answers come from.
    pub fn database(&self) -> Option<&Identity> {
        self.database.as_ref()
    }

    /// The chain's head.
    pub fn head(&self) -> Head {
        self.log.head()
    }

    /// What the roles reported, in the order they did.
    pub fn reports(&self) -> &[Report] {
        &self.desk.reports
    }

    /// Whether the database itself has failed during this question.
    pub fn database_failed(&self) -> bool {
        self.desk.database_failed
    }

    /// Puts a question on record and to the agent. Returns the record's sequence number.
    pub fn ask(&mut self, question: &str, front: &str) -> Result<u64, SupervisorError> {
        let record = self.desk.question(question, front, self.model());
        let seqs = self.log.append(&[record], Durability::Now)?;
        let message = ToAgent::Command(Command::Prompt { id: None, message: question.to_owned() });
        self.tell_agent(&message);
        self.latest_end = self.patience_with_agent().and_then(|patience| Instant::now().checked_add(patience));
        Ok(seqs.last().copied().unwrap_or_default())
    }

    /// Stops the question that is being answered.
    pub fn abort(&mut self) {
        self.tell_agent(&ToAgent::Command(Command::Abort { id: None }));
    }

    /// Asks for something on a person's own behalf, through the same belts. The reply comes as a [`Happening::Reply`]
    /// with the ticket returned here.
    pub fn request(&mut self, request: &Request, settings: &SqlSettings) -> Result<u64, SupervisorError> {
        let ticket = self.desk.next_ticket();
        let step = self.desk.admit(Origin::Front(ticket), request, settings);
        self.carry_out(vec![step])?;
        Ok(ticket)
    }

    /// Puts a record on disk now.
    pub fn record(&mut self, entry: Entry) -> Result<u64, SupervisorError> {
        let record = self.desk.about_question(entry);
        let seqs = self.log.append(&[record], Durability::Now)?;
        Ok(seqs.last().copied().unwrap_or_default())
    }

    /// Forgets the conversation: the agent is replaced by a fresh one.
    pub fn new_conversation(&mut self) -> Result<(), SupervisorError> {
        self.kill(Role::Agent)?;
        self.latest_end = None;
        self.desk.end_conversation();
        self.order_agent()?;
        let patience = Instant::now() + START_PATIENCE;
        while !self.agent.as_ref().is_some_and(|agent| agent.ready) {
            self.turn_until(patience)?;
            self.give_up(patience, Role::Agent)?;
        }
        // What an agent before this one said, or that it died, is no part of the conversation that begins.
        self.happenings.clear();
        Ok(())
    }

    /// Ends the run: the stop is on record, the roles are gone and reaped. Returns the chain's head.
    pub fn stop(mut self, reason: &str, exit: u8) -> Result<Head, SupervisorError> {
        let recorded =
            self.log.append(&[Record::of_run(Entry::Stop { reason: reason.to_owned(), exit })], Durability::Now);
        self.end_roles();
        recorded?;
        Ok(self.log.head())
    }

    /// One turn of the loop: waits until something happens, or `latest`, and returns what a front end waits for.
    pub fn turn(&mut self, latest: Option<Instant>) -> Result<Vec<Happening>, SupervisorError> {
        self.turn_until(latest.unwrap_or_else(|| Instant::now() + LONGEST_WAIT))?;
        Ok(mem::take(&mut self.happenings))
    }

    /// The agent keeps its own time; one that is far past it is stuck, or not the loop any more.
    fn patience_with_agent(&self) -> Option<Duration> {
        let budget = &self.setup.agent.as_ref()?.budget;
        let query = self.setup.sql.deadline().saturating_add(self.setup.sql.grace());
        Some(budget.time.saturating_add(budget.grace).saturating_add(query).saturating_add(AGENT_SLACK))
    }

    /// The model's name; empty when nobody answers questions.
    fn model(&self) -> String {
        self.setup.agent.as_ref().map(|agent| agent.model.clone()).unwrap_or_default()
    }

    fn await_roles(&mut self) -> Result<(), SupervisorError> {
        let patience = Instant::now() + START_PATIENCE;
        loop {
            // One that was ready and has died since is replaced when there is work for it.
            let reader_ready = self.database.is_some();
            let agent_ready = self.agent.as_ref().is_none_or(|agent| agent.ready);
            if reader_ready && agent_ready && self.spawner.ready {
                self.happenings.clear();
                return Ok(());
            }
            self.turn_until(patience)?;
            self.give_up(patience, if reader_ready { Role::Agent } else { Role::Reader })?;
        }
    }

    /// Ends the wait for a role when it has lasted too long, or a person wants to stop.
    fn give_up(&self, patience: Instant, role: Role) -> Result<(), SupervisorError> {
        let signal = self.happenings.iter().find_map(|happening| match happening {
            Happening::Signal(signal) => Some(*signal),
            _ => None,
        });
        if let Some(signal) = signal {
            return Err(SupervisorError::Stopped(signal));
        }
        if Instant::now() < patience {
            return Ok(());
        }
        Err(SupervisorError::Role { role, how: format!("was not ready within {} s", START_PATIENCE.as_secs()) })
    }

    fn record_start(&mut self) -> Result<(), SupervisorError> {
        let mut belts = json!({ "strictness": self.setup.strictness, "roles": self.desk.reports });
        if !self.setup.sql.hide.is_empty() {
            belts["hide"] = json!(self.setup.sql.hide);
            belts["hidden"] = json!(self.hidden);
        }
        let entry = Entry::Start {
            version: env!("CARGO_PKG_VERSION").into(),
            database: json!(self.database),
            belts,
            model: self.model(),
            arguments: Vec::new(),
        };
        // It is on disk no later than the first question or query, whose own sync covers it.
        self.log.append(&[Record::of_run(entry)], Durability::Later)?;
        Ok(())
    }

    fn tell_agent(&mut self, message: &ToAgent) {
        let Some(agent) = &mut self.agent else { return };
        // A dead agent is noticed where its channel is read; a message to it is moot.
        let _: Result<(), ChannelError> = agent.channel.send(message);
    }

    fn end_roles(&mut self) {
        // A closed channel is the order to end.
        self.reader = None;
        self.agent = None;
        self.spawner.stop();
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.end_roles();
    }
}
