//! How a command fails: a kind (the exit code), a sentence, its causes, and hints printed apart.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

/// Why a command failed; each kind is one documented exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitKind {
    /// 2: the command line or a setting is not usable.
    Usage,
    /// 3: no answer: it asked back, can't tell from the data, or ran out of time.
    NoAnswer,
    /// 4: the model, or the agent that talks to it, failed.
    Model,
    /// 5: the database can't be used.
    Database,
    /// 6: a belt is not in force, or a role could not be started.
    Sandbox,
    /// 7: the audit or the output can't be written, or the audit is broken.
    Output,
    /// 128 + n: stopped by signal n.
    Signal(u8),
}

/// A command's failure.
#[derive(Debug)]
pub struct Failure {
    kind: ExitKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    hints: Vec<String>,
}

impl Failure {
    /// A failure with one sentence for the person.
    pub fn new(kind: ExitKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None, hints: Vec::new() }
    }

    /// The same, with what caused it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The same, with what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The kind.
    pub fn kind(&self) -> ExitKind {
        self.kind
    }

    /// What to do next, in the order it was added.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl ExitKind {
    /// Stopped by this signal.
    pub fn of_signal(number: i32) -> Self {
        Self::Signal(u8::try_from(number).unwrap_or_default())
    }

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::NoAnswer => 3,
            Self::Model => 4,
            Self::Database => 5,
            Self::Sandbox => 6,
            Self::Output => 7,
            Self::Signal(n) => 128 + n,
        }
    }
}

impl From<ExitKind> for ExitCode {
    fn from(kind: ExitKind) -> Self {
        Self::from(kind.code())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
