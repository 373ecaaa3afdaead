//! `pi-sql -- QUESTION`: one question, one sentence.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::agent::Event;
use crate::audit::Entry;
use crate::cli::appliance::Appliance;
use crate::cli::options::Options;
use crate::cli::output::{Output, unwritable};
use crate::cli::query::finish_with;
use crate::cli::{ExitKind, Failure};
use crate::process::{Happening, Supervisor};
use crate::sandbox::Strictness;
use crate::session::Header;
use crate::sql::connection::OpenedAs;
use crate::sql::proof::Proof;
use crate::ui::JsonLines;
use crate::ui::collector::{Collector, Ending};
use crate::ui::envelope::{AuditRange, Basis, Envelope, OutcomeKind};
use crate::ui::text::harmless;
use crate::ui::trail::write_step;

/// How long an agent may take to stop once it is told to.
const ABORT_PATIENCE: Duration = Duration::from_millis(500);
/// Bytes of the longest question; a longer one is a mistake, or an attack on the budget.
const QUESTION_CAP: usize = 16 << 10;

/// `pi-sql ask`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) options: AskOptions,
    /// The question; none, or `-`, reads it from standard input.
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Vec<String>,
}

/// Options of a question.
#[derive(clap::Args)]
pub(crate) struct AskOptions {
    /// What stdout carries: the sentence, or the whole envelope.
    #[arg(long, value_enum, default_value_t)]
    format: AnswerFormat,
    /// How the run is shown: the sentence and a trail, or every event as a JSON line on stdout.
    #[arg(long, value_enum, default_value_t)]
    mode: Mode,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum AnswerFormat {
    #[default]
    Text,
    Json,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    #[default]
    Text,
    Json,
}

/// Asks, answers, ends.
pub(crate) fn run(options: &Options, args: &Args, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let question = question(&args.question)?;
    let appliance = Appliance::load(options)?;
    // Looked at while this process may still look at paths.
    let beside = options.output_beside_data();
    let mut supervisor = appliance.start(options, true)?;
    if let Some(beside) = beside {
        let _ = writeln!(Output::stderr(), "note: {beside}");
    }
    let asked = ask(&mut supervisor, &appliance, options, &question, args.options.mode, out).and_then(|envelope| {
        let shown = match (args.options.mode, args.options.format) {
            (Mode::Json, _) => Ok(()),
            (Mode::Text, AnswerFormat::Json) => write_envelope(out, &envelope),
            (Mode::Text, AnswerFormat::Text) => show_answer(out, &envelope),
        };
        match shown.and_then(|()| out.flush()) {
            Ok(()) => Ok(envelope),
            Err(error) => Err(unwritable("the answer", error)),
        }
    });
    let (envelope, head) = finish_with(supervisor, asked, |envelope| envelope.exit)?;
    let _ = writeln!(Output::stderr(), "audit: records {}–{}, head {}", envelope.audit.first, head.seq, head.hash);
    Ok(ExitCode::from(envelope.exit))
}

/// Asks, and shows the run while it goes on.
fn ask(
    supervisor: &mut Supervisor,
    appliance: &Appliance,
    options: &Options,
    question: &str,
    mode: Mode,
    out: &mut dyn Write,
) -> Result<Envelope, Failure> {
    let lost = |error| unwritable("the answer", error);
    let mut lines = match mode {
        Mode::Json => Some(JsonLines::begin(out, &Header::new()).map_err(lost)?),
        Mode::Text => None,
    };
    let front = if lines.is_some() { "json" } else { "text" };
    let mut err = Output::stderr();
    for warning in &appliance.resources.warnings {
        let _ = writeln!(err, "note: {}", harmless(&warning.to_string()));
    }
    let mut written = Ok(());
    let envelope = answer(supervisor, appliance, options, question, front, &mut |event| match &mut lines {
        Some(lines) if written.is_ok() => written = lines.event(event),
        Some(_) => {}
        // Nobody may be watching; the answer counts.
        None => drop(write_step(&mut err, event)),
    })?;
    written.map_err(lost)?;
    Ok(envelope)
}

/// Asks one question of a running supervisor, and puts its answer on record before anybody sees it.
pub(super) fn answer(
    supervisor: &mut Supervisor,
    appliance: &Appliance,
    options: &Options,
    question: &str,
    front: &str,
    show: &mut dyn FnMut(&Event),
) -> Result<Envelope, Failure> {
    let first = supervisor.ask(question, front)?;
    let mut collector = Collector::new(question);
    let mut stopped: Option<(i32, Instant)> = None;
    let mut fault = None;
    while !collector.is_settled() && fault.is_none() {
        if stopped.is_some_and(|(_, patience)| Instant::now() > patience) {
            break;
        }
        let wait = stopped.map(|(_, patience)| patience);
        for happening in supervisor.turn(wait)? {
            match happening {
                Happening::Event(event) => {
                    collector.hear(&event);
                    show(&event);
                }
                Happening::Rows { sql, result } => collector.add_result(sql, result),
                Happening::AgentDied(how) => fault = Some(format!("the agent died: {how}")),
                Happening::Signal(signal) if stopped.is_none() => {
                    supervisor.abort();
                    stopped = Some((signal, Instant::now() + ABORT_PATIENCE));
                }
                Happening::Signal(_) | Happening::Response(_) | Happening::Reply { .. } => {}
            }
        }
    }
    let ending = collector.ending(fault);
    let exit = exit_code(&ending, supervisor, stopped.map(|(signal, _)| signal));
    let entry = Entry::Answer {
        outcome: ending.outcome.name().into(),
        text: ending.text.clone(),
        exit,
        grounded: ending.proof.as_ref().map(Proof::is_whole),
        results: collector.results().map(|result| result.audit_seq).collect(),
    };
    let last = supervisor.record(entry)?;
    let audit = AuditRange { first, last, head: supervisor.head().hash.to_string() };
    let database = supervisor.database();
    let basis = Basis {
        database: file_name(&options.db),
        as_of: database.and_then(|identity| to_the_second(&identity.modified)),
        opened: database.map(|identity| identity.opened),
        newest: None,
        range: None,
    };
    let mut envelope = collector.envelope(ending, basis, appliance.model.clone(), audit, exit);
    envelope.best_effort_sandbox = options.sandbox == Strictness::BestEffort;
    Ok(envelope)
}

fn exit_code(ending: &Ending, supervisor: &Supervisor, signal: Option<i32>) -> u8 {
    if let Some(signal) = signal {
        return ExitKind::of_signal(signal).code();
    }
    match ending.outcome {
        OutcomeKind::Answered => 0,
        // Without a database there is no honest answer, and the operator must know which it was.
        _ if supervisor.database_failed() => ExitKind::Database.code(),
        OutcomeKind::Failed => ExitKind::Model.code(),
        _ => ExitKind::NoAnswer.code(),
    }
}

fn write_envelope(out: &mut dyn Write, envelope: &Envelope) -> io::Result<()> {
    serde_json::to_writer(&mut *out, envelope)?;
    writeln!(out)
}

/// An answer goes to stdout, everything else to stderr, where nobody may be watching.
fn show_answer(out: &mut dyn Write, envelope: &Envelope) -> io::Result<()> {
    let shown = harmless(&envelope.answer);
    if envelope.outcome == OutcomeKind::Answered {
        writeln!(out, "{shown}")?;
        out.flush()?;
    }
    let _ = show_rest(&mut Output::stderr(), envelope, &shown);
    Ok(())
}

fn show_rest(err: &mut dyn Write, envelope: &Envelope, shown: &str) -> io::Result<()> {
    match envelope.outcome {
        OutcomeKind::Answered => {}
        OutcomeKind::Failed => writeln!(err, "error: {shown}")?,
        OutcomeKind::Asked | OutcomeKind::Declined | OutcomeKind::Withheld => writeln!(err, "{shown}")?,
    }
    for choice in &envelope.choices {
        writeln!(err, "- {}", harmless(choice))?;
    }
    if envelope.answering_query().is_some_and(|query| query.truncated.is_some()) {
        writeln!(err, "note: the result was cut; more rows exist than were read")?;
    }
    if envelope.grounded == Some(false) {
        writeln!(err, "note: a number in this answer is in no result; look at the queries above before you use it")?;
    }
    if let Some(as_of) = &envelope.basis.as_of {
        let checkpoint = match envelope.basis.opened {
            Some(OpenedAs::AsOfLastCheckpoint) => "the last checkpoint, ",
            _ => "",
        };
        writeln!(err, "basis: {}, as of {checkpoint}{as_of}", harmless(&envelope.basis.database))?;
    }
    if envelope.best_effort_sandbox {
        writeln!(err, "note: the sandbox is best effort on this kernel")?;
    }
    Ok(())
}

/// The question: the words given, or standard input.
fn question(words: &[String]) -> Result<String, Failure> {
    let given = words.join(" ");
    let question = if given.is_empty() || given == "-" { from_stdin()? } else { given };
    let question = question.trim();
    if question.is_empty() {
        return Err(Failure::new(ExitKind::Usage, "there is no question")
            .hint("ask one: pi-sql -- \"how many accounts churned in June 2026?\""));
    }
    if question.len() > QUESTION_CAP {
        return Err(too_long());
    }
    Ok(question.to_owned())
}

fn from_stdin() -> Result<String, Failure> {
    if io::stdin().is_terminal() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    let limit = QUESTION_CAP as u64 + 1;
    io::stdin().take(limit).read_to_end(&mut bytes).map_err(|error| {
        Failure::new(ExitKind::Usage, "the question can't be read from standard input").because(error)
    })?;
    // A long question was cut, perhaps in the middle of a letter.
    if bytes.len() > QUESTION_CAP && !bytes.trim_ascii().is_empty() {
        return Err(too_long());
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::new(ExitKind::Usage, "the question on standard input is not UTF-8 text"))
}

fn too_long() -> Failure {
    Failure::new(ExitKind::Usage, format!("the question is too long: {QUESTION_CAP} bytes are allowed"))
}

/// A time as people read it: whole seconds, UTC.
fn to_the_second(time: &str) -> Option<String> {
    let time: Timestamp = time.parse().ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
