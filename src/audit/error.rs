//! Why the audit can't go on; each sentence says what to do next.

use std::io;
use std::path::PathBuf;

/// The audit can't be opened, written or read. No query may run after it.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The directory can't be made or reached.
    #[error("the output directory {path} can't be used: {source}. Name a writable one with --out", path = .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file can't be opened, read or renamed.
    #[error("the audit file {path} can't be used: {source}. Correct that, or name another directory with --out", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something else has the log's name.
    #[error("{path} is not an audit log; move it away, or name another directory with --out", path = .path.display())]
    NotALog {
        /// The file.
        path: PathBuf,
    },
    /// The records didn't reach the log; what was written of them was cut off again where that was possible.
    #[error("the audit log {path} can't be written, and nothing runs without it: {source}. Make room there, or name another directory with --out", path = .path.display())]
    Write {
        /// The log.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The disk didn't confirm the records.
    #[error("the audit log {path} can't be synced to disk, and nothing runs without it: {source}. Check the disk, or name another directory with --out", path = .path.display())]
    Sync {
        /// The log.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An earlier sync failed: a later one may succeed without having written what the first one lost.
    #[error("the audit log failed to sync earlier in this run; check the disk and start again")]
    Unsynced,
    /// Another process keeps the lock.
    #[error("another process has kept the audit lock {path} for {seconds} s; end it if it hangs, then start again", path = .path.display())]
    Busy {
        /// The lock.
        path: PathBuf,
        /// How long this one waited.
        seconds: u64,
    },
    /// The log lost records that were in it.
    #[error(
        "records have gone from the audit log {path} while it was in use; put the file back, or move all audit files \
         away to begin a new log",
        path = .path.display()
    )]
    Shortened {
        /// The log.
        path: PathBuf,
    },
    /// The last line was changed by somebody: no crash leaves a whole line with a wrong hash.
    #[error(
        "the last line of {path} was edited ({reason}); `pi-sql audit verify` shows where the chain breaks. Put the \
         file back, or move all audit files away to begin a new log",
        path = .path.display()
    )]
    Edited {
        /// The file.
        path: PathBuf,
        /// What is wrong with the line.
        reason: String,
    },
    /// A record is larger than any reader would accept.
    #[error("an audit record would be {bytes} bytes long and {limit} are allowed: ask for less text at once")]
    TooLong {
        /// Its size.
        bytes: usize,
        /// The most.
        limit: usize,
    },
    /// A record can't be written as JSON.
    #[error("an audit record can't be written as JSON: {0}")]
    Encode(#[from] serde_json::Error),
}
