//! Trials: throw-away roles that lock themselves down like the real ones and then attempt what is forbidden.

mod bench;
#[cfg(feature = "belt-switches")]
mod hole;

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::process::channel::Channel;
use crate::process::descriptor::inherited_channel;
use crate::process::role::RoleArguments;
use crate::sandbox::probe::{Attempt, Probe, Targets, attempt};
use crate::sandbox::{Grants, Role, lock_down};

pub use bench::{Bench, Place};
#[cfg(feature = "belt-switches")]
pub use hole::{Ending, HoleArgument, HoleStep};

/// The audit log's name in the output directory.
const AUDIT: &str = "audit.jsonl";

/// What a role is to attempt once it is locked down.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) wanted: Wanted,
    /// The output directory: a target for all, the supervisor's own place.
    pub(crate) output: PathBuf,
}

/// An attempt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Wanted {
    /// What the table has under this name.
    Probe(String),
    /// Any calls at all: the deliberate hole of builds for tests.
    #[cfg(feature = "belt-switches")]
    Hole(Vec<HoleStep>),
    /// A sudden end.
    #[cfg(feature = "belt-switches")]
    End(Ending),
}

impl Order {
    /// Takes the steps; the kernel may end this process on the way.
    pub(crate) fn obey(&self, database: &Path) -> io::Result<Attempt> {
        let mut targets = Targets::new(database, &self.output.join(AUDIT))?;
        match &self.wanted {
            Wanted::Probe(name) => {
                let probe = Probe::named(name).ok_or_else(|| io::Error::other("there is no such probe"))?;
                Ok(attempt(probe.steps, &mut targets))
            }
            #[cfg(feature = "belt-switches")]
            Wanted::Hole(steps) => Ok(hole::attempt_all(steps, &mut targets)),
            #[cfg(feature = "belt-switches")]
            Wanted::End(ending) => ending.come(),
        }
    }
}

/// A throw-away supervisor: it locks itself down like the real one and attempts what it is told, and nothing else.
pub(crate) fn supervisor(arguments: &RoleArguments) -> io::Result<()> {
    let order = arguments.trial.as_ref().ok_or_else(|| io::Error::other("a supervisor is started by a person"))?;
    let mut channel = Channel::blocking(inherited_channel()?);
    let grants = Grants { output: Some(order.output.clone()), belts: arguments.belts.clone(), ..Grants::default() };
    lock_down(Role::Supervisor, &grants, arguments.strictness).map_err(io::Error::other)?;
    let attempt = order.obey(&arguments.database)?;
    channel.send(&attempt).map_err(io::Error::other)
}
