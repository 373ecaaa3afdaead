//! What a test needs: a place with a database and an output directory, the program started in it, and what came of it.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_pi-sql");
/// The question everything is about, and its answer.
pub(crate) const QUESTION: &str = "how many accounts churned in June 2026?";
pub(crate) const ANSWER: &str = "142 accounts churned in June 2026.\n";
/// When a run counts as hung. A run takes 0.1 s; a loaded machine may need a hundred times that.
const TIMEOUT: Duration = Duration::from_secs(40);

/// A directory of a test's own, with the sample database in `sample.db`; it is the working directory of every run.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// A place with a copy of the sample database.
    pub(crate) fn new() -> Self {
        let place = Self::bare();
        std::fs::copy(sample(), place.db()).unwrap();
        place
    }

    /// A place with nothing in it.
    pub(crate) fn bare() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A place whose database this script makes.
    pub(crate) fn with(script: &str) -> Self {
        let place = Self::bare();
        rusqlite::Connection::open(place.db()).unwrap().execute_batch(script).unwrap();
        place
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.path("sample.db")
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.path("out")
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Any command of the program.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        Run {
            launcher: Vec::new(),
            db: self.db().into(),
            out: self.out().into(),
            args: args.into_iter().map(|arg| arg.as_ref().to_owned()).collect(),
            env: Vec::new(),
            stdin: None,
            cwd: self.dir.path().to_owned(),
        }
    }

    pub(crate) fn ask(&self, question: &str) -> Run {
        self.run(["ask", "--", question])
    }

    pub(crate) fn query(&self, sql: &str) -> Run {
        self.run(["query", "--", sql])
    }

    /// Checks the chain, and gives what `audit verify` says of it.
    pub(crate) fn verified(&self) -> String {
        self.run(["audit", "verify"]).go().exits(0).stdout
    }

    /// The records of the log, oldest first; a line that is still being written is left out.
    pub(crate) fn records(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.out().join("audit.jsonl")).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn records_of(&self, kind: &str) -> Vec<Value> {
        self.records().into_iter().filter(|record| record["kind"] == kind).collect()
    }

    /// What was answered, in the order of the log.
    pub(crate) fn answers(&self) -> Vec<String> {
        self.records_of("answer").iter().map(|record| record["text"].as_str().unwrap().to_owned()).collect()
    }

    /// The exit codes that `stop` records name.
    pub(crate) fn stops(&self) -> Vec<i64> {
        self.records_of("stop").iter().map(|record| record["exit"].as_i64().unwrap()).collect()
    }
}

/// The sample database, made once by the program itself.
fn sample() -> &'static Path {
    static SAMPLE: OnceLock<PathBuf> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sample.db");
        let made = Command::new(PROGRAM).args(["sample", "--force"]).arg(&path).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        path
    })
}

/// One run of the program, before it starts.
#[must_use]
pub(crate) struct Run {
    launcher: Vec<OsString>,
    db: OsString,
    out: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    stdin: Option<Vec<u8>>,
    cwd: PathBuf,
}

impl Run {
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        // Options go in front of what follows `--`.
        self.args.insert(1, arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(
        self,
        args: impl IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
    ) -> Self {
        args.into_iter().rev().fold(self, Self::arg)
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdin = Some(bytes.as_ref().to_owned());
        self
    }

    pub(crate) fn db(mut self, path: impl AsRef<OsStr>) -> Self {
        self.db = path.as_ref().into();
        self
    }

    pub(crate) fn out(mut self, path: impl AsRef<OsStr>) -> Self {
        self.out = path.as_ref().into();
        self
    }

    pub(crate) fn cwd(mut self, path: PathBuf) -> Self {
        self.cwd = path;
        self
    }

    /// Settings of a project, as its `.pi/settings.json`.
    pub(crate) fn settings(self, json: &str) -> Self {
        let directory = self.cwd.join(".pi");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("settings.json"), json).unwrap();
        self
    }

    /// Started by another program, which gets the command line as its own last arguments.
    pub(crate) fn via<S: AsRef<OsStr>>(mut self, launcher: impl IntoIterator<Item = S>) -> Self {
        self.launcher = launcher.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        self
    }

    /// Started by a shell script, in which `"$@"` is the command line.
    pub(crate) fn shell(self, script: &str) -> Self {
        self.via(["sh", "-c", script, "sh"])
    }

    /// Runs to the end.
    pub(crate) fn go(self) -> Ran {
        self.start().end()
    }

    /// Starts, and lets it run.
    pub(crate) fn start(self) -> Running {
        let mut line = self.launcher;
        line.push(PROGRAM.into());
        line.extend(self.args);
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).current_dir(&self.cwd).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("PI_SQL_DB", self.db).env("PI_SQL_OUT", self.out).envs(self.env);
        command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), self.stdin) {
            // The program may stop reading early; that is its right.
            thread::spawn(move || drop(pipe.write_all(&bytes)));
        }
        let stdout = Some(collect(child.stdout.take().unwrap()));
        let stderr = Some(collect(child.stderr.take().unwrap()));
        Running { line, child, stdout, stderr }
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// The program, running. Dropped, it is killed.
pub(crate) struct Running {
    line: Vec<OsString>,
    child: Child,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl Running {
    /// The number of the process that was started: the supervisor, unless a launcher stands before it.
    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Whether it has ended; for a run whose pipes stay open in other hands.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for the end; a run that doesn't end is killed and fails the test.
    pub(crate) fn end(self) -> Ran {
        self.end_within(TIMEOUT)
    }

    pub(crate) fn end_within(mut self, patience: Duration) -> Ran {
        let started = Instant::now();
        let (status, hung) = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break (status, false);
            }
            if started.elapsed() > patience {
                self.child.kill().unwrap();
                break (self.child.wait().unwrap(), true);
            }
            thread::sleep(Duration::from_millis(2));
        };
        let text =
            |pipe: Option<JoinHandle<Vec<u8>>>| String::from_utf8_lossy(&pipe.unwrap().join().unwrap()).into_owned();
        let ran = Ran {
            line: std::mem::take(&mut self.line),
            status,
            stdout: text(self.stdout.take()),
            stderr: text(self.stderr.take()),
        };
        assert!(!hung, "did not end within {patience:?}\n{ran}");
        ran
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came of a run.
pub(crate) struct Ran {
    line: Vec<OsString>,
    status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The exit code; 128 + n after a deadly signal, as a shell has it.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap())
    }

    pub(crate) fn exits(self, code: i32) -> Self {
        assert!(self.code() == code, "expected exit code {code}\n{self}");
        self
    }

    /// Stdout is exactly this.
    pub(crate) fn prints(self, expected: &str) -> Self {
        assert!(self.stdout == expected, "stdout differs:\n{}{self}", diff(expected, &self.stdout));
        self
    }

    /// Stdout has nothing.
    pub(crate) fn silent(self) -> Self {
        self.prints("")
    }

    /// Stdout contains this.
    pub(crate) fn shows(self, part: &str) -> Self {
        assert!(self.stdout.contains(part), "stdout lacks “{part}”\n{self}");
        self
    }

    /// Stderr contains this.
    pub(crate) fn says(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "stderr lacks “{part}”\n{self}");
        self
    }

    /// It failed as a command should: this code, nothing on stdout, a sentence on stderr, and no panic.
    pub(crate) fn fails(self, code: i32, part: &str) -> Self {
        let ran = self.exits(code).silent().says(part);
        assert!(!ran.stderr.contains("panicked"), "it panicked\n{ran}");
        ran
    }

    /// Stdout as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("stdout is not JSON: {error}\n{self}"))
    }

    /// Stdout as JSON lines.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}\n{self}"));
        self.stdout.lines().map(parse).collect()
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cut = |text: &str| text.chars().take(2000).collect::<String>();
        let line: Vec<_> = self.line.iter().map(|arg| cut(&arg.to_string_lossy())).collect();
        writeln!(f, "$ {}\n{} (code {})", line.join(" "), self.status, self.code())?;
        write!(f, "--- stdout\n{}\n--- stderr\n{}", cut(&self.stdout), cut(&self.stderr))
    }
}

/// The lines that differ, each with a sign.
fn diff(expected: &str, found: &str) -> String {
    let (expected, found): (Vec<_>, Vec<_>) = (expected.lines().collect(), found.lines().collect());
    let mut text = String::new();
    for index in 0..expected.len().max(found.len()) {
        match (expected.get(index), found.get(index)) {
            (Some(left), Some(right)) if left == right => writeln!(text, "  {left}").unwrap(),
            (left, right) => {
                for (sign, line) in left.map(|line| ('-', line)).into_iter().chain(right.map(|line| ('+', line))) {
                    writeln!(text, "{sign} {line}").unwrap();
                }
            }
        }
    }
    text
}
