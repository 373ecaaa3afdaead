//! From what was read to a plan that can be written: outputs, joins, groups, order.

use super::rank::ranked_conds;
use super::{Item, RankBy, Read, Reader, Scope};
use crate::provider::offline::atoms::Atom;
use crate::provider::offline::dates;
use crate::provider::offline::lexicon::{End, Role};
use crate::provider::offline::path;
use crate::provider::offline::plan::{Aggregate, Cond, Group, OrderKey, Output, Plan, Related, Step};
use crate::provider::offline::schema::{Col, Key, TableId};
use crate::provider::offline::trouble::Trouble;

impl Reader<'_> {
    /// Puts a plan together.
    pub(super) fn finish(&self, scope: &Scope, items: &[Item]) -> Read<Plan> {
        let mut plan = Plan {
            root: scope.table,
            outputs: Vec::new(),
            distinct: scope.distinct,
            conds: scope.conds.clone(),
            joined: scope.joined.clone(),
            groups: scope.groups.clone(),
            having: None,
            orders: scope.orders.clone(),
            limit: None,
            counts_joined: false,
        };
        let bare = matches!(items, [Item::Entity(table)] if *table == scope.table);
        if bare && !scope.groups.is_empty() && !matches!(self.atoms.first().and_then(Atom::role), Some(Role::Opens)) {
            // `accounts per month`
            plan.outputs.push(Output::Rows);
        } else {
            for item in items {
                self.output(&mut plan, item)?;
            }
        }
        if plan.outputs.is_empty() {
            return Err(self.trouble());
        }
        // `how many accounts and plans are there?`: two counts are two questions.
        if plan.outputs.iter().filter(|output| **output == Output::Rows).count() > 1 {
            return Err(Trouble::Decline("I can give one count at a time. Please ask for each of them.".to_owned()));
        }
        self.absent(&mut plan, scope);
        self.rank(&mut plan, scope)?;
        self.reroot(&mut plan)?;
        self.together(&mut plan, scope)?;
        order_shown(&mut plan)?;
        self.share_rows(&mut plan)?;
        self.count_owners(&mut plan)?;
        let named = self.atoms.iter().any(|atom| atom.table().is_some_and(|(table, ..)| table == plan.root));
        // `list the countries`: no rows are spoken of, only the values.
        if let Some(col) =
            scope.shared.filter(|col| !named && plan.orders.is_empty() && plan.outputs == [Output::Column(*col)])
        {
            plan.distinct = true;
            plan.conds.push(Cond::Known(col));
        }
        let columns = plan.outputs.iter().all(|output| matches!(output, Output::Column(_) | Output::All));
        plan.distinct = plan.distinct && columns && plan.groups.is_empty();
        Ok(plan)
    }

    fn output(&self, plan: &mut Plan, item: &Item) -> Read<()> {
        match item {
            Item::Attribute { atom, owner, aggregates, distinct } => {
                let col = self.attribute_column(plan.root, *atom, *owner)?;
                plan.distinct |= *distinct;
                if aggregates.is_empty() {
                    plan.outputs.push(Output::Column(col));
                }
                for aggregate in aggregates {
                    let column = self.schema.column(col);
                    if matches!(aggregate, Aggregate::Average | Aggregate::Sum)
                        && (!(column.is_number() || column.is_numeric_text()) || self.schema.is_key(col))
                    {
                        return Err(Trouble::Decline(format!(
                            "{} holds no numbers to take the {} of.",
                            self.schema.label(col),
                            aggregate.word()
                        )));
                    }
                    plan.outputs.push(Output::Aggregate(*aggregate, col));
                }
            }
            Item::Different { atom, owner, said } => {
                let col = self.attribute_column(plan.root, *atom, *owner)?;
                plan.outputs.push(if *said { Output::Different(col) } else { self.how_many(col)? });
            }
            Item::Entity(table) => {
                let full = self.full_name(*table);
                if full.is_empty() {
                    plan.outputs.push(Output::Column(self.shown(*table)?));
                }
                plan.outputs.extend(full.into_iter().map(Output::Column));
            }
            Item::Column(col) => plan.outputs.push(Output::Column(*col)),
            Item::Everything => plan.outputs.push(Output::All),
            Item::Rows => plan.outputs.push(Output::Rows),
            Item::Bucket(unit) => {
                let columns = dates::columns(self.schema, plan.root);
                let used = plan.conds.iter().find_map(|cond| match cond {
                    Cond::During(col, ..) => Some(*col),
                    _ => None,
                });
                let col = match used {
                    Some(col) => Some(col),
                    None => self.date_column(plan.root, &self.schema.tables[plan.root].name)?,
                };
                let Some(col) = col.filter(|col| columns.contains(col)) else {
                    return Err(Trouble::Stuck(self.schema.tables[plan.root].name.clone()));
                };
                plan.outputs.push(Output::Bucket(col, *unit));
            }
            Item::Count(counted) => {
                plan.outputs.push(Output::Rows);
                let conds = ranked_conds(counted, &self.schema.tables[counted.table].name)?;
                if counted.table == plan.root {
                    let fresh: Vec<Cond> = conds.into_iter().filter(|cond| !plan.conds.contains(cond)).collect();
                    plan.conds.extend(fresh);
                } else {
                    let path = self.way(plan.root, counted.table, None, &self.schema.tables[counted.table].name)?;
                    if plan.joined.is_some() {
                        return Err(Trouble::Stuck(self.schema.tables[counted.table].name.clone()));
                    }
                    plan.joined = Some(Related { table: counted.table, path, conds, count: None });
                    plan.counts_joined = true;
                }
            }
        }
        Ok(())
    }

    /// `how many countries` counts different ones; `how many seats` may mean their total.
    fn how_many(&self, col: Col) -> Read<Output> {
        if !self.schema.column(col).is_number() || self.schema.is_key(col) {
            return Ok(Output::Different(col));
        }
        let label = self.schema.label(col);
        let (total, different) =
            (format!("the total of {label}"), format!("the number of different values of {label}"));
        if self.chosen.contains(&total) {
            return Ok(Output::Aggregate(Aggregate::Sum, col));
        }
        if self.chosen.contains(&different) {
            return Ok(Output::Different(col));
        }
        Err(Trouble::Ask { question: "What is to be counted?".to_owned(), choices: vec![total, different] })
    }

    fn attribute_column(&self, root: TableId, at: usize, owner: Option<TableId>) -> Read<Col> {
        let atom = &self.atoms[at];
        let found = match owner {
            Some(table) => self.column_in(atom, table)?,
            None => self.column_near(atom, root)?,
        };
        let stray = |col: &Col| {
            owner.is_none() && atom.fit_in(col.table) >= 9 && self.is_stray(*col, root) && atom.end - atom.first == 1
        };
        match found {
            // An employee without a `name` is not called by the department's.
            Some(col) if stray(&col) => Err(Trouble::Decline(format!(
                "{} has no column “{}”: please say which one to show.",
                self.schema.tables[root].name, atom.raw
            ))),
            Some(col) => Ok(col),
            None => Err(Trouble::Stuck(atom.raw.clone())),
        }
    }

    /// First and last name, where rows are named by both.
    fn full_name(&self, table: TableId) -> Vec<Col> {
        let named =
            |wanted: &str| self.schema.columns(table).find(|&col| self.schema.column(col).words == [wanted, "name"]);
        match (named("first"), named("last")) {
            (Some(first), Some(last)) if self.schema.display(table).is_none_or(|col| col == first || col == last) => {
                vec![first, last]
            }
            _ => Vec::new(),
        }
    }

    /// The column that names a table's rows.
    fn shown(&self, table: TableId) -> Read<Col> {
        self.schema.display(table).or_else(|| self.schema.identity(table)).ok_or_else(|| {
            Trouble::Decline(format!(
                "I don't know which column names the rows of {}. Please say which to show.",
                self.schema.tables[table].name
            ))
        })
    }

    fn rank(&self, plan: &mut Plan, scope: &Scope) -> Read<()> {
        if let Some(having) = scope.having {
            self.group_by_shown(plan)?;
            plan.having = Some(having);
        }
        let Some(rank) = &scope.rank else { return Ok(()) };
        if scope.having.is_some() || !plan.groups.is_empty() || !plan.orders.is_empty() {
            return Err(Trouble::Stuck(self.schema.tables[plan.root].name.clone()));
        }
        let descending = rank.end == End::Top;
        plan.limit = Some(rank.limit);
        match &rank.by {
            RankBy::Column(col) => {
                if plan.outputs.iter().any(|output| !matches!(output, Output::Column(_) | Output::All)) {
                    return Err(Trouble::Stuck(self.schema.label(*col)));
                }
                plan.orders.push((OrderKey::Column(*col), descending));
                if !descending && col.table == plan.root {
                    plan.conds.push(Cond::Known(*col));
                }
            }
            RankBy::Related(related) => {
                match &plan.joined {
                    Some(joined) if joined.table != related.table => {
                        return Err(Trouble::Stuck(self.schema.tables[related.table].name.clone()));
                    }
                    _ => plan.joined = Some(related.clone()),
                }
                plan.counts_joined = true;
                // `the language spoken in the most countries`: what rows share is ranked, not each row.
                match scope.shared.filter(|col| !self.is_row(*col) && self.schema.display(col.table) != Some(*col)) {
                    Some(col) => plan.groups.push(Group::Column(col)),
                    None => plan.groups.push(Group::Row(plan.root)),
                }
                plan.orders.push((OrderKey::Count, descending));
            }
            RankBy::Own => {
                self.group_by_shown(plan)?;
                plan.orders.push((OrderKey::Count, descending));
            }
            RankBy::Aggregate(aggregate, col) => {
                if col.table == plan.root {
                    return Err(Trouble::Stuck(self.schema.label(*col)));
                }
                plan.groups.push(Group::Row(plan.root));
                plan.orders.push((OrderKey::Aggregate(*aggregate, *col), descending));
            }
        }
        Ok(())
    }

    /// `countries that play no …`: a value is left out when any of its rows is in the way, not row by row.
    fn absent(&self, plan: &mut Plan, scope: &Scope) {
        let Some(col) = scope.shared.filter(|col| plan.outputs == [Output::Column(*col)]) else { return };
        if self.is_row(col)
            || self.schema.display(col.table) == Some(col)
            || scope.rank.is_some()
            || scope.having.is_some()
        {
            return;
        }
        let mut any = false;
        for cond in &mut plan.conds {
            if let Cond::Not(inner) = cond
                && matches!(inner.as_ref(), Cond::Related(related) if related.table != col.table)
            {
                let same = Step { key: Key { from: col, to: col }, forward: true };
                let positive = std::mem::replace(inner.as_mut(), Cond::Any(Vec::new()));
                **inner =
                    Cond::Related(Related { table: col.table, path: vec![same], conds: vec![positive], count: None });
                any = true;
            }
        }
        plan.distinct |= any;
    }

    /// Groups by the plain columns shown, where they are no row's own name or key.
    fn group_by_shown(&self, plan: &mut Plan) -> Read<()> {
        let mut groups = Vec::new();
        for output in &plan.outputs {
            match output {
                Output::Column(col) if col.table == plan.root && !self.is_row(*col) => groups.push(Group::Column(*col)),
                Output::Bucket(col, unit) => groups.push(Group::Bucket(*col, *unit)),
                Output::Rows => {}
                _ => return Err(Trouble::Stuck(self.schema.tables[plan.root].name.clone())),
            }
        }
        if groups.is_empty() {
            return Err(Trouble::Stuck(self.schema.tables[plan.root].name.clone()));
        }
        plan.groups = groups;
        Ok(())
    }

    /// Whether a column stands for its row: then each value is its own group.
    fn is_row(&self, col: Col) -> bool {
        self.schema.identity(col.table) == Some(col)
    }

    /// `the total bonus of employees in Bath`: the rows that are summed come first, whoever they belong to.
    fn reroot(&self, plan: &mut Plan) -> Read<()> {
        let mut table = None;
        for output in &plan.outputs {
            match output {
                Output::Aggregate(_, col) | Output::Different(col) if table.is_none_or(|known| known == col.table) => {
                    table = Some(col.table);
                }
                _ => return Ok(()),
            }
        }
        let Some(table) = table.filter(|table| *table != plan.root) else { return Ok(()) };
        if !plan.groups.is_empty() || plan.joined.is_some() || plan.limit.is_some() {
            return Ok(());
        }
        let path = self.way(table, plan.root, None, &self.schema.tables[table].name)?;
        let conds = std::mem::take(&mut plan.conds);
        let own =
            |cond: &Cond| matches!(cond, Cond::Related(related) if related.table == table && related.count.is_none());
        let (mut inside, outside): (Vec<Cond>, Vec<Cond>) = conds.into_iter().partition(own);
        for cond in inside.drain(..) {
            if let Cond::Related(related) = cond {
                plan.conds.extend(related.conds);
            }
        }
        if !outside.is_empty() {
            plan.conds.push(Cond::Related(Related { table: plan.root, path, conds: outside, count: None }));
        }
        plan.root = table;
        Ok(())
    }

    /// Settles what rows are put together by.
    fn together(&self, plan: &mut Plan, scope: &Scope) -> Read<()> {
        let aggregated = plan
            .outputs
            .iter()
            .any(|output| matches!(output, Output::Rows | Output::Aggregate(..) | Output::Different(_)));
        let ranked = plan.orders.iter().any(|(key, _)| matches!(key, OrderKey::Count | OrderKey::Aggregate(..)));
        let stuck = || Trouble::Stuck(self.schema.tables[plan.root].name.clone());
        if !aggregated && !ranked && plan.having.is_none() {
            if plan.groups.iter().any(|group| *group != Group::Row(plan.root)) {
                return Err(stuck());
            }
            plan.groups.clear();
            return Ok(());
        }
        let bare: Vec<Col> = plan
            .outputs
            .iter()
            .filter_map(|output| match output {
                Output::Column(col) => Some(*col),
                _ => None,
            })
            .collect();
        if plan.groups.is_empty() && (!bare.is_empty() || (scope.each && plan.joined.is_some())) {
            if plan.joined.is_some() {
                plan.groups.push(Group::Row(plan.root));
            } else if let ([col], true) = (bare.as_slice(), plan.outputs.contains(&Output::Rows)) {
                if self.is_row(*col) || self.schema.display(col.table) == Some(*col) {
                    return Err(stuck());
                }
                plan.groups.push(Group::Column(*col));
            } else {
                return Err(stuck());
            }
        }
        if ranked && plan.groups.is_empty() {
            return Err(stuck());
        }
        if plan.outputs.contains(&Output::All) {
            return Err(stuck());
        }
        for group in plan.groups.clone().into_iter().rev() {
            match group {
                Group::Column(col) if !bare.contains(&col) => plan.outputs.insert(0, Output::Column(col)),
                Group::Row(table) if !bare.iter().any(|col| col.table == table) => {
                    if table == plan.root && plan.joined.is_none() && !ranked {
                        return Err(stuck());
                    }
                    plan.outputs.insert(0, Output::Column(self.shown(table)?));
                }
                Group::Bucket(col, unit) if !plan.outputs.contains(&Output::Bucket(col, unit)) => {
                    plan.outputs.insert(0, Output::Bucket(col, unit));
                    if plan.orders.is_empty() {
                        plan.orders.push((OrderKey::Bucket(col, unit), false));
                    }
                }
                _ => {}
            }
        }
        let settled = |col: &Col| {
            plan.groups.iter().any(|group| match group {
                Group::Column(known) => known == col,
                Group::Row(table) => *table == col.table,
                Group::Bucket(..) => false,
            })
        };
        if bare.iter().all(settled) { Ok(()) } else { Err(stuck()) }
    }

    /// Where grouping joins several rows to one counted, each is still counted once.
    fn count_owners(&self, plan: &mut Plan) -> Read<()> {
        let counted = |item: &Output| *item == Output::Rows;
        if plan.counts_joined || !plan.outputs.iter().any(counted) {
            return Ok(());
        }
        let mut many = plan.joined.as_ref().is_some_and(|joined| joined.path.iter().any(|step| !step.forward));
        for group in &plan.groups {
            let table = match group {
                Group::Column(col) | Group::Bucket(col, _) => col.table,
                Group::Row(table) => *table,
            };
            if table != plan.root && plan.joined.as_ref().is_none_or(|joined| joined.table != table) {
                let path = self.way(plan.root, table, None, &self.schema.tables[table].name)?;
                many |= path.iter().any(|step| !step.forward);
            }
        }
        if many {
            let Some(identity) = self.schema.identity(plan.root) else {
                return Err(Trouble::Stuck(self.schema.tables[plan.root].name.clone()));
            };
            for output in &mut plan.outputs {
                if counted(output) {
                    *output = Output::Different(identity);
                }
            }
            if plan.having.is_some() || plan.orders.iter().any(|(key, _)| *key == OrderKey::Count) {
                return Err(Trouble::Stuck(self.schema.tables[plan.root].name.clone()));
            }
        }
        Ok(())
    }

    /// Rows of another table that are shown must be those the conditions speak of, not any others.
    fn share_rows(&self, plan: &mut Plan) -> Read<()> {
        let shown: Vec<TableId> = plan
            .outputs
            .iter()
            .filter_map(|output| match output {
                Output::Column(col) | Output::Aggregate(_, col) => Some(col.table),
                _ => None,
            })
            .chain(plan.orders.iter().filter_map(|(key, _)| match key {
                OrderKey::Column(col) | OrderKey::Aggregate(_, col) => Some(col.table),
                _ => None,
            }))
            .filter(|table| *table != plan.root)
            .collect();
        let grouped: Vec<TableId> = plan
            .groups
            .iter()
            .filter_map(|group| match group {
                Group::Column(col) | Group::Bucket(col, _) if col.table != plan.root => Some(col.table),
                _ => None,
            })
            .collect();
        for table in &shown {
            self.way(plan.root, *table, None, &self.schema.tables[*table].name)?;
        }
        if let Some(table) = shown.iter().find(|table| path::several(self.schema, plan.root, **table)) {
            return Err(Trouble::Stuck(self.schema.tables[*table].name.clone()));
        }
        let mut merged = false;
        while let Some(place) = plan.conds.iter().position(|cond| {
            matches!(cond, Cond::Related(related) if shown.contains(&related.table) || grouped.contains(&related.table) || plan.joined.as_ref().is_some_and(|joined| joined.table == related.table))
        }) {
            let Cond::Related(related) = plan.conds.remove(place) else { break };
            // Counted rows are not silently narrowed to those of a condition, nor two conditions' rows taken for one.
            let counted = plan.counts_joined && !related.conds.is_empty();
            if related.count.is_some() || counted || std::mem::replace(&mut merged, true) {
                return Err(Trouble::Stuck(self.schema.tables[related.table].name.clone()));
            }
            match &mut plan.joined {
                Some(joined) if joined.table == related.table => joined.conds.extend(related.conds),
                Some(_) => return Err(Trouble::Stuck(self.schema.tables[related.table].name.clone())),
                None => plan.joined = Some(related),
            }
        }
        Ok(())
    }
}

/// Settles an order that only gave its direction.
fn order_shown(plan: &mut Plan) -> Read<()> {
    let first = plan.outputs.iter().find_map(|output| match output {
        Output::Column(col) => Some(*col),
        _ => None,
    });
    for (key, _) in &mut plan.orders {
        if *key == OrderKey::Shown {
            let Some(col) = first else { return Err(Trouble::Stuck("order".to_owned())) };
            *key = OrderKey::Column(col);
        }
        if *key == OrderKey::Count && plan.groups.is_empty() {
            return Err(Trouble::Stuck("order".to_owned()));
        }
    }
    Ok(())
}
