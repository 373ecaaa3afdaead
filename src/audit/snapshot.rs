//! The files of a log as a reader finds them at one moment.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::directory::{Directory, open_to_read};
use super::error::AuditError;
use super::lines::Lines;
use super::lock::Lock;

/// The files of a log, in the order of the chain.
pub(super) struct Snapshot {
    pub(super) files: Vec<LogFile>,
}

/// One file of a log.
pub(super) struct LogFile {
    pub(super) path: PathBuf,
    /// Its number; none for the file that is written.
    pub(super) number: Option<u32>,
    /// The file that is written stays open, since it may be renamed meanwhile; with its length at that moment.
    live: Option<(File, u64)>,
}

impl Snapshot {
    /// Lists the files, with no writer in the middle of a line or a rotation.
    pub(super) fn take(path: &Path) -> Result<Self, AuditError> {
        let directory = Directory::existing(path);
        let mut lock = Lock::existing(&directory);
        let _held = lock.as_mut().map(Lock::shared).transpose()?;
        let rotated = directory.all_rotated()?;
        let mut files: Vec<LogFile> =
            rotated.into_iter().map(|(number, path)| LogFile { path, number: Some(number), live: None }).collect();
        let path = directory.live();
        if let Some(file) = open_to_read(&path)? {
            let length = file.metadata().map_err(|source| AuditError::File { path: path.clone(), source })?.len();
            files.push(LogFile { path, number: None, live: Some((file, length)) });
        }
        Ok(Self { files })
    }
}

impl LogFile {
    /// The file, open, and how much of it belongs to this moment; none when it was removed since.
    pub(super) fn open(self) -> Result<Option<(File, u64)>, AuditError> {
        match self.live {
            Some(live) => Ok(Some(live)),
            None => Ok(open_to_read(&self.path)?.map(|file| (file, u64::MAX))),
        }
    }

    pub(super) fn lines(self) -> Result<Option<Lines>, AuditError> {
        let path = self.path.clone();
        let opened = self.open()?;
        let lines = opened.map(|(file, length)| Lines::new(file, length)).transpose();
        lines.map_err(|source| AuditError::File { path, source })
    }
}
