//! `instr`, `replace` and the two-argument `trim` family, with the results of SQLite's own in linear time.
//!
//! SQLite compares every position with every candidate. One such call on a few hundred kilobytes runs for seconds to
//! most of a minute, and neither the deadline nor an interrupt reaches into a call.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use memchr::memmem;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, Result};

use super::limits::Limits;

/// Bytes of text × bytes of set that `trim` may compare where text or set isn't UTF-8, so that characters can't be
/// told apart by themselves: some tens of milliseconds.
const COMPARISONS: usize = 50_000_000;

/// Why a call can't be answered.
#[derive(Debug, thiserror::Error)]
enum TextError {
    #[error("string or blob too big")]
    TooBig,
    #[error("trim() of text that is neither short nor valid UTF-8: shorten it with substr() first")]
    Unclear,
}

/// Replaces SQLite's own functions on this connection.
pub(super) fn register(connection: &Connection, limits: &Limits) -> Result<()> {
    let reals = Reals::new()?;
    let longest = usize::try_from(limits.length).unwrap_or(0);
    define(connection, "instr", 2, reals.clone(), move |context, reals| instr(context, reals).map(Answer::from))?;
    define(connection, "replace", 3, reals.clone(), move |context, reals| replace(context, reals, longest))?;
    for (name, sides) in [("trim", Sides::Both), ("ltrim", Sides::Left), ("rtrim", Sides::Right)] {
        define(connection, name, 2, reals.clone(), move |context, reals| trim(context, reals, sides))?;
    }
    Ok(())
}

fn define<F>(connection: &Connection, name: &'static str, arguments: i32, reals: Reals, function: F) -> Result<()>
where
    F: Fn(&Context<'_>, &Reals) -> Result<Answer> + Send + 'static,
{
    // Innocuous, as SQLite's own are: views may call them, indexes may be made of them.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function(name, arguments, flags, move |context| function(context, &reals))
}

/// A result; text may be anything SQLite takes for text.
enum Answer {
    Null,
    Number(i64),
    Text(Vec<u8>),
}

impl From<Option<i64>> for Answer {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Self::Null, Self::Number)
    }
}

impl ToSql for Answer {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text),
        }))
    }
}

/// Writes real numbers the way SQLite does, by asking it where that isn't plain.
#[derive(Clone)]
pub(super) struct Reals(Arc<Mutex<Connection>>);

impl Reals {
    pub(super) fn new() -> Result<Self> {
        Ok(Self(Arc::new(Mutex::new(Connection::open_in_memory()?))))
    }

    fn text(&self, real: f64) -> Result<String> {
        // Whole numbers that a double holds exactly are written alike by everybody.
        if real.fract() == 0.0 && real.abs() < 1e15 && (real != 0.0 || real.is_sign_positive()) {
            return Ok(format!("{real:.1}"));
        }
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        connection.query_row("SELECT CAST(?1 AS TEXT)", [real], |row| row.get(0))
    }
}

/// A value as SQLite would read it where text is wanted; `None` for NULL.
pub(super) fn bytes_of<'v>(value: ValueRef<'v>, reals: &Reals) -> Result<Option<Cow<'v, [u8]>>> {
    Ok(Some(match value {
        ValueRef::Null => return Ok(None),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Cow::Borrowed(bytes),
        ValueRef::Integer(number) => Cow::Owned(number.to_string().into_bytes()),
        ValueRef::Real(real) => Cow::Owned(reals.text(real)?.into_bytes()),
    }))
}

fn instr(context: &Context<'_>, reals: &Reals) -> Result<Option<i64>> {
    let (haystack, needle) = (context.get_raw(0), context.get_raw(1));
    let in_bytes = matches!((haystack, needle), (ValueRef::Blob(_), ValueRef::Blob(_)));
    let (Some(haystack), Some(needle)) = (bytes_of(haystack, reals)?, bytes_of(needle, reals)?) else {
        return Ok(None);
    };
    let position = if in_bytes { byte_position(&haystack, &needle) } else { character_position(&haystack, &needle) };
    Ok(Some(i64::try_from(position).unwrap_or(i64::MAX)))
}

fn byte_position(haystack: &[u8], needle: &[u8]) -> usize {
    memmem::find(haystack, needle).map_or(0, |at| at + 1)
}

/// Only the start of a character counts as a place. A needle that begins inside a character (which valid text can't)
/// is found at the very start or nowhere.
fn character_position(haystack: &[u8], needle: &[u8]) -> usize {
    let at = match needle.first() {
        Some(&first) if continues(first) => haystack.starts_with(needle).then_some(0),
        _ => memmem::find(haystack, needle),
    };
    let starts = |at: usize| haystack.iter().take(at + 1).skip(1).filter(|&&byte| !continues(byte)).count();
    at.map_or(0, |at| 1 + starts(at))
}

fn continues(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

fn replace(context: &Context<'_>, reals: &Reals, longest: usize) -> Result<Answer> {
    let Some(text) = bytes_of(context.get_raw(0), reals)? else { return Ok(Answer::Null) };
    let Some(pattern) = bytes_of(context.get_raw(1), reals)? else { return Ok(Answer::Null) };
    // SQLite takes a pattern that begins with NUL for an empty one, and an empty one for nothing to do.
    if matches!(pattern.first(), None | Some(0)) {
        return Ok(Answer::Text(text.into_owned()));
    }
    let Some(replacement) = bytes_of(context.get_raw(2), reals)? else { return Ok(Answer::Null) };
    let mut written = Vec::new();
    let mut from = 0;
    for at in memmem::find_iter(&text, &*pattern) {
        written.extend_from_slice(&text[from..at]);
        written.extend_from_slice(&replacement);
        from = at + pattern.len();
        if written.len() > longest {
            return Err(Error::UserFunctionError(TextError::TooBig.into()));
        }
    }
    written.extend_from_slice(&text[from..]);
    Ok(Answer::Text(written))
}

#[derive(Clone, Copy, PartialEq)]
enum Sides {
    Left,
    Right,
    Both,
}

fn trim(context: &Context<'_>, reals: &Reals, sides: Sides) -> Result<Answer> {
    let Some(text) = bytes_of(context.get_raw(0), reals)? else { return Ok(Answer::Null) };
    let Some(set) = bytes_of(context.get_raw(1), reals)? else { return Ok(Answer::Null) };
    // SQLite reads the set up to its first NUL.
    let set = set.split(|&byte| byte == 0).next().unwrap_or_default();
    let kept = match (str::from_utf8(&text), str::from_utf8(set)) {
        (Ok(text), Ok(set)) => trim_characters(text, set, sides).as_bytes(),
        _ if text.len().saturating_mul(set.len()) <= COMPARISONS => trim_bytes(&text, set, sides),
        _ => return Err(Error::UserFunctionError(TextError::Unclear.into())),
    };
    Ok(Answer::Text(kept.to_vec()))
}

fn trim_characters<'t>(mut text: &'t str, set: &str, sides: Sides) -> &'t str {
    let mut characters: Vec<char> = set.chars().collect();
    characters.sort_unstable();
    characters.dedup();
    let is_in_set = |character| characters.binary_search(&character).is_ok();
    if sides != Sides::Right {
        text = text.trim_start_matches(is_in_set);
    }
    if sides != Sides::Left {
        text = text.trim_end_matches(is_in_set);
    }
    text
}

/// The same where bytes don't make characters: SQLite then takes a lead byte with whatever continues it for one.
fn trim_bytes<'t>(mut text: &'t [u8], set: &[u8], sides: Sides) -> &'t [u8] {
    let mut units: Vec<&[u8]> = Vec::new();
    let mut rest = set;
    while let Some(&first) = rest.first() {
        let length = 1 + if first >= 0xc0 { rest[1..].iter().take_while(|&&byte| continues(byte)).count() } else { 0 };
        units.push(&rest[..length]);
        rest = &rest[length..];
    }
    if sides != Sides::Right {
        while let Some(shorter) = units.iter().find_map(|unit| text.strip_prefix(*unit)) {
            text = shorter;
        }
    }
    if sides != Sides::Left {
        while let Some(shorter) = units.iter().find_map(|unit| text.strip_suffix(*unit)) {
            text = shorter;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::types::Value;

    use super::*;

    fn both() -> (Connection, Connection) {
        let (theirs, ours) = (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
        register(&ours, &Limits::default()).unwrap();
        (theirs, ours)
    }

    /// A result as bytes with its type, so that text that isn't UTF-8 can be compared too.
    fn call(connection: &Connection, function: &str, arguments: &[Value]) -> (String, Vec<u8>) {
        let marks = vec!["?"; arguments.len()].join(",");
        let sql = format!("SELECT typeof(v), CAST(v AS BLOB) FROM (SELECT {function}({marks}) AS v)");
        connection
            .query_row(&sql, rusqlite::params_from_iter(arguments), |row| {
                Ok((row.get(0)?, row.get::<_, Option<Vec<u8>>>(1)?.unwrap_or_default()))
            })
            .unwrap()
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            6 => "[abé€😀 \\x00]{0,8}".prop_map(Value::Text),
            2 => prop::collection::vec(prop_oneof![Just(0x61), Just(0x62), Just(0xc3), Just(0xa9), Just(0xff), Just(0)], 0..8)
                .prop_map(Value::Blob),
            1 => (-200_i64..200).prop_map(Value::Integer),
            1 => any::<f64>().prop_map(Value::Real),
            1 => (-2000_i32..2000).prop_map(|n| Value::Real(f64::from(n) / 8.0)),
            1 => Just(Value::Null),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn our_functions_give_what_sqlites_give(x in value(), y in value(), z in value()) {
            let (theirs, ours) = both();
            for function in ["instr", "trim", "ltrim", "rtrim"] {
                let arguments = [x.clone(), y.clone()];
                prop_assert_eq!(call(&theirs, function, &arguments), call(&ours, function, &arguments), "{}", function);
            }
            let arguments = [x, y, z];
            prop_assert_eq!(call(&theirs, "replace", &arguments), call(&ours, "replace", &arguments), "replace");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn text_that_is_not_utf8_is_cut_as_sqlite_cuts_it(
            x in prop::collection::vec(prop_oneof![Just(0x61_u8), Just(0x80), Just(0xc3), Just(0xa9), Just(0xf0)], 0..9),
            y in prop::collection::vec(prop_oneof![Just(0x61_u8), Just(0x80), Just(0xc3), Just(0xa9), Just(0xf0)], 0..4),
        ) {
            let (theirs, ours) = both();
            for call_of in ["instr(CAST(?1 AS TEXT), CAST(?2 AS TEXT))", "replace(CAST(?1 AS TEXT), CAST(?2 AS TEXT), '-')",
                "trim(CAST(?1 AS TEXT), CAST(?2 AS TEXT))", "ltrim(?1, ?2)", "rtrim(?1, ?2)", "instr(?1, ?2)", "instr(CAST(?1 AS TEXT), ?2)"] {
                let sql = format!("SELECT CAST({call_of} AS BLOB)");
                let result = |connection: &Connection| -> Vec<u8> {
                    connection.query_row(&sql, [&x, &y], |row| row.get(0)).unwrap()
                };
                prop_assert_eq!(result(&theirs), result(&ours), "{}", call_of);
            }
        }
    }

    #[test]
    fn a_replacement_that_grows_too_large_is_too_big() {
        let (_, ours) = both();
        let error = ours
            .query_row("SELECT replace(printf('%.*c', 3000, 'a'), 'a', printf('%.*c', 3000, 'b'))", [], |_| Ok(()))
            .unwrap_err();
        assert!(error.to_string().contains("too big"));
    }
}
