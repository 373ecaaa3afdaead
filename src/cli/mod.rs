//! The command line: one file a subcommand.
//!
//! stdout carries the answer and nothing else; the trail and notes go to stderr.
#![forbid(unsafe_code)]

mod appliance;
mod ask;
mod audit;
mod doctor;
mod eval;
mod failure;
mod health;
mod options;
mod output;
mod policy;
mod prompt;
mod query;
mod sample;
mod schema;
#[cfg(feature = "belt-switches")]
mod trial;

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use nix::sys::signal::{SigSet, Signal};

pub use failure::{ExitKind, Failure};

use crate::cli::options::Options;
use crate::cli::output::{Output, unwritable};
use crate::process;
use crate::ui::text::harmless;

/// A question in plain English, one sentence with the number in it, and a receipt for every query that ran.
#[derive(Parser)]
#[command(name = "pi-sql", version, arg_required_else_help = false, after_help = EXIT_CODES)]
struct CommandLine {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    ask: ask::AskOptions,
    #[command(subcommand)]
    command: Option<Command>,
    /// The question, after `--`.
    #[arg(last = true, value_name = "QUESTION")]
    question: Vec<String>,
}

/// What somebody who typed something else most likely wanted.
const HOW_TO_ASK: &str = "a question stands after two dashes: pi-sql -- \"how many accounts churned in June 2026?\"";

const EXIT_CODES: &str = "\
Exit codes: 0 answered, 2 usage, 3 no answer (asked back, can't tell, or out of time), 4 model, 5 database, 6 sandbox, 7 audit or \
output, 128+n stopped by signal n.";

#[derive(Subcommand)]
enum Command {
    /// Ask a question (the default: `pi-sql -- "how many …?"`).
    Ask(ask::Args),
    /// Run one SELECT of your own through the same belts.
    Query(query::Args),
    /// List the tables, or describe one.
    Schema(schema::Args),
    /// Verify, show or follow the audit log.
    Audit(audit::AuditArgs),
    /// Print exactly what the model is told.
    Prompt(prompt::Args),
    /// Write the sample database.
    Sample(sample::Sample),
    /// Print what each role may do.
    Policy(policy::Args),
    /// Prove the belts where they run.
    Doctor(doctor::Args),
    /// Say whether a run would work now: for health checks.
    Health(health::Args),
    /// Take belts off and make holes, as standard input tells (in builds for tests only).
    #[cfg(feature = "belt-switches")]
    Trial,
    /// Ask a file of questions with known answers, and count.
    Eval(eval::Args),
}

/// Runs the program: a role if its parent started one, else what the command line says.
pub fn run(arguments: &[OsString]) -> ExitCode {
    if let Some(code) = process::run_role(arguments) {
        return code;
    }
    // A file that may not grow any more is an error to tell, not a death without a word.
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
    let line = match CommandLine::try_parse_from(arguments) {
        Ok(line) => line,
        Err(error) => return explain(&error, arguments),
    };
    match dispatch(line) {
        Ok(code) => code,
        Err(failure) => {
            let code = failure.kind().into();
            report(&failure);
            code
        }
    }
}

fn dispatch(line: CommandLine) -> Result<ExitCode, Failure> {
    let options = line.options;
    let out = &mut Output::stdout().map_err(|error| unwritable("standard output", error))?;
    match line.command {
        None => ask::run(&options, &ask::Args { options: line.ask, question: line.question }, out),
        Some(Command::Ask(mut args)) => {
            args.question.extend(line.question);
            ask::run(&options, &args, out)
        }
        Some(Command::Query(args)) => query::run(&options, &args, out),
        Some(Command::Schema(args)) => schema::run(&options, &args, out),
        Some(Command::Audit(args)) => done(audit::run(&args, &options.out, out)),
        Some(Command::Prompt(args)) => done(prompt::run(&options, &args, out)),
        Some(Command::Sample(args)) => done(sample::run(&args)),
        Some(Command::Policy(args)) => done(policy::run(&args, out)),
        Some(Command::Doctor(args)) => doctor::run(&options, &args, out),
        Some(Command::Health(args)) => done(health::run(&options, &args, out)),
        #[cfg(feature = "belt-switches")]
        Some(Command::Trial) => done(trial::run(&options, out)),
        Some(Command::Eval(args)) => eval::run(&options, &args, out),
    }
}

/// Prints what is wrong with the command line, or the help that was asked for.
fn explain(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let printed = error.print();
    if !error.use_stderr() {
        return if printed.is_ok() { ExitCode::SUCCESS } else { ExitKind::Output.into() };
    }
    if let Some(word) = stray_word(error, arguments) {
        let command = CommandLine::command();
        let near = command.get_subcommands().map(clap::Command::get_name).find(|name| strsim::jaro(name, word) > 0.8);
        let _ = match near {
            Some(name) => writeln!(io::stderr(), "  hint: there is a command {name}"),
            None => writeln!(io::stderr(), "  hint: {HOW_TO_ASK}"),
        };
    }
    ExitKind::Usage.into()
}

/// A word that stands where a command should, so most likely a question or a mistyped command.
fn stray_word<'a>(error: &'a clap::Error, arguments: &[OsString]) -> Option<&'a str> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let command = CommandLine::command();
    let within_a_command = arguments.iter().any(|argument| command.find_subcommand(argument).is_some());
    (error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-') && !within_a_command).then_some(word)
}

fn done(result: Result<(), Failure>) -> Result<ExitCode, Failure> {
    result.map(|()| ExitCode::SUCCESS)
}

/// Says what failed, why, and what to do next.
fn report(failure: &Failure) {
    let mut err = Output::stderr();
    let _ = writeln!(err, "error: {}", harmless(&failure.to_string()));
    let mut cause = failure.source();
    while let Some(error) = cause {
        let _ = writeln!(err, "  because: {}", harmless(&error.to_string()));
        cause = error.source();
    }
    for hint in failure.hints() {
        let _ = writeln!(err, "  hint: {}", harmless(hint));
    }
}
