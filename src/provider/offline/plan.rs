//! What a question was understood to ask, before it is written as SQL.

use jiff::civil::Date;

use super::schema::{Col, Key, TableId};
use super::span::Unit;

/// An aggregate function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggregate {
    /// `AVG`
    Average,
    /// `SUM`
    Sum,
    /// `MIN`
    Min,
    /// `MAX`
    Max,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// `=`
    Eq,
    /// `<>`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// A value to compare with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    /// A text.
    Text(String),
    /// A number, as it will be written.
    Number(String),
}

/// One thing to show.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Output {
    /// A column.
    Column(Col),
    /// An aggregate of a column.
    Aggregate(Aggregate, Col),
    /// How many different values a column has.
    Different(Col),
    /// How many rows of the counted table, else of the root.
    Rows,
    /// Every column of the root.
    All,
    /// A date column cut to a unit.
    Bucket(Col, Unit),
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cond {
    /// A column compared with a value.
    Compare(Col, Op, Literal),
    /// A column between two numbers, both included.
    Between(Col, String, String),
    /// A column compared with an aggregate over rows of its table.
    CompareTo(Col, Op, Aggregate, Col, Vec<Cond>),
    /// A text column that matches a pattern.
    Like(Col, String),
    /// A date column within a half-open range.
    During(Col, Option<Date>, Option<Date>),
    /// Rows of another table that belong to this one.
    Related(Related),
    /// Any of these.
    Any(Vec<Cond>),
    /// All of these.
    All(Vec<Cond>),
    /// None of these.
    Not(Box<Cond>),
    /// The column has a value.
    Known(Col),
}

/// Rows of another table that belong to a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Related {
    /// The other table.
    pub table: TableId,
    /// The joins from here to there.
    pub path: Vec<Step>,
    /// What must hold for them.
    pub conds: Vec<Cond>,
    /// How many there must be; at least one when not said.
    pub count: Option<(Op, u64)>,
}

/// One hop along a key, in either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The key.
    pub key: Key,
    /// From the pointing table to the one pointed at.
    pub forward: bool,
}

impl Step {
    /// The column on the near side.
    pub(super) fn near(self) -> Col {
        if self.forward { self.key.from } else { self.key.to }
    }

    /// The column on the far side.
    pub(super) fn far(self) -> Col {
        if self.forward { self.key.to } else { self.key.from }
    }
}

/// What rows are put together by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Group {
    /// A column's value.
    Column(Col),
    /// A row of a table.
    Row(TableId),
    /// A date cut to a unit.
    Bucket(Col, Unit),
}

/// What rows are ordered by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OrderKey {
    /// A column.
    Column(Col),
    /// The count.
    Count,
    /// What is shown first.
    Shown,
    /// An aggregate.
    Aggregate(Aggregate, Col),
    /// A date cut to a unit.
    Bucket(Col, Unit),
}

/// A whole question, understood.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// The table the question is about.
    pub root: TableId,
    /// What to show.
    pub outputs: Vec<Output>,
    /// Only different rows.
    pub distinct: bool,
    /// What must hold.
    pub conds: Vec<Cond>,
    /// Another table whose rows are joined and counted or aggregated, with its own conditions.
    pub joined: Option<Related>,
    /// What rows are put together by.
    pub groups: Vec<Group>,
    /// How many rows a group must have.
    pub having: Option<(Op, u64)>,
    /// The order, with whether it descends.
    pub orders: Vec<(OrderKey, bool)>,
    /// How many rows to take.
    pub limit: Option<u64>,
    /// The rows counted are those of the joined table, not of the root.
    pub counts_joined: bool,
}

impl Plan {
    /// For a question about the first of an order: the first two, with what they are ordered by.
    pub(super) fn probe(&self) -> Option<Self> {
        let ([(key, _)], Some(1)) = (self.orders.as_slice(), self.limit) else { return None };
        let measure = match key {
            OrderKey::Column(col) => Output::Column(*col),
            OrderKey::Count => Output::Rows,
            OrderKey::Aggregate(aggregate, col) => Output::Aggregate(*aggregate, *col),
            OrderKey::Shown | OrderKey::Bucket(..) => return None,
        };
        let mut probe = self.clone();
        probe.outputs.push(measure);
        probe.limit = Some(2);
        Some(probe)
    }

    /// Where a condition takes the one row with the most of something: how many rows share that place.
    pub(super) fn shared_first(&self) -> Option<Self> {
        let conds = self.conds.iter().chain(self.joined.iter().flat_map(|joined| &joined.conds));
        let (col, cond, within) = conds.into_iter().find_map(extreme)?;
        let mut conds = within.to_vec();
        conds.push(cond.clone());
        Some(Self {
            root: col.table,
            outputs: vec![Output::Rows],
            distinct: false,
            conds,
            joined: None,
            groups: Vec::new(),
            having: None,
            orders: Vec::new(),
            limit: None,
            counts_joined: false,
        })
    }

    /// The tables whose columns are shown, grouped by or ordered by.
    pub(super) fn tables(&self) -> Vec<TableId> {
        let outputs = self.outputs.iter().filter_map(|output| match output {
            Output::Column(col) | Output::Aggregate(_, col) | Output::Different(col) | Output::Bucket(col, _) => {
                Some(col.table)
            }
            Output::Rows | Output::All => None,
        });
        let groups = self.groups.iter().map(|group| match group {
            Group::Column(col) | Group::Bucket(col, _) => col.table,
            Group::Row(table) => *table,
        });
        let orders = self.orders.iter().filter_map(|(key, _)| match key {
            OrderKey::Column(col) | OrderKey::Aggregate(_, col) | OrderKey::Bucket(col, _) => Some(col.table),
            OrderKey::Count | OrderKey::Shown => None,
        });
        outputs.chain(groups).chain(orders).collect()
    }

    /// The tables whose columns are shown.
    pub(super) fn tables_shown(&self) -> Vec<TableId> {
        let columns = self.outputs.iter().filter_map(|output| match output {
            Output::Column(col) => Some(col.table),
            Output::All => Some(self.root),
            _ => None,
        });
        columns.collect()
    }
}

/// A column that must equal its own extreme, within these conditions.
fn extreme(cond: &Cond) -> Option<(Col, &Cond, &[Cond])> {
    match cond {
        Cond::CompareTo(col, Op::Eq, Aggregate::Max | Aggregate::Min, of, within) if col == of => {
            Some((*col, cond, within))
        }
        Cond::Related(related) => related.conds.iter().find_map(extreme),
        _ => None,
    }
}

impl Op {
    /// The opposite.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
        }
    }

    /// As SQL writes it.
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "<>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }
}

impl Aggregate {
    /// As SQL writes it.
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::Average => "AVG",
            Self::Sum => "SUM",
            Self::Min => "MIN",
            Self::Max => "MAX",
        }
    }

    /// As a sentence says it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Average => "average",
            Self::Sum => "total",
            Self::Min => "minimum",
            Self::Max => "maximum",
        }
    }
}
