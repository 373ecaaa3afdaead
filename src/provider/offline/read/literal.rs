//! Values and times whose column the question does not name.

use super::noun::spelled;
use super::{Read, Reader, Scope};
use crate::provider::offline::atoms::What;
use crate::provider::offline::calendar::Period;
use crate::provider::offline::dates;
use crate::provider::offline::lexicon::Role;
use crate::provider::offline::link::{PLACES, is_place};
use crate::provider::offline::plan::{Cond, Literal, Op, Related};
use crate::provider::offline::schema::{Col, TableId};
use crate::provider::offline::trouble::Trouble;

impl Reader<'_> {
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
                let literal = Literal::Text(spelled(atom, chosen));
                return self.add(scope, chosen.table, Cond::Compare(chosen, op, literal), &atom.raw);
            }
            let literal = Literal::Text(spelled(atom, col));
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
        self.check_subject(at, col)?;
        if !direct && !atom.raw.starts_with(char::is_uppercase) {
            self.happened = Some(col.table);
        }
        let value = Literal::Text(spelled(atom, col));
        if direct || !negated {
            return self.add(scope, col.table, Cond::Compare(col, op, value), &atom.raw);
        }
        let mut inner = Scope::new(scope.table, false);
        self.add(&mut inner, col.table, Cond::Compare(col, Op::Eq, value), &atom.raw)?;
        scope.conds.extend(inner.conds.into_iter().map(|cond| Cond::Not(Box::new(cond))));
        Ok(())
    }

    /// `from France` speaks of a place: a value found in some other column is not what is meant without a doubt.
    pub(super) fn check_place(&self, at: usize, col: Col, table: TableId) -> Read<()> {
        let is_place = |col: Col| is_place(self.schema.column(col));
        let from = at.checked_sub(1).map(|before| self.atoms[before].raw.to_lowercase());
        // `in finance`: places are written with a capital, and `in` says less than `from`.
        let plain = !self.atoms[at].raw.starts_with(char::is_uppercase);
        if from.is_none_or(|word| word != "from" && (word != "in" || plain)) || is_place(col) {
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

    /// `the region of Angola`, `which continent is Angola in`: the row itself is named, so a value found under another
    /// heading than the row's name is not what is meant without a doubt.
    fn check_subject(&self, at: usize, col: Col) -> Read<()> {
        let atom = &self.atoms[at];
        let proper = atom.raw.starts_with(|c: char| c.is_uppercase() || !c.is_alphanumeric());
        let next = self.atoms.get(at + 1);
        let owns = next.is_some_and(|next| next.what == What::Possessive);
        let goes_on = next.is_some_and(|next| next.what != What::Stop);
        let before = at.checked_sub(1).and_then(|before| self.atoms[before].role());
        let subject = owns || matches!(before, Some(Role::Of | Role::Do)) || (before == Some(Role::Be) && goes_on);
        // `languages used in Aruba`: of a table of places that is not named itself, the place may be the row or a part of it.
        let about = &self.schema.tables[col.table];
        let named =
            self.atoms.iter().any(|atom| atom.table().is_some_and(|(table, _, fit)| table == col.table && fit >= 8));
        let subject = subject || (!named && about.words.last().is_some_and(|word| PLACES.contains(&word.as_str())));
        match self.schema.display(col.table) {
            Some(display) if proper && subject && display != col => self.one_of(&atom.raw, &[display, col]).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Of these columns, those in the tables nearest to this one.
    pub(super) fn nearest(&self, table: TableId, columns: &[Col]) -> Vec<Col> {
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
        let undated = |cond: &Cond| undated(cond) == Some(col.table);
        if col.table != scope.table && scope.conds.iter().filter(|cond| undated(cond)).count() > 1 {
            return Err(Trouble::Stuck(words.to_owned()));
        }
        let during = Cond::During(col, period.from, period.until);
        // `churned in Germany in 2026`: what happened needs not stand last.
        if col.table != scope.table
            && scope.conds.last().and_then(relation).is_none_or(|last| last.table != col.table)
            && let Some(related) = scope.conds.iter_mut().find(|cond| undated(cond)).and_then(happening)
        {
            related.conds.push(during);
            return Ok(());
        }
        self.add(scope, col.table, during, words)
    }

    /// The date column a time phrase is about: of what was just said to have happened, or not to have, else of the
    /// rows themselves.
    pub(super) fn dated(&self, scope: &Scope, words: &str) -> Read<Option<Col>> {
        let last = scope.conds.last();
        let happened = scope.conds.iter().rev().filter_map(undated).find(|table| Some(*table) == self.happened);
        if let Some(table) = last.and_then(relation).map(|last| last.table).or(happened) {
            let own = dates::columns(self.schema, scope.table);
            let other = dates::columns(self.schema, table);
            if !other.is_empty() && self.date.is_none_or(|col| col.table != scope.table) {
                if own.is_empty() || self.happened == Some(table) {
                    return self.date_column(table, words);
                }
                let mut all = own;
                all.extend(other);
                return self.one_of(words, &all);
            }
        }
        // `churned or upgraded in 2026`: when the rows themselves came about is not what was asked.
        let mixed = matches!(last, Some(Cond::Any(conds) | Cond::All(conds)) if conds.iter().any(|cond| undated(cond).is_some()));
        if mixed {
            return Err(Trouble::Stuck(words.to_owned()));
        }
        self.date_column(scope.table, words)
    }
}

/// The table of a relation without a time of its own, denied or not.
pub(super) fn undated(cond: &Cond) -> Option<TableId> {
    let related = relation(cond)?;
    (!related.conds.iter().any(|cond| matches!(cond, Cond::During(..)))).then_some(related.table)
}

/// The relation that a condition states or denies.
pub(super) fn relation(cond: &Cond) -> Option<&Related> {
    match cond {
        Cond::Related(related) => Some(related),
        Cond::Not(inner) => match inner.as_ref() {
            Cond::Related(related) => Some(related),
            _ => None,
        },
        _ => None,
    }
}

/// The same, to be added to: what is said more of it belongs inside.
pub(super) fn happening(cond: &mut Cond) -> Option<&mut Related> {
    match cond {
        Cond::Related(related) => Some(related),
        Cond::Not(inner) => match inner.as_mut() {
            Cond::Related(related) => Some(related),
            _ => None,
        },
        _ => None,
    }
}
