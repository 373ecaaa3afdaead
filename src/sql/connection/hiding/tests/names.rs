//! What an operator writes, and what it comes to.

use super::*;

#[test]
fn a_name_that_is_not_there_is_an_error_that_names_it() {
    for (hidden, expected) in [
        ("salarys", "sql.hide names “salarys”, but the database has no such table or column (nearest: salaries)"),
        ("staff.sn", "“staff.sn”, but the database has no such table or column (nearest: staff.ssn"),
        ("zzz*", "“zzz*”, but the database has no such table or column: correct the settings"),
        ("salaries.ssn", "“salaries.ssn”"),
        ("sqlite_schema", "“sqlite_schema”"),
    ] {
        let Err(error) = opened(SCRIPT, &["salaries", hidden]) else { panic!("{hidden} was taken") };
        assert!(matches!(error, OpenError::NothingToHide(_)), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn the_closure_is_told_to_the_operator() {
    let hidden = stage().database.hidden();
    for name in
        ["salaries", "staff.ssn", "staff.tail2", "pay2", "using_view", "natural_view", "memo", "memo_segdir", "vocab"]
    {
        assert!(hidden.iter().any(|hidden| hidden == name), "{name}: {hidden:?}");
    }
    for name in ["staff", "staff.size", "fine2", "team", "news", "news_data", "orders", "broken", "remarked"] {
        assert!(!hidden.iter().any(|hidden| hidden == name), "{name}: {hidden:?}");
    }
}

#[test]
fn a_hidden_table_behind_a_virtual_one_hides_it_and_the_last_hidden_column_its_table() {
    let script = "CREATE VIRTUAL TABLE notes USING fts5(text); CREATE TABLE pins (a, b);
        CREATE VIRTUAL TABLE other USING fts5(text)";
    let mut stage = opened(script, &["notes_content", "pins.*"]).unwrap();
    let Reply::ListTables(list) = stage.list() else { panic!() };
    assert_eq!(list.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), ["other"]);
}

#[test]
fn a_virtual_tables_own_columns_are_not_meant() {
    let mut stage =
        opened("CREATE VIRTUAL TABLE notes USING fts5(text); CREATE TABLE t (rank, n)", &["*.rank"]).unwrap();
    assert_eq!(stage.database.hidden(), ["t.rank"]);
    assert_eq!(stage.value("SELECT count(*) FROM notes WHERE notes MATCH 'x'"), "0");
}

#[test]
fn what_is_hidden_is_never_shown_again() {
    let mut stage = stage();
    stage.database.hide(&hide(&[])).unwrap();
    stage.database.hide(&hide(&["orders"])).unwrap();
    for sql in ["SELECT ssn FROM staff", "SELECT id FROM orders", "SELECT amount FROM salaries"] {
        assert!(stage.query(sql).is_err(), "{sql}");
    }
    assert!(stage.database.hide(&hide(&["nothing"])).is_err());
    assert!(stage.query("SELECT name FROM staff").is_err(), "what can't be hidden isn't read");
}

#[test]
fn a_foreign_key_holds_the_values_it_refers_to() {
    let script =
        "CREATE TABLE users (mail TEXT, org INT, PRIMARY KEY (org, mail)); CREATE TABLE pay (id INTEGER PRIMARY KEY);
        CREATE TABLE logins (who TEXT, o INT, n INT REFERENCES pay, FOREIGN KEY (o, who) REFERENCES Users);
        CREATE TABLE visits (login TEXT REFERENCES logins (who), at TEXT)";
    let stage = opened(script, &["users.mail", "pay"]).unwrap();
    assert_eq!(stage.database.hidden(), ["pay", "logins.who", "users.mail", "visits.login"]);
}

#[test]
fn a_star_for_tables_means_nothing_of_how_an_index_is_stored() {
    let mut stage = opened("CREATE VIRTUAL TABLE notes USING fts5(text); CREATE TABLE t (id, n)", &["*.id"]).unwrap();
    assert_eq!(stage.database.hidden(), ["t.id"]);
    assert_eq!(stage.value("SELECT count(*) FROM notes"), "0");
}

#[test]
fn odd_names_are_hidden_too() {
    let script = "CREATE TABLE \"order items\" (\"the \"\"price\"\"\" INT, [a.b] INT AS (\"the \"\"price\"\"\" * 2), n);
        INSERT INTO \"order items\" VALUES (918273, 1); CREATE TABLE \"Ümlaut\" (x); INSERT INTO \"Ümlaut\" VALUES (4321)";
    let mut stage = opened(script, &["\"order items\".\"the \"\"price\"\"\"", "ümlaut"]).unwrap();
    assert_eq!(stage.value("SELECT n FROM \"order items\""), "1");
    for sql in [
        "SELECT \"the \"\"price\"\"\" FROM \"order items\"",
        "SELECT [a.b] FROM \"order items\"",
        "SELECT * FROM [order items]",
        "SELECT x FROM Ümlaut",
    ] {
        let outcome = stage.query(sql);
        assert!(outcome.is_err(), "{sql}");
        assert_silent(sql, &told(&outcome));
    }
}

#[test]
fn a_replica_that_no_longer_has_what_is_hidden_is_not_read() {
    let mut stage = stage();
    assert_eq!(stage.value("SELECT count(*) FROM staff"), "2");
    let next = stage.path.with_extension("next");
    Connection::open(&next)
        .unwrap()
        .execute_batch("CREATE TABLE staff (id, ssn2); INSERT INTO staff VALUES (1, 4321)")
        .unwrap();
    std::fs::rename(&next, &stage.path).unwrap();
    for sql in ["SELECT count(*) FROM staff", "SELECT ssn2 FROM staff"] {
        let outcome = stage.query(sql);
        assert!(outcome.is_err(), "{outcome:?}");
        assert_silent(sql, &told(&outcome));
    }
    let whole = stage.path.with_extension("next");
    Connection::open(&whole).unwrap().execute_batch(SCRIPT).unwrap();
    std::fs::rename(&whole, &stage.path).unwrap();
    assert_eq!(stage.value("SELECT count(*) FROM staff"), "2");
    assert!(stage.query("SELECT ssn FROM staff").is_err(), "hidden in the new file too");
}

#[test]
fn a_view_that_is_added_later_is_found() {
    let mut stage = stage();
    assert_eq!(stage.value("SELECT count(*) FROM staff"), "2");
    let writer = Connection::open(&stage.path).unwrap();
    writer.execute_batch("CREATE VIEW late AS SELECT count(*) AS n FROM salaries; CREATE TABLE new (x)").unwrap();
    assert_eq!(stage.value("SELECT count(*) FROM new"), "0");
    let refusal = stage.query("SELECT n FROM late").unwrap_err();
    assert!(refusal.message.starts_with("SQLite: no such table: late."), "{refusal}");
}
