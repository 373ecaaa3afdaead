//! Hiding: tables and columns that nobody who asks may read, compare by, or learn the names of.
//!
//! Three things work together, and the first two each stand alone:
//!
//! - The **authorizer** refuses each read of a hidden table or column, wherever in a statement or in a view it happens
//!   ([`HiddenNames`] says which they are: those the operator named, and what is made of them, found by `closure`).
//! - The **mirror** is a schema in memory without anything hidden. A statement must make sense there first, so a hidden
//!   name gets the very message of a name that doesn't exist. It is also what refuses `JOIN … USING (hidden)`, of which
//!   SQLite tells an authorizer nothing, and `INDEXED BY`, which would sort rows by a hidden column.
//! - What neither can see is refused by its words: `NATURAL`, which joins on columns that nobody names, and a `USING`
//!   whose column the mirror finds in another table than SQLite does.

mod catalogue;
mod closure;
mod mirror;
mod names;
mod pattern;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use rusqlite::Connection;

use self::catalogue::{Entry, Kind};
pub use self::closure::NoSuchName;
use self::mirror::Mirror;
pub use self::names::HiddenNames;
pub use self::pattern::{Hide, PatternError};
use super::authorizer::{Authorizer, Denial};
use super::limits::Limits;
use crate::sql::guard::lexer::{Kind as TokenKind, Lexer, Token};

/// What is hidden in one opened database, and the schema without it.
#[derive(Debug)]
pub struct Hiding {
    names: Arc<HiddenNames>,
    mirror: Mirror,
}

/// Why hiding can't be put in force.
#[derive(Debug, thiserror::Error)]
pub(super) enum HidingError {
    #[error(transparent)]
    NoSuchName(#[from] NoSuchName),
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
}

impl Hiding {
    /// Finds what is hidden and puts it in force on the connection's authorizer.
    pub(super) fn put_in_force(
        connection: &Connection,
        authorizer: &Authorizer,
        hide: &Hide,
        limits: &Limits,
    ) -> Result<Self, HidingError> {
        let entries = {
            let _ours = authorizer.ours();
            catalogue::read(connection)?
        };
        let names = closure::find(hide, &entries)?;
        let mirror = Mirror::new(&entries, &names, limits)?;
        let mut hiding = Self { names: Arc::new(names), mirror };
        authorizer.hide(hiding.names.clone());
        hiding.hide_views(connection, authorizer, &entries)?;
        Ok(hiding)
    }

    /// What is hidden.
    pub fn names(&self) -> &HiddenNames {
        &self.names
    }

    /// Whether a statement makes sense to somebody who doesn't know what is hidden; the error is what they are told.
    pub fn check(&self, sql: &str) -> rusqlite::Result<()> {
        self.mirror.prepare(sql)
    }

    /// Whether a text may join by a hidden column without SQLite telling of it.
    ///
    /// `NATURAL` joins on columns that nobody names; `USING` takes the leftmost table that has the column, which on the
    /// mirror can be another one.
    pub fn joins_unseen(&self, sql: &str) -> bool {
        let mut hidden = self.names.of_tables_in(sql).peekable();
        hidden.peek().is_some() && (has_word(sql, "natural") || hidden.any(|column| joins_using(sql, column)))
    }

    /// Hides each view that reads anything hidden, and each view that reads such a view.
    fn hide_views(
        &mut self,
        connection: &Connection,
        authorizer: &Authorizer,
        entries: &[Entry],
    ) -> Result<(), HidingError> {
        let views: Vec<&Entry> = entries.iter().filter(|entry| entry.kind == Kind::View).collect();
        self.hide_views_until_settled(connection, authorizer, &views)?;
        let cut = |view: &&&Entry| self.names.has_hidden_columns(&view.name) && !self.names.hides_table(&view.name);
        let cut: Vec<&&Entry> = views.iter().filter(cut).collect();
        if cut.is_empty() {
            return Ok(());
        }
        for view in cut {
            self.mirror.cut_view(view, &self.names)?;
        }
        self.hide_views_until_settled(connection, authorizer, &views)
    }

    fn hide_views_until_settled(
        &mut self,
        connection: &Connection,
        authorizer: &Authorizer,
        views: &[&Entry],
    ) -> Result<(), HidingError> {
        loop {
            let mut settled = true;
            for view in views {
                if self.names.hides_table(&view.name) || !self.tells_of_hidden(connection, authorizer, view) {
                    continue;
                }
                settled = false;
                let mut names = HiddenNames::clone(&self.names);
                names.hide_table(&view.name);
                self.names = Arc::new(names);
                authorizer.hide(self.names.clone());
                self.mirror.drop_view(view)?;
            }
            if settled {
                return Ok(());
            }
        }
    }

    fn tells_of_hidden(&self, connection: &Connection, authorizer: &Authorizer, view: &Entry) -> bool {
        if view.columns.is_empty() {
            // Nobody can read it, and its error names what it lacks.
            return self.names.mentioned_in(&view.sql);
        }
        let is_shown = |column: &&String| !self.names.hides_column(&view.name, column);
        let real = view.columns.iter().map(|column| &column.name).filter(is_shown);
        if !self.mirror.columns(view).is_ok_and(|mirrored| real.eq(mirrored.iter().filter(is_shown))) {
            // Without what is hidden it doesn't work, or is another one.
            return true;
        }
        drop(authorizer.take_denial());
        let failed = connection.prepare(&format!("SELECT 1 FROM {}", mirror::quoted(&view.name))).is_err();
        let denied = failed && matches!(authorizer.take_denial(), Some(Denial::Hidden(..) | Denial::Catalogue));
        denied || self.joins_unseen(&view.sql)
    }
}

/// Whether a bare word stands in a text, outside of quotes and comments.
fn has_word(sql: &str, word: &str) -> bool {
    Lexer::new(sql).any(|token| is_bare(sql, token, word))
}

/// Whether a column stands in the parentheses behind a USING.
fn joins_using(sql: &str, column: &str) -> bool {
    let starts = Lexer::new(sql).filter(|token| is_bare(sql, *token, "using")).map(|token| token.end);
    starts.into_iter().any(|start| {
        let mut rest = Lexer::new(&sql[start..]);
        let end = rest.find(|token| token.kind == TokenKind::Close).map_or(sql.len(), |token| start + token.end);
        names::mentions(&sql[start..end], column)
    })
}

fn is_bare(sql: &str, token: Token, word: &str) -> bool {
    token.kind == TokenKind::Word
        && sql.get(token.start..token.end).is_some_and(|found| found.eq_ignore_ascii_case(word))
}
