//! A check-up: one reader opens the database exactly as a run would, and nothing more.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use crate::process::SupervisorError;
use crate::process::channel::{Channel, ChannelError};
use crate::process::descriptor::{Given, close_inherited_at_exec, open_program, start_program};
use crate::process::message::{FromReader, ReaderReady, ReaderRefused, ToReader};
use crate::process::role::{RoleArguments, to_start};
use crate::process::supervisor::database_directories;
use crate::sandbox::{self, Belts, Role, Strictness};
use crate::sql::connection::{Hide, Identity};

/// How long a reader may take to open a database. Measured: 2 ms; a check after a crash may take half a second.
const PATIENCE: Duration = Duration::from_secs(5);

/// Starts a reader behind its belts, and returns the database it has opened. Nothing is recorded, since nothing is read.
///
/// For a process that does nothing else afterwards: it gives up its own rights on the way.
pub fn try_database(database: &Path, hide: &Hide, strictness: Strictness) -> Result<Identity, SupervisorError> {
    sandbox::prepare(&Belts::default())?;
    close_inherited_at_exec()?;
    let arguments = RoleArguments {
        strictness,
        database: database.to_owned(),
        database_directories: database_directories(database)?,
        port: None,
        belts: Belts::default(),
        trial: None,
    };
    let (ours, theirs) = UnixStream::pair()?;
    let program = open_program()?;
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    let [name, told] = to_start(Role::Reader, &arguments)?;
    let given = Given { null: null.as_fd(), stderr: null.as_fd(), channel: theirs.as_fd(), program: None };
    let reader = Reader(start_program(program.as_fd(), &[&name, &told], &given)?);
    drop(theirs);
    let mut channel = Channel::polled(ours)?;
    // A reader that is gone already is noticed where its first word is due.
    let _: Result<(), ChannelError> = channel.send(&ToReader::Begin { hide: hide.clone() });
    let ready = first_word(&mut channel);
    drop(reader);
    let ReaderReady { report, database, .. } = ready?;
    report.check(Role::Reader, strictness)?;
    Ok(database)
}

/// What the reader says first.
fn first_word(channel: &mut Channel) -> Result<ReaderReady, SupervisorError> {
    let role = |how: &str| SupervisorError::Role { role: Role::Reader, how: how.into() };
    let patience = Instant::now() + PATIENCE;
    loop {
        let left = patience.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(role("did not open the database in time"));
        }
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(channel.as_fd(), PollFlags::POLLIN)], timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
        let messages = channel.receive().map_err(|error| match error {
            ChannelError::Closed => role("ended before it had opened the database"),
            error => role(&format!("said something odd: {error}")),
        })?;
        match messages.into_iter().next() {
            Some(FromReader::Ready(ready)) => return Ok(*ready),
            Some(FromReader::Refused(ReaderRefused::Database(unusable))) => {
                return Err(SupervisorError::Database(unusable.reason));
            }
            Some(FromReader::Refused(ReaderRefused::Hide(unusable))) => {
                return Err(SupervisorError::Setting(unusable.reason));
            }
            Some(FromReader::Refused(ReaderRefused::Sandbox(reason))) => {
                return Err(SupervisorError::RoleRefused(reason));
            }
            Some(_) => return Err(role("answered before it was asked")),
            None => {}
        }
    }
}

/// The reader's process; gone when this is.
struct Reader(Pid);

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = kill(self.0, Signal::SIGKILL);
        let _ = waitpid(self.0, None);
    }
}
