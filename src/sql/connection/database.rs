//! A database that is read, and looked at again before and after each reading.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::authorizer::Denial;
use super::error::OpenError;
use super::hiding::{HiddenNames, Hide, Hiding};
use super::identity::Identity;
use super::limits::Limits;
use super::opened::{Attempt, Look, Opened};
use super::restricted::Restricted;

/// How often the schema may change while we set out to read before we give up.
const REOPENINGS: u32 = 3;

/// A database, open for reading and nothing else.
///
/// Keep one for each file in a process: a second one on the same file, once closed, lifts locks SQLite holds for the
/// first.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    limits: Limits,
    hide: Hide,
    alone: bool,
    identity: Identity,
    /// `None` after an error that needs a new opening; the next reading tries it.
    open: Option<Opened>,
}

/// What a look at the file found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Nothing has moved since the last look.
    Same,
    /// The content has moved; the connection sees the newest commit by itself.
    Written,
    /// It was opened anew, for this reason.
    Reopened(Reopened),
}

/// Why a database was opened anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reopened {
    /// The path leads to another file.
    Replaced,
    /// The file was written while we read without locks.
    Written,
    /// The journal mode or the files beside it changed, so it must be read in another way.
    Journal,
    /// The schema changed.
    Schema,
    /// It was closed after an error.
    Closed,
}

impl Database {
    /// Opens a database.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, OpenError> {
        Self::new(path, limits, &Hide::default(), false)
    }

    /// Opens a database, parts of which nobody may see. It is an error if one of these isn't there.
    pub fn open_hiding(path: &Path, limits: &Limits, hide: &Hide) -> Result<Self, OpenError> {
        Self::new(path, limits, hide, false)
    }

    /// Hides these parts too, from here on. Nothing that is hidden is ever shown again.
    pub fn hide(&mut self, hide: &Hide) -> Result<(), OpenError> {
        if self.hide.add(hide) {
            self.reopen(Reopened::Closed)?;
        }
        Ok(())
    }

    /// Everything that is hidden: what was named, and what is made of it.
    pub fn hidden(&self) -> Vec<String> {
        let hiding = self.open.as_ref().and_then(|opened| opened.connection.hiding());
        hiding.map(Hiding::names).map(HiddenNames::to_list).unwrap_or_default()
    }

    /// Opens a database that is known to be mounted alone, without the files that belong to it.
    ///
    /// [`Database::open`] finds this out by itself only while it can read the mount table, or where the file comes
    /// from another device than its directory.
    pub fn open_alone(path: &Path, limits: &Limits) -> Result<Self, OpenError> {
        Self::new(path, limits, &Hide::default(), true)
    }

    fn new(path: &Path, limits: &Limits, hide: &Hide, alone: bool) -> Result<Self, OpenError> {
        let opened = Opened::new(path, limits, hide, alone)?;
        let identity = opened.identity(path);
        let (path, limits, hide) = (path.to_owned(), limits.clone(), hide.clone());
        Ok(Self { path, limits, hide, alone, identity, open: Some(opened) })
    }

    /// Which database this is, as of the last look.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What the authorizer refused last, in plain words; SQLite's own message says only “not authorized”.
    pub fn take_denial(&self) -> Option<Denial> {
        self.open.as_ref()?.connection.take_denial()
    }

    /// Looks at the file again: follows the path anew, and opens anew whatever was replaced or moved.
    ///
    /// [`Database::read`] does so by itself; this is for whoever keeps something about the content (row counts).
    pub fn refresh(&mut self) -> Result<Freshness, OpenError> {
        let Some(opened) = &mut self.open else { return self.reopen(Reopened::Closed) };
        match opened.look_again() {
            Ok(Look::Same) => Ok(Freshness::Same),
            Ok(Look::Written) => {
                self.identity = opened.identity(&self.path);
                Ok(Freshness::Written)
            }
            Ok(Look::Stale(why)) => self.reopen(why),
            Err(error) => {
                self.open = None;
                Err(error)
            }
        }
    }

    /// Lends the connection for one reading: all statements of `run` see one and the same commit, and SQLite stops
    /// them at the deadline (`SQLITE_INTERRUPT`).
    ///
    /// The result comes back only if the connection and, where it is read without locks, the file are as they were.
    pub fn read<T>(&mut self, deadline: Instant, run: impl FnOnce(&Restricted) -> T) -> Result<T, OpenError> {
        let mut run = Some(run);
        for _ in 0..REOPENINGS {
            if self.open.is_none() {
                self.reopen(Reopened::Closed)?;
            }
            let Some(opened) = &mut self.open else { break };
            let attempt = opened.reading(&self.path, deadline, &mut run);
            self.identity = opened.identity(&self.path);
            match attempt {
                Ok(Attempt::Done(outcome)) => return Ok(outcome),
                Ok(Attempt::Stale(why)) => drop(self.reopen(why)?),
                Err(error @ OpenError::Locked(_)) => return Err(error),
                Err(error) => {
                    self.open = None;
                    return Err(error);
                }
            }
        }
        Err(OpenError::Changed(self.path.clone()))
    }

    fn reopen(&mut self, why: Reopened) -> Result<Freshness, OpenError> {
        // The old one must be gone first: closing it would lift the locks of the new one on the same file.
        self.open = None;
        let opened = Opened::new(&self.path, &self.limits, &self.hide, self.alone)?;
        self.identity = opened.identity(&self.path);
        self.open = Some(opened);
        Ok(Freshness::Reopened(why))
    }
}
