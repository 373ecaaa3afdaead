//! Which of several columns, tables or ways is meant.

use super::literal::happening;
use super::{Read, Reader, Scope};
use crate::provider::offline::atoms::Atom;
use crate::provider::offline::dates;
use crate::provider::offline::lexicon::Hint;
use crate::provider::offline::path::{self, NoWay};
use crate::provider::offline::plan::{Cond, Op, Related, Step};
use crate::provider::offline::schema::{Col, TableId};
use crate::provider::offline::trouble::Trouble;

/// Whether two conditions name two values of one column: then they speak of two rows (`churned and reactivated`).
fn same_column(left: &Cond, right: &Cond) -> bool {
    matches!((left, right), (Cond::Compare(left, Op::Eq, _), Cond::Compare(right, Op::Eq, _)) if left == right)
}

impl Reader<'_> {
    /// The column of this table that an atom names best.
    pub(super) fn column_in(&self, atom: &Atom, table: TableId) -> Read<Option<Col>> {
        let inside: Vec<(Col, u8)> = atom.columns().filter(|(col, _)| col.table == table).collect();
        let best = inside.iter().map(|&(_, fit)| fit).max();
        let named: Vec<Col> = inside.iter().filter(|&&(_, fit)| Some(fit) == best).map(|&(col, _)| col).collect();
        self.one_of(&atom.raw, &named)
    }

    /// The column that an atom names: of this table, else of the nearest that has one.
    pub(super) fn column_near(&self, atom: &Atom, table: TableId) -> Read<Option<Col>> {
        if let Some(col) = self.column_in(atom, table)? {
            return Ok(Some(col));
        }
        let mut others: Vec<(usize, u8, TableId)> = Vec::new();
        for (col, fit) in atom.columns() {
            let distance = match path::way(self.schema, table, col.table, None) {
                Ok(way) => way.len(),
                Err(NoWay::Several(ways)) => ways[0].len(),
                Err(NoWay::None) => continue,
            };
            if others.iter().all(|&(_, _, known)| known != col.table) {
                others.push((distance, fit, col.table));
            }
        }
        let Some(&(nearest, ..)) = others.iter().min_by_key(|&&(distance, ..)| distance) else { return Ok(None) };
        let near: Vec<TableId> =
            others.iter().filter(|&&(distance, ..)| distance == nearest).map(|&(_, _, table)| table).collect();
        match near.as_slice() {
            [only] => self.column_in(atom, *only),
            several => {
                let mut columns = Vec::new();
                for table in several {
                    columns.extend(self.column_in(atom, *table)?);
                }
                self.one_of(&atom.raw, &columns)
            }
        }
    }

    /// Whether a column word is so general that another table's column of that name is not meant by it.
    pub(super) fn is_stray(&self, col: Col, table: TableId) -> bool {
        const GENERAL: [&str; 10] =
            ["name", "id", "title", "code", "number", "date", "type", "status", "description", "label"];
        let own = &self.schema.tables[col.table].words;
        let words: Vec<&String> = self.schema.column(col).words.iter().filter(|word| !own.contains(word)).collect();
        let [only] = words.as_slice() else { return false };
        if col.table == table || !GENERAL.contains(&only.as_str()) {
            return false;
        }
        // A player's name is the person's, where the player has none and points at nothing else.
        let has_own = self
            .schema
            .columns(table)
            .any(|own| self.schema.column(own).words.contains(*only) && !self.schema.is_key(own));
        let points = self.schema.keys.iter().filter(|key| key.from.table == table).count();
        has_own || points != 1
    }

    /// One column, or a question which.
    pub(super) fn one_of(&self, words: &str, columns: &[Col]) -> Read<Option<Col>> {
        // A view mostly shows again what a table holds.
        let tables: Vec<Col> = columns.iter().filter(|col| !self.schema.tables[col.table].view).copied().collect();
        match if tables.is_empty() { columns } else { &tables } {
            [] => Ok(None),
            [only] => Ok(Some(*only)),
            several => {
                let labels: Vec<String> = several.iter().map(|&col| self.schema.label(col)).collect();
                if let Some(place) = labels.iter().position(|label| self.chosen.contains(label)) {
                    return Ok(Some(several[place]));
                }
                Err(Trouble::Ask { question: format!("Which column does “{words}” mean?"), choices: labels })
            }
        }
    }

    /// The way between two tables.
    pub(super) fn way(&self, from: TableId, to: TableId, via: Option<Col>, words: &str) -> Read<Vec<Step>> {
        match path::way(self.schema, from, to, via) {
            Ok(way) => Ok(way),
            Err(NoWay::None) if via.is_some() => self.way(from, to, None, words),
            Err(NoWay::None) => Err(Trouble::Decline(format!(
                "I see no key that joins {} with {}, so I can't say how “{words}” belongs to them.",
                self.schema.tables[from].name, self.schema.tables[to].name
            ))),
            Err(NoWay::Several(ways)) => {
                let label = |way: &Vec<Step>| {
                    way.iter().map(|step| self.schema.label(step.key.from)).collect::<Vec<_>>().join(" and ")
                };
                if let Some(way) = ways.iter().find(|way| self.chosen.contains(&label(way))) {
                    return Ok(way.clone());
                }
                Err(Trouble::Ask {
                    question: format!(
                        "{} and {} are joined in more than one way: which one does “{words}” mean?",
                        self.schema.tables[from].name, self.schema.tables[to].name
                    ),
                    choices: ways.iter().map(label).collect(),
                })
            }
        }
    }

    /// Adds a condition on a column to a scope, over a relation where the column is another table's.
    pub(super) fn add(&self, scope: &mut Scope, table: TableId, cond: Cond, words: &str) -> Read<()> {
        if table == scope.table {
            scope.conds.push(cond);
            return Ok(());
        }
        // The same rows that were spoken of just before, not any others.
        if let Some(last) = scope.conds.last_mut().and_then(happening)
            && last.table == table
            && !last.conds.iter().any(|known| same_column(known, &cond))
        {
            last.conds.push(cond);
            return Ok(());
        }
        let path = self.way(scope.table, table, None, words)?;
        scope.conds.push(Cond::Related(Related { table, path, conds: vec![cond], count: None }));
        Ok(())
    }

    /// The column that an adjective measures, and whether it counts the other way (a birth date for an age).
    ///
    /// Where the table has none, that of what its rows point at will do: a player's height is the person's.
    pub(super) fn measured(&self, hint: Hint, table: TableId, words: &str) -> Read<Option<(Col, bool)>> {
        if let Some(found) = self.measured_in(hint, table, words)? {
            return Ok(Some(found));
        }
        if hint == Hint::Date {
            return Ok(None);
        }
        let mut found = None;
        for key in self.schema.keys.iter().filter(|key| key.from.table == table && key.to.table != table) {
            if let Some(column) = self.measured_in(hint, key.to.table, words)? {
                if found.is_some() {
                    return Ok(None);
                }
                found = Some(column);
            }
        }
        Ok(found)
    }

    fn measured_in(&self, hint: Hint, table: TableId, words: &str) -> Read<Option<(Col, bool)>> {
        for word in hint.words() {
            let columns: Vec<Col> = self
                .schema
                .columns(table)
                .filter(|&col| {
                    let column = self.schema.column(col);
                    let last = column.words.last().is_some_and(|last| last == word);
                    last && (hint != Hint::Date
                        || dates::format(column).is_some()
                        || column.words.len() == 1
                        || *word == "date")
                })
                .collect();
            if let Some(col) = self.one_of(words, &columns)? {
                return Ok(Some((col, false)));
            }
        }
        if hint == Hint::Age {
            let births: Vec<Col> = self
                .schema
                .columns(table)
                .filter(|&col| {
                    self.schema
                        .column(col)
                        .words
                        .iter()
                        .any(|word| word.starts_with("birth") || word == "dob" || word == "born")
                })
                .collect();
            return Ok(self.one_of(words, &births)?.map(|col| (col, true)));
        }
        // `seat_price_cents` for `expensive`: the measure somewhere in the name.
        let anywhere =
            |col: &Col| self.schema.column(*col).words.iter().any(|word| hint.words().contains(&word.as_str()));
        let columns: Vec<Col> = self.schema.columns(table).filter(|_| hint != Hint::Date).filter(anywhere).collect();
        Ok(self.one_of(words, &columns)?.map(|col| (col, false)))
    }

    /// The date column that a time phrase is about: the one just named, else the one that says when the row came about.
    pub(super) fn date_column(&self, table: TableId, words: &str) -> Read<Option<Col>> {
        if let Some(col) = self.date.filter(|col| col.table == table) {
            return Ok(Some(col));
        }
        let dated = dates::columns(self.schema, table);
        let natural: Vec<Col> = dated.iter().filter(|&&col| dates::is_natural(self.schema, col)).copied().collect();
        if let [only] = natural.as_slice() {
            return Ok(Some(*only));
        }
        if let ([only], []) = (dated.as_slice(), natural.as_slice())
            && !dates::is_special(self.schema.column(*only))
        {
            return Ok(Some(*only));
        }
        let labels: Vec<String> = dated.iter().map(|&col| self.schema.label(col)).collect();
        match dated.iter().zip(&labels).find(|(_, label)| self.chosen.contains(label)) {
            Some((col, _)) => Ok(Some(*col)),
            None if dated.is_empty() => Ok(None),
            // A date of its own kind (`renamed_at`, `birth_date`) is not meant by a bare “in June”.
            None => Err(Trouble::Ask { question: format!("Which date does “{words}” speak of?"), choices: labels }),
        }
    }
}
