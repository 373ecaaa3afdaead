//! What a statement may do, decided by SQLite's own parser before the statement exists.
//!
//! An allow-list: whatever isn't named here is refused, also what a later SQLite invents.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::functions;

/// Pragmas that describe the schema; their value is the name of a table or an index.
const INTROSPECTION: &[&str] =
    &["foreign_key_list", "index_info", "index_list", "index_xinfo", "table_info", "table_list", "table_xinfo"];

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
    last: Arc<Mutex<Option<Denial>>>,
}

/// Something that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
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
        match decide(&context.action) {
            Ok(()) => Authorization::Allow,
            Err(denial) => {
                *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(denial);
                // Never Ignore: it would turn a column into NULL, and a count into a wrong number.
                Authorization::Deny
            }
        }
    }

    /// The last refusal since the last call.
    pub fn take_denial(&self) -> Option<Denial> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
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
    fn what_nobody_knows_is_refused() {
        assert_eq!(decide(&AuthAction::Unknown { code: 99, arg1: None, arg2: None }), Err(Denial::Unknown));
    }
}
