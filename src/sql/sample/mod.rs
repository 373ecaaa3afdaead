//! The sample database: two years of a small software company, the same bytes each time.
//!
//! Nothing here looks at a clock or at the machine: the history is drawn from one seeded sequence, written in one
//! transaction, in one order. `docs/sample.md` tells the tables, the traps and some true answers.

mod calendar;
mod file;
mod history;
mod plans;
mod random;
mod rows;
mod told;
mod words;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use file::Draft;

/// The sample could not be written. Where there was a file before, it is as it was.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// There is a file already.
    #[error("{} exists already and stays as it is: name another path, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// The path can't be a database file.
    #[error("{} is {what}, not a path for a database file: name a file", path.display())]
    NotAFile {
        /// The path as given.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// A journal of an older database would be played into the new one.
    #[error("{} is left of another database and would damage a new one beside it: move it away first", .0.display())]
    Leftover(PathBuf),
    /// The directory does not exist.
    #[error("the directory {} does not exist: create it first, or name a path in one that does", .0.display())]
    NoDirectory(PathBuf),
    /// The directory can't be written.
    #[error("{} can't be written: {source}. Check the directory's permissions and the space left", path.display())]
    Unwritable {
        /// The path as given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// SQLite could not write the draft.
    #[error("{} can't be written: {source}. Check the space left in its directory", path.display())]
    Sqlite {
        /// The path as given.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

/// Writes the sample database to `path`, whole or not at all; an existing file is replaced only by `force`.
pub fn write(path: &Path, force: bool) -> Result<(), SampleError> {
    file::check(path, force)?;
    let draft = Draft::beside(path)?;
    rows::write(draft.path(), &history::tell())
        .map_err(|source| SampleError::Sqlite { path: path.to_owned(), source })?;
    draft.publish(path, force)
}
