//! Which role this process was started in, and what it was told about itself.

use std::ffi::{CString, OsString};
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::process::trial::Order;
use crate::sandbox::{Belts, Role, Strictness};

/// The first argument of a started role, before its name: `pi-sql:reader`.
const PREFIX: &str = "pi-sql:";

/// What a role must know before it can lock itself down: it comes from its parent, in its arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RoleArguments {
    /// How strict to be about the kernel.
    pub(crate) strictness: Strictness,
    /// The database, as the operator named it.
    pub(crate) database: PathBuf,
    /// The directories it may lie in.
    pub(crate) database_directories: Vec<PathBuf>,
    /// The model's TCP port.
    pub(crate) port: Option<u16>,
    /// The belts to put on.
    pub(crate) belts: Belts,
    /// What to attempt and then end, in a trial.
    pub(crate) trial: Option<Order>,
}

/// The role a process was started in; none for a person's own call.
pub(crate) fn started_as(arguments: &[OsString]) -> Option<(Role, &OsString)> {
    let role = match arguments.first()?.to_str()?.strip_prefix(PREFIX)? {
        "spawner" => Role::Spawner,
        "reader" => Role::Reader,
        "agent" => Role::Agent,
        "supervisor" => Role::Supervisor,
        _ => return None,
    };
    Some((role, arguments.get(1)?))
}

/// The arguments to start a role with.
pub(crate) fn to_start(role: Role, arguments: &RoleArguments) -> io::Result<[CString; 2]> {
    let told = serde_json::to_string(arguments)?;
    Ok([CString::new(format!("{PREFIX}{role}"))?, CString::new(told)?])
}
