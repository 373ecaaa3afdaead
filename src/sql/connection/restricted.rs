//! A hardened connection, and what is hidden on it.

use std::ops::{Deref, DerefMut};

use rusqlite::Connection;

use super::authorizer::{Authorizer, Denial, Ours};
use super::hiding::{Hide, Hiding, HidingError};
use super::limits::Limits;

/// A connection that can only read. Its statements are theirs who ask, until [`Restricted::ours`] says otherwise.
#[derive(Debug)]
pub struct Restricted {
    connection: Connection,
    authorizer: Authorizer,
    hiding: Option<Hiding>,
}

impl Restricted {
    /// The connection and the authorizer that is installed on it.
    pub(crate) fn new(connection: Connection, authorizer: Authorizer) -> Self {
        Self { connection, authorizer, hiding: None }
    }

    /// Finds what an operator hides, and hides it.
    pub(super) fn hide(&mut self, hide: &Hide, limits: &Limits) -> Result<(), HidingError> {
        if !hide.is_empty() {
            self.hiding = Some(Hiding::put_in_force(&self.connection, &self.authorizer, hide, limits)?);
        }
        Ok(())
    }

    /// While the result lives, the statements are our own and may look up what is hidden.
    pub(crate) fn ours(&self) -> Ours {
        self.authorizer.ours()
    }

    /// What the authorizer refused last.
    pub(crate) fn take_denial(&self) -> Option<Denial> {
        self.authorizer.take_denial()
    }

    /// What is hidden, if anything is.
    pub fn hiding(&self) -> Option<&Hiding> {
        self.hiding.as_ref()
    }

    /// Whether a whole table or view is hidden.
    pub fn hides_table(&self, table: &str) -> bool {
        self.hiding.as_ref().is_some_and(|hiding| hiding.names().hides_table(table))
    }

    /// Whether a column is hidden, by itself or with its table.
    pub fn hides_column(&self, table: &str, column: &str) -> bool {
        self.hiding.as_ref().is_some_and(|hiding| hiding.names().hides_column(table, column))
    }
}

impl Deref for Restricted {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Restricted {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
