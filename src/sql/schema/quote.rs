//! Names ready to paste into SQL.

/// SQLite's keywords that can't stand bare wherever a name can, or that read as something else there, sorted.
///
/// The rest of its keywords (`key`, `plan`, `action` …) are plain names to its parser, and stay as people write them.
const RESERVED: [&str; 129] = [
    "ABORT",
    "ADD",
    "AFTER",
    "ALL",
    "ALTER",
    "ALWAYS",
    "ANALYZE",
    "AND",
    "AS",
    "ASC",
    "ATTACH",
    "AUTOINCREMENT",
    "BEFORE",
    "BEGIN",
    "BETWEEN",
    "BY",
    "CASCADE",
    "CASE",
    "CAST",
    "CHECK",
    "COLLATE",
    "COLUMN",
    "COMMIT",
    "CONSTRAINT",
    "CREATE",
    "CROSS",
    "CURRENT",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "DEFAULT",
    "DEFERRABLE",
    "DEFERRED",
    "DELETE",
    "DESC",
    "DETACH",
    "DISTINCT",
    "DO",
    "DROP",
    "EACH",
    "ELSE",
    "END",
    "ESCAPE",
    "EXCEPT",
    "EXCLUDE",
    "EXCLUSIVE",
    "EXISTS",
    "EXPLAIN",
    "FALSE",
    "FILTER",
    "FOLLOWING",
    "FOR",
    "FOREIGN",
    "FROM",
    "FULL",
    "GENERATED",
    "GLOB",
    "GROUP",
    "GROUPS",
    "HAVING",
    "IF",
    "IMMEDIATE",
    "IN",
    "INDEX",
    "INDEXED",
    "INITIALLY",
    "INNER",
    "INSERT",
    "INSTEAD",
    "INTERSECT",
    "INTO",
    "IS",
    "ISNULL",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MATCH",
    "MATERIALIZED",
    "NATURAL",
    "NOT",
    "NOTHING",
    "NOTNULL",
    "NULL",
    "NULLS",
    "OF",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OTHERS",
    "OUTER",
    "OVER",
    "PARTITION",
    "PRAGMA",
    "PRECEDING",
    "PRIMARY",
    "RAISE",
    "RECURSIVE",
    "REFERENCES",
    "REGEXP",
    "REINDEX",
    "RETURNING",
    "RIGHT",
    "ROLLBACK",
    "ROWS",
    "SAVEPOINT",
    "SELECT",
    "SET",
    "TABLE",
    "THEN",
    "TIES",
    "TO",
    "TRANSACTION",
    "TRUE",
    "UNBOUNDED",
    "UNION",
    "UNIQUE",
    "UPDATE",
    "USING",
    "VACUUM",
    "VALUES",
    "VIRTUAL",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
    "WITHIN",
    "WITHOUT",
];

/// The name as it is where it may stand bare, else in double quotes.
pub fn quote(name: &str) -> String {
    if stands_bare(name) { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

fn stands_bare(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    plain
        && !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && RESERVED.binary_search(&name.to_ascii_uppercase().as_str()).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// All of SQLite's keywords, and two words that it reads as constants.
    const KEYWORDS: &str = "ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN \
        BETWEEN BY CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE \
        CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP EACH \
        ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FILTER FIRST FOLLOWING FOR FOREIGN FROM FULL \
        GENERATED GLOB GROUP GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY INNER INSERT INSTEAD \
        INTERSECT INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NO NOT NOTHING NOTNULL NULL \
        NULLS OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA PRECEDING PRIMARY QUERY RAISE RANGE \
        RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE RESTRICT RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT \
        SELECT SET TABLE TEMP TEMPORARY THEN TIES TO TRANSACTION TRIGGER UNBOUNDED UNION UNIQUE UPDATE USING VACUUM \
        VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHIN WITHOUT TRUE FALSE ROWID events _x x9";

    #[test]
    fn reserved_words_are_sorted() {
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn a_quoted_name_works_wherever_a_name_can_stand() {
        let odd = ["order items", "say \"hi\"", "📈", "naïve", "9lives", "a.b", "a-b", "'", "`", "[", "x\ny", ""];
        for name in KEYWORDS.split_whitespace().chain(odd) {
            let connection = Connection::open_in_memory().unwrap();
            let quoted = format!("\"{}\"", name.replace('"', "\"\""));
            connection
                .execute_batch(&format!("CREATE TABLE {quoted} ({quoted} INTEGER); INSERT INTO {quoted} VALUES (7)"))
                .unwrap();
            let n = quote(&name.to_lowercase());
            for sql in [
                format!("SELECT {n} FROM {n}"),
                format!("SELECT {n}.{n} FROM {n} WHERE {n} = 7 GROUP BY {n} ORDER BY {n} DESC"),
                format!("SELECT t.{n} AS {n} FROM {n} AS t JOIN {n} ON t.{n} = {n}.{n}"),
                format!("SELECT sum({n}), max({n}) FROM {n} HAVING sum({n}) > 1"),
                format!("SELECT CASE WHEN {n} > 1 THEN {n} ELSE {n} END FROM {n}"),
                format!("WITH {n} AS (SELECT 7 AS {n}) SELECT {n} FROM {n}"),
                format!("SELECT {n} FROM (SELECT {n}, count(*) OVER (PARTITION BY {n}) FROM {n})"),
            ] {
                // SQLite itself can't find a column of that name in a subquery, quoted or not.
                if matches!(name, "TRUE" | "FALSE") && sql.contains("(SELECT") {
                    continue;
                }
                let first: i64 =
                    connection.query_row(&sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"));
                assert_eq!(first, 7, "{sql}");
            }
        }
    }

    #[test]
    fn plain_names_stay_as_people_write_them() {
        assert_eq!(quote("accounts"), "accounts");
        assert_eq!(quote("plan"), "plan");
        assert_eq!(quote("Order"), "\"Order\"");
    }
}
