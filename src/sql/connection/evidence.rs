//! What can be seen of a database before SQLite opens it.
//!
//! The file is opened once and kept open as long as the connection. Closing *any* descriptor of a file drops all
//! classic locks the process has on it, SQLite's too; so this one is closed only after SQLite's.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use nix::unistd::{AccessFlags, access, geteuid};

use super::error::OpenError;
use super::header::{HEADER_BYTES, Header, HeaderFault, MAGIC};

/// First byte and length of the range on which SQLite's readers hold their lock.
const SHARED_RANGE: (libc::off_t, libc::off_t) = (0x4000_0002, 510);

/// A database file, open.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    resolved: PathBuf,
    file: File,
    siblings_visible: bool,
}

/// One look at a database and the files beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Evidence {
    pub(super) stamp: Stamp,
    pub(super) header: Header,
    pub(super) wal: Option<Sibling>,
    pub(super) shm: Option<Sibling>,
    pub(super) siblings_visible: bool,
}

/// What moves when a file is replaced or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) size: u64,
    /// Nanoseconds since 1970, of the content and of the inode; the second can't be set back by hand.
    pub(super) modified: i128,
    changed: i128,
}

/// A file beside the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sibling {
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) modified: i128,
    pub(super) readable: bool,
}

impl DatabaseFile {
    /// Opens the file that a path leads to now, and nothing but a file.
    pub(super) fn open(path: &Path, alone: bool) -> Result<Self, OpenError> {
        let resolved = resolve(path)?;
        let metadata = std::fs::metadata(&resolved).map_err(|error| refused(path, error))?;
        check_kind(path, &metadata)?;
        let file = OpenOptions::new()
            .read(true)
            // Should a pipe or terminal take its place just now: don't wait for it, don't be governed by it.
            .custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_NOFOLLOW).bits())
            .open(&resolved)
            .map_err(|error| match error.kind() {
                ErrorKind::PermissionDenied => OpenError::Unreadable {
                    path: path.to_owned(),
                    owner: metadata.uid(),
                    mode: metadata.mode() & 0o7777,
                    user: geteuid().as_raw(),
                },
                _ => refused(path, error),
            })?;
        let metadata = file.metadata().map_err(|error| refused(path, error))?;
        check_kind(path, &metadata)?;
        let siblings_visible = !alone && !is_mounted_alone(&resolved, metadata.dev());
        Ok(Self { path: path.to_owned(), resolved, file, siblings_visible })
    }

    /// The path with its links resolved, as of the opening.
    pub(super) fn resolved(&self) -> &Path {
        &self.resolved
    }

    /// Whether the path still leads to this very file.
    pub(super) fn is_current(&self) -> Result<bool, OpenError> {
        let resolved = resolve(&self.path)?;
        let there = std::fs::metadata(&resolved).map_err(|error| refused(&self.path, error))?;
        let here = self.file.metadata().map_err(|error| refused(&self.path, error))?;
        Ok(resolved == self.resolved && (there.dev(), there.ino()) == (here.dev(), here.ino()))
    }

    /// Looks at the file and at what lies beside it.
    pub(super) fn look(&self) -> Result<Evidence, OpenError> {
        let metadata = self.file.metadata().map_err(|error| refused(&self.path, error))?;
        let stamp = Stamp::of(&metadata);
        let header = self.header(stamp.size)?;
        let wal = self.sibling("-wal")?;
        // Every reader writes into the index, so nothing but its being there means anything.
        let shm = self.sibling("-shm")?.map(|shm| Sibling { size: 0, modified: 0, ..shm });
        Ok(Evidence { stamp, header, wal, shm, siblings_visible: self.siblings_visible })
    }

    /// Takes the lock SQLite's readers take; fails as [`OpenError::Locked`] when a writer holds the file.
    ///
    /// It belongs to the open file, not to the process: closing other descriptors doesn't lift it, and SQLite's own
    /// locks neither see nor lift it. While it is held no writer can commit in rollback mode, change the journal mode,
    /// or take the `-wal` away.
    pub(super) fn lock(&self) -> Result<(), OpenError> {
        set_lock(&self.file, libc::F_RDLCK).map_err(|source| match source.kind() {
            ErrorKind::WouldBlock | ErrorKind::PermissionDenied => OpenError::Locked(self.path.clone()),
            _ => OpenError::Io { path: self.path.clone(), source },
        })
    }

    /// Lifts it.
    pub(super) fn unlock(&self) {
        // Unlocking a range that is locked can't fail; if it did, closing the file would still lift it.
        let _ = set_lock(&self.file, libc::F_UNLCK);
    }

    fn header(&self, size: u64) -> Result<Header, OpenError> {
        if size == 0 {
            return Err(OpenError::Empty(self.path.clone()));
        }
        let mut bytes = [0; HEADER_BYTES];
        if let Err(error) = self.file.read_exact_at(&mut bytes, 0) {
            return Err(match error.kind() {
                ErrorKind::UnexpectedEof if bytes.starts_with(MAGIC) => {
                    OpenError::Corrupt { path: self.path.clone(), detail: "the file ends in its header".into() }
                }
                ErrorKind::UnexpectedEof => OpenError::NotADatabase(self.path.clone()),
                _ => OpenError::Io { path: self.path.clone(), source: error },
            });
        }
        Header::parse(&bytes).map_err(|fault| match fault {
            HeaderFault::NotADatabase => OpenError::NotADatabase(self.path.clone()),
            HeaderFault::TooNew => OpenError::TooNew(self.path.clone()),
        })
    }

    fn sibling(&self, suffix: &str) -> Result<Option<Sibling>, OpenError> {
        let mut name = self.resolved.clone().into_os_string();
        name.push(suffix);
        let path = PathBuf::from(name);
        match std::fs::metadata(&path) {
            Ok(metadata) => Ok(Some(Sibling {
                inode: metadata.ino(),
                size: metadata.len(),
                modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
                // Asked, not tried: opening and closing a `-shm` would drop SQLite's own locks on it.
                readable: access(&path, AccessFlags::R_OK).is_ok(),
            })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(refused(&path, error)),
        }
    }
}

impl Evidence {
    /// The inode of the write-ahead log, by which a new one is told from the old.
    pub(super) fn log_inode(&self) -> Option<u64> {
        self.wal.as_ref().map(|wal| wal.inode)
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// How long ago the file was touched last, by this machine's clock; a time in the future counts as now.
    pub(super) fn age(&self) -> Duration {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().cast_signed();
        let age = (now - self.modified.max(self.changed)).max(0);
        Duration::from_nanos(u64::try_from(age).unwrap_or(u64::MAX))
    }
}

fn set_lock(file: &File, kind: libc::c_int) -> io::Result<()> {
    let range = libc::flock {
        l_type: libc::c_short::try_from(kind).map_err(io::Error::other)?,
        l_whence: libc::c_short::try_from(libc::SEEK_SET).map_err(io::Error::other)?,
        l_start: SHARED_RANGE.0,
        l_len: SHARED_RANGE.1,
        l_pid: 0,
    };
    fcntl(file, FcntlArg::F_OFD_SETLK(&range))?;
    Ok(())
}

fn resolve(path: &Path) -> Result<PathBuf, OpenError> {
    std::fs::canonicalize(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound if path.is_symlink() => OpenError::DanglingLink(path.to_owned()),
        _ => refused(path, error),
    })
}

fn refused(path: &Path, error: io::Error) -> OpenError {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => OpenError::Missing(path.to_owned()),
        ErrorKind::PermissionDenied => OpenError::Unreachable { path: path.to_owned(), user: geteuid().as_raw() },
        _ => OpenError::Io { path: path.to_owned(), source: error },
    }
}

fn check_kind(path: &Path, metadata: &Metadata) -> Result<(), OpenError> {
    let kind = metadata.file_type();
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => return Err(OpenError::Directory(path.to_owned())),
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(OpenError::NotAFile { path: path.to_owned(), what })
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

/// Whether the file itself is a mount, so that what lies beside it isn't what its writer sees.
///
/// The mount table is out of reach once the reader is locked down; the device number then still tells a file brought
/// into a container.
fn is_mounted_alone(resolved: &Path, device: u64) -> bool {
    let parent = resolved.parent().and_then(|parent| std::fs::metadata(parent).ok());
    parent.is_some_and(|parent| parent.dev() != device)
        || std::fs::read("/proc/self/mountinfo").is_ok_and(|mounts| is_mount_point(&mounts, resolved))
}

/// Whether the kernel's mount table has this path as a mount point (its fifth field, blanks written as octal).
fn is_mount_point(mounts: &[u8], path: &Path) -> bool {
    let mut escaped = Vec::new();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b' ' | b'\t' | b'\n' | b'\\' => escaped.extend(format!("\\{byte:03o}").bytes()),
            _ => escaped.push(byte),
        }
    }
    mounts.split(|&byte| byte == b'\n').any(|line| line.split(|&byte| byte == b' ').nth(4) == Some(escaped.as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_a_mount_is_found_in_the_mount_table() {
        let table = b"24 1 8:1 / / rw - ext4 /dev/a rw\n31 24 8:1 /x /data/my\\040replica.db ro - ext4 /dev/a rw\n";
        assert!(is_mount_point(table, Path::new("/data/my replica.db")));
        assert!(is_mount_point(table, Path::new("/")));
        assert!(!is_mount_point(table, Path::new("/data")));
    }
}
