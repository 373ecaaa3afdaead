//! Random statements never give what is hidden.

use proptest::prelude::*;

use super::*;
use crate::sql::gate::QueryResult;

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::sample::select(words).prop_map(ToOwned::to_owned)
}

/// Mostly what may be asked, so that enough is answered.
fn column() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => one_of(&["a.id", "a.id", "a.name", "a.name", "a.dept", "a.rowid", "count(*)", "1"]),
        1 => one_of(&["*", "a.*", "b.*", "ssn", "a.ssn", "ssn_tail", "a.tail2", "ssn_up", "rowid", "code", "owner"]),
        1 => one_of(&["body", "x", "who", "c", "amount", "staff_id", "total", "unit", "remark", "b.name", "b.ssn"]),
    ]
}

fn table() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => one_of(&["staff", "staff", "team", "fine"]),
        1 => one_of(&["(SELECT 'seckey-4321' AS ssn)", "(SELECT 918273 AS code)", "badge", "archive", "tickets", "orders"]),
        1 => one_of(&[
            "salaries", "pay", "renamed", "star_view", "tickets_fts", "vocab", "memo", "memo_content", "places",
            "natural_view", "using_view", "filter_view", "sqlite_schema", "pragma_table_info('staff')",
        ]),
    ]
}

fn expression() -> impl Strategy<Value = String> {
    column().prop_recursive(2, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|x| format!("max({x})")),
            inner.clone().prop_map(|x| format!("group_concat({x})")),
            inner.clone().prop_map(|x| format!("upper({x})")),
            (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("({x} || {y})")),
            (inner.clone(), table()).prop_map(|(x, t)| format!("(SELECT {x} FROM {t} AS a LIMIT 1)")),
            inner.prop_map(|x| format!("first_value({x}) OVER (ORDER BY {x})")),
        ]
    })
}

fn from() -> impl Strategy<Value = String> {
    let join = one_of(&[" JOIN ", " LEFT JOIN ", " NATURAL JOIN ", " FULL JOIN ", ", "]);
    let on = one_of(&[
        "",
        "",
        " USING (ssn)",
        " USING (id)",
        " USING (code)",
        " ON 1 JOIN (SELECT 'seckey-4321' AS ssn) USING (ssn)",
        " ON a.id = b.id",
    ]);
    prop_oneof![
        3 => table().prop_map(|t| format!("{t} AS a")),
        3 => (table(), join, table(), on).prop_map(|(a, join, b, on)| format!("{a} AS a{join}{b} AS b{on}")),
        1 => (expression(), table()).prop_map(|(x, t)| format!("(SELECT {x} AS id FROM {t} AS a) AS a")),
    ]
}

fn statement() -> impl Strategy<Value = String> {
    let tail = one_of(&["", "", "", " WHERE ssn > 'a'", " ORDER BY 1", " GROUP BY a.id", " ORDER BY ssn", " LIMIT 1"]);
    let select = (expression(), from(), tail).prop_map(|(x, from, tail)| format!("SELECT {x} FROM {from}{tail}"));
    select.prop_recursive(1, 4, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("SELECT * FROM ({a}) UNION ALL SELECT * FROM ({b})")),
            inner.clone().prop_map(|a| format!("WITH w AS ({a}) SELECT * FROM w")),
            inner.prop_map(|a| format!("SELECT EXISTS ({a})")),
        ]
    })
}

/// What comes back, without how long it took.
fn answer(stage: &mut Stage, sql: &str) -> Result<Reply, Refusal> {
    stage.query(sql).map(|reply| match reply {
        Reply::RunQuery(result) => Reply::RunQuery(QueryResult { ms: 0.0, ..result }),
        other => other,
    })
}

/// Two databases that differ in what is hidden only give the same answer to every statement.
///
/// Their hidden values stand in the same order: row order is not promised (docs/hiding.md).
#[test]
fn no_random_statement_tells_one_hidden_value_from_another() {
    let twin = [("seckey", "tarkey"), ("4321", "3210"), ("8765", "7654"), ("918273", "718273"), ("927182", "727182")]
        .iter()
        .fold(SCRIPT.to_owned(), |script, (secret, other)| script.replace(secret, other));
    let twin = std::cell::RefCell::new(opened(&twin, &[&HIDDEN[..], &["archive.ssn"]].concat()).unwrap());
    let stage = std::cell::RefCell::new(stage());
    let answered = std::cell::Cell::new(0_u32);
    let config = ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() };
    let outcome = proptest::test_runner::TestRunner::new(config).run(&statement(), |sql| {
        let outcome = answer(&mut stage.borrow_mut(), &sql);
        prop_assert_eq!(&outcome, &answer(&mut twin.borrow_mut(), &sql), "{}", sql);
        answered.set(answered.get() + u32::from(outcome.is_ok()));
        for secret in ["8765", "927182", "zqdefault", "zqcheck"] {
            prop_assert!(!told(&outcome).contains(secret), "{sql}: {outcome:?}");
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(answered.get() > 25, "only {} were answered: the grammar proves nothing", answered.get());
}
