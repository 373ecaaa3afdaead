//! `pi-sql doctor`: proves the belts where they run. Anything that can be reached and should not be is exit 6.

mod attacks;
mod outside;

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;

use crate::audit;
use crate::cli::appliance::Appliance;
use crate::cli::doctor::attacks::Outcome;
use crate::cli::options::Options;
use crate::cli::output::unwritable;
use crate::cli::query::{attempt, finish};
use crate::cli::{ExitKind, Failure};
use crate::process::{Place, Supervisor};
use crate::sandbox::{Belts, Report, Strictness};
use crate::sql::gate::{ListTables, RefusalKind, Request};
use crate::sql::guard::spec;
use crate::sql::settings::SqlSettings;
use crate::ui::text::harmless;

/// `pi-sql doctor`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// One JSON object instead of lines; it has every single attempt.
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

/// What was found.
struct Findings {
    checks: Vec<Check>,
    attempts: Vec<Outcome>,
    outside: Vec<Check>,
    /// Whether what is outside counts.
    in_container: bool,
}

/// Takes the attack list through every role, then starts them all as in real use and checks what they report.
pub(crate) fn run(options: &Options, args: &Args, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let mut findings = Findings {
        checks: vec![guard()],
        attempts: Vec::new(),
        outside: Vec::new(),
        in_container: outside::in_container(),
    };
    // The log must be there to be attacked.
    let ready = audit::Log::open(&options.out, audit::Options::for_run(uuid::Uuid::now_v7().to_string()))
        .map(drop)
        .map_err(|error| Failure::new(ExitKind::Output, error.to_string()));
    findings.outside = outside::look(&options.db, &options.out);
    let place = Place {
        database: options.db.clone(),
        output: options.out.clone(),
        strictness: options.sandbox,
        port: None,
        belts: Belts::default(),
    };
    if let Some(check) = layout(options) {
        findings.checks.push(check);
    }
    match ready.and_then(|()| attacks::attempt_all(place)) {
        Ok(attempts) => findings.attempts = attempts,
        Err(failure) => findings.checks.push(failed("attempts", &failure)),
    }
    let started = Appliance::load(options).and_then(|appliance| Ok((appliance.start(options, true)?, appliance.sql)));
    match started {
        Ok((mut supervisor, settings)) => match real_use(&mut supervisor, options, &settings) {
            Ok(checks) => {
                findings.checks.extend(checks);
                supervisor.stop("doctor", findings.exit_code())?;
            }
            Err(failure) => return finish(supervisor, Err(failure)),
        },
        // Stopped is not found wanting.
        Err(failure) if matches!(failure.kind(), ExitKind::Signal(_)) => return Err(failure),
        Err(failure) => findings.checks.push(failed("start", &failure)),
    }
    findings.checks.push(match audit::verify(&options.out, None) {
        Ok(verified) => {
            Check { name: "audit", ok: true, found: format!("the chain holds: {} records", verified.records) }
        }
        Err(broken) => Check { name: "audit", ok: false, found: broken.to_string() },
    });
    let written = if args.json { write_json(out, &findings) } else { write_lines(out, &findings) };
    written.map_err(|error| unwritable("the report", error))?;
    Ok(ExitCode::from(findings.exit_code()))
}

impl Findings {
    fn healthy(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
            && self.attempts.iter().all(|outcome| outcome.ok)
            && (!self.in_container || self.outside.iter().all(|check| check.ok))
    }

    fn exit_code(&self) -> u8 {
        if self.healthy() { 0 } else { ExitKind::Sandbox.code() }
    }
}

/// The roles of a run: what they report, an answer, and a refusal.
fn real_use(supervisor: &mut Supervisor, options: &Options, settings: &SqlSettings) -> Result<Vec<Check>, Failure> {
    let mut checks: Vec<Check> = supervisor.reports().iter().map(reported).collect();
    let one = Request::ListTables(ListTables { limit: 1, ..ListTables::default() });
    let listed = attempt(supervisor, &one, settings)?;
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
        ok: refused.is_err_and(|refusal| refusal.kind == RefusalKind::Guard),
        found: "a DELETE is refused by the guard".into(),
    });
    Ok(checks)
}

fn reported(report: &Report) -> Check {
    let result = report.check(report.role, Strictness::Required);
    let securebits = if report.securebits_locked { "locked" } else { "as they were" };
    Check {
        name: "role",
        ok: result.is_ok(),
        found: match result {
            Ok(()) => format!(
                "{}: Landlock ABI {}, a system-call filter, no new privileges, no capabilities, securebits {securebits}, \
                 closed to its peers",
                report.role, report.landlock.abi
            ),
            Err(error) => error.to_string(),
        },
    }
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

/// Whether the audit is out of the reader's reach.
fn layout(options: &Options) -> Option<Check> {
    let found = options.output_beside_data()?;
    Some(Check { name: "layout", ok: false, found: found.into() })
}

fn failed(name: &'static str, failure: &Failure) -> Check {
    Check { name, ok: false, found: failure.to_string() }
}

fn write_json(out: &mut dyn Write, findings: &Findings) -> io::Result<()> {
    let report = json!({
        "healthy": findings.healthy(),
        "checks": findings.checks,
        "attempts": findings.attempts,
        "in_container": findings.in_container,
        "outside": findings.outside,
    });
    writeln!(out, "{report}")?;
    out.flush()
}

fn write_lines(out: &mut dyn Write, findings: &Findings) -> io::Result<()> {
    for check in &findings.checks {
        write_line(out, if check.ok { "ok  " } else { "FAIL" }, check.name, &check.found)?;
    }
    for role in attacks::ROLES {
        let of_role: Vec<&Outcome> = findings.attempts.iter().filter(|outcome| outcome.role == role).collect();
        if of_role.is_empty() {
            continue;
        }
        let held = of_role.iter().filter(|outcome| outcome.ok && !outcome.works).count();
        let worked = of_role.iter().filter(|outcome| outcome.ok && outcome.works).count();
        let all = held + worked == of_role.len();
        let found = format!("{role}: {held} forbidden things are stopped, {worked} that it needs work");
        write_line(out, if all { "ok  " } else { "FAIL" }, "attempts", &found)?;
        for outcome in of_role.iter().filter(|outcome| !outcome.ok) {
            let found = format!("{role}: “{}” {}, not {}", outcome.attempt, outcome.found, outcome.expected);
            write_line(out, "FAIL", "hole", &found)?;
        }
    }
    for check in &findings.outside {
        let mark = match (check.ok, findings.in_container) {
            (true, _) => "ok  ",
            (false, true) => "FAIL",
            (false, false) => "note",
        };
        write_line(out, mark, "outside", &format!("{}: {}", check.name, check.found))?;
    }
    out.flush()
}

fn write_line(out: &mut dyn Write, mark: &str, name: &str, found: &str) -> io::Result<()> {
    writeln!(out, "{mark} {name:<9} {}", harmless(found))
}
