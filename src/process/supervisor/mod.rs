//! The supervisor: holds the disk, keeps the audit, and is the only road from an agent to a reader.
//!
//! A plain poll loop without a runtime. Each turn reads what has come, decides what follows, **appends every due audit
//! record and syncs once**, and only then lets anything happen: so nothing runs that is not on disk, and nothing is
//! answered that is not either.

mod desk;
mod watch;
mod worker;

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{AddressFamily, Shutdown, SockFlag, SockType, shutdown, socketpair};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde_json::json;

use crate::agent::{Command, Event, Response};
use crate::audit::{self, AuditError, Durability, Entry, Head, Log, Record};
use crate::process::channel::ChannelError;
use crate::process::descriptor::{Given, close_inherited_at_exec, open_program, start_program};
use crate::process::message::{AgentSetup, ToAgent};
use crate::process::role::{RoleArguments, to_start};
use crate::process::supervisor::desk::{Desk, Job, Origin};
use crate::process::supervisor::watch::Signals;
use crate::process::supervisor::worker::{LastWords, Worker};
use crate::sandbox::{self, Grants, Report, Role, SandboxError, Strictness};
use crate::sql::connection::Identity;
use crate::sql::gate::{Refusal, Reply, Request};
use crate::sql::settings::SqlSettings;

/// How long a role may take from order to ready. Measured: 2 ms; a loaded host may need seconds.
const START_PATIENCE: Duration = Duration::from_secs(20);
/// How long one turn waits when nothing is due: it only has to be some end.
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// How long the roles may take to end once their channels are closed, before they are killed.
const STOP_PATIENCE: Duration = Duration::from_millis(500);

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

/// The run can't go on.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    /// A belt is not in force.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A role could not lock itself down; its own sentence.
    #[error("{0}")]
    RoleRefused(String),
    /// The database can't be used; the reader's own sentence.
    #[error("{0}")]
    Database(String),
    /// The audit can't be written.
    #[error("{0}. Nothing runs without its record")]
    Audit(#[from] AuditError),
    /// The findings can't be written.
    #[error("{0}")]
    Output(String),
    /// A role did not start or did not live.
    #[error("the {role} {how}")]
    Role {
        /// Which.
        role: Role,
        /// What became of it.
        how: String,
    },
    /// A signal came before the run had begun.
    #[error("stopped by a signal before it had begun")]
    Stopped(i32),
    /// The kernel refused something a supervisor needs.
    #[error("the supervisor can't go on: {0}")]
    Io(#[from] io::Error),
}

impl SupervisorError {
    /// The exit code that a run ends with for it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Database(_) => 5,
            Self::Sandbox(_) | Self::RoleRefused(_) | Self::Role { .. } | Self::Io(_) => 6,
            Self::Audit(_) | Self::Output(_) => 7,
            Self::Stopped(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        }
    }
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
    /// Work that is on record and waits for the reader.
    waiting: VecDeque<Job>,
    /// Work the reader is at, and when it must be done.
    running: Option<(Job, Instant)>,
    happenings: Vec<Happening>,
}

/// The spawner, seen from here.
struct Spawner {
    socket: OwnedFd,
    pid: Pid,
    ready: bool,
    last_words: LastWords,
}

impl Supervisor {
    /// Starts a run: locks this process down, opens the audit, starts the roles, checks what they report, and puts the
    /// start on record.
    pub fn start(setup: Setup) -> Result<Self, SupervisorError> {
        sandbox::harden_process(Role::Supervisor)?;
        sandbox::scope_signals()?;
        sandbox::drop_capabilities(Role::Supervisor)?;
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
        };
        let spawner = Spawner::start(&arguments)?;
        let reader = Worker::order(&spawner.socket, Role::Reader)?;
        let agent = setup.agent.as_ref().map(|_| Worker::order(&spawner.socket, Role::Agent)).transpose()?;
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
            waiting: VecDeque::new(),
            running: None,
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
        self.desk.end_conversation();
        self.order_agent()?;
        let patience = Instant::now() + START_PATIENCE;
        while !self.agent.as_ref().is_some_and(|agent| agent.ready) {
            self.turn_until(patience)?;
            self.give_up(patience, Role::Agent)?;
        }
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

    /// The model's name; empty when nobody answers questions.
    fn model(&self) -> String {
        self.setup.agent.as_ref().map(|agent| agent.model.clone()).unwrap_or_default()
    }

    fn await_roles(&mut self) -> Result<(), SupervisorError> {
        let patience = Instant::now() + START_PATIENCE;
        loop {
            let reader_ready = self.reader.as_ref().is_some_and(|reader| reader.ready);
            let agent_ready = self.agent.as_ref().is_none_or(|agent| agent.ready);
            if reader_ready && agent_ready && self.spawner.ready {
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
        let entry = Entry::Start {
            version: env!("CARGO_PKG_VERSION").into(),
            database: json!(self.database),
            belts: json!({ "strictness": self.setup.strictness, "roles": self.desk.reports }),
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

impl Spawner {
    fn start(arguments: &RoleArguments) -> Result<Self, SupervisorError> {
        let (socket, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
            .map_err(io::Error::from)?;
        let program = open_program()?;
        let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
        let [name, told] = to_start(Role::Spawner, arguments)?;
        let (last_words, stderr) = LastWords::pipe()?;
        let given = Given {
            null: null.as_fd(),
            stderr: stderr.as_fd(),
            channel: theirs.as_fd(),
            program: Some(program.as_fd()),
        };
        let pid = start_program(program.as_fd(), &[&name, &told], &given)?;
        Ok(Self { socket, pid, ready: false, last_words })
    }

    /// Closes the channel, which is the order to end everything, and waits; kills after a while.
    fn stop(&mut self) {
        if self.pid.as_raw() == 0 {
            return;
        }
        let _ = shutdown(self.socket.as_raw_fd(), Shutdown::Both);
        let patience = Instant::now() + STOP_PATIENCE;
        while matches!(waitpid(self.pid, Some(WaitPidFlag::WNOHANG)), Ok(WaitStatus::StillAlive)) {
            if Instant::now() > patience {
                let _ = kill(self.pid, Signal::SIGKILL);
                let _ = waitpid(self.pid, None);
                break;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        self.pid = Pid::from_raw(0);
    }
}

/// The directories a reader may open files in: the one the database is named in and, through links, the one it lies in.
pub(super) fn database_directories(database: &Path) -> Result<Vec<PathBuf>, SupervisorError> {
    let unusable = |error: io::Error| {
        SupervisorError::Database(format!(
            "the database {} can't be opened: {error}. Name an existing SQLite file with --db, or make the sample with \
             `pi-sql sample PATH`",
            database.display()
        ))
    };
    let resolved = std::fs::canonicalize(database).map_err(unusable)?;
    let mut directories = Vec::new();
    for path in [database, resolved.as_path()] {
        let parent = match path.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => continue,
        };
        let parent = std::fs::canonicalize(parent).map_err(unusable)?;
        if !directories.contains(&parent) {
            directories.push(parent);
        }
    }
    Ok(directories)
}
