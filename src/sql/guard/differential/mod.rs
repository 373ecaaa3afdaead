//! The guard held against SQLite itself, over random texts.
//!
//! A counterexample becomes a line of the table of cases.

mod oracle;
mod texts;

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::lexer::Lexer;
use super::spec::CASES;
use super::{Guarded, Reason, Refused, check, strip_fence};
use oracle::{Authorizer, Sqlite, Verdict};

/// This many cases, unless `PROPTEST_CASES` asks for another number.
pub(super) fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases };
    ProptestConfig { cases, failure_persistence: None, ..default }
}

thread_local! {
    /// As the reader's connection is.
    static FORBIDS: Sqlite = Sqlite::open(Authorizer::Forbids);
    /// Without its belt: what passes the guard must be sound on its own.
    static NOTES: Sqlite = Sqlite::open(Authorizer::Notes);
}

/// Everything the guard claims of one text; gives the kind of outcome.
fn agree(text: &str) -> Result<String, String> {
    match check(text) {
        Ok(guarded) => passes(&guarded),
        Err(refused) => is_refused(text, &refused),
    }
}

/// What passes is one query, or an error, though nothing but the guard stands in the way.
fn passes(guarded: &Guarded) -> Result<String, String> {
    let (verdict, asked) = NOTES.with(|sqlite| sqlite.judge(guarded.as_str()));
    let (holds, kind) = match &verdict {
        Verdict::One { explain, .. } => {
            let kind = if guarded.is_explain() { 2 } else { 0 };
            (verdict.is_query(asked) && *explain == kind, format!("explain {explain}"))
        }
        // What SQLite can't cut into tokens, the lexer must have found.
        Verdict::Error { first, message, .. } => {
            let cut = !message.starts_with("unrecognized token");
            (*first && !asked.more && cut, "error".into())
        }
        Verdict::Empty | Verdict::Several => (false, String::new()),
    };
    if !holds {
        return Err(format!("{guarded:?} passes; SQLite: {verdict:?}, {asked:?}"));
    }
    if strip_fence(guarded.as_str()).is_some() {
        return Err(format!("{guarded:?} passes, yet has a fence to strip"));
    }
    cut_alike(guarded.as_str(), &verdict)?;
    Ok(format!("passes, {kind}"))
}

/// What is refused is no query that SQLite and the authorizer would have let run, but for what is refused on purpose.
fn is_refused(text: &str, refused: &Refused) -> Result<String, String> {
    let (verdict, asked) = FORBIDS.with(|sqlite| sqlite.judge(text));
    let on_purpose = matches!(
        refused.reason(),
        Reason::Nul | Reason::TooLong | Reason::Parameter | Reason::ExtraSemicolon | Reason::ExplainBytecode
    );
    let empty = matches!(verdict, Verdict::Empty) == (refused.reason() == Reason::Empty);
    if !on_purpose && (!empty || verdict.is_query(asked)) {
        return Err(format!("{text:?} is refused, {refused:?}; SQLite: {verdict:?}, {asked:?}"));
    }
    cut_alike(text, &verdict)?;
    Ok(format!("{:?}", refused.reason()))
}

/// Where SQLite's message quotes a token of the text, the lexer has cut that very token.
fn cut_alike(text: &str, verdict: &Verdict) -> Result<(), String> {
    let Verdict::Error { first: true, message, at: Some(at) } = verdict else { return Ok(()) };
    let quoted = message.strip_prefix("near \"").and_then(|rest| rest.strip_suffix("\": syntax error"));
    let unread = message.strip_prefix("unrecognized token: \"").and_then(|rest| rest.strip_suffix('"'));
    let Some(token) = quoted.or(unread).filter(|_| !text.contains('\0')) else { return Ok(()) };
    if Lexer::new(text).any(|ours| ours.start == *at && &text[ours.start..ours.end] == token) {
        Ok(())
    } else {
        Err(format!("{text:?}: SQLite cuts {token:?} at {at}, and the lexer doesn't"))
    }
}

#[test]
fn the_table_agrees_with_sqlite() {
    let disagreements: Vec<String> = CASES.iter().filter_map(|case| agree(&case.text()).err()).collect();
    assert!(disagreements.is_empty(), "{disagreements:#?}");
}

#[test]
fn what_passes_is_one_query_or_an_error_and_what_is_refused_is_no_query() {
    let met = RefCell::new(BTreeMap::<String, u32>::new());
    let result = TestRunner::new(config(30_000)).run(&texts::any_text(), |text| {
        let kind = agree(&text).map_err(TestCaseError::fail)?;
        *met.borrow_mut().entry(kind).or_default() += 1;
        Ok(())
    });
    let met = met.into_inner();
    println!("{met:#?}");
    result.unwrap_or_else(|failure| panic!("{failure}"));
    // Texts that never get past the first word would prove little.
    for kind in
        ["passes, explain 0", "passes, explain 2", "passes, error", "WithWrite", "SecondStatement", "Parenthesis"]
    {
        assert!(met.contains_key(kind), "no random text was of the kind {kind:?}, only {met:?}");
    }
}
