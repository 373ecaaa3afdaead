//! From atoms to a plan: a question read from left to right, each word put to use or named as not understood.

mod compare;
mod condition;
mod finish;
mod group;
mod head;
mod literal;
mod modifier;
mod more;
mod noun;
mod order;
mod rank;
mod relation;
mod resolve;
mod subject;

use super::atoms::{Atom, What};
use super::lexicon::{End, Role};
use super::plan::{Aggregate, Cond, Group, Op, OrderKey, Plan, Related};
use super::schema::{Col, Schema, TableId};
use super::span::Unit;
use super::trouble::Trouble;

type Read<T> = Result<T, Trouble>;

/// Reads a question. `chosen` are readings that the person picked when asked back.
pub(super) fn read(schema: &Schema, atoms: &[Atom], chosen: &[String]) -> Result<Plan, Trouble> {
    Reader {
        schema,
        atoms,
        at: 0,
        chosen,
        sorting: false,
        depth: 0,
        around: Vec::new(),
        subject: None,
        happened: None,
        denied: false,
        both: false,
        date: None,
    }
    .question()
}

/// How deep relations may nest: beyond it no sentence makes sense.
const DEEPEST: usize = 5;

/// A cursor over the atoms.
struct Reader<'a> {
    schema: &'a Schema,
    atoms: &'a [Atom],
    at: usize,
    chosen: &'a [String],
    /// `Sort … by` opened the question: `by` gives the order.
    sorting: bool,
    depth: usize,
    /// The tables of the phrases around the one being read.
    around: Vec<TableId>,
    /// The column that is asked for, which a bare comparison is about.
    subject: Option<Col>,
    /// The table of what was said to have happened last.
    happened: Option<TableId>,
    /// `both` was said: two things must hold, maybe of different rows.
    both: bool,
    /// The condition read last was negated.
    denied: bool,
    /// The date column used last.
    date: Option<Col>,
}

/// Rows of one table, as a noun phrase with its modifiers describes them.
#[derive(Clone, Debug)]
struct Scope {
    table: TableId,
    conds: Vec<Cond>,
    groups: Vec<Group>,
    orders: Vec<(OrderKey, bool)>,
    rank: Option<Rank>,
    /// `top 5`, with what it is measured by still to come.
    top_of: Option<u64>,
    /// What is asked for is a value that rows share, not the rows.
    shared: Option<Col>,
    /// At least so many rows of the own table in a group.
    having: Option<(Op, u64)>,
    /// Rows of another table that are counted for the order.
    joined: Option<Related>,
    distinct: bool,
    each: bool,
    /// The whole question, not a phrase inside it.
    top: bool,
}

/// A superlative.
#[derive(Clone, Debug)]
struct Rank {
    by: RankBy,
    end: End,
    limit: u64,
}

/// What a superlative measures.
#[derive(Clone, Debug)]
enum RankBy {
    Column(Col),
    /// How many rows of another table belong to it.
    Related(Related),
    /// How many rows share the shown value.
    Own,
    Aggregate(Aggregate, Col),
}

/// One thing asked for.
#[derive(Clone, Debug)]
enum Item {
    /// A column, maybe of a named table, maybe aggregated.
    Attribute { atom: usize, owner: Option<TableId>, aggregates: Vec<Aggregate>, distinct: bool },
    /// A column that the question names in two places.
    Column(Col),
    /// Rows, shown by their names.
    Entity(TableId),
    /// How many rows.
    Count(Box<Scope>),
    /// How many different values.
    Different { atom: usize, owner: Option<TableId>, said: bool },
    /// How many rows of what was just counted.
    Rows,
    /// Every column.
    Everything,
    /// A unit of time: `which month …`.
    Bucket(Unit),
}

impl Scope {
    fn new(table: TableId, top: bool) -> Self {
        Self {
            table,
            conds: Vec::new(),
            groups: Vec::new(),
            orders: Vec::new(),
            rank: None,
            top_of: None,
            shared: None,
            having: None,
            joined: None,
            distinct: false,
            each: false,
            top,
        }
    }
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a Atom> {
        self.atoms.get(self.at)
    }

    fn ahead(&self, count: usize) -> Option<&'a Atom> {
        self.atoms.get(self.at + count)
    }

    fn role(&self) -> Option<Role> {
        self.peek().and_then(Atom::role)
    }

    /// Steps over atoms that play one of these parts.
    fn skip(&mut self, skipped: &[Role]) -> bool {
        let start = self.at;
        while self.role().is_some_and(|role| skipped.contains(&role)) {
            self.at += 1;
        }
        self.at > start
    }

    fn number(&self) -> Option<f64> {
        match self.peek()?.what {
            What::Number(value) => Some(value),
            _ => None,
        }
    }

    /// The trouble with the atom here.
    fn trouble(&self) -> Trouble {
        match self.peek() {
            Some(atom) => self.trouble_at(atom),
            None => Trouble::Stuck(
                self.atoms
                    .iter()
                    .rev()
                    .find(|atom| atom.what != What::Stop)
                    .map_or_else(String::new, |atom| atom.raw.clone()),
            ),
        }
    }

    fn trouble_at(&self, atom: &Atom) -> Trouble {
        let atom = match atom.what {
            // Not the question mark is the trouble, but what led to it.
            What::Stop | What::Pause => {
                let before = self
                    .atoms
                    .iter()
                    .rev()
                    .find(|known| known.end <= atom.first && !matches!(known.what, What::Stop | What::Pause));
                before.unwrap_or(atom)
            }
            _ => atom,
        };
        match atom.what {
            What::Unknown | What::Text(_) => Trouble::Unknown(atom.raw.clone()),
            _ => Trouble::Stuck(atom.raw.clone()),
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEEPEST {
            return Err(self.trouble());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}
