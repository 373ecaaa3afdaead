//! Standard output and standard error, written so that a signal still stops the program.
//!
//! While a supervisor runs, the signals that end a run are blocked and read where it waits. A write to a pipe that nobody
//! reads waits elsewhere, for ever; so a write here waits for the pipe and for those signals alike.

use std::fs::File;
use std::io::{self, BufWriter, LineWriter, Write};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::cli::{ExitKind, Failure};
use crate::process::{ENDING, signal_that_came};

/// Bytes a pipe that can be written takes without waiting (`PIPE_BUF` of Linux).
const PIECE: usize = 4 << 10;

/// One of the standard streams.
pub(super) struct Output {
    file: File,
    signals: SignalFd,
    /// Once stopped it waits no more: what a buffer still holds is tried again when the buffer is dropped.
    stopped: Option<Stopped>,
}

/// A signal came while nobody read what was written.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("nobody read the output, and {0} came")]
struct Stopped(Signal);

impl Output {
    /// Standard output; what is written counts only after a flush.
    pub(super) fn stdout() -> io::Result<BufWriter<Self>> {
        Ok(BufWriter::new(Self::of(io::stdout())?))
    }

    /// Standard error, line by line; where no descriptor is left for it, as it is.
    pub(super) fn stderr() -> Box<dyn Write> {
        match Self::of(io::stderr()) {
            Ok(output) => Box::new(LineWriter::new(output)),
            Err(_) => Box::new(io::stderr()),
        }
    }

    fn of(stream: impl AsFd) -> io::Result<Self> {
        let mut mask = SigSet::empty();
        for signal in ENDING {
            mask.add(signal);
        }
        let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { file: File::from(stream.as_fd().try_clone_to_owned()?), signals, stopped: None })
    }

    /// Waits until the stream takes more, or a signal has come.
    fn wait(&mut self) -> io::Result<()> {
        loop {
            let came = self.stopped.or_else(|| signal_that_came().map(Stopped));
            let patience = if came.is_some() { PollTimeout::ZERO } else { PollTimeout::NONE };
            let mut ready = [
                PollFd::new(self.file.as_fd(), PollFlags::POLLOUT),
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            ];
            match poll(&mut ready, patience) {
                Ok(_) => {}
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
            }
            if ready[0].any().unwrap_or(true) {
                return Ok(());
            }
            if let Some(stopped) = came {
                return Err(io::Error::other(stopped));
            }
            let Some(info) = self.signals.read_signal()? else { continue };
            let signal = i32::try_from(info.ssi_signo).ok().and_then(|number| Signal::try_from(number).ok());
            let signal = signal.unwrap_or(Signal::SIGTERM);
            // It is the supervisor's too.
            raise(signal)?;
            self.stopped = Some(Stopped(signal));
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait()?;
        self.file.write(&bytes[..bytes.len().min(PIECE)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a failed write means: the output can't be written, or the program was stopped meanwhile.
pub(super) fn unwritable(what: &str, error: io::Error) -> Failure {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Stopped>()) {
        Some(Stopped(signal)) => {
            Failure::new(ExitKind::of_signal(*signal as i32), "stopped before the answer was read")
        }
        None => Failure::new(ExitKind::Output, format!("{what} can't be written")).because(error),
    }
}
