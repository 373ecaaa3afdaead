//! One started role, seen from the supervisor.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::process::channel::{Channel, ChannelError};
use crate::process::descriptor::send_packet;
use crate::process::message::{ToReader, ToSpawner};
use crate::sandbox::Role;
use crate::sql::settings::SqlSettings;

/// Bytes of a role's last words that are kept.
const KEPT: usize = 2 << 10;
/// Pieces of that size read in one turn: all that a pipe holds. One that is filled faster than it is read must not keep
/// the supervisor from its deadlines.
const PIECES: usize = 32;

/// A reader or an agent.
pub(super) struct Worker {
    pub(super) role: Role,
    /// Its process number, once the spawner has told.
    pub(super) pid: Option<i32>,
    /// The connection to it; this end is the only other one.
    pub(super) channel: Channel,
    /// Whether it has reported its belts, and they were right.
    pub(super) ready: bool,
    /// Whether it has closed its side: it is ending, and is not listened to any more.
    pub(super) muted: bool,
    /// Whether it was given up before it ended: whoever waits for it has been told.
    pub(super) given_up: bool,
    pub(super) last_words: LastWords,
}

/// A role's standard error, of which the last is kept: a panic's message is all that ever comes.
pub(in crate::process) struct LastWords {
    pipe: PipeReader,
    kept: Vec<u8>,
}

impl Worker {
    /// Orders one from the spawner.
    pub(super) fn order(spawner: &OwnedFd, role: Role) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let (last_words, stderr) = LastWords::pipe()?;
        let order = serde_json::to_vec(&ToSpawner::Start(role))?;
        send_packet(spawner, &order, &[theirs.into(), stderr.into()])?;
        let channel = Channel::polled(ours)?;
        Ok(Self { role, pid: None, channel, ready: false, muted: false, given_up: false, last_words })
    }

    /// Orders a reader, and leaves word for it of what it must know before it opens the database.
    pub(super) fn order_reader(spawner: &OwnedFd, settings: &SqlSettings) -> io::Result<Self> {
        let mut reader = Self::order(spawner, Role::Reader)?;
        // A reader that died is noticed where its channel is read.
        let _: Result<(), ChannelError> = reader.channel.send(&ToReader::Begin { hide: settings.hide.clone() });
        Ok(reader)
    }
}

impl LastWords {
    /// This end, and the one that becomes the role's standard error.
    pub(in crate::process) fn pipe() -> io::Result<(Self, PipeWriter)> {
        let (pipe, theirs) = io::pipe()?;
        Ok((Self { pipe, kept: Vec::new() }, theirs))
    }

    /// Reads what has come.
    pub(super) fn hear(&mut self) {
        let mut piece = [0; KEPT];
        let mut rounds = 0..PIECES;
        // Looked at before each read and not made to never block: the list has no call that changes a descriptor's flags,
        // since the audit's own must keep on appending.
        while rounds.next().is_some()
            && self.has_more()
            && let Ok(length @ 1..) = self.pipe.read(&mut piece)
        {
            self.kept.extend_from_slice(&piece[..length]);
            let excess = self.kept.len().saturating_sub(KEPT);
            self.kept.drain(..excess);
        }
    }

    fn has_more(&self) -> bool {
        let mut ready = [PollFd::new(self.pipe.as_fd(), PollFlags::POLLIN)];
        poll(&mut ready, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
    }

    /// How a role ended, with its last words if it had any.
    pub(in crate::process) fn after(&mut self, how: &str) -> String {
        self.hear();
        let words = String::from_utf8_lossy(&self.kept);
        let words = words.trim();
        if words.is_empty() { how.to_owned() } else { format!("{how} ({words})") }
    }
}

impl AsFd for LastWords {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::thread;

    use super::*;

    #[test]
    fn a_role_that_never_stops_talking_is_heard_in_part() {
        let (mut words, mut theirs) = LastWords::pipe().unwrap();
        let piece = vec![b'x'; 64 << 10];
        let talking = thread::spawn(move || while theirs.write_all(&piece).is_ok() {});
        for _ in 0..100 {
            words.hear();
            assert!(words.kept.len() <= KEPT);
        }
        drop(words);
        talking.join().unwrap();
    }
}
