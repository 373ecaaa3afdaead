//! Options that every command knows.

use std::path::PathBuf;

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
