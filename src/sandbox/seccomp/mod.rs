//! Seccomp: the verb layer. What is not in a role's list ends the role.
//!
//! Filters add up, and the strictest answer wins. So a list and its shims are two filters: the list lets a shimmed call
//! through, the shims turn it into an error. And a role that the spawner started lives under three: the spawner's, its
//! shims, its list; which is why the spawner's list is its own, what a starting role does, and **all that its children
//! may do**, computed from their lists so that it can't fall behind them.
#![expect(unsafe_code, reason = "reading the mode back has no safe interface")]
#![expect(clippy::cast_sign_loss, reason = "the kernel's constants are signed here and there; a filter compares bits")]

mod agent;
mod call;
mod common;
mod reader;
mod spawner;
mod supervisor;
#[cfg(feature = "belt-switches")]
mod trap;

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

pub use call::{Call, Condition, Shim, Test};

use crate::sandbox::{Grants, Role, SandboxError};

/// How a role's model is reached, which decides what its agent may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is part of the program.
    Nothing,
    /// By TCP.
    Tcp,
    /// By a Unix socket.
    Unix,
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;

/// The calls a role may make, in groups; a call may stand in several, and one that holds is enough.
pub fn calls(role: Role, way: Way) -> Vec<&'static [Call]> {
    let mut groups = vec![common::COMMON];
    match role {
        Role::Supervisor => groups.push(supervisor::SUPERVISOR),
        Role::Reader => groups.push(reader::READER),
        Role::Agent => {
            groups.push(agent::AGENT);
            groups.extend(match way {
                Way::Nothing => &[][..],
                Way::Tcp => agent::TCP,
                Way::Unix => agent::UNIX,
            });
        }
        Role::Spawner => {
            groups.extend([spawner::SPAWNER, spawner::START]);
            for child in [Role::Reader, Role::Agent] {
                // The common group is in already.
                groups.extend(calls(child, way).into_iter().skip(1));
            }
        }
    }
    groups
}

/// The calls of a role that are answered with an error.
pub fn shims(role: Role) -> &'static [Shim] {
    match role {
        // The spawner has no use for what its children are refused.
        Role::Reader | Role::Spawner => reader::READER_SHIMS,
        Role::Supervisor | Role::Agent => &[],
    }
}

/// Puts a role's filters in force: the shims first, since the list forbids installing anything more.
pub(super) fn restrict(role: Role, grants: &Grants) -> Result<(), SandboxError> {
    let forbidden = SeccompAction::KillProcess;
    #[cfg(feature = "belt-switches")]
    let forbidden = if grants.belts.trap {
        trap::install().map_err(|error| refused(role, &error))?;
        SeccompAction::Trap
    } else {
        forbidden
    };
    for program in programs(role, grants.way(), forbidden).map_err(|error| refused(role, &error))? {
        apply_filter(&program).map_err(|error| refused(role, &error))?;
    }
    Ok(())
}

/// The mode the kernel says is in force: 2 for a filter.
pub(super) fn mode() -> i32 {
    // SAFETY: takes integers only and changes nothing.
    unsafe { nix::libc::prctl(nix::libc::PR_GET_SECCOMP, 0, 0, 0, 0) }
}

/// A role's filters as programs for the kernel, in the order they go on.
fn programs(role: Role, way: Way, forbidden: SeccompAction) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    let mut programs = Vec::new();
    for shim in shims(role) {
        let rules = BTreeMap::from([(shim.call.number, rules(&shim.call)?)]);
        let answer = SeccompAction::Errno(shim.errno.unsigned_abs());
        programs.push(SeccompFilter::new(rules, SeccompAction::Allow, answer, ARCHITECTURE)?.try_into()?);
    }
    let mut allowed: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let mut any_arguments = Vec::new();
    let shimmed = shims(role).iter().map(|shim| &shim.call);
    for call in calls(role, way).into_iter().flatten().chain(shimmed) {
        allowed.entry(call.number).or_default().extend(rules(call)?);
        if call.cases.is_empty() {
            any_arguments.push(call.number);
        }
    }
    // A role puts its handler on under the spawner's list.
    #[cfg(feature = "belt-switches")]
    if forbidden == SeccompAction::Trap {
        allowed.entry(trap::HANDLE.number).or_default().extend(rules(&trap::HANDLE)?);
    }
    // No rule means any arguments, and outweighs what other groups say of the same call.
    for number in any_arguments {
        allowed.insert(number, Vec::new());
    }
    programs.push(SeccompFilter::new(allowed, forbidden, SeccompAction::Allow, ARCHITECTURE)?.try_into()?);
    Ok(programs)
}

fn rules(call: &Call) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let rule = |case: &&[Condition]| SeccompRule::new(case.iter().map(condition).collect::<Result<_, _>>()?);
    call.cases.iter().map(rule).collect()
}

fn condition(condition: &Condition) -> Result<SeccompCondition, seccompiler::BackendError> {
    let length = if condition.whole { SeccompCmpArgLen::Qword } else { SeccompCmpArgLen::Dword };
    let (operator, value) = match condition.test {
        Test::Is(value) => (SeccompCmpOp::Eq, value),
        Test::Bits(mask, value) => (SeccompCmpOp::MaskedEq(mask), value),
        Test::Over(value) => (SeccompCmpOp::Gt, value),
        Test::UpTo(value) => (SeccompCmpOp::Le, value),
        Test::Own => (SeccompCmpOp::Eq, std::process::id().into()),
    };
    SeccompCondition::new(condition.argument, length, operator, value)
}

fn refused(role: Role, error: &impl std::fmt::Display) -> SandboxError {
    SandboxError::Seccomp { role, reason: error.to_string() }
}
