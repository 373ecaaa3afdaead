//! What to do instead of what was tried.

use std::fmt;

/// What to do instead of a statement that can't run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant's sentence, below, says what it is")]
pub enum VerbAdvice {
    ReadOnly,
    Introspection,
    Transaction,
    OneDatabase,
    Maintenance,
    NoServer,
    FromFirst,
    TableShorthand,
    OuterParentheses,
    Fence,
    HiddenCharacter,
    SqlOnly,
}

/// What to do about something SQLite can't read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant's sentence, below, says what it is")]
pub enum BadTokenAdvice {
    Cast,
    Number,
    Blob,
    Power,
    Not,
    Backslash,
    Comment,
    Placeholder,
    Control,
    Other,
}

impl VerbAdvice {
    /// For a text that starts with this token. The words only choose a sentence; what is refused never depends on them.
    pub(super) fn for_start(token: &str) -> Self {
        if token.starts_with("```") {
            return Self::Fence;
        }
        if token.chars().any(|c| !c.is_ascii() && !c.is_alphanumeric()) {
            return Self::HiddenCharacter;
        }
        match token.to_ascii_uppercase().as_str() {
            "INSERT" | "UPDATE" | "DELETE" | "REPLACE" | "MERGE" | "UPSERT" | "TRUNCATE" | "CREATE" | "DROP"
            | "ALTER" | "RENAME" | "COMMENT" | "COPY" | "LOAD" | "IMPORT" | "EXPORT" | "UNLOAD" => Self::ReadOnly,
            "PRAGMA" | "SHOW" | "DESCRIBE" | "DESC" | "HELP" | "." | "\\" => Self::Introspection,
            "BEGIN" | "START" | "COMMIT" | "END" | "ROLLBACK" | "ABORT" | "SAVEPOINT" | "RELEASE" | "LOCK"
            | "UNLOCK" => Self::Transaction,
            "ATTACH" | "DETACH" | "USE" | "CONNECT" => Self::OneDatabase,
            "VACUUM" | "ANALYZE" | "REINDEX" | "OPTIMIZE" | "CHECKPOINT" | "REFRESH" => Self::Maintenance,
            "SET" | "RESET" | "DECLARE" | "EXEC" | "EXECUTE" | "CALL" | "DO" | "PREPARE" | "GRANT" | "REVOKE"
            | "INSTALL" | "KILL" => Self::NoServer,
            "FROM" => Self::FromFirst,
            "TABLE" => Self::TableShorthand,
            "(" => Self::OuterParentheses,
            _ => Self::SqlOnly,
        }
    }
}

impl BadTokenAdvice {
    /// For a part that can't be read, and the text that follows it.
    pub(super) fn for_part(part: &str, rest: &str) -> Self {
        match part.chars().next() {
            Some(':') if rest.starts_with(':') || part.starts_with("::") => Self::Cast,
            Some('0'..='9' | '.') => Self::Number,
            Some('x' | 'X') => Self::Blob,
            Some('^') => Self::Power,
            Some('!') => Self::Not,
            Some('\\') => Self::Backslash,
            Some('#') => Self::Comment,
            Some('{' | '}' | '$' | '@' | ':') => Self::Placeholder,
            Some(c) if c.is_control() => Self::Control,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for VerbAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadOnly => "the data is read-only, so answer from a SELECT or say that it can't be done",
            Self::Introspection => {
                "call list_tables for the tables, describe_table for one table's columns, keys and indexes"
            }
            Self::Transaction => "no transaction is needed, send the SELECT alone",
            Self::OneDatabase => "there is one database and it is open, list_tables shows what it holds",
            Self::Maintenance => "the database's upkeep is not done here, send a SELECT",
            Self::NoServer => "SQLite has no such statement and no settings are needed, send a SELECT",
            Self::FromFirst => "put the SELECT first, as in SELECT * FROM …",
            Self::TableShorthand => "write SELECT * FROM the table",
            Self::OuterParentheses => "SQLite takes no parentheses around a whole SELECT, leave them out",
            Self::Fence => "send the SQL alone, without the markdown fence around it",
            Self::HiddenCharacter => "SQLite takes that character for a letter, use plain spaces and quotes",
            Self::SqlOnly => "send the SQL alone, starting with SELECT",
        })
    }
}

impl fmt::Display for BadTokenAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cast => "SQLite has no ::, write CAST(value AS type)",
            Self::Number => "that is no number, and a name that starts with a digit goes into double quotes",
            Self::Blob => "a blob is x'…' with pairs of hexadecimal digits inside",
            Self::Power => "write pow(x, y) for a power",
            Self::Not => "write NOT, or <> for unequal",
            Self::Backslash => "there are no backslashes outside text, and inside text a quote is doubled",
            Self::Comment => "a comment starts with --",
            Self::Placeholder => "placeholders are not filled in, write the value itself",
            Self::Control => "leave the control character out",
            Self::Other => "leave it out, or put it into quotes",
        })
    }
}
