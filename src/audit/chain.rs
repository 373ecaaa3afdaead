//! The chain's end, read and extended; everything here happens under the lock.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::backwards::Backwards;
use super::digest::{Digest, Head};
use super::directory::{self, Directory, Identity, create_to_append, name_of, number_of, open_to_append, open_to_read};
use super::error::AuditError;
use super::line::{self, Fault};
use super::lines::Lines;
use super::log::{Durability, Options};
use super::record::{Entry, Record};

/// Bytes of the longest broken end: less than one record, and what a file system may have added in zeros.
const LONGEST_END: u64 = 2 * line::LONGEST_LINE as u64;
/// What each record begins with.
const RECORD_START: &[u8] = b"{\"seq\":";

/// The writer's side of a log.
#[derive(Debug)]
pub(super) struct Chain {
    directory: Directory,
    options: Options,
    head: Head,
    /// The file as we left it; none when its end must be read again.
    live: Option<Live>,
    /// What the next write must record first: a rotation, a repair.
    due: Vec<Entry>,
    unsynced: bool,
}

#[derive(Debug)]
struct Live {
    file: File,
    identity: Identity,
    length: u64,
}

/// How a file ends.
struct End {
    /// Its last record; none in a file without one.
    last: Option<Head>,
    /// Where that record ends. Bytes after it are broken.
    length: u64,
}

impl Chain {
    pub(super) fn new(directory: Directory, options: Options) -> Self {
        Self { directory, options, head: Head::START, live: None, due: Vec::new(), unsynced: false }
    }

    pub(super) fn head(&self) -> Head {
        self.head
    }

    /// Appends what is due and the records in one write.
    pub(super) fn append(&mut self, records: &[Record], durability: Durability) -> Result<Vec<u64>, AuditError> {
        self.while_synced(|chain| chain.extend(records, durability))
    }

    /// Puts what was written on disk. A file that another process has rotated since was synced by it before.
    pub(super) fn sync(&mut self) -> Result<(), AuditError> {
        self.while_synced(Self::settle)
    }

    /// The kernel reports lost pages once and then calls them clean: after a failed sync no later one can be believed.
    fn while_synced<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, AuditError>) -> Result<T, AuditError> {
        if self.unsynced {
            return Err(AuditError::Unsynced);
        }
        let done = work(self);
        self.unsynced = matches!(done, Err(AuditError::Sync { .. }));
        done
    }

    fn extend(&mut self, records: &[Record], durability: Durability) -> Result<Vec<u64>, AuditError> {
        let mut live = self.current()?;
        if live.length >= self.options.rotate_at.max(1) {
            self.rotate(&live)?;
            live = self.current()?;
        }
        let mut head = self.head;
        let mut lines = Vec::new();
        for entry in &self.due {
            head = line::write(&mut lines, &Record::of_run(entry.clone()), &self.options.run, head)?;
        }
        let mut numbers = Vec::with_capacity(records.len());
        for record in records {
            head = line::write(&mut lines, record, &self.options.run, head)?;
            numbers.push(head.seq);
        }
        let fresh = live.length == 0;
        self.write(live, &lines)?;
        self.head = head;
        let names_changed = fresh || !self.due.is_empty();
        self.due.clear();
        if names_changed || durability == Durability::Now {
            self.settle()?;
        }
        if names_changed {
            self.directory.sync()?;
        }
        Ok(numbers)
    }

    fn settle(&mut self) -> Result<(), AuditError> {
        let path = self.directory.live();
        let synced = match &self.live {
            Some(live) => live.file.sync_data(),
            // After a failed append the file is not open, but what was appended before may still wait for its sync.
            None => open_to_append(&path)?.map_or(Ok(()), |file| file.sync_data()),
        };
        synced.map_err(|source| AuditError::Sync { path, source })
    }

    /// The file to append to, with the head and what is due brought up to date.
    fn current(&mut self) -> Result<Live, AuditError> {
        let path = self.directory.live();
        let now = directory::at(&path)?;
        if let Some(live) = self.live.take() {
            match now {
                Some((identity, length)) if identity == live.identity && length == live.length => return Ok(live),
                Some((identity, length)) if identity == live.identity && length < live.length => {
                    return Err(AuditError::Shortened { path });
                }
                _ => {}
            }
        }
        let failed = |source| AuditError::File { path: path.clone(), source };
        let existing = open_to_append(&path)?;
        let (end, found) = match &existing {
            Some(file) => {
                let length = file.metadata().map_err(failed)?.len();
                (end_of(file, length, &path)?, length)
            }
            None => (End { last: None, length: 0 }, 0),
        };
        let mut due = Vec::new();
        let head = match end.last {
            Some(head) => head,
            None => match self.directory.all_rotated()?.pop() {
                Some((_, previous)) => {
                    let head = head_of_full(&previous)?;
                    due.push(Entry::Rotate { previous: name_of(&previous), last_hash: head.to_string() });
                    head
                }
                None => Head::START,
            },
        };
        // Our own last record must still be there, or the log was cut or replaced behind our back.
        if head.seq < self.head.seq || (head.seq == self.head.seq && head.hash != self.head.hash) {
            return Err(AuditError::Shortened { path });
        }
        let mut file = match existing {
            Some(file) => file,
            None => create_to_append(&path)?,
        };
        if found > end.length {
            self.set_aside(&mut file, end.length, head.seq + 1)?;
        }
        // Also those of a repair that was itself interrupted, before it was recorded.
        for kept in self.directory.torn_at(head.seq + 1)? {
            due.push(repair(&kept)?);
        }
        let identity = Identity::of(&file.metadata().map_err(failed)?);
        self.head = head;
        self.due = due;
        Ok(Live { file, identity, length: end.length })
    }

    /// Writes all lines at once. What a full disk takes of them only in part is cut off again.
    fn write(&mut self, mut live: Live, lines: &[u8]) -> Result<(), AuditError> {
        match live.file.write_all(lines) {
            Ok(()) => {
                live.length += lines.len() as u64;
                self.live = Some(live);
                Ok(())
            }
            Err(source) => {
                // Where even that fails, `live` stays none: the next append reads the end again and repairs it.
                if live.file.set_len(live.length).is_ok() {
                    self.live = Some(live);
                }
                Err(AuditError::Write { path: self.directory.live(), source })
            }
        }
    }

    /// Renames the full file. If we die before the next one exists, whoever comes next finds none and begins it.
    fn rotate(&mut self, live: &Live) -> Result<(), AuditError> {
        let path = self.directory.live();
        live.file.sync_data().map_err(|source| AuditError::Sync { path: path.clone(), source })?;
        let highest = self.directory.all_rotated()?.pop().map_or(0, |(number, _)| number);
        // The full files may have been moved to an archive: their numbers stay taken.
        let before = number_before(&live.file).map_err(|source| AuditError::File { path: path.clone(), source })?;
        let next = self.directory.rotated(highest.max(before) + 1);
        fs::rename(&path, &next).map_err(|source| AuditError::File { path: next, source })?;
        self.directory.sync()
    }

    /// Copies the broken end of the log into a file of its own, then cuts it off.
    ///
    /// The copy is on disk before the cut, and its name comes from its bytes: dying anywhere here and coming again
    /// loses nothing.
    fn set_aside(&self, file: &mut File, from: u64, seq: u64) -> Result<(), AuditError> {
        let path = self.directory.live();
        let failed = |source| AuditError::File { path: path.clone(), source };
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        let broken = contents_of(file, &path)?;
        let kept = self.directory.torn(seq, &Digest::of(&broken).to_string());
        let mut copy = create_to_append(&kept)?;
        let written = contents_of(&copy, &kept)?;
        // What is there is ours only if an earlier attempt left it: a file that happens to be here is not added to or cut.
        let missing = broken.strip_prefix(written.as_slice()).ok_or(AuditError::NotALog { path: kept.clone() })?;
        let copied = copy.write_all(missing).and_then(|()| copy.sync_all());
        copied.map_err(|source| AuditError::Write { path: kept, source })?;
        self.directory.sync()?;
        file.set_len(from).map_err(|source| AuditError::Write { path: path.clone(), source })
    }
}

/// Finds the last record, and the broken bytes after it if there are any.
fn end_of(file: &File, length: u64, path: &Path) -> Result<End, AuditError> {
    let mut pieces = Backwards::new(file, length);
    let mut foreign = false;
    while let Some(piece) = pieces.next().map_err(|source| AuditError::File { path: path.to_owned(), source })? {
        match piece.line().map(line::read) {
            Some(Ok(frame)) => {
                return Ok(End { last: Some(Head { seq: frame.seq, hash: frame.hash }), length: piece.end() });
            }
            Some(Err(fault @ (Fault::NotARecord(_) | Fault::WrongHash))) => {
                return Err(AuditError::Edited { path: path.to_owned(), reason: fault.to_string() });
            }
            Some(Err(Fault::NotJson(_))) => foreign = true,
            // The file's beginning. A crash leaves the start of a record or zeros there; anything else, a database that
            // was linked to this name for example, is somebody's file.
            None if piece.offset == 0 => foreign |= !may_be_torn(&piece.bytes),
            None => {}
        }
    }
    if foreign {
        // No record, nor the start of one: this was never a log, and moving it aside is not ours to decide.
        return Err(AuditError::NotALog { path: path.to_owned() });
    }
    Ok(End { last: None, length: 0 })
}

/// Whether a crash may have left these bytes where a log's first record belongs.
fn may_be_torn(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0]) || bytes.iter().zip(RECORD_START).all(|(found, due)| found == due)
}

/// The head of a full file, which was whole when it was renamed.
fn head_of_full(path: &Path) -> Result<Head, AuditError> {
    let failed = |source| AuditError::File { path: path.to_owned(), source };
    let file = open_to_read(path)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    let length = file.metadata().map_err(failed)?.len();
    match end_of(&file, length, path)? {
        End { last: Some(head), length: whole } if whole == length => Ok(head),
        _ => Err(AuditError::Edited { path: path.to_owned(), reason: "its end is missing".into() }),
    }
}

/// The number of the full file before this one, as its first record names it; 0 when there was none.
fn number_before(file: &File) -> io::Result<u32> {
    let first = Lines::of_start(file)?.next()?;
    let frame = first.and_then(|first| line::read(first.content()).ok());
    Ok(frame.and_then(|frame| frame.previous).and_then(|name| number_of(&name)).unwrap_or(0))
}

/// What is left to read of a file that holds, or ends in, a broken end.
fn contents_of(file: &File, path: &Path) -> Result<Vec<u8>, AuditError> {
    let mut bytes = Vec::new();
    let read = file.take(LONGEST_END + 1).read_to_end(&mut bytes);
    read.map_err(|source| AuditError::File { path: path.to_owned(), source })?;
    if bytes.len() as u64 > LONGEST_END {
        return Err(AuditError::NotALog { path: path.to_owned() });
    }
    Ok(bytes)
}

/// The record of a broken end that was set aside.
fn repair(kept: &Path) -> Result<Entry, AuditError> {
    let missing = || AuditError::File { path: kept.to_owned(), source: io::ErrorKind::NotFound.into() };
    let bytes = contents_of(&open_to_read(kept)?.ok_or_else(missing)?, kept)?;
    Ok(Entry::Repair {
        what: "a crash left a broken end; its bytes were moved out of the log".into(),
        bytes: bytes.len() as u64,
        kept: name_of(kept),
        digest: Digest::of(&bytes).to_string(),
    })
}
