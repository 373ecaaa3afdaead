//! The lock that orders the writers of one log; the kernel releases it when its holder dies.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::directory::{Directory, Identity, at, create_to_append, open_to_read};
use super::error::AuditError;

/// How long to wait for other writers. An append takes milliseconds even on a slow disk, so a lock kept this long means
/// a stopped process, and waiting for ever would hide that.
const PATIENCE: Duration = Duration::from_secs(10);
/// The first pause between two attempts, about the time of one synced append.
const FIRST_PAUSE: Duration = Duration::from_micros(100);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// The lock file, not yet locked.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    file: File,
}

/// The lock is held until this is dropped.
#[derive(Debug)]
pub(super) struct Held<'a>(&'a File);

impl Lock {
    /// The lock of a log that is written.
    pub(super) fn create(directory: &Directory) -> Result<Self, AuditError> {
        let path = directory.lock();
        let file = create_to_append(&path)?;
        Ok(Self { path, file })
    }

    /// The lock of a log that is only read: none where there is none (a copy of the files) or it is closed to us.
    pub(super) fn existing(directory: &Directory) -> Option<Self> {
        let path = directory.lock();
        let file = open_to_read(&path).ok().flatten()?;
        Some(Self { path, file })
    }

    /// Waits until no other process writes or reads the log's end.
    pub(super) fn exclusive(&mut self) -> Result<Held<'_>, AuditError> {
        loop {
            self.attempt(File::try_lock, PATIENCE)?;
            if self.is_current()? {
                break;
            }
            // Somebody removed or replaced the lock file: a lock on the old one holds nobody back.
            self.file = create_to_append(&self.path)?;
        }
        Ok(Held(&self.file))
    }

    /// Waits until no other process writes.
    pub(super) fn shared(&mut self) -> Result<Held<'_>, AuditError> {
        self.attempt(File::try_lock_shared, PATIENCE)?;
        Ok(Held(&self.file))
    }

    fn attempt(&self, lock: fn(&File) -> Result<(), TryLockError>, patience: Duration) -> Result<(), AuditError> {
        let begin = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            match lock(&self.file) {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) if begin.elapsed() < patience => sleep(pause),
                Err(TryLockError::WouldBlock) => {
                    return Err(AuditError::Busy { path: self.path.clone(), seconds: patience.as_secs() });
                }
                Err(TryLockError::Error(source)) => return Err(AuditError::File { path: self.path.clone(), source }),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn is_current(&self) -> Result<bool, AuditError> {
        let failed = |source| AuditError::File { path: self.path.clone(), source };
        let ours = Identity::of(&self.file.metadata().map_err(failed)?);
        Ok(at(&self.path)?.is_some_and(|(identity, _)| identity == ours))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // A lock that can't be given back goes with the process; there is nothing better to do here.
        drop(self.0.unlock());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_never_given_back_is_an_error_and_not_a_hang() {
        let root = tempfile::tempdir().unwrap();
        let directory = Directory::create(root.path()).unwrap();
        let mut stopped = Lock::create(&directory).unwrap();
        let waiting = Lock::create(&directory).unwrap();
        let held = stopped.exclusive().unwrap();
        let result = waiting.attempt(File::try_lock_shared, Duration::from_millis(1));
        assert!(matches!(result, Err(AuditError::Busy { .. })));
        drop(held);
        waiting.attempt(File::try_lock, Duration::ZERO).unwrap();
    }
}
