//! From a history to a database file.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, Result, Transaction};

use super::calendar::text;
use super::history::History;
use super::plans::PLANS;

/// Everything that shapes the bytes is set, not left to a default of the build. The file is a draft nobody else knows:
/// it needs neither journal nor locks, and it is synced once, when it is whole.
const SHAPE: &str = "PRAGMA page_size = 4096;
PRAGMA encoding = 'UTF-8';
PRAGMA auto_vacuum = NONE;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA foreign_keys = OFF;";

/// Fills the empty file.
pub(super) fn write(path: &Path, history: &History) -> Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch(SHAPE)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(include_str!("schema.sql"))?;
    plans(&transaction)?;
    accounts(&transaction, history)?;
    subscriptions(&transaction, history)?;
    events(&transaction, history)?;
    transaction.execute_batch(include_str!("indexes.sql"))?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

fn plans(transaction: &Transaction<'_>) -> Result<()> {
    let mut insert = transaction.prepare("INSERT INTO plans VALUES (NULL, ?, ?, ?, ?)")?;
    for plan in &PLANS {
        let (former_name, renamed_at) = plan.renamed.unzip();
        insert.execute((plan.name, former_name, renamed_at, plan.seat_price_cents))?;
    }
    Ok(())
}

fn accounts(transaction: &Transaction<'_>, history: &History) -> Result<()> {
    let mut insert = transaction.prepare("INSERT INTO accounts VALUES (NULL, ?, ?, ?, ?, ?)")?;
    for account in &history.accounts {
        let row = (&account.name, account.country, account.industry, account.segment.name(), text(account.created));
        insert.execute(row)?;
    }
    Ok(())
}

fn subscriptions(transaction: &Transaction<'_>, history: &History) -> Result<()> {
    let mut insert = transaction.prepare("INSERT INTO subscriptions VALUES (NULL, ?, ?, ?, ?, ?, ?)")?;
    for subscription in &history.subscriptions {
        insert.execute((
            id(subscription.account),
            id(subscription.plan.position()),
            text(subscription.started),
            subscription.ended.map(text),
            subscription.seats,
            subscription.monthly_price_cents,
        ))?;
    }
    Ok(())
}

fn events(transaction: &Transaction<'_>, history: &History) -> Result<()> {
    let mut insert = transaction.prepare("INSERT INTO events VALUES (NULL, ?, ?, ?)")?;
    for event in &history.events {
        insert.execute((id(event.account), event.kind.name(), text(event.at)))?;
    }
    Ok(())
}

/// The row a position in its list becomes; SQLite counts from 1.
fn id(position: usize) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX - 1) + 1
}
