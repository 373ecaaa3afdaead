//! Follows the chain through all files and names the first line where it breaks.

use std::io;
use std::path::{Path, PathBuf};

use super::digest::{Digest, Head};
use super::directory::{Directory, name_of};
use super::error::AuditError;
use super::line::{self, Fault, Frame};
use super::lines::Line;
use super::snapshot::{LogFile, Snapshot};

/// A whole chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many files.
    pub files: usize,
    /// How many records.
    pub records: u64,
    /// How many of them tell of a repaired crash.
    pub repairs: u64,
    /// The last record.
    pub head: Head,
}

/// Where a chain breaks, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: {reason}")]
pub struct Broken {
    /// The file's name.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
    /// Why.
    pub reason: Reason,
}

/// What happened to a line, as far as the chain can tell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The newline is missing.
    #[error("torn: the line has no end; a crash does that, and the next run repairs it")]
    Torn,
    /// Not JSON.
    #[error("bad JSON: {0}")]
    BadJson(String),
    /// JSON, but no record.
    #[error("not an audit record: {0}")]
    NotARecord(String),
    /// Changed since it was written.
    #[error("edited: its content doesn't match its own hash")]
    Edited,
    /// Records before this one are missing here.
    #[error("removed or reordered: record {found} stands where {expected} should")]
    Missing {
        /// The sequence number that should be here.
        expected: u64,
        /// The one that is.
        found: u64,
    },
    /// The record was here before, or belongs earlier.
    #[error("inserted, repeated or reordered: record {found} stands where {expected} should")]
    Repeated {
        /// The sequence number that should be here.
        expected: u64,
        /// The one that is.
        found: u64,
    },
    /// The number is right, the record before it is another one.
    #[error("chain break: record {seq} was not written after the line before it; one of the two was replaced")]
    ChainBreak {
        /// Its sequence number.
        seq: u64,
    },
    /// Whole files are missing.
    #[error("removed: {file} is missing, with the records before {found}")]
    FileMissing {
        /// The first missing file.
        file: String,
        /// The sequence number of the record found instead.
        found: u64,
    },
    /// The head kept elsewhere is nowhere in the chain.
    #[error("shortened or rewritten: the chain ends here, and {head} is nowhere in it")]
    HeadMissing {
        /// The head kept elsewhere.
        head: Digest,
    },
}

/// A chain is not whole, or can't be read.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// It breaks.
    #[error("the audit log is broken: {0}")]
    Broken(#[from] Broken),
    /// There is none.
    #[error("there is no audit log in {path}; name its directory with --out", path = .0.display())]
    Missing(PathBuf),
    /// It can't be read.
    #[error(transparent)]
    Unreadable(#[from] AuditError),
}

/// How far the chain was followed.
struct Walk {
    head: Head,
    records: u64,
    repairs: u64,
    looked_for: Option<Digest>,
}

/// Checks the whole chain of a directory; with a head kept elsewhere, also that the chain still holds it.
///
/// What other processes append meanwhile is left for the next time.
pub fn verify(directory: &Path, kept: Option<Digest>) -> Result<Verified, VerifyError> {
    if !directory.is_dir() {
        return Err(VerifyError::Missing(directory.to_owned()));
    }
    let files = Snapshot::take(directory)?.files;
    let Some(last) = files.last() else { return Err(VerifyError::Missing(directory.to_owned())) };
    let (count, last) = (files.len(), name_of(&last.path));
    let looked_for = kept.filter(|head| *head != Digest::NOTHING);
    let mut walk = Walk { head: Head::START, records: 0, repairs: 0, looked_for };
    let (mut due, mut line) = (1, 0);
    for piece in files {
        let absent = (piece.number != Some(due)).then(|| name_of(&Directory::existing(directory).rotated(due)));
        due = piece.number.map_or(due, |number| number + 1);
        line = walk.file(piece, absent.as_deref())?;
    }
    match walk.looked_for {
        Some(head) => Err(Broken { file: last, line, reason: Reason::HeadMissing { head } }.into()),
        None => Ok(Verified { files: count, records: walk.records, repairs: walk.repairs, head: walk.head }),
    }
}

impl Walk {
    /// Follows the chain through one file and returns its number of lines; `absent` is the file that should come before
    /// it, if that is not there.
    fn file(&mut self, piece: LogFile, absent: Option<&str>) -> Result<u64, VerifyError> {
        let path = piece.path.clone();
        let failed = |source: io::Error| AuditError::File { path: path.clone(), source };
        let Some(mut lines) = piece.lines()? else { return Ok(0) };
        let mut number = 0;
        while let Some(line) = lines.next().map_err(failed)? {
            number += 1;
            let reason = match (self.line(&line), absent) {
                (Ok(()), _) => continue,
                (Err(Reason::Missing { found, .. }), Some(file)) if number == 1 => {
                    Reason::FileMissing { file: file.to_owned(), found }
                }
                (Err(reason), _) => reason,
            };
            return Err(Broken { file: name_of(&path), line: number, reason }.into());
        }
        Ok(number)
    }

    fn line(&mut self, line: &Line) -> Result<(), Reason> {
        if line.is_too_long() {
            return Err(Reason::NotARecord("it is longer than any record".into()));
        }
        if !line.is_whole() {
            return Err(Reason::Torn);
        }
        let frame = line::read(line.content()).map_err(|fault| match fault {
            Fault::NotJson(why) => Reason::BadJson(why),
            Fault::NotARecord(why) => Reason::NotARecord(why),
            Fault::WrongHash => Reason::Edited,
        })?;
        self.follows(&frame)?;
        self.head = Head { seq: frame.seq, hash: frame.hash };
        self.records += 1;
        self.repairs += u64::from(frame.kind == "repair");
        if self.looked_for == Some(frame.hash) {
            self.looked_for = None;
        }
        Ok(())
    }

    fn follows(&self, frame: &Frame) -> Result<(), Reason> {
        let (expected, found) = (self.head.seq + 1, frame.seq);
        match found {
            _ if found > expected => Err(Reason::Missing { expected, found }),
            _ if found < expected => Err(Reason::Repeated { expected, found }),
            _ if frame.prev != self.head.hash => Err(Reason::ChainBreak { seq: found }),
            _ => Ok(()),
        }
    }
}
