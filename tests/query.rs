//! A person's own SELECT.

use pi_sql::sql::guard::spec::{CASES, Expect};
use serde_json::{Value, json};

use crate::support::Place;

/// Numbers without end.
const ENDLESS: &str = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";

fn endless() -> String {
    format!("{ENDLESS} SELECT i FROM n")
}

#[test]
fn each_format_writes_the_same_rows() {
    let place = Place::new();
    let query =
        |format: &str| place.query("SELECT id, name FROM plans WHERE id < 3 ORDER BY id").args(["--format", format]);
    query("csv").go().exits(0).prints("id,name\n1,free\n2,starter\n");
    query("jsonl").go().exits(0).prints("{\"id\":1,\"name\":\"free\"}\n{\"id\":2,\"name\":\"starter\"}\n");
    query("markdown").go().exits(0).prints("| id | name    |\n|----|---------|\n|  1 | free    |\n|  2 | starter |\n");
    query("table").go().exits(0).prints(" id  name    \n  1  free    \n  2  starter \n");
    let object = query("json").go().exits(0).json();
    assert_eq!(object["truncated"], Value::Null);
    assert_eq!(object["columns"], json!(["id", "name"]));
    assert_eq!(object["rows"], json!([[1, "free"], [2, "starter"]]));
    assert_eq!(object["row_count"], 2);
    assert_eq!(place.records_of("query").last().unwrap()["seq"], object["audit_seq"]);
    query("xml").go().fails(2, "jsonl");
}

#[test]
fn cells_that_json_cannot_hold_are_marked_and_said() {
    let sql = "SELECT 9007199254740993 AS big, 9e999 AS inf, x'00ff' AS blob, CAST(x'61ff' AS TEXT) AS bad, \
               CAST(x'610062' AS TEXT) AS nul, NULL AS nil, 1.0 AS whole, 'ä|\u{1b}[1m' AS text";
    let place = Place::new();
    let ran = place.query(sql).args(["--format", "json"]).go().exits(0);
    let row = ran.json()["rows"][0].clone();
    let blob = row[2].as_str().unwrap();
    assert!(blob.starts_with("<blob 2 bytes sha256:"), "{blob}");
    assert_eq!(row, json!(["9007199254740993", "Infinity", blob, "a\u{fffd}", "a\0b", null, 1.0, "ä|\u{1b}[1m"]));
    let ran = ran.says("exact (in big)").says("infinite").says("blobs").says("not UTF-8");
    assert!(!ran.stdout.contains('\u{1b}'));
    for format in ["table", "markdown"] {
        let ran = place.query(sql).args(["--format", format]).go().exits(0);
        assert!(!ran.stdout.contains(['\u{1b}', '\0']), "{ran}");
    }
}

#[test]
fn a_result_that_was_cut_says_so() {
    let place = Place::new();
    let ran =
        place.query(&endless()).args(["--rows", "3", "--format", "json"]).go().exits(0).says("note: only these rows");
    let object = ran.json();
    assert_eq!((&object["truncated"], &object["rows"]), (&json!("rows"), &json!([[1], [2], [3]])));
    assert!(ran.stdout.starts_with("{\"truncated\":\"rows\""), "{ran}");
    let sql = format!("{ENDLESS} SELECT i, printf('%.*c', 3000, 'x') FROM n");
    let ran = place.query(&sql).args(["--rows", "1000000", "--format", "json"]).go().exits(0).says("too large");
    assert_eq!(ran.json()["truncated"], "bytes");
    assert!(ran.stdout.len() < 9 << 20);
    place.query(&sql).go().exits(0).says("--rows");
    let whole = place.query("SELECT i FROM (VALUES (1), (2)) AS t(i)").args(["--rows", "2"]).go();
    assert!(!whole.stderr.contains("only these rows"), "{whole}");
}

#[test]
fn a_query_without_end_is_stopped_at_the_deadline() {
    let place = Place::new();
    let short = r#"{"sql": {"deadline_ms": 200, "grace_ms": 5000}}"#;
    place.query(&format!("{ENDLESS} SELECT count(*) FROM n")).settings(short).go().fails(3, "took too long");
    let some = place.query(&endless()).args(["--rows", "100000000", "--format", "json"]).settings(short).go().exits(0);
    assert_eq!(some.says("before the deadline").json()["truncated"], "time");
    place.query("SELECT count(*) FROM accounts").settings(short).go().exits(0).shows("5023");
    assert_eq!(place.stops(), [3, 0, 0]);
}

#[test]
fn an_error_of_sqlite_comes_with_a_hint() {
    let place = Place::new();
    for (sql, hint) in [
        ("SELECT nmae FROM accounts", "Nearest columns in accounts: name"),
        ("SELECT * FROM acounts", "Nearest tables: accounts"),
        ("SELECT now()", "datetime('now')"),
        ("SELECT id::int FROM accounts", "CAST("),
        ("SELECT \"name FROM accounts", "quote"),
        ("SELECT 1 FROM", "incomplete input"),
        ("SELECT name FROM accounts WHERE name ILIKE 'a%'", "LIKE"),
    ] {
        place.query(sql).go().fails(2, hint);
    }
}

#[test]
fn sql_comes_from_stdin_too() {
    let place = Place::new();
    let from_stdin = |sql: &[u8]| place.run(["query", "-"]).stdin(sql).go();
    from_stdin(b"-- the plans\nSELECT count(*) AS n FROM plans;\n").exits(0).shows("5");
    from_stdin(b"```sql\nSELECT count(*) AS n FROM plans\n```").exits(0).shows("5");
    from_stdin(b"").fails(2, "there is no SQL");
    from_stdin(b"SELECT 1\0; DROP TABLE plans").fails(2, "NUL");
    from_stdin(b"SELECT '\xff'").fails(2, "UTF-8");
    from_stdin(format!("SELECT '{}'", "x".repeat(1 << 20)).as_bytes()).fails(2, "limit is 100000");
    for shift in 0..3 {
        let long = "x".repeat(shift) + &"€".repeat(1 << 20);
        from_stdin(long.as_bytes()).fails(2, "limit is 100000");
    }
    // Six bytes of audit log each.
    from_stdin("\u{1}".repeat(1 << 20).as_bytes()).fails(2, "limit is 100000");
    place.verified();
}

#[test]
fn sql_that_begins_like_an_option_stands_after_two_dashes() {
    let place = Place::new();
    let comment = "-- the plans\nSELECT count(*) AS n FROM plans";
    place.run(["query", comment]).go().fails(2, "use '-- -- the plans");
    place.run(["query", "--", comment]).go().exits(0).shows("5");
    place.run(["query", "--", "-1"]).go().fails(2, "only SELECT");
    place.run(["query", "--formta", "csv", "SELECT 1"]).go().fails(2, "--format");
    place.run(["query"]).go().fails(2, "SQL");
}

#[test]
fn rows_must_be_a_number() {
    let place = Place::new();
    for rows in ["-1", "many", "1e3", "99999999999999999999"] {
        place.run(["query", "SELECT 1", "--rows", rows]).go().fails(2, "--rows");
    }
    // None at all would look like an empty result.
    place.run(["query", "SELECT 1", "--rows", "0"]).go().fails(2, "--rows");
}

/// A line in each group of the guard's own table; the whole of it is run beside the code.
#[test]
fn what_the_guard_refuses_is_refused_through_the_program_too() {
    let place = Place::new();
    let mut groups = std::collections::BTreeMap::new();
    for case in CASES.iter().filter(|case| matches!(case.expect, Expect::Refused(_))) {
        groups.entry((case.group, format!("{:?}", case.expect))).or_insert(case);
    }
    assert!(groups.len() > 20, "{}", groups.len());
    for case in groups.values() {
        place.run(["query", "-"]).stdin(case.text()).go().fails(2, "error: ");
    }
    assert_eq!(place.records_of("refusal").len(), groups.len());
    assert!(place.records_of("query").is_empty());
}

#[test]
fn what_the_guard_accepts_is_never_refused_by_it() {
    let place = Place::new();
    let mut groups = std::collections::BTreeMap::new();
    for case in CASES.iter().filter(|case| !matches!(case.expect, Expect::Refused(_))) {
        groups.entry(case.group).or_insert(case);
    }
    for case in groups.values() {
        let ran = place.run(["query", "-"]).stdin(case.text()).go();
        assert!([0, 2].contains(&ran.code()), "{ran}");
    }
    assert!(place.records_of("refusal").is_empty());
    assert_eq!(place.records_of("query").len(), groups.len());
}
