//! Comparisons whose column comes later or is told by an adjective: `above age 20`, `older than 30`.

use super::condition::shown;
use super::noun::limit;
use super::{Read, Reader, Scope};
use crate::provider::offline::atoms::{Atom, What};
use crate::provider::offline::lexicon::{Hint, Role};
use crate::provider::offline::plan::{Cond, Literal, Op};
use crate::provider::offline::trouble::Trouble;

impl Reader<'_> {
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
    pub(super) fn years_old(&mut self) -> bool {
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

    /// `3 concerts`, `3000 products`: rows of another table, or a column that holds a number of things.
    pub(super) fn counted(&mut self, scope: &mut Scope, op: Op, value: f64, words: &str) -> Read<()> {
        let times = self
            .at
            .checked_sub(1)
            .is_some_and(|at| ["once", "twice"].contains(&self.atoms[at].raw.to_lowercase().as_str()));
        if times {
            return repeated(scope, op, value, words);
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
            return repeated(scope, op, value, words);
        }
        let Some(count) = limit(Some(value))? else { return Err(self.trouble()) };
        self.relation(scope, false, Some((op, count)))
    }

    /// Whether `more than once` or `most times` stands here: it speaks of the phrase around.
    pub(super) fn times_follow(&self) -> bool {
        let counting = matches!(self.role(), Some(Role::Compare(..) | Role::Superlative(..)));
        let next = |ahead: usize| self.ahead(ahead);
        let once = next(1).is_some_and(|atom| ["once", "twice"].contains(&atom.raw.to_lowercase().as_str()));
        let times = |ahead: usize| next(ahead).and_then(Atom::role) == Some(Role::Times);
        counting && (once || times(1) || (times(2) && next(1).is_some_and(|atom| matches!(atom.what, What::Number(_)))))
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
}

/// `more than once`, `3 times`: so many of the rows just spoken of.
fn repeated(scope: &mut Scope, op: Op, value: f64, words: &str) -> Read<()> {
    match (scope.conds.last_mut(), limit(Some(value))?) {
        (Some(Cond::Related(last)), Some(count)) if last.count.is_none() => {
            last.count = Some((op, count));
            Ok(())
        }
        _ => Err(Trouble::Stuck(words.to_owned())),
    }
}
