//! What is in force in a process, as it reports itself.

use nix::sys::prctl;
use serde::{Deserialize, Serialize};

use crate::sandbox::{Role, SandboxError, Strictness, capabilities};

/// A role's belts, read back from the kernel after they were applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is one belt, and is named in an error")]
pub struct Report {
    /// Whose.
    pub role: Role,
    /// Nothing this process executes can gain privileges.
    pub no_new_privs: bool,
    /// Closed to peers of the same user (no ptrace, no `/proc/PID/mem`, no core file).
    pub undumpable: bool,
    /// No capability in any usable set.
    pub no_capabilities: bool,
    /// The rules by which user 0 would have capabilities again are off and locked; only a process that has the right to
    /// can do that, so nothing is demanded here.
    pub securebits_locked: bool,
    /// Landlock's state.
    pub landlock: Landlock,
    /// The mode of the system-call filter: 2 when one is in force.
    pub seccomp: i32,
}

/// The mode of a process under a filter.
const FILTERED: i32 = 2;

/// Landlock's state in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landlock {
    /// The ABI in use; 0 when the kernel has none.
    pub abi: i32,
    /// Whether a ruleset is in force.
    pub enforced: bool,
}

impl Report {
    /// Reads this process's state.
    pub(super) fn read(role: Role, landlock: Landlock) -> Self {
        Self {
            role,
            no_new_privs: prctl::get_no_new_privs().unwrap_or(false),
            undumpable: prctl::get_dumpable().is_ok_and(|dumpable| !dumpable),
            no_capabilities: !capabilities::any_left(),
            securebits_locked: capabilities::securebits_locked(),
            landlock,
            // Read last, once the filter is on.
            seccomp: 0,
        }
    }

    /// Fails, naming the belt, unless everything this role must have is in force.
    pub fn check(&self, expected: Role, strictness: Strictness) -> Result<(), SandboxError> {
        let missing = |what| Err(SandboxError::NotInForce { role: expected, what });
        if self.role != expected {
            return missing("its own policy");
        }
        if !self.no_new_privs {
            return missing("no_new_privs");
        }
        if !self.undumpable {
            return missing("protection from its peers");
        }
        if !self.no_capabilities {
            return missing("an empty capability set");
        }
        if self.seccomp != FILTERED {
            return missing("its system-call filter");
        }
        if !self.landlock.enforced && strictness == Strictness::Required {
            return missing("Landlock");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_lacks_one_belt_is_refused() {
        let whole = Report {
            role: Role::Reader,
            no_new_privs: true,
            undumpable: true,
            no_capabilities: true,
            securebits_locked: false,
            landlock: Landlock { abi: 7, enforced: true },
            seccomp: 2,
        };
        let check = |change: fn(&mut Report)| {
            let mut report = whole.clone();
            change(&mut report);
            report.check(Role::Reader, Strictness::Required).is_ok()
        };
        assert!(check(|_| ()));
        assert!(!check(|report| report.role = Role::Agent));
        assert!(!check(|report| report.no_new_privs = false));
        assert!(!check(|report| report.undumpable = false));
        assert!(!check(|report| report.no_capabilities = false));
        assert!(!check(|report| report.seccomp = 0));
        assert!(!check(|report| report.landlock.enforced = false));
    }
}
