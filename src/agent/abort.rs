//! Stopping what runs: by a person, or by the clock.

use std::future::{Future, pending};

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// A handle that stops the prompt it was given to; clones stop the same prompt.
///
/// Only a prompt that is already running is stopped: fired earlier, it does nothing, so one handle may serve many prompts.
#[derive(Clone, Debug)]
pub struct Abort(watch::Sender<u64>);

/// One run's view of its [`Abort`].
#[derive(Debug)]
pub(super) struct Stop {
    fired: watch::Receiver<u64>,
    at_start: u64,
}

/// Why work was cut before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// A person stopped it.
    Aborted,
    /// Its time was up.
    Time,
}

impl Abort {
    /// A handle that has not been fired.
    pub fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// Stops the prompt that runs with this handle, if one does.
    pub fn fire(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    pub(super) fn watch(&self) -> Stop {
        let fired = self.0.subscribe();
        let at_start = *fired.borrow();
        Stop { fired, at_start }
    }
}

impl Default for Abort {
    fn default() -> Self {
        Self::new()
    }
}

impl Stop {
    /// Runs the work unless it is cut first; work that would begin after the cut does not begin.
    pub(super) async fn guard<T>(&mut self, deadline: Instant, work: impl Future<Output = T>) -> Result<T, Cut> {
        tokio::select! {
            biased;
            () = self.fired() => Err(Cut::Aborted),
            () = sleep_until(deadline) => Err(Cut::Time),
            value = work => Ok(value),
        }
    }

    /// Waits for the handle; stays true once it was fired.
    async fn fired(&mut self) {
        let at_start = self.at_start;
        if self.fired.wait_for(|count| *count != at_start).await.is_err() {
            // Every handle is gone, so nobody can stop this run any more.
            pending::<()>().await;
        }
    }
}
