//! The kernel belts of each role: one policy table, and what applies it.
//!
//! A role calls [`lock_down`] once, before it has a second thread and before it reads a byte of its input. The order is
//! the one that works (measured): identity and limits first, then Landlock, capabilities after it; a system-call filter
//! goes last, because it forbids the very calls that install the others.

mod belts;
mod capabilities;
mod landlock;
mod policy;
pub mod probe;
mod report;
mod seccomp;

use std::io::Write;

use nix::sys::prctl;
use nix::sys::resource::{getrlimit, setrlimit};
use nix::sys::signal::Signal;

pub use belts::{BELTS, Belt, Belts};
pub use policy::{ATTRIBUTES, Access, Grants, Network, POLICIES, Place, Policy, Role};
pub use report::{Landlock, Report};
pub use seccomp::{Call, Condition, Shim, Test, Way, calls, shims};

/// How strict to be on a kernel that lacks a belt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strictness {
    /// Refuse to start.
    #[default]
    Required,
    /// Go on with what the kernel has, and say so in every audit record's run and with every answer.
    BestEffort,
}

/// A belt is not in force.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The kernel has no Landlock, or too old a one.
    #[error(
        "this kernel's Landlock is at ABI {found}, the {role} needs {needed}: use Linux 6.7 or newer with Landlock \
         switched on, or accept weaker belts with --sandbox best-effort"
    )]
    LandlockMissing {
        /// The role that asked.
        role: Role,
        /// What it needs.
        needed: u8,
        /// What the kernel has; 0 for none.
        found: i32,
    },
    /// A path of the policy can't be opened.
    #[error("the {role}'s sandbox can't open {place} ({path}): {source}")]
    Path {
        /// The role that asked.
        role: Role,
        /// Which place of the policy.
        place: Place,
        /// The path it stands for.
        path: String,
        /// Why.
        source: ::landlock::PathFdError,
    },
    /// Landlock refused.
    #[error("Landlock refused the {role}'s rules: {reason}")]
    Landlock {
        /// The role that asked.
        role: Role,
        /// The kernel's or the library's reason.
        reason: String,
    },
    /// Capabilities could not be dropped.
    #[error("the {role} can't drop its capabilities: {reason}")]
    Capabilities {
        /// The role that asked.
        role: Role,
        /// Why.
        reason: String,
    },
    /// The kernel refused a system-call filter.
    #[error("the {role}'s system-call filter can't be put in force: {reason}")]
    Seccomp {
        /// The role that asked.
        role: Role,
        /// The kernel's or the compiler's reason.
        reason: String,
    },
    /// A process attribute or limit could not be set.
    #[error("the {role} can't set {what}: {source}")]
    Process {
        /// The role that asked.
        role: Role,
        /// Which attribute.
        what: &'static str,
        /// Why.
        source: nix::Error,
    },
    /// A role reported that a belt is not in force.
    #[error("the {role} started without {what}: refusing to go on")]
    NotInForce {
        /// The role that reported.
        role: Role,
        /// The belt that is missing.
        what: &'static str,
    },
}

/// Applies a role's whole policy to this process and reports what is in force.
///
/// The supervisor calls it after its children exist: its own full denial must not be inherited by an agent that needs a port.
pub fn lock_down(role: Role, grants: &Grants, strictness: Strictness) -> Result<Report, SandboxError> {
    let belts = &grants.belts;
    let policy = Policy::of(role);
    // A backtrace, should the caller's environment ask for one, takes calls that no list has.
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(std::io::stderr(), "internal error: {panic}");
    }));
    if belts.has(Belt::Process) {
        harden_process(role)?;
    }
    if belts.has(Belt::Limits) {
        for &(limit, value, _) in policy.limits {
            set_limit(role, limit, value)?;
        }
    }
    let mut landlock = Landlock { abi: 0, enforced: false };
    if belts.has(Belt::Landlock) {
        landlock = landlock::restrict(policy, grants, strictness)?;
    }
    if belts.has(Belt::Capabilities) {
        capabilities::drop_all(role)?;
    }
    let report = Report::read(role, landlock);
    if belts.has(Belt::Seccomp) {
        seccomp::restrict(role, grants)?;
    }
    Ok(Report { seccomp: seccomp::mode(), ..report })
}

/// What the first process does before any other exists, so that all that follow are inside: it hardens itself, keeps
/// signals and abstract sockets inside, and drops its capabilities.
pub fn prepare(belts: &Belts) -> Result<(), SandboxError> {
    if belts.has(Belt::Process) {
        harden_process(Role::Supervisor)?;
    }
    if belts.has(Belt::Landlock) {
        landlock::scope_signals()?;
    }
    if belts.has(Belt::Capabilities) {
        capabilities::lock_securebits();
        capabilities::drop_all(Role::Supervisor)?;
    }
    Ok(())
}

/// What every role wants from its first instruction on: no new privileges, no core file, closed to its peers' eyes.
fn harden_process(role: Role) -> Result<(), SandboxError> {
    let failed = |what| move |source| SandboxError::Process { role, what, source };
    prctl::set_no_new_privs().map_err(failed("no_new_privs"))?;
    prctl::set_dumpable(false).map_err(failed("dumpable"))?;
    set_limit(role, policy::CORE, 0)?;
    if role != Role::Supervisor {
        prctl::set_pdeathsig(Signal::SIGKILL).map_err(failed("the parent-death signal"))?;
    }
    Ok(())
}

fn set_limit(role: Role, limit: nix::sys::resource::Resource, value: u64) -> Result<(), SandboxError> {
    let failed = |source| SandboxError::Process { role, what: "a resource limit", source };
    // The caller may have set a lower one, which nobody can raise again.
    let (_, hard) = getrlimit(limit).map_err(failed)?;
    let value = value.min(hard);
    setrlimit(limit, value, value).map_err(failed)
}
