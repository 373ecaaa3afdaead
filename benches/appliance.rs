//! What the belts cost: the whole machine against the bare engine and the bare process, in one run.
//!
//! `scripts/bench`. Quote the ratios: they hold when the machine's speed drifts, single times do not.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![allow(clippy::disallowed_methods, reason = "a benchmark starts the program it measures")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use pi_sql::audit::{Durability, Entry, Log, Options, Record};
use pi_sql::process::{Happening, Setup, Supervisor, run_role};
use pi_sql::sandbox::Strictness;
use pi_sql::sql::gate::Request;
use pi_sql::sql::sample;
use pi_sql::sql::settings::SqlSettings;

/// Whole runs of the program.
const RUNS: usize = 40;
/// Single queries.
const QUERIES: usize = 400;

/// A point query: what it costs is what stands around it.
const POINT: &str = "SELECT name FROM accounts WHERE id = 4321";
/// A scan: what stands around it should vanish.
const SCAN: &str = "SELECT kind, count(*), count(DISTINCT account_id), max(occurred_at) FROM events GROUP BY kind";

fn main() -> ExitCode {
    // The supervisor starts this very program again in its other roles.
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(code) = run_role(&arguments) {
        return code;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    // The supervisor may not remove it; `scripts/bench` does.
    let directory = std::env::temp_dir().join(format!("pi-sql-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let database = directory.join("sample.db");
    sample::write(&database, false)?;
    println!("{:<52} {:>10} {:>10}", "what", "median", "p90");
    whole_runs(&database, &directory)?;
    queries(&database, &directory)?;
    Ok(())
}

fn whole_runs(database: &Path, directory: &Path) -> Result<(), Box<dyn Error>> {
    let program = env!("CARGO_BIN_EXE_pi-sql");
    let version = times(RUNS, || status(Command::new(program).arg("--version")))?;
    let queried = times(RUNS, || {
        let mut command = Command::new(program);
        command.arg("--db").arg(database).arg("--out").arg(directory.join("query"));
        status(command.args(["query", "VALUES (1)"]))
    })?;
    let asked = times(RUNS, || {
        let mut command = Command::new(program);
        command.arg("--db").arg(database).arg("--out").arg(directory.join("ask"));
        status(command.args(["--", "how many accounts churned in June 2026?"]))
    })?;
    show("pi-sql --version", &version);
    show("exec to ready, one VALUES, and the end", &queried);
    show("one question, all roles and belts, offline/planner", &asked);
    Ok(())
}

/// Queries through guard, audit and reader; must come last, since the supervisor locks this process down for good.
fn queries(database: &Path, directory: &Path) -> Result<(), Box<dyn Error>> {
    let engine = rusqlite::Connection::open_with_flags(database, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let bare = |sql: &'static str| {
        let engine = &engine;
        move || {
            let mut statement = engine.prepare(sql)?;
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
            Ok(())
        }
    };
    let (bare_point, bare_scan) = (times(QUERIES, bare(POINT))?, times(QUERIES, bare(SCAN))?);

    let mut log = Log::open(&directory.join("log"), Options::for_run("bench"))?;
    let stop = || Record::of_run(Entry::Stop { reason: "bench".into(), exit: 0 });
    let synced = times(QUERIES, || Ok(log.append(&[stop()], Durability::Now).map(drop)?))?;

    let mut supervisor = Supervisor::start(Setup {
        database: database.to_owned(),
        output: out(directory)?,
        strictness: Strictness::Required,
        audit: Options::for_run("bench"),
        sql: SqlSettings::default(),
        agent: None,
    })?;
    let (point, scan) =
        (times(QUERIES, || ask(&mut supervisor, POINT))?, times(QUERIES, || ask(&mut supervisor, SCAN))?);
    supervisor.stop("bench", 0)?;

    show("point query, bare engine", &bare_point);
    show("one audit record, synced", &synced);
    show("point query through guard, audit and reader", &point);
    show("scan, bare engine", &bare_scan);
    show("scan through guard, audit and reader", &scan);
    let over = median(&point).saturating_sub(median(&synced));
    println!("point query over one synced record: {over:?}");
    println!("scan against the bare engine: {:.2} ×", median(&scan).as_secs_f64() / median(&bare_scan).as_secs_f64());
    Ok(())
}

fn out(directory: &Path) -> std::io::Result<PathBuf> {
    let out = directory.join("out");
    std::fs::create_dir_all(&out)?;
    Ok(out)
}

fn ask(supervisor: &mut Supervisor, sql: &str) -> Result<(), Box<dyn Error>> {
    let mine = supervisor.request(&Request::RunQuery { sql: sql.to_owned() }, &SqlSettings::default())?;
    loop {
        for happening in supervisor.turn(None)? {
            if let Happening::Reply { ticket, outcome } = happening
                && ticket == mine
            {
                return Ok(outcome.map(drop)?);
            }
        }
    }
}

fn status(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}

/// One run to warm up, then so many that count; sorted.
fn times(count: usize, mut run: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<Vec<Duration>, Box<dyn Error>> {
    run()?;
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let started = Instant::now();
        run()?;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

fn median(times: &[Duration]) -> Duration {
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn show(what: &str, times: &[Duration]) {
    let p90 = times.get(times.len() * 9 / 10).copied().unwrap_or_default();
    println!("{what:<52} {:>7.0} µs {:>7.0} µs", median(times).as_secs_f64() * 1e6, p90.as_secs_f64() * 1e6);
}
