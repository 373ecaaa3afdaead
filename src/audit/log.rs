//! The log as a writer knows it: records in, sequence numbers out.

use std::path::Path;

use super::chain::Chain;
use super::digest::Head;
use super::directory::Directory;
use super::error::AuditError;
use super::lock::Lock;
use super::record::Record;

/// Bytes after which a log file is full: large enough that files stay few, small enough to open in an editor.
pub const ROTATE_AT: u64 = 64 << 20;

/// How a log is written.
#[derive(Clone, Debug)]
pub struct Options {
    /// The id of this run, in each of its records.
    pub run: String,
    /// Bytes after which a file is full.
    pub rotate_at: u64,
}

/// When records must be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Before the append returns.
    Now,
    /// With the next sync, whoever asks for it.
    Later,
}

/// An open log. The process must ignore `SIGXFSZ`, so that a reached file size limit is an error and not its death.
#[derive(Debug)]
pub struct Log {
    lock: Lock,
    chain: Chain,
}

impl Options {
    /// The usual size for this run.
    pub fn for_run(run: impl Into<String>) -> Self {
        Self { run: run.into(), rotate_at: ROTATE_AT }
    }
}

impl Log {
    /// Opens the log of a directory, or begins one; both are made where they are missing.
    ///
    /// A broken end that a crash left is repaired here, and recorded.
    pub fn open(directory: &Path, options: Options) -> Result<Self, AuditError> {
        let directory = Directory::create(directory)?;
        let mut lock = Lock::create(&directory)?;
        let mut chain = Chain::new(directory, options);
        {
            let _held = lock.exclusive()?;
            chain.append(&[], Durability::Later)?;
        }
        Ok(Self { lock, chain })
    }

    /// Appends the records in one write and returns their sequence numbers.
    ///
    /// After an error none of them counts: what was written of them is cut off again, or repaired by the next append.
    pub fn append(&mut self, records: &[Record], durability: Durability) -> Result<Vec<u64>, AuditError> {
        let _held = self.lock.exclusive()?;
        self.chain.append(records, durability)
    }

    /// Puts every record appended so far on disk.
    pub fn sync(&mut self) -> Result<(), AuditError> {
        self.chain.sync()
    }

    /// The last record this log has seen: its own, or one of another process before it. Sync before keeping it
    /// elsewhere: after a power cut the log may end before a record that was never synced.
    pub fn head(&self) -> Head {
        self.chain.head()
    }
}
