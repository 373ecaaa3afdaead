//! Rows that run from a start to an end: whether those that have ended count is asked, not assumed.

use super::dates;
use super::plan::{Cond, Plan, Related};
use super::schema::{Col, Schema, TableId};
use super::trouble::Trouble;
use super::words::Token;

/// The choice of rows without an end.
const NOW: &str = "now";
/// The choice of all rows.
const EVER: &str = "ever";
/// Words of a column that says when a row began.
const STARTS: [&str; 9] = ["start", "started", "begin", "began", "begun", "from", "since", "starting", "beginning"];
/// Words of a column that says when a row ended.
const ENDS: [&str; 12] = [
    "end",
    "ended",
    "until",
    "till",
    "to",
    "closed",
    "cancelled",
    "canceled",
    "expired",
    "finished",
    "terminated",
    "ending",
];
/// Words that speak of the present.
const PRESENT: [&str; 5] = ["now", "currently", "current", "presently", "still"];
/// Words that speak of the past, where rows that have ended belong.
const PAST: [&str; 17] = [
    "ever", "never", "had", "hadn't", "was", "wasn't", "were", "weren't", "did", "didn't", "started", "ended", "began",
    "been", "past", "ago", "history",
];

/// The plan with only running rows, or with all, as the question or the person says; and what an answer adds.
pub(super) fn settle(
    schema: &Schema,
    tokens: &[Token],
    mut plan: Plan,
    chosen: &[String],
) -> Result<(Plan, Option<&'static str>), Trouble> {
    let said = |words: &[&str]| tokens.iter().find(|token| words.contains(&token.lower.as_str()));
    let present = said(&PRESENT);
    let open = uses(schema, &plan);
    let Some(table) = open.first() else {
        // `currently churned`: of what happened once, what holds now is another question.
        let happened = plan.conds.iter().chain(plan.joined.iter().flat_map(|joined| &joined.conds)).any(happening);
        return match present {
            Some(word) if happened => Err(Trouble::Stuck(word.raw.clone())),
            _ => Ok((plan, None)),
        };
    };
    if chosen.iter().any(|choice| choice == EVER) {
        return Ok((plan, Some("ever, ended ones included")));
    }
    if present.is_some() || chosen.iter().any(|choice| choice == NOW) {
        only_running(schema, &mut plan).ok_or_else(|| {
            Trouble::Decline(format!(
                "I can't count only the running rows of {} in this question. Please ask it in simpler words.",
                schema.tables[*table].name
            ))
        })?;
        return Ok((plan, Some("running now")));
    }
    if said(&PAST).is_some() {
        return Ok((plan, None));
    }
    let question = format!("{}: those running now, or ever (ended ones included)?", schema.tables[*table].name);
    Err(Trouble::Ask { question, choices: vec![NOW.to_owned(), EVER.to_owned()] })
}

/// The column that is empty while a row of this table runs, where some have ended and some have not.
fn end(schema: &Schema, table: TableId) -> Option<Col> {
    let named = |col: &Col, names: &[&str]| {
        let column = schema.column(*col);
        dates::format(column).is_some() && column.words.iter().any(|word| names.contains(&word.as_str()))
    };
    schema.columns(table).find(|col| named(col, &STARTS))?;
    schema
        .columns(table)
        .find(|col| named(col, &ENDS) && schema.column(*col).about.storage.iter().any(|class| class == "null"))
}

/// Tables of running rows that the plan takes without a word on their time.
fn uses(schema: &Schema, plan: &Plan) -> Vec<TableId> {
    let mut found = Vec::new();
    rows(schema, plan.root, &plan.conds, &mut found);
    if let Some(joined) = &plan.joined {
        relation(schema, joined, &mut found);
    }
    for table in plan.tables() {
        let spoken = plan.joined.as_ref().is_some_and(|joined| joined.table == table) || table == plan.root;
        if !spoken && end(schema, table).is_some() {
            found.push(table);
        }
    }
    found
}

fn rows(schema: &Schema, table: TableId, conds: &[Cond], found: &mut Vec<TableId>) {
    if end(schema, table).is_some() && !conds.iter().any(|cond| timed(schema, table, cond)) {
        found.push(table);
    }
    for cond in conds {
        inside(schema, cond, found);
    }
}

fn inside(schema: &Schema, cond: &Cond, found: &mut Vec<TableId>) {
    match cond {
        Cond::Related(related) => relation(schema, related, found),
        Cond::Any(conds) | Cond::All(conds) => conds.iter().for_each(|cond| inside(schema, cond, found)),
        Cond::Not(cond) => inside(schema, cond, found),
        Cond::CompareTo(_, _, _, of, conds) => rows(schema, of.table, conds, found),
        _ => {}
    }
}

fn relation(schema: &Schema, related: &Related, found: &mut Vec<TableId>) {
    let between = related.path.iter().rev().skip(1).map(|step| step.far().table);
    found.extend(between.filter(|table| end(schema, *table).is_some()));
    rows(schema, related.table, &related.conds, found);
}

/// Whether a condition says when a row of this table began or ended.
fn timed(schema: &Schema, table: TableId, cond: &Cond) -> bool {
    match cond {
        Cond::During(col, ..) | Cond::Compare(col, ..) | Cond::Known(col) => {
            col.table == table && dates::format(schema.column(*col)).is_some()
        }
        Cond::Any(conds) | Cond::All(conds) => conds.iter().any(|cond| timed(schema, table, cond)),
        Cond::Not(cond) => timed(schema, table, cond),
        _ => false,
    }
}

/// Whether a condition is that something happened, or did not.
fn happening(cond: &Cond) -> bool {
    match cond {
        Cond::Related(_) => true,
        Cond::Any(conds) | Cond::All(conds) => conds.iter().any(happening),
        Cond::Not(cond) => happening(cond),
        _ => false,
    }
}

/// Leaves only the rows without an end; `None` where a plan has no place to say so.
fn only_running(schema: &Schema, plan: &mut Plan) -> Option<()> {
    narrow(schema, plan.root, &mut plan.conds)?;
    if let Some(joined) = &mut plan.joined {
        let between = joined.path.iter().rev().skip(1).any(|step| end(schema, step.far().table).is_some());
        if between {
            return None;
        }
        narrow(schema, joined.table, &mut joined.conds)?;
    }
    uses(schema, plan).is_empty().then_some(())
}

fn narrow(schema: &Schema, table: TableId, conds: &mut Vec<Cond>) -> Option<()> {
    for cond in conds.iter_mut() {
        narrow_inside(schema, cond)?;
    }
    if let Some(end) = end(schema, table)
        && !conds.iter().any(|cond| timed(schema, table, cond))
    {
        conds.push(Cond::Not(Box::new(Cond::Known(end))));
    }
    Some(())
}

fn narrow_inside(schema: &Schema, cond: &mut Cond) -> Option<()> {
    match cond {
        Cond::Related(related) => {
            let running = related.path.iter().rev().skip(1).any(|step| end(schema, step.far().table).is_some());
            if running {
                // The rows in between get conditions of their own: one relation inside the other.
                if related.count.is_some() {
                    return None;
                }
                let (first, rest) = related.path.split_first()?;
                let (near, rest) = (*first, rest.to_vec());
                let conds = std::mem::take(&mut related.conds);
                let far = Cond::Related(Related { table: related.table, path: rest, conds, count: None });
                *related = Related { table: near.far().table, path: vec![near], conds: vec![far], count: None };
            }
            narrow(schema, related.table, &mut related.conds)
        }
        Cond::Any(conds) | Cond::All(conds) => conds.iter_mut().try_for_each(|cond| narrow_inside(schema, cond)),
        Cond::Not(cond) => narrow_inside(schema, cond),
        Cond::CompareTo(_, _, _, of, conds) => narrow(schema, of.table, conds),
        _ => Some(()),
    }
}
