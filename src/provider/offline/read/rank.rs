//! Superlatives after the noun: `with the highest capacity`, `that has the most concerts`, `the most common`.

use super::noun::{limit, other};
use super::{Rank, RankBy, Read, Reader, Scope};
use crate::provider::offline::dates;
use crate::provider::offline::lexicon::{End, Hint, Role};
use crate::provider::offline::plan::{Aggregate, Cond, Op, Related};
use crate::provider::offline::schema::Col;
use crate::provider::offline::trouble::Trouble;

impl Reader<'_> {
    /// Reads a superlative and what it measures.
    pub(super) fn superlative(&mut self, scope: &mut Scope) -> Read<()> {
        if scope.rank.is_some() {
            return Err(self.trouble());
        }
        let words = self.peek().map_or_else(String::new, |atom| atom.raw.clone());
        #[expect(clippy::cast_precision_loss, reason = "at most a million")]
        let mut number = scope.top_of.take().map(|limit| limit as f64);
        if self.skip(&[Role::Top]) {
            number = self.number();
            self.at += usize::from(number.is_some());
        }
        let (end, hint) = match self.role() {
            Some(Role::Superlative(end, hint)) => (end, hint),
            Some(Role::Common(end)) => {
                self.at += 1;
                scope.rank = Some(Rank { by: RankBy::Own, end, limit: 1 });
                return self.common_column(scope);
            }
            _ => return Err(self.trouble()),
        };
        self.at += 1;
        if self.number().is_some() {
            number = self.number();
            self.at += 1;
        }
        let limit = limit(number)?.unwrap_or(1);
        self.skip(&[Role::Determiner, Role::Of]);
        let counting = self.skip(&[Role::Count]);
        if let Some(Role::Aggregate(aggregate)) = self.role() {
            self.at += 1;
            self.skip(&[Role::Of, Role::Determiner]);
            return self.ranked_aggregate(scope, aggregate, end, limit, &words);
        }
        self.skip(&[Role::Determiner, Role::Distinct, Role::Filler]);
        if let Some(by) = self.ranked_name(scope, counting, &words)? {
            scope.rank = Some(Rank { by, end, limit });
            return Ok(());
        }
        if counting {
            return Err(self.trouble());
        }
        // `visited most times`
        if self.role() == Some(Role::Times)
            && hint == Hint::None
            && let Some(Cond::Related(related)) = scope.conds.last().cloned()
        {
            self.at += 1;
            scope.conds.pop();
            scope.rank = Some(Rank { by: RankBy::Related(related), end, limit });
            return Ok(());
        }
        let happened = hint == Hint::Date && matches!(scope.conds.last(), Some(Cond::Related(_)));
        let measured = if happened {
            // `churned most recently`: the date of what happened, not of who it happened to.
            self.dated(scope, &words)?.map(|col| (col, false))
        } else {
            self.measured(hint, scope.table, &words)?
        };
        let Some((col, reversed)) = measured else {
            return Err(if self.peek().is_some() { self.trouble() } else { Trouble::Stuck(words) });
        };
        let end = if reversed { other(end) } else { end };
        scope.rank = Some(Rank { by: RankBy::Column(col), end, limit });
        Ok(())
    }

    /// What is named after a superlative: a column, what happened, or another table's rows; `None`, and the cursor as
    /// before, when nothing is.
    fn ranked_name(&mut self, scope: &mut Scope, counting: bool, words: &str) -> Read<Option<RankBy>> {
        let here = self.at;
        let Some(atom) = self.peek().filter(|atom| !atom.links().is_empty()) else { return Ok(None) };
        let table_fit = atom.table().map_or(0, |(_, _, fit)| fit);
        let inside = self.column_in(atom, scope.table)?;
        let fit = atom.fit_in(scope.table);
        if let Some(col) = inside.filter(|_| fit > table_fit || (!counting && fit == table_fit)) {
            return self.ranked_column(col, counting, words).map(Some);
        }
        // `most signups`: what happened, by its name in the data.
        if atom.value_fit() > 0 && table_fit == 0 && inside.is_none() && self.noun_ahead().is_none() {
            self.at += 1;
            let mut inner = Scope::new(scope.table, false);
            self.literal(&mut inner, here, false, None)?;
            if let [Cond::Related(related)] = inner.conds.as_slice() {
                return Ok(Some(RankBy::Related(related.clone())));
            }
            scope.conds.append(&mut inner.conds);
            return Ok(Some(RankBy::Own));
        }
        if let Some(noun) = self.noun_ahead()
            && self.atoms[noun].table().is_some_and(|(_, _, fit)| fit >= 5)
        {
            return self.ranked_relation(scope, noun).map(Some);
        }
        match self.column_near(atom, scope.table)? {
            Some(col) => {
                let by = self.ranked_column(col, counting, words)?;
                // `who has the most hours` adds them up; `the most at once` and `the highest` are single rows.
                let single = self.peek().is_some_and(|atom| {
                    atom.raw.to_lowercase().starts_with("at one") || atom.raw.eq_ignore_ascii_case("at once")
                });
                let many = self.way(scope.table, col.table, None, words)?.iter().any(|step| !step.forward);
                Ok(Some(if many && !single && is_amount(words) { RankBy::Aggregate(Aggregate::Sum, col) } else { by }))
            }
            None => Ok(None),
        }
    }

    /// A column to rank by. `most languages` counts them: only amounts and dates have a most of their own.
    fn ranked_column(&mut self, col: Col, counting: bool, words: &str) -> Read<RankBy> {
        let column = self.schema.column(col);
        let sortable = column.is_number() || (!counting && (!is_amount(words) || dates::format(column).is_some()));
        if !sortable {
            return Err(self.trouble());
        }
        self.at += 1;
        Ok(RankBy::Column(col))
    }

    /// What `top 5 …` is measured by: `by number of accounts`, `by population`.
    pub(super) fn top_by(&mut self, scope: &mut Scope) -> Read<()> {
        let Some(limit) = scope.top_of.take() else { return Err(self.trouble()) };
        if scope.rank.is_some() {
            return Err(self.trouble());
        }
        self.at += 1;
        self.skip(&[Role::Determiner]);
        if self.skip(&[Role::Count]) {
            let Some(noun) = self.noun_ahead() else { return Err(self.trouble()) };
            let by = self.ranked_relation(scope, noun)?;
            scope.rank = Some(Rank { by, end: End::Top, limit });
            return Ok(());
        }
        if let Some(Role::Aggregate(aggregate)) = self.role() {
            self.at += 1;
            self.skip(&[Role::Of, Role::Determiner]);
            let words = self.atoms[self.at - 1].raw.clone();
            return self.ranked_aggregate(scope, aggregate, End::Top, limit, &words);
        }
        let Some(atom) = self.peek() else { return Err(self.trouble()) };
        let Some(col) = self.column_in(atom, scope.table)? else { return Err(self.trouble()) };
        self.at += 1;
        scope.rank = Some(Rank { by: RankBy::Column(col), end: End::Top, limit });
        Ok(())
    }

    /// `number of products is the largest`: a superlative after its column.
    pub(super) fn rank_on(&mut self, scope: &mut Scope, col: Col) -> bool {
        let Some(Role::Superlative(end, Hint::None | Hint::Size)) = self.role() else { return false };
        let next = self.ahead(1);
        if next.is_some_and(|next| !next.links().is_empty() || next.role() == Some(Role::Count)) || scope.rank.is_some()
        {
            return false;
        }
        self.at += 1;
        scope.rank = Some(Rank { by: RankBy::Column(col), end, limit: 1 });
        true
    }

    fn ranked_relation(&mut self, scope: &mut Scope, noun: usize) -> Read<RankBy> {
        let words = self.atoms[noun].raw.clone();
        let via = self.atoms[noun].table().and_then(|(_, via, _)| via);
        let inner = self.deeper(|reader| {
            let mut inner = reader.noun(false)?;
            reader.modifiers(&mut inner)?;
            Ok(inner)
        })?;
        let conds = ranked_conds(&inner, &words)?;
        Ok(if inner.table == scope.table {
            scope.conds.extend(conds);
            RankBy::Own
        } else {
            let path = self.way(scope.table, inner.table, via, &words)?;
            RankBy::Related(Related { table: inner.table, path, conds, count: None })
        })
    }

    fn ranked_aggregate(
        &mut self,
        scope: &mut Scope,
        aggregate: Aggregate,
        end: End,
        limit: u64,
        words: &str,
    ) -> Read<()> {
        let Some(atom) = self.peek() else { return Err(Trouble::Stuck(words.to_owned())) };
        let Some(col) = self.column_near(atom, scope.table)? else { return Err(self.trouble()) };
        self.at += 1;
        scope.rank = Some(Rank { by: RankBy::Aggregate(aggregate, col), end, limit });
        Ok(())
    }

    /// The column of `the most common hometown`, where it stands after the superlative.
    fn common_column(&mut self, scope: &mut Scope) -> Read<()> {
        let _ = scope;
        match self.peek() {
            None => Ok(()),
            Some(atom) if atom.links().is_empty() => Ok(()),
            Some(_) => Err(self.trouble()),
        }
    }
}

/// The conditions of a phrase inside the question, its superlative among them.
pub(super) fn ranked_conds(inner: &Scope, words: &str) -> Read<Vec<Cond>> {
    if !inner.groups.is_empty() || !inner.orders.is_empty() || inner.having.is_some() {
        return Err(Trouble::Stuck(words.to_owned()));
    }
    let mut conds = inner.conds.clone();
    match &inner.rank {
        None => {}
        Some(Rank { by: RankBy::Column(col), end, limit: 1 }) if col.table == inner.table => {
            let aggregate = if *end == End::Top { Aggregate::Max } else { Aggregate::Min };
            conds.push(Cond::CompareTo(*col, Op::Eq, aggregate, *col, inner.conds.clone()));
        }
        Some(_) => return Err(Trouble::Stuck(words.to_owned())),
    }
    Ok(conds)
}

/// Whether a superlative speaks of how much there is, not of how high a value is.
fn is_amount(words: &str) -> bool {
    ["most", "least", "fewest", "most of"].contains(&words.to_lowercase().as_str())
}
