//! What the tests of this room share: real databases in real directories, and other processes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::sql::connection::{Database, Limits, OpenError};

/// Names another process's part, in its environment.
const PART: &str = "PI_SQL_TEST_PART";

/// A directory with one database in it.
pub(super) struct Stage {
    directory: tempfile::TempDir,
    pub(super) path: PathBuf,
}

impl Stage {
    /// A database made by this SQL, its file older than any clock tick.
    pub(super) fn new(sql: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("replica.db");
        let stage = Self { directory, path };
        stage.write(sql);
        stage
    }

    /// An empty directory.
    pub(super) fn empty() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("replica.db");
        Self { directory, path }
    }

    /// Runs SQL as a writer that comes and goes.
    pub(super) fn write(&self, sql: &str) {
        Connection::open(&self.path).unwrap().execute_batch(sql).unwrap();
    }

    /// The path of another file in the directory.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Every file there is, with its content; also the index of a log, into which other readers write.
    pub(super) fn listing(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(self.directory.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let content = std::fs::read(self.beside(&name)).unwrap();
            files.insert(name, content);
        }
        files
    }

    pub(super) fn open(&self) -> Database {
        Database::open(&self.path, &Limits::default()).unwrap()
    }

    pub(super) fn refusal(&self) -> OpenError {
        Database::open(&self.path, &Limits::default()).unwrap_err()
    }
}

/// Long enough for any honest statement.
pub(super) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// All rows of a statement.
pub(super) fn rows(database: &mut Database, sql: &str) -> Result<Vec<Vec<Value>>, String> {
    let outcome = database.read(soon(), |connection| all(connection, sql));
    outcome.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

pub(super) fn all(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<Vec<Value>>> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((0..columns).map(|column| row.get(column)).collect::<rusqlite::Result<_>>()?);
    }
    Ok(found)
}

/// One number.
pub(super) fn number(database: &mut Database, sql: &str) -> i64 {
    match rows(database, sql).unwrap()[0][0] {
        Value::Integer(number) => number,
        ref other => panic!("{other:?}"),
    }
}

/// Another process, which plays a part of [`play`].
pub(super) struct Actor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Actor {
    pub(super) fn new(part: &str, path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sql::connection::tests::stage::play", "--nocapture", "--test-threads=1"])
            .env(PART, part)
            .env("PI_SQL_TEST_PATH", path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    /// Says a line and waits for the answer.
    pub(super) fn ask(&mut self, line: &str) -> String {
        writeln!(self.input, "{line}").unwrap();
        loop {
            let mut answer = String::new();
            assert!(self.output.read_line(&mut answer).unwrap() > 0, "the other process ended");
            if let Some(answer) = answer.trim_end().strip_prefix("> ") {
                return answer.to_owned();
            }
        }
    }

    /// Ends it as a crash does.
    pub(super) fn crash(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets it end by itself.
    pub(super) fn leave(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}

/// The other process: not a test unless it is started as one.
#[test]
fn play() {
    let Ok(part) = std::env::var(PART) else { return };
    let path = PathBuf::from(std::env::var_os("PI_SQL_TEST_PATH").unwrap());
    match part.as_str() {
        "writer" => play_writer(&path),
        "reader" => play_reader(&path, Database::open),
        "visiting writer" => play_visiting_writer(&path),
        "unprivileged reader" => {
            if nix::unistd::geteuid().is_root() {
                nix::unistd::setuid(nix::unistd::Uid::from_raw(65532)).unwrap();
            }
            play_reader(&path, Database::open);
        }
        "reader of a lone file" => play_reader(&path, Database::open_alone),
        "locked-down reader" => {
            lock_down(path.parent().unwrap());
            play_reader(&path, Database::open);
        }
        other => panic!("no part {other}"),
    }
}

/// Runs each line as SQL.
fn play_writer(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    for line in std::io::stdin().lines() {
        let outcome = connection.execute_batch(&line.unwrap());
        println!("\n> {}", outcome.map_or_else(|error| error.to_string(), |()| "done".into()));
    }
}

/// Runs each line as SQL on a connection of its own.
fn play_visiting_writer(path: &Path) {
    for line in std::io::stdin().lines() {
        let connection = Connection::open(path).unwrap();
        connection.busy_timeout(Duration::from_secs(5)).unwrap();
        let outcome = connection.execute_batch(&line.unwrap());
        drop(connection);
        println!("\n> {}", outcome.map_or_else(|error| error.to_string(), |()| "done".into()));
    }
}

/// Runs each line as a reading; says how the database was opened and the first cell, or what was refused.
fn play_reader(path: &Path, open: impl Fn(&Path, &Limits) -> Result<Database, OpenError>) {
    let mut database = None;
    for line in std::io::stdin().lines() {
        let sql = line.unwrap();
        let opened = match database.take() {
            Some(opened) => Ok(opened),
            None => open(path, &Limits::default()),
        };
        let answer = opened.and_then(|mut opened| {
            let cell = opened.read(soon(), |connection| all(connection, &sql).map(|rows| rows[0][0].clone()))?;
            let answer = format!("{:?} {cell:?}", opened.identity().opened);
            database = Some(opened);
            Ok(answer)
        });
        println!("\n> {}", answer.unwrap_or_else(|error| format!("{error:?}")));
    }
}

/// What the reader of the appliance lives under: files of one directory can be read, nothing else can be done.
fn lock_down(directory: &Path) {
    use landlock::{
        ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr,
    };
    let read: BitFlags<AccessFs> = AccessFs::ReadFile.into();
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .unwrap()
        .create()
        .unwrap()
        .add_rule(PathBeneath::new(PathFd::new(directory).unwrap(), read))
        .unwrap()
        .restrict_self()
        .unwrap();
    assert_eq!(status.ruleset, landlock::RulesetStatus::FullyEnforced);
}
