//! A database that is read, and looked at again before and after each reading.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::geteuid;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::authorizer::{Authorizer, Denial};
use super::error::OpenError;
use super::evidence::{DatabaseFile, Evidence};
use super::harden::{self, Fault};
use super::header::JournalMode;
use super::identity::Identity;
use super::limits::Limits;
use super::plan::{NoPlan, Plan};

/// Instructions between two looks at the clock: too few to cost anything, some ten microseconds apart.
const OPS_BETWEEN_LOOKS: i32 = 1_000;
/// How long opening may take: reading a schema of thousands of tables takes a tenth of it.
const OPEN_TIME: Duration = Duration::from_secs(10);
/// How long a writer may hold the file before we give up. Committing takes milliseconds.
const WRITER_TIME: Duration = Duration::from_secs(2);
/// How long to sleep between two tries at a held file.
const RETRY: Duration = Duration::from_millis(5);
/// How old a file's last change must be before it can be read without locks: a second change within one tick of the
/// kernel's clock (10 ms at most) would leave no trace.
const SETTLED: Duration = Duration::from_millis(20);
/// How long to check a file whose journal can't be seen; a longer check would keep the person waiting.
const CHECK_TIME: Duration = Duration::from_millis(500);
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
        Self::new(path, limits, false)
    }

    /// Opens a database that is known to be mounted alone, without the files that belong to it.
    ///
    /// [`Database::open`] finds this out by itself only while it can read the mount table, or where the file comes
    /// from another device than its directory.
    pub fn open_alone(path: &Path, limits: &Limits) -> Result<Self, OpenError> {
        Self::new(path, limits, true)
    }

    fn new(path: &Path, limits: &Limits, alone: bool) -> Result<Self, OpenError> {
        let opened = Opened::new(path, limits, alone)?;
        let identity = opened.identity(path);
        Ok(Self { path: path.to_owned(), limits: limits.clone(), alone, identity, open: Some(opened) })
    }

    /// Which database this is, as of the last look.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What the authorizer refused last, in plain words; SQLite's own message says only “not authorized”.
    pub fn take_denial(&self) -> Option<Denial> {
        self.open.as_ref()?.authorizer.take_denial()
    }

    /// Looks at the file again: follows the path anew, and opens anew whatever was replaced or moved.
    ///
    /// [`Database::read`] does so by itself; this is for whoever keeps something about the content (row counts).
    pub fn refresh(&mut self) -> Result<Freshness, OpenError> {
        let Some(opened) = &mut self.open else { return self.reopen(Reopened::Closed) };
        match opened.look_again(&self.path) {
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
    pub fn read<T>(&mut self, deadline: Instant, run: impl FnOnce(&Connection) -> T) -> Result<T, OpenError> {
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
        let opened = Opened::new(&self.path, &self.limits, self.alone)?;
        self.identity = opened.identity(&self.path);
        self.open = Some(opened);
        Ok(Freshness::Reopened(why))
    }
}

/// One connection to one file, with what was seen of it.
///
/// The fields are dropped in this order: SQLite must close its descriptors before ours goes (see `evidence`).
#[derive(Debug)]
struct Opened {
    connection: Connection,
    authorizer: Authorizer,
    file: DatabaseFile,
    evidence: Evidence,
    plan: Plan,
    schema_version: i64,
}

/// What another look found.
enum Look {
    Same,
    Written,
    Stale(Reopened),
}

/// What a try at reading came to.
enum Attempt<T> {
    Done(T),
    Stale(Reopened),
}

impl Opened {
    /// Opens, waiting for a writer to finish.
    fn new(path: &Path, limits: &Limits, alone: bool) -> Result<Self, OpenError> {
        let until = Instant::now() + WRITER_TIME;
        loop {
            match Self::try_new(path, limits, alone) {
                Err(error) if error.is_passing() && Instant::now() < until => thread::sleep(RETRY),
                outcome => return outcome,
            }
        }
    }

    fn try_new(path: &Path, limits: &Limits, alone: bool) -> Result<Self, OpenError> {
        let file = DatabaseFile::open(path, alone)?;
        // Under the lock what we see stays true until SQLite has its own.
        let lock = file.lock();
        let evidence = file.look()?;
        let plan = plan_for(path, &evidence)?;
        if plan.is_locked() {
            lock?;
        } else {
            file.unlock();
            if evidence.stamp.age() < SETTLED {
                thread::sleep(SETTLED);
                return Err(OpenError::Changed(path.to_owned()));
            }
        }
        refuse_cut_short(path, &evidence)?;
        let journal = evidence.header.journal;
        let failed = |fault| match fault {
            Fault::NotInForce(what) => OpenError::NotHardened(what),
            Fault::Sqlite(error) => OpenError::of_sqlite(path, journal, error),
        };
        let mut connection = connect(file.resolved(), plan).map_err(|error| failed(error.into()))?;
        stop_at(&mut connection, Some(Instant::now() + OPEN_TIME)).map_err(|error| failed(error.into()))?;
        harden::before_first_read(&connection, limits).map_err(failed)?;
        let schema_version = first_read(&connection).map_err(|error| failed(error.into()))?;
        if !evidence.siblings_visible && plan == Plan::LockedRollback {
            check_briefly(&mut connection, path)?;
        }
        let authorizer = harden::after_first_read(&mut connection, limits).map_err(failed)?;
        stop_at(&mut connection, None).map_err(|error| failed(error.into()))?;
        if !file.is_current()? {
            return Err(OpenError::Changed(path.to_owned()));
        }
        if plan == Plan::LockedRollback {
            file.unlock();
        }
        Ok(Self { connection, authorizer, file, evidence, plan, schema_version })
    }

    fn identity(&self, path: &Path) -> Identity {
        Identity::new(path, self.file.resolved(), &self.evidence, self.plan.opened_as())
    }

    fn look_again(&mut self, path: &Path) -> Result<Look, OpenError> {
        if !self.file.is_current()? {
            return Ok(Look::Stale(Reopened::Replaced));
        }
        let now = self.file.look()?;
        if plan_for(path, &now)? != self.plan || now.log_inode() != self.evidence.log_inode() {
            return Ok(Look::Stale(Reopened::Journal));
        }
        if now == self.evidence {
            return Ok(Look::Same);
        }
        if !self.plan.is_locked() {
            return Ok(Look::Stale(Reopened::Written));
        }
        self.evidence = now;
        Ok(Look::Written)
    }

    fn reading<T, F>(&mut self, path: &Path, deadline: Instant, run: &mut Option<F>) -> Result<Attempt<T>, OpenError>
    where
        F: FnOnce(&Connection) -> T,
    {
        let journal = self.evidence.header.journal;
        let failed = |error| OpenError::of_sqlite(path, journal, error);
        stop_at(&mut self.connection, Some(deadline)).map_err(failed)?;
        let until = deadline.min(Instant::now() + WRITER_TIME);
        let attempt = loop {
            match self.pinned(path, run) {
                Err(OpenError::Locked(_)) if Instant::now() < until => {
                    self.release();
                    thread::sleep(RETRY);
                }
                outcome => break outcome,
            }
        };
        stop_at(&mut self.connection, None).map_err(failed)?;
        let attempt = attempt?;
        if let Attempt::Done(_) = attempt {
            if !harden::is_still_read_only(&self.connection) {
                return Err(OpenError::Tampered("query_only"));
            }
            if !self.plan.is_locked() && !matches!(self.look_again(path)?, Look::Same) {
                return Err(OpenError::Changed(path.to_owned()));
            }
        }
        Ok(attempt)
    }

    /// Runs with one commit held in view. A statement that has begun and not ended holds it: BEGIN isn't needed, and
    /// the authorizer refuses it to everybody.
    fn pinned<T, F>(&mut self, path: &Path, run: &mut Option<F>) -> Result<Attempt<T>, OpenError>
    where
        F: FnOnce(&Connection) -> T,
    {
        // From this look until SQLite has begun, nobody may turn the file into one that would be opened otherwise.
        if self.plan.is_locked() {
            self.file.lock()?;
        }
        if let Look::Stale(why) = self.look_again(path)? {
            return Ok(Attempt::Stale(why));
        }
        refuse_cut_short(path, &self.evidence)?;
        let journal = self.evidence.header.journal;
        let failed = |error| OpenError::of_sqlite(path, journal, error);
        let mut pin = self.connection.prepare(PIN).map_err(failed)?;
        let mut rows = pin.query([]).map_err(failed)?;
        let row = rows.next().map_err(failed)?;
        let version: i64 =
            row.ok_or(rusqlite::Error::QueryReturnedNoRows).and_then(|row| row.get(0)).map_err(failed)?;
        if version != self.schema_version {
            return Ok(Attempt::Stale(Reopened::Schema));
        }
        self.release();
        let Some(run) = run.take() else { return Ok(Attempt::Stale(Reopened::Closed)) };
        Ok(Attempt::Done(run(&self.connection)))
    }

    /// Lets writers go on, where SQLite holds what it needs by itself. In WAL mode the lock stays as long as the
    /// connection: it keeps a writer that ends from taking the log away under us.
    fn release(&self) {
        if self.plan == Plan::LockedRollback {
            self.file.unlock();
        }
    }
}

/// The statement that begins a reading: it tells whether the schema moved, and holds the commit until it ends.
const PIN: &str = "PRAGMA schema_version";

fn plan_for(path: &Path, evidence: &Evidence) -> Result<Plan, OpenError> {
    Plan::of(evidence).map_err(|fault| match fault {
        NoPlan::NeedsRecovery => OpenError::NeedsRecovery(path.to_owned()),
        NoPlan::SiblingUnreadable(suffix) => {
            let mut sibling = path.as_os_str().to_owned();
            sibling.push(suffix);
            OpenError::SiblingUnreadable { path: sibling.into(), user: geteuid().as_raw() }
        }
    })
}

/// While pages lie in a log the file may be shorter than its header says; otherwise its end is missing.
fn refuse_cut_short(path: &Path, evidence: &Evidence) -> Result<(), OpenError> {
    let expected = evidence.header.expected_size();
    if evidence.wal.is_none() && expected.is_some_and(|expected| expected > evidence.stamp.size) {
        return Err(OpenError::Corrupt { path: path.to_owned(), detail: "the end of the file is missing".into() });
    }
    Ok(())
}

fn connect(resolved: &Path, plan: Plan) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_PRIVATE_CACHE
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(uri(resolved, plan), flags)?;
    // We wait ourselves, where we can let go of our own lock meanwhile.
    connection.busy_timeout(Duration::ZERO)?;
    Ok(connection)
}

/// A URI for any path: every byte that could mean something there is written as a number.
fn uri(resolved: &Path, plan: Plan) -> String {
    let mut uri = String::from("file:");
    for &byte in resolved.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri + "?" + plan.uri_parameters()
}

fn stop_at(connection: &mut Connection, deadline: Option<Instant>) -> rusqlite::Result<()> {
    connection.progress_handler(OPS_BETWEEN_LOOKS, deadline.map(|deadline| move || Instant::now() >= deadline))
}

fn first_read(connection: &Connection) -> rusqlite::Result<i64> {
    let version = connection.query_row(PIN, [], |row| row.get(0))?;
    connection.query_row("SELECT count(*) FROM main.sqlite_schema", [], |_| Ok(()))?;
    Ok(version)
}

/// A journal that can't be seen may belong to half a commit; the damage then shows in the file itself.
fn check_briefly(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::of_sqlite(path, JournalMode::Rollback, error);
    stop_at(connection, Some(Instant::now() + CHECK_TIME)).map_err(failed)?;
    match connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)) {
        Ok(verdict) if verdict == "ok" => Ok(()),
        Ok(detail) => Err(OpenError::Corrupt { path: path.to_owned(), detail }),
        // Too large to check within the time: it is read as it is.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(()),
        Err(error) => Err(failed(error)),
    }
}
