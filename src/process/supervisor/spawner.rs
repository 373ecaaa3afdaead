//! The spawner, seen from the supervisor.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{AddressFamily, Shutdown, SockFlag, SockType, shutdown, socketpair};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::process::descriptor::{Given, open_program, send_packet, start_program};
use crate::process::message::ToSpawner;
use crate::process::role::{RoleArguments, to_start};
use crate::process::supervisor::SupervisorError;
use crate::process::supervisor::worker::LastWords;
use crate::sandbox::Role;

/// How long the roles may take to end once their channels are closed, before they are killed.
const STOP_PATIENCE: Duration = Duration::from_millis(500);

/// The spawner's process and the channel to it.
pub(in crate::process) struct Spawner {
    socket: OwnedFd,
    pid: Pid,
    pub(super) ready: bool,
    pub(super) last_words: LastWords,
}

impl Spawner {
    pub(in crate::process) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    pub(in crate::process) fn start(arguments: &RoleArguments) -> Result<Self, SupervisorError> {
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
    pub(in crate::process) fn stop(&mut self) {
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

    pub(super) fn order(&self, order: &ToSpawner) -> Result<(), SupervisorError> {
        self.order_with(order, &[])
    }

    pub(in crate::process) fn order_with(
        &self,
        order: &ToSpawner,
        descriptors: &[OwnedFd],
    ) -> Result<(), SupervisorError> {
        match send_packet(&self.socket, &serde_json::to_vec(order).map_err(io::Error::from)?, descriptors) {
            // That it is gone is noticed, and said, where its channel is read.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        }
    }
}
