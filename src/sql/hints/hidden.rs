//! What is said where something is hidden: what helps, and no name that isn't known already.

use crate::sql::cell::shorten;
use crate::sql::connection::Restricted;
use crate::sql::gate::{Refusal, RefusalKind};
use crate::sql::schema::{TableName, quote, visible_columns};

/// Columns that a refusal names: those of all but the widest tables.
const NAMED: usize = 60;

/// Characters of a name.
const NAME_CHARS: usize = 60;

/// Where anything more would tell what is hidden.
pub(super) const NOT_TOLD: &str = "The operator has hidden part of what this reads. Answer without it, or say that it is \
    not available here.";

/// The refusal of a statement that is fine but for hidden columns that it doesn't name.
pub(super) fn hint(connection: &Restricted, table: &str) -> String {
    let Ok(table) = TableName::look_up(connection, table) else {
        return "A name in this statement can't be used here. If a common table expression (WITH …) has it, call that \
                something else."
            .to_owned();
    };
    let columns = {
        let _ours = connection.ours();
        visible_columns(connection, &table)
    };
    let more = if columns.len() > NAMED { " …" } else { "" };
    let columns: Vec<String> = columns.iter().take(NAMED).map(|column| quote(&shorten(column, NAME_CHARS))).collect();
    format!(
        "The operator has hidden columns of {}, so * can't be used on it. Name the columns you need: {}{more}.",
        table.quoted(),
        columns.join(", ")
    )
}

/// The refusal of a join on columns that nobody names.
pub fn join_refusal() -> Refusal {
    refused("NATURAL JOIN and USING can't be used like this, since the operator has hidden columns here. Join with ON.")
}

/// The refusal of a plan, which would name indexes.
pub fn explain_refusal() -> Refusal {
    refused("Plans are not shown here, since the operator has hidden parts of the schema: send the SELECT itself.")
}

/// Whether SQLite's message holds a hidden name that the statement doesn't.
pub(super) fn tells(connection: &Restricted, sql: &str, message: &str) -> bool {
    connection.hiding().is_some_and(|hiding| hiding.names().are_told_by(message, sql))
}

fn refused(message: &str) -> Refusal {
    Refusal { kind: RefusalKind::Sqlite, message: message.to_owned() }
}
