//! The order asked for: `ordered by age from the oldest to the youngest`, `in descending order of capacity`.

use super::{Read, Reader, Scope};
use crate::provider::offline::atoms::{Atom, What};
use crate::provider::offline::lexicon::Role;
use crate::provider::offline::plan::OrderKey;

impl Reader<'_> {
    /// Reads an order phrase.
    pub(super) fn order(&mut self, scope: &mut Scope) -> Read<()> {
        let start = self.at;
        if matches!(self.role(), Some(Role::OrderBy | Role::Sort)) {
            self.at += 1;
            // `order the results by`, `sort them by`
            while self.role().is_some_and(|role| matches!(role, Role::Determiner | Role::By | Role::Filler | Role::Of))
                || self.is_result_word()
            {
                self.at += 1;
            }
            let direction = self.direction();
            return self.order_keys(scope, direction);
        }
        let direction = self.direction();
        let phrase = self.atoms[start].raw.to_lowercase();
        if phrase.ends_with(" of") || phrase.ends_with(" by") || self.key_follows() {
            self.skip(&[Role::Of, Role::By]);
            return self.order_keys(scope, direction);
        }
        if let Some((_, descending)) = scope.orders.last_mut() {
            *descending = direction == Some(true);
            return Ok(());
        }
        // Nothing but a direction: the order of what is shown, settled once that is known.
        scope.orders.push((OrderKey::Shown, direction == Some(true)));
        Ok(())
    }

    /// Whether `order`, `sort` or `rank` here is an instruction and not a noun.
    pub(super) fn sort_follows(&self) -> bool {
        self.atoms[self.at..]
            .iter()
            .take(6)
            .any(|atom| matches!(atom.role(), Some(Role::By | Role::Ascending | Role::Descending | Role::Alphabetical)))
    }

    fn is_result_word(&self) -> bool {
        self.peek().is_some_and(|atom| {
            ["result", "results", "them", "list", "output", "answer", "rows"]
                .contains(&atom.raw.to_lowercase().as_str())
        })
    }

    /// Whether a key follows directly: `alphabetical order of the name`.
    fn key_follows(&self) -> bool {
        matches!(self.role(), Some(Role::Of | Role::By)) && self.ahead(1).is_some()
    }

    /// A direction word: whether it descends.
    fn direction(&mut self) -> Option<bool> {
        let mut found = None;
        loop {
            match self.role() {
                Some(Role::Descending) => found = Some(true),
                Some(Role::Ascending | Role::Alphabetical) => found = Some(false),
                Some(Role::Preposition)
                    if self
                        .ahead(1)
                        .and_then(Atom::role)
                        .is_some_and(|role| matches!(role, Role::Ascending | Role::Descending)) => {}
                _ => return found,
            }
            self.at += 1;
        }
    }

    /// One key or several.
    pub(super) fn order_keys(&mut self, scope: &mut Scope, direction: Option<bool>) -> Read<()> {
        let mut keys: Vec<OrderKey> = Vec::new();
        loop {
            self.skip(&[Role::Determiner, Role::Of, Role::By, Role::Filler, Role::Preposition]);
            let Some(atom) = self.peek() else { break };
            match &atom.what {
                What::Role(Role::Count) => {
                    self.at += 1;
                    self.skip(&[Role::Determiner]);
                    if self.noun_ahead().is_some() {
                        self.noun(false)?;
                    }
                    keys.push(OrderKey::Count);
                }
                What::Name(_) => {
                    let owner = atom.table().map(|(table, _, _)| table);
                    let inner = owner.and_then(|owner| self.owned_column(self.at, owner).map(|at| (owner, at)));
                    let (col, end) = match inner {
                        Some((owner, at)) => (self.column_in(&self.atoms[at], owner)?, at + 1),
                        None => (self.column_near(atom, scope.table)?, self.at + 1),
                    };
                    let Some(col) = col else { return Err(self.trouble()) };
                    keys.push(OrderKey::Column(col));
                    self.at = end;
                    // `by the name of the teacher`
                    let link = self.at;
                    if self.skip(&[Role::Of, Role::Determiner]) {
                        match self.peek().and_then(Atom::table) {
                            Some((table, _, _)) if table == col.table => self.at += 1,
                            _ => self.at = link,
                        }
                    }
                }
                _ => break,
            }
            let joint = self.at;
            self.skip(&[Role::And]);
            if self.at == joint && self.peek().is_some_and(|atom| atom.what == What::Pause) {
                self.at += 1;
            }
            if self.at == joint
                || !self
                    .peek()
                    .is_some_and(|atom| matches!(atom.what, What::Name(_) | What::Role(Role::Count | Role::Determiner)))
            {
                self.at = joint;
                break;
            }
        }
        if keys.is_empty() {
            if direction.is_none() {
                return Err(self.trouble());
            }
            keys.push(OrderKey::Shown);
        }
        let comma = self.at;
        if self.peek().is_some_and(|atom| atom.what == What::Pause) {
            self.at += 1;
        }
        let after = self.direction();
        if after.is_none() {
            self.at = comma;
        }
        let descending = after.or(direction).unwrap_or(false);
        scope.orders.extend(keys.into_iter().map(|key| (key, descending)));
        Ok(())
    }
}
