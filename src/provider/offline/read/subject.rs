//! Whose the things asked for are, and which rows the question is about.

use super::head::Head;
use super::{Item, Read, Reader, Scope};
use crate::provider::offline::atoms::Atom;
use crate::provider::offline::lexicon::Role;
use crate::provider::offline::schema::TableId;
use crate::provider::offline::trouble::Trouble;

impl Reader<'_> {
    /// `of all singers`, `for each stadium`: whose the things shown are.
    pub(super) fn owner(&mut self, head: &mut Head) -> Read<bool> {
        let start = self.at;
        let of = self.role() == Some(Role::Of);
        if !self.skip(&[Role::Of, Role::Preposition, Role::By]) {
            return Ok(false);
        }
        let found = self.noun_ahead().and_then(|at| self.atoms[at].table().map(|(table, ..)| table));
        let unowned: Vec<usize> = head
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Attribute { atom, owner: None, .. } | Item::Different { atom, owner: None, .. } => Some(*atom),
                _ => None,
            })
            .collect();
        let fits = |table: TableId| unowned.iter().all(|&at| self.atoms[at].fit_in(table) > 0);
        match (found, &head.main) {
            (Some(table), None)
                if !unowned.is_empty()
                    && (of || fits(table))
                    && !(matches!(head.items.last(), Some(Item::Count(_)))) =>
            {
                head.main = Some(self.noun(true)?);
                Ok(true)
            }
            (Some(table), Some(main)) if of && table != main.table && self.ends_with_attribute_of(head, table) => {
                let more = self.noun(true)?;
                if !more.conds.is_empty() || more.rank.is_some() || more.top_of.is_some() {
                    return Err(self.trouble());
                }
                if let Some(Item::Attribute { owner, .. }) = head.items.last_mut() {
                    *owner = Some(table);
                }
                Ok(true)
            }
            (Some(table), Some(main))
                if of && table == main.table && matches!(head.items.last(), Some(Item::Attribute { .. })) =>
            {
                let more = self.noun(true)?;
                if !more.conds.is_empty() || more.rank.is_some() || more.top_of.is_some() {
                    return Err(self.trouble());
                }
                Ok(true)
            }
            _ => {
                self.at = start;
                Ok(false)
            }
        }
    }

    /// Whether the last thing asked for is a column that this table has.
    fn ends_with_attribute_of(&self, head: &Head, table: TableId) -> bool {
        match head.items.last() {
            Some(Item::Attribute { atom, owner: None, .. }) => self.atoms[*atom].fit_in(table) > 0,
            _ => false,
        }
    }

    /// The rows the question is about.
    pub(super) fn main(&self, head: &mut Head) -> Read<Scope> {
        if let Some(scope) = head.main.take() {
            return Ok(scope);
        }
        let mut attributes = Vec::new();
        let mut owner = None;
        for item in &head.items {
            match item {
                Item::Attribute { atom, owner: named, .. } | Item::Different { atom, owner: named, .. } => {
                    owner = owner.or(*named);
                    if named.is_none() {
                        attributes.push(*atom);
                    }
                }
                _ => {}
            }
        }
        if let Some(table) = owner {
            return Ok(Scope::new(table, true));
        }
        if attributes.is_empty() {
            if let Some(scope) = head.items.iter().find_map(|item| match item {
                Item::Count(scope) => Some(Scope::clone(scope)),
                _ => None,
            }) {
                return Ok(scope);
            }
            let counted = self.atoms[self.at.min(self.atoms.len())..].iter().find_map(Atom::table);
            let kind = || {
                let atom = self.atoms[self.at.min(self.atoms.len())..].iter().find(|atom| atom.value_fit() > 0)?;
                atom.values().next().map(|(col, _)| col.table)
            };
            if let [Item::Bucket(_)] = head.items.as_slice()
                && let Some(table) = counted.map(|(table, ..)| table).or_else(kind)
            {
                return Ok(Scope::new(table, true));
            }
            return Err(self.trouble());
        }
        let mut scope = Scope::new(self.inferred(&attributes)?, true);
        if let ([at], 1) = (attributes.as_slice(), head.items.len()) {
            scope.shared = self.column_in(&self.atoms[*at], scope.table)?;
        }
        Ok(scope)
    }

    /// The table that has all these attributes: one that the question names, else the only one.
    fn inferred(&self, attributes: &[usize]) -> Read<TableId> {
        let worst = |table: TableId| attributes.iter().map(|&at| self.atoms[at].fit_in(table)).min().unwrap_or(0);
        let mut named: Vec<(TableId, u8)> = Vec::new();
        for atom in self.atoms {
            if let Some((table, _, fit)) = atom.table()
                && fit >= 5
                && worst(table) > 0
                && named.iter().all(|(known, _)| *known != table)
            {
                named.push((table, worst(table)));
            }
        }
        if named.is_empty() {
            named =
                (0..self.schema.tables.len()).map(|table| (table, worst(table))).filter(|(_, fit)| *fit > 0).collect();
        }
        let best = named.iter().map(|(_, fit)| *fit).max();
        let tables: Vec<TableId> =
            named.iter().filter(|(_, fit)| Some(*fit) == best).map(|(table, _)| *table).collect();
        let first = &self.atoms[attributes[0]];
        match tables.as_slice() {
            [only] => Ok(*only),
            [] => Err(Trouble::Stuck(first.raw.clone())),
            several => {
                let mut columns = Vec::new();
                for table in several {
                    columns.extend(self.column_in(first, *table)?);
                }
                self.one_of(&first.raw, &columns)?.map(|col| col.table).ok_or_else(|| Trouble::Stuck(first.raw.clone()))
            }
        }
    }
}
