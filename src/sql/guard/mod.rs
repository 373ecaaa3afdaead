//! Belt 2: exactly one SELECT, WITH … SELECT or VALUES, decided by SQLite's own token rules.
//!
//! # What it claims
//!
//! A text that passes [`check`] is, to SQLite, either **one statement that selects** (it reads only, gives columns, has
//! no parameter and nothing behind it) or an error at prepare. It stops writes, DDL, ATTACH, PRAGMA, transactions,
//! VACUUM INTO and stacked statements before SQLite sees them. That matters because SQLite alone doesn't: it calls
//! ATTACH and BEGIN "read only", and a pragma acts while it is *prepared*, even under EXPLAIN.
//!
//! It does not claim that the query is harmless: which functions, tables and columns it may touch is for the connection's
//! authorizer (belt 1), how long it runs for the deadline.
//!
//! # How
//!
//! 1. `lexer` cuts the text where SQLite's tokenizer would cut it. Quotes and comments are thereby what SQLite takes
//!    them for, and words inside them are not words.
//! 2. `grammar` reads the outermost layer. SQLite's grammar has three ways to start a statement that selects: SELECT,
//!    VALUES, and WITH, whose common table expressions are skipped by their parentheses to find the verb they belong to.
//!    EXPLAIN QUERY PLAN may precede them. Comments stand anywhere; the statement may end in one semicolon.
//! 3. Everything else is a [`Refused`], whose sentence tells the model what to do instead.
//!
//! There is **no list of forbidden words**, so `updated_at`, `'drop table'`, `replace(…)` and a column named `merge` are
//! no trouble. The few words in `advice` choose a sentence only after the text is refused. The text is never edited;
//! [`strip_fence`] is a step of its own, before the guard, and the caller audits both texts.
//!
//! What is a plain error in SQLite anyway (an unclosed quote, a lone `)`, `::`) is refused here when the lexer sees it,
//! for the clearer sentence; all other errors are left to SQLite, whose messages name the place.
//!
//! # Why to believe it
//!
//! - [`spec::CASES`] is one table of what passes and what doesn't, most lines from faults other guards had in the
//!   field. Tests run it, and so does `pi-sql doctor` where the program is deployed.
//! - `differential` (tests only) holds the claim above against SQLite itself over random texts, and its converse: what is refused
//!   is no statement that SQLite and the authorizer would have let select, but for the refusals made on purpose
//!   (NUL, length, parameters, extra semicolons, EXPLAIN's bytecode).
//! - [`Guarded`] has no other way in than [`check`], and deserializing runs it again: the process that reads the data
//!   can't hold an unguarded text.
#![forbid(unsafe_code)]

mod advice;
#[cfg(test)]
mod differential;
mod fence;
mod grammar;
pub(in crate::sql) mod lexer;
mod refused;
pub mod spec;

use serde::{Deserialize, Serialize, Serializer};

pub use advice::{BadTokenAdvice, VerbAdvice};
pub use fence::strip_fence;
use grammar::Shape;
pub use refused::{Excerpt, Reason, Refused};

/// The longest text, in bytes: far beyond what a question needs, and a bound on the work here and in SQLite's parser.
pub const MAX_BYTES: usize = 100_000;

/// A text that passed the guard, unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Guarded {
    sql: String,
    shape: Shape,
}

/// Lets one SELECT through, whole and unchanged, and nothing else.
pub fn check(text: &str) -> Result<Guarded, Refused> {
    Guarded::try_from(text.to_owned())
}

impl Guarded {
    /// The SQL, byte for byte as it was given.
    pub fn as_str(&self) -> &str {
        &self.sql
    }

    /// Whether it asks for the query's plan instead of its rows.
    pub fn is_explain(&self) -> bool {
        self.shape == Shape::QueryPlan
    }
}

impl TryFrom<String> for Guarded {
    type Error = Refused;

    fn try_from(sql: String) -> Result<Self, Refused> {
        if sql.contains('\0') {
            return Err(Refused::Nul);
        }
        if sql.len() > MAX_BYTES {
            return Err(Refused::TooLong { bytes: sql.len() });
        }
        let shape = grammar::shape(&sql)?;
        Ok(Self { sql, shape })
    }
}

impl Serialize for Guarded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.sql)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guarded_text_is_unchanged_and_knows_what_it_is() {
        let text = "\u{feff} -- count\nSELECT count(*) FROM t ; ";
        let guarded = check(text).unwrap();
        assert_eq!(guarded.as_str(), text);
        assert!(!guarded.is_explain());
        assert!(check("explain/**/query plan select 1").unwrap().is_explain());
    }

    #[test]
    fn an_unguarded_text_cannot_come_in_over_the_wire() {
        let wire = serde_json::to_string(&check("SELECT 1").unwrap()).unwrap();
        assert_eq!(wire, r#""SELECT 1""#);
        assert_eq!(serde_json::from_str::<Guarded>(&wire).unwrap(), check("SELECT 1").unwrap());
        let refused = serde_json::from_str::<Guarded>(r#""SELECT 1; DROP TABLE t""#).unwrap_err().to_string();
        assert_eq!(refused, check("SELECT 1; DROP TABLE t").unwrap_err().to_string());
    }

    #[test]
    fn a_refusal_never_echoes_the_text() {
        for start in ["", "SELECT '", "SELECT 1;", "SELECT :", "SELECT 1", "`", "WITH a AS (SELECT 1) "] {
            let message = check(&format!("{start}{}", "x".repeat(5_000))).unwrap_err().to_string();
            assert!(message.len() < 300, "{message}");
        }
    }

    #[test]
    fn a_refusal_says_what_to_do_instead() {
        for (sql, part) in [
            ("SHOW TABLES", "list_tables"),
            ("DESCRIBE events", "describe_table"),
            ("PRAGMA table_info(events)", "describe_table"),
            (".tables", "list_tables"),
            (r"\d events", "describe_table"),
            ("FROM events", "SELECT * FROM"),
            ("TABLE events", "SELECT * FROM"),
            ("(SELECT 1)", "parentheses"),
            ("```sql\nSELECT 1", "fence"),
            ("SELECT\u{a0}1", "U+00A0"),
            ("delete from events", "“delete”"),
            ("SELECT id::text FROM events", "CAST"),
            ("SELECT 2^3", "pow"),
            ("SELECT * FROM 2024_sales", "double quotes"),
            ("SELECT * FROM events WHERE id = ?1", "“?1”"),
            ("WITH a AS (SELECT 1) DELETE FROM t", "DELETE"),
            ("SELECT 1; DROP TABLE t", "“DROP”"),
            ("EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN"),
            ("SELECT a FROM t WHERE b = 'it's'", "= 'it's'”"),
        ] {
            let message = check(sql).unwrap_err().to_string();
            assert!(message.contains(part), "{sql}: {message}");
        }
    }
}
