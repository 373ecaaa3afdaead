//! Which database an answer came from, and how it was read.

use std::path::Path;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::header::JournalMode;

/// How the file was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpenedAs {
    /// With locks: each reading sees the newest commit, also while a writer is at work.
    Locked,
    /// Without locks, since nobody is writing; a reading during which the file moves is thrown away.
    Immutable,
    /// Without locks and without its write-ahead log, which can't be seen: commits since the last checkpoint are
    /// missing, and every answer must say so.
    AsOfLastCheckpoint,
}

/// Which database an answer came from; goes into the audit record and the basis of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The path as it was given (lossy where it isn't UTF-8).
    pub path: String,
    /// The path with its links resolved.
    pub resolved: String,
    /// The device of the file.
    pub device: u64,
    /// The inode of the file.
    pub inode: u64,
    /// Bytes of the file.
    pub size: u64,
    /// When the file, or the write-ahead log read with it, was last written (RFC 3339, UTC).
    pub modified: String,
    /// The change counter of the header; commits that only lie in a write-ahead log don't move it.
    pub change_counter: u32,
    /// The journal mode of the header.
    pub journal: JournalMode,
    /// How it was opened.
    pub opened: OpenedAs,
    /// Whether the files that belong to it (`-wal`, `-shm`, `-journal`) would be seen if they existed; false when
    /// only the file itself is mounted.
    pub siblings_visible: bool,
}

impl Identity {
    pub(super) fn new(path: &Path, resolved: &Path, evidence: &Evidence, opened: OpenedAs) -> Self {
        let log = evidence.wal.as_ref().filter(|wal| opened == OpenedAs::Locked && wal.size > 0);
        let modified = log.map_or(evidence.stamp.modified, |wal| wal.modified.max(evidence.stamp.modified));
        Self {
            path: path.to_string_lossy().into_owned(),
            resolved: resolved.to_string_lossy().into_owned(),
            device: evidence.stamp.device,
            inode: evidence.stamp.inode,
            size: evidence.stamp.size,
            // A time outside the years 1–9999 is a broken clock; the epoch says so without failing the reading.
            modified: Timestamp::from_nanosecond(modified).unwrap_or(Timestamp::UNIX_EPOCH).to_string(),
            change_counter: evidence.header.change_counter,
            journal: evidence.header.journal,
            opened,
            siblings_visible: evidence.siblings_visible,
        }
    }
}
