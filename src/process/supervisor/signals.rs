//! The signals that end a run.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// The signals that end a run.
pub(crate) const ENDING: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// The last signal that was read; 0 for none. Signals are the process's, so this is too.
static CAME: AtomicI32 = AtomicI32::new(0);

/// The signals that end a run, as something to poll. They are blocked while this lives.
pub(super) struct Signals {
    mask: SigSet,
    pending: SignalFd,
}

impl Signals {
    pub(super) fn block() -> io::Result<Self> {
        let ignored = ignored_signals();
        let mut mask = SigSet::empty();
        for signal in ENDING {
            // The kernel hands a signal to whoever blocks it even where the caller (`nohup`, a shell's `&`) ignored it.
            if ignored & 1 << (signal as i32 - 1) == 0 {
                mask.add(signal);
            }
        }
        mask.thread_block()?;
        let pending = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        // Blocked and never read: a reached file size limit is then an error of the write, and not this process's death.
        SigSet::from(Signal::SIGXFSZ).thread_block()?;
        Ok(Self { mask, pending })
    }

    pub(super) fn next(&self) -> Option<i32> {
        let info = self.pending.read_signal().ok().flatten()?;
        let signal = i32::try_from(info.ssi_signo).ok()?;
        CAME.store(signal, Ordering::Relaxed);
        Some(signal)
    }
}

/// The signal that ends this program, once a supervisor has read one.
pub(crate) fn signal_that_came() -> Option<Signal> {
    Signal::try_from(CAME.load(Ordering::Relaxed)).ok()
}

impl Drop for Signals {
    fn drop(&mut self) {
        // Those that have come are dealt with: the run is over. Later ones end the program at once.
        while self.next().is_some() {}
        let _ = self.mask.thread_unblock();
    }
}

/// The signals this process was started to ignore, as a bit each; none where that can't be read.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or_default();
    u64::from_str_radix(mask.trim(), 16).unwrap_or_default()
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pending.as_fd()
    }
}
