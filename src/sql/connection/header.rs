//! The first hundred bytes of a database file.

use serde::{Deserialize, Serialize};

/// How many bytes the header has.
pub(super) const HEADER_BYTES: usize = 100;

/// What every unencrypted SQLite 3 file starts with.
pub(super) const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// How a database keeps a commit whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalMode {
    /// A rollback journal: the old pages lie beside the file while a commit is written.
    Rollback,
    /// A write-ahead log: the new pages lie beside the file until a checkpoint moves them in.
    Wal,
}

/// What the header says, as far as opening needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) journal: JournalMode,
    /// Bytes 24–27: moves with each commit in rollback mode, with a checkpoint that writes page 1 in WAL mode.
    pub(super) change_counter: u32,
    /// Bytes 92–95: the change counter at the time the page count was written.
    pub(super) version_valid_for: u32,
    page_size: u32,
    page_count: u32,
}

/// Why a header can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderFault {
    /// The magic is missing.
    NotADatabase,
    /// The format number is one this program doesn't know.
    TooNew,
}

impl Header {
    /// Reads a header.
    pub(super) fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self, HeaderFault> {
        if &bytes[..16] != MAGIC {
            return Err(HeaderFault::NotADatabase);
        }
        // SQLite reads a file whose *read* version it knows; the write version (byte 18) doesn't bind a reader.
        let journal = match bytes[19] {
            1 => JournalMode::Rollback,
            2 => JournalMode::Wal,
            0 => return Err(HeaderFault::NotADatabase),
            _ => return Err(HeaderFault::TooNew),
        };
        let page_size = match u32::from(u16::from_be_bytes([bytes[16], bytes[17]])) {
            1 => 65_536,
            size => size,
        };
        Ok(Self {
            journal,
            change_counter: number(bytes, 24),
            version_valid_for: number(bytes, 92),
            page_size,
            page_count: number(bytes, 28),
        })
    }

    /// How long the file must be, where the header can be believed about it.
    pub(super) fn expected_size(&self) -> Option<u64> {
        (self.change_counter == self.version_valid_for && self.page_count > 0)
            .then(|| u64::from(self.page_size) * u64::from(self.page_count))
    }
}

fn number(bytes: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..16].copy_from_slice(MAGIC);
        bytes[16] = 0x10;
        bytes[18] = 1;
        bytes[19] = 1;
        bytes[27] = 7;
        bytes[31] = 3;
        bytes[95] = 7;
        bytes
    }

    #[test]
    fn a_header_says_journal_mode_counter_and_size() {
        let header = Header::parse(&sound()).unwrap();
        assert_eq!((header.journal, header.change_counter), (JournalMode::Rollback, 7));
        assert_eq!(header.expected_size(), Some(3 * 4096));
    }

    #[test]
    fn page_size_one_means_65536() {
        let mut bytes = sound();
        (bytes[16], bytes[17]) = (0, 1);
        assert_eq!(Header::parse(&bytes).unwrap().expected_size(), Some(3 * 65_536));
    }

    #[test]
    fn a_page_count_older_than_the_last_commit_is_not_believed() {
        let mut bytes = sound();
        bytes[95] = 6;
        assert_eq!(Header::parse(&bytes).unwrap().expected_size(), None);
    }

    #[test]
    fn what_is_no_header_is_refused() {
        assert_eq!(Header::parse(&[0x5a; HEADER_BYTES]), Err(HeaderFault::NotADatabase));
        let mut bytes = sound();
        bytes[19] = 3;
        assert_eq!(Header::parse(&bytes), Err(HeaderFault::TooNew));
    }
}
