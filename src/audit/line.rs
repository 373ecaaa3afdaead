//! One line of the log: written with its hash, read with a check of it.

use std::io;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::ser::Formatter;

use super::digest::{Digest, Head};
use super::error::AuditError;
use super::record::{Entry, Record};

/// Bytes of the longest line, so that reading a log takes bounded memory whoever wrote it. An 8 MiB text of nothing but
/// control characters, escaped, would still fit half.
pub const LONGEST_LINE: usize = 32 << 20;

/// What follows the hashed bytes, before the digits.
const HASH_FIELD: &[u8] = b",\"hash\":\"";
/// Bytes of `,"hash":"sha256:…"}`.
const HASH_LENGTH: usize = HASH_FIELD.len() + 7 + 64 + 2;

/// A line's fields in their order; the hash follows.
#[derive(Serialize)]
struct Body<'a> {
    seq: u64,
    time: String,
    run: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'a str>,
    #[serde(flatten)]
    entry: &'a Entry,
    prev: Digest,
}

/// What the chain needs of a line.
#[derive(Debug, Deserialize)]
pub(super) struct Frame {
    pub(super) seq: u64,
    pub(super) kind: String,
    pub(super) prev: Digest,
    pub(super) hash: Digest,
    /// The file before this one, in a `rotate` record.
    pub(super) previous: Option<String>,
}

/// Why a line is not a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// Half a line, or none of ours: what a crash may leave.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// JSON, but not an audit record.
    #[error("it is not an audit record: {0}")]
    NotARecord(String),
    /// A record whose bytes have changed since its hash was taken.
    #[error("its content doesn't match its own hash")]
    WrongHash,
}

/// Writes a record as the next line of the chain; returns the new head.
pub(super) fn write(lines: &mut Vec<u8>, record: &Record, run: &str, head: Head) -> Result<Head, AuditError> {
    let begin = lines.len();
    let seq = head.seq + 1;
    let body = Body {
        seq,
        time: format!("{:.3}", Timestamp::now()),
        run,
        question: record.question.as_deref(),
        entry: &record.entry,
        prev: head.hash,
    };
    body.serialize(&mut serde_json::Serializer::with_formatter(&mut *lines, Ascii))?;
    lines.pop();
    let hash = Digest::of(&lines[begin..]);
    lines.extend_from_slice(HASH_FIELD);
    lines.extend_from_slice(hash.to_string().as_bytes());
    lines.extend_from_slice(b"\"}\n");
    let bytes = lines.len() - begin;
    if bytes > LONGEST_LINE {
        return Err(AuditError::TooLong { bytes, limit: LONGEST_LINE });
    }
    Ok(Head { seq, hash })
}

/// Reads a line, without its newline, and checks its hash.
pub(super) fn read(line: &[u8]) -> Result<Frame, Fault> {
    let frame: Frame = serde_json::from_slice(line).map_err(|error| match error.classify() {
        Category::Data => Fault::NotARecord(error.to_string()),
        Category::Io | Category::Syntax | Category::Eof => Fault::NotJson(error.to_string()),
    })?;
    let Some((body, field)) = line.len().checked_sub(HASH_LENGTH).map(|end| line.split_at(end)) else {
        return Err(Fault::NotARecord("it is too short".into()));
    };
    let expected = format!("{}{}\"}}", String::from_utf8_lossy(HASH_FIELD), frame.hash);
    if field != expected.as_bytes() {
        return Err(Fault::NotARecord("its hash is not at its end".into()));
    }
    if Digest::of(body) == frame.hash { Ok(frame) } else { Err(Fault::WrongHash) }
}

/// Compact JSON in printable ASCII: no text from outside can end a line early, move a cursor or hide a word, in any
/// tool that shows the file.
struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: io::Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(|c: char| !matches!(c, ' '..='~')) {
            let (plain, foreign) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut characters = foreign.chars();
            if let Some(character) = characters.next() {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Vec<u8> {
        let entry = Entry::Question { text: text.into(), front: "text".into(), model: "offline/planner".into() };
        let mut lines = Vec::new();
        write(&mut lines, &Record::of_question("q\n1", entry), "run\u{7f}", Head::START).unwrap();
        lines
    }

    #[test]
    fn hostile_text_can_not_forge_a_line() {
        let forged = String::from_utf8(line("x")).unwrap();
        let long = "SELECT '\u{1b}[2J\u{9b}31m\r\n\0'; ".repeat(5_000);
        for text in
            ["\n", &forged, "\u{1b}[2K\r", "\u{2028}\u{2029}\u{85}", "\u{202e}\u{200b}é😀", "\",\"hash\":\"", &long]
        {
            let lines = line(text);
            let (newline, line) = lines.split_last().unwrap();
            assert_eq!(*newline, b'\n');
            assert!(line.iter().all(|byte| (b' '..=b'~').contains(byte)), "only printable ASCII");
            assert_eq!(read(line).unwrap().seq, 1);
            let value: serde_json::Value = serde_json::from_slice(line).unwrap();
            assert_eq!(value["text"], text, "nothing of the text is lost");
        }
    }

    #[test]
    fn each_kind_is_spelled_as_listed_and_reads_back() {
        let entries = [
            Entry::Outcome {
                of: u64::MAX,
                ok: true,
                ms: 3.125,
                rows: Some(1),
                truncated: Some("rows".into()),
                columns: vec!["n".into()],
                rows_hash: Some(Digest::of(b"[[142]]").to_string()),
                error: None,
            },
            Entry::Death { role: "reader".into(), how: "signal 9".into() },
            Entry::Stop { reason: "done".into(), exit: 0 },
        ];
        for entry in entries {
            let value = serde_json::to_value(&entry).unwrap();
            assert_eq!(value["kind"], entry.kind());
            assert_eq!(serde_json::from_value::<Entry>(value).unwrap(), entry);
        }
    }

    #[test]
    fn what_is_not_a_record_says_what_it_is() {
        assert!(matches!(read(b"\0\0\0"), Err(Fault::NotJson(_))));
        assert!(matches!(read(b"{\"seq\":1"), Err(Fault::NotJson(_))));
        assert!(matches!(read(b"{}"), Err(Fault::NotARecord(_))));
        let good = line("142");
        let edited = String::from_utf8(good).unwrap().replace("142", "143");
        assert_eq!(read(edited.trim_end().as_bytes()).unwrap_err(), Fault::WrongHash);
    }

    #[test]
    fn a_record_larger_than_any_reader_accepts_is_refused() {
        let entry = Entry::Death { role: "x".repeat(LONGEST_LINE), how: String::new() };
        let result = write(&mut Vec::new(), &Record::of_run(entry), "run", Head::START);
        assert!(matches!(result, Err(AuditError::TooLong { .. })));
    }
}
