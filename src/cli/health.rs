//! `pi-sql health`: whether a run would work now, and whether the last good one is recent enough.
//!
//! Made for health checks (exec form, no shell): quick, silent on the audit log, and nothing is written. The exit code
//! is the verdict: 0 healthy, 2 usage, 5 the database can't be opened, 6 a belt is not in force, 7 the last good run is
//! overdue or the audit log can't be read.

use std::io::Write;
use std::path::Path;

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use serde_json::Value;

use crate::audit::Follow;
use crate::cli::appliance::Appliance;
use crate::cli::options::Options;
use crate::cli::{ExitKind, Failure};
use crate::process::try_database;
use crate::ui::text::harmless;

/// Records looked at first, from the end of the log; sixteen times as many each time none of them tells of success.
const FIRST_LOOK: usize = 64;

/// `pi-sql health`.
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 healthy, 2 usage, 5 the database can't be opened, 6 a belt is not in force, 7 the last \
                        good run is overdue or the audit log can't be read."
)]
pub(crate) struct Args {
    /// How old the last good run may be, such as 36h or 8d. Without it only the database is looked at.
    #[arg(long, env = "PI_SQL_MAX_AGE", value_name = "AGE", value_parser = age)]
    max_age: Option<SignedDuration>,
}

/// Checks, and says in one line what was found.
pub(crate) fn run(options: &Options, args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    // The log first: what opens the database afterwards gives up the right to read anything else.
    let last = args.max_age.map(|max_age| in_time(&options.out, max_age, Timestamp::now())).transpose()?;
    let hide = Appliance::load(options)?.sql.hide;
    let database = try_database(&options.db, &hide, options.sandbox)?;
    let last = last.map(|time| format!(", last good run {time}")).unwrap_or_default();
    let opened = format!("healthy: {} opens ({} bytes){last}", database.path, database.size);
    writeln!(out, "{}", harmless(&opened))
        .and_then(|()| out.flush())
        .map_err(|error| Failure::new(ExitKind::Output, "the verdict can't be written").because(error))
}

/// When the last good run ended, if that is recent enough.
fn in_time(directory: &Path, max_age: SignedDuration, now: Timestamp) -> Result<Timestamp, Failure> {
    let overdue = |what: String| Failure::new(ExitKind::Output, what).hint("look at the last runs: pi-sql audit tail");
    let Some(last) = last_success(directory)? else {
        return Err(overdue(format!("overdue: {} tells of no run that ended well", directory.display())));
    };
    let age = now.duration_since(last);
    if age > max_age {
        return Err(overdue(format!("overdue: the last run that ended well was at {last}, {age:#} ago")));
    }
    Ok(last)
}

/// When something last ended well: a run, or an answer of a run that goes on.
fn last_success(directory: &Path) -> Result<Option<Timestamp>, Failure> {
    let unreadable = |error| Failure::new(ExitKind::Output, "the audit log can't be read").because(error);
    let mut count = FIRST_LOOK;
    loop {
        let (lines, _) = Follow::from_end(directory, count).map_err(unreadable)?;
        let found = lines.iter().rev().find_map(|line| success(line));
        if found.is_some() || lines.len() < count {
            return Ok(found);
        }
        count = count.saturating_mul(16);
    }
}

/// When the thing this record tells of ended well; none if it tells of something else.
fn success(line: &[u8]) -> Option<Timestamp> {
    let record: Value = serde_json::from_slice(line).ok()?;
    let ended = matches!(record.get("kind")?.as_str()?, "stop" | "answer");
    if !ended || record.get("exit")?.as_u64()? != 0 {
        return None;
    }
    record.get("time")?.as_str()?.parse().ok()
}

fn age(text: &str) -> Result<SignedDuration, String> {
    let understood = text.parse::<Span>().and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()));
    match understood {
        Ok(age) if age > SignedDuration::ZERO => Ok(age),
        _ => Err("use an age such as 90m, 36h or 8d".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Durability, Entry, Log, Options as AuditOptions, Record};

    fn log(directory: &Path, exits: &[u8]) {
        let mut log = Log::open(directory, AuditOptions::for_run("r")).unwrap();
        for &exit in exits {
            let entry = Entry::Stop { reason: "done".into(), exit };
            log.append(&[Record { question: None, entry }], Durability::Now).unwrap();
        }
    }

    #[test]
    fn ages_are_read_as_people_write_them() {
        assert_eq!(age("36h").unwrap(), SignedDuration::from_hours(36));
        assert_eq!(age("8d").unwrap(), SignedDuration::from_hours(8 * 24));
        assert_eq!(age("90 minutes").unwrap(), SignedDuration::from_mins(90));
        for wrong in ["", "soon", "-1h", "0s", "1"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_run_that_ended_well_long_ago_is_overdue_and_one_that_failed_counts_for_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let hour = SignedDuration::from_hours(1);
        let kind = |now| in_time(directory.path(), hour, now).map_err(|failure| failure.kind());
        log(directory.path(), &[5]);
        assert_eq!(kind(Timestamp::now()), Err(ExitKind::Output));
        log(directory.path(), &[0, 5]);
        let now = Timestamp::now();
        assert!(kind(now).is_ok());
        assert_eq!(kind(now + hour + hour), Err(ExitKind::Output));
    }

    #[test]
    fn a_success_is_found_behind_any_number_of_failures() {
        let directory = tempfile::tempdir().unwrap();
        log(directory.path(), &[0]);
        log(directory.path(), &[5; FIRST_LOOK * 3]);
        assert!(last_success(directory.path()).unwrap().is_some());
    }

    #[test]
    fn a_log_that_is_not_there_is_overdue() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("nowhere");
        let failure = in_time(&missing, SignedDuration::from_hours(1), Timestamp::now()).unwrap_err();
        assert_eq!(failure.kind(), ExitKind::Output);
    }
}
