//! Options that every command knows.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

use crate::sandbox::Strictness;

/// Options that every command knows; each has an environment variable for containers and timers.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The database: an existing SQLite file. It is only ever read.
    #[arg(long, global = true, env = "PI_SQL_DB", default_value = "/data/analytics.db", value_name = "PATH")]
    pub(crate) db: PathBuf,
    /// Where the audit log and findings go.
    #[arg(long, global = true, env = "PI_SQL_OUT", default_value = "sql-output", value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The model that answers, PROVIDER/ID. Without one: settings, else offline/planner.
    #[arg(long, global = true, env = "PI_SQL_MODEL", value_name = "P/ID")]
    pub(crate) model: Option<String>,
    /// The directory with SYSTEM.md, skills, prompts and settings.json (default: `.pi` here, if there is one).
    #[arg(long, global = true, env = "PI_SQL_PI", value_name = "DIR")]
    pub(crate) pi: Option<PathBuf>,
    /// Whether a kernel that lacks a belt is refused, or used with what it has.
    #[arg(long, global = true, env = "PI_SQL_SANDBOX", default_value = "required", value_name = "required|best-effort", value_parser = strictness)]
    pub(crate) sandbox: Strictness,
    /// The date that “last month” counts from, YYYY-MM-DD (default: today, UTC).
    #[arg(long, global = true, env = "PI_SQL_TODAY", value_name = "DATE", value_parser = date)]
    pub(crate) today: Option<Date>,
}

impl Options {
    /// What is wrong with an output directory that lies in the database's directory, if it does. Landlock lets a reader
    /// into a directory with all that is below it, and can't take a part back.
    pub(crate) fn output_beside_data(&self) -> Option<&'static str> {
        let output = self.out.canonicalize().or_else(|_| std::path::absolute(&self.out)).ok()?;
        let named = self.db.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
        let resolved = self.db.canonicalize().ok()?;
        let beside = [named.and_then(|parent| parent.canonicalize().ok()), resolved.parent().map(Path::to_owned)];
        beside.into_iter().flatten().any(|directory| output.starts_with(directory)).then_some(
            "the output directory lies in the database's directory, so the reader can read the audit log: name another \
             with --out",
        )
    }

    /// The date questions count from.
    pub(crate) fn today(&self) -> Date {
        self.today.unwrap_or_else(|| Offset::UTC.to_datetime(Timestamp::now()).date())
    }
}

fn date(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "write a date as YYYY-MM-DD".into())
}

fn strictness(text: &str) -> Result<Strictness, String> {
    match text {
        "required" => Ok(Strictness::Required),
        "best-effort" => Ok(Strictness::BestEffort),
        _ => Err("use required or best-effort".into()),
    }
}
