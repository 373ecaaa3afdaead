//! Databases for tests: made from a script, opened as read-only and as restricted as the reader's.

use std::path::Path;
use std::sync::Arc;

use rusqlite::hooks::AuthContext;
use rusqlite::{Connection, OpenFlags};

use crate::audit::Entry;
use crate::sql::connection::{Authorizer, Database, Limits, Restricted};
use crate::sql::gate::Gate;
use crate::sql::local::LocalGate;
use crate::sql::settings::SqlSettings;

/// A restricted connection to a new database made by this script.
pub(crate) fn database(script: &str) -> Restricted {
    database_with(|connection| connection.execute_batch(script).unwrap())
}

/// The same, for what a script can't say.
pub(crate) fn database_with(fill: impl FnOnce(&Connection)) -> Restricted {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("test.db");
    let writer = Connection::open(&path).unwrap();
    fill(&writer);
    writer.close().unwrap();
    // The open file outlives its directory.
    let mut reader = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    reader.execute_batch("PRAGMA query_only = 1").unwrap();
    let touches: Vec<String> = reader
        .prepare("SELECT printf('SELECT 1 FROM \"%w\"', name) FROM pragma_table_list WHERE type = 'virtual'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for touch in touches {
        let _ = reader.prepare(&touch);
    }
    let authorizer = Authorizer::default();
    let hook = authorizer.clone();
    reader.authorizer(Some(move |context: AuthContext<'_>| hook.answer(&context))).unwrap();
    Restricted::new(reader, authorizer)
}

/// A gate on a new database, by way of the real connection, with its receipts in memory.
pub(crate) struct Staged {
    dir: tempfile::TempDir,
    gate: Arc<LocalGate<Vec<Entry>>>,
}

impl Staged {
    /// A gate on a new database made by this script.
    pub(crate) fn new(script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Connection::open(dir.path().join("test.db")).unwrap().execute_batch(script).unwrap();
        let database = Database::open(&dir.path().join("test.db"), &Limits::default()).unwrap();
        Self { gate: Arc::new(LocalGate::new(database, Vec::new(), SqlSettings::default()).unwrap()), dir }
    }

    pub(crate) fn gate(&self) -> Arc<dyn Gate> {
        self.gate.clone()
    }

    pub(crate) fn directory(&self) -> &Path {
        self.dir.path()
    }

    /// What was written, once nobody else holds the gate.
    pub(crate) fn receipts(self) -> Vec<Entry> {
        Arc::into_inner(self.gate).unwrap().into_receipts()
    }
}
