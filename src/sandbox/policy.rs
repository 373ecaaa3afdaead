//! Who may do what: the whole policy, as data.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use nix::sys::resource::Resource;
use serde::{Deserialize, Serialize};

use crate::sandbox::Belts;
use crate::sandbox::seccomp::Way;

/// What a process is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Holds the disk: audit, output, resources.
    Supervisor,
    /// Holds the right to execute one inode, its own.
    Spawner,
    /// Holds the data.
    Reader,
    /// Holds the network, if there is one to hold.
    Agent,
}

/// A place in the file system that a policy names; [`Grants`] says where it is on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// This program's own file.
    Program,
    /// The directories of the database and, when it is a link, of what it points to.
    DatabaseDirectory,
    /// The one output directory.
    OutputDirectory,
}

/// What may be done in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Open files for reading. Not list directories, not write, not create.
    ReadFiles,
    /// Execute, and read in order to execute.
    Execute,
    /// Read, write, create and remove ordinary files, list and make directories. Not execute, link, or make devices.
    KeepFiles,
}

/// What may be connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Nothing.
    Nothing,
    /// The model's TCP port, if the model has one.
    ModelPort,
}

/// A role's policy.
#[derive(Debug)]
pub struct Policy {
    /// Whose.
    pub role: Role,
    /// Landlock: what may be opened.
    pub files: &'static [(Place, Access)],
    /// Landlock: what may be connected to.
    pub network: Network,
    /// Landlock: whether signals and abstract sockets stay inside. The supervisor's own scope is set at its start,
    /// before it has children; a second one would take its children out of its reach.
    pub scoped: bool,
    /// Resource limits, each with its reason.
    pub limits: &'static [(Resource, u64, &'static str)],
}

/// Where the places of the policy are on this machine. Nothing that is not granted here can be reached.
#[derive(Debug, Default)]
pub struct Grants {
    /// This program's file.
    pub program: Option<OwnedFd>,
    /// The database's directories.
    pub database: Vec<PathBuf>,
    /// The output directory.
    pub output: Option<PathBuf>,
    /// The model's TCP port.
    pub port: Option<u16>,
    /// The belts that are on.
    pub belts: Belts,
}

impl Grants {
    /// How the model is reached, as far as a filter cares.
    pub(super) fn way(&self) -> Way {
        if self.port.is_some() { Way::Tcp } else { Way::Nothing }
    }
}

/// Core files hold the data and the key; no role writes one.
pub(super) const CORE: Resource = Resource::RLIMIT_CORE;

const NO_FILES: (Resource, u64, &str) = (Resource::RLIMIT_FSIZE, 0, "it writes to sockets only");
const NO_LOCKED: (Resource, u64, &str) = (Resource::RLIMIT_MEMLOCK, 0, "it has no reason to lock memory");
const NO_QUEUES: (Resource, u64, &str) = (Resource::RLIMIT_MSGQUEUE, 0, "it has no reason to use message queues");
const NO_CHILDREN: (Resource, u64, &str) =
    (Resource::RLIMIT_NPROC, 0, "it starts nothing; binds every user but root, for whom the other belts do");

/// What every role has in common, set before anything else and never changed: the attribute, its state, why.
pub const ATTRIBUTES: &[(&str, &str, &str)] = &[
    ("no_new_privs", "on", "nothing it executes can gain anything"),
    ("dumpable", "off", "closed to its peers: no ptrace, no /proc/PID/mem; and no core file"),
    ("effective, permitted, inheritable and ambient capabilities", "empty", "it needs none; read back"),
    (
        "bounding set",
        "empty where the kernel lets us",
        "nothing to gain; without CAP_SETPCAP no_new_privs does the same",
    ),
    ("securebits", "locked where the kernel lets us", "user 0 is nobody special and can't become so again"),
    ("core", "0", "a core file would hold the data and the key"),
    ("parent-death signal", "SIGKILL, but for the supervisor", "no role outlives the audit"),
    ("environment", "empty, but for the supervisor", "nothing of the operator's is in a role's memory"),
];

/// Bytes of address space: SQLite's own heap limit is 256 MiB; this is the backstop behind it.
const READER_MEMORY: u64 = 1 << 30;
/// Bytes of address space: a conversation, a request and a reply, with room.
const AGENT_MEMORY: u64 = 1 << 30;

/// The policy of every role.
pub const POLICIES: [Policy; 4] = [
    Policy {
        role: Role::Supervisor,
        files: &[(Place::OutputDirectory, Access::KeepFiles)],
        network: Network::Nothing,
        scoped: false,
        limits: &[NO_LOCKED, NO_QUEUES],
    },
    Policy {
        role: Role::Spawner,
        // The union of what its children will need: Landlock layers intersect, so a child can't be given more later.
        files: &[(Place::Program, Access::Execute), (Place::DatabaseDirectory, Access::ReadFiles)],
        network: Network::ModelPort,
        scoped: true,
        limits: &[NO_FILES, NO_LOCKED, NO_QUEUES],
    },
    Policy {
        role: Role::Reader,
        files: &[(Place::DatabaseDirectory, Access::ReadFiles)],
        network: Network::Nothing,
        scoped: true,
        limits: &[
            NO_FILES,
            NO_CHILDREN,
            NO_LOCKED,
            NO_QUEUES,
            (Resource::RLIMIT_NOFILE, 16, "standard streams, one channel, the database and its siblings"),
            (Resource::RLIMIT_AS, READER_MEMORY, "the backstop behind SQLite's heap limit"),
        ],
    },
    Policy {
        role: Role::Agent,
        files: &[],
        network: Network::ModelPort,
        scoped: true,
        limits: &[
            NO_FILES,
            NO_CHILDREN,
            NO_LOCKED,
            NO_QUEUES,
            (Resource::RLIMIT_NOFILE, 64, "standard streams, one channel, the runtime's own, connections to the model"),
            (Resource::RLIMIT_AS, AGENT_MEMORY, "a reply can't take the host's memory"),
        ],
    },
];

impl Policy {
    /// The policy of a role.
    pub fn of(role: Role) -> &'static Self {
        match role {
            Role::Supervisor => &POLICIES[0],
            Role::Spawner => &POLICIES[1],
            Role::Reader => &POLICIES[2],
            Role::Agent => &POLICIES[3],
        }
    }

    /// The lowest Landlock ABI that carries this role's weight, given what it is granted: files need 1, a TCP port 4.
    pub fn landlock_abi_needed(&self, grants: &Grants) -> u8 {
        if self.network == Network::ModelPort && grants.port.is_some() { 4 } else { 1 }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Supervisor => "supervisor",
            Self::Spawner => "spawner",
            Self::Reader => "reader",
            Self::Agent => "agent",
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Program => "its own program",
            Self::DatabaseDirectory => "the database's directory",
            Self::OutputDirectory => "the output directory",
        })
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadFiles => "open files for reading",
            Self::Execute => "execute",
            Self::KeepFiles => "read, write, make and remove files",
        })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "none",
            Self::ModelPort => "the model's TCP port, if it has one",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_its_own_line_in_the_table() {
        for role in [Role::Supervisor, Role::Spawner, Role::Reader, Role::Agent] {
            assert_eq!(Policy::of(role).role, role);
        }
    }

    #[test]
    fn only_an_agent_or_its_spawner_with_a_port_needs_the_network_rules() {
        let port = Grants { port: Some(443), ..Grants::default() };
        assert_eq!(Policy::of(Role::Reader).landlock_abi_needed(&port), 1);
        assert_eq!(Policy::of(Role::Agent).landlock_abi_needed(&port), 4);
        assert_eq!(Policy::of(Role::Agent).landlock_abi_needed(&Grants::default()), 1);
    }
}
