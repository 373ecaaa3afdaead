//! Which kernel belts are on. In the shipped program that is no question: all of them, and nothing can say otherwise.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A belt that a role puts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Belt {
    /// `no_new_privs`, closed to its peers, no core file.
    Process,
    /// No capability, securebits.
    Capabilities,
    /// Resource limits.
    Limits,
    /// Files, ports, signals.
    Landlock,
    /// System calls.
    Seccomp,
}

/// All belts.
pub const BELTS: [Belt; 5] = [Belt::Process, Belt::Capabilities, Belt::Limits, Belt::Landlock, Belt::Seccomp];

/// The belts that are on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Belts {
    /// Switched off, so that each can be tried alone: in builds for tests only.
    #[cfg(feature = "belt-switches")]
    pub off: Vec<Belt>,
    /// Whether a forbidden call is told before it ends the process: in builds for tests only.
    #[cfg(feature = "belt-switches")]
    pub trap: bool,
}

impl Belts {
    /// Whether a belt is on.
    #[cfg(feature = "belt-switches")]
    pub fn has(&self, belt: Belt) -> bool {
        !self.off.contains(&belt)
    }

    /// Whether a belt is on: it is.
    #[cfg(not(feature = "belt-switches"))]
    pub fn has(&self, _: Belt) -> bool {
        true
    }
}

impl fmt::Display for Belt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Process => "process",
            Self::Capabilities => "capabilities",
            Self::Limits => "limits",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
        })
    }
}
