//! How a database can be read without creating or changing anything; the table is in `docs/replicas.md`.

use super::evidence::{Evidence, Sibling};
use super::header::JournalMode;
use super::identity::OpenedAs;

/// How to open it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Rollback mode, with locks.
    LockedRollback,
    /// WAL mode, with locks, through the `-wal` and `-shm` that are there.
    LockedWal,
    /// The file alone; nobody is writing.
    Immutable,
    /// The file alone; its `-wal` can't be seen.
    AsOfLastCheckpoint,
}

/// Why it can't be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPlan {
    /// The `-wal` has content and there is no `-shm` to read it with.
    NeedsRecovery,
    /// The `-wal` or `-shm` keeps us out.
    SiblingUnreadable(&'static str),
}

impl Plan {
    /// Decides from what was seen.
    pub(super) fn of(evidence: &Evidence) -> Result<Self, NoPlan> {
        if evidence.header.journal == JournalMode::Rollback {
            return Ok(Self::LockedRollback);
        }
        if !evidence.siblings_visible {
            return Ok(Self::AsOfLastCheckpoint);
        }
        match (&evidence.wal, &evidence.shm) {
            // Without a log there is nothing that the file itself doesn't hold. Opened with locks, SQLite would create
            // both files.
            (None, _) => Ok(Self::Immutable),
            (Some(Sibling { readable: false, .. }), _) => Err(NoPlan::SiblingUnreadable("-wal")),
            (Some(wal), None) if wal.size == 0 => Ok(Self::Immutable),
            (Some(_), None) => Err(NoPlan::NeedsRecovery),
            (Some(_), Some(Sibling { readable: false, .. })) => Err(NoPlan::SiblingUnreadable("-shm")),
            (Some(_), Some(_)) => Ok(Self::LockedWal),
        }
    }

    /// Whether SQLite takes locks.
    pub(super) fn is_locked(self) -> bool {
        matches!(self, Self::LockedRollback | Self::LockedWal)
    }

    /// What SQLite is told after the `?` of the URI.
    pub(super) fn uri_parameters(self) -> &'static str {
        if self.is_locked() {
            // SQLite would create a missing -shm, and write into one that is there.
            "readonly_shm=1"
        } else {
            "immutable=1"
        }
    }

    /// What is reported.
    pub(super) fn opened_as(self) -> OpenedAs {
        match self {
            Self::LockedRollback | Self::LockedWal => OpenedAs::Locked,
            Self::Immutable => OpenedAs::Immutable,
            Self::AsOfLastCheckpoint => OpenedAs::AsOfLastCheckpoint,
        }
    }
}
