//! What a statement may do, decided by SQLite's own parser before the statement exists.
//!
//! An allow-list: whatever isn't named here is refused, also what a later SQLite invents.
//!
//! It answers for two: *them*, whose guarded statement is prepared and run, and *us*, whose fixed statements look the
//! schema up. Where something is hidden, they may neither read it nor the schema's own tables; we must. It is for them
//! unless we say otherwise ([`Authorizer::ours`]), so what is forgotten is refused.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::functions;
use super::hiding::HiddenNames;

/// Pragmas that describe the schema; their value is the name of a table or an index.
const INTROSPECTION: &[&str] =
    &["foreign_key_list", "index_info", "index_list", "index_xinfo", "table_info", "table_list", "table_xinfo"];

/// Table functions of pragmas that tell nothing of the schema.
const HARMLESS_TABLES: &[&str] = &["pragma_collation_list", "pragma_function_list"];

/// Pragmas that only tell, when they are given no value.
const TELLING: &[&str] = &[
    "collation_list",
    // Asked by FTS5 before each search.
    "data_version",
    "function_list",
    "page_size",
    // Asked by us around each reading.
    "query_only",
    "schema_version",
];

/// Decides, and remembers the last refusal so that it can be told in plain words.
#[derive(Clone, Debug, Default)]
pub struct Authorizer {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    last: Mutex<Option<Denial>>,
    /// How many of our own looks are under way.
    ours: AtomicUsize,
    hidden: Mutex<Arc<HiddenNames>>,
}

/// While this lives, the statements on the connection are our own.
#[derive(Debug)]
#[must_use = "it ends at once"]
pub struct Ours(Arc<Shared>);

impl Drop for Ours {
    fn drop(&mut self) {
        self.0.ours.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Something that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// Something hidden: the table, and the column where it is only that.
    Hidden(String, Option<String>),
    /// A table or pragma that describes the schema, while part of the schema is hidden.
    Catalogue,
    /// A function that isn't on the list.
    Function(String),
    /// A pragma that isn't on the list, or was given a value.
    Pragma(String),
    /// Another database file.
    OtherFile,
    /// A transaction or a savepoint.
    Transaction,
    /// A change to data or schema.
    Change,
    /// Something this program doesn't know.
    Unknown,
}

impl Authorizer {
    /// SQLite's question answered.
    pub(crate) fn answer(&self, context: &AuthContext<'_>) -> Authorization {
        let allowed = decide(&context.action).and_then(|()| {
            if self.shared.ours.load(Ordering::Relaxed) > 0 {
                return Ok(());
            }
            let hidden = self.shared.hidden.lock().unwrap_or_else(PoisonError::into_inner);
            if hidden.is_empty() { Ok(()) } else { decide_for_them(&context.action, &hidden) }
        });
        match allowed {
            Ok(()) => Authorization::Allow,
            Err(denial) => {
                *self.shared.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(denial);
                // Never Ignore: it would turn a column into NULL, and a count into a wrong number.
                Authorization::Deny
            }
        }
    }

    /// The last refusal since the last call.
    pub fn take_denial(&self) -> Option<Denial> {
        self.shared.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// From here on, until the result is dropped, the statements are our own.
    pub(crate) fn ours(&self) -> Ours {
        self.shared.ours.fetch_add(1, Ordering::Relaxed);
        Ours(self.shared.clone())
    }

    /// What they may not read, from here on.
    pub(super) fn hide(&self, hidden: Arc<HiddenNames>) {
        *self.shared.hidden.lock().unwrap_or_else(PoisonError::into_inner) = hidden;
    }
}

/// What is refused besides, where something is hidden.
fn decide_for_them(action: &AuthAction<'_>, hidden: &HiddenNames) -> Result<(), Denial> {
    match *action {
        AuthAction::Read { table_name, column_name } => {
            if hidden.hides_table(table_name) {
                Err(Denial::Hidden(table_name.to_owned(), None))
            } else if hidden.hides_column(table_name, column_name) {
                Err(Denial::Hidden(table_name.to_owned(), Some(column_name.to_owned())))
            } else if describes_schema(table_name) {
                // Its texts and statistics hold hidden names, and values too (defaults, samples).
                Err(Denial::Catalogue)
            } else {
                Ok(())
            }
        }
        AuthAction::Pragma { pragma_name, .. } if is_in(INTROSPECTION, pragma_name) => Err(Denial::Catalogue),
        _ => Ok(()),
    }
}

fn describes_schema(table: &str) -> bool {
    let starts = |prefix: &str| table.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    starts("sqlite_") || (starts("pragma_") && !is_in(HARMLESS_TABLES, table))
}

fn decide(action: &AuthAction<'_>) -> Result<(), Denial> {
    match *action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Ok(()),
        AuthAction::Function { function_name } if functions::is_allowed(function_name) => Ok(()),
        AuthAction::Function { function_name } => Err(Denial::Function(function_name.to_owned())),
        AuthAction::Pragma { pragma_name, pragma_value } => {
            if is_in(INTROSPECTION, pragma_name) || (pragma_value.is_none() && is_in(TELLING, pragma_name)) {
                Ok(())
            } else {
                Err(Denial::Pragma(pragma_name.to_owned()))
            }
        }
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => Err(Denial::OtherFile),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => Err(Denial::Transaction),
        AuthAction::Unknown { .. } => Err(Denial::Unknown),
        _ => Err(Denial::Change),
    }
}

fn is_in(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Neither name is for those who ask; `hints` says what helps.
            Self::Hidden(..) => f.write_str("the operator has hidden part of what this reads: answer without it"),
            Self::Catalogue => f.write_str(
                "the schema's own tables and pragmas can't be read here, since the operator has hidden parts of it: use \
                 list_tables and describe_table",
            ),
            Self::Function(name) => write!(f, "the function {name}() is not available here: answer without it"),
            Self::Pragma(name) => write!(
                f,
                "PRAGMA {name} is not available here: use describe_table, or the table functions pragma_table_info \
                 and pragma_index_list"
            ),
            Self::OtherFile => f.write_str("only this one database can be read: no ATTACH, DETACH or VACUUM INTO"),
            Self::Transaction => f.write_str("no transactions are needed here: send one SELECT"),
            Self::Change => f.write_str("this database can only be read: send one SELECT"),
            Self::Unknown => f.write_str("this statement does something that is not allowed here: send one SELECT"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pragma_with_a_value_is_refused_unless_the_value_is_a_name_to_describe() {
        let pragma = |pragma_name, pragma_value| decide(&AuthAction::Pragma { pragma_name, pragma_value });
        assert!(pragma("table_info", Some("t")).is_ok());
        assert!(pragma("Data_Version", None).is_ok());
        assert!(pragma("query_only", None).is_ok());
        assert_eq!(pragma("query_only", Some("0")), Err(Denial::Pragma("query_only".into())));
        assert_eq!(pragma("database_list", None), Err(Denial::Pragma("database_list".into())));
    }

    #[test]
    fn our_own_statements_may_look_the_schema_up_and_nobody_elses_may() {
        let authorizer = Authorizer::default();
        let mut hidden = HiddenNames::default();
        hidden.hide_column("staff", "ssn");
        authorizer.hide(Arc::new(hidden));
        let connection = {
            let mut connection = rusqlite::Connection::open_in_memory().unwrap();
            connection.execute_batch("CREATE TABLE staff (id, ssn)").unwrap();
            let hook = authorizer.clone();
            connection.authorizer(Some(move |context: AuthContext<'_>| hook.answer(&context))).unwrap();
            connection
        };
        let texts =
            ["SELECT ssn FROM staff", "SELECT sql FROM sqlite_master", "SELECT name FROM pragma_table_info('staff')"];
        for sql in texts {
            let ours = authorizer.ours();
            assert!(connection.prepare(sql).is_ok(), "{sql}");
            drop(ours);
            assert!(connection.prepare(sql).and_then(|mut s| s.exists([])).is_err(), "{sql}");
        }
        assert!(connection.prepare("SELECT id FROM staff").is_ok());
        assert!(connection.prepare("SELECT name FROM pragma_function_list").is_ok());
    }

    #[test]
    fn what_nobody_knows_is_refused() {
        assert_eq!(decide(&AuthAction::Unknown { code: 99, arg1: None, arg2: None }), Err(Denial::Unknown));
    }
}
