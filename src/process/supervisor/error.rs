//! Why a run can't go on, and the exit code it ends with.

use std::io;

use crate::audit::AuditError;
use crate::sandbox::{Role, SandboxError};

/// The run can't go on.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    /// A belt is not in force.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A role could not lock itself down; its own sentence.
    #[error("{0}")]
    RoleRefused(String),
    /// The database can't be used; the reader's own sentence.
    #[error("{0}")]
    Database(String),
    /// A setting doesn't fit the database; the reader's own sentence.
    #[error("{0}")]
    Setting(String),
    /// The audit can't be written.
    #[error("{0}. Nothing runs without its record")]
    Audit(#[from] AuditError),
    /// The findings can't be written.
    #[error("{0}")]
    Output(String),
    /// A role did not start or did not live.
    #[error("the {role} {how}")]
    Role {
        /// Which.
        role: Role,
        /// What became of it.
        how: String,
    },
    /// The operator, or the host, stopped it while it waited for its roles.
    #[error("stopped before the answer came")]
    Stopped(i32),
    /// The kernel refused something a supervisor needs.
    #[error("the supervisor can't go on: {0}")]
    Io(#[from] io::Error),
}

impl SupervisorError {
    /// The exit code that a run ends with for it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Setting(_) => 2,
            Self::Database(_) => 5,
            Self::Sandbox(_) | Self::RoleRefused(_) | Self::Role { .. } | Self::Io(_) => 6,
            Self::Audit(_) | Self::Output(_) => 7,
            Self::Stopped(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        }
    }
}
