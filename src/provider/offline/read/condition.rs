//! Conditions on a column that the question names.

use super::noun::spelled;
use super::{Read, Reader, Scope};
use crate::provider::offline::atoms::{Atom, What};
use crate::provider::offline::calendar::Period;
use crate::provider::offline::dates;
use crate::provider::offline::lexicon::{Hint, Role};
use crate::provider::offline::plan::{Aggregate, Cond, Literal, Op, Related};
use crate::provider::offline::schema::Col;
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

    pub(super) fn predicate(&mut self, scope: &Scope, col: Col) -> Read<Option<Cond>> {
        let Some(atom) = self.peek() else { return Ok(None) };
        match &atom.what {
            What::Role(Role::Compare(op, hint)) => {
                let last = self.schema.column(col).words.last();
                if *hint != Hint::None && !last.is_some_and(|last| hint.words().contains(&last.as_str())) {
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
                let escaped = spelled(text, col);
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
    pub(super) fn operand(&mut self, scope: &Scope, col: Col, op: Op) -> Read<Cond> {
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
    pub(super) fn aggregated(&mut self, scope: &Scope, col: Col, op: Op, aggregate: Aggregate) -> Read<Cond> {
        self.skip(&[Role::Determiner, Role::Of]);
        let mut of = col;
        let mut conds = Vec::new();
        if let Some(atom) = self.peek()
            && let Some(named) = self.column_in(atom, col.table)?.filter(|_| atom.fit_in(col.table) >= 5)
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
    pub(super) fn values_of(&mut self, col: Col) -> Read<Option<Cond>> {
        let mut conds = Vec::new();
        while let Some(atom) = self.peek() {
            let literal = match &atom.what {
                What::Number(value) => Literal::Number(shown(*value)),
                What::Text(_) => Literal::Text(spelled(atom, col)),
                What::Unknown if conds.is_empty() => return Err(self.trouble()),
                What::Name(_) if atom.values().any(|(place, _)| place == col) => Literal::Text(spelled(atom, col)),
                What::Name(_)
                    if dates::format(self.schema.column(col)).is_none()
                        && !self.schema.is_key(col)
                        && atom.values().next().is_some()
                        && atom.table().is_none()
                        && atom.columns().next().is_none() =>
                {
                    Literal::Text(spelled(atom, col))
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
