//! One end of a connection between two roles: blocking for a role that does one thing, polled for the supervisor.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::process::frame::{Decoder, Encoder, FrameError, REPLY_CAP, REQUEST_CAP};

/// Bytes read at once.
const PIECE: usize = 64 << 10;

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct Channel {
    socket: UnixStream,
    encoder: Encoder,
    decoder: Decoder,
    /// Frames not yet taken by the kernel, oldest first; only a polled end leaves any.
    unsent: Vec<u8>,
}

/// A connection is of no more use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChannelError {
    /// The peer is gone.
    #[error("the other side is gone")]
    Closed,
    /// The peer broke the rules.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The kernel refused.
    #[error("the channel failed: {0}")]
    Io(#[from] io::Error),
}

impl Channel {
    /// The supervisor's end: never blocks, takes long replies, sends short requests.
    pub(crate) fn polled(socket: UnixStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { socket, encoder: Encoder::new(REPLY_CAP), decoder: Decoder::new(REPLY_CAP), unsent: Vec::new() })
    }

    /// A role's end: blocks.
    pub(crate) fn blocking(socket: UnixStream) -> Self {
        Self { socket, encoder: Encoder::new(REPLY_CAP), decoder: Decoder::new(REQUEST_CAP), unsent: Vec::new() }
    }

    /// Queues a message and sends what the kernel takes now.
    pub(crate) fn send<T: Serialize>(&mut self, message: &T) -> Result<(), ChannelError> {
        let frame = self.encoder.encode(message)?;
        self.unsent.extend_from_slice(&frame);
        self.flush()
    }

    /// Sends more of what is queued.
    pub(crate) fn flush(&mut self) -> Result<(), ChannelError> {
        while !self.unsent.is_empty() {
            match self.socket.write(&self.unsent) {
                Ok(taken) => drop(self.unsent.drain(..taken)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Err(ChannelError::Closed),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether something waits for the kernel to take it.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Reads once and returns the messages that are whole. A polled end returns none when there is nothing to read.
    pub(crate) fn receive<T: DeserializeOwned>(&mut self) -> Result<Vec<T>, ChannelError> {
        let mut piece = vec![0; PIECE];
        match self.socket.read(&mut piece) {
            Ok(0) => return Err(ChannelError::Closed),
            Ok(length) => self.decoder.push(&piece[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Err(ChannelError::Closed),
            Err(error) => return Err(error.into()),
        }
        let mut messages = Vec::new();
        while let Some(message) = self.decoder.next()? {
            messages.push(message);
        }
        Ok(messages)
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
