//! SQLite values as JSON cells: exact where JSON can hold them, marked where it can't.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use rusqlite::types::ValueRef;
use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

/// The largest integer that every JSON reader keeps exact: 2^53 − 1.
const EXACT_INTEGER: i64 = 9_007_199_254_740_991;

/// Bytes of a blob's SHA-256 that are shown: enough to compare two blobs by eye.
const SHOWN_HASH: usize = 6;

/// Bytes of a blob that is hashed: a row may hold thousands of blobs, and no deadline reaches into one row.
const HASHED_BLOB: usize = 256 << 10;

/// Columns that one note names before it says "and more".
const NAMED_COLUMNS: usize = 8;

/// Characters of a column's name in a note.
const NAME_CHARS: usize = 40;

/// One encoded cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// What JSON holds.
    pub value: Value,
    /// What was done so that JSON can hold it; empty for nearly every cell.
    pub oddities: Vec<Oddity>,
}

/// What may be done to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oddity {
    /// Longer than the cap: cut, with a marker that gives the length.
    Cut,
    /// An integer as a string.
    BigInteger,
    /// ±Infinity or NaN as a string.
    NotFinite,
    /// A blob as its size and hash.
    Blob,
    /// Text with bytes that are not UTF-8.
    BadUtf8,
}

/// What was done to the cells of a result, one note a kind.
#[derive(Debug, Default)]
pub struct Notes {
    seen: BTreeSet<(Oddity, usize)>,
}

impl Cell {
    /// Encodes one value; a text longer than `cap` bytes is cut.
    pub fn of(value: ValueRef<'_>, cap: usize) -> Self {
        match value {
            ValueRef::Null => Self::plain(Value::Null),
            ValueRef::Integer(n) if (-EXACT_INTEGER..=EXACT_INTEGER).contains(&n) => Self::plain(n.into()),
            ValueRef::Integer(n) => Self::odd(n.to_string(), vec![Oddity::BigInteger]),
            // A whole float stays one (`1.0`): the reader sees that the column holds floats.
            ValueRef::Real(x) => match Number::from_f64(x) {
                Some(number) => Self::plain(Value::Number(number)),
                None => Self::odd(not_finite(x).to_owned(), vec![Oddity::NotFinite]),
            },
            ValueRef::Text(bytes) => Self::text(bytes, cap),
            ValueRef::Blob(bytes) => Self::odd(blob(bytes), vec![Oddity::Blob]),
        }
    }

    fn text(bytes: &[u8], cap: usize) -> Self {
        let kept = if bytes.len() <= cap { bytes } else { &bytes[..char_boundary(bytes, cap)] };
        let mut oddities = Vec::new();
        // Only what is kept is decoded: a row may hold thousands of references to one huge text.
        let mut text = String::from_utf8_lossy(kept);
        if matches!(text, Cow::Owned(_)) {
            oddities.push(Oddity::BadUtf8);
        }
        if kept.len() < bytes.len() {
            oddities.push(Oddity::Cut);
            text.to_mut().extend(["…[cut: ", &bytes.len().to_string(), " bytes in all]"]);
        }
        Self::odd(text.into_owned(), oddities)
    }

    fn plain(value: Value) -> Self {
        Self { value, oddities: Vec::new() }
    }

    fn odd(text: String, oddities: Vec<Oddity>) -> Self {
        Self { value: Value::String(text), oddities }
    }
}

impl Notes {
    /// Remembers what was done to a cell of that column.
    pub fn add(&mut self, column: usize, oddities: &[Oddity]) {
        self.seen.extend(oddities.iter().map(|oddity| (*oddity, column)));
    }

    /// One sentence a kind, with the columns by name.
    pub fn sentences(&self, columns: &[String]) -> Vec<String> {
        [Oddity::Cut, Oddity::BigInteger, Oddity::NotFinite, Oddity::Blob, Oddity::BadUtf8]
            .into_iter()
            .filter_map(|kind| {
                let of_kind = self.seen.iter().filter(|(oddity, _)| *oddity == kind);
                let names: Vec<&str> =
                    of_kind.filter_map(|(_, column)| columns.get(*column)).map(String::as_str).collect();
                (!names.is_empty()).then(|| format!("{} (in {})", kind.sentence(), name_some(&names)))
            })
            .collect()
    }
}

impl Oddity {
    fn sentence(self) -> &'static str {
        match self {
            Self::Cut => "long cells are cut and say so; read on with substr()",
            Self::BigInteger => "integers beyond ±(2^53−1) are given as strings, exact",
            Self::NotFinite => "infinite numbers are given as strings",
            Self::Blob => "blobs are shown by size and hash only",
            Self::BadUtf8 => "bytes that are not UTF-8 are shown as �",
        }
    }
}

fn name_some(names: &[&str]) -> String {
    let mut shown: Vec<String> = names.iter().take(NAMED_COLUMNS).map(|name| shorten(name, NAME_CHARS)).collect();
    if names.len() > NAMED_COLUMNS {
        shown.push(format!("and {} more", names.len() - NAMED_COLUMNS));
    }
    shown.join(", ")
}

/// The first `most` characters, with an ellipsis where any were left out.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The largest end up to `most` that leaves no character in two, if the bytes are text at all.
fn char_boundary(bytes: &[u8], most: usize) -> usize {
    const LONGEST_TAIL: usize = 3;
    let is_tail = |at: usize| bytes[at] & 0b1100_0000 == 0b1000_0000;
    (most.saturating_sub(LONGEST_TAIL)..=most).rev().find(|&end| !is_tail(end)).unwrap_or(most)
}

fn not_finite(x: f64) -> &'static str {
    if x.is_nan() {
        "NaN"
    } else if x > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

fn blob(bytes: &[u8]) -> String {
    if bytes.len() > HASHED_BLOB {
        return format!("<blob {} bytes>", bytes.len());
    }
    let mut text = format!("<blob {} bytes sha256:", bytes.len());
    for byte in &Sha256::digest(bytes)[..SHOWN_HASH] {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.push('>');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(value: ValueRef<'_>) -> Value {
        Cell::of(value, 100).value
    }

    #[test]
    fn integers_stay_numbers_as_long_as_every_reader_keeps_them_exact() {
        assert_eq!(value(ValueRef::Integer(EXACT_INTEGER)), json!(9_007_199_254_740_991_i64));
        assert_eq!(value(ValueRef::Integer(-EXACT_INTEGER)), json!(-9_007_199_254_740_991_i64));
        assert_eq!(value(ValueRef::Integer(EXACT_INTEGER + 1)), json!("9007199254740992"));
        assert_eq!(value(ValueRef::Integer(i64::MIN)), json!("-9223372036854775808"));
    }

    #[test]
    fn floats_stay_floats_and_infinity_is_a_word() {
        assert_eq!(value(ValueRef::Real(1.0)).to_string(), "1.0");
        assert_eq!(value(ValueRef::Real(0.1)).to_string(), "0.1");
        assert_eq!(value(ValueRef::Real(f64::INFINITY)), json!("Infinity"));
        assert_eq!(value(ValueRef::Real(f64::NEG_INFINITY)), json!("-Infinity"));
        assert_eq!(value(ValueRef::Real(f64::NAN)), json!("NaN"));
    }

    #[test]
    fn blobs_are_shown_by_size_and_hash() {
        assert_eq!(value(ValueRef::Blob(b"abc")), json!("<blob 3 bytes sha256:ba7816bf8f01>"));
        assert_eq!(value(ValueRef::Blob(b"")), json!("<blob 0 bytes sha256:e3b0c44298fc>"));
        assert_eq!(value(ValueRef::Blob("x".repeat(300_000).as_bytes())), json!("<blob 300000 bytes>"));
    }

    #[test]
    fn text_keeps_its_nuls_and_survives_bad_bytes() {
        assert_eq!(value(ValueRef::Text(b"a\0b")), json!("a\0b"));
        let cell = Cell::of(ValueRef::Text(b"caf\xe9 au lait"), 100);
        assert_eq!(cell.value, json!("caf\u{fffd} au lait"));
        assert_eq!(cell.oddities, [Oddity::BadUtf8]);
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_gives_its_length() {
        let cell = Cell::of(ValueRef::Text("é".repeat(100).as_bytes()), 5);
        assert_eq!(cell.value, json!("éé…[cut: 200 bytes in all]"));
        assert_eq!(cell.oddities, [Oddity::Cut]);
        let tails = Cell::of(ValueRef::Text(&[0x80; 100]), 5);
        assert_eq!(tails.value, json!("�����…[cut: 100 bytes in all]"));
        assert_eq!(tails.oddities, [Oddity::BadUtf8, Oddity::Cut]);
        assert_eq!(Cell::of(ValueRef::Text(b"12345"), 5).value, json!("12345"));
    }

    #[test]
    fn notes_are_one_sentence_a_kind_with_its_columns() {
        let mut notes = Notes::default();
        notes.add(1, &[Oddity::Blob]);
        notes.add(0, &[Oddity::BigInteger]);
        notes.add(1, &[Oddity::BigInteger]);
        notes.add(1, &[Oddity::BigInteger]);
        let columns = ["id".to_owned(), "parent".to_owned()];
        assert_eq!(
            notes.sentences(&columns),
            [
                "integers beyond ±(2^53−1) are given as strings, exact (in id, parent)",
                "blobs are shown by size and hash only (in parent)"
            ]
        );
    }
}
