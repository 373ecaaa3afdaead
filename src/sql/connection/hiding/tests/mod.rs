//! Hiding as those who ask meet it: a real file, the real road, every way round that we know.

mod alone;
mod looks;
mod names;
mod random;
mod ways;

use std::path::PathBuf;

use rusqlite::Connection;

use super::Hide;
use crate::sql::connection::{Database, Limits, OpenError};
use crate::sql::errand::Errand;
use crate::sql::gate::{ListTables, Refusal, Reply};
use crate::sql::guard;
use crate::sql::settings::SqlSettings;

/// Values that nobody may see, in every form a query could give them.
const SECRETS: [&str; 8] = ["seckey", "SECKEY", "4321", "8765", "918273", "927182", "zqdefault", "zqcheck"];

/// Names that nobody may learn.
#[rustfmt::skip]
const NAMES: [&str; 25] = [
    "salaries", "ssn", "ssn_tail", "ssn_up", "tail2", "code", "pay", "pay2", "renamed", "star_view",
    "natural_view", "using_view", "filter_view", "body", "tickets_fts", "vocab", "memo", "places", "unit", "unit2",
    "catalogue_view", "broken_pay", "kept_in", "refused", "badge_no",
];

const HIDDEN: [&str; 7] =
    ["salaries", "Staff.SSN", "badge.code", "*.body", "plac*", "team.unit", "articles.\"kept_in\""];

const SCRIPT: &str = "
    CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, dept TEXT,
        ssn TEXT DEFAULT 'zqdefault' CHECK (ssn <> 'zqcheck'),
        ssn_tail AS (substr(ssn, -4)), ssn_up TEXT AS (upper(ssn)) STORED, tail2 AS ('x' || ssn_tail), size AS (length(name)));
    INSERT INTO staff (name, dept, ssn) VALUES ('ann', 'ops', 'seckey-4321'), ('bob', 'ops', 'seckey-8765');
    CREATE TABLE salaries (staff_id INTEGER REFERENCES staff (id), amount INTEGER);
    INSERT INTO salaries VALUES (1, 918273), (2, 927182);
    CREATE TABLE badge (code INTEGER PRIMARY KEY, owner TEXT);
    INSERT INTO badge VALUES (918273, 'ann'), (927182, 'bob');
    CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, staff_id INTEGER REFERENCES staff (id),
        badge_no INTEGER REFERENCES badge, total INTEGER);
    INSERT INTO orders (staff_id, badge_no, total) VALUES (1, 918273, 10), (1, NULL, 20), (2, 927182, 30);
    CREATE TABLE archive (ssn TEXT, remark TEXT);
    INSERT INTO archive VALUES ('seckey-4321', 'left');
    CREATE TABLE tickets (id INTEGER PRIMARY KEY, subject TEXT, body TEXT);
    INSERT INTO tickets VALUES (1, 'hello', 'seckey-4321 here');
    CREATE TABLE articles (title TEXT, kept_in TEXT);
    INSERT INTO articles VALUES ('one', 'seckey');
    CREATE INDEX idx_staff_ssn ON staff (ssn);
    CREATE INDEX by_dept ON staff (dept, ssn);
    CREATE INDEX by_expression ON staff (lower(ssn));
    CREATE INDEX by_part ON staff (name) WHERE ssn > 'm';
    CREATE INDEX by_name ON staff (name);
    CREATE VIEW pay AS SELECT staff_id AS who, amount AS x FROM salaries;
    CREATE VIEW pay2 AS SELECT who FROM pay;
    CREATE VIEW renamed AS SELECT id, ssn AS c FROM staff;
    CREATE VIEW star_view AS SELECT * FROM staff;
    CREATE VIEW natural_view AS SELECT name FROM staff NATURAL JOIN (SELECT 'seckey-4321' AS ssn);
    CREATE VIEW using_view AS SELECT name FROM staff JOIN (SELECT 'seckey-4321' AS ssn) USING (ssn);
    CREATE VIEW filter_view AS SELECT name FROM staff WHERE ssn LIKE '%4321';
    CREATE VIEW catalogue_view AS SELECT sql FROM sqlite_master;
    CREATE VIEW broken_pay AS SELECT * FROM salaries JOIN gone;
    CREATE VIEW broken AS SELECT * FROM gone;
    CREATE VIEW fine AS SELECT id, name FROM staff;
    CREATE VIEW remarked AS SELECT id /* no ssn here */ FROM staff;
    CREATE VIEW refused AS SELECT randomblob(1), * FROM staff;
    CREATE VIEW team AS SELECT id, name, dept AS unit FROM staff;
    CREATE VIEW unit2 AS SELECT unit FROM team;
    CREATE VIEW fine2 AS SELECT f.id, o.total FROM fine AS f JOIN orders AS o ON o.staff_id = f.id;
    CREATE VIRTUAL TABLE tickets_fts USING fts5(body, content='tickets', content_rowid='id');
    INSERT INTO tickets_fts (tickets_fts) VALUES ('rebuild');
    CREATE VIRTUAL TABLE vocab USING fts5vocab(tickets_fts, row);
    CREATE VIRTUAL TABLE memo USING fts4(subject, body);
    INSERT INTO memo VALUES ('hi', 'seckey');
    CREATE VIRTUAL TABLE news USING fts5(title);
    INSERT INTO news VALUES ('plain news');
    CREATE VIRTUAL TABLE places USING rtree(id, x0, x1);
    INSERT INTO places VALUES (1, 918273, 918274);
    CREATE TRIGGER log_ssn AFTER UPDATE ON salaries BEGIN INSERT INTO archive VALUES (old.amount, 'zqdefault'); END;
    ANALYZE;";

/// The database above as if nothing hidden had ever been in it.
const STRIPPED: &str = "
    CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, dept TEXT, size AS (length(name)));
    CREATE TABLE badge (owner TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, staff_id INTEGER, total INTEGER);
    CREATE TABLE archive (remark TEXT);
    CREATE TABLE tickets (id INTEGER PRIMARY KEY, subject TEXT);
    CREATE TABLE articles (title TEXT);
    CREATE VIEW broken AS SELECT * FROM gone;
    CREATE VIEW fine AS SELECT id, name FROM staff;
    CREATE VIEW remarked AS SELECT id FROM staff;
    CREATE VIEW team AS SELECT id, name FROM staff;
    CREATE VIEW fine2 AS SELECT f.id, o.total FROM fine AS f JOIN orders AS o ON o.staff_id = f.id;
    CREATE VIRTUAL TABLE news USING fts5(title);";

/// The database above, opened with what is hidden in it.
struct Stage {
    _dir: tempfile::TempDir,
    path: PathBuf,
    database: Database,
}

fn hide(names: &[&str]) -> Hide {
    Hide::try_from(names.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
}

/// Another database of the same kind.
fn opened(script: &str, hidden: &[&str]) -> Result<Stage, OpenError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("real.db");
    Connection::open(&path).unwrap().execute_batch(script).unwrap();
    let database = Database::open_hiding(&path, &Limits::default(), &hide(hidden))?;
    Ok(Stage { _dir: dir, path, database })
}

fn stage() -> Stage {
    opened(SCRIPT, &[&HIDDEN[..], &["archive.ssn"]].concat()).unwrap()
}

impl Stage {
    fn query(&mut self, sql: &str) -> Result<Reply, Refusal> {
        let sql = guard::check(sql)?;
        Errand::RunQuery { sql }.run(&mut self.database, &SqlSettings::default())
    }

    fn describe(&mut self, table: &str) -> Result<Reply, Refusal> {
        Errand::DescribeTable { table: table.into() }.run(&mut self.database, &SqlSettings::default())
    }

    fn list(&mut self) -> Reply {
        let wanted = ListTables { limit: 200, ..ListTables::default() };
        Errand::ListTables(wanted).run(&mut self.database, &SqlSettings::default()).unwrap()
    }

    /// The first cell of a query that must be answered.
    fn value(&mut self, sql: &str) -> String {
        match self.query(sql) {
            Ok(Reply::RunQuery(result)) => result.rows[0][0].to_string(),
            other => panic!("{sql}: {other:?}"),
        }
    }
}

/// Everything that comes back, as text.
fn told(outcome: &Result<Reply, Refusal>) -> String {
    match outcome {
        Ok(reply) => serde_json::to_string(reply).unwrap(),
        Err(refusal) => refusal.message.clone(),
    }
}

/// Nothing secret is told, and no hidden name that was not in what was asked.
fn assert_silent(asked: &str, told: &str) {
    for secret in SECRETS {
        assert!(!told.contains(secret) || asked.contains(secret), "{asked}\ntold {secret}: {told}");
    }
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase).collect()
    };
    let (asked_words, told_words) = (words(asked), words(told));
    for name in NAMES {
        let name = name.to_owned();
        assert!(!told_words.contains(&name) || asked_words.contains(&name), "{asked}\ntold {name}: {told}");
    }
}
