//! The attack list: what each role attempts in a throw-away process, and what must become of it.
//!
//! Every attempt is harmless should it work: it opens and writes nothing, names what does not exist, or changes only the
//! process that is about to end. A role that is started for a trial can only take what these tables name.
#![allow(clippy::wildcard_imports, reason = "the tables name a hundred of the kernel's numbers")]
#![allow(clippy::cast_possible_wrap, reason = "a call's argument is 64 bits, whatever they mean")]

mod files;
mod kernel;
mod network;
mod process;
mod step;

pub use step::{Argument, Attempt, Door, Step, Targets, attempt};

use crate::sandbox::Role;

/// One attempt.
#[derive(Debug)]
pub struct Probe {
    /// What it is, for people; its name in a trial.
    pub name: &'static str,
    /// The calls.
    pub steps: &'static [Step<'static>],
    /// What must become of it: in the supervisor, the spawner, the reader, the agent.
    pub expected: [Expected; 4],
}

/// What must become of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The kernel ends the process with SIGSYS.
    Killed,
    /// The last step answers with one of these errors.
    Refused(&'static [i32]),
    /// It works: the role's work needs it, or it is a control without which "everything dies" would pass.
    Works,
}

/// What became of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The kernel ended the process with SIGSYS.
    Killed,
    /// The process lived to tell.
    Answered(Attempt),
    /// The process ended in another way.
    Ended,
}

/// The whole list.
pub fn probes() -> impl Iterator<Item = &'static Probe> {
    [files::PROBES, process::PROBES, kernel::PROBES, network::PROBES].into_iter().flatten()
}

impl Probe {
    /// The probe of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        probes().find(|probe| probe.name == name)
    }

    /// What must become of it in a role.
    pub fn expected_in(&self, role: Role) -> Expected {
        let [supervisor, spawner, reader, agent] = self.expected;
        match role {
            Role::Supervisor => supervisor,
            Role::Spawner => spawner,
            Role::Reader => reader,
            Role::Agent => agent,
        }
    }

    /// Whether that is what became of it.
    pub fn holds(&self, role: Role, found: Found) -> bool {
        match (self.expected_in(role), found) {
            (Expected::Killed, Found::Killed) => true,
            (Expected::Works, Found::Answered(attempt)) => attempt.answer >= 0,
            (Expected::Refused(errors), Found::Answered(attempt)) => {
                attempt.step + 1 == self.steps.len() && errors.iter().any(|error| -i64::from(*error) == attempt.answer)
            }
            _ => false,
        }
    }
}

/// What the tables are written with.
mod short {
    pub(super) use nix::libc::*;

    pub(super) use super::Argument::{Answer, Audit, Bytes, Database, Number as N, Own, Parent, Space, Text as T};
    pub(super) use super::Expected::{self, Killed as K, Works as W};
    pub(super) use super::{Door, Probe, Step};

    /// Landlock's no; or the file is not there at all, as in an image that holds one program.
    pub(super) const A: Expected = Expected::Refused(&[EACCES, ENOENT]);
    /// No role may.
    pub(super) const NOBODY: [Expected; 4] = [K, K, K, K];
    /// The working directory, where a path is absolute anyhow.
    pub(super) const HERE: super::Argument<'static> = N(AT_FDCWD as i64);

    /// A number whose type differs from argument to argument.
    macro_rules! n {
        ($value:expr) => {
            N($value as i64)
        };
    }
    /// One probe: name, calls, expectation.
    macro_rules! probe {
        ($name:literal, $([$number:expr $(, $argument:expr)*]),+; $expected:expr) => {
            Probe {
                name: $name,
                steps: &[$(Step { door: Door::Native, number: $number, arguments: &[$($argument),*] }),+],
                expected: $expected,
            }
        };
    }
    pub(super) use {n, probe};
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_every_role_has_something_that_must_work() {
        let mut names = HashSet::new();
        assert!(probes().all(|probe| names.insert(probe.name)));
        for role in [Role::Supervisor, Role::Spawner, Role::Reader, Role::Agent] {
            let works = probes().filter(|probe| probe.expected_in(role) == Expected::Works).count();
            let killed = probes().filter(|probe| probe.expected_in(role) == Expected::Killed).count();
            assert!(works >= 3 && killed >= 50, "{role}: {works} work, {killed} are killed");
        }
    }

    #[test]
    fn only_the_last_step_counts_as_refused() {
        let probe = Probe::named("read the password file").unwrap();
        let refused = |answer| Found::Answered(Attempt { step: 0, answer });
        assert!(probe.holds(Role::Reader, refused(-13)));
        assert!(!probe.holds(Role::Reader, refused(3)));
        assert!(!probe.holds(Role::Reader, Found::Killed));
        assert!(!probe.holds(Role::Reader, Found::Ended));
        assert!(probe.holds(Role::Agent, Found::Killed));
    }
}
