//! The head of a question: what is asked for, and of which rows.

use super::literal::undated;
use super::{Item, Read, Reader, Scope};
use crate::provider::offline::atoms::{Atom, What};
use crate::provider::offline::lexicon::{End, Hint, Role};
use crate::provider::offline::plan::{Aggregate, Plan};
use crate::provider::offline::schema::{Col, name_words};
use crate::provider::offline::span::Unit;
use crate::provider::offline::trouble::Trouble;

/// What the head has given so far.
#[derive(Default)]
pub(super) struct Head {
    pub(super) items: Vec<Item>,
    pub(super) main: Option<Scope>,
    pub(super) distinct: bool,
    /// Where `for each …` stood before the question proper.
    pub(super) each: Vec<usize>,
    /// Where a time phrase stood before it.
    pub(super) times: Vec<usize>,
    /// `where` or `when` opened the question.
    pub(super) asks: Option<Role>,
    /// `top 5`, of a value that rows share.
    pub(super) top_of: Option<u64>,
    /// Values that own what is shown.
    pub(super) owners: Vec<usize>,
}

impl Reader<'_> {
    /// Reads the whole question.
    pub(super) fn question(&mut self) -> Read<Plan> {
        let mut head = Head::default();
        if self.counts_two_tables() {
            return Err(Trouble::Decline("I can give one count at a time. Please ask for each of them.".to_owned()));
        }
        self.prefix(&mut head)?;
        self.items(&mut head)?;
        let mut scope = self.main(&mut head)?;
        scope.top = true;
        scope.distinct |= head.distinct;
        scope.top_of = scope.top_of.or(head.top_of);
        let here = self.at;
        let (times, before) = (std::mem::take(&mut head.times), scope.conds.len());
        self.times(&mut scope, &times)?;
        let placed = before..scope.conds.len();
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
        // `In June 2026, how many accounts did not churn?`: the time is that of what happened, which is said only now.
        let happened = scope.conds.iter().filter_map(undated).any(|table| Some(table) == self.happened);
        if happened && !times.is_empty() && scope.conds.len() > placed.end {
            scope.conds.drain(placed);
            self.date = None;
            self.times(&mut scope, &times)?;
        }
        self.more(&mut head, &mut scope)?;
        match head.asks {
            // `who` asks for rows, not for a column.
            Some(Role::Who) if !matches!(head.items.first(), Some(Item::Entity(_))) => {
                return Err(self.trouble_at(&self.atoms[0]));
            }
            Some(role @ (Role::Where | Role::When)) => self.place_or_time(&mut head, &scope, role)?,
            _ => {}
        }
        self.finish(&scope, &head.items)
    }

    /// `how many accounts and plans are there?`
    fn counts_two_tables(&self) -> bool {
        let plain: Vec<&Atom> = self
            .atoms
            .iter()
            .filter(|atom| !matches!(atom.role(), Some(Role::Determiner | Role::Filler | Role::Distinct)))
            .collect();
        plain.windows(4).any(|four| {
            let two = (four[1].table(), four[3].table());
            four[0].role() == Some(Role::Count)
                && four[2].role() == Some(Role::And)
                && matches!(two, (Some((first, ..)), Some((second, ..))) if first != second)
        })
    }

    /// The time phrases at these places.
    fn times(&mut self, scope: &mut Scope, places: &[usize]) -> Read<()> {
        for &at in places {
            if let What::Time(period) = &self.atoms[at].what {
                self.time(scope, period, &self.atoms[at].raw)?;
            }
        }
        Ok(())
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
                    self.skip_to_pause()?;
                }
                Some(What::Role(Role::Each)) if self.at == 0 => {
                    head.each.push(self.at);
                    self.skip_to_pause()?;
                }
                Some(What::Pause) if self.at > 0 => self.at += 1,
                _ => return Ok(()),
            }
        }
    }

    fn skip_to_pause(&mut self) -> Read<()> {
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
    pub(super) fn items(&mut self, head: &mut Head) -> Read<()> {
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

    pub(super) fn step(&mut self) -> bool {
        self.at += 1;
        true
    }

    fn opening(&mut self, head: &mut Head) {
        loop {
            match self.role() {
                Some(Role::Distinct) => head.distinct = true,
                Some(Role::Sort) => self.sorting = true,
                Some(role @ (Role::Where | Role::When | Role::Who)) if head.items.is_empty() => head.asks = Some(role),
                Some(Role::Do) if head.asks.is_some() => {}
                Some(Role::Each) if self.noun_ahead().is_none() => {}
                Some(
                    Role::Opens
                    | Role::Which
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
            What::Role(Role::Top) if self.noun_ahead().is_none() => {
                // `top 5 countries`
                self.at += 1;
                let Some(limit) = super::noun::limit(self.number())? else { return Err(self.trouble()) };
                self.at += 1;
                self.attribute(head, Vec::new())?;
                head.top_of = Some(limit);
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
            What::Name(_)
            | What::Text(_)
            | What::Unknown
            | What::Number(_)
            | What::Role(Role::Superlative(..) | Role::Top | Role::Each)
                if self.noun_ahead().is_some() =>
            {
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
            What::Unknown if head.items.is_empty() && Unit::named(&atom.raw.to_lowercase()).is_some() => {
                // `which month had the most orders`
                head.items.extend(Unit::named(&atom.raw.to_lowercase()).map(Item::Bucket));
                self.at += 1;
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
            if scope.rank.is_some() || scope.top_of.is_some() {
                return Err(self.trouble());
            }
            head.items.push(Item::Count(Box::new(scope)));
            return Ok(());
        }
        // `how many upgrades`: what happened, by its name in the data.
        if let Some(atom) = self.peek().filter(|atom| atom.table().is_none() && atom.columns().next().is_none()) {
            // A kind of row (`upgraded`), not the name of one (`Lamp`: how many of it is another question).
            let is_kind = |col: &Col| {
                self.schema.column(*col).about.samples_complete && self.schema.display(col.table) != Some(*col)
            };
            let places: Vec<Col> = atom.values().map(|(col, _)| col).filter(is_kind).collect();
            if atom.raw.ends_with('s')
                && !atom.raw.starts_with(char::is_uppercase)
                && let Some(col) = self.one_of(&atom.raw, &places)?
            {
                let mut scope = Scope::new(col.table, false);
                self.literal(&mut scope, self.at, false, Some(col))?;
                self.at += 1;
                head.items.push(Item::Count(Box::new(scope)));
                return Ok(());
            }
        }
        // `how many does it have`
        let bare = self
            .peek()
            .is_none_or(|atom| matches!(atom.what, What::Stop | What::Role(Role::Do | Role::Have | Role::Be)));
        if bare && (!head.items.is_empty() || head.main.is_some()) {
            head.items.push(Item::Rows);
            return Ok(());
        }
        self.different(head, distinct)
    }

    fn different(&mut self, head: &mut Head, said: bool) -> Read<()> {
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
        head.items.push(Item::Different { atom: at, owner, said });
        self.at = at + 1;
        Ok(())
    }

    fn attribute(&mut self, head: &mut Head, aggregates: Vec<Aggregate>) -> Read<()> {
        if aggregates.is_empty() && matches!(head.items.last(), Some(Item::Different { .. })) {
            return self.different(head, true);
        }
        let Some(atom) = self.peek() else { return Err(self.trouble()) };
        if self.names_table(self.at) {
            return Err(self.trouble());
        }
        let inner = atom.table().and_then(|(table, ..)| self.owned_column(self.at, table).map(|at| (table, at)));
        let (owner, at) = match inner {
            Some((table, at)) => (Some(table), at),
            None if atom.columns().next().is_some() => (None, self.at),
            None => return Err(self.trouble()),
        };
        if let Some((_, whole)) = self.atoms[at].raw.rsplit_once(" of ") {
            self.name_of(head, whole);
        }
        head.items.push(Item::Attribute { atom: at, owner, aggregates, distinct: head.distinct });
        self.at = at + 1;
        Ok(())
    }

    /// `the name and the release year of the song`: the name is the song's too, where there is such a column.
    fn name_of(&self, head: &mut Head, whole: &str) {
        for item in &mut head.items {
            let Item::Attribute { atom, owner: None, aggregates, .. } = item else { continue };
            let mut words = name_words(&self.atoms[*atom].raw);
            words.extend(name_words(whole));
            words.sort_unstable();
            let same = |col: &Col| {
                let mut name = self.schema.column(*col).words.clone();
                name.sort_unstable();
                name == words
            };
            let found = (0..self.schema.tables.len()).flat_map(|table| self.schema.columns(table)).find(same);
            if let Some(col) = found.filter(|_| aggregates.is_empty()) {
                *item = Item::Column(col);
            }
        }
    }

    fn entity(&mut self, head: &mut Head) -> Read<()> {
        let scope = self.noun(true)?;
        match &head.main {
            None => {
                head.items.push(Item::Entity(scope.table));
                head.main = Some(scope);
            }
            Some(_) if scope.conds.is_empty() && scope.rank.is_none() && scope.top_of.is_none() => {
                head.items.push(Item::Entity(scope.table));
            }
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
}
