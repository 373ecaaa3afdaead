//! A file that appears whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};

use super::SampleError;

/// How many names to try for a draft; more than a handful of dead drafts of one process number never lie around.
const DRAFT_NAMES: u32 = 64;

/// Refuses a path that can't take a new database, before any work is done.
pub(super) fn check(path: &Path, force: bool) -> Result<(), SampleError> {
    let refuse = |what| Err(SampleError::NotAFile { path: path.to_owned(), what });
    if path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return refuse("a directory");
    }
    let directory = directory_of(path);
    if !directory.is_dir() {
        return Err(SampleError::NoDirectory(directory.to_owned()));
    }
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => return refuse("a directory"),
        Ok(_) if !force => return Err(SampleError::Exists(path.to_owned())),
        Ok(found) if found.is_symlink() => return refuse("a symbolic link"),
        Ok(found) if !found.is_file() => return refuse("a device, pipe or socket"),
        _ => {}
    }
    for ending in ["-journal", "-wal"] {
        let mut sibling = path.as_os_str().to_owned();
        sibling.push(ending);
        if fs::symlink_metadata(&sibling).is_ok() {
            return Err(SampleError::Leftover(sibling.into()));
        }
    }
    Ok(())
}

/// A file under a temporary name in the target's directory; gone when dropped, unless published.
pub(super) struct Draft {
    path: PathBuf,
}

impl Draft {
    /// A new, empty draft.
    pub(super) fn beside(target: &Path) -> Result<Self, SampleError> {
        let unwritable = |source| SampleError::Unwritable { path: target.to_owned(), source };
        for number in 0..DRAFT_NAMES {
            let path = directory_of(target).join(format!(".pi-sql-sample-{}-{number}", std::process::id()));
            // `create_new`: never through a link, never into somebody's file.
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => return Ok(Self { path }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(error)),
            }
        }
        Err(unwritable(ErrorKind::AlreadyExists.into()))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the finished file in its place, on disk before this returns.
    pub(super) fn publish(self, target: &Path, force: bool) -> Result<(), SampleError> {
        let unwritable = |source| SampleError::Unwritable { path: target.to_owned(), source };
        File::open(&self.path).and_then(|file| file.sync_all()).map_err(unwritable)?;
        let renamed = if force { fs::rename(&self.path, target) } else { rename_if_free(&self.path, target) };
        renamed.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => SampleError::Exists(target.to_owned()),
            _ => unwritable(error),
        })?;
        File::open(directory_of(target)).and_then(|directory| directory.sync_all()).map_err(unwritable)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After `publish` the name is free; after a failure nobody can do more about the remains.
        let _ = fs::remove_file(&self.path);
    }
}

/// Renames unless somebody took the name meanwhile.
fn rename_if_free(from: &Path, to: &Path) -> io::Result<()> {
    match renameat2(AT_FDCWD, from, AT_FDCWD, to, RenameFlags::RENAME_NOREPLACE) {
        // Not every file system has the flag; then the check a moment ago must do.
        Err(Errno::EINVAL | Errno::ENOSYS) if fs::symlink_metadata(to).is_err() => fs::rename(from, to),
        Err(Errno::EINVAL | Errno::ENOSYS) => Err(ErrorKind::AlreadyExists.into()),
        renamed => renamed.map_err(io::Error::from),
    }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
