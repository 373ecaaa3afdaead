//! `pi-sql query SQL`: a person's own SELECT, through the same belts and on the same record.

use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::process::ExitCode;

use crate::audit::Head;
use crate::cli::appliance::Appliance;
use crate::cli::options::Options;
use crate::cli::output::{Output, unwritable};
use crate::cli::{ExitKind, Failure};
use crate::process::{Happening, Supervisor};
use crate::sql::gate::{Cap, Refusal, RefusalKind, Reply, Request};
use crate::sql::settings::SqlSettings;
use crate::ui::rows::{RowFormat, write_rows};
use crate::ui::text::harmless;

/// Bytes of SQL read from standard input: more than the guard lets through, so that the guard says so.
const INPUT_CAP: u64 = 1 << 20;
/// Rows a person gets unless they ask for more.
const ROWS: NonZeroUsize = NonZeroUsize::new(1000).unwrap();
/// Bytes a person's result may hold, encoded.
const BYTES: usize = 8 << 20;

/// `pi-sql query`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// One SELECT, WITH … SELECT or VALUES; `-` reads it from standard input.
    #[arg(value_name = "SQL")]
    sql: String,
    /// How rows are written.
    #[arg(long, value_enum, default_value_t)]
    format: RowFormat,
    /// At most so many rows; the text itself is never changed.
    #[arg(long, default_value_t = ROWS, value_name = "N", allow_negative_numbers = true)]
    rows: NonZeroUsize,
}

/// Runs the query.
pub(crate) fn run(options: &Options, args: &Args, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let sql = if args.sql == "-" { from_stdin()? } else { args.sql.clone() };
    let appliance = Appliance::load(options)?;
    let mut supervisor = appliance.start(options, false)?;
    let settings = SqlSettings { max_rows: args.rows.get(), max_bytes: BYTES, ..appliance.sql };
    let outcome = request(&mut supervisor, &Request::RunQuery { sql }, &settings).and_then(|reply| {
        let Reply::RunQuery(result) = reply else {
            return Err(Failure::new(ExitKind::Sandbox, "the reader answered something else"));
        };
        write_rows(out, &result, args.format)
            .and_then(|()| out.flush())
            .map_err(|error| unwritable("the rows", error))?;
        Ok(result)
    });
    let result = finish(supervisor, outcome)?;
    let mut err = Output::stderr();
    for note in &result.notes {
        let _ = writeln!(err, "note: {}", harmless(note));
    }
    let cut = match result.truncated {
        Some(Cap::Rows) => Some("only these rows were read, more exist: raise --rows or aggregate"),
        Some(Cap::Bytes) => Some("only these rows were read, the result is too large: select less or aggregate"),
        Some(Cap::Time) => Some("only these rows were read before the deadline: filter or aggregate"),
        None => None,
    };
    if let Some(cut) = cut {
        let _ = writeln!(err, "note: {cut}");
    }
    let _ = writeln!(err, "audit: record {}", result.audit_seq);
    Ok(ExitCode::SUCCESS)
}

/// Sends one request and waits for what comes of it.
pub(super) fn request(
    supervisor: &mut Supervisor,
    request: &Request,
    settings: &SqlSettings,
) -> Result<Reply, Failure> {
    attempt(supervisor, request, settings)?.map_err(refused)
}

/// The same, where a refusal is a finding too. A signal ends the wait.
pub(super) fn attempt(
    supervisor: &mut Supervisor,
    request: &Request,
    settings: &SqlSettings,
) -> Result<Result<Reply, Refusal>, Failure> {
    let mine = supervisor.request(request, settings)?;
    loop {
        for happening in supervisor.turn(None)? {
            match happening {
                Happening::Reply { ticket, outcome } if ticket == mine => return Ok(outcome),
                Happening::Signal(signal) => {
                    return Err(Failure::new(ExitKind::of_signal(signal), "stopped before the answer came"));
                }
                _ => {}
            }
        }
    }
}

/// Ends the run with exit code 0, or with the failure's.
pub(super) fn finish<T>(supervisor: Supervisor, outcome: Result<T, Failure>) -> Result<T, Failure> {
    finish_with(supervisor, outcome, |_| 0).map(|(value, _)| value)
}

/// Ends the run; its last record says what the caller will see, so it comes after everything that could fail.
pub(super) fn finish_with<T>(
    supervisor: Supervisor,
    outcome: Result<T, Failure>,
    exit: impl FnOnce(&T) -> u8,
) -> Result<(T, Head), Failure> {
    let stopped = match &outcome {
        Ok(value) => supervisor.stop("done", exit(value)),
        Err(failure) => supervisor.stop(&failure.to_string(), failure.kind().code()),
    };
    // Why the run failed is said before why its end could not be recorded.
    Ok((outcome?, stopped?))
}

fn refused(refusal: Refusal) -> Failure {
    let kind = match refusal.kind {
        RefusalKind::Guard | RefusalKind::Unknown | RefusalKind::Sqlite | RefusalKind::Request => ExitKind::Usage,
        RefusalKind::Deadline => ExitKind::NoAnswer,
        RefusalKind::Reader | RefusalKind::Database => ExitKind::Database,
        RefusalKind::Audit => ExitKind::Output,
    };
    Failure::new(kind, refusal.message)
}

fn from_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    io::stdin()
        .take(INPUT_CAP)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(ExitKind::Usage, "the SQL can't be read from standard input").because(error))?;
    let text = match str::from_utf8(&bytes) {
        // Cut at the cap, perhaps in the middle of a letter; the guard says that it is too long.
        Err(error) if error.error_len().is_none() && bytes.len() as u64 == INPUT_CAP => &bytes[..error.valid_up_to()],
        _ => &bytes,
    };
    String::from_utf8(text.to_owned())
        .map_err(|_| Failure::new(ExitKind::Usage, "the SQL on standard input is not UTF-8 text"))
}
