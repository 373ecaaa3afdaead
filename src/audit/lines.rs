//! Reads a file's lines from its start, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take};

use super::line::LONGEST_LINE;

/// Bytes read at once.
const BLOCK: usize = 64 << 10;

/// Lines from the first to the last.
pub(super) struct Lines {
    reader: BufReader<Take<File>>,
}

/// One line.
pub(super) struct Line {
    bytes: Vec<u8>,
}

impl Lines {
    /// Reads the first `length` bytes of the file: what is appended meanwhile is left for the next time.
    pub(super) fn new(mut file: File, length: u64) -> io::Result<Self> {
        file.seek(SeekFrom::Start(0))?;
        Ok(Self { reader: BufReader::with_capacity(BLOCK, file.take(length)) })
    }

    /// Reads a file whose owner keeps appending to it.
    pub(super) fn of_start(file: &File) -> io::Result<Self> {
        Self::new(file.try_clone()?, u64::MAX)
    }

    /// The next line; none at the end. A line longer than any record comes in pieces without a newline.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut bytes)?;
        Ok((read > 0).then_some(Line { bytes }))
    }
}

impl Line {
    /// The line without its newline.
    pub(super) fn content(&self) -> &[u8] {
        self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes)
    }

    /// Whether it is longer than any record may be.
    pub(super) fn is_too_long(&self) -> bool {
        self.bytes.len() > LONGEST_LINE
    }

    /// Whether its newline is there.
    pub(super) fn is_whole(&self) -> bool {
        self.bytes.ends_with(b"\n")
    }
}
