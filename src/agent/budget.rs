//! How much one prompt may use, and how much it has used.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use tokio::time::Instant;

use crate::session::Usage;

/// Replies of the model. A question takes about 5; a model that needs more than 24 is going in circles.
const TURNS: u32 = 24;
/// Calls of tools. A reply may hold several, so this is more than the turns.
const CALLS: u32 = 48;
/// Tokens sent and received over all turns: 24 turns on a context of 20,000.
const TOKENS: u64 = 500_000;
/// Wall time. Long enough for a small local model on a slow machine, short enough for a person who waits.
const TIME: Duration = Duration::from_mins(5);
/// Wall time of the one last reply after a budget is used up.
const GRACE: Duration = Duration::from_mins(1);
/// Retries of a reply that failed for a moment: with the base below they wait 2, 4 and 8 s.
const RETRIES: u32 = 3;
/// The first wait; each further one is twice as long.
const RETRY_BASE: Duration = Duration::from_secs(2);

/// What one prompt may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Replies of the model; the one last reply after a budget is used up comes on top.
    pub turns: u32,
    /// Calls of tools, repeated ones included.
    pub calls: u32,
    /// Tokens sent and received, cached ones included.
    pub tokens: u64,
    /// Wall time.
    pub time: Duration,
    /// Wall time of the one last reply after a budget is used up.
    pub grace: Duration,
    /// How often a reply that failed for a moment is asked for again.
    pub retry: Retry,
    /// The harness's own last sentence where the model gives none; `{reason}` stands for why.
    pub closing: String,
}

/// How a reply that failed for a moment is asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// How often.
    pub attempts: u32,
    /// The first wait; each further one is twice as long.
    pub base: Duration,
}

/// The budget that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Replies.
    Turns(u32),
    /// Calls.
    Calls(u32),
    /// Tokens.
    Tokens(u64),
    /// Wall time.
    Time(Duration),
}

/// What a run has used.
#[derive(Debug)]
pub(super) struct Meter {
    pub(super) turns: u32,
    pub(super) calls: u32,
    tokens: u64,
    deadline: Instant,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            turns: TURNS,
            calls: CALLS,
            tokens: TOKENS,
            time: TIME,
            grace: GRACE,
            retry: Retry { attempts: RETRIES, base: RETRY_BASE },
            closing: "I could not finish: {reason}.".to_owned(),
        }
    }
}

impl Budget {
    pub(super) fn closing_sentence(&self, reason: &str) -> String {
        self.closing.replace("{reason}", reason)
    }
}

impl Retry {
    /// The wait before the n-th retry, counted from 1.
    pub(super) fn delay(self, attempt: u32) -> Duration {
        self.base.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)))
    }
}

impl Meter {
    pub(super) fn start(budget: &Budget) -> Self {
        Self { turns: 0, calls: 0, tokens: 0, deadline: after(budget.time) }
    }

    /// When the wall time is used up.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Adds the tokens of a reply.
    pub(super) fn add(&mut self, usage: Usage) {
        for part in [usage.input, usage.output, usage.cache_read, usage.cache_write] {
            self.tokens = self.tokens.saturating_add(part);
        }
    }

    /// The budget of calls, if it is used up.
    pub(super) fn calls_spent(&self, budget: &Budget) -> Option<Limit> {
        (self.calls >= budget.calls).then_some(Limit::Calls(budget.calls))
    }

    /// The first budget that is used up, if one is.
    pub(super) fn spent(&self, budget: &Budget) -> Option<Limit> {
        if Instant::now() >= self.deadline {
            Some(Limit::Time(budget.time))
        } else if self.tokens >= budget.tokens {
            Some(Limit::Tokens(budget.tokens))
        } else {
            let turns_spent = self.turns >= budget.turns;
            self.calls_spent(budget).or_else(|| turns_spent.then_some(Limit::Turns(budget.turns)))
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, what) = match *self {
            Self::Turns(turns) => (u64::from(turns), "turn"),
            Self::Calls(calls) => (u64::from(calls), "tool call"),
            Self::Tokens(tokens) => (tokens, "token"),
            Self::Time(time) => return write!(f, "the time of {} s is used up", time.as_secs_f64()),
        };
        write!(f, "the budget of {count} {what}{} is used up", if count == 1 { "" } else { "s" })
    }
}

/// The instant after this time; a time too long for the clock means a year, which no run reaches.
pub(super) fn after(time: Duration) -> Instant {
    const YEAR: Duration = Duration::from_hours(365 * 24);
    Instant::now() + time.min(YEAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_wait_twice_as_long_each_time_and_never_overflow() {
        let retry = Retry { attempts: 3, base: Duration::from_secs(2) };
        assert_eq!([1, 2, 3].map(|attempt| retry.delay(attempt).as_secs()), [2, 4, 8]);
        assert_eq!(Retry { base: Duration::MAX, ..retry }.delay(u32::MAX), Duration::MAX);
    }

    #[test]
    fn the_closing_sentence_names_the_budget() {
        let budget = Budget { closing: "CANNOT: {reason}.".into(), ..Budget::default() };
        let reason = Limit::Time(Duration::from_millis(1500)).to_string();
        assert_eq!(budget.closing_sentence(&reason), "CANNOT: the time of 1.5 s is used up.");
    }
}
