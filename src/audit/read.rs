//! Reads the log for people: all of it, its last lines, and what is added to it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::vec;

use super::backwards::Backwards;
use super::directory::{Directory, Identity, at, open_to_read};
use super::error::AuditError;
use super::line::LONGEST_LINE;
use super::lines::Lines;
use super::snapshot::{LogFile, Snapshot};

/// Bytes read at once while following; grows for a longer line.
const BLOCK: usize = 64 << 10;

/// Every line of a log from the first to the last, as they were when it was opened.
pub struct Reader {
    files: vec::IntoIter<LogFile>,
    /// The file being read, with its path for messages.
    open: Option<(Lines, PathBuf)>,
}

/// Follows the log as it grows, from file to file.
pub struct Follow {
    directory: Directory,
    open: Option<Followed>,
}

struct Followed {
    file: File,
    identity: Identity,
    /// Where the next whole line begins. Half a line is read again when it is whole: a repair may cut it off instead.
    offset: u64,
}

impl Reader {
    /// Opens the log of a directory; an empty directory has no lines.
    pub fn open(directory: &Path) -> Result<Self, AuditError> {
        Ok(Self { files: Snapshot::take(directory)?.files.into_iter(), open: None })
    }

    /// The next line without its newline; none at the end. Lines are not checked here.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, AuditError> {
        loop {
            if let Some((lines, path)) = &mut self.open {
                let line = lines.next().map_err(|source| AuditError::File { path: path.clone(), source })?;
                if let Some(line) = line {
                    return Ok(Some(line.content().to_vec()));
                }
            }
            let Some(piece) = self.files.next() else { return Ok(None) };
            let path = piece.path.clone();
            self.open = piece.lines()?.map(|lines| (lines, path));
        }
    }
}

impl Follow {
    /// The last `count` whole lines, and a place to go on from exactly there.
    pub fn from_end(directory: &Path, count: usize) -> Result<(Vec<Vec<u8>>, Self), AuditError> {
        let mut last = Vec::new();
        let mut open = None;
        for piece in Snapshot::take(directory)?.files.into_iter().rev() {
            let is_live = piece.number.is_none();
            if last.len() >= count && !is_live {
                break;
            }
            let path = piece.path.clone();
            let failed = |source| AuditError::File { path: path.clone(), source };
            let Some((file, length)) = piece.open()? else { continue };
            let metadata = file.metadata().map_err(failed)?;
            let length = length.min(metadata.len());
            let mut offset = 0;
            let mut pieces = Backwards::new(&file, length);
            while offset == 0 || last.len() < count {
                let Some(piece) = pieces.next().map_err(failed)? else { break };
                let end = piece.end();
                if let Some(line) = piece.line() {
                    offset = offset.max(end);
                    if last.len() < count {
                        last.push(line.to_vec());
                    }
                }
            }
            if is_live {
                open = Some(Followed { file, identity: Identity::of(&metadata), offset });
            }
        }
        last.reverse();
        Ok((last, Self { directory: Directory::existing(directory), open }))
    }

    /// The whole lines added since the last call; none does not mean that no more will come.
    pub fn poll(&mut self) -> Result<Vec<Vec<u8>>, AuditError> {
        loop {
            // The look at the name comes before the read, so that nothing is added to a file after its last read.
            let live = at(&self.directory.live())?;
            if let Some(open) = &mut self.open {
                let is_live = live.is_some_and(|(identity, _)| identity == open.identity);
                if let Some((_, length)) = live.filter(|_| is_live) {
                    open.offset = open.offset.min(length);
                }
                let failed = |source| AuditError::File { path: self.directory.live(), source };
                let lines = open.more().map_err(failed)?;
                if is_live || !lines.is_empty() {
                    return Ok(lines);
                }
            }
            let Some(next) = self.after()? else { return Ok(Vec::new()) };
            self.open = Some(next);
        }
    }

    /// The file after the one that was followed, which was renamed; without one, the file that is written.
    fn after(&self) -> Result<Option<Followed>, AuditError> {
        let live = self.directory.live();
        let mut paths: Vec<PathBuf> = self.directory.all_rotated()?.into_iter().map(|(_, path)| path).collect();
        paths.push(live.clone());
        let mut next = live;
        if let Some(open) = &self.open {
            for pair in paths.windows(2) {
                if at(&pair[0])?.is_some_and(|(identity, _)| identity == open.identity) {
                    next.clone_from(&pair[1]);
                }
            }
        }
        let Some(file) = open_to_read(&next)? else { return Ok(None) };
        let metadata = file.metadata().map_err(|source| AuditError::File { path: next, source })?;
        Ok(Some(Followed { identity: Identity::of(&metadata), file, offset: 0 }))
    }
}

impl Followed {
    fn more(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let mut size = BLOCK;
        loop {
            let mut block = vec![0; size];
            let read = read_at(&self.file, &mut block, self.offset)?;
            block.truncate(read);
            if let Some(newline) = block.iter().rposition(|byte| *byte == b'\n') {
                block.truncate(newline);
                self.offset += newline as u64 + 1;
                return Ok(block.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect());
            }
            if read < size {
                return Ok(Vec::new());
            }
            if size > LONGEST_LINE {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is longer than any record"));
            }
            size *= 2;
        }
    }
}

/// Fills the buffer as far as the file goes.
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
