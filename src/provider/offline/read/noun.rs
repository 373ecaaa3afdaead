//! Noun phrases: `the youngest singer`, `the top 3 shops`, `the high school student Kyle`.

use super::{Rank, RankBy, Read, Reader, Scope};
use crate::provider::offline::atoms::{Atom, What};
use crate::provider::offline::lexicon::{End, Hint, Role};
use crate::provider::offline::plan::{Cond, Literal, Op};
use crate::provider::offline::schema::{Col, TableId};
use crate::provider::offline::stem::verbal;

/// What stood before the noun.
#[derive(Default)]
struct Before {
    literals: Vec<usize>,
    superlative: Option<(End, Hint)>,
    column: Option<usize>,
    number: Option<f64>,
    top: bool,
    each: bool,
    distinct: bool,
    common: Option<End>,
}

impl Reader<'_> {
    /// Whether a noun phrase about a table starts here: where its table stands.
    pub(super) fn noun_ahead(&self) -> Option<usize> {
        let mut at = self.at;
        let mut seen = 0;
        while let Some(atom) = self.atoms.get(at) {
            let passes = match &atom.what {
                What::Role(role) => matches!(
                    role,
                    Role::Determiner
                        | Role::Some
                        | Role::Filler
                        | Role::Each
                        | Role::Distinct
                        | Role::Top
                        | Role::Superlative(..)
                        | Role::Common(_)
                ),
                What::Number(_) => true,
                What::Name(_) if self.names_table(at) => {
                    // `high school student`: two names of one table.
                    let table = |at: usize| self.atoms.get(at).and_then(Atom::table).map(|(table, ..)| table);
                    let again = table(at) == table(at + 1) && self.names_table(at + 1);
                    return Some(at + usize::from(again));
                }
                What::Name(_) | What::Text(_) | What::Unknown => {
                    seen += 1;
                    let next = self.atoms.get(at + 1).is_some_and(|next| matches!(next.what, What::Name(_)));
                    next && seen < 3
                        && (atom.values().next().is_some()
                            || self.superlative_before(at)
                            || !matches!(atom.what, What::Name(_)))
                }
                _ => false,
            };
            if !passes {
                return None;
            }
            at += 1;
        }
        None
    }

    fn superlative_before(&self, at: usize) -> bool {
        at > 0 && matches!(self.atoms[at - 1].role(), Some(Role::Superlative(..)))
    }

    /// Whether the atom there names a table that is not only the owner of a column named next.
    pub(super) fn names_table(&self, at: usize) -> bool {
        let Some(atom) = self.atoms.get(at) else { return false };
        let Some((table, _, fit)) = atom.table() else { return false };
        let column = atom.columns().map(|(_, fit)| fit).max().unwrap_or(0);
        fit >= column && self.owned_column(at, table).is_none()
    }

    /// The column named right after its table: `stadium name`, `the shop's name`.
    pub(super) fn owned_column(&self, at: usize, table: TableId) -> Option<usize> {
        let possessive = self.atoms.get(at + 1).is_some_and(|atom| atom.what == What::Possessive);
        let next = at + 1 + usize::from(possessive);
        let atom = self.atoms.get(next)?;
        let fit = atom.fit_in(table);
        let other = atom.table().map_or(0, |(_, _, fit)| fit);
        let first = atom.raw.split_whitespace().next().unwrap_or_default().to_lowercase();
        // `products cost more than 50` and `customers signed up` say what they do, not what they have.
        let compared = self.atoms.get(next + 1).is_some_and(|atom| {
            matches!(
                atom.what,
                What::Number(_) | What::Role(Role::Compare(..) | Role::Between | Role::Contains | Role::StartsWith)
            )
        });
        let verb = !possessive && (verbal(&first) || compared);
        (fit >= 5 && !verb && (possessive || fit >= other)).then_some(next)
    }

    /// Reads a noun phrase about a table.
    pub(super) fn noun(&mut self, top: bool) -> Read<Scope> {
        let Some(end) = self.noun_ahead() else { return Err(self.trouble()) };
        let mut before = Before::default();
        while self.at < end {
            let atom = &self.atoms[self.at];
            match &atom.what {
                What::Role(Role::Each) => before.each = true,
                What::Role(Role::Distinct) => before.distinct = true,
                What::Role(Role::Top) => before.top = true,
                What::Role(Role::Superlative(end, hint)) => before.superlative = Some((*end, *hint)),
                What::Role(Role::Common(end)) => before.common = Some(*end),
                What::Number(value) => before.number = Some(*value),
                What::Role(_) => {}
                What::Name(_) if atom.columns().next().is_some() && before.superlative.is_some() => {
                    before.column = Some(self.at);
                }
                What::Name(_) if self.names_table(self.at) => {}
                _ => before.literals.push(self.at),
            }
            self.at += 1;
        }
        let atom = &self.atoms[self.at];
        let Some((table, _, _)) = atom.table() else { return Err(self.trouble()) };
        self.at += 1;
        let mut scope = Scope::new(table, top);
        scope.each = before.each;
        scope.distinct = before.distinct;
        for literal in before.literals {
            self.literal(&mut scope, literal, false, None)?;
        }
        self.rank_before(
            &mut scope,
            before.superlative,
            before.column,
            before.number,
            before.top,
            before.common,
            atom,
        )?;
        self.apposition(&mut scope)?;
        Ok(scope)
    }

    #[expect(clippy::too_many_arguments, reason = "each is one word before the noun")]
    fn rank_before(
        &self,
        scope: &mut Scope,
        superlative: Option<(End, Hint)>,
        column: Option<usize>,
        number: Option<f64>,
        top: bool,
        common: Option<End>,
        noun: &Atom,
    ) -> Read<()> {
        if common.is_some() {
            return Err(self.trouble_at(noun));
        }
        if top && superlative.is_none() {
            scope.top_of = Some(limit(number)?.unwrap_or(1));
            return Ok(());
        }
        let Some((end, hint)) = superlative else {
            // `the 3 countries with the most …`: the superlative is still to come.
            scope.top_of = limit(number)?;
            return Ok(());
        };
        let limit = limit(number)?.unwrap_or(1);
        let (col, reversed) = match column {
            Some(at) => match self.column_near(&self.atoms[at], scope.table)? {
                Some(col) => (col, false),
                None => return Err(self.trouble_at(&self.atoms[at])),
            },
            None => match self.measured(hint, scope.table, &noun.raw)? {
                Some(found) => found,
                None => return Err(self.no_measure(noun)),
            },
        };
        let end = if reversed { other(end) } else { end };
        scope.rank = Some(Rank { by: RankBy::Column(col), end, limit });
        Ok(())
    }

    pub(super) fn no_measure(&self, noun: &Atom) -> crate::provider::offline::trouble::Trouble {
        let before =
            noun.first.checked_sub(1).and_then(|_| self.atoms.iter().rev().find(|atom| atom.end <= noun.first));
        match before {
            Some(atom) if atom.role().is_some_and(|role| matches!(role, Role::Superlative(..))) => {
                crate::provider::offline::trouble::Trouble::Decline(format!(
                    "I don't know which column “{} {}” is measured by. Please name it, e.g. “with the highest …”.",
                    atom.raw, noun.raw
                ))
            }
            _ => self.trouble_at(noun),
        }
    }

    /// A value right after its noun: `the student Kyle`, `the series "Sky Radio"`.
    fn apposition(&mut self, scope: &mut Scope) -> Read<()> {
        let Some(atom) = self.peek() else { return Ok(()) };
        // `account 42`
        if let What::Number(value) = atom.what
            && atom.raw.bytes().all(|byte| byte.is_ascii_digit())
            && self.ahead(1).is_none_or(|next| matches!(next.what, What::Stop | What::Pause | What::Possessive))
            && let Some(identity) = self.schema.identity(scope.table)
            && self.schema.column(identity).is_number()
            && scope.top
        {
            scope.conds.push(Cond::Compare(identity, Op::Eq, Literal::Number(super::condition::shown(value))));
            self.at += 1;
            return Ok(());
        }
        let literal = match &atom.what {
            What::Text(_) => true,
            What::Name(_) => {
                let named = atom.values().any(|(col, _)| Some(col) == self.schema.display(scope.table));
                let quoted =
                    !atom.raw.starts_with(|c: char| c.is_alphanumeric()) || atom.raw.starts_with(char::is_uppercase);
                atom.table().is_none() && (named || (quoted && atom.values().next().is_some()))
            }
            _ => false,
        };
        if !literal {
            return Ok(());
        }
        let Some(display) = self.schema.display(scope.table) else { return Err(self.trouble()) };
        let mut columns: Vec<Col> = atom.values().map(|(col, _)| col).collect();
        if !columns.is_empty() && !columns.contains(&display) {
            columns.retain(|col| col.table == scope.table);
            if columns.is_empty() {
                return Ok(());
            }
            // The row's own name, or the heading under which the value was found?
            columns.insert(0, display);
        } else {
            columns = vec![display];
        }
        let display = self.one_of(&atom.raw, &columns)?.unwrap_or(display);
        scope.conds.push(Cond::Compare(display, Op::Eq, Literal::Text(spelled(atom, display))));
        self.at += 1;
        if self.peek().is_some_and(|atom| atom.what == What::Possessive) {
            // `the student Kyle's friends` are other rows than Kyle's own.
            return Err(self.trouble());
        }
        Ok(())
    }
}

/// The other end.
pub(super) fn other(end: End) -> End {
    match end {
        End::Top => End::Bottom,
        End::Bottom => End::Top,
    }
}

/// A number as a count of rows.
pub(super) fn limit(number: Option<f64>) -> Read<Option<u64>> {
    let Some(value) = number else { return Ok(None) };
    if value.fract() != 0.0 || !(1.0..=1_000_000.0).contains(&value) {
        return Err(crate::provider::offline::trouble::Trouble::Stuck(value.to_string()));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
    Ok(Some(value as u64))
}

/// A literal as the column's data spells it, else as written.
pub(super) fn spelled(atom: &Atom, col: Col) -> String {
    atom.values().find(|(place, _)| *place == col).map_or_else(
        || match &atom.what {
            What::Text(text) => text.clone(),
            _ => atom.raw.trim_matches(['"', '\'', '`', '“', '”', ' ']).to_owned(),
        },
        |(_, value)| value.to_owned(),
    )
}
