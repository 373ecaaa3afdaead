//! Why a text is refused: one sentence each, for the model to act on.

use std::fmt;

use thiserror::Error;

use super::MAX_BYTES;
use super::advice::{BadTokenAdvice, VerbAdvice};
use crate::sql::gate::{Refusal, RefusalKind};

/// Why a text is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// Nothing but white space, comments and semicolons.
    #[error("there is no SQL in this text: send one SELECT statement")]
    Empty,
    /// A NUL character: SQLite would stop reading there, and another text would run than the one in the audit.
    #[error("the SQL holds a NUL character, where SQLite would stop reading: leave it out")]
    Nul,
    /// Longer than [`MAX_BYTES`].
    #[error("the SQL is {bytes} bytes long and the limit is {MAX_BYTES}: use a join or a range instead of long lists")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// It starts with anything but SELECT, WITH or VALUES.
    #[error("only SELECT, WITH … SELECT or VALUES can run here, and this starts with “{found}”: {advice}")]
    NotSelect {
        /// What it starts with.
        found: Excerpt,
        /// What to do instead.
        advice: VerbAdvice,
    },
    /// A WITH clause whose main statement writes.
    #[error("the WITH clause ends in {verb}, which writes, and the data is read-only: end it in a SELECT")]
    WithWrite {
        /// The verb.
        verb: Excerpt,
    },
    /// A WITH clause that isn't followed by a SELECT, or has another shape.
    #[error("the WITH clause is not complete: write WITH name AS (SELECT …) SELECT … FROM name")]
    WithIncomplete,
    /// Something follows the semicolon.
    #[error(
        "only one statement can run at a time, and “{found}” follows the semicolon: send each in a call of its own"
    )]
    SecondStatement {
        /// What follows.
        found: Excerpt,
    },
    /// More than one trailing semicolon.
    #[error("the statement ends in more than one semicolon: end it in one, or none")]
    ExtraSemicolon,
    /// A parameter, which nothing here binds; SQLite would read it as NULL.
    #[error("the SQL holds the parameter “{found}”, and nothing binds it: write the value itself")]
    Parameter {
        /// The parameter.
        found: Excerpt,
    },
    /// EXPLAIN without QUERY PLAN.
    #[error("EXPLAIN alone lists the engine's instructions: write EXPLAIN QUERY PLAN SELECT …")]
    ExplainBytecode,
    /// EXPLAIN QUERY PLAN of anything but a SELECT.
    #[error("EXPLAIN QUERY PLAN works on a SELECT only: put it before SELECT, WITH … SELECT or VALUES")]
    ExplainOther,
    /// Parentheses that don't pair.
    #[error("a “{which}” has no partner: balance the parentheses")]
    Parenthesis {
        /// `(` or `)`.
        which: char,
    },
    /// A quote that opens and never closes.
    #[error("a quote near “{near}” is never closed: close it, and double each quote that stands inside the quotes")]
    UnclosedQuote {
        /// What stands around the opening quote.
        near: Excerpt,
    },
    /// Something SQLite has no token for.
    #[error("SQLite cannot read “{found}”: {advice}")]
    BadToken {
        /// The part.
        found: Excerpt,
        /// What to do about it.
        advice: BadTokenAdvice,
    },
}

/// A refusal without its particulars, as the table of cases names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each stands for the variant of `Refused` of the same name")]
pub enum Reason {
    Empty,
    Nul,
    TooLong,
    NotSelect,
    WithWrite,
    WithIncomplete,
    SecondStatement,
    ExtraSemicolon,
    Parameter,
    ExplainBytecode,
    ExplainOther,
    Parenthesis,
    UnclosedQuote,
    BadToken,
}

impl Refused {
    /// The refusal without its particulars.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Empty => Reason::Empty,
            Self::Nul => Reason::Nul,
            Self::TooLong { .. } => Reason::TooLong,
            Self::NotSelect { .. } => Reason::NotSelect,
            Self::WithWrite { .. } => Reason::WithWrite,
            Self::WithIncomplete => Reason::WithIncomplete,
            Self::SecondStatement { .. } => Reason::SecondStatement,
            Self::ExtraSemicolon => Reason::ExtraSemicolon,
            Self::Parameter { .. } => Reason::Parameter,
            Self::ExplainBytecode => Reason::ExplainBytecode,
            Self::ExplainOther => Reason::ExplainOther,
            Self::Parenthesis { .. } => Reason::Parenthesis,
            Self::UnclosedQuote { .. } => Reason::UnclosedQuote,
            Self::BadToken { .. } => Reason::BadToken,
        }
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        Self { kind: RefusalKind::Guard, message: refused.to_string() }
    }
}

/// A short piece of the text, fit to stand in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    /// Long enough to recognise the place, too short to carry the text along.
    const MAX_CHARS: usize = 32;

    /// The beginning of a piece, on one line; what would not show is written as its number.
    pub(super) fn of(piece: &str) -> Self {
        let mut shown = String::new();
        let mut chars = piece.chars();
        for c in chars.by_ref().take(Self::MAX_CHARS) {
            match c {
                '\t' | '\n' | '\r' => shown.push(' '),
                ' '..='~' => shown.push(c),
                c if c.is_alphanumeric() => shown.push(c),
                c => shown.extend(["<U+", &format!("{:04X}", u32::from(c)), ">"]),
            }
        }
        if chars.next().is_some() {
            shown.push('…');
        }
        Self(shown)
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_short_line_without_hidden_characters() {
        assert_eq!(Excerpt::of("DROP").to_string(), "DROP");
        assert_eq!(Excerpt::of("'a\nb é").to_string(), "'a b é");
        assert_eq!(Excerpt::of("\u{a0}SELECT\u{202e}\x1b").to_string(), "<U+00A0>SELECT<U+202E><U+001B>");
        assert_eq!(Excerpt::of(&"x".repeat(33)).to_string(), format!("{}…", "x".repeat(32)));
    }
}
