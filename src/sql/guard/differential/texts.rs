//! Random texts, dense in what statements and attacks on guards are made of.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::sql::guard::spec::{CASES, Case};

/// Any text worth trying.
pub(super) fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![4 => soup(), 4 => mutant(), 1 => noise()]
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![12 => select(PIECES).prop_map(str::to_owned), 1 => "\\PC{1,3}", 1 => any::<char>().prop_map(String::from)]
}

/// Pieces in any order, with and without space between.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec((piece(), select(&["", " ", " "][..])), 0..10);
    (select(&["", "", "SELECT ", "WITH c AS (", "EXPLAIN QUERY PLAN "][..]), pieces)
        .prop_map(|(start, pieces)| pieces.iter().fold(start.to_owned(), |text, (piece, gap)| text + piece + gap))
}

/// A line of the table, changed in a few places: piece put in, part left out, part doubled, tail of another line put on.
fn mutant() -> impl Strategy<Value = String> {
    let cases: Vec<&Case> = CASES.iter().filter(|case| case.padded_to == 0).collect();
    let line = select(cases).prop_map(|case| case.sql.to_owned());
    let change = (0..4_u8, any::<Index>(), any::<Index>(), piece(), line.clone());
    (line, prop::collection::vec(change, 0..4)).prop_map(|(text, changes)| {
        changes.into_iter().fold(text, |text, (change, from, to, piece, other)| {
            let boundary = |index: Index| text.floor_char_boundary(index.index(text.len() + 1));
            let (from, to) = (boundary(from).min(boundary(to)), boundary(from).max(boundary(to)));
            let (head, part, tail) = (&text[..from], &text[from..to], &text[to..]);
            match change {
                0 => format!("{head}{piece}{part}{tail}"),
                1 => format!("{head}{tail}"),
                2 => format!("{head}{part}{part}{tail}"),
                _ => format!("{head}{}", &other[other.floor_char_boundary(other.len().min(to))..]),
            }
        })
    })
}

/// Bytes as they may come in, read leniently.
fn noise() -> impl Strategy<Value = String> {
    let bytes = prop::collection::vec(any::<u8>(), 0..24);
    (select(&["", "SELECT ", "SELECT '", "SELECT 1 -- "][..]), bytes)
        .prop_map(|(start, bytes)| start.to_owned() + &String::from_utf8_lossy(&bytes))
}

/// Words, statements, literals and edges of tokens.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "SELECT", "select", "VALUES", "WITH", "RECURSIVE", "AS", "MATERIALIZED", "NOT", "EXPLAIN", "QUERY", "PLAN",
    "FROM", "WHERE", "UNION ALL", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "ON", "CAST", "IN", "OVER", "FILTER",
    "WINDOW", "CASE", "WHEN", "END", "INSERT INTO t", "DELETE FROM t", "UPDATE t SET b = 1", "REPLACE INTO t",
    "DROP TABLE t", "DROP TRIGGER IF EXISTS x", "DROP VIEW IF EXISTS x", "CREATE TABLE IF NOT EXISTS t (a)",
    "ALTER TABLE t", "ATTACH 'x' AS y", "DETACH y", "VACUUM", "VACUUM INTO 'x'", "PRAGMA query_only = 0",
    "PRAGMA table_info(t)", "PRAGMA data_version", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "ANALYZE", "REINDEX",
    "RETURNING *", "t", "a", "b", "v", "docs", "accounts", "\"update\"", "[a;b]", "[odd (name; --]", "`c\"d`",
    "größe", "[from]", "merge", "updated_at", "pragma_table_info('t')", "json_each('[1]')", "count(*)",
    "replace(b, 'x', 'y')", "'a;b'", "'--'", "'/*'", "'it''s'", "''", "1", "0x1F", "1_000", "1__0", ".5", "1.", "2e3",
    "x'00'", "x'0'", "1x", "?", "?1", ":a", "@a", "$a::b(c)", "#a", "#1", "(", ")", "(", ")", ",", ";", ";", ";;",
    "*", "=", "->>", "||", "::", ".", "!", "^", "\\", "{", "'", "\"", "`", "[", "]", "--", "-- x\n", "/*", "*/",
    "/**/", "/* ; */", "/*/", "\n", "\t", "\r", "\x0c", "\x0b", " ", " ", "\u{feff}", "\u{a0}", "\u{200b}", "é", "_",
    "$", "\0", "SELECT 1", "SELECT a FROM t", "WITH c AS (SELECT 1)", "EXPLAIN QUERY PLAN", "VALUES (1)",
    "```sql\n", "```", "(SELECT 1)", "c AS (SELECT 2)", "c(x) AS NOT MATERIALIZED (VALUES (1))",
];
