//! Further things to show, after `and` or in a sentence of their own.

use super::head::Head;
use super::{Item, Read, Reader, Scope};
use crate::provider::offline::atoms::What;
use crate::provider::offline::lexicon::Role;
use crate::provider::offline::link::is_place;
use crate::provider::offline::schema::Col;

impl Reader<'_> {
    /// The only column asked for, if it is one of the rows' own.
    pub(super) fn asked_column(&self, head: &Head, scope: &Scope) -> Read<Option<Col>> {
        match head.items.as_slice() {
            [Item::Attribute { atom, .. }] => self.column_in(&self.atoms[*atom], scope.table),
            _ => Ok(None),
        }
    }

    /// More to show: `Give me the shop names.`, `, and how many does it have`.
    pub(super) fn more(&mut self, head: &mut Head, scope: &mut Scope) -> Read<()> {
        let mut joined = false;
        while self.peek().is_some() {
            if self.peek().is_some_and(|atom| matches!(atom.what, What::Stop | What::Pause))
                || matches!(self.role(), Some(Role::And))
            {
                joined |= !self.peek().is_some_and(|atom| atom.what == What::Stop);
                self.at += 1;
                continue;
            }
            let mut second = Head { main: Some(scope.clone()), ..Head::default() };
            self.items(&mut second)?;
            self.again(&second, scope);
            if matches!(
                self.role(),
                Some(Role::OrderBy | Role::Each | Role::Ascending | Role::Descending | Role::Alphabetical)
            ) {
                self.modifiers(scope)?;
            }
            self.again(&second, scope);
            if self.peek().is_some_and(|atom| atom.what != What::Stop) {
                return Err(self.trouble());
            }
            let counts = |items: &[Item]| items.iter().any(|item| matches!(item, Item::Count(_)));
            let bare = matches!(head.items.as_slice(), [Item::Entity(_)]);
            if (joined && !bare) || (counts(&head.items) && !counts(&second.items)) {
                head.items.extend(second.items);
            } else {
                head.items = second.items;
            }
            if let Some(more) = second.main {
                scope.each |= more.each;
            }
            joined = false;
        }
        Ok(())
    }

    /// What `where` and `when` ask for: a column of places, a column of dates.
    pub(super) fn place_or_time(&self, head: &mut Head, scope: &Scope, role: Role) -> Read<()> {
        let [Item::Entity(table)] = head.items.as_slice() else { return Err(self.trouble_at(&self.atoms[0])) };
        let words = &self.atoms[0].raw;
        let col = if role == Role::Where {
            let places: Vec<Col> =
                self.schema.columns(*table).filter(|&col| is_place(self.schema.column(col))).collect();
            self.one_of(words, &places)?
        } else {
            self.date_column(scope.table, words)?
        };
        head.items = vec![Item::Column(col.ok_or_else(|| self.trouble_at(&self.atoms[0]))?)];
        Ok(())
    }

    /// Steps over words that only say again what the things shown belong to: `the courses they teach`.
    fn again(&mut self, second: &Head, scope: &Scope) {
        while let Some(atom) = self.peek() {
            let small = atom.role().is_some_and(|role| {
                matches!(
                    role,
                    Role::Filler
                        | Role::Light
                        | Role::Preposition
                        | Role::Determiner
                        | Role::Have
                        | Role::Do
                        | Role::Be
                )
            });
            let known = atom.table().is_some_and(|(table, _, fit)| {
                fit < 10
                    && (table == scope.table
                        || second.items.iter().any(|item| matches!(item, Item::Entity(shown) if *shown == table)))
            });
            if !small && !known {
                return;
            }
            self.at += 1;
        }
    }
}
