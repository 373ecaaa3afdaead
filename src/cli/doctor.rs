//! `pi-sql doctor`: what is in force here, checked where it runs.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::audit;
use crate::cli::appliance::Appliance;
use crate::cli::options::Options;
use crate::cli::output::unwritable;
use crate::cli::query::{attempt, finish};
use crate::cli::{ExitKind, Failure};
use crate::process::Supervisor;
use crate::sandbox::Strictness;
use crate::sql::gate::{ListTables, RefusalKind, Request};
use crate::sql::guard::spec;
use crate::sql::settings::SqlSettings;
use crate::ui::text::harmless;

/// `pi-sql doctor`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// One JSON object instead of lines.
    #[arg(long)]
    json: bool,
}

/// One check.
#[derive(Serialize)]
struct Check {
    name: &'static str,
    ok: bool,
    found: String,
}

/// Starts every role as in real use and checks what it can.
pub(crate) fn run(options: &Options, args: &Args, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let mut checks = vec![guard()];
    let started = Appliance::load(options).and_then(|appliance| Ok((appliance.start(options, true)?, appliance.sql)));
    match started {
        Ok((mut supervisor, settings)) => match probe(&mut supervisor, options, &settings) {
            Ok(found) => {
                checks.extend(found);
                supervisor.stop("doctor", exit_code(&checks))?;
            }
            Err(failure) => return finish(supervisor, Err(failure)),
        },
        // Stopped is not found wanting.
        Err(failure) if matches!(failure.kind(), ExitKind::Signal(_)) => return Err(failure),
        Err(failure) => checks.push(Check { name: "start", ok: false, found: failure.to_string() }),
    }
    checks.push(match audit::verify(&options.out, None) {
        Ok(verified) => {
            Check { name: "audit", ok: true, found: format!("the chain holds: {} records", verified.records) }
        }
        Err(broken) => Check { name: "audit", ok: false, found: broken.to_string() },
    });
    write(out, &checks, args.json).map_err(|error| unwritable("the report", error))?;
    Ok(ExitCode::from(exit_code(&checks)))
}

fn exit_code(checks: &[Check]) -> u8 {
    if checks.iter().all(|check| check.ok) { 0 } else { ExitKind::Sandbox.code() }
}

/// Checks the roles of a run, and what a person's requests come to.
fn probe(supervisor: &mut Supervisor, options: &Options, settings: &SqlSettings) -> Result<Vec<Check>, Failure> {
    let mut checks = Vec::new();
    for report in supervisor.reports() {
        let landlock = report.landlock;
        checks.push(Check {
            name: "role",
            ok: report.check(report.role, Strictness::Required).is_ok(),
            found: format!(
                "{}: Landlock ABI {}, no new privileges, no capabilities, closed to its peers",
                report.role, landlock.abi
            ),
        });
    }
    let list = Request::ListTables(ListTables { limit: 1, ..ListTables::default() });
    let listed = attempt(supervisor, &list, settings)?;
    checks.push(Check {
        name: "database",
        ok: listed.is_ok(),
        found: match listed {
            Ok(_) => format!("{} opens and answers", options.db.display()),
            Err(refusal) => refusal.message,
        },
    });
    let write = Request::RunQuery { sql: "DELETE FROM sqlite_schema".into() };
    let refused = attempt(supervisor, &write, settings)?;
    checks.push(Check {
        name: "write",
        ok: matches!(&refused, Err(refusal) if refusal.kind == RefusalKind::Guard),
        found: "a DELETE is refused by the guard".into(),
    });
    Ok(checks)
}

/// Belt 2's own table of cases, run by this very binary.
fn guard() -> Check {
    let failures = spec::run();
    Check {
        name: "guard",
        ok: failures.is_empty(),
        found: match failures.first() {
            None => format!("{} cases of its specification hold", spec::CASES.len()),
            Some(first) => format!("{} cases fail, first: {first}", failures.len()),
        },
    }
}

fn write(out: &mut dyn Write, checks: &[Check], json: bool) -> io::Result<()> {
    if json {
        serde_json::to_writer(&mut *out, checks)?;
        writeln!(out)?;
    } else {
        for check in checks {
            let mark = if check.ok { "ok  " } else { "FAIL" };
            writeln!(out, "{mark} {:<9} {}", check.name, harmless(&check.found))?;
        }
    }
    out.flush()
}
