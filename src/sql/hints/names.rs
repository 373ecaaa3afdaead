//! What a name that isn't there may have meant.

use std::collections::BTreeSet;

use crate::sql::cell::shorten;
use crate::sql::connection::Restricted;
use crate::sql::gate::TableKind;
use crate::sql::schema::{TableName, nearest, quote, visible_columns, visible_tables};

/// Tables that are named as owners of a column.
const OWNERS: usize = 3;

/// Characters of a name that are repeated.
const ECHOED: usize = 60;

/// The hint for “no such table”, “no such column” and a name that is a keyword.
pub(super) fn hint(connection: &Restricted, message: &str, sql: &str) -> Option<String> {
    let _ours = connection.ours();
    let tables = visible_tables(connection).ok()?;
    let words = words(sql);
    if let Some(name) = message.strip_prefix("no such table: ") {
        return broken_view(&tables, &words, name).or_else(|| Some(table_hint(&tables, name)));
    }
    if let Some(token) = message.strip_prefix("near \"").and_then(|rest| rest.strip_suffix("\": syntax error")) {
        return keyword_hint(connection, &tables, token);
    }
    let column = message.strip_prefix("no such column: ")?;
    // SQLite repeats the quotes of a name in double quotes.
    let in_quotes = column.starts_with('"');
    let (qualifier, name) = column.rsplit_once('.').map_or((None, column), |(table, name)| (Some(table), name));
    let name = name.trim_matches('"');
    if let Some(hint) = broken_view(&tables, &words, name) {
        return Some(hint);
    }
    let used: Vec<&TableName> = tables.iter().filter(|table| is_used(table, &words)).collect();
    let near = column_hint(connection, &tables, &used, qualifier, name);
    if !in_quotes {
        return near.or_else(|| {
            Some("No table has a column of a similar name: call describe_table on the table you mean.".to_owned())
        });
    }
    let text = shorten(name, ECHOED).replace('\'', "''");
    let advice = format!("Text goes in single quotes: '{text}'; double quotes are for names.");
    Some(near.map_or(advice.clone(), |near| format!("{advice} {near}")))
}

/// A name that the statement doesn't hold comes out of a view, and no other spelling helps.
fn broken_view(tables: &[TableName], words_of_sql: &BTreeSet<String>, name: &str) -> Option<String> {
    let local = name.rsplit_once('.').map_or(name, |(_, local)| local);
    let mut views = tables.iter().filter(|table| table.kind() == TableKind::View && is_used(table, words_of_sql));
    let view = views.next().filter(|_| !words(local).is_subset(words_of_sql))?;
    Some(format!("The view {} is broken in the database itself: use other tables.", view.quoted()))
}

/// A keyword that is also a name of this schema must be quoted.
fn keyword_hint(connection: &Restricted, tables: &[TableName], token: &str) -> Option<String> {
    let quoted = quote(token);
    let is_name = quoted != token
        && (tables.iter().any(|table| table.as_str().eq_ignore_ascii_case(token))
            || columns(connection, tables.iter()).iter().any(|(_, column)| column.eq_ignore_ascii_case(token)));
    is_name.then(|| format!("As a name it needs double quotes: {quoted}."))
}

fn table_hint(tables: &[TableName], name: &str) -> String {
    if name.to_ascii_lowercase().starts_with("information_schema") {
        return "SQLite has no information_schema: call list_tables and describe_table.".to_owned();
    }
    let local = name.rsplit_once('.').map_or(name, |(_, local)| local);
    let near = nearest(local, tables.iter().map(TableName::as_str));
    if let Some(same) = near.first().filter(|near| near.eq_ignore_ascii_case(local)) {
        return format!("Write {} alone: there is one schema only.", quote(same));
    }
    if near.is_empty() {
        return "Call list_tables to see what there is.".to_owned();
    }
    format!("Nearest tables: {}.", join(near))
}

fn column_hint(
    connection: &Restricted,
    tables: &[TableName],
    used: &[&TableName],
    qualifier: Option<&str>,
    name: &str,
) -> Option<String> {
    let columns_of_used = columns(connection, used.iter().copied());
    // The column is there, but of another table of the statement, or of one that isn't in it.
    let owners = |columns: &[(String, String)]| {
        let owners = columns.iter().filter(|(_, column)| column.eq_ignore_ascii_case(name));
        owners.map(|(table, _)| quote(table)).take(OWNERS).collect::<Vec<_>>()
    };
    let owning = owners(&columns_of_used);
    if !owning.is_empty() && qualifier.is_some() {
        return Some(format!("{} has the column {}.", owning.join(", "), quote(name)));
    }
    let near = nearest(name, columns_of_used.iter().map(|(_, column)| column.as_str()));
    if !near.is_empty() {
        let of: Vec<String> = used.iter().map(|table| table.quoted()).take(OWNERS).collect();
        return Some(format!("Nearest columns in {}: {}.", of.join(", "), join(near)));
    }
    let everywhere = columns(connection, tables.iter());
    let owning = owners(&everywhere);
    if !owning.is_empty() {
        return Some(format!("The column {} is in {}.", quote(&shorten(name, ECHOED)), owning.join(", ")));
    }
    let near = nearest(name, everywhere.iter().map(|(_, column)| column.as_str()));
    (!near.is_empty()).then(|| format!("Nearest columns of all tables: {}.", join(near)))
}

/// Table and column name of every column; a table that can't be read has none.
fn columns<'a>(connection: &Restricted, tables: impl Iterator<Item = &'a TableName>) -> Vec<(String, String)> {
    let named = |table: &TableName| {
        let name = table.as_str().to_owned();
        visible_columns(connection, table).into_iter().map(move |column| (name.clone(), column)).collect::<Vec<_>>()
    };
    tables.flat_map(named).collect()
}

/// Whether every word of the table's name is among the statement's.
fn is_used(table: &TableName, words_of_sql: &BTreeSet<String>) -> bool {
    let words_of_name = words(table.as_str());
    !words_of_name.is_empty() && words_of_name.is_subset(words_of_sql)
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn join(names: Vec<&str>) -> String {
    names.into_iter().map(|name| quote(&shorten(name, ECHOED))).collect::<Vec<_>>().join(", ")
}
