//! Ways round, each refused, and each told in words that tell nothing.

use super::*;

/// Statements that name something hidden: each must read as if that name had never existed.
const NAMING: &[&str] = &[
    // Columns, wherever a statement can have one.
    "SELECT ssn FROM staff",
    "SELECT SSN FROM Staff",
    "SELECT \"ssn\" FROM staff",
    "SELECT [ssn] FROM staff",
    "SELECT `ssn` FROM staff",
    "SELECT s.ssn FROM staff AS s",
    "SELECT main.staff.ssn FROM staff",
    "SELECT name FROM staff WHERE ssn LIKE '%4321'",
    "SELECT name FROM staff WHERE ssn IS NOT NULL",
    "SELECT name FROM staff WHERE typeof(ssn) = 'text'",
    "SELECT name FROM staff ORDER BY ssn",
    "SELECT count(*) FROM staff GROUP BY ssn",
    "SELECT dept FROM staff GROUP BY dept HAVING max(ssn) > 'a'",
    "SELECT count(ssn) FROM staff",
    "SELECT max(ssn) FROM staff",
    "SELECT group_concat(ssn) FROM staff",
    "SELECT count(*) FILTER (WHERE ssn > 'a') FROM staff",
    "SELECT row_number() OVER (ORDER BY ssn), name FROM staff",
    "SELECT sum(id) OVER (PARTITION BY ssn) FROM staff",
    "SELECT count(*) OVER w FROM staff WINDOW w AS (ORDER BY ssn)",
    "SELECT lag(ssn) OVER () FROM staff",
    "SELECT CASE WHEN ssn > 'a' THEN 1 END FROM staff",
    "SELECT CAST(ssn AS BLOB) FROM staff",
    "SELECT hex(ssn), length(ssn) FROM staff",
    "SELECT json_object('x', ssn) FROM staff",
    "SELECT name FROM staff, json_each(json_array(ssn)) AS j",
    "SELECT x FROM (SELECT ssn AS x FROM staff)",
    "WITH w AS (SELECT ssn AS x FROM staff) SELECT x FROM w",
    "WITH w(x) AS (SELECT ssn FROM staff) SELECT 1 FROM w",
    "WITH RECURSIVE w(x) AS (SELECT 'a' UNION SELECT ssn FROM staff, w) SELECT x FROM w",
    "SELECT name FROM staff AS s WHERE EXISTS (SELECT 1 FROM orders WHERE s.ssn > 'a')",
    "SELECT (SELECT ssn FROM staff WHERE id = 1)",
    "SELECT 1 WHERE 'a' IN (SELECT ssn FROM staff)",
    "SELECT 1 WHERE (1, 'seckey-4321') IN (SELECT id, ssn FROM staff)",
    "SELECT name FROM staff UNION SELECT ssn FROM staff",
    "SELECT 'seckey-4321' EXCEPT SELECT ssn FROM staff",
    "SELECT name FROM staff LIMIT (SELECT length(ssn) FROM staff)",
    "VALUES ((SELECT ssn FROM staff))",
    "SELECT a.name FROM staff AS a JOIN staff AS b ON a.ssn = b.ssn",
    // SQLite tells an authorizer nothing of USING.
    "SELECT count(*) FROM staff JOIN (SELECT 'seckey-4321' AS ssn) USING (ssn)",
    "SELECT name FROM (SELECT 'seckey-4321' AS ssn) JOIN staff USING (ssn)",
    "SELECT ssn FROM staff FULL JOIN (SELECT 'x' AS ssn) USING (ssn)",
    "SELECT count(*) FROM staff LEFT JOIN archive USING (ssn)",
    // What is made of a hidden column.
    "SELECT ssn_tail FROM staff",
    "SELECT ssn_up FROM staff",
    "SELECT tail2 FROM staff",
    "SELECT badge_no FROM orders",
    // A column of a view, of another table, of every table.
    "SELECT unit FROM team",
    "SELECT count(*) FROM team JOIN (SELECT 'ops' AS unit) USING (unit)",
    "SELECT body FROM tickets",
    "SELECT kept_in FROM articles",
    "SELECT code FROM badge",
    "SELECT owner FROM badge WHERE code BETWEEN 918000 AND 919000",
    // Tables.
    "SELECT * FROM salaries",
    "SELECT count(*) FROM salaries",
    "SELECT 1 FROM main.salaries",
    "SELECT typo FROM salaries",
    "SELECT amount FROM \"SALARIES\"",
    "SELECT salaries.amount FROM staff, salaries",
    "SELECT name FROM staff WHERE EXISTS (SELECT 1 FROM salaries WHERE staff_id = staff.id AND amount > 900000)",
    "SELECT name FROM staff JOIN salaries ON staff_id = id",
    "SELECT name FROM staff NATURAL JOIN salaries",
    "SELECT id FROM orders JOIN salaries USING (staff_id)",
    "SELECT 1 WHERE 918273 IN salaries",
    "SELECT EXISTS (SELECT * FROM salaries)",
    "SELECT (SELECT 1 FROM salaries WHERE 0)",
    "SELECT count(*) FROM places",
    "SELECT x0 FROM places WHERE x0 > 900000",
    "SELECT data FROM places_node",
    // Views and virtual tables that tell of them.
    "SELECT x FROM pay",
    "SELECT who FROM pay2",
    "SELECT id FROM renamed",
    "SELECT name FROM star_view",
    "SELECT count(*) FROM natural_view",
    "SELECT name FROM using_view",
    "SELECT name FROM filter_view",
    "SELECT * FROM unit2",
    "SELECT sql FROM catalogue_view",
    "SELECT * FROM broken_pay",
    "SELECT rowid FROM tickets_fts WHERE tickets_fts MATCH 'seckey'",
    "SELECT highlight(tickets_fts, 0, '', '') FROM tickets_fts",
    "SELECT rowid FROM tickets_fts('seckey')",
    "SELECT term FROM vocab",
    "SELECT c1body FROM memo_content",
    "SELECT subject FROM memo WHERE memo MATCH 'body:seckey'",
    "SELECT snippet(memo) FROM memo",
    "SELECT block FROM tickets_fts_data",
    // An index: its order is the order of the hidden values.
    "SELECT id FROM staff INDEXED BY idx_staff_ssn",
    "SELECT id FROM staff INDEXED BY by_dept WHERE dept = 'ops'",
    // Errors of other kinds.
    "SELECT ssn FROM staff, archive",
    "SELECT ssn + FROM staff",
    "SELECT frobnicate(ssn) FROM staff",
    "SELECT name FROM staff WHERE count(ssn) > 1",
];

/// Statements that reach something hidden by themselves, or whose names mean something else without it.
const SILENT: &[&str] = &[
    "SELECT * FROM staff",
    "SELECT s.* FROM staff AS s",
    "SELECT name FROM (SELECT * FROM staff)",
    "WITH w AS (SELECT * FROM staff) SELECT name FROM w",
    "SELECT EXISTS (SELECT * FROM staff)",
    "SELECT * FROM staff AS a JOIN staff AS b USING (id)",
    "SELECT * FROM team",
    "SELECT * FROM orders",
    "SELECT * FROM badge",
    "SELECT * FROM articles LIMIT 0",
    "SELECT * FROM tickets",
    "SELECT name, dept FROM staff UNION ALL SELECT * FROM archive",
    // A join on columns that nobody names.
    "SELECT count(*) FROM staff NATURAL JOIN archive",
    "SELECT count(*) FROM staff /* */ natural\nJOIN (SELECT 'seckey-4321' AS x)",
    "SELECT count(*) FROM (SELECT 1) NATURAL LEFT JOIN \"Staff\"",
    "SELECT count(*) FROM \u{feff}staff NATURAL JOIN (SELECT 'seckey-4321' AS ssn)",
    // The leftmost table that has the column: here another one than where nothing is hidden.
    "SELECT count(*) FROM staff JOIN (SELECT 'a' AS ssn) ON 1 JOIN (SELECT 'seckey-4321' AS ssn) USING (ssn)",
    "SELECT count(*) FROM staff, (SELECT 1 AS \"ssn\") JOIN (SELECT 'seckey-4321' AS ssn) USING /**/ ( 'SSN' )",
    "SELECT ssn FROM staff JOIN (SELECT 'a' AS ssn) ON 1 FULL JOIN (SELECT 'b' AS ssn) USING (ssn)",
    "SELECT total FROM team, (SELECT 'a' AS unit) JOIN (SELECT 'ops' AS unit) USING (unit)",
    // Names that mean something else where nothing is hidden.
    "SELECT (SELECT ssn FROM staff LIMIT 1) FROM (SELECT 'x' AS ssn)",
    "SELECT name AS ssn FROM staff WHERE ssn LIKE '%4321'",
    "SELECT count(*), dept AS ssn FROM staff GROUP BY ssn",
    "WITH salaries AS (SELECT 1 AS a) SELECT count(*) FROM salaries",
    // Other names of a hidden primary key.
    "SELECT rowid FROM badge",
    "SELECT oid, _rowid_ FROM badge",
    "SELECT owner FROM badge WHERE rowid > 920000",
    "SELECT max(rowid) FROM badge",
    "SELECT owner FROM badge ORDER BY rowid",
    // The schema's own tables, statistics and pragmas.
    "SELECT sql FROM sqlite_schema",
    "SELECT count(*) FROM sqlite_master",
    "SELECT name FROM main.sqlite_master WHERE type = 'index'",
    "SELECT sql FROM sqlite_temp_schema",
    "SELECT * FROM sqlite_stat1",
    "SELECT sample FROM sqlite_stat4",
    "SELECT * FROM sqlite_sequence",
    "SELECT name FROM pragma_table_info('staff')",
    "SELECT name, dflt_value FROM pragma_table_xinfo('staff')",
    "SELECT name FROM pragma_table_list",
    "SELECT count(*) FROM pragma_table_list WHERE name = 'x'",
    "SELECT name FROM pragma_index_list('staff')",
    "SELECT i.name, x.name FROM pragma_index_list('staff') AS i, pragma_index_xinfo(i.name) AS x",
    "SELECT name FROM pragma_index_info('by_dept')",
    "SELECT * FROM pragma_foreign_key_list('orders')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_stats",
    "SELECT * FROM dbstat",
    "SELECT * FROM sqlite_dbpage",
    // Plans name indexes and what a view reads.
    "EXPLAIN QUERY PLAN SELECT id FROM staff WHERE dept = 'ops'",
    "EXPLAIN QUERY PLAN SELECT count(*) FROM fine2",
    // Misspelt: the hints must not know better.
    "SELECT sn FROM staff",
    "SELECT * FROM salarie",
    "SELECT name FROM salary",
    "SELECT * FROM paj",
    "SELECT a.nam FROM archive AS a",
    "SELECT unti FROM team",
    "SELECT order FROM staff",
    "SELECT * FROM broken",
    "SELECT id FROM staff, orders",
];

#[test]
fn a_hidden_name_is_a_name_that_does_not_exist() {
    let (mut stage, mut stripped) = (stage(), opened(STRIPPED, &[]).unwrap());
    for &sql in NAMING {
        let outcome = stage.query(sql);
        let message = told(&outcome);
        assert!(outcome.is_err(), "{sql}\nanswered: {message}");
        assert_silent(sql, &message);
        // Letter for letter what is said where it has never been.
        assert_eq!(message, told(&stripped.query(sql)), "{sql}");
    }
}

#[test]
fn what_could_reach_something_hidden_by_itself_is_refused() {
    let mut stage = stage();
    for &sql in SILENT {
        let outcome = stage.query(sql);
        assert!(outcome.is_err(), "{sql}\nanswered: {}", told(&outcome));
        assert_silent(sql, &told(&outcome));
    }
    assert!(NAMING.len() + SILENT.len() >= 60);
}

#[test]
fn a_star_is_refused_with_the_columns_to_name() {
    let mut stage = stage();
    let refusal = stage.query("SELECT * FROM staff WHERE id = 1").unwrap_err();
    assert_eq!(
        refusal.message,
        "The operator has hidden columns of staff, so * can't be used on it. Name the columns you need: id, name, dept, size."
    );
    assert_eq!(stage.value("SELECT count(*) FROM staff WHERE size = 3"), "2");
}

#[test]
fn everything_else_is_answered_as_before() {
    let mut stage = stage();
    for (sql, expected) in [
        ("SELECT group_concat(name) FROM (SELECT name FROM staff ORDER BY id)", "\"ann,bob\""),
        ("SELECT count(*) FROM staff", "2"),
        ("SELECT s.rowid FROM staff AS s ORDER BY 1 LIMIT 1", "1"),
        ("SELECT name FROM fine WHERE id = 2", "\"bob\""),
        ("SELECT sum(total) FROM fine2", "60"),
        ("SELECT id FROM remarked ORDER BY id", "1"),
        ("SELECT name FROM team WHERE id = 1", "\"ann\""),
        ("SELECT owner FROM badge ORDER BY owner", "\"ann\""),
        ("SELECT count(*) FROM tickets", "1"),
        ("SELECT title FROM news WHERE news MATCH 'plain'", "\"plain news\""),
        ("SELECT highlight(news, 0, '[', ']') FROM news('news')", "\"plain [news]\""),
        ("SELECT bm25(news) < 0 FROM news WHERE news MATCH 'plain' ORDER BY rank", "1"),
        ("SELECT count(*) FROM fine2 NATURAL JOIN (SELECT 10 AS total)", "1"),
        ("SELECT total FROM staff JOIN orders ON staff_id = staff.id ORDER BY total DESC", "30"),
        ("SELECT key FROM json_each('{\"a\": 1}')", "\"a\""),
        ("WITH ssn AS (SELECT 1 AS salaries) SELECT salaries FROM ssn", "1"),
        ("SELECT dept AS ssn FROM staff ORDER BY ssn", "\"ops\""),
        ("SELECT 'salaries' || replace('ssn', 's', 'x')", "\"salariesxxn\""),
        ("SELECT count(*) > 0 FROM pragma_function_list", "1"),
        ("SELECT name FROM staff WHERE name REGEXP '^b'", "\"bob\""),
    ] {
        assert_eq!(stage.value(sql), expected, "{sql}");
    }
}
