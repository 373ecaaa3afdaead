//! The authorizer without the mirror: each read that SQLite tells of is refused by it alone.

use super::*;
use crate::sql::connection::Denial;

/// What is prepared on the real connection as if no mirror had been asked.
fn refused_by_authorizer(stage: &mut Stage, sql: &str) -> Option<Denial> {
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    let prepared = stage.database.read(deadline, |connection| {
        drop(connection.take_denial());
        let outcome = connection.prepare(sql).map(drop);
        outcome.err().and_then(|_| connection.take_denial())
    });
    prepared.unwrap()
}

#[test]
fn every_read_of_something_hidden_is_refused() {
    let mut stage = stage();
    for sql in [
        "SELECT ssn FROM staff",
        "SELECT name FROM staff WHERE ssn > 'a'",
        "SELECT name FROM staff ORDER BY ssn",
        "SELECT count(ssn) FROM staff",
        "SELECT ssn_up FROM staff",
        "SELECT tail2 FROM staff",
        "SELECT id FROM (SELECT * FROM staff)",
        "SELECT rowid FROM badge",
        "SELECT count(*) FROM salaries",
        "SELECT EXISTS (SELECT 1 FROM salaries)",
        "SELECT who FROM pay2",
        "SELECT 1 FROM renamed",
        "SELECT unit FROM team",
        "SELECT term FROM vocab",
        "SELECT name FROM filter_view",
        "SELECT name FROM using_view",
        "SELECT data FROM places_node",
    ] {
        let denial = refused_by_authorizer(&mut stage, sql);
        assert!(matches!(denial, Some(Denial::Hidden(..))), "{sql}: {denial:?}");
    }
    for sql in
        ["SELECT sql FROM sqlite_schema", "SELECT sample FROM sqlite_stat4", "SELECT name FROM pragma_table_list"]
    {
        assert_eq!(refused_by_authorizer(&mut stage, sql), Some(Denial::Catalogue), "{sql}");
    }
}

/// A table that comes with SQLite and not with the file would be outside of what is hidden.
#[test]
fn every_module_of_this_build_is_known() {
    let connection = Connection::open_in_memory().unwrap();
    let mut statement = connection.prepare("SELECT DISTINCT name FROM pragma_module_list ORDER BY 1").unwrap();
    let modules: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let modules: Vec<&str> = modules.iter().map(String::as_str).filter(|name| !name.starts_with("pragma_")).collect();
    let known = ["fts3", "fts3tokenize", "fts4", "fts4aux", "fts5", "fts5vocab", "rtree", "rtree_i32"];
    assert_eq!(modules, known);
}

#[test]
fn of_using_and_natural_sqlite_tells_nothing_which_is_why_there_is_a_mirror() {
    let mut stage = stage();
    for sql in [
        "SELECT count(*) FROM staff JOIN (SELECT 'a' AS ssn) USING (ssn)",
        "SELECT count(*) FROM staff NATURAL JOIN archive",
    ] {
        assert_eq!(refused_by_authorizer(&mut stage, sql), None, "{sql}");
    }
}
