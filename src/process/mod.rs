//! Processes: supervisor, spawner, reader, agent, and the frames between them.
//!
//! One program, started again by itself in each role: fresh memory layout, no shared heap, no key where none is needed.
//! Each role locks itself down before it reads a byte of its input, and says what is in force.

mod agent;
mod channel;
mod checkup;
mod descriptor;
mod frame;
mod message;
mod reader;
mod role;
mod spawner;
mod supervisor;
mod trial;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

pub use checkup::try_database;
pub use message::AgentSetup;
pub(crate) use supervisor::{ENDING, signal_that_came};
pub use supervisor::{Happening, Setup, Supervisor, SupervisorError};
pub use trial::{Bench, Place, Wanted};
#[cfg(feature = "belt-switches")]
pub use trial::{Ending, HoleArgument, HoleStep};

use crate::process::role::RoleArguments;
use crate::sandbox::Role;

/// Runs the role this process was started in; none when a person started it.
pub fn run_role(arguments: &[OsString]) -> Option<ExitCode> {
    let (role, told) = role::started_as(arguments)?;
    let result = told
        .to_str()
        .ok_or_else(|| io::Error::other("its arguments are not text"))
        .and_then(|told| Ok(serde_json::from_str::<RoleArguments>(told)?))
        .and_then(|told| match role {
            Role::Spawner => spawner::run(told),
            Role::Reader => reader::run(&told).map_err(io::Error::other),
            Role::Agent => agent::run(&told),
            Role::Supervisor => trial::supervisor(&told),
        });
    Some(match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The supervisor reads this and shows it with the role's death.
            let _ = writeln!(io::stderr(), "{role}: {error}");
            ExitCode::FAILURE
        }
    })
}
