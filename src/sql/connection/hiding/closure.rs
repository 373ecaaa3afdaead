//! From what an operator named to everything that tells of it, views aside.
//!
//! Where a text has to be understood, what merely mentions a hidden name counts as made of it: rather one too many.

use super::catalogue::{Entry, Kind};
use super::names::{HiddenNames, mentions};
use super::pattern::{Hide, Pattern};
use crate::sql::guard::lexer::{Kind as TokenKind, Lexer};
use crate::sql::schema::nearest;

/// Endings of the tables behind full-text and R-tree indexes, for files whose module this build doesn't have.
const SHADOWS: [&str; 11] =
    ["config", "content", "data", "docsize", "idx", "node", "parent", "rowid", "segdir", "segments", "stat"];

/// A name to hide that isn't there: a misspelt one would silently hide nothing.
#[derive(Debug, thiserror::Error)]
#[error("sql.hide names “{name}”, but the database has no such table or column{}: correct the settings", near(nearest))]
pub struct NoSuchName {
    name: String,
    nearest: Vec<String>,
}

/// Finds every hidden table and column.
pub(super) fn find(hide: &Hide, entries: &[Entry]) -> Result<HiddenNames, NoSuchName> {
    let mut names = HiddenNames::default();
    for pattern in hide.patterns() {
        if !named(pattern, entries, &mut names) {
            return Err(NoSuchName { name: pattern.to_string(), nearest: nearest_to(pattern, entries) });
        }
    }
    while spread(entries, &mut names) {}
    Ok(names)
}

/// Hides what a pattern names; false if that is nothing.
fn named(pattern: &Pattern, entries: &[Entry], names: &mut HiddenNames) -> bool {
    let mut found = false;
    for entry in entries.iter().filter(|entry| pattern.table.matches(&entry.name)) {
        if entry.kind == Kind::Shadow && pattern.column.is_some() && pattern.table.is_open() {
            // `*.id` means nothing of how an index is stored.
            continue;
        }
        let Some(wanted) = &pattern.column else {
            names.hide_table(&entry.name);
            found = true;
            continue;
        };
        for column in entry.columns.iter().filter(|column| !column.is_own && wanted.matches(&column.name)) {
            names.hide_column(&entry.name, &column.name);
            found = true;
        }
    }
    found
}

/// One round of what follows from what is hidden already; false when nothing new does.
fn spread(entries: &[Entry], names: &mut HiddenNames) -> bool {
    let mut spread = false;
    for entry in entries {
        if names.hides_table(&entry.name) {
            spread |= hide_relatives(entry, entries, names);
            continue;
        }
        spread |= hide_referring(entry, entries, names);
        let hidden = names.has_hidden_columns(&entry.name);
        if hidden && entry.kind == Kind::Table {
            spread |= hide_generated(entry, names);
        }
        let whole = match entry.kind {
            // The search of a full-text index goes through all its columns, and its functions give any of them back.
            Kind::Virtual => hidden || is_made_of_hidden(entry, entries, names),
            Kind::Shadow => hidden,
            Kind::Table | Kind::View => {
                hidden && entry.columns.iter().all(|column| names.hides_column(&entry.name, &column.name))
            }
        };
        spread |= whole && names.hide_table(&entry.name);
    }
    spread
}

/// A hidden virtual table hides the tables behind it, and each of these hides it.
fn hide_relatives(hidden: &Entry, entries: &[Entry], names: &mut HiddenNames) -> bool {
    let mut spread = false;
    for entry in entries {
        let relatives = match (hidden.kind, entry.kind) {
            (Kind::Virtual, Kind::Shadow | Kind::Table) => is_behind(entry, hidden),
            (Kind::Shadow | Kind::Table, Kind::Virtual) => is_behind(hidden, entry),
            _ => false,
        };
        spread |= relatives && names.hide_table(&entry.name);
    }
    spread
}

fn is_behind(table: &Entry, owner: &Entry) -> bool {
    let (table_name, owner) = (table.name.to_ascii_lowercase(), owner.name.to_ascii_lowercase());
    let ending = table_name.strip_prefix(&owner).and_then(|rest| rest.strip_prefix('_'));
    ending.is_some_and(|ending| table.kind == Kind::Shadow && !ending.is_empty() || SHADOWS.contains(&ending))
}

/// Whether the text of a virtual table names a hidden table, or one with a hidden column: `content='tickets'`.
fn is_made_of_hidden(table: &Entry, entries: &[Entry], names: &HiddenNames) -> bool {
    entries
        .iter()
        .filter(|entry| entry.name != table.name)
        .filter(|entry| names.hides_table(&entry.name) || names.has_hidden_columns(&entry.name))
        .any(|entry| mentions(&table.sql, &entry.name))
}

/// Hides the columns that hold a hidden column's values by foreign key. A table that is hidden as a whole hides no
/// column elsewhere: what points at it is the other table's own.
fn hide_referring(table: &Entry, entries: &[Entry], names: &mut HiddenNames) -> bool {
    let mut spread = false;
    for reference in &table.references {
        let target = entries.iter().find(|entry| entry.name.eq_ignore_ascii_case(&reference.table));
        let Some(target) = target.filter(|target| names.has_hidden_columns(&target.name)) else { continue };
        let hidden = target
            .columns
            .iter()
            .filter(|column| match &reference.to {
                Some(to) => column.name.eq_ignore_ascii_case(to),
                None => column.key == reference.place,
            })
            .any(|column| names.hides_column_itself(&target.name, &column.name));
        spread |= hidden && names.hide_column(&table.name, &reference.column);
    }
    spread
}

/// Hides the generated columns whose definition names a hidden one.
fn hide_generated(table: &Entry, names: &mut HiddenNames) -> bool {
    let mut spread = false;
    for column in table.columns.iter().filter(|column| column.generated) {
        let definition = definition(&table.sql, &column.name).unwrap_or(&table.sql);
        let made_of_hidden = table
            .columns
            .iter()
            .filter(|other| names.hides_column(&table.name, &other.name))
            .any(|other| mentions(definition, &other.name));
        spread |= made_of_hidden && names.hide_column(&table.name, &column.name);
    }
    spread
}

/// The definition of a column within the statement that made its table.
fn definition<'a>(sql: &'a str, column: &str) -> Option<&'a str> {
    let mut depth = 0_u32;
    let mut start = None;
    let mut tokens = Lexer::new(sql).filter(|token| !matches!(token.kind, TokenKind::Space | TokenKind::Comment));
    let is_it = |part: &str| {
        let first = Lexer::new(part).find(|token| !matches!(token.kind, TokenKind::Space | TokenKind::Comment));
        first.is_some_and(|token| {
            let name = &part[token.start..token.end];
            let inner = match token.kind {
                TokenKind::Word => name,
                _ => name.get(1..name.len().saturating_sub(1)).unwrap_or_default(),
            };
            inner.eq_ignore_ascii_case(column)
        })
    };
    tokens.find_map(|token| {
        let ends = match token.kind {
            TokenKind::Open => {
                depth += 1;
                if depth == 1 {
                    start = Some(token.end);
                }
                false
            }
            TokenKind::Close => {
                depth = depth.saturating_sub(1);
                depth == 0
            }
            TokenKind::Comma => depth == 1,
            _ => false,
        };
        if !ends {
            return None;
        }
        let part = sql.get(start.replace(token.end)?..token.start)?;
        is_it(part).then_some(part)
    })
}

fn nearest_to(pattern: &Pattern, entries: &[Entry]) -> Vec<String> {
    let written = pattern.to_string();
    let candidates: Vec<String> = match &pattern.column {
        None => entries.iter().map(|entry| entry.name.clone()).collect(),
        Some(_) => entries
            .iter()
            .flat_map(|entry| entry.columns.iter().map(move |column| format!("{}.{}", entry.name, column.name)))
            .collect(),
    };
    nearest(&written, candidates.iter().map(String::as_str)).into_iter().map(ToOwned::to_owned).collect()
}

fn near(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!(" (nearest: {})", nearest.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_columns_definition_is_found_in_any_spelling() {
        let sql = "CREATE TABLE \"t(1\" (id INTEGER, -- a, b (\n [a b] TEXT AS (id || ',' || (1)), \"c\" DEFAULT (1), 'd' INT)";
        assert_eq!(definition(sql, "A B").map(str::trim), Some("-- a, b (\n [a b] TEXT AS (id || ',' || (1))"));
        assert_eq!(definition(sql, "c").map(str::trim), Some("\"c\" DEFAULT (1)"));
        assert_eq!(definition(sql, "d").map(str::trim), Some("'d' INT"));
        assert_eq!(definition(sql, "e"), None);
    }
}
