//! `x REGEXP pattern`, in time that grows with the text and the pattern only.

use regex::bytes::{Regex, RegexBuilder};
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};

use super::limits::Limits;
use super::text::{Reals, bytes_of};

/// Bytes a compiled pattern may take. Counted repetitions multiply: `(\w{100}){100}` would take megabytes.
const COMPILED: usize = 256 << 10;

/// What is wrong with a pattern.
#[derive(Debug, thiserror::Error)]
enum PatternError {
    #[error("the REGEXP pattern is not text")]
    NotText,
    #[error("the REGEXP pattern is longer than {0} bytes: use a shorter one")]
    TooLong(usize),
    #[error("the REGEXP pattern expands to too much: use fewer or smaller repetitions")]
    TooLarge,
    #[error("the REGEXP pattern is not valid: {0}")]
    Invalid(String),
}

/// Adds `regexp(pattern, text)`, which is what the operator calls.
pub(super) fn register(connection: &Connection, limits: &Limits) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    let longest = usize::try_from(limits.like_pattern).unwrap_or(0);
    let reals = Reals::new()?;
    connection.create_scalar_function("regexp", 2, flags, move |context| {
        if context.get_raw(0) == ValueRef::Null || context.get_raw(1) == ValueRef::Null {
            return Ok(None);
        }
        // Compiled once a statement while the pattern is a constant.
        let pattern = context.get_or_create_aux(0, |pattern| compile(pattern, longest))?;
        let text = bytes_of(context.get_raw(1), &reals)?;
        Ok::<_, Error>(text.map(|text| pattern.is_match(&text)))
    })
}

fn compile(pattern: ValueRef<'_>, longest: usize) -> Result<Regex, PatternError> {
    let pattern = pattern.as_str().map_err(|_| PatternError::NotText)?;
    if pattern.len() > longest {
        return Err(PatternError::TooLong(longest));
    }
    RegexBuilder::new(pattern).size_limit(COMPILED).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => PatternError::TooLarge,
        error => PatternError::Invalid(error.to_string().lines().last().unwrap_or_default().to_owned()),
    })
}
