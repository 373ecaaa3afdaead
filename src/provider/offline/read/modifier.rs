//! What follows a noun: relative clauses, prepositions, relations, groups, time.

use super::{Read, Reader, Scope};
use crate::provider::offline::atoms::{Atom, What};
use crate::provider::offline::dates;
use crate::provider::offline::lexicon::Role;
use crate::provider::offline::link::Target;
use crate::provider::offline::path;
use crate::provider::offline::plan::{Cond, Group, Op, Related, Step};
use crate::provider::offline::schema::{Col, Key, TableId};
use crate::provider::offline::span::Unit;
use crate::provider::offline::stem::verbal;

impl Reader<'_> {
    /// Reads modifiers until the sentence, or the phrase inside it, ends.
    pub(super) fn modifiers(&mut self, scope: &mut Scope) -> Read<()> {
        let mut negated = false;
        let mut named = false;
        let mut alternative: Option<usize> = None;
        while let Some(atom) = self.peek() {
            let before = scope.conds.len();
            let denied = negated;
            match &atom.what {
                What::Stop => break,
                What::Pause
                | What::Role(
                    Role::And
                    | Role::Both
                    | Role::Each
                    | Role::OrderBy
                    | Role::Sort
                    | Role::Ascending
                    | Role::Descending
                    | Role::Alphabetical,
                ) if !scope.top => {
                    break;
                }
                What::Role(_) if !scope.top && self.times_follow() => break,
                What::Pause if self.question_goes_on() => break,
                What::Role(Role::And) if self.question_goes_on() => break,
                What::Pause | What::Possessive => self.at += 1,
                What::Role(role) => match role {
                    Role::Both => {
                        let next = self.ahead(1).map(|next| &next.what);
                        if !matches!(
                            next,
                            Some(What::Name(_) | What::Role(Role::Have | Role::Be | Role::Determiner | Role::Some))
                        ) {
                            return Err(self.trouble());
                        }
                        self.both = true;
                        self.at += 1;
                        continue;
                    }
                    Role::Or => {
                        if !scope.top && !self.value_follows(scope.table) {
                            break;
                        }
                        if self.denied {
                            // `not from France or Spain` is from neither.
                            if !self.value_follows(scope.table) {
                                return Err(self.trouble());
                            }
                            negated = true;
                            self.at += 1;
                            continue;
                        }
                        if before == 0 {
                            return Err(self.trouble());
                        }
                        alternative = Some(before);
                        self.at += 1;
                        if self.year_after_or(scope)? {
                            alternative = self.join_alternatives(scope, alternative);
                        }
                        continue;
                    }
                    Role::Not | Role::Without => {
                        if negated {
                            return Err(self.trouble());
                        }
                        negated = true;
                        self.at += 1;
                        continue;
                    }
                    Role::Named => {
                        named = true;
                        self.at += 1;
                        continue;
                    }
                    Role::Each => self.each(scope)?,
                    Role::By if scope.top_of.is_some() => self.top_by(scope)?,
                    Role::By if scope.top && self.sorting => {
                        self.at += 1;
                        self.order_keys(scope, None)?;
                    }
                    Role::By if scope.top && self.group_follows() => self.each(scope)?,
                    Role::OrderBy | Role::Ascending | Role::Descending | Role::Alphabetical => self.order(scope)?,
                    Role::Sort if self.sort_follows() => self.order(scope)?,
                    Role::Compare(op, hint) => {
                        self.comparison(scope, *op, *hint, negated)?;
                        negated = false;
                    }
                    Role::Comparative(op) => {
                        self.comparative(scope, *op, negated)?;
                        negated = false;
                    }
                    Role::Superlative(..) | Role::Common(_) | Role::Top => {
                        if negated {
                            return Err(self.trouble());
                        }
                        self.superlative(scope)?;
                    }
                    Role::Distinct => {
                        scope.distinct = true;
                        self.at += 1;
                    }
                    Role::And
                    | Role::Be
                    | Role::Have
                    | Role::Do
                    | Role::Light
                    | Role::Of
                    | Role::Preposition
                    | Role::By
                    | Role::Relative
                    | Role::Which
                    | Role::Who
                    | Role::Where
                    | Role::Determiner
                    | Role::Some
                    | Role::Either
                    | Role::Filler => {
                        self.at += 1;
                        continue;
                    }
                    _ => return Err(self.trouble()),
                },
                What::Time(period) => {
                    if negated {
                        return Err(self.trouble());
                    }
                    self.at += 1;
                    self.time(scope, period, &atom.raw)?;
                }
                What::Number(_) => self.leading_number(scope, negated).inspect(|()| negated = false)?,
                What::Name(_) => {
                    self.name(scope, negated, named)?;
                    negated = false;
                    named = false;
                }
                What::Text(_) | What::Unknown => {
                    let wanted = if named { self.schema.display(scope.table) } else { None };
                    if wanted.is_none() {
                        return Err(self.trouble());
                    }
                    self.literal(scope, self.at, negated, wanted)?;
                    negated = false;
                    named = false;
                    self.at += 1;
                }
            }
            self.denied = denied;
            if alternative.is_some() && scope.conds.len() > before {
                alternative = self.join_alternatives(scope, alternative);
            }
        }
        if negated || named || alternative.is_some() || scope.top_of.is_some() {
            return Err(self.trouble());
        }
        Ok(())
    }

    /// Whether a pause or `and` here ends the modifiers and goes on with what to show: `, and how many …`, `, and return …`.
    fn question_goes_on(&self) -> bool {
        let mut at = self.at;
        while self.atoms.get(at).is_some_and(|atom| {
            atom.what == What::Pause || matches!(atom.role(), Some(Role::And | Role::Determiner | Role::Filler))
        }) {
            at += 1;
        }
        let Some(atom) = self.atoms.get(at) else { return false };
        match atom.role() {
            Some(Role::Count | Role::Opens) => at > self.at,
            None if atom.columns().next().is_some() && atom.values().next().is_none() => {
                let of = self.atoms.get(at + 1).and_then(Atom::role) == Some(Role::Of);
                let owner =
                    self.atoms.get(at + 2..).unwrap_or(&[]).iter().find(|next| next.role() != Some(Role::Determiner));
                of && owner.is_some_and(|next| next.table().is_some())
            }
            _ => false,
        }
    }

    /// Whether a value of this table stands after the joint here.
    fn value_follows(&self, table: TableId) -> bool {
        let next = self.atoms[self.at..]
            .iter()
            .skip(1)
            .find(|atom| !matches!(atom.role(), Some(Role::Determiner | Role::Preposition | Role::Not | Role::Be)));
        next.is_some_and(|atom| atom.values().any(|(col, _)| col.table == table) && atom.table().is_none())
    }

    /// Puts the condition before an `or` and the one after it together.
    #[expect(clippy::unused_self, reason = "reads as a step of the reader")]
    fn join_alternatives(&self, scope: &mut Scope, alternative: Option<usize>) -> Option<usize> {
        let place = alternative?;
        if scope.conds.len() <= place {
            return alternative;
        }
        let right: Vec<Cond> = scope.conds.drain(place..).collect();
        let left = scope.conds.pop()?;
        let mut any = match left {
            Cond::Any(conds) => conds,
            other => vec![other],
        };
        any.extend(right);
        scope.conds.push(Cond::Any(any));
        None
    }

    /// `in 2014 or 2015`
    fn year_after_or(&mut self, scope: &mut Scope) -> Read<bool> {
        let Some(value) = self.number() else { return Ok(false) };
        let Some(Cond::During(col, ..)) = scope.conds.last().cloned() else { return Ok(false) };
        if value.fract() != 0.0 || !(1900.0..=2100.0).contains(&value) {
            return Ok(false);
        }
        #[expect(clippy::cast_possible_truncation, reason = "checked just above")]
        let Some(span) = crate::provider::offline::span::Span::year(value as i16) else { return Ok(false) };
        self.at += 1;
        scope.conds.push(Cond::During(col, Some(span.from), Some(span.until)));
        Ok(true)
    }

    /// A name after the noun: a column with its condition, a value, or another table.
    fn name(&mut self, scope: &mut Scope, negated: bool, named: bool) -> Read<()> {
        let Some(atom) = self.peek() else { return Ok(()) };
        let here = self.at;
        let table = atom.table();
        let table_fit = table.map_or(0, |(_, _, fit)| fit);
        let column_fit = atom.columns().map(|(_, fit)| fit).max().unwrap_or(0);
        let value_fit = atom
            .links()
            .iter()
            .filter(|link| matches!(link.target, crate::provider::offline::link::Target::Value(..)))
            .map(|link| link.fit)
            .max()
            .unwrap_or(0);
        if named {
            let wanted = self.schema.display(scope.table);
            self.at += 1;
            return self.literal(scope, here, negated, wanted);
        }
        if self.connects(scope, atom) {
            self.at += 1;
            return Ok(());
        }
        if let Some(related) = self.passive(scope, atom) {
            self.at += 1;
            scope.conds.push(if negated { Cond::Not(Box::new(related)) } else { related });
            return Ok(());
        }
        // `the stadium's name is …`: the owner before its column.
        if let Some((owner, _, _)) = table
            && let Some(at) = self.owned_column(here, owner)
            && let Some(col) = self.column_in(&self.atoms[at], owner)?
        {
            self.at = at + 1;
            if self.condition(scope, col, negated, &atom.raw)? {
                return Ok(());
            }
            self.at = here;
        }
        if column_fit > 0
            && let Some(col) = self.column_near(atom, scope.table)?
        {
            let related = scope.conds.last().and_then(|cond| match cond {
                Cond::Related(last) if col.table != scope.table => Some(last.table),
                _ => None,
            });
            let col = match related {
                Some(table) => self.column_in(atom, table)?.unwrap_or(col),
                None => col,
            };
            if dates::format(self.schema.column(col)).is_some() {
                self.date = Some(col);
            }
            self.at += 1;
            if self.condition(scope, col, negated, &atom.raw)? {
                return Ok(());
            }
            if self.by_each(col) {
                scope.groups.push(Group::Column(col));
                return Ok(());
            }
            // `whose number of products is the largest`
            self.skip(&[Role::Be, Role::Determiner]);
            if matches!(self.role(), Some(Role::Superlative(..))) && self.rank_on(scope, col)? {
                return Ok(());
            }
            self.at = here;
            if col.table == scope.table && table_fit < column_fit && self.known(scope, col, negated) {
                return Ok(());
            }
        }
        if value_fit >= table_fit.max(column_fit) && value_fit > 0 {
            let next_table = self.ahead(1).and_then(super::super::atoms::Atom::table).map(|(table, _, _)| table);
            if next_table.is_some_and(|table| table != scope.table && atom.values().any(|(col, _)| col.table == table))
            {
                return self.relation(scope, negated, None);
            }
            self.at += 1;
            let next = self.peek();
            if next.is_some_and(|next| next.what == What::Possessive)
                && self.ahead(1).is_some_and(|next| next.table().is_some())
            {
                // `Kyle's friends` are other rows than Kyle's own.
                return Err(self.trouble());
            }
            self.literal(scope, here, negated, None)?;
            // `the English language`: the value's own column.
            if next.is_some_and(|next| {
                next.columns().any(|(col, fit)| fit >= 5 && atom.values().any(|(place, _)| place == col))
            }) {
                self.at += 1;
            }
            return Ok(());
        }
        match table {
            // The noun itself again: `for stadiums having …`, `singers … of the singer`.
            Some((table, _, _)) if table == scope.table && !negated => {
                self.at += 1;
                Ok(())
            }
            Some(_) => self.relation(scope, negated, None),
            None => Err(self.trouble()),
        }
    }

    /// `have no country`, `with a country`: whether the column has a value at all.
    fn known(&mut self, scope: &mut Scope, col: Col, negated: bool) -> bool {
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

    /// `directed by each director`
    fn by_each(&mut self, col: Col) -> bool {
        let start = self.at;
        if !(self.skip(&[Role::By]) && self.skip(&[Role::Each])) {
            self.at = start;
            return false;
        }
        self.skip(&[Role::Of, Role::Determiner, Role::Light]);
        match self.peek() {
            Some(atom) if atom.columns().any(|(named, _)| named == col) => self.at += 1,
            None => {}
            Some(atom) if atom.what == What::Stop => {}
            Some(_) => {
                self.at = start;
                return false;
            }
        }
        true
    }

    /// Whether a verb only names again what is already spoken of, or leads to a superlative's or comparison's noun:
    /// `the courses they teach`, `hiring the largest number of employees`.
    fn connects(&self, scope: &Scope, atom: &Atom) -> bool {
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
    fn passive(&self, scope: &Scope, atom: &Atom) -> Option<Cond> {
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
        self.relate(scope, inner, via, negated, count, &words)
    }

    fn relate(
        &mut self,
        scope: &mut Scope,
        inner: Scope,
        via: Option<Col>,
        negated: bool,
        count: Option<(Op, u64)>,
        words: &str,
    ) -> Read<()> {
        if inner.each && scope.top && !negated && count.is_none() && inner.conds.is_empty() {
            scope.groups.push(Group::Row(inner.table));
            return Ok(());
        }
        let conds = self.ranked_conds(&inner, words)?;
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

    /// A number before a relation: `with 3 friends`, `2 or more likes`.
    fn leading_number(&mut self, scope: &mut Scope, negated: bool) -> Read<()> {
        let Some(value) = self.number() else { return Err(self.trouble()) };
        let here = self.at;
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

    /// `each country`, `per month`, `for each stadium`, `by plan`.
    pub(super) fn each(&mut self, scope: &mut Scope) -> Read<()> {
        loop {
            self.skip(&[
                Role::Each,
                Role::By,
                Role::Determiner,
                Role::Of,
                Role::Distinct,
                Role::Preposition,
                Role::Light,
            ]);
            let closed =
                self.peek().is_none_or(|atom| matches!(atom.what, What::Stop | What::Pause | What::Role(Role::Have)));
            if closed && scope.groups.is_empty() {
                // `… for each`: of the rows already spoken of.
                scope.each = true;
                return Ok(());
            }
            let Some(atom) = self.peek() else { return Err(self.trouble()) };
            let group = self.group(scope, scope.table)?;
            let Some(group) = group else { return Err(self.trouble_at(atom)) };
            scope.groups.push(group);
            let joint = self.at;
            self.skip(&[Role::And]);
            let again = matches!(self.role(), Some(Role::Each)) || (self.at > joint && self.unit().is_some());
            if !again {
                self.at = joint;
                return Ok(());
            }
        }
    }

    fn unit(&self) -> Option<Unit> {
        Unit::named(&self.peek()?.raw.to_lowercase())
    }

    fn group(&mut self, scope: &mut Scope, table: TableId) -> Read<Option<Group>> {
        let Some(atom) = self.peek() else { return Ok(None) };
        let column = self.column_in(atom, table)?;
        let fit = self.fit_in(atom, table);
        if let Some((other, _, table_fit)) = atom.table()
            && (column.is_none() || table_fit > fit)
        {
            if let Some(at) = self.owned_column(self.at, other) {
                let col = self.column_in(&self.atoms[at], other)?;
                self.at = at + 1;
                return Ok(col.map(Group::Column));
            }
            self.at += 1;
            scope.each = true;
            return Ok(Some(Group::Row(other)));
        }
        if let Some(col) = column {
            self.at += 1;
            return Ok(Some(Group::Column(col)));
        }
        if let Some(unit) = self.unit() {
            let date =
                if table == scope.table { self.dated(scope, &atom.raw)? } else { self.date_column(table, &atom.raw)? };
            self.at += 1;
            return Ok(date.map(|col| Group::Bucket(col, unit)));
        }
        let near = self.column_near(atom, table)?;
        self.at += usize::from(near.is_some());
        Ok(near.map(Group::Column))
    }

    /// Whether `by` is followed by what rows can be put together by.
    fn group_follows(&self) -> bool {
        let next = self.ahead(
            1 + usize::from(
                self.ahead(1)
                    .and_then(super::Atom::role)
                    .is_some_and(|role| matches!(role, Role::Determiner | Role::Each)),
            ),
        );
        next.is_some_and(|atom| {
            atom.table().is_some() || atom.columns().next().is_some() || Unit::named(&atom.raw.to_lowercase()).is_some()
        })
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
