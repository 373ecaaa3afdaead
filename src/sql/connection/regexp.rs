//! `x REGEXP pattern`, in time that grows with the text and the pattern only.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};

use super::limits::Limits;
use super::text::{Reals, bytes_of};

/// Bytes a compiled pattern may take. Counted repetitions multiply: `(\w{100}){100}` would take megabytes.
const COMPILED: usize = 256 << 10;

/// Bytes of compiled pattern × bytes of text in one call. The matcher is linear in each, at worst 0.3 ns a product
/// (measured), and nothing reaches into a call: so a second at most. `\w+\s+\w+` compiles to 70 kB, most patterns to 3.
const WORK: usize = 4_000_000_000;

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
    #[error(
        "a text of {0} bytes is too long for this REGEXP pattern: use substr(), LIKE, or a pattern that repeats less"
    )]
    TextTooLong(usize),
}

/// A pattern, compiled once a statement while it is a constant.
struct Pattern {
    regex: Regex,
    /// How long a text may be; found out only when a text is long enough to matter.
    longest_text: OnceLock<usize>,
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
        let pattern = context.get_or_create_aux(0, |pattern| Pattern::compile(pattern, longest))?;
        let Some(text) = bytes_of(context.get_raw(1), &reals)? else { return Ok(None) };
        let matched = pattern.is_match(&text).map_err(|error| Error::UserFunctionError(error.into()))?;
        Ok(Some(matched))
    })
}

impl Pattern {
    fn compile(pattern: ValueRef<'_>, longest: usize) -> Result<Self, PatternError> {
        let pattern = pattern.as_str().map_err(|_| PatternError::NotText)?;
        if pattern.len() > longest {
            return Err(PatternError::TooLong(longest));
        }
        let regex = RegexBuilder::new(pattern).size_limit(COMPILED).build().map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => PatternError::TooLarge,
            error => PatternError::Invalid(error.to_string().lines().last().unwrap_or_default().to_owned()),
        })?;
        Ok(Self { regex, longest_text: OnceLock::new() })
    }

    fn is_match(&self, text: &[u8]) -> Result<bool, PatternError> {
        if text.len() > WORK / COMPILED && text.len() > *self.longest_text.get_or_init(|| WORK / self.size()) {
            return Err(PatternError::TextTooLong(text.len()));
        }
        Ok(self.regex.is_match(text))
    }

    /// The compiled size, to the next power of two: the smallest limit under which it still compiles.
    fn size(&self) -> usize {
        let fits = |limit: usize| RegexBuilder::new(self.regex.as_str()).size_limit(limit).build().is_ok();
        let mut limit = 1 << 10;
        while limit < COMPILED && !fits(limit) {
            limit *= 2;
        }
        limit
    }
}
