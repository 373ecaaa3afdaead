//! Why a database can't be read, and what to do next.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ffi;

use super::header::JournalMode;
use super::hiding::NoSuchName;

/// Why a database can't be read; the sentence is for the person.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Nothing is there.
    #[error("there is no file {0}: check the path, or that the replica is mounted")]
    Missing(PathBuf),
    /// A symbolic link that leads nowhere.
    #[error("{0} is a link to a file that does not exist: check that the replica was published")]
    DanglingLink(PathBuf),
    /// A directory.
    #[error("{0} is a directory: name the database file in it")]
    Directory(PathBuf),
    /// A pipe, a socket or a device.
    #[error("{path} is {what}, not a file: name a database file")]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Its permissions keep us out.
    #[error(
        "{path} can't be read by user {user}: it belongs to user {owner} and has mode {mode:04o}. \
         Run as its owner, or let this user read it"
    )]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
        /// Its permission bits.
        mode: u32,
        /// Who we are.
        user: u32,
    },
    /// A directory on the way keeps us out.
    #[error("{path} can't be reached by user {user}: let this user search the directories above it")]
    Unreachable {
        /// The path.
        path: PathBuf,
        /// Who we are.
        user: u32,
    },
    /// A file of no bytes.
    #[error("{0} is empty: it holds no database yet. Check that the replica was copied")]
    Empty(PathBuf),
    /// Something else, or encrypted.
    #[error("{0} is not a SQLite database, or it is encrypted: name a plain SQLite 3 file")]
    NotADatabase(PathBuf),
    /// Written by a later SQLite.
    #[error("{0} has a file format newer than this program knows: use a newer pi-sql")]
    TooNew(PathBuf),
    /// Damaged.
    #[error("{path} is damaged ({detail}): copy the replica again, or check it with “PRAGMA integrity_check”")]
    Corrupt {
        /// The path.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// Somebody holds the write lock.
    #[error("{0} is locked by a program that is writing it: ask again in a moment")]
    Locked(PathBuf),
    /// A crashed writer left its rollback journal.
    #[error(
        "{0} was left in the middle of a write, its rollback journal lies beside it: open it once with the program \
         that writes it, or copy the replica again"
    )]
    HotJournal(PathBuf),
    /// A write-ahead log that only a writer can recover.
    #[error(
        "{0} has commits in its write-ahead log (-wal) that can't be read without its index (-shm): open it once with \
         the program that writes it, or publish the replica after “PRAGMA wal_checkpoint(TRUNCATE)”"
    )]
    NeedsRecovery(PathBuf),
    /// A sibling file keeps us out.
    #[error("{path}, which belongs to the database, can't be read by user {user}: let this user read it")]
    SiblingUnreadable {
        /// The sibling.
        path: PathBuf,
        /// Who we are.
        user: u32,
    },
    /// It keeps being written while nothing locks it.
    #[error("{0} changed while it was being read, so the result was thrown away: ask again in a moment")]
    Changed(PathBuf),
    /// It took too long.
    #[error("{0} took too long to open: check the disk it lies on, or the size of its schema")]
    Slow(PathBuf),
    /// Something that is to be hidden isn't there.
    #[error(transparent)]
    NothingToHide(NoSuchName),
    /// Part of belt 1 is not in force.
    #[error("the connection refused to be made read-only ({0}): this build of SQLite can't be used")]
    NotHardened(String),
    /// A statement changed the connection itself.
    #[error("a statement tried to change the connection ({0}), which was closed: nothing was written")]
    Tampered(&'static str),
    /// Anything else SQLite says.
    #[error("{path} can't be read: {source}")]
    Sqlite {
        /// The path.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// Anything else the system says.
    #[error("{path} can't be read: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl OpenError {
    /// What an error of SQLite means while opening, or at the start of a reading.
    pub(super) fn of_sqlite(path: &Path, journal: JournalMode, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let Some(code) = error.sqlite_error().map(|error| error.extended_code) else {
            return Self::Sqlite { path, source: error };
        };
        match (code & 0xff, code, journal) {
            (ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED, ..) => Self::Locked(path),
            (ffi::SQLITE_NOTADB, ..) => Self::NotADatabase(path),
            (ffi::SQLITE_CORRUPT, ..) => Self::Corrupt { path, detail: error.to_string() },
            (ffi::SQLITE_INTERRUPT, ..) => Self::Slow(path),
            (_, ffi::SQLITE_READONLY_ROLLBACK, _) => Self::HotJournal(path),
            (ffi::SQLITE_READONLY | ffi::SQLITE_CANTOPEN, _, JournalMode::Wal) => Self::NeedsRecovery(path),
            _ => Self::Sqlite { path, source: error },
        }
    }

    /// Whether asking again soon may help without anybody doing anything.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Locked(_) | Self::Changed(_))
    }
}
