//! What rows are put together by: `each country`, `per month`, `by plan`.

use super::{Read, Reader, Scope};
use crate::provider::offline::atoms::What;
use crate::provider::offline::lexicon::Role;
use crate::provider::offline::plan::Group;
use crate::provider::offline::schema::{Col, TableId};
use crate::provider::offline::span::Unit;

impl Reader<'_> {
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

    pub(super) fn unit(&self) -> Option<Unit> {
        Unit::named(&self.peek()?.raw.to_lowercase())
    }

    pub(super) fn group(&mut self, scope: &mut Scope, table: TableId) -> Read<Option<Group>> {
        let Some(atom) = self.peek() else { return Ok(None) };
        let column = self.column_in(atom, table)?;
        let fit = atom.fit_in(table);
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
    pub(super) fn group_follows(&self) -> bool {
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

    /// `directed by each director`
    pub(super) fn by_each(&mut self, col: Col) -> bool {
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
}
