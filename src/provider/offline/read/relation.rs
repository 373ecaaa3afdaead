//! Rows of another table that belong to a row: with, without, so many of them.

use super::rank::ranked_conds;
use super::{Read, Reader, Scope};
use crate::provider::offline::atoms::{Atom, What};
use crate::provider::offline::lexicon::Role;
use crate::provider::offline::link::Target;
use crate::provider::offline::path;
use crate::provider::offline::plan::{Cond, Group, Op, Related, Step};
use crate::provider::offline::schema::{Col, Key, TableId};
use crate::provider::offline::stem::verbal;

impl Reader<'_> {
    /// Rows of another table that belong to these rows.
    pub(super) fn relation(&mut self, scope: &mut Scope, negated: bool, count: Option<(Op, u64)>) -> Read<()> {
        let Some(end) = self.noun_ahead() else { return Err(self.trouble()) };
        let words = self.atoms[end].raw.clone();
        let via = self.atoms[end].table().and_then(|(_, via, _)| via);
        self.around.push(scope.table);
        let inner = self.deeper(|reader| {
            let mut inner = reader.noun(false)?;
            reader.modifiers(&mut inner)?;
            Ok(inner)
        });
        self.around.pop();
        let inner = inner?;
        self.relate(scope, &inner, via, negated, count, &words)
    }

    pub(super) fn relate(
        &mut self,
        scope: &mut Scope,
        inner: &Scope,
        via: Option<Col>,
        negated: bool,
        count: Option<(Op, u64)>,
        words: &str,
    ) -> Read<()> {
        if inner.each && scope.top && !negated && count.is_none() && inner.conds.is_empty() {
            scope.groups.push(Group::Row(inner.table));
            return Ok(());
        }
        let conds = ranked_conds(inner, words)?;
        if inner.table == scope.table && self.both && !conds.is_empty() {
            // Two things of different rows that share what is shown: not one row with both.
            return Err(crate::provider::offline::trouble::Trouble::Stuck("both".to_owned()));
        }
        if inner.table == scope.table {
            // `grades that have at least 4 students`: rows that share the shown value.
            match count {
                Some(count) if scope.top && !negated => {
                    scope.conds.extend(conds);
                    scope.having = Some(count);
                }
                None if negated && !conds.is_empty() => match scope.shared {
                    Some(col) => {
                        let same = Step { key: Key { from: col, to: col }, forward: true };
                        let related = Related { table: scope.table, path: vec![same], conds, count: None };
                        scope.conds.push(Cond::Not(Box::new(Cond::Related(related))));
                        scope.distinct = true;
                    }
                    None => scope.conds.push(none_of(conds)),
                },
                None if !negated => scope.conds.extend(conds),
                _ => return Err(crate::provider::offline::trouble::Trouble::Stuck(words.to_owned())),
            }
            return Ok(());
        }
        let path = self.way(scope.table, inner.table, via, words)?;
        // A link that is there by the way itself can't be missing at its end.
        let on_way = |table: TableId| path.iter().any(|step| step.far().table == table);
        let contradicts = conds.iter().any(|cond| match cond {
            Cond::Not(inner) => matches!(inner.as_ref(), Cond::Related(related) if on_way(related.table)),
            _ => false,
        });
        if contradicts || (count.is_some() && negated) {
            return Err(crate::provider::offline::trouble::Trouble::Stuck(words.to_owned()));
        }
        let related = Cond::Related(Related { table: inner.table, path, conds, count });
        scope.conds.push(if negated { Cond::Not(Box::new(related)) } else { related });
        Ok(())
    }

    /// Whether a verb only names again what is already spoken of, or leads to a superlative's or comparison's noun:
    /// `the courses they teach`, `hiring the largest number of employees`.
    pub(super) fn connects(&self, scope: &Scope, atom: &Atom) -> bool {
        let Some((table, _, fit)) = atom.table() else { return false };
        if fit < 10 && self.around.contains(&table) && atom.end - atom.first == 1 {
            return true;
        }
        if !verbal(&atom.raw.to_lowercase()) || table == scope.table {
            return false;
        }
        let mut at = self.at + 1;
        while self.atoms.get(at).and_then(Atom::role).is_some_and(|role| role == Role::Determiner) {
            at += 1;
        }
        if !matches!(self.atoms.get(at).and_then(Atom::role), Some(Role::Superlative(..) | Role::Compare(..))) {
            return false;
        }
        let target = self.atoms[at..].iter().take(5).find_map(Atom::table).map(|(table, ..)| table);
        target.is_some_and(|target| {
            target != table
                && path::way(self.schema, scope.table, target, None)
                    .is_ok_and(|way| way.iter().any(|step| step.far().table == table))
        })
    }

    /// `are liked`: the rows that `liked_id` points at.
    pub(super) fn passive(&self, scope: &Scope, atom: &Atom) -> Option<Cond> {
        let before =
            self.atoms[..self.at].iter().rev().find(|atom| !matches!(atom.role(), Some(Role::Filler | Role::Not)))?;
        if before.role() != Some(Role::Be) || !verbal(&atom.raw.to_lowercase()) {
            return None;
        }
        let via = atom.links().iter().find_map(|link| match link.target {
            Target::Table(table, Some(via)) if table == scope.table => Some(via),
            _ => None,
        })?;
        let key = *self.schema.keys.iter().find(|key| key.from == via)?;
        let path = vec![Step { key, forward: false }];
        Some(Cond::Related(Related { table: via.table, path, conds: Vec::new(), count: None }))
    }

    /// `have no country`, `with a country`: whether the column has a value at all.
    pub(super) fn known(&mut self, scope: &mut Scope, col: Col, negated: bool) -> bool {
        let closed = |atom: Option<&Atom>| {
            atom.is_none_or(|atom| matches!(atom.what, What::Stop | What::Pause | What::Role(Role::And | Role::Or)))
        };
        let before =
            self.atoms[..self.at].iter().rev().find(|atom| !matches!(atom.role(), Some(Role::Determiner | Role::Some)));
        let having = before.is_some_and(|atom| {
            matches!(atom.role(), Some(Role::Have | Role::Without))
                || atom.raw.eq_ignore_ascii_case("with")
                || (negated && atom.role() == Some(Role::Not))
        });
        if !having || !closed(self.ahead(1)) {
            return false;
        }
        self.at += 1;
        let known = Cond::Known(col);
        scope.conds.push(if negated { Cond::Not(Box::new(known)) } else { known });
        true
    }

    /// A number before a relation: `with 3 friends`, `2 or more likes`.
    pub(super) fn leading_number(&mut self, scope: &mut Scope, negated: bool) -> Read<()> {
        let Some(value) = self.number() else { return Err(self.trouble()) };
        let here = self.at;
        if !negated && matches!(self.ahead(1).and_then(Atom::role), Some(Role::Superlative(..))) {
            // `with the 3 lowest populations`
            scope.top_of = super::noun::limit(Some(value))?;
            self.at += 1;
            return self.superlative(scope);
        }
        if negated || !self.ahead(1).is_some_and(|next| next.table().is_some() || matches!(next.role(), Some(Role::Or)))
        {
            return Err(self.trouble());
        }
        self.at += 1;
        let op = self.or_more();
        let count = super::noun::limit(Some(value))?;
        if self.noun_ahead().is_none() {
            self.at = here;
            return Err(self.trouble());
        }
        self.relation(scope, false, count.map(|count| (op, count)))
    }
}

/// None of the rows where all of these hold.
fn none_of(mut conds: Vec<Cond>) -> Cond {
    match conds.pop() {
        Some(only) if conds.is_empty() => super::condition::negate(only),
        Some(last) => {
            conds.push(last);
            Cond::Not(Box::new(Cond::All(conds)))
        }
        None => Cond::Any(Vec::new()),
    }
}
