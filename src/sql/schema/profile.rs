//! What a table's columns really hold, from a bounded look at its rows.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rusqlite::types::{Type, ValueRef};
use rusqlite::{ErrorCode, OptionalExtension};
use serde_json::Value;

use crate::sql::cell::Cell;
use crate::sql::connection::Restricted;
use crate::sql::schema::TableName;
use crate::sql::schema::count::rowid_alias;

/// Cells that are looked at: a few milliseconds' worth, the same rows on every call.
const CELLS: usize = 40_000;

/// Rows that are looked at however wide the table is.
const FEWEST_ROWS: usize = 200;

/// Newest rows that are looked at besides, where the first ones are not all: formats change over the years.
const NEWEST_ROWS: usize = 200;

/// Bytes of text that are looked at: long documents must not make a description slow.
const BYTES: usize = 4 << 20;

/// The backstop for views and slow disks.
const TIME: Duration = Duration::from_millis(250);

/// Distinct values of a column that are counted; a column with more has no list worth showing.
const TRACKED: usize = 64;

/// Sample values of a column.
const SAMPLES: usize = 8;

/// Sample values of a column whose values never repeat (ids, times): enough to show their form.
const UNIQUE_SAMPLES: usize = 3;

/// From this many columns on, only `UNIQUE_SAMPLES` are shown: a description must fit a small model.
const WIDE: usize = 100;

/// Bytes of a sample value.
const SAMPLE_BYTES: usize = 80;

/// What one column holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ColumnProfile {
    /// Storage classes seen, most frequent first.
    pub(super) storage: Vec<String>,
    /// Distinct values, most frequent first.
    pub(super) samples: Vec<Value>,
    /// Whether `samples` is proven to hold every distinct value.
    pub(super) complete: bool,
}

/// What was seen of a table.
#[derive(Debug)]
pub(super) struct Profile {
    /// One for each column asked for, in order.
    pub(super) columns: Vec<ColumnProfile>,
    /// Rows seen from the start.
    pub(super) rows: u64,
    /// Whether these were all.
    pub(super) whole: bool,
}

/// A column to look at.
pub(super) struct Column<'a> {
    /// Its name, ready for SQL.
    pub(super) quoted: &'a str,
    /// Whether an index in plain byte order starts with it, so that its distinct values can be sought one by one.
    pub(super) indexed: bool,
}

/// Looks at the first rows, and at the newest where those are not all.
pub(super) fn profile(connection: &Restricted, table: &TableName, columns: &[Column<'_>]) -> Profile {
    if columns.is_empty() {
        return Profile { columns: Vec::new(), rows: 0, whole: false };
    }
    let deadline = Instant::now() + TIME;
    let all: Vec<&str> = columns.iter().map(|column| column.quoted).collect();
    let mut seen = vec![Seen::default(); columns.len()];
    let scan = scan(connection, table, &all, &mut seen, deadline);
    let failed = scan.error.is_some_and(|error| error.sqlite_error_code() != Some(ErrorCode::OperationInterrupted));
    if failed && columns.len() > 1 {
        // One column that can't be computed (a generated one, a view's expression) must not hide the others.
        for (name, seen) in all.iter().zip(&mut seen) {
            *seen = Seen::default();
            self::scan(connection, table, &[name], std::slice::from_mut(seen), deadline);
        }
    }
    let whole = scan.whole;
    if !whole && !failed {
        newest(connection, table, &all, &mut seen, deadline);
    }
    let most = if columns.len() < WIDE { SAMPLES } else { UNIQUE_SAMPLES };
    let columns = columns.iter().zip(seen).map(|(column, mut seen)| {
        let proven =
            whole || (column.indexed && seek_all(connection, table, column.quoted, &mut seen).unwrap_or(false));
        seen.profile(most, proven)
    });
    Profile { columns: columns.collect(), rows: scan.rows, whole }
}

/// What a look at rows came to.
struct Scan {
    rows: u64,
    whole: bool,
    error: Option<rusqlite::Error>,
}

fn scan(connection: &Restricted, table: &TableName, columns: &[&str], seen: &mut [Seen], deadline: Instant) -> Scan {
    let most = (CELLS / columns.len().max(1)).max(FEWEST_ROWS);
    look(connection, &format!("SELECT {} FROM {}", columns.join(", "), table.quoted()), most, seen, deadline)
}

fn newest(connection: &Restricted, table: &TableName, columns: &[&str], seen: &mut [Seen], deadline: Instant) {
    if let Ok(Some(rowid)) = rowid_alias(connection, table) {
        let sql = format!("SELECT {} FROM {} ORDER BY {rowid} DESC", columns.join(", "), table.quoted());
        look(connection, &sql, NEWEST_ROWS, seen, deadline);
    }
}

fn look(connection: &Restricted, sql: &str, most: usize, seen: &mut [Seen], deadline: Instant) -> Scan {
    let mut scan = Scan { rows: 0, whole: false, error: None };
    let mut attempt = || -> rusqlite::Result<bool> {
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.raw_query();
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            if scan.rows >= most as u64 || bytes > BYTES || Instant::now() > deadline {
                return Ok(false);
            }
            for (column, seen) in seen.iter_mut().enumerate() {
                bytes += seen.add(row.get_ref(column)?);
            }
            scan.rows += 1;
        }
        Ok(true)
    };
    match attempt() {
        Ok(whole) => scan.whole = whole,
        Err(error) => scan.error = Some(error),
    }
    scan
}

/// Seeks a column's distinct values one after the other in its index; true when these are all.
fn seek_all(connection: &Restricted, table: &TableName, column: &str, seen: &mut Seen) -> rusqlite::Result<bool> {
    if seen.overflowed || seen.values.len() > SAMPLES {
        return Ok(false);
    }
    let from = table.quoted();
    let next = format!(
        "SELECT {column} FROM {from} WHERE {column} COLLATE BINARY > ?1 ORDER BY {column} COLLATE BINARY LIMIT 1"
    );
    let first =
        format!("SELECT {column} FROM {from} WHERE {column} IS NOT NULL ORDER BY {column} COLLATE BINARY LIMIT 1");
    let mut value: Option<rusqlite::types::Value> = connection.query_row(&first, [], |row| row.get(0)).optional()?;
    let mut statement = connection.prepare(&next)?;
    for _ in 0..=SAMPLES {
        let Some(this) = value else { return Ok(true) };
        seen.learn((&this).into());
        value = statement.query_row([this], |row| row.get(0)).optional()?;
    }
    Ok(false)
}

/// A value as the key of a count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Integer(i64),
    Real(u64),
    /// The first bytes, and whether there are more.
    Text(Vec<u8>, bool),
}

/// What has been seen of one column.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Rows by storage class, in the order of `Type`.
    classes: [u64; 5],
    /// Count and order of appearance of each distinct value.
    values: HashMap<Key, (u64, usize)>,
    /// More distinct values than are tracked, or one that is too long or a blob.
    overflowed: bool,
}

impl Seen {
    /// Counts a cell; gives its size in bytes.
    fn add(&mut self, value: ValueRef<'_>) -> usize {
        self.classes[class(value.data_type())] += 1;
        self.count(value, 1)
    }

    /// Takes a value that was found outside the rows looked at.
    fn learn(&mut self, value: ValueRef<'_>) {
        self.count(value, 0);
        let class = &mut self.classes[class(value.data_type())];
        *class = (*class).max(1);
    }

    fn count(&mut self, value: ValueRef<'_>, times: u64) -> usize {
        let (key, size) = match value {
            ValueRef::Null => return 1,
            ValueRef::Blob(bytes) => {
                self.overflowed = true;
                return bytes.len();
            }
            ValueRef::Integer(n) => (Key::Integer(n), 8),
            ValueRef::Real(x) => (Key::Real(x.to_bits()), 8),
            ValueRef::Text(bytes) if self.values.len() >= TRACKED && self.overflowed => return bytes.len(),
            ValueRef::Text(bytes) => {
                let kept = &bytes[..bytes.len().min(SAMPLE_BYTES + 1)];
                self.overflowed |= bytes.len() > SAMPLE_BYTES;
                (Key::Text(kept.to_vec(), bytes.len() > SAMPLE_BYTES), bytes.len())
            }
        };
        let order = self.values.len();
        if order < TRACKED || self.values.contains_key(&key) {
            self.values.entry(key).or_insert((0, order)).0 += times;
        } else {
            self.overflowed = true;
        }
        size
    }

    fn profile(self, most: usize, proven: bool) -> ColumnProfile {
        let mut classes: Vec<(u64, &str)> =
            self.classes.into_iter().zip(CLASS_NAMES).filter(|(count, _)| *count > 0).collect();
        classes.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let repeats = self.values.values().any(|(count, _)| *count > 1);
        let exact = !self.overflowed && self.values.keys().all(Key::is_exact);
        let complete = proven && exact && self.values.len() <= most;
        let shown = if complete || repeats { most } else { UNIQUE_SAMPLES };
        let mut values: Vec<(Key, (u64, usize))> = self.values.into_iter().collect();
        values.sort_by_key(|(_, (count, order))| (std::cmp::Reverse(*count), *order));
        ColumnProfile {
            storage: classes.into_iter().map(|(_, name)| name.to_owned()).collect(),
            samples: values.iter().take(shown).map(|(key, _)| key.sample()).collect(),
            complete,
        }
    }
}

impl Key {
    /// Whether its sample can be compared with the column.
    fn is_exact(&self) -> bool {
        match self {
            Self::Integer(_) | Self::Real(_) => true,
            Self::Text(bytes, cut) => !cut && std::str::from_utf8(bytes).is_ok(),
        }
    }

    fn sample(&self) -> Value {
        match self {
            Self::Integer(n) => Cell::of(ValueRef::Integer(*n), SAMPLE_BYTES).value,
            Self::Real(bits) => Cell::of(ValueRef::Real(f64::from_bits(*bits)), SAMPLE_BYTES).value,
            Self::Text(bytes, false) => Cell::of(ValueRef::Text(bytes), SAMPLE_BYTES).value,
            Self::Text(bytes, true) => {
                let text = String::from_utf8_lossy(bytes);
                Value::String(format!("{}…", &text[..text.floor_char_boundary(SAMPLE_BYTES - 3)]))
            }
        }
    }
}

const CLASS_NAMES: [&str; 5] = ["null", "integer", "real", "text", "blob"];

fn class(of: Type) -> usize {
    match of {
        Type::Null => 0,
        Type::Integer => 1,
        Type::Real => 2,
        Type::Text => 3,
        Type::Blob => 4,
    }
}
