//! The guard's specification: one table of texts, each with what becomes of it.
//!
//! The tests run it, and so does the program in the field. A fault found anywhere becomes a line here first.

mod cases;

use std::fmt;

pub use cases::CASES;

use super::{Excerpt, Reason, check};

/// One line of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Case {
    /// What this line and its neighbours show.
    pub group: &'static str,
    /// Public reports of the fault in other programs, where there are any.
    pub seen: &'static str,
    /// The text.
    pub sql: &'static str,
    /// Spaces put behind the text until it has this many bytes.
    pub padded_to: usize,
    /// What becomes of it.
    pub expect: Expect,
}

/// What becomes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Passes, as a query.
    Query,
    /// Passes, as a query's plan.
    Plan,
    /// Refused.
    Refused(Reason),
}

/// A line of the table that doesn't hold.
#[derive(Debug)]
pub struct Failure {
    /// The line.
    pub case: &'static Case,
    /// What became of it instead.
    pub got: Expect,
}

/// Runs the whole table; empty when every line holds.
pub fn run() -> Vec<Failure> {
    CASES
        .iter()
        .map(|case| Failure { case, got: outcome(&case.text()) })
        .filter(|line| line.got != line.case.expect)
        .collect()
}

fn outcome(text: &str) -> Expect {
    match check(text) {
        Ok(guarded) if guarded.is_explain() => Expect::Plan,
        Ok(_) => Expect::Query,
        Err(refused) => Expect::Refused(refused.reason()),
    }
}

impl Case {
    /// The text, padding included.
    pub fn text(&self) -> String {
        self.sql.to_owned() + &" ".repeat(self.padded_to.saturating_sub(self.sql.len()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { group, sql, expect, .. } = self.case;
        write!(f, "{group}: “{}” should be {expect:?} and is {:?}", Excerpt::of(sql), self.got)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_line_of_the_table_holds() {
        let failures: Vec<String> = run().iter().map(ToString::to_string).collect();
        assert!(failures.is_empty(), "{failures:#?}");
    }

    #[test]
    fn the_table_is_wide_and_has_no_line_twice() {
        let distinct: HashSet<_> = CASES.iter().map(Case::text).collect();
        let doubled: Vec<_> =
            CASES.iter().filter(|case| CASES.iter().filter(|c| c.text() == case.text()).count() > 1).collect();
        assert_eq!(distinct.len(), CASES.len(), "{doubled:#?}");
        assert!(CASES.len() >= 250, "{}", CASES.len());
    }

    #[test]
    fn a_line_that_does_not_hold_is_told_in_one_sentence() {
        let failure = Failure { case: &CASES[0], got: Expect::Refused(Reason::Empty) };
        assert!(failure.to_string().ends_with("should be Query and is Refused(Empty)"), "{failure}");
    }
}
