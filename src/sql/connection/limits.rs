//! How much one statement may ask of SQLite.

use rusqlite::limits::Limit;
use serde::{Deserialize, Serialize};

/// Bytes of SQL text. A long generated report query has some 10 kB; parsing 100 kB takes a few milliseconds.
const SQL_LENGTH: i32 = 100_000;
/// Bytes of one cell, one row and one intermediate string. It also bounds a row read from the file, so it must be as
/// large as the largest honest row; string bombs end here at once.
const LENGTH: i32 = 4_000_000;
/// Columns of a result or a table: SQLite's own limit, since a lower one refuses to read a wide table at all.
const COLUMN: i32 = 2_000;
/// Depth of an expression. People write 20; SQLite recurses, so this bounds its stack.
const EXPR_DEPTH: i32 = 200;
/// Terms of a UNION chain. Generated pivots have a dozen.
const COMPOUND: i32 = 50;
/// Instructions of one prepared statement. The largest TPC-DS query has some 2,000.
const VDBE_OP: i32 = 250_000;
/// Arguments of one function. `coalesce`, `printf` and `json_object` are the ones that take many.
const FUNCTION_ARG: i32 = 64;
/// Other databases: none.
const ATTACHED: i32 = 0;
/// Bytes of a LIKE, GLOB or REGEXP pattern. Matching costs text × pattern and can't be interrupted, so the pattern
/// must be short.
const LIKE_PATTERN: i32 = 500;
/// Parameters. Statements from outside have none; ours have a few.
const VARIABLE: i32 = 100;
/// Triggers never run on a connection that can't write.
const TRIGGER_DEPTH: i32 = 1;
/// Sorting threads: none, the reader has one thread and may not make another.
const WORKER_THREADS: i32 = 0;
/// Bytes of heap for all of SQLite in this process. Stops sorts and recursive queries that would take the machine.
const HEAP: i64 = 256 << 20;
/// Kibibytes of page cache, out of the heap above. With SQLite's own 2 MB a scan reads each page again and again.
const CACHE_KIB: i32 = 64 << 10;

/// How much one statement may ask of SQLite; the defaults are the constants of this module, with their reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of SQL text.
    pub sql_length: i32,
    /// Bytes of one cell, row or intermediate string.
    pub length: i32,
    /// Columns of a result or a table.
    pub column: i32,
    /// Depth of an expression.
    pub expr_depth: i32,
    /// Terms of a compound SELECT.
    pub compound: i32,
    /// Instructions of one prepared statement.
    pub vdbe_op: i32,
    /// Arguments of one function.
    pub function_arg: i32,
    /// Bytes of a LIKE, GLOB or REGEXP pattern.
    pub like_pattern: i32,
    /// Parameters of a statement.
    pub variable: i32,
    /// Bytes of heap for all of SQLite in this process; the lowest value ever set in the process holds.
    pub heap: i64,
    /// Kibibytes of page cache.
    pub cache_kib: i32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sql_length: SQL_LENGTH,
            length: LENGTH,
            column: COLUMN,
            expr_depth: EXPR_DEPTH,
            compound: COMPOUND,
            vdbe_op: VDBE_OP,
            function_arg: FUNCTION_ARG,
            like_pattern: LIKE_PATTERN,
            variable: VARIABLE,
            heap: HEAP,
            cache_kib: CACHE_KIB,
        }
    }
}

impl Limits {
    /// SQLite's names for them. What nobody may raise (attached files, threads, triggers) isn't a field.
    pub(super) fn for_sqlite(&self) -> [(Limit, i32); 12] {
        [
            (Limit::SQLITE_LIMIT_SQL_LENGTH, self.sql_length),
            (Limit::SQLITE_LIMIT_LENGTH, self.length),
            (Limit::SQLITE_LIMIT_COLUMN, self.column),
            (Limit::SQLITE_LIMIT_EXPR_DEPTH, self.expr_depth),
            (Limit::SQLITE_LIMIT_COMPOUND_SELECT, self.compound),
            (Limit::SQLITE_LIMIT_VDBE_OP, self.vdbe_op),
            (Limit::SQLITE_LIMIT_FUNCTION_ARG, self.function_arg),
            (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, self.like_pattern),
            (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, self.variable),
            (Limit::SQLITE_LIMIT_ATTACHED, ATTACHED),
            (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, TRIGGER_DEPTH),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, WORKER_THREADS),
        ]
    }
}
