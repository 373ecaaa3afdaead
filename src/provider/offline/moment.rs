//! What existed at a time, which is another question than what came about in it.

use jiff::civil::Date;

use super::calendar;
use super::plan::{Cond, Output, Plan};
use super::schema::{Col, Schema};
use super::trouble::Trouble;
use super::words::{Kind, Token};

/// The choice of rows that came about in the period.
const WITHIN: &str = "created in that time";
/// The choice of rows that had come about when the period was over.
const BY_END: &str = "created by its end";
/// Words of a column that says when a row came about, of what goes on existing.
const CREATED: [&str; 10] =
    ["created", "creation", "registered", "registration", "joined", "signed", "signup", "added", "founded", "inserted"];
/// Starts of words by which a question says that it means what came about.
const SAYS_CREATED: [&str; 11] =
    ["creat", "sign", "join", "regist", "add", "found", "insert", "new", "start", "gain", "open"];

/// A phrase that names one moment: `at the end of June 2026`, `as of today`, `by March 2026`.
pub(super) fn named(tokens: &[Token], today: Option<Date>) -> Option<Trouble> {
    const BEFORE: [&[&str]; 7] = [
        &["end", "of"],
        &["start", "of"],
        &["beginning", "of"],
        &["close", "of"],
        &["middle", "of"],
        &["as", "of"],
        &["by"],
    ];
    let place = (0..tokens.len()).find(|&at| {
        BEFORE.iter().any(|words| {
            let here = words.iter().enumerate().all(|(place, word)| {
                tokens.get(at + place).is_some_and(|token| token.kind != Kind::Quoted && token.lower == **word)
            });
            let rest = tokens.get(at + words.len()..).unwrap_or(&[]);
            let year = rest.first().and_then(Token::number).is_some_and(|year| (1900.0..=2100.0).contains(&year));
            here && (year || !matches!(calendar::read(rest, today), Ok(None)))
        })
    })?;
    let said: Vec<&str> = tokens[place..].iter().take(5).map(|token| token.lower.as_str()).collect();
    Some(Trouble::Decline(format!(
        "I can't tell what held at one moment (“{}”). Ask for what happened in a period, or before a date.",
        said.join(" ").trim_end_matches(['?', ' '])
    )))
}

/// The plan for a count of what goes on existing, in a period: what came about in it, or by its end, as the person says.
pub(super) fn settle(schema: &Schema, tokens: &[Token], mut plan: Plan, chosen: &[String]) -> Result<Plan, Trouble> {
    if plan.outputs != [Output::Rows] || !plan.groups.is_empty() || plan.counts_joined {
        return Ok(plan);
    }
    let root = plan.root;
    let created =
        |col: &Col| col.table == root && schema.column(*col).words.iter().any(|word| CREATED.contains(&word.as_str()));
    let says = tokens.iter().any(|token| SAYS_CREATED.iter().any(|start| token.lower.starts_with(start)));
    let during = plan.conds.iter_mut().find_map(|cond| match cond {
        Cond::During(col, from @ Some(_), Some(_)) if created(col) => Some(from),
        _ => None,
    });
    let Some(from) = during.filter(|_| !says) else { return Ok(plan) };
    if chosen.iter().any(|choice| choice == BY_END) {
        *from = None;
    } else if !chosen.iter().any(|choice| choice == WITHIN) {
        let question = format!("{}: created in that time, or by its end?", schema.tables[root].name);
        return Err(Trouble::Ask { question, choices: vec![WITHIN.to_owned(), BY_END.to_owned()] });
    }
    Ok(plan)
}
