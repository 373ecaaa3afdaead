//! Reads a file's lines from its end, without reading the whole file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::line::LONGEST_LINE;

/// Bytes read at first; the last line almost always fits.
const FIRST_BLOCK: usize = 16 << 10;

/// Lines from the last to the first.
pub(super) struct Backwards<'a> {
    file: &'a File,
    /// Where the unread part ends.
    start: u64,
    /// What was read and not yet given out; follows `start`.
    buffer: Vec<u8>,
    block: usize,
}

/// One line with its newline, or the bytes after the last newline.
pub(super) struct Piece {
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
}

impl Piece {
    /// The line without its newline; none where the newline is missing.
    pub(super) fn line(&self) -> Option<&[u8]> {
        self.bytes.strip_suffix(b"\n")
    }

    /// Where the next line begins.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }
}

impl<'a> Backwards<'a> {
    /// Reads the first `length` bytes of the file, from their end.
    pub(super) fn new(file: &'a File, length: u64) -> Self {
        Self { file, start: length, buffer: Vec::new(), block: FIRST_BLOCK }
    }

    /// The line before the last one given out; none at the file's beginning.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece>> {
        loop {
            let inner = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
            let begin = match inner.iter().rposition(|byte| *byte == b'\n') {
                Some(newline) => newline + 1,
                None if self.start > 0 => {
                    self.grow()?;
                    continue;
                }
                None if self.buffer.is_empty() => return Ok(None),
                None => 0,
            };
            let bytes = self.buffer.split_off(begin);
            return Ok(Some(Piece { offset: self.start + begin as u64, bytes }));
        }
    }

    /// Reads a block more, twice as large each time, so that a long line costs no more than twice its length.
    fn grow(&mut self) -> io::Result<()> {
        if self.buffer.len() > LONGEST_LINE {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is longer than any record"));
        }
        let size = usize::try_from(self.start).unwrap_or(usize::MAX).min(self.block);
        let mut grown = vec![0; size];
        self.file.read_exact_at(&mut grown, self.start - size as u64)?;
        grown.append(&mut self.buffer);
        self.buffer = grown;
        self.start -= size as u64;
        self.block = self.block.saturating_mul(2);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn lines_come_from_the_end_whatever_their_length() {
        let mut file = tempfile::tempfile().unwrap();
        let long = "x".repeat(3 * FIRST_BLOCK);
        write!(file, "first\n\n{long}\nlast\ntorn").unwrap();
        let length = file.metadata().unwrap().len();
        let mut backwards = Backwards::new(&file, length);
        let mut found = Vec::new();
        let mut end = length;
        while let Some(piece) = backwards.next().unwrap() {
            assert_eq!(piece.end(), end);
            end = piece.offset;
            found.push(String::from_utf8(piece.bytes).unwrap());
        }
        assert_eq!(end, 0);
        assert_eq!(found, ["torn", "last\n", &format!("{long}\n"), "\n", "first\n"]);
    }

    #[test]
    fn an_empty_file_has_no_lines() {
        assert!(Backwards::new(&tempfile::tempfile().unwrap(), 0).next().unwrap().is_none());
    }
}
