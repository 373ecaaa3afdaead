//! `pi-sql audit`: check the log, read it, watch it.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use super::{ExitKind, Failure};
use crate::audit::{AuditError, Digest, Entry, Follow, Reader, VerifyError, verify};
use crate::ui::text::harmless;

mod render;

/// How often `tail -f` looks: soon enough for eyes, seldom enough to cost nothing.
const LOOK: Duration = Duration::from_millis(200);

/// Checks, shows or follows the audit log.
#[derive(Args, Clone, Debug)]
pub(super) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum AuditCommand {
    /// Follow the hash chain through all files and name the first line where it breaks
    Verify(VerifyArgs),
    /// Show records
    Show(ShowArgs),
    /// Show the last records, and with -f the new ones as they come
    Tail(TailArgs),
}

#[derive(Args, Clone, Debug)]
struct VerifyArgs {
    /// A head kept elsewhere, that must be in the chain
    #[arg(long, value_name = "sha256:…")]
    head: Option<Digest>,
}

#[derive(Args, Clone, Debug)]
struct ShowArgs {
    /// Only records of this question (its id, or the beginning of it)
    #[arg(long, value_name = "ID")]
    question: Option<String>,
    /// Only records of this kind
    #[arg(long, value_parser = PossibleValuesParser::new(Entry::KINDS))]
    kind: Option<String>,
    /// Only the record with this number
    #[arg(long, value_name = "N")]
    seq: Option<u64>,
    /// Only the last N of them
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// How to show them: for eyes, or the lines of the log as they are
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Args, Clone, Debug)]
struct TailArgs {
    /// Go on with new records as they come
    #[arg(short, long)]
    follow: bool,
    /// How many to begin with
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 10)]
    lines: usize,
    /// How to show them: for eyes, or the lines of the log as they are
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// A reader that went away ends a command quietly; anything else is a failure.
enum Stop {
    Quiet,
    Failed(Failure),
}

/// Runs the command on the log of this directory.
pub(super) fn run(args: &AuditArgs, out_dir: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let done = match &args.command {
        AuditCommand::Verify(args) => check(args, out_dir, out),
        AuditCommand::Show(args) => show(args, out_dir, out),
        AuditCommand::Tail(args) => tail(args, out_dir, out),
    };
    match done.and_then(|()| out.flush().map_err(Stop::from)) {
        Err(Stop::Failed(failure)) => Err(failure),
        Ok(()) | Err(Stop::Quiet) => Ok(()),
    }
}

fn check(args: &VerifyArgs, out_dir: &Path, out: &mut dyn Write) -> Result<(), Stop> {
    let verified = verify(out_dir, args.head).map_err(|error| {
        let failure = Failure::new(ExitKind::Output, error.to_string());
        Stop::Failed(match error {
            VerifyError::Broken(_) => failure.hint(
                "nothing from that line on is proven; compare it with a copy, or with a head that a run reported",
            ),
            VerifyError::Missing(_) | VerifyError::Unreadable(_) => failure,
        })
    })?;
    let (records, files) = (verified.records, verified.files);
    writeln!(out, "the chain is whole: {}, in {}", count(records, "record"), count(files as u64, "file"))?;
    if verified.repairs > 0 {
        writeln!(out, "{} after a crash: pi-sql audit show --kind repair", count(verified.repairs, "repair"))?;
    }
    writeln!(out, "head {}", verified.head)?;
    Ok(())
}

fn show(args: &ShowArgs, out_dir: &Path, out: &mut dyn Write) -> Result<(), Stop> {
    let mut reader = Reader::open(existing(out_dir)?)?;
    let mut last = VecDeque::new();
    while let Some(line) = reader.next_line()? {
        if !args.wants(&line) {
            continue;
        }
        match args.limit {
            None => print(&line, args.format, out)?,
            Some(limit) => {
                last.push_back(line);
                if last.len() > limit {
                    last.pop_front();
                }
            }
        }
    }
    last.iter().try_for_each(|line| print(line, args.format, out))?;
    Ok(())
}

fn tail(args: &TailArgs, out_dir: &Path, out: &mut dyn Write) -> Result<(), Stop> {
    let (mut lines, mut follow) = Follow::from_end(existing(out_dir)?, args.lines)?;
    loop {
        lines.iter().try_for_each(|line| print(line, args.format, out))?;
        if !args.follow {
            return Ok(());
        }
        out.flush()?;
        lines = follow.poll()?;
        if lines.is_empty() {
            sleep(LOOK);
        }
    }
}

/// A mistyped directory is said at once, rather than read as an empty log.
fn existing(out_dir: &Path) -> Result<&Path, Stop> {
    if out_dir.is_dir() {
        return Ok(out_dir);
    }
    Err(Stop::Failed(Failure::new(ExitKind::Output, VerifyError::Missing(out_dir.to_owned()).to_string())))
}

fn print(line: &[u8], format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text => render::record(line, out),
        // Our own lines are printable ASCII and pass unchanged; one that somebody wrote into the log may not be.
        Format::Json => writeln!(out, "{}", harmless(&String::from_utf8_lossy(line))),
    }
}

fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

impl ShowArgs {
    /// Whether the line is asked for. A line that is no record is shown only where everything is.
    fn wants(&self, line: &[u8]) -> bool {
        if self.question.is_none() && self.kind.is_none() && self.seq.is_none() {
            return true;
        }
        let Ok(record) = serde_json::from_slice::<Value>(line) else { return false };
        let question = record["question"].as_str().unwrap_or_default();
        self.question.as_ref().is_none_or(|wanted| !question.is_empty() && question.starts_with(wanted))
            && self.kind.as_ref().is_none_or(|wanted| record["kind"] == wanted.as_str())
            && self.seq.is_none_or(|wanted| record["seq"] == wanted)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            return Self::Quiet;
        }
        Self::Failed(Failure::new(ExitKind::Output, "the output can't be written").because(error))
    }
}

impl From<AuditError> for Stop {
    fn from(error: AuditError) -> Self {
        Self::Failed(Failure::new(ExitKind::Output, error.to_string()))
    }
}

#[cfg(test)]
mod tests;
