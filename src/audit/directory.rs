//! The files of a log and their names.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::libc::O_NOFOLLOW;

use super::error::AuditError;

/// The file that is written.
const LIVE: &str = "audit.jsonl";
/// The file whose lock orders the writers; a file of its own, since the log itself is renamed when it is full.
const LOCK: &str = "audit.lock";
/// What the names of kept broken ends begin with.
const TORN: &str = "audit.torn-";
/// Only the owner reads the log: it holds questions and SQL.
const FILE_MODE: u32 = 0o600;
/// Only the owner enters a directory that we made.
const DIRECTORY_MODE: u32 = 0o700;

/// The directory of a log.
#[derive(Clone, Debug)]
pub(super) struct Directory(PathBuf);

/// Which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

impl Directory {
    /// Opens the directory, or makes it.
    pub(super) fn create(path: &Path) -> Result<Self, AuditError> {
        let failed = |source| AuditError::Directory { path: path.to_owned(), source };
        if !path.is_dir() {
            DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path).map_err(failed)?;
            let parent = fs::canonicalize(path).map_err(failed)?;
            if let Some(parent) = parent.parent() {
                // Best effort: the parent may be closed to us, and then it wasn't us who made the entry durable before.
                drop(File::open(parent).and_then(|parent| parent.sync_all()));
            }
        }
        Ok(Self(fs::canonicalize(path).map_err(failed)?))
    }

    /// The directory as it is, for readers.
    pub(super) fn existing(path: &Path) -> Self {
        Self(path.to_owned())
    }

    pub(super) fn live(&self) -> PathBuf {
        self.0.join(LIVE)
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.0.join(LOCK)
    }

    pub(super) fn rotated(&self, number: u32) -> PathBuf {
        self.0.join(format!("audit.{number:06}.jsonl"))
    }

    /// Where the broken end goes that stood at the place of record `seq`; the digest keeps two such ends apart.
    pub(super) fn torn(&self, seq: u64, digest: &str) -> PathBuf {
        let digits = digest.rsplit(':').next().unwrap_or_default();
        self.0.join(format!("{TORN}{seq}-{}", digits.get(..16).unwrap_or(digits)))
    }

    /// Broken ends that were kept at the place of record `seq`.
    pub(super) fn torn_at(&self, seq: u64) -> Result<Vec<PathBuf>, AuditError> {
        let start = format!("{TORN}{seq}-");
        self.entries(|name| name.starts_with(&start).then_some(()))
            .map(|found| found.into_iter().map(|((), path)| path).collect())
    }

    /// The full files with their numbers, in order.
    pub(super) fn all_rotated(&self) -> Result<Vec<(u32, PathBuf)>, AuditError> {
        self.entries(number_of)
    }

    fn entries<K: Ord>(&self, key: impl Fn(&str) -> Option<K>) -> Result<Vec<(K, PathBuf)>, AuditError> {
        let failed = |source| AuditError::Directory { path: self.0.clone(), source };
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.0).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if let Some(key) = entry.file_name().to_str().and_then(&key) {
                found.push((key, entry.path()));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Makes new and changed names durable.
    pub(super) fn sync(&self) -> Result<(), AuditError> {
        let synced = File::open(&self.0).and_then(|directory| directory.sync_all());
        synced.map_err(|source| AuditError::Sync { path: self.0.clone(), source })
    }
}

/// The number in the name of a full file.
pub(super) fn number_of(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("audit.")?.strip_suffix(".jsonl")?;
    if digits.len() < 6 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// A file's name without its directory, for records and messages.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Opens for reading; a missing file is none.
pub(super) fn open_to_read(path: &Path) -> Result<Option<File>, AuditError> {
    regular(OpenOptions::new().read(true), path)
}

/// Opens for reading and appending; a missing file is none.
pub(super) fn open_to_append(path: &Path) -> Result<Option<File>, AuditError> {
    regular(OpenOptions::new().read(true).append(true), path)
}

/// Makes an empty file to append to, or opens the one that is there.
pub(super) fn create_to_append(path: &Path) -> Result<File, AuditError> {
    let missing = || AuditError::File { path: path.to_owned(), source: ErrorKind::NotFound.into() };
    regular(OpenOptions::new().read(true).append(true).create(true), path)?.ok_or_else(missing)
}

/// Opens a regular file and nothing else: no link to another file, no pipe that would block, no device.
fn regular(options: &mut OpenOptions, path: &Path) -> Result<Option<File>, AuditError> {
    let failed = |source| AuditError::File { path: path.to_owned(), source };
    // A pipe opened for reading would wait for a writer; a look at the type comes first, the flag closes the race.
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(AuditError::NotALog { path: path.to_owned() }),
        _ => {}
    }
    match options.mode(FILE_MODE).custom_flags(O_NOFOLLOW | nix::libc::O_NONBLOCK).open(path) {
        Ok(file) if file.metadata().map_err(failed)?.is_file() => Ok(Some(file)),
        Ok(_) => Err(AuditError::NotALog { path: path.to_owned() }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Which file has the name now; none when there is no such file.
pub(super) fn at(path: &Path) -> Result<Option<(Identity, u64)>, AuditError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some((Identity::of(&metadata), metadata.len()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(AuditError::File { path: path.to_owned(), source }),
    }
}
