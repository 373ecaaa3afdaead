//! The bench: starts the throw-away roles, each as the real one is started, and sees what becomes of them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::process::channel::{Channel, ChannelError};
use crate::process::descriptor::{Given, close_inherited_at_exec, open_program, receive_packet, start_program};
use crate::process::message::{FromSpawner, ToSpawner};
use crate::process::role::{RoleArguments, to_start};
use crate::process::spawner::{FORBIDDEN, ended};
use crate::process::supervisor::{LastWords, Spawner, SupervisorError, database_directories};
use crate::process::trial::{Order, Wanted};
use crate::sandbox::probe::{Attempt, Found};
use crate::sandbox::{self, Belts, Role, Strictness};

/// How long one trial may take. Measured: 3 ms.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of the spawner's longest report.
const PACKET: usize = 4 << 10;

/// Where trials take place.
#[derive(Clone, Debug)]
pub struct Place {
    /// The database.
    pub database: PathBuf,
    /// The output directory; it exists.
    pub output: PathBuf,
    /// How strict to be about the kernel.
    pub strictness: Strictness,
    /// The model's TCP port, if it has one.
    pub port: Option<u16>,
    /// The belts that are on.
    pub belts: Belts,
}

/// A process that starts trials. It has prepared itself as a supervisor does, but not locked itself down.
pub struct Bench {
    arguments: RoleArguments,
    output: PathBuf,
    spawner: Spawner,
    ready: bool,
}

impl Bench {
    /// Prepares this process, and starts the spawner under which readers and agents are tried.
    pub fn start(place: Place) -> Result<Self, SupervisorError> {
        sandbox::prepare(&place.belts)?;
        close_inherited_at_exec()?;
        let arguments = RoleArguments {
            strictness: place.strictness,
            database_directories: database_directories(&place.database)?,
            database: place.database,
            port: place.port,
            belts: place.belts,
            trial: None,
        };
        let spawner = Spawner::start(&arguments)?;
        Ok(Self { arguments, output: place.output, spawner, ready: false })
    }

    /// Has a role attempt something, and says what became of it.
    pub fn attempt(&mut self, role: Role, wanted: Wanted) -> Result<(Found, String), SupervisorError> {
        let order = Order { wanted, output: self.output.clone() };
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(PATIENCE))?;
        let (mut last_words, stderr) = LastWords::pipe()?;
        let started = if matches!(role, Role::Reader | Role::Agent) {
            let order = ToSpawner::Try(role, Box::new(order));
            self.spawner.order_with(&order, &[theirs.into(), stderr.into()])?;
            None
        } else {
            let pid = self.start_beside(role, order, theirs.as_fd(), stderr.as_fd())?;
            // Closed here once the role has them: their end is its end.
            drop((theirs, stderr));
            Some(pid)
        };
        let attempt = answer(ours).map_err(|error| refused(role, &error.to_string()))?;
        let how = match started {
            None => self.end_of_child()?,
            Some(pid) => end_of(pid)?,
        };
        let found = match attempt {
            _ if how == FORBIDDEN => Found::Killed,
            Some(attempt) => Found::Answered(attempt),
            None => Found::Ended,
        };
        Ok((found, last_words.after(&how)))
    }

    /// A supervisor or a spawner: started from here, as in real use.
    fn start_beside(
        &self,
        role: Role,
        order: Order,
        channel: BorrowedFd<'_>,
        stderr: BorrowedFd<'_>,
    ) -> io::Result<Pid> {
        let program = open_program()?;
        let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
        let [name, told] = to_start(role, &RoleArguments { trial: Some(order), ..self.arguments.clone() })?;
        let program_given = (role == Role::Spawner).then(|| program.as_fd());
        let given = Given { null: null.as_fd(), stderr, channel, program: program_given };
        start_program(program.as_fd(), &[&name, &told], &given)
    }

    /// The end of the reader or agent that was just tried, as the spawner tells it.
    fn end_of_child(&mut self) -> Result<String, SupervisorError> {
        loop {
            let mut packet = vec![0; PACKET];
            let Some((length, _)) = receive_packet(self.spawner.socket(), &mut packet)? else {
                return Err(SupervisorError::Role { role: Role::Spawner, how: "is gone".into() });
            };
            match serde_json::from_slice(&packet[..length]).map_err(io::Error::from)? {
                FromSpawner::Ready(_) => self.ready = true,
                FromSpawner::Started { .. } => {}
                FromSpawner::Ended { how, .. } => return Ok(how),
                FromSpawner::Refused(reason) => return Err(SupervisorError::RoleRefused(reason)),
                FromSpawner::NotStarted { role, reason } => return Err(refused(role, &reason)),
            }
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.spawner.stop();
    }
}

/// Reads what the role says until it closes its end.
fn answer(channel: UnixStream) -> Result<Option<Attempt>, ChannelError> {
    // A role that was replaced by another program, or dies, just closes it.
    let mut channel = Channel::blocking(channel);
    let begin = Instant::now();
    let mut answer = None;
    while begin.elapsed() < PATIENCE {
        match channel.receive::<Attempt>() {
            Ok(answers) => answer = answers.last().copied().or(answer),
            Err(ChannelError::Closed) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(answer)
}

fn end_of(pid: Pid) -> io::Result<String> {
    let begin = Instant::now();
    loop {
        let status = waitpid(pid, Some(WaitPidFlag::WNOHANG))?;
        if let Some(how) = ended(status) {
            return Ok(how);
        }
        if status == WaitStatus::StillAlive && begin.elapsed() > PATIENCE {
            kill(pid, Signal::SIGKILL)?;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn refused(role: Role, why: &str) -> SupervisorError {
    SupervisorError::Role { role, how: format!("could not be tried: {why}") }
}
