//! What follows a noun: relative clauses, prepositions, relations, groups, time.

use jiff::civil::Date;

use super::{Read, Reader, Scope};
use crate::provider::offline::atoms::{Atom, What};
use crate::provider::offline::dates;
use crate::provider::offline::lexicon::Role;
use crate::provider::offline::plan::{Cond, Group, Op};
use crate::provider::offline::schema::{Col, TableId};
use crate::provider::offline::stem::verbal;
use crate::provider::offline::trouble::Trouble;

/// What has been said and waits for what it belongs to.
#[derive(Default)]
struct Open {
    /// `not`, `without`.
    negated: bool,
    /// `named`.
    named: bool,
    /// `or`, with the number of conditions before it.
    alternative: Option<usize>,
}

/// Puts the condition before an `or` and those after it together.
fn join_alternatives(scope: &mut Scope, alternative: Option<usize>) -> Option<usize> {
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

/// Whether one column would have to hold two values at once: then `and` meant something else.
fn contradictory(conds: &[Cond]) -> bool {
    let mut columns: Vec<Col> = Vec::new();
    let mut spans: Vec<(Col, Option<Date>, Option<Date>)> = Vec::new();
    conds.iter().any(|cond| match cond {
        Cond::Related(related) => contradictory(&related.conds),
        Cond::Not(inner) if matches!(inner.as_ref(), Cond::Related(_)) => contradictory(std::slice::from_ref(inner)),
        Cond::During(col, from, until) => {
            let apart = |(known, start, end): &(Col, Option<Date>, Option<Date>)| {
                let before = |end: Option<Date>, start: Option<Date>| {
                    end.is_some_and(|end| start.is_some_and(|start| end <= start))
                };
                known == col && (before(*end, *from) || before(*until, *start))
            };
            let found = spans.iter().any(apart);
            spans.push((*col, *from, *until));
            found
        }
        Cond::Compare(col, Op::Eq, _) if columns.contains(col) => true,
        Cond::Compare(col, Op::Eq, _) => {
            columns.push(*col);
            false
        }
        _ => false,
    })
}

/// Whether `and` and `or` stand side by side over different columns: which binds first is anybody's guess.
fn mixed(scope: &Scope) -> bool {
    let column = |cond: &Cond| match cond {
        Cond::Compare(col, ..) | Cond::During(col, ..) | Cond::Between(col, ..) | Cond::Like(col, _) => Some(*col),
        _ => None,
    };
    let differs = |cond: &Cond| match cond {
        Cond::Any(conds) => conds.iter().any(|cond| column(cond).is_none() || column(cond) != column(&conds[0])),
        _ => false,
    };
    scope.conds.len() > 1 && scope.conds.iter().any(differs)
}

impl Reader<'_> {
    /// Reads modifiers until the sentence, or the phrase inside it, ends.
    pub(super) fn modifiers(&mut self, scope: &mut Scope) -> Read<()> {
        let mut open = Open::default();
        while let Some(atom) = self.peek() {
            if self.ends(scope, atom) {
                break;
            }
            let before = scope.conds.len();
            let denied = open.negated;
            let condition = match &atom.what {
                What::Role(role) => self.function_word(scope, *role, &mut open)?,
                What::Time(period) if !open.negated => {
                    self.at += 1;
                    self.time(scope, period, &atom.raw)?;
                    true
                }
                What::Number(_) => {
                    self.leading_number(scope, open.negated)?;
                    true
                }
                What::Name(_) => {
                    let stated = self.name(scope, open.negated, open.named)?;
                    if stated {
                        (open.negated, open.named) = (false, false);
                    }
                    stated
                }
                What::Text(_) | What::Unknown if open.named => {
                    let Some(wanted) = self.schema.display(scope.table) else { return Err(self.trouble()) };
                    self.literal(scope, self.at, open.negated, Some(wanted))?;
                    (open.negated, open.named) = (false, false);
                    self.at += 1;
                    true
                }
                What::Pause | What::Possessive => {
                    self.at += 1;
                    true
                }
                _ => return Err(self.trouble()),
            };
            if condition {
                self.denied = denied;
                if open.alternative.is_some() && scope.conds.len() > before {
                    open.alternative = join_alternatives(scope, open.alternative);
                }
            }
        }
        if contradictory(&scope.conds) {
            return Err(Trouble::Stuck("and".to_owned()));
        }
        if open.negated || open.named || open.alternative.is_some() || scope.top_of.is_some() || mixed(scope) {
            return Err(self.trouble());
        }
        Ok(())
    }

    /// Whether the phrase ends before this atom.
    fn ends(&self, scope: &Scope, atom: &Atom) -> bool {
        let outer = match &atom.what {
            What::Stop => return true,
            What::Pause => true,
            What::Role(role) => {
                matches!(
                    role,
                    Role::And
                        | Role::Both
                        | Role::Each
                        | Role::OrderBy
                        | Role::Sort
                        | Role::Ascending
                        | Role::Descending
                        | Role::Alphabetical
                ) || self.times_follow()
                    || (*role == Role::Or && !self.value_follows(scope.table))
            }
            _ => false,
        };
        let joint = matches!(atom.what, What::Pause | What::Role(Role::And));
        (outer && !scope.top) || (joint && self.question_goes_on())
    }

    /// Reads a function word; whether a whole condition was read with it.
    fn function_word(&mut self, scope: &mut Scope, role: Role, open: &mut Open) -> Read<bool> {
        let negated = open.negated;
        match role {
            Role::Both => {
                let next = self.ahead(1).map(|next| &next.what);
                let pair = matches!(
                    next,
                    Some(What::Name(_) | What::Role(Role::Have | Role::Be | Role::Determiner | Role::Some))
                );
                // `speak both English and Dutch`: two rows of another table, each with its value.
                let values = self.ahead(1).is_some_and(|next| {
                    next.table().is_none()
                        && next.values().next().is_some()
                        && next.values().all(|(col, _)| col.table != scope.table)
                });
                if !pair && !values {
                    return Err(self.trouble());
                }
                self.both = true;
            }
            Role::Or => return self.or(scope, open).map(|()| false),
            Role::Not | Role::Without if !negated => open.negated = true,
            Role::Named => open.named = true,
            Role::And
            | Role::Be
            | Role::Have
            | Role::Do
            | Role::Light
            | Role::Of
            | Role::Preposition
            | Role::Relative
            | Role::Which
            | Role::Who
            | Role::Where
            | Role::Determiner
            | Role::Some
            | Role::Either
            | Role::Filler => {}
            Role::By if !self.by(scope)? => {}
            Role::By => return Ok(true),
            Role::Compare(op, hint) => {
                self.comparison(scope, op, hint, negated)?;
                open.negated = false;
                return Ok(true);
            }
            Role::Comparative(op) => {
                self.comparative(scope, op, negated)?;
                open.negated = false;
                return Ok(true);
            }
            _ if negated => return Err(self.trouble()),
            Role::Each => return self.each(scope).map(|()| true),
            Role::OrderBy | Role::Ascending | Role::Descending | Role::Alphabetical => {
                return self.order(scope).map(|()| true);
            }
            Role::Sort if self.sort_follows() => return self.order(scope).map(|()| true),
            Role::Superlative(..) | Role::Common(_) | Role::Top => return self.superlative(scope).map(|()| true),
            Role::Distinct => scope.distinct = true,
            _ => return Err(self.trouble()),
        }
        self.at += 1;
        Ok(false)
    }

    /// `by`: what a top, an order or a group goes by; `false` when it is a plain preposition.
    fn by(&mut self, scope: &mut Scope) -> Read<bool> {
        if scope.top_of.is_some() {
            self.top_by(scope)?;
        } else if scope.top && self.sorting {
            self.at += 1;
            self.order_keys(scope, None)?;
        } else if scope.top && !self.agent() && self.group_follows() {
            self.each(scope)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Whether the `by` here names who did it: `owned by`, `spoken by`.
    fn agent(&self) -> bool {
        let before = self.at.checked_sub(1).map(|before| &self.atoms[before]);
        before.is_some_and(|atom| {
            matches!(atom.role(), Some(Role::Light | Role::Have)) || verbal(&atom.raw.to_lowercase())
        })
    }

    /// `or`: what follows is an alternative to the condition before it.
    fn or(&mut self, scope: &mut Scope, open: &mut Open) -> Read<()> {
        if self.denied {
            // `not from France or Spain` is from neither.
            if !self.value_follows(scope.table) {
                return Err(self.trouble());
            }
            open.negated = true;
            self.at += 1;
            return Ok(());
        }
        if scope.conds.is_empty() {
            return Err(self.trouble());
        }
        open.alternative = Some(scope.conds.len());
        self.at += 1;
        if self.year_after_or(scope) {
            open.alternative = join_alternatives(scope, open.alternative);
        }
        Ok(())
    }

    /// Whether a pause or `and` here ends the modifiers and goes on with what to show: `, and how many …`, `, and return …`.
    pub(super) fn question_goes_on(&self) -> bool {
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
    pub(super) fn value_follows(&self, table: TableId) -> bool {
        let next = self.atoms[self.at..]
            .iter()
            .skip(1)
            .find(|atom| !matches!(atom.role(), Some(Role::Determiner | Role::Preposition | Role::Not | Role::Be)));
        next.is_some_and(|atom| atom.values().any(|(col, _)| col.table == table) && atom.table().is_none())
    }

    /// `in 2014 or 2015`
    fn year_after_or(&mut self, scope: &mut Scope) -> bool {
        let Some(value) = self.number() else { return false };
        let Some(Cond::During(col, ..)) = scope.conds.last().cloned() else { return false };
        if value.fract() != 0.0 || !(1900.0..=2100.0).contains(&value) {
            return false;
        }
        #[expect(clippy::cast_possible_truncation, reason = "checked just above")]
        let Some(span) = crate::provider::offline::span::Span::year(value as i16) else { return false };
        self.at += 1;
        scope.conds.push(Cond::During(col, Some(span.from), Some(span.until)));
        true
    }

    /// A name after the noun: a column with its condition, a value, or another table; `false` when it only says again
    /// what is already spoken of.
    fn name(&mut self, scope: &mut Scope, negated: bool, named: bool) -> Read<bool> {
        let Some(atom) = self.peek() else { return Ok(false) };
        let here = self.at;
        let table = atom.table();
        if named {
            let wanted = self.schema.display(scope.table);
            self.at += 1;
            return self.literal(scope, here, negated, wanted).map(|()| true);
        }
        if self.connects(scope, atom) {
            self.at += 1;
            return Ok(false);
        }
        if let Some(related) = self.passive(scope, atom) {
            self.at += 1;
            scope.conds.push(if negated { Cond::Not(Box::new(related)) } else { related });
            return Ok(true);
        }
        // `the stadium's name is …`: the owner before its column.
        if let Some((owner, _, _)) = table
            && let Some(at) = self.owned_column(here, owner)
            && let Some(col) = self.column_in(&self.atoms[at], owner)?
        {
            self.at = at + 1;
            if self.condition(scope, col, negated, &atom.raw)? {
                return Ok(true);
            }
            self.at = here;
        }
        if self.column_phrase(scope, atom, negated)? {
            return Ok(true);
        }
        let table_fit = table.map_or(0, |(_, _, fit)| fit);
        let column_fit = atom.columns().map(|(_, fit)| fit).max().unwrap_or(0);
        let value_fit = atom.value_fit();
        if value_fit > 0 && value_fit >= table_fit.max(column_fit) {
            return self.value_phrase(scope, atom, negated).map(|()| true);
        }
        match table {
            // The noun itself again: `for stadiums having …`, `singers … of the singer`.
            Some((table, _, _)) if table == scope.table && !negated => {
                self.at += 1;
                Ok(false)
            }
            Some(_) => self.relation(scope, negated, None).map(|()| true),
            None => Err(self.trouble()),
        }
    }

    /// A column and what is said of it; `false`, and the cursor as before, when nothing is.
    fn column_phrase(&mut self, scope: &mut Scope, atom: &Atom, negated: bool) -> Read<bool> {
        let here = self.at;
        let Some(near) = self.column_near(atom, scope.table)? else { return Ok(false) };
        // Of the rows just spoken of, if they have such a column.
        let col = match scope.conds.last() {
            Some(Cond::Related(last)) if near.table != scope.table => self.column_in(atom, last.table)?.unwrap_or(near),
            _ => near,
        };
        let spoken_of = matches!(scope.conds.last(), Some(Cond::Related(last)) if last.table == col.table);
        if self.is_stray(col, scope.table) && !spoken_of {
            return Ok(false);
        }
        if dates::format(self.schema.column(col)).is_some() {
            self.date = Some(col);
        }
        self.at += 1;
        if self.condition(scope, col, negated, &atom.raw)? {
            return Ok(true);
        }
        if !negated
            && self.date == Some(col)
            && matches!(self.role(), Some(Role::Each | Role::By))
            && self.group_follows()
        {
            // `created per month`: the date to group by.
            return Ok(true);
        }
        if !negated && self.by_each(col) {
            scope.groups.push(Group::Column(col));
            return Ok(true);
        }
        // `whose number of products is the largest`
        self.skip(&[Role::Be, Role::Determiner]);
        if !negated && matches!(self.role(), Some(Role::Superlative(..))) && self.rank_on(scope, col) {
            return Ok(true);
        }
        self.at = here;
        let table_fit = atom.table().map_or(0, |(_, _, fit)| fit);
        Ok(col.table == scope.table && table_fit < atom.fit_in(col.table) && self.known(scope, col, negated))
    }

    /// A value whose column is found in the data, before its noun (`cancelled orders`) or by itself.
    fn value_phrase(&mut self, scope: &mut Scope, atom: &Atom, negated: bool) -> Read<()> {
        let here = self.at;
        let next_table = self.ahead(1).and_then(Atom::table).map(|(table, _, _)| table);
        if next_table.is_some_and(|table| table != scope.table && atom.values().any(|(col, _)| col.table == table)) {
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
        Ok(())
    }
}
