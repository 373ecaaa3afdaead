//! Conditions: a column compared with values, and values whose column is found in the data.

use super::noun::limit;
use super::{Read, Reader, Scope};
use crate::provider::offline::atoms::{Atom, What};
use crate::provider::offline::calendar::Period;
use crate::provider::offline::dates;
use crate::provider::offline::lexicon::{Hint, Role};
use crate::provider::offline::link::is_place;
use crate::provider::offline::plan::{Aggregate, Cond, Literal, Op, Related};
use crate::provider::offline::schema::{Col, TableId};
use crate::provider::offline::trouble::Trouble;

impl Reader<'_> {
    /// Reads what follows a column as a condition on it; `false`, and the cursor as before, when nothing does.
    pub(super) fn condition(&mut self, scope: &mut Scope, col: Col, negated: bool, words: &str) -> Read<bool> {
        let start = self.at;
        let outside = negated;
        let mut negated = negated;
        loop {
            match self.role() {
                Some(Role::Not) => negated = !negated,
                Some(
                    Role::Be
                    | Role::Have
                    | Role::Do
                    | Role::Filler
                    | Role::Determiner
                    | Role::Either
                    | Role::Light
                    | Role::Named
                    | Role::Preposition
                    | Role::Of
                    | Role::By,
                ) => {}
                _ => break,
            }
            self.at += 1;
        }
        let Some(cond) = self.predicate(scope, col)? else {
            self.at = start;
            return Ok(false);
        };
        if !negated || col.table == scope.table {
            self.add(scope, col.table, if negated { negate(cond) } else { cond }, words)?;
            return Ok(true);
        }
        let path = self.way(scope.table, col.table, None, words)?;
        if path.iter().all(|step| step.forward) {
            self.add(scope, col.table, negate(cond), words)?;
        } else if outside {
            let related = Cond::Related(Related { table: col.table, path, conds: vec![cond], count: None });
            scope.conds.push(Cond::Not(Box::new(related)));
        } else {
            // Some that is not, or none that is? Both can be meant.
            return Err(Trouble::Stuck(words.to_owned()));
        }
        Ok(true)
    }

    fn predicate(&mut self, scope: &Scope, col: Col) -> Read<Option<Cond>> {
        let Some(atom) = self.peek() else { return Ok(None) };
        match &atom.what {
            What::Role(Role::Compare(op, hint)) => {
                if *hint != Hint::None && !self.schema.column(col).words.contains(&"age".to_owned()) {
                    return Ok(None);
                }
                let column = self.schema.column(col);
                let number = self.ahead(1).and_then(number_of).is_some();
                let dated = dates::format(column).is_some_and(|format| format != dates::Format::Year);
                if self.times_follow() || (number && dated) {
                    return Ok(None);
                }
                if number && !matches!(op, Op::Eq | Op::Ne) && column.is_wordy() {
                    return Err(Trouble::Decline(format!("{} holds no numbers to compare.", self.schema.label(col))));
                }
                self.at += 1;
                self.operand(scope, col, *op).map(Some)
            }
            What::Role(Role::Between) => {
                self.at += 1;
                let low = self.number();
                let (Some(low), Some(high)) = (low, self.ahead(2).and_then(number_of)) else {
                    return Err(self.trouble());
                };
                if self.ahead(1).and_then(Atom::role) != Some(Role::And) {
                    return Err(self.trouble());
                }
                self.at += 3;
                Ok(Some(Cond::Between(col, shown(low), shown(high))))
            }
            What::Role(role @ (Role::Contains | Role::StartsWith | Role::EndsWith)) => {
                self.at += 1;
                self.skip(&[Role::Determiner, Role::Filler]);
                let Some(text) = self.peek().filter(|atom| atom.is_literal()) else { return Err(self.trouble()) };
                let escaped = self.spelled(text, col);
                if escaped.contains(['%', '_']) {
                    return Err(self.trouble());
                }
                self.at += 1;
                let pattern = match role {
                    Role::StartsWith => format!("{escaped}%"),
                    Role::EndsWith => format!("%{escaped}"),
                    _ => format!("%{escaped}%"),
                };
                Ok(Some(Cond::Like(col, pattern)))
            }
            What::Time(period) if dates::format(self.schema.column(col)).is_some() => {
                self.at += 1;
                Ok(Some(Cond::During(col, period.from, period.until)))
            }
            What::Time(period) if period.bare && self.schema.column(col).is_number() => {
                self.at += 1;
                Ok(numbers(col, period))
            }
            What::Number(_) | What::Text(_) | What::Unknown | What::Name(_) => self.values_of(col),
            _ => Ok(None),
        }
    }

    /// The right side of a comparison: a number, or an aggregate.
    fn operand(&mut self, scope: &Scope, col: Col, op: Op) -> Read<Cond> {
        self.skip(&[Role::Determiner, Role::Filler]);
        if let Some(value) = self.number() {
            self.at += 1;
            return Ok(Cond::Compare(col, op, Literal::Number(shown(value))));
        }
        if let Some(aggregate) = self.aggregate() {
            self.at += 1;
            return self.aggregated(scope, col, op, aggregate);
        }
        if let Some(What::Time(period)) = self.peek().map(|atom| &atom.what)
            && let (Some(from), Some(until), true) =
                (period.from, period.until, dates::format(self.schema.column(col)).is_some())
        {
            self.at += 1;
            return match op {
                Op::Gt => Ok(Cond::During(col, Some(until), None)),
                Op::Ge => Ok(Cond::During(col, Some(from), None)),
                Op::Lt => Ok(Cond::During(col, None, Some(from))),
                Op::Le => Ok(Cond::During(col, None, Some(until))),
                Op::Eq | Op::Ne => Err(self.trouble()),
            };
        }
        match self.values_of(col)? {
            Some(Cond::Compare(col, Op::Eq, literal)) if matches!(op, Op::Eq | Op::Ne) => {
                Ok(Cond::Compare(col, op, literal))
            }
            _ => Err(self.trouble()),
        }
    }

    /// The aggregate the cursor stands on.
    pub(super) fn aggregate(&self) -> Option<Aggregate> {
        use crate::provider::offline::lexicon::End;
        match self.role()? {
            Role::Aggregate(aggregate) => Some(aggregate),
            Role::Superlative(End::Top, Hint::None | Hint::Size) => Some(Aggregate::Max),
            Role::Superlative(End::Bottom, Hint::None | Hint::Size) => Some(Aggregate::Min),
            _ => None,
        }
    }

    /// `the average`, `the average age`, `the minimum staff number of all museums opened after 2010`.
    fn aggregated(&mut self, scope: &Scope, col: Col, op: Op, aggregate: Aggregate) -> Read<Cond> {
        self.skip(&[Role::Determiner, Role::Of]);
        let mut of = col;
        let mut conds = Vec::new();
        if let Some(atom) = self.peek()
            && let Some(named) = self.column_in(atom, col.table)?.filter(|_| self.fit_in(atom, col.table) >= 5)
        {
            of = named;
            self.at += 1;
        }
        let link = self.at;
        if self.skip(&[Role::Of, Role::Preposition]) {
            match self.noun_ahead() {
                Some(at) if self.atoms[at].table().is_some_and(|(table, _, _)| table == of.table) => {
                    let mut inner = self.noun(false)?;
                    self.deeper(|reader| reader.modifiers(&mut inner))?;
                    if inner.rank.is_some() || !inner.groups.is_empty() || !inner.orders.is_empty() {
                        return Err(self.trouble());
                    }
                    conds = inner.conds;
                }
                _ => self.at = link,
            }
        }
        if of.table != col.table || scope.table != col.table {
            return Err(self.trouble());
        }
        Ok(Cond::CompareTo(col, op, aggregate, of, conds))
    }

    /// One value or several joined by `or`.
    fn values_of(&mut self, col: Col) -> Read<Option<Cond>> {
        let mut conds = Vec::new();
        loop {
            let Some(atom) = self.peek() else { break };
            let literal = match &atom.what {
                What::Number(value) => Literal::Number(shown(*value)),
                What::Text(_) => Literal::Text(self.spelled(atom, col)),
                What::Unknown if conds.is_empty() => return Err(self.trouble()),
                What::Name(_) if atom.values().any(|(place, _)| place == col) => Literal::Text(self.spelled(atom, col)),
                What::Name(_)
                    if dates::format(self.schema.column(col)).is_none()
                        && !self.schema.is_key(col)
                        && atom.values().next().is_some()
                        && atom.table().is_none()
                        && atom.columns().next().is_none() =>
                {
                    Literal::Text(self.spelled(atom, col))
                }
                _ => break,
            };
            self.at += 1;
            let number = matches!(literal, Literal::Number(_));
            let op = if number { self.or_more() } else { Op::Eq };
            conds.push(Cond::Compare(col, op, literal));
            let joint = self.at;
            if !self.skip(&[Role::Or]) {
                break;
            }
            self.skip(&[Role::Determiner, Role::Preposition]);
            let same_kind = self.peek().is_some_and(|next| match &next.what {
                What::Number(_) => number,
                What::Text(_) => !number,
                What::Name(_) => {
                    let only_value = next.table().is_none() && next.columns().next().is_none();
                    !number && next.values().any(|(place, _)| place == col || only_value)
                }
                _ => false,
            });
            if !same_kind {
                self.at = joint;
                break;
            }
        }
        Ok(match conds.len() {
            0 => None,
            1 => conds.pop(),
            _ => Some(Cond::Any(conds)),
        })
    }

    /// `or more`, `or higher`, `or less` after a number.
    pub(super) fn or_more(&mut self) -> Op {
        let more = ["more", "higher", "above", "over", "greater", "older", "later", "larger", "up"];
        let less = ["less", "fewer", "lower", "below", "under", "younger", "earlier", "smaller"];
        if !matches!(self.role(), Some(Role::Or | Role::And)) {
            return Op::Eq;
        }
        let Some(next) = self.ahead(1) else { return Op::Eq };
        let word = next.raw.to_lowercase();
        let op = if more.contains(&word.as_str()) {
            Op::Ge
        } else if less.contains(&word.as_str()) {
            Op::Le
        } else {
            return Op::Eq;
        };
        self.at += 2;
        op
    }

    /// A value whose column the question does not name: found in the data, or not understood.
    pub(super) fn literal(&mut self, scope: &mut Scope, at: usize, negated: bool, wanted: Option<Col>) -> Read<()> {
        let atom = &self.atoms[at];
        let op = if negated { Op::Ne } else { Op::Eq };
        if let Some(col) = wanted {
            let mut columns: Vec<Col> =
                atom.values().map(|(col, _)| col).filter(|found| found.table == col.table).collect();
            if !columns.is_empty() && !columns.contains(&col) {
                // The value is there, but under another heading than its row's name.
                columns.insert(0, col);
                let chosen = self.one_of(&atom.raw, &columns)?.unwrap_or(col);
                let literal = Literal::Text(self.spelled(atom, chosen));
                return self.add(scope, chosen.table, Cond::Compare(chosen, op, literal), &atom.raw);
            }
            let literal = Literal::Text(self.spelled(atom, col));
            return self.add(scope, col.table, Cond::Compare(col, op, literal), &atom.raw);
        }
        let here: Vec<Col> = atom.values().map(|(col, _)| col).filter(|col| col.table == scope.table).collect();
        let (col, direct) = if here.is_empty() {
            let elsewhere: Vec<Col> = atom.values().map(|(col, _)| col).collect();
            let near = self.nearest(scope.table, &elsewhere);
            (self.one_of(&atom.raw, &near)?, false)
        } else {
            (self.one_of(&atom.raw, &here)?, true)
        };
        let Some(col) = col else { return Err(self.trouble_at(atom)) };
        self.check_place(at, col, scope.table)?;
        if !direct && !atom.raw.starts_with(char::is_uppercase) {
            self.happened = Some(col.table);
        }
        let value = Literal::Text(self.spelled(atom, col));
        if direct || !negated {
            return self.add(scope, col.table, Cond::Compare(col, op, value), &atom.raw);
        }
        let mut inner = Scope::new(scope.table, false);
        self.add(&mut inner, col.table, Cond::Compare(col, Op::Eq, value), &atom.raw)?;
        scope.conds.extend(inner.conds.into_iter().map(|cond| Cond::Not(Box::new(cond))));
        Ok(())
    }

    /// `from France` speaks of a place: a value found in some other column is not what is meant without a doubt.
    fn check_place(&self, at: usize, col: Col, table: TableId) -> Read<()> {
        let is_place = |col: Col| is_place(self.schema.column(col));
        let from = at.checked_sub(1).map(|before| self.atoms[before].raw.to_lowercase());
        if from.is_none_or(|word| word != "from" && word != "in") || is_place(col) {
            return Ok(());
        }
        let mut columns: Vec<Col> = self.schema.columns(table).filter(|&col| is_place(col)).collect();
        if columns.is_empty() {
            return Ok(());
        }
        columns.push(col);
        self.one_of(&self.atoms[at].raw, &columns)?;
        Ok(())
    }

    /// Of these columns, those in the tables nearest to this one.
    fn nearest(&self, table: TableId, columns: &[Col]) -> Vec<Col> {
        use crate::provider::offline::path::{NoWay, way};
        let distance = |col: &Col| match way(self.schema, table, col.table, None) {
            Ok(way) => Some(way.len()),
            Err(NoWay::Several(ways)) => ways.first().map(Vec::len),
            Err(NoWay::None) => None,
        };
        let Some(least) = columns.iter().filter_map(distance).min() else { return Vec::new() };
        columns.iter().filter(|col| distance(col) == Some(least)).copied().collect()
    }

    /// A time phrase: on the scope's date column, else on that of the rows just spoken of.
    pub(super) fn time(&mut self, scope: &mut Scope, period: &Period, words: &str) -> Read<()> {
        let Some(col) = self.dated(scope, words)? else {
            return Err(Trouble::Decline(format!(
                "{} has no column with dates, so I can't tell what was “{words}”.",
                self.schema.tables[scope.table].name
            )));
        };
        self.date = Some(col);
        // `churned and reactivated in 2026`: one of them in 2026, or both?
        let undated = |cond: &Cond| match cond {
            Cond::Related(related) => {
                related.table == col.table && !related.conds.iter().any(|cond| matches!(cond, Cond::During(..)))
            }
            _ => false,
        };
        if col.table != scope.table && scope.conds.iter().filter(|cond| undated(cond)).count() > 1 {
            return Err(Trouble::Stuck(words.to_owned()));
        }
        self.add(scope, col.table, Cond::During(col, period.from, period.until), words)
    }

    /// The date column a time phrase is about: of what was just said to have happened, else of the rows themselves.
    pub(super) fn dated(&self, scope: &Scope, words: &str) -> Read<Option<Col>> {
        if let Some(Cond::Related(last)) = scope.conds.last() {
            let own = dates::columns(self.schema, scope.table);
            let other = dates::columns(self.schema, last.table);
            if !other.is_empty() && self.date.is_none_or(|col| col.table != scope.table) {
                if own.is_empty() || self.happened == Some(last.table) {
                    return self.date_column(last.table, words);
                }
                let mut all = own;
                all.extend(other);
                return self.one_of(words, &all);
            }
        }
        self.date_column(scope.table, words)
    }

    /// A comparison whose column comes later, or is told by its adjective: `above age 20`, `older than 30`,
    /// `more than 3 concerts`.
    pub(super) fn comparison(&mut self, scope: &mut Scope, op: Op, hint: Hint, negated: bool) -> Read<()> {
        let op = if negated { op.negated() } else { op };
        let words = self.peek().map_or_else(String::new, |atom| atom.raw.clone());
        self.at += 1;
        let one = self.peek().is_some_and(|atom| atom.raw.eq_ignore_ascii_case("one"));
        self.skip(&[Role::Determiner, Role::Filler, Role::Some]);
        if hint != Hint::None {
            let Some((col, reversed)) = self.measured(hint, scope.table, &words)? else {
                return Err(Trouble::Decline(format!(
                    "I don't know which column “{words}” is measured by. Please name it."
                )));
            };
            if reversed {
                return Err(Trouble::Stuck(words));
            }
            let cond = self.operand(scope, col, op)?;
            self.years_old();
            return self.add(scope, col.table, cond, &words);
        }
        if let Some(aggregate) = self.aggregate() {
            self.at += 1;
            self.skip(&[Role::Determiner, Role::Of]);
            let named = match self.peek() {
                Some(atom) => self.column_in(atom, scope.table)?,
                None => None,
            };
            let Some(col) = named.or(self.subject.filter(|col| col.table == scope.table)) else {
                return Err(self.trouble());
            };
            let cond = self.aggregated(scope, col, op, aggregate)?;
            return self.add(scope, col.table, cond, &words);
        }
        let value = if one { Some(1.0) } else { self.number() };
        if let Some(value) = value {
            self.at += usize::from(!one);
            if self.years_old() {
                let Some((col, false)) = self.measured(Hint::Age, scope.table, &words)? else {
                    return Err(Trouble::Stuck(words));
                };
                return self.add(scope, col.table, Cond::Compare(col, op, Literal::Number(shown(value))), &words);
            }
            return self.counted(scope, op, value, &words);
        }
        // `above age 20`
        let Some(atom) = self.peek() else { return Err(self.trouble()) };
        let Some(col) = self.column_in(atom, scope.table)? else { return Err(self.trouble()) };
        self.at += 1;
        self.skip(&[Role::Of]);
        let cond = self.operand(scope, col, op)?;
        self.add(scope, col.table, cond, &words)
    }

    /// `more staff than the minimum staff number of …`
    pub(super) fn comparative(&mut self, scope: &mut Scope, op: Op, negated: bool) -> Read<()> {
        let here = self.at;
        self.at += 1;
        let Some(atom) = self.peek() else { return Err(self.trouble_at(&self.atoms[here])) };
        let Some(col) = self.column_in(atom, scope.table)? else { return Err(self.trouble_at(&self.atoms[here])) };
        self.at += 1;
        if self.role() != Some(Role::Than) {
            return Err(self.trouble_at(&self.atoms[here]));
        }
        self.at += 1;
        let op = if negated { op.negated() } else { op };
        let cond = self.operand(scope, col, op)?;
        self.add(scope, col.table, cond, &atom.raw)
    }

    /// `years old`, `years of age`.
    fn years_old(&mut self) -> bool {
        let words: Vec<String> =
            self.atoms[self.at.min(self.atoms.len())..].iter().take(3).map(|atom| atom.raw.to_lowercase()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let length = match words.as_slice() {
            ["years" | "year", "old", ..] => 2,
            ["years" | "year", "of", "age"] => 3,
            _ => return false,
        };
        self.at += length;
        true
    }

    /// `more than once`, `3 times`: so many of the rows just spoken of.
    fn repeated(&mut self, scope: &mut Scope, op: Op, value: f64, words: &str) -> Read<()> {
        match (scope.conds.last_mut(), limit(Some(value))?) {
            (Some(Cond::Related(last)), Some(count)) if last.count.is_none() => {
                last.count = Some((op, count));
                Ok(())
            }
            _ => Err(Trouble::Stuck(words.to_owned())),
        }
    }

    /// Whether `more than once` or `most times` stands here: it speaks of the phrase around.
    pub(super) fn times_follow(&self) -> bool {
        let counting = matches!(self.role(), Some(Role::Compare(..) | Role::Superlative(..)));
        let next = |ahead: usize| self.ahead(ahead);
        let once = next(1).is_some_and(|atom| ["once", "twice"].contains(&atom.raw.to_lowercase().as_str()));
        let times = |ahead: usize| next(ahead).and_then(Atom::role) == Some(Role::Times);
        counting && (once || times(1) || (times(2) && next(1).is_some_and(|atom| matches!(atom.what, What::Number(_)))))
    }

    /// `3 concerts`, `3000 products`: rows of another table, or a column that holds a number of things.
    fn counted(&mut self, scope: &mut Scope, op: Op, value: f64, words: &str) -> Read<()> {
        let times = self
            .at
            .checked_sub(1)
            .is_some_and(|at| ["once", "twice"].contains(&self.atoms[at].raw.to_lowercase().as_str()));
        if times {
            return self.repeated(scope, op, value, words);
        }
        self.skip(&[Role::Distinct, Role::Determiner, Role::Filler]);
        let Some(atom) = self.peek() else { return Err(self.trouble()) };
        let quantity = self.column_in(atom, scope.table)?.filter(|&col| !self.schema.is_key(col));
        if let (Some(col), false) =
            (quantity, atom.table().is_some_and(|(table, _, fit)| table != scope.table && fit >= 7))
            && self.schema.column(col).is_number()
        {
            self.at += 1;
            return self.add(scope, col.table, Cond::Compare(col, op, Literal::Number(shown(value))), words);
        }
        if atom.role() == Some(Role::Times) {
            self.at += 1;
            return self.repeated(scope, op, value, words);
        }
        let Some(count) = limit(Some(value))? else { return Err(self.trouble()) };
        self.relation(scope, false, Some((op, count)))
    }
}

/// A number as SQL writes it.
pub(super) fn shown(value: f64) -> String {
    format!("{value}")
}

/// A bare number that looked like a year, compared as a number.
fn numbers(col: Col, period: &Period) -> Option<Cond> {
    let year = |date: jiff::civil::Date| shown(f64::from(date.year()));
    match (period.from, period.until) {
        (Some(from), Some(until)) if until.year() == from.year() + 1 => {
            Some(Cond::Compare(col, Op::Eq, Literal::Number(year(from))))
        }
        (Some(from), Some(until)) => Some(Cond::Between(col, year(from), shown(f64::from(until.year() - 1)))),
        (Some(from), None) => Some(Cond::Compare(col, Op::Ge, Literal::Number(year(from)))),
        (None, Some(until)) => Some(Cond::Compare(col, Op::Lt, Literal::Number(year(until)))),
        (None, None) => None,
    }
}

fn number_of(atom: &Atom) -> Option<f64> {
    match atom.what {
        What::Number(value) => Some(value),
        _ => None,
    }
}

/// The opposite of a condition; where it is a plain comparison, rows without a value stay out.
pub(super) fn negate(cond: Cond) -> Cond {
    match cond {
        Cond::Compare(col, op, literal) => Cond::Compare(col, op.negated(), literal),
        Cond::CompareTo(col, op, aggregate, of, conds) => Cond::CompareTo(col, op.negated(), aggregate, of, conds),
        other => Cond::Not(Box::new(other)),
    }
}
