//! The gate for a program of one's own: guard, audit and database in one process.
//!
//! The belts 1 to 3 are the same as in the appliance; the kernel's (belt 4) are not, since nothing is spawned.

use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;

use crate::audit::{Durability, Entry, Log, Record};
use crate::sql::admission::{Admission, Granted, Shown};
use crate::sql::connection::{Database, OpenError};
use crate::sql::errand::Errand;
use crate::sql::gate::{Gate, Refusal, RefusalKind, Reply, Request};
use crate::sql::receipt;
use crate::sql::settings::SqlSettings;

/// Where a local gate writes what it does. What can't be written doesn't run.
pub trait Receipts: Send {
    /// Writes one entry and gives its sequence number, which is larger than any before.
    fn write(&mut self, entry: Entry, durability: Durability) -> Result<u64, Box<dyn Error + Send + Sync>>;
}

/// A gate in this process. A call blocks its thread while SQLite runs, and one runs at a time.
pub struct LocalGate<R> {
    settings: SqlSettings,
    inside: Mutex<Inside<R>>,
}

struct Inside<R> {
    database: Database,
    receipts: R,
    /// What a finding may rest on.
    shown: Shown,
}

impl<R: Receipts> LocalGate<R> {
    /// A gate on an open database that writes to these receipts. What the settings hide is hidden on it from here on;
    /// it is an error if that isn't there.
    pub fn new(mut database: Database, receipts: R, settings: SqlSettings) -> Result<Self, OpenError> {
        database.hide(&settings.hide)?;
        Ok(Self { settings, inside: Mutex::new(Inside { database, receipts, shown: Shown::default() }) })
    }

    /// Ends the gate and gives its receipts back.
    pub fn into_receipts(self) -> R {
        self.inside.into_inner().unwrap_or_else(PoisonError::into_inner).receipts
    }
}

#[async_trait]
impl<R: Receipts> Gate for LocalGate<R> {
    async fn call(&self, request: Request) -> Result<Reply, Refusal> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner).call(&request, &self.settings)
    }
}

impl<R: Receipts> Inside<R> {
    fn call(&mut self, request: &Request, settings: &SqlSettings) -> Result<Reply, Refusal> {
        let Admission { entry, granted } = Admission::of(request, &self.shown, settings);
        let seq = self.write(entry, Durability::Now)?;
        match granted {
            Granted::Errand(errand) => self.run(seq, &errand, settings),
            Granted::Finding(_) => Ok(Reply::SaveFinding { audit_seq: seq }),
            Granted::Refused(refusal) => Err(refusal),
        }
    }

    fn run(&mut self, seq: u64, errand: &Errand, settings: &SqlSettings) -> Result<Reply, Refusal> {
        let started = Instant::now();
        let mut outcome = errand.run(&mut self.database, settings);
        let ms = started.elapsed().as_secs_f64() * 1e3;
        self.write(receipt::after(seq, ms, &outcome), Durability::Later)?;
        self.shown.note(seq, errand, &mut outcome);
        outcome
    }

    fn write(&mut self, entry: Entry, durability: Durability) -> Result<u64, Refusal> {
        self.receipts.write(entry, durability).map_err(|error| Refusal {
            kind: RefusalKind::Audit,
            message: format!("Nothing runs without its audit record: {error}"),
        })
    }
}

impl Receipts for Log {
    fn write(&mut self, entry: Entry, durability: Durability) -> Result<u64, Box<dyn Error + Send + Sync>> {
        let seqs = self.append(&[Record::of_run(entry)], durability)?;
        seqs.first().copied().ok_or_else(|| "the log gave no sequence number".into())
    }
}

/// Receipts in memory, for programs that keep them elsewhere, and for tests.
impl Receipts for Vec<Entry> {
    fn write(&mut self, entry: Entry, _: Durability) -> Result<u64, Box<dyn Error + Send + Sync>> {
        self.push(entry);
        Ok(self.len() as u64)
    }
}
