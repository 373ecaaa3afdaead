//! The head of a question: what is asked for, and of which rows.

use super::{Item, Read, Reader, Scope};
use crate::provider::offline::atoms::{Atom, What};
use crate::provider::offline::lexicon::{End, Hint, Role};
use crate::provider::offline::plan::{Aggregate, Plan};
use crate::provider::offline::schema::TableId;
use crate::provider::offline::trouble::Trouble;

/// What the head has given so far.
#[derive(Default)]
struct Head {
    items: Vec<Item>,
    main: Option<Scope>,
    distinct: bool,
    /// Where `for each …` stood before the question proper.
    each: Vec<usize>,
    /// Where a time phrase stood before it.
    times: Vec<usize>,
    /// Values that own what is shown.
    owners: Vec<usize>,
}

impl Reader<'_> {
    /// Reads the whole question.
    pub(super) fn question(&mut self) -> Read<Plan> {
        let mut head = Head::default();
        self.prefix(&mut head)?;
        self.items(&mut head)?;
        let mut scope = self.main(&mut head)?;
        scope.top = true;
        scope.distinct |= head.distinct;
        let here = self.at;
        for at in std::mem::take(&mut head.times) {
            if let What::Time(period) = &self.atoms[at].what {
                self.time(&mut scope, period, &self.atoms[at].raw)?;
            }
        }
        for at in std::mem::take(&mut head.each) {
            self.at = at;
            self.each(&mut scope)?;
        }
        for at in std::mem::take(&mut head.owners) {
            self.literal(&mut scope, at, false, None)?;
        }
        self.at = here;
        self.subject = self.asked_column(&head, &scope)?;
        self.modifiers(&mut scope)?;
        self.more(&mut head, &mut scope)?;
        self.finish(scope, &head.items)
    }

    /// What stands before the question proper: `For each stadium,`, `In June 2026,`.
    fn prefix(&mut self, head: &mut Head) -> Read<()> {
        loop {
            match self.peek().map(|atom| &atom.what) {
                Some(What::Time(_)) => {
                    head.times.push(self.at);
                    self.at += 1;
                }
                Some(What::Role(Role::Preposition | Role::By))
                    if self.ahead(1).and_then(Atom::role) == Some(Role::Each) =>
                {
                    self.at += 1;
                    head.each.push(self.at);
                    self.to_pause()?;
                }
                Some(What::Role(Role::Each)) if self.at == 0 => {
                    head.each.push(self.at);
                    self.to_pause()?;
                }
                Some(What::Pause) if self.at > 0 => self.at += 1,
                _ => return Ok(()),
            }
        }
    }

    fn to_pause(&mut self) -> Read<()> {
        let start = self.at;
        while self.peek().is_some_and(|atom| atom.what != What::Pause) {
            self.at += 1;
        }
        if self.peek().is_none() {
            self.at = start;
            return Err(self.trouble());
        }
        Ok(())
    }

    /// The list of what to show.
    fn items(&mut self, head: &mut Head) -> Read<()> {
        loop {
            self.opening(head);
            if !self.item(head)? {
                return Ok(());
            }
            while self.owner(head)? {}
            let joint = self.at;
            while self.skip(&[Role::And]) || self.peek().is_some_and(|atom| atom.what == What::Pause) && self.step() {}
            if self.at == joint || !self.item_follows(matches!(head.items.last(), Some(Item::Different { .. }))) {
                self.at = joint;
                return Ok(());
            }
        }
    }

    fn step(&mut self) -> bool {
        self.at += 1;
        true
    }

    fn opening(&mut self, head: &mut Head) {
        loop {
            match self.role() {
                Some(Role::Distinct) => head.distinct = true,
                Some(Role::Sort) => self.sorting = true,
                Some(
                    Role::Opens
                    | Role::Which
                    | Role::Who
                    | Role::Be
                    | Role::Determiner
                    | Role::Some
                    | Role::Filler
                    | Role::Of
                    | Role::Light,
                ) => {}
                _ => return,
            }
            self.at += 1;
        }
    }

    /// Whether what follows `and` is one more thing to show.
    fn item_follows(&self, different: bool) -> bool {
        let mut at = self.at;
        while self.atoms.get(at).and_then(Atom::role).is_some_and(|role| {
            matches!(
                role,
                Role::Determiner | Role::Filler | Role::Distinct | Role::Opens | Role::Light | Role::Which | Role::Some
            )
        }) {
            at += 1;
        }
        let Some(atom) = self.atoms.get(at) else { return false };
        match &atom.what {
            What::Role(Role::Count | Role::Aggregate(_)) => true,
            What::Role(Role::Superlative(..)) => {
                self.atoms.get(at + 1).is_some_and(|next| next.columns().next().is_some())
            }
            What::Name(_) if atom.table().is_some() || atom.columns().next().is_some() => {
                let next = self.atoms.get(at + 1);
                if next.and_then(Atom::role) == Some(Role::Be) {
                    return different;
                }
                !next.is_some_and(|next| {
                    matches!(next.what, What::Number(_) | What::Text(_) | What::Time(_))
                        || matches!(
                            next.role(),
                            Some(
                                Role::Compare(..)
                                    | Role::Between
                                    | Role::Be
                                    | Role::Not
                                    | Role::Have
                                    | Role::Contains
                                    | Role::StartsWith
                            )
                        )
                })
            }
            _ => false,
        }
    }

    /// One thing to show; `false` when there is none here.
    fn item(&mut self, head: &mut Head) -> Read<bool> {
        let Some(atom) = self.peek() else { return Ok(false) };
        match &atom.what {
            What::Role(Role::Count) => {
                self.at += 1;
                self.count_item(head)?;
                Ok(true)
            }
            What::Role(Role::Everything) => {
                self.at += 1;
                self.skip(&[Role::Of, Role::Preposition, Role::Determiner]);
                head.items.push(Item::Everything);
                if head.main.is_none() {
                    head.main = Some(self.noun(true)?);
                }
                Ok(true)
            }
            What::Role(Role::Common(end)) => {
                // `the most common hometown`
                let end = *end;
                self.at += 1;
                let Some(next) = self.peek().filter(|next| next.columns().next().is_some()) else {
                    return Err(self.trouble());
                };
                let _ = next;
                self.attribute(head, Vec::new())?;
                self.common(head, end)?;
                Ok(true)
            }
            What::Role(Role::Aggregate(_) | Role::Superlative(..)) if self.noun_ahead().is_none() => {
                let aggregates = self.aggregates();
                if aggregates.is_empty() {
                    return Err(self.trouble());
                }
                self.attribute(head, aggregates)?;
                Ok(true)
            }
            What::Role(Role::Superlative(..) | Role::Top | Role::Each) | What::Number(_)
                if self.noun_ahead().is_some() =>
            {
                self.entity(head)?;
                Ok(true)
            }
            What::Name(_) if self.names_table(self.at) => {
                self.entity(head)?;
                Ok(true)
            }
            What::Name(_)
                if atom.columns().next().is_some()
                    || atom.table().is_some_and(|(table, ..)| self.owned_column(self.at, table).is_some()) =>
            {
                self.attribute(head, Vec::new())?;
                Ok(true)
            }
            What::Name(_) | What::Text(_) | What::Unknown if self.noun_ahead().is_some() => {
                self.entity(head)?;
                Ok(true)
            }
            // `Kyle's id`
            What::Name(_)
                if atom.values().next().is_some()
                    && self.ahead(1).is_some_and(|next| next.what == What::Possessive) =>
            {
                head.owners.push(self.at);
                self.at += 2;
                self.attribute(head, Vec::new())?;
                Ok(true)
            }
            _ if !head.items.is_empty() => Ok(false),
            _ => Err(self.trouble()),
        }
    }

    fn aggregates(&mut self) -> Vec<Aggregate> {
        let mut found = Vec::new();
        loop {
            while self.skip(&[Role::And, Role::Determiner, Role::Of])
                || (!found.is_empty() && self.peek().is_some_and(|atom| atom.what == What::Pause) && self.step())
            {
            }
            match self.role() {
                Some(Role::Aggregate(aggregate)) => found.push(aggregate),
                Some(Role::Superlative(End::Top, Hint::None | Hint::Size)) => found.push(Aggregate::Max),
                Some(Role::Superlative(End::Bottom, Hint::None | Hint::Size)) => found.push(Aggregate::Min),
                _ => return found,
            }
            self.at += 1;
        }
    }

    fn count_item(&mut self, head: &mut Head) -> Read<()> {
        self.skip(&[Role::Determiner, Role::Filler, Role::Count, Role::Of]);
        let distinct = self.skip(&[Role::Distinct]);
        self.skip(&[Role::Determiner, Role::Of]);
        if self.noun_ahead().is_some() {
            let scope = self.noun(false)?;
            if scope.rank.is_some() {
                return Err(self.trouble());
            }
            head.items.push(Item::Count(scope));
            return Ok(());
        }
        // `how many does it have`
        let bare = self
            .peek()
            .is_none_or(|atom| matches!(atom.what, What::Stop | What::Role(Role::Do | Role::Have | Role::Be)));
        if bare && !head.items.is_empty() || bare && head.main.is_some() {
            head.items.push(Item::Rows);
            return Ok(());
        }
        let _ = distinct;
        self.different(head)
    }

    fn different(&mut self, head: &mut Head) -> Read<()> {
        let Some(atom) = self.peek() else { return Err(self.trouble()) };
        let owner = atom
            .table()
            .map(|(table, ..)| table)
            .and_then(|table| self.owned_column(self.at, table).map(|at| (table, at)));
        let (owner, at) = match owner {
            Some((table, at)) => (Some(table), at),
            None if atom.columns().next().is_some() => (None, self.at),
            None => return Err(self.trouble()),
        };
        head.items.push(Item::Different { atom: at, owner });
        self.at = at + 1;
        Ok(())
    }

    fn attribute(&mut self, head: &mut Head, aggregates: Vec<Aggregate>) -> Read<()> {
        if aggregates.is_empty() && matches!(head.items.last(), Some(Item::Different { .. })) {
            return self.different(head);
        }
        let Some(atom) = self.peek() else { return Err(self.trouble()) };
        let owned = atom.table().and_then(|(table, ..)| self.owned_column(self.at, table).map(|at| (table, at)));
        let (owner, at) = match owned {
            Some((table, at)) => (Some(table), at),
            None if atom.columns().next().is_some() => (None, self.at),
            None => return Err(self.trouble()),
        };
        head.items.push(Item::Attribute { atom: at, owner, aggregates, distinct: head.distinct });
        self.at = at + 1;
        Ok(())
    }

    fn entity(&mut self, head: &mut Head) -> Read<()> {
        let scope = self.noun(true)?;
        match &head.main {
            None => {
                head.items.push(Item::Entity(scope.table));
                head.main = Some(scope);
            }
            Some(_) if scope.conds.is_empty() && scope.rank.is_none() => head.items.push(Item::Entity(scope.table)),
            Some(_) => return Err(self.trouble()),
        }
        Ok(())
    }

    /// `the most common hometown of teachers`
    fn common(&mut self, head: &mut Head, end: End) -> Read<()> {
        while self.owner(head)? {}
        let mut scope = self.main(head)?;
        scope.rank = Some(super::Rank { by: super::RankBy::Own, end, limit: 1 });
        head.main = Some(scope);
        Ok(())
    }

    /// `of all singers`, `for each stadium`: whose the things shown are.
    fn owner(&mut self, head: &mut Head) -> Read<bool> {
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
                Item::Attribute { atom, owner: None, .. } | Item::Different { atom, owner: None } => Some(*atom),
                _ => None,
            })
            .collect();
        let fits = |table: TableId| unowned.iter().all(|&at| self.fit_in(&self.atoms[at], table) > 0);
        match (found, &head.main) {
            (Some(table), None)
                if !unowned.is_empty()
                    && (of || fits(table))
                    && !(matches!(head.items.last(), Some(Item::Count(_)))) =>
            {
                head.main = Some(self.noun(true)?);
                Ok(true)
            }
            (Some(table), Some(main))
                if of && table == main.table && matches!(head.items.last(), Some(Item::Attribute { .. })) =>
            {
                let more = self.noun(true)?;
                if !more.conds.is_empty() || more.rank.is_some() {
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

    /// The rows the question is about.
    fn main(&self, head: &mut Head) -> Read<Scope> {
        if let Some(scope) = head.main.take() {
            return Ok(scope);
        }
        let mut attributes = Vec::new();
        let mut owner = None;
        for item in &head.items {
            match item {
                Item::Attribute { atom, owner: named, .. } | Item::Different { atom, owner: named } => {
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
                Item::Count(scope) => Some(scope.clone()),
                _ => None,
            }) {
                return Ok(scope);
            }
            return Err(self.trouble());
        }
        Ok(Scope::new(self.inferred(&attributes)?, true))
    }

    /// The table that has all these attributes: one that the question names, else the only one.
    fn inferred(&self, attributes: &[usize]) -> Read<TableId> {
        let worst =
            |table: TableId| attributes.iter().map(|&at| self.fit_in(&self.atoms[at], table)).min().unwrap_or(0);
        let mut named: Vec<(TableId, u8)> = Vec::new();
        for atom in self.atoms {
            if let Some((table, _, fit)) = atom.table() {
                if fit >= 5 && worst(table) > 0 && named.iter().all(|(known, _)| *known != table) {
                    named.push((table, worst(table)));
                }
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

    /// The only column asked for, if it is one of the rows' own.
    fn asked_column(&self, head: &Head, scope: &Scope) -> Read<Option<crate::provider::offline::schema::Col>> {
        match head.items.as_slice() {
            [Item::Attribute { atom, .. }] => self.column_in(&self.atoms[*atom], scope.table),
            _ => Ok(None),
        }
    }

    /// More to show: `Give me the shop names.`, `, and how many does it have`.
    fn more(&mut self, head: &mut Head, scope: &mut Scope) -> Read<()> {
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
            if self.role().is_some_and(|role| matches!(role, Role::OrderBy | Role::Each)) {
                self.modifiers(scope)?;
            }
            self.skip(&[
                Role::Filler,
                Role::Light,
                Role::Preposition,
                Role::Determiner,
                Role::Have,
                Role::Do,
                Role::Be,
            ]);
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
}
