//! What can be wrong with the files.

use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::files::{MAX_ENTRIES, MAX_FILE_BYTES, MAX_TOTAL_BYTES};

/// A file can't be used; each sentence names it.
#[derive(Debug, thiserror::Error)]
pub enum ResourceError {
    /// The directory is not one.
    #[error("{} is not a directory: name one that holds SYSTEM.md, settings.json and the like", .0.display())]
    NoDirectory(PathBuf),
    /// It can't be read.
    #[error("{} can't be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is a directory, device, pipe or socket.
    #[error("{} is not a file: put a text file there, or take it away", .0.display())]
    NotAFile(PathBuf),
    /// It is too large to be told.
    #[error("{} is larger than {MAX_FILE_BYTES} bytes: shorten it", .0.display())]
    TooLarge(PathBuf),
    /// All files together are too large.
    #[error("{} is one too many: the files together are larger than {MAX_TOTAL_BYTES} bytes", .0.display())]
    TooMuch(PathBuf),
    /// Too many files in one directory.
    #[error("{} holds more than {MAX_ENTRIES} entries: take some away", .0.display())]
    TooMany(PathBuf),
    /// It is not text.
    #[error("{} is not UTF-8 text (byte {offset}): save it as UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// Where the first odd byte is.
        offset: usize,
    },
    /// The settings are not what they should be.
    #[error("{}, line {line}{}: {message}", path.display(), if key.is_empty() { String::new() } else { format!(", key {key}") })]
    Settings {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The last key read, its parents before it; empty at the top.
        key: String,
        /// What is wrong.
        message: String,
    },
}

/// Something odd that doesn't keep a file from being used, or makes it be left out. Never printed here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The file, below the `.pi` directory.
    pub file: String,
    /// What is odd, and what was done.
    pub message: String,
}

impl Warning {
    pub(super) fn new(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), message: message.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.message)
    }
}
