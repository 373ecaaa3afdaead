//! One opening of a database, from the first look to the last.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::geteuid;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::database::Reopened;
use super::error::OpenError;
use super::evidence::{DatabaseFile, Evidence};
use super::harden::{self, Fault};
use super::header::JournalMode;
use super::hiding::{Hide, HidingError};
use super::identity::Identity;
use super::limits::Limits;
use super::plan::{NoPlan, Plan};
use super::restricted::Restricted;

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

/// One connection to one file, with what was seen of it.
///
/// The fields are dropped in this order: SQLite must close its descriptors before ours goes (see `evidence`).
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Restricted,
    file: DatabaseFile,
    evidence: Evidence,
    plan: Plan,
    schema_version: i64,
}

/// What another look found.
pub(super) enum Look {
    Same,
    Written,
    Stale(Reopened),
}

/// What a try at reading came to.
pub(super) enum Attempt<T> {
    Done(T),
    Stale(Reopened),
}

impl Opened {
    /// Opens, waiting for a writer to finish.
    pub(super) fn new(path: &Path, limits: &Limits, hide: &Hide, alone: bool) -> Result<Self, OpenError> {
        let until = Instant::now() + WRITER_TIME;
        loop {
            match Self::try_new(path, limits, hide, alone) {
                Err(error) if error.is_passing() && Instant::now() < until => thread::sleep(RETRY),
                outcome => return outcome,
            }
        }
    }

    fn try_new(path: &Path, limits: &Limits, hide: &Hide, alone: bool) -> Result<Self, OpenError> {
        let file = DatabaseFile::open(path, alone)?;
        // Under the lock what we see stays true until SQLite has its own.
        let lock = file.lock();
        if let Err(error @ OpenError::Locked(_)) = lock {
            // What lies beside the file now, a writer may be about to take away.
            return Err(error);
        }
        let evidence = file.look()?;
        let plan = plan_for(path, &evidence)?;
        if plan.is_locked() {
            // Where there are no locks, only what needs none can be read.
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
        let mut connection = Restricted::new(connection, authorizer);
        connection.hide(hide, limits).map_err(|error| match error {
            HidingError::NoSuchName(name) => OpenError::NothingToHide(name),
            HidingError::Sqlite(error) => failed(error.into()),
        })?;
        stop_at(&mut connection, None).map_err(|error| failed(error.into()))?;
        if !file.is_current()? {
            return Err(OpenError::Changed(path.to_owned()));
        }
        if plan == Plan::LockedRollback {
            file.unlock();
        }
        Ok(Self { connection, file, evidence, plan, schema_version })
    }

    pub(super) fn identity(&self, path: &Path) -> Identity {
        Identity::new(path, self.file.resolved(), &self.evidence, self.plan.opened_as())
    }

    pub(super) fn look_again(&mut self) -> Result<Look, OpenError> {
        if !self.file.is_current()? {
            return Ok(Look::Stale(Reopened::Replaced));
        }
        let now = self.file.look()?;
        // A plan that fails now may be one a writer is just about to change; opening anew waits for it and decides.
        if Plan::of(&now) != Ok(self.plan) || now.log_inode() != self.evidence.log_inode() {
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

    pub(super) fn reading<T, F>(
        &mut self,
        path: &Path,
        deadline: Instant,
        run: &mut Option<F>,
    ) -> Result<Attempt<T>, OpenError>
    where
        F: FnOnce(&Restricted) -> T,
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
        self.release();
        stop_at(&mut self.connection, None).map_err(failed)?;
        let attempt = attempt?;
        if let Attempt::Done(_) = attempt {
            if !harden::is_still_read_only(&self.connection) {
                return Err(OpenError::Tampered("query_only"));
            }
            if !self.plan.is_locked() && !matches!(self.look_again()?, Look::Same) {
                return Err(OpenError::Changed(path.to_owned()));
            }
        }
        Ok(attempt)
    }

    /// Runs with one commit held in view. A statement that has begun and not ended holds it: BEGIN isn't needed, and
    /// the authorizer refuses it to everybody.
    fn pinned<T, F>(&mut self, path: &Path, run: &mut Option<F>) -> Result<Attempt<T>, OpenError>
    where
        F: FnOnce(&Restricted) -> T,
    {
        // From this look until SQLite has begun, nobody may turn the file into one that would be opened otherwise.
        if self.plan.is_locked() {
            self.file.lock()?;
        }
        if let Look::Stale(why) = self.look_again()? {
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
    let written = |&byte: &u8| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'/' | b'.' | b'_' | b'-' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    let path: String = resolved.as_os_str().as_bytes().iter().map(written).collect();
    format!("file:{path}?{}", plan.uri_parameters())
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
