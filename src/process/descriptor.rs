//! File descriptors by number, and starting this program again: the one file that forks.
#![expect(unsafe_code, reason = "fork, and descriptors that arrive by number, have no safe interface")]

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::libc;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::{ForkResult, Pid, fexecve, fork, setsid};

/// Where a role finds its channel to the supervisor.
const CHANNEL: RawFd = 3;
/// Where the spawner finds this program's file.
const PROGRAM: RawFd = 4;
/// Descriptors above the ones a role is given by number, so that moving one never lands on another.
const ABOVE_ALL_NUMBERS: RawFd = 10;

/// What a new role is given; everything else is closed by the kernel at exec.
pub(crate) struct Given<'a> {
    /// Becomes its standard input and output: `/dev/null`.
    pub(crate) null: BorrowedFd<'a>,
    /// Becomes its standard error.
    pub(crate) stderr: BorrowedFd<'a>,
    /// Becomes its channel.
    pub(crate) channel: BorrowedFd<'a>,
    /// Becomes the program's file, for the spawner only.
    pub(crate) program: Option<BorrowedFd<'a>>,
}

/// Marks every descriptor this process was started with, beyond the standard three, to be closed at exec.
pub(crate) fn close_inherited_at_exec() -> io::Result<()> {
    // SAFETY: takes three integers; marking descriptors close-on-exec closes none that this process uses.
    let result = unsafe { libc::close_range(3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC.cast_signed()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// This program's own file: the inode that is running, whatever its path is now.
pub(crate) fn open_program() -> io::Result<OwnedFd> {
    let flags = OFlag::O_PATH | OFlag::O_CLOEXEC;
    nix::fcntl::open("/proc/self/exe", flags, nix::sys::stat::Mode::empty()).map_err(|error| {
        let reason = format!("its own file can't be opened ({error}); is /proc mounted?");
        io::Error::new(io::Error::from(error).kind(), reason)
    })
}

/// A role's channel. Fails unless the descriptor is a socket, so a person who starts a role by hand gets an error.
pub(crate) fn inherited_channel() -> io::Result<UnixStream> {
    Ok(UnixStream::from(inherited(CHANNEL, SFlag::S_IFSOCK)?))
}

/// The spawner's program file.
pub(crate) fn inherited_program() -> io::Result<OwnedFd> {
    inherited(PROGRAM, SFlag::S_IFREG)
}

fn inherited(number: RawFd, kind: SFlag) -> io::Result<OwnedFd> {
    // SAFETY: a role is started with exactly these numbers and nothing in it has opened or closed any yet; this is
    // called once for each, so there is one owner. Whether it is open is checked right below, before anything else.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    match fstat(&descriptor) {
        Ok(stat) if SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT == kind => {}
        result => {
            // Not ours to close: it is not open, or is something else.
            std::mem::forget(descriptor);
            let found = result.map_or_else(|error| error.to_string(), |_| "it is something else".into());
            return Err(io::Error::other(format!("descriptor {number} is not what a role is given ({found})")));
        }
    }
    fcntl(&descriptor, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(descriptor)
}

/// Sends one packet, with descriptors beside it.
pub(crate) fn send_packet(socket: &OwnedFd, packet: &[u8], descriptors: &[OwnedFd]) -> io::Result<()> {
    let numbers: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    let rights = [ControlMessage::ScmRights(&numbers)];
    let beside = if numbers.is_empty() { &[][..] } else { &rights[..] };
    sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(packet)], beside, MsgFlags::MSG_NOSIGNAL, None)?;
    Ok(())
}

/// Receives one packet and the descriptors beside it; none when the other side is gone.
pub(crate) fn receive_packet(socket: &OwnedFd, packet: &mut [u8]) -> io::Result<Option<(usize, Vec<OwnedFd>)>> {
    let mut beside = nix::cmsg_space!([RawFd; 2]);
    let mut into = [IoSliceMut::new(packet)];
    let received = recvmsg::<()>(socket.as_raw_fd(), &mut into, Some(&mut beside), MsgFlags::MSG_CMSG_CLOEXEC)?;
    let mut descriptors = Vec::new();
    for message in received.cmsgs()? {
        if let ControlMessageOwned::ScmRights(numbers) = message {
            // SAFETY: the kernel just made these numbers for us.
            descriptors.extend(numbers.into_iter().map(|number| unsafe { OwnedFd::from_raw_fd(number) }));
        }
    }
    let length = received.bytes;
    Ok((length > 0).then_some((length, descriptors)))
}

/// Starts this program again in another role: its own inode, an empty environment, a session of its own (so no terminal),
/// and the descriptors it is given.
pub(crate) fn start_program(program: BorrowedFd<'_>, arguments: &[&CStr], given: &Given<'_>) -> io::Result<Pid> {
    // Everything the child will touch is prepared here, since between fork and exec it may only make system calls.
    let moved = |descriptor: BorrowedFd<'_>| -> io::Result<File> {
        let number = fcntl(descriptor, FcntlArg::F_DUPFD_CLOEXEC(ABOVE_ALL_NUMBERS))?;
        // SAFETY: the kernel just made this number for us.
        Ok(File::from(unsafe { OwnedFd::from_raw_fd(number) }))
    };
    let program = moved(program)?;
    let mut placed = vec![
        (moved(given.null)?, 0),
        (moved(given.null)?, 1),
        (moved(given.stderr)?, 2),
        (moved(given.channel)?, CHANNEL),
    ];
    if let Some(descriptor) = given.program {
        placed.push((moved(descriptor)?, PROGRAM));
    }
    // SAFETY: this process has one thread (roles fork before they start any), so the child may go on as usual; it makes
    // only system calls and then either becomes the program or exits.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            let _ = setsid();
            // Where the caller ignored the deaths of its children, the kernel would report none to us either.
            // SAFETY: puts the default in place, so no handler of ours can run in the child.
            let _ = unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) };
            for (descriptor, number) in &placed {
                // SAFETY: both numbers are plain integers; what stood at `number` in this child is meant to go.
                if unsafe { libc::dup2(descriptor.as_raw_fd(), *number) } < 0 {
                    // SAFETY: ends this child without running the parent's exit handlers.
                    unsafe { libc::_exit(127) };
                }
            }
            let empty: [&CStr; 0] = [];
            let _ = fexecve(program.as_fd(), arguments, &empty);
            // SAFETY: as above.
            unsafe { libc::_exit(127) }
        }
    }
}
