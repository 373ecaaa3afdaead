//! How far the data reaches: a period after its end is not one in which nothing happened.

use jiff::Span;
use jiff::civil::{Date, date};
use serde_json::Value;

use super::dates::{self, Format};
use super::plan::{Aggregate, Cond, Output, Plan};
use super::schema::{Col, Schema};
use super::sql;

/// Days are counted in UTC, where each has as many.
const SECONDS_OF_A_DAY: i64 = 86_400;

/// A range of days that a plan asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// The column it is about.
    col: Col,
    /// Its first day.
    from: Date,
    /// The day after its last, if it has a last.
    until: Option<Date>,
}

impl Asked {
    /// The latest range that a plan asks about.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let mut found = Vec::new();
        collect(&plan.conds, &mut found);
        if let Some(joined) = &plan.joined {
            collect(&joined.conds, &mut found);
        }
        found.into_iter().max_by_key(|asked| asked.until.unwrap_or(Date::MAX))
    }

    /// Whether it reaches this month, so that the data may well end before it does.
    pub(super) fn is_recent(&self, today: Date) -> bool {
        self.until.is_none_or(|until| until > today.first_of_month())
    }

    /// The query for the newest day of the column; `None` where it tells years only.
    pub(super) fn newest(&self, schema: &Schema) -> Option<String> {
        if dates::format(schema.column(self.col))? == Format::Year {
            return None;
        }
        let plan = Plan {
            root: self.col.table,
            outputs: vec![Output::Aggregate(Aggregate::Max, self.col)],
            distinct: false,
            conds: Vec::new(),
            joined: None,
            groups: Vec::new(),
            having: None,
            orders: Vec::new(),
            limit: None,
            counts_joined: false,
        };
        sql::write(schema, &plan)
    }

    /// The day in that query's result.
    pub(super) fn day(&self, schema: &Schema, cell: &Value) -> Option<Date> {
        let per_second = match dates::format(schema.column(self.col))? {
            Format::Text => return cell.as_str()?.get(..10)?.parse().ok(),
            Format::Year => return None,
            Format::Seconds => 1,
            Format::Milliseconds => 1_000,
        };
        let days = (cell.as_i64()? / per_second).div_euclid(SECONDS_OF_A_DAY);
        date(1970, 1, 1).checked_add(Span::new().try_days(days).ok()?).ok()
    }

    /// Why there is no answer, where the data ends before the range begins.
    pub(super) fn beyond(&self, newest: Date) -> Option<String> {
        let last = self.until.and_then(|until| until.yesterday().ok());
        let range = match last {
            Some(last) if last == self.from => last.to_string(),
            Some(last) => format!("{} to {last}", self.from),
            None => format!("the time from {} on", self.from),
        };
        (self.from > newest).then(|| format!("the data ends on {newest}, so I can't tell about {range}."))
    }

    /// Whether the range goes on after the data's end, as far as it has passed.
    pub(super) fn outlives(&self, newest: Date, today: Date) -> bool {
        newest < today && self.until.is_none_or(|until| newest.tomorrow().is_ok_and(|next| next < until))
    }
}

fn collect(conds: &[Cond], found: &mut Vec<Asked>) {
    for cond in conds {
        match cond {
            Cond::During(col, Some(from), until) => found.push(Asked { col: *col, from: *from, until: *until }),
            Cond::Related(related) => collect(&related.conds, found),
            Cond::Any(conds) | Cond::All(conds) | Cond::CompareTo(_, _, _, _, conds) => collect(conds, found),
            Cond::Not(cond) => collect(std::slice::from_ref(cond), found),
            _ => {}
        }
    }
}
