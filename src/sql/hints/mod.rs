//! SQLite's errors, with what to do about them.

mod dialect;
mod hidden;
mod names;

use rusqlite::{Error, ErrorCode};

use crate::sql::cell::shorten;
use crate::sql::connection::{Denial, OpenError, Restricted};
use crate::sql::gate::{Refusal, RefusalKind};

/// Characters of SQLite's own message that are repeated; it may quote a token of any length.
const MESSAGE_CHARS: usize = 300;

/// Characters of the text around the place where SQLite stopped reading.
const NEAR_CHARS: usize = 40;

const LOCKED: &str = "The database is locked by a program that is writing it. Ask again in a moment.";

const DAMAGED: &str = "The database file is damaged where this reads it. Other tables may still work; its owner should \
    check it with PRAGMA integrity_check and publish a good copy.";

const NOT_A_DATABASE: &str = "The file is not a SQLite database, or it is encrypted. Its owner should check what was \
    published.";

/// Belt 1 said no without a name.
const ONLY_READING: &str = "This does something other than read tables, and only reading is allowed: one SELECT over the \
    tables and views that list_tables shows. For columns and keys use describe_table.";

/// The refusal for a query that SQLite did not prepare or finish.
pub fn query_refusal(connection: &Restricted, sql: &str, error: &Error) -> Refusal {
    if let Some(refusal) = by_code(error) {
        return refusal;
    }
    let message = message(error);
    if let Some(refusal) = denied(&message) {
        return refusal;
    }
    if hidden::tells(connection, sql, &message) {
        return refusal(RefusalKind::Sqlite, hidden::NOT_TOLD);
    }
    let mut sentence = format!("SQLite: {}", shorten(&message, MESSAGE_CHARS));
    if let Some(near) = near(error).filter(|_| message.contains("syntax error") || message.contains("token")) {
        sentence.extend([" (at: ", &near, ")"]);
    }
    sentence.push('.');
    let hint = dialect::hint(&message, sql).map(ToOwned::to_owned).or_else(|| names::hint(connection, &message, sql));
    if let Some(hint) = hint {
        sentence.push(' ');
        sentence.push_str(&hint);
    }
    Refusal { kind: RefusalKind::Sqlite, message: sentence }
}

/// The refusal for a look at the schema that failed: no text of the model's is involved.
pub fn schema_refusal(error: &Error) -> Refusal {
    by_code(error).unwrap_or_else(|| Refusal {
        kind: RefusalKind::Sqlite,
        message: format!("SQLite: {}.", shorten(&message(error), MESSAGE_CHARS)),
    })
}

/// The refusal for what belt 1 said no to, in the authorizer's own words.
pub fn denial_refusal(connection: &Restricted, denial: &Denial) -> Refusal {
    let message = match denial {
        Denial::Hidden(table, _) => hidden::hint(connection, table),
        other => format!("Not allowed: {}.", shorten(&other.to_string(), MESSAGE_CHARS)),
    };
    Refusal { kind: RefusalKind::Sqlite, message }
}

pub use hidden::{explain_refusal, join_refusal};

/// The refusal when the database itself can't be read; where it lies is not for a model to know.
pub fn database_refusal(error: &OpenError) -> Refusal {
    let sentence = match error {
        OpenError::Locked(_) => LOCKED,
        OpenError::Changed(_) => "The database changed while it was read, so the result was thrown away. Ask again.",
        OpenError::Corrupt { .. } => DAMAGED,
        OpenError::NotADatabase(_) | OpenError::Empty(_) => NOT_A_DATABASE,
        OpenError::Missing(_) | OpenError::DanglingLink(_) => {
            "The database is not there any more. Its owner should check that the replica was published."
        }
        OpenError::HotJournal(_) | OpenError::NeedsRecovery(_) => {
            "The database was left in the middle of a write. Its owner should open it once with the program that writes \
             it, or publish the replica again."
        }
        OpenError::Slow(_) => "The database took too long to open. Its owner should check the disk it lies on.",
        OpenError::Tampered(_) => {
            "The statement tried to change the connection, which was closed. Nothing was written."
        }
        _ => "The database can't be read. Its owner finds the reason in the log.",
    };
    refusal(RefusalKind::Database, sentence)
}

/// Whether the deadline's handler stopped the statement.
pub fn is_interrupt(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

/// The refusal when the deadline passed before the first row.
pub fn deadline_refusal() -> Refusal {
    refusal(
        RefusalKind::Deadline,
        "The query took too long and was stopped before its first row. Ask for less: filter on an indexed column, join \
         on keys, sort fewer rows, or aggregate first.",
    )
}

/// Errors whose code says all; SQLite's own text is left out where it could hold a path.
fn by_code(error: &Error) -> Option<Refusal> {
    let sentence = match error {
        Error::MultipleStatement => "Only one statement runs at a time: send the first one alone.",
        Error::Empty => "There is no statement in the text: send one SELECT.",
        Error::NulError(_) => "The text holds a NUL character: leave it out.",
        _ => match error.sqlite_error_code()? {
            ErrorCode::OperationInterrupted => return Some(deadline_refusal()),
            ErrorCode::AuthorizationForStatementDenied => {
                return denied(&message(error)).or_else(|| Some(refusal(RefusalKind::Sqlite, ONLY_READING)));
            }
            ErrorCode::TooBig => {
                "SQLite: a value, a row or the statement is too big. Select fewer or shorter columns, or a part with substr()."
            }
            ErrorCode::OutOfMemory => {
                "SQLite ran out of the memory it may use. Ask for less at once: filter first, sort fewer rows, \
                 concatenate less."
            }
            ErrorCode::ReadOnly => "SQLite: this would write, and nothing here can be written. Send one SELECT.",
            ErrorCode::DatabaseCorrupt => {
                return Some(refusal(RefusalKind::Database, DAMAGED));
            }
            ErrorCode::NotADatabase => {
                return Some(refusal(RefusalKind::Database, NOT_A_DATABASE));
            }
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                return Some(refusal(RefusalKind::Database, LOCKED));
            }
            ErrorCode::CannotOpen => {
                return Some(refusal(
                    RefusalKind::Database,
                    "The database can't be opened, or a file that belongs to it can't. Its owner should check that it \
                     is there and may be read.",
                ));
            }
            ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed | ErrorCode::NoLargeFileSupport => {
                return Some(refusal(
                    RefusalKind::Database,
                    "The database could not be read from its disk. Its owner should check the disk and the file.",
                ));
            }
            ErrorCode::SchemaChanged => {
                return Some(refusal(
                    RefusalKind::Database,
                    "The schema changed while the query ran. Look at the tables again, then repeat it.",
                ));
            }
            _ => return None,
        },
    };
    Some(refusal(RefusalKind::Sqlite, sentence))
}

/// Belt 1 said no to something that it names.
fn denied(message: &str) -> Option<Refusal> {
    let sentence = if let Some(function) = message.strip_prefix("not authorized to use function: ") {
        format!(
            "The function {}() is not allowed here. Use SQLite's ordinary functions.",
            shorten(function, NEAR_CHARS)
        )
    } else {
        // Which column it is, is not for those who ask: it would tell its name.
        message.strip_prefix("access to ")?.strip_suffix(" is prohibited")?;
        hidden::NOT_TOLD.to_owned()
    };
    Some(refusal(RefusalKind::Sqlite, &sentence))
}

fn refusal(kind: RefusalKind, message: &str) -> Refusal {
    Refusal { kind, message: message.to_owned() }
}

/// SQLite's sentence, without the statement that `rusqlite` puts behind it, and without the advice we give ourselves.
fn message(error: &Error) -> String {
    match error {
        Error::SqlInputError { msg, .. } => {
            msg.strip_suffix(" - should this be a string literal in single-quotes?").unwrap_or(msg).to_owned()
        }
        Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    }
}

/// What stands where SQLite stopped reading.
fn near(error: &Error) -> Option<String> {
    let Error::SqlInputError { sql, offset, .. } = error else { return None };
    let rest = sql.get(usize::try_from(*offset).ok()?..)?;
    let words = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    (!words.is_empty()).then(|| shorten(&words, NEAR_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::fixture::database;

    const SCHEMA: &str = "CREATE TABLE accounts (id INTEGER PRIMARY KEY, name TEXT, created_at TEXT);
        CREATE TABLE events (id INTEGER PRIMARY KEY, account_id INTEGER, kind TEXT, occurred_at TEXT);
        CREATE TABLE \"order items\" (price REAL, qty INTEGER);
        INSERT INTO events (kind) VALUES ('not json'); CREATE VIEW broken AS SELECT * FROM gone";

    fn hint(sql: &str) -> String {
        let connection = database(SCHEMA);
        let outcome = connection.prepare(sql).and_then(|mut statement| {
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
            Ok(())
        });
        query_refusal(&connection, sql, &outcome.expect_err(sql)).message
    }

    #[track_caller]
    fn hints(sql: &str, part: &str) {
        let message = hint(sql);
        assert!(message.contains(part), "{sql}\n  gives: {message}");
    }

    #[test]
    fn invented_tables_get_the_nearest_ones() {
        hints("SELECT * FROM event", "SQLite: no such table: event. Nearest tables: events.");
        hints("SELECT * FROM public.events", "Write events alone");
        hints("SELECT * FROM weather", "Call list_tables");
        hints("SELECT * FROM information_schema.tables", "call list_tables");
        hints("SELECT * FROM \"order item\"", "Nearest tables: \"order items\".");
    }

    #[test]
    fn invented_columns_get_the_nearest_of_the_tables_in_the_statement() {
        hints("SELECT ocurred_at FROM events", "Nearest columns in events: occurred_at.");
        hints("SELECT e.kinds FROM events AS e", "Nearest columns in events: kind.");
        hints("SELECT a.kind FROM accounts a JOIN events e ON a.id = e.account_id", "events has the column kind.");
        hints("SELECT qty FROM events", "The column qty is in \"order items\".");
        hints("SELECT prise FROM \"order items\"", "Nearest columns in \"order items\": price.");
        hints("SELECT zzz FROM events", "No table has a column of a similar name");
    }

    #[test]
    fn text_in_double_quotes_is_told_apart_from_a_name() {
        hints(
            "SELECT count(*) FROM events WHERE kind = \"it's churned\"",
            "SQLite: no such column: \"it's churned\". Text goes in single quotes: 'it''s churned'; double quotes are for names.",
        );
        hints("SELECT \"kinds\" FROM events", "are for names. Nearest columns in events: kind.");
    }

    #[test]
    fn other_dialects_are_said_in_sqlites() {
        for (sql, part) in [
            ("SELECT DATE_TRUNC('month', occurred_at) FROM events", "start of month"),
            ("SELECT * FROM events WHERE kind ILIKE 'x'", "Write LIKE"),
            ("SELECT id::text FROM events", "CAST(x AS"),
            ("SELECT TOP 5 * FROM events", "LIMIT n"),
            ("SELECT EXTRACT(YEAR FROM occurred_at) FROM events", "strftime('%Y', x) AS INTEGER"),
            ("SELECT * FROM events WHERE occurred_at > NOW() - INTERVAL '1 month'", "'-1 month'"),
            ("SELECT * FROM events WHERE occurred_at > CURRENT_DATE - INTERVAL 30 DAY", "'-1 month'"),
            ("SELECT NOW()", "datetime('now')"),
            ("SELECT YEAR(occurred_at) FROM events", "strftime('%Y', x) AS INTEGER"),
            ("SELECT LEFT(kind, 3) FROM events", "substr(x, 1, n)"),
            ("SELECT DATEDIFF(day, occurred_at, '2026-01-01') FROM events", "julianday(a)"),
            ("SELECT DATEADD(month, 1, occurred_at) FROM events", "'-1 month'"),
            ("SELECT DATEDIFF(occurred_at, '2026-01-01') FROM events", "julianday(a)"),
            ("SELECT ISNULL(kind, 'x') FROM events", "coalesce(x, y)"),
            ("SELECT COUNT(DISTINCT kind, account_id) FROM events", "SELECT DISTINCT a, b"),
            ("SELECT * FROM events ORDER BY id FETCH FIRST 5 ROWS ONLY", "LIMIT n"),
            ("SELECT * FROM events QUALIFY row_number() OVER (ORDER BY id) = 1", "row_number()"),
            ("SELECT DISTINCT ON (kind) * FROM events", "row_number()"),
            ("SELECT * FROM events WHERE occurred_at >= DATE '2026-06-01'", "Leave the type"),
            ("SELECT DATE_FORMAT(occurred_at, '%Y') FROM events", "strftime('%Y-%m-%d', x)"),
            ("SELECT date_sub(occurred_at, 3) FROM events", "'-1 month'"),
            ("SELECT kind, count(*) FROM events GROUP BY ROLLUP(kind)", "UNION ALL"),
            ("SELECT kind, count(*) FROM events GROUP BY kind WITH ROLLUP", "UNION ALL"),
            ("SELECT STDDEV(id) FROM events", "sqrt(avg"),
            ("SELECT GREATEST(id, 3) FROM events", "max(a, b)"),
            ("SELECT ARRAY_AGG(kind) FROM events", "group_concat"),
            ("SELECT * FROM generate_series(1, 9)", "WITH RECURSIVE"),
            ("SELECT SPLIT_PART(kind, '_', 1) FROM events", "instr(x"),
            ("SELECT LEN(kind) FROM events", "length(x)"),
            ("SELECT COUNT_IF(id > 3) FROM events", "FILTER (WHERE"),
            ("SELECT FROBNICATE(id) FROM events", "no such function: use its own"),
            ("SELECT id FROM accounts JOIN events ON 1", "Put the table's name"),
            ("SELECT kind FROM events WHERE count(*) > 1", "HAVING"),
            ("SELECT kind FROM events WHERE row_number() OVER () = 1", "in a subquery"),
            ("SELECT 1, 2 UNION SELECT 1", "as many columns"),
            ("SELECT json_extract(kind, '$.x') FROM events", "json_valid"),
            ("SELECT * FROM events WHERE kind SIMILAR TO 'a%'", "LIKE '%part%'"),
            ("SELECT sum(x) FROM (SELECT 9223372036854775807 AS x UNION ALL SELECT 1)", "total(x)"),
        ] {
            hints(sql, part);
        }
    }

    #[test]
    fn a_name_that_is_a_keyword_needs_quotes() {
        let connection = database("CREATE TABLE \"order\" (\"group\" TEXT)");
        for (sql, part) in [
            ("SELECT * FROM order", "needs double quotes: \"order\"."),
            ("SELECT group FROM \"order\"", "needs double quotes: \"group\"."),
        ] {
            let error = connection.prepare(sql).map(drop).unwrap_err();
            let message = query_refusal(&connection, sql, &error).message;
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn what_a_string_says_is_no_habit() {
        hints(
            "SELECT kinds FROM events WHERE name = 'ilike date ''x'' interval 3 days'",
            "Nearest columns in events: kind.",
        );
        hints("SELECT 1 FROM events WHERE GROUP BY ' ilike '", "(at: GROUP BY ' ilike ').");
    }

    #[test]
    fn a_plain_syntax_error_shows_where_it_is() {
        hints("SELECT kind FROM events WHERE GROUP BY kind", "(at: GROUP BY kind)");
    }

    #[test]
    fn a_broken_view_names_what_it_lacks() {
        hints("SELECT * FROM broken", "no such table: main.gone. The view broken is broken in the database itself");
    }

    #[test]
    fn messages_stay_short_whatever_the_text_holds() {
        let long = "x".repeat(90_000);
        for sql in [format!("SELECT {long}"), format!("SELECT * FROM {long}"), format!("SELECT '{long}' {long} {long}")]
        {
            assert!(hint(&sql).len() < 900, "{}", hint(&sql).len());
        }
    }

    #[test]
    fn trouble_with_the_file_is_told_by_kind_and_never_by_path() {
        use rusqlite::ffi;
        for (code, kind) in [
            (ffi::SQLITE_CORRUPT, RefusalKind::Database),
            (ffi::SQLITE_NOTADB, RefusalKind::Database),
            (ffi::SQLITE_BUSY, RefusalKind::Database),
            (ffi::SQLITE_CANTOPEN, RefusalKind::Database),
            (ffi::SQLITE_IOERR_READ, RefusalKind::Database),
            (ffi::SQLITE_INTERRUPT, RefusalKind::Deadline),
            (ffi::SQLITE_TOOBIG, RefusalKind::Sqlite),
            (ffi::SQLITE_NOMEM, RefusalKind::Sqlite),
            (ffi::SQLITE_READONLY, RefusalKind::Sqlite),
        ] {
            let error = Error::SqliteFailure(ffi::Error::new(code), Some("bad: /secret/path.db".into()));
            let refusal = schema_refusal(&error);
            assert_eq!(refusal.kind, kind, "{code}");
            assert!(!refusal.message.contains("secret"), "{refusal}");
        }
    }
}
