//! A plan written as one SELECT.

use super::dates;
use super::plan::{Cond, Group, Literal, Op, OrderKey, Output, Plan, Related, Step};
use super::schema::{Col, Schema, TableId};
use super::span::Unit;

/// A text as a SQL literal.
pub(super) fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\0', "").replace('\'', "''"))
}

/// Writes a plan; `None` when some part of it can't be told in SQL.
pub(super) fn write(schema: &Schema, plan: &Plan) -> Option<String> {
    if let Some(short) = distinct_owners(schema, plan) {
        return Some(short);
    }
    let mut writer = Writer::new(schema, !needs_names(plan));
    let root = writer.instance(plan.root);
    let mut from = writer.table(root);
    let mut joins = Vec::new();
    if let Some(joined) = &plan.joined {
        writer.join(root, &joined.path, &mut joins);
    }
    for table in plan.tables() {
        if writer.instances.iter().all(|(known, _)| *known != table) {
            let path = super::path::way(schema, plan.root, table, None).ok()?;
            writer.join(root, &path, &mut joins);
        }
    }
    for (instance, on) in joins {
        from = format!("{from} JOIN {} ON {on}", writer.table(instance));
    }
    if let Some(joined) = plan.joined.as_ref().filter(|_| plan.counts_joined) {
        writer.count = writer.counted(&joined.path, writer.find(joined.table)?)?;
    }
    let mut conds = Vec::new();
    for cond in &plan.conds {
        conds.push(writer.cond(cond, root)?);
    }
    if let Some(joined) = &plan.joined {
        let end = writer.find(joined.table)?;
        for cond in &joined.conds {
            conds.push(writer.cond(cond, end)?);
        }
    }
    let outputs = plan.outputs.iter().map(|output| writer.output(output)).collect::<Option<Vec<_>>>()?.join(", ");
    let mut sql = format!("SELECT {}{outputs} FROM {from}", if plan.distinct { "DISTINCT " } else { "" });
    if !conds.is_empty() {
        sql = format!("{sql} WHERE {}", conds.join(" AND "));
    }
    // A bucket's expression is long: it is named by its place among the outputs.
    let place = |col: Col, unit: Unit| {
        plan.outputs.iter().position(|output| *output == Output::Bucket(col, unit)).map(|place| (place + 1).to_string())
    };
    let mut groups = Vec::new();
    for group in &plan.groups {
        groups.push(match group {
            Group::Column(col) => writer.name(*col)?,
            Group::Row(table) => writer.name(schema.identity(*table).or_else(|| schema.display(*table))?)?,
            Group::Bucket(col, unit) => place(*col, *unit)?,
        });
    }
    if !groups.is_empty() {
        sql = format!("{sql} GROUP BY {}", groups.join(", "));
    }
    if let Some((op, count)) = plan.having {
        sql = format!("{sql} HAVING COUNT(*) {} {count}", op.sql());
    }
    let mut orders = Vec::new();
    for (key, descending) in &plan.orders {
        let key = match key {
            OrderKey::Column(col) => writer.amount(*col)?,
            OrderKey::Count => writer.count.clone(),
            OrderKey::Shown => "1".to_owned(),
            OrderKey::Aggregate(aggregate, col) => format!("{}({})", aggregate.sql(), writer.name(*col)?),
            OrderKey::Bucket(col, unit) => place(*col, *unit)?,
        };
        orders.push(format!("{key}{}", if *descending { " DESC" } else { "" }));
    }
    if !orders.is_empty() {
        sql = format!("{sql} ORDER BY {}", orders.join(", "));
    }
    if let Some(limit) = plan.limit {
        sql = format!("{sql} LIMIT {limit}");
    }
    Some(sql)
}

/// How many rows a plan's list has; `None` where it is one row by its nature.
pub(super) fn length(schema: &Schema, plan: &Plan) -> Option<String> {
    let single = |output: &Output| matches!(output, Output::Rows | Output::Different(_) | Output::Aggregate(..));
    if plan.limit.is_some() || (plan.groups.is_empty() && plan.outputs.iter().any(single)) {
        return None;
    }
    let mut unordered = plan.clone();
    unordered.orders.clear();
    Some(format!("SELECT COUNT(*) FROM ({})", write(schema, &unordered)?))
}

/// `COUNT(DISTINCT account_id)`: rows counted by what points at them, when that is all there is to know of them.
fn distinct_owners(schema: &Schema, plan: &Plan) -> Option<String> {
    let ([Output::Rows], [Cond::Related(Related { table, path, conds, count: None })]) =
        (plan.outputs.as_slice(), plan.conds.as_slice())
    else {
        return None;
    };
    let [step] = path.as_slice() else { return None };
    if step.forward || !plan.groups.is_empty() || plan.joined.is_some() || plan.limit.is_some() {
        return None;
    }
    let mut writer = Writer::new(schema, !conds.iter().any(related));
    let root = writer.instance(*table);
    let conds = conds.iter().map(|cond| writer.cond(cond, root)).collect::<Option<Vec<_>>>()?;
    let mut sql = format!("SELECT COUNT(DISTINCT {}) FROM {}", writer.name(step.near_of(*table))?, writer.table(root));
    if !conds.is_empty() {
        sql = format!("{sql} WHERE {}", conds.join(" AND "));
    }
    Some(sql)
}

impl Step {
    /// The column of this step on the side of `table`.
    fn near_of(self, table: TableId) -> Col {
        if self.key.from.table == table { self.key.from } else { self.key.to }
    }
}

fn related(cond: &Cond) -> bool {
    match cond {
        Cond::Related(_) | Cond::CompareTo(..) => true,
        Cond::Any(conds) | Cond::All(conds) => conds.iter().any(related),
        Cond::Not(cond) => related(cond),
        _ => false,
    }
}

/// Whether more than one table, or one table twice, stands in the statement.
fn needs_names(plan: &Plan) -> bool {
    plan.joined.is_some() || plan.conds.iter().any(related) || plan.tables().iter().any(|table| *table != plan.root)
}

struct Writer<'a> {
    schema: &'a Schema,
    /// Tables in the FROM clause, with the number of their alias; later ones hide earlier ones.
    instances: Vec<(TableId, usize)>,
    next: usize,
    /// Only one table: no aliases.
    alone: bool,
    /// How rows are counted.
    count: String,
}

impl<'a> Writer<'a> {
    fn new(schema: &'a Schema, alone: bool) -> Self {
        Self { schema, instances: Vec::new(), next: 0, alone, count: "COUNT(*)".to_owned() }
    }

    fn instance(&mut self, table: TableId) -> (TableId, usize) {
        self.next += 1;
        self.instances.push((table, self.next));
        (table, self.next)
    }

    fn find(&self, table: TableId) -> Option<(TableId, usize)> {
        self.instances.iter().rev().find(|(known, _)| *known == table).copied()
    }

    fn table(&self, (table, number): (TableId, usize)) -> String {
        let quoted = &self.schema.tables[table].quoted;
        if self.alone { quoted.clone() } else { format!("{quoted} AS t{number}") }
    }

    fn name(&self, col: Col) -> Option<String> {
        self.name_in(col, self.find(col.table)?)
    }

    fn name_in(&self, col: Col, (_, number): (TableId, usize)) -> Option<String> {
        let quoted = &self.schema.tables.get(col.table)?.columns.get(col.column)?.about.quoted;
        Some(if self.alone { quoted.clone() } else { format!("t{number}.{quoted}") })
    }

    /// Adds a way's tables to the FROM clause, as instance and condition.
    fn join(&mut self, from: (TableId, usize), path: &[Step], joins: &mut Vec<((TableId, usize), String)>) {
        let mut here = from;
        for step in path {
            let there = self.instance(step.far().table);
            if let (Some(near), Some(far)) = (self.name_in(step.near(), here), self.name_in(step.far(), there)) {
                joins.push((there, format!("{near} = {far}")));
            }
            here = there;
        }
    }

    fn output(&self, output: &Output) -> Option<String> {
        Some(match output {
            Output::Column(col) => self.name(*col)?,
            Output::Aggregate(aggregate, col) => format!("{}({})", aggregate.sql(), self.amount(*col)?),
            Output::Different(col) => format!("COUNT(DISTINCT {})", self.name(*col)?),
            Output::Rows => self.count.clone(),
            Output::All => "*".to_owned(),
            Output::Bucket(col, unit) => {
                dates::bucket(&self.name(*col)?, dates::format(self.schema.column(*col))?, *unit)?
            }
        })
    }

    /// A column as an amount: numbers that are stored as text compare as numbers.
    fn amount(&self, col: Col) -> Option<String> {
        let name = self.name(col)?;
        let column = self.schema.column(col);
        Some(if column.is_text() && column.is_numeric_text() { format!("CAST({name} AS REAL)") } else { name })
    }

    /// Counts rows, and over a table of links things: each once, however often it is linked.
    fn counted(&self, path: &[Step], end: (TableId, usize)) -> Option<String> {
        let linked = path.len() > 1 && path.last().is_some_and(|step| step.forward);
        match self.schema.identity(end.0).filter(|_| linked) {
            Some(identity) => Some(format!("COUNT(DISTINCT {})", self.name_in(identity, end)?)),
            None => Some("COUNT(*)".to_owned()),
        }
    }

    fn cond(&mut self, cond: &Cond, here: (TableId, usize)) -> Option<String> {
        Some(match cond {
            Cond::Compare(col, op, literal) => {
                let column = self.schema.column(*col);
                let name = self.name_in(*col, here)?;
                let numeric = matches!(literal, Literal::Number(_)) && column.is_text() && column.is_numeric_text();
                let name =
                    if numeric && !matches!(op, Op::Eq | Op::Ne) { format!("CAST({name} AS REAL)") } else { name };
                format!("{name} {} {}", op.sql(), literal.sql())
            }
            Cond::CompareTo(col, op, aggregate, of, conds) => {
                let name = self.name_in(*col, here)?;
                let depth = self.instances.len();
                let inner = self.instance(of.table);
                let mut sql = format!(
                    "{name} {} (SELECT {}({}) FROM {}",
                    op.sql(),
                    aggregate.sql(),
                    self.name_in(*of, inner)?,
                    self.table(inner)
                );
                let conds = conds.iter().map(|cond| self.cond(cond, inner)).collect::<Option<Vec<_>>>()?;
                if !conds.is_empty() {
                    sql = format!("{sql} WHERE {}", conds.join(" AND "));
                }
                self.instances.truncate(depth);
                format!("{sql})")
            }
            Cond::Between(col, low, high) => format!("{} BETWEEN {low} AND {high}", self.name_in(*col, here)?),
            Cond::Like(col, pattern) => format!("{} LIKE {}", self.name_in(*col, here)?, text_literal(pattern)),
            Cond::During(col, from, until) => {
                dates::condition(&self.name_in(*col, here)?, dates::format(self.schema.column(*col))?, *from, *until)?
            }
            Cond::Known(col) => format!("{} IS NOT NULL", self.name_in(*col, here)?),
            Cond::Any(conds) => {
                let parts = conds.iter().map(|cond| self.cond(cond, here)).collect::<Option<Vec<_>>>()?;
                match one_column(&parts, conds) {
                    Some(list) => list,
                    None => format!("({})", parts.join(" OR ")),
                }
            }
            Cond::All(conds) => {
                let parts = conds.iter().map(|cond| self.cond(cond, here)).collect::<Option<Vec<_>>>()?;
                format!("({})", parts.join(" AND "))
            }
            Cond::Not(inner) => match inner.as_ref() {
                Cond::Related(_) => format!("NOT {}", self.cond(inner, here)?),
                _ => format!("NOT ({})", self.cond(inner, here)?),
            },
            Cond::Related(related) => self.related(related, here)?,
        })
    }

    fn related(&mut self, related: &Related, here: (TableId, usize)) -> Option<String> {
        let depth = self.instances.len();
        let (first, rest) = related.path.split_first()?;
        let start = self.instance(first.far().table);
        let mut from = self.table(start);
        let mut joins = Vec::new();
        self.join(start, rest, &mut joins);
        let end = joins.last().map_or(start, |(instance, _)| *instance);
        for (instance, on) in joins {
            from = format!("{from} JOIN {} ON {on}", self.table(instance));
        }
        let mut conds = vec![format!("{} = {}", self.name_in(first.far(), start)?, self.name_in(first.near(), here)?)];
        for cond in &related.conds {
            conds.push(self.cond(cond, end)?);
        }
        self.instances.truncate(depth);
        let conds = conds.join(" AND ");
        let counted = self.counted(&related.path, end)?;
        Some(match related.count {
            None => format!("EXISTS (SELECT 1 FROM {from} WHERE {conds})"),
            Some((op, count)) => format!("(SELECT {counted} FROM {from} WHERE {conds}) {} {count}", op.sql()),
        })
    }
}

/// `x IN (…)` for several values of one column.
fn one_column(parts: &[String], conds: &[Cond]) -> Option<String> {
    let mut first: Option<Col> = None;
    let mut values = Vec::new();
    for cond in conds {
        let Cond::Compare(col, Op::Eq, literal) = cond else { return None };
        if *first.get_or_insert(*col) != *col {
            return None;
        }
        values.push(literal.sql());
    }
    let name = parts.first()?.split_once(" = ")?.0;
    Some(format!("{name} IN ({})", values.join(", ")))
}

impl Literal {
    /// As SQL writes it.
    pub(super) fn sql(&self) -> String {
        match self {
            Self::Text(text) => text_literal(text),
            Self::Number(number) => number.clone(),
        }
    }
}
