//! The spawner: starts readers and agents, ends them, and tells how they ended. It can do nothing else.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::process::channel::Channel;
use crate::process::descriptor::{
    Given, inherited_channel, inherited_program, receive_packet, send_packet, start_program,
};
use crate::process::message::{FromSpawner, ToSpawner};
use crate::process::role::{RoleArguments, to_start};
use crate::sandbox::{Grants, Role, lock_down};

/// How a role ended that made a call which its list has not. Which call it was, the kernel tells its log only.
pub(crate) const FORBIDDEN: &str = "the kernel killed it for a forbidden system call (its log may say which)";

/// Bytes of the longest order or report.
const PACKET: usize = 4 << 10;

/// Runs the spawner until the supervisor is gone; every child is dead and reaped when this returns.
pub(crate) fn run(arguments: RoleArguments) -> io::Result<()> {
    let socket = OwnedFd::from(inherited_channel()?);
    let program = inherited_program()?;
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    let grants = Grants {
        program: Some(program.try_clone()?),
        database: arguments.database_directories.clone(),
        output: None,
        port: arguments.port,
        belts: arguments.belts.clone(),
    };
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGCHLD);
    mask.thread_block()?;
    let deaths = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
    match lock_down(Role::Spawner, &grants, arguments.strictness) {
        Ok(_) if let Some(order) = &arguments.trial => {
            let attempt = order.obey(&arguments.database)?;
            return Channel::blocking(socket.into()).send(&attempt).map_err(io::Error::other);
        }
        Ok(report) => send(&socket, &FromSpawner::Ready(report))?,
        Err(error) => return send(&socket, &FromSpawner::Refused(error.to_string())),
    }
    drop(grants);
    let mut spawner = Spawner { socket, program, null: null.into(), arguments, children: HashMap::new() };
    let result = spawner.serve(&deaths);
    spawner.end_all();
    result
}

struct Spawner {
    socket: OwnedFd,
    program: OwnedFd,
    null: OwnedFd,
    arguments: RoleArguments,
    /// Children that are not reaped yet; only these are ever signalled, so a reused process number can't be.
    children: HashMap<Pid, Role>,
}

impl Spawner {
    fn serve(&mut self, deaths: &SignalFd) -> io::Result<()> {
        loop {
            let mut ready =
                [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN), PollFd::new(deaths.as_fd(), PollFlags::POLLIN)];
            match poll(&mut ready, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            let ordered = ready[0].any().unwrap_or(false);
            if ready[1].any().unwrap_or(false) {
                while let Ok(Some(_)) = deaths.read_signal() {}
                self.reap()?;
            }
            if ordered && !self.obey()? {
                return Ok(());
            }
        }
    }

    /// Takes one order; false when the supervisor is gone.
    fn obey(&mut self) -> io::Result<bool> {
        let mut packet = vec![0; PACKET];
        let Some((length, descriptors)) = receive_packet(&self.socket, &mut packet)? else { return Ok(false) };
        match serde_json::from_slice(&packet[..length])? {
            ToSpawner::Start(role) => {
                self.start_and_report(role, &self.arguments.clone(), descriptors)?;
            }
            ToSpawner::Try(role, order) => {
                let arguments = RoleArguments { trial: Some(*order), ..self.arguments.clone() };
                self.start_and_report(role, &arguments, descriptors)?;
            }
            ToSpawner::Kill(pid) => {
                let pid = Pid::from_raw(pid);
                if self.children.contains_key(&pid) {
                    kill(pid, Signal::SIGKILL)?;
                }
            }
        }
        Ok(true)
    }

    fn start_and_report(&mut self, role: Role, arguments: &RoleArguments, descriptors: Vec<OwnedFd>) -> io::Result<()> {
        let report = match self.start(role, arguments, descriptors) {
            Ok(pid) => FromSpawner::Started { role, pid: pid.as_raw() },
            Err(error) => FromSpawner::NotStarted { role, reason: error.to_string() },
        };
        send(&self.socket, &report)
    }

    fn start(&mut self, role: Role, arguments: &RoleArguments, descriptors: Vec<OwnedFd>) -> io::Result<Pid> {
        let [channel, stderr] = <[OwnedFd; 2]>::try_from(descriptors)
            .map_err(|_| io::Error::other("a start order carries a channel and a standard error"))?;
        if !matches!(role, Role::Reader | Role::Agent) {
            return Err(io::Error::other("only readers and agents are started here"));
        }
        let [name, told] = to_start(role, arguments)?;
        let given = Given { null: self.null.as_fd(), stderr: stderr.as_fd(), channel: channel.as_fd(), program: None };
        let pid = start_program(self.program.as_fd(), &[&name, &told], &given)?;
        self.children.insert(pid, role);
        Ok(pid)
    }

    fn reap(&mut self) -> io::Result<()> {
        loop {
            let status = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return Ok(()),
                Ok(status) => status,
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
            };
            if let Some(pid) = status.pid()
                && let Some(how) = ended(status)
                && self.children.remove(&pid).is_some()
            {
                send(&self.socket, &FromSpawner::Ended { pid: pid.as_raw(), how })?;
            }
        }
    }

    fn end_all(&mut self) {
        for (pid, _) in self.children.drain() {
            let _ = kill(pid, Signal::SIGKILL);
            let _ = waitpid(pid, None);
        }
    }
}

/// How a process ended, in words; none while it lives.
pub(crate) fn ended(status: WaitStatus) -> Option<String> {
    match status {
        WaitStatus::Exited(_, 0) => Some("it ended by itself".into()),
        WaitStatus::Exited(_, code) => Some(format!("it ended with exit code {code}")),
        WaitStatus::Signaled(_, Signal::SIGSYS, _) => Some(FORBIDDEN.into()),
        WaitStatus::Signaled(_, signal, _) => Some(format!("it was killed by {signal}")),
        _ => None,
    }
}

fn send(socket: &OwnedFd, report: &FromSpawner) -> io::Result<()> {
    send_packet(socket, &serde_json::to_vec(report)?, &[])
}
