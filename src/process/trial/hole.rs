//! The deliberate hole: any system calls at all, in a role that is locked down. In builds for tests only.

use std::io;

use serde::{Deserialize, Serialize};

use crate::sandbox::probe::{Argument, Attempt, Door, Step, Targets, attempt};

/// One call, as it is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HoleStep {
    /// Its number.
    pub number: i64,
    /// Its arguments.
    pub arguments: Vec<HoleArgument>,
}

/// One argument, as it is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HoleArgument {
    /// A number.
    Number(i64),
    /// Bytes' address; a text ends with its 0.
    Bytes(Vec<u8>),
    /// One that the table's probes know too.
    Known(Known),
}

/// An argument that depends on the process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Known {
    /// The process that started this one.
    Parent,
    /// This process.
    Own,
    /// The address of zeroes.
    Space,
    /// What an earlier step answered.
    Answer(usize),
}

/// A sudden end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// `abort()`.
    Abort,
    /// A panic.
    Panic,
    /// The stack runs over.
    Overflow,
    /// Memory runs out.
    Exhaust,
}

pub(super) fn attempt_all(steps: &[HoleStep], targets: &mut Targets) -> Attempt {
    let arguments: Vec<Vec<Argument<'_>>> =
        steps.iter().map(|step| step.arguments.iter().map(borrowed).collect()).collect();
    let steps: Vec<Step<'_>> = steps
        .iter()
        .zip(&arguments)
        .map(|(step, arguments)| Step { door: Door::Native, number: step.number, arguments })
        .collect();
    attempt(&steps, targets)
}

fn borrowed(argument: &HoleArgument) -> Argument<'_> {
    match argument {
        HoleArgument::Number(number) => Argument::Number(*number),
        HoleArgument::Bytes(bytes) => Argument::Bytes(bytes),
        HoleArgument::Known(Known::Parent) => Argument::Parent,
        HoleArgument::Known(Known::Own) => Argument::Own,
        HoleArgument::Known(Known::Space) => Argument::Space,
        HoleArgument::Known(Known::Answer(step)) => Argument::Answer(*step),
    }
}

impl Ending {
    pub(super) fn come(self) -> io::Result<Attempt> {
        match self {
            Self::Abort => std::process::abort(),
            #[expect(clippy::panic, reason = "this is the panic that is tried")]
            Self::Panic => panic!("as ordered"),
            Self::Overflow => Ok(Attempt { step: usize::from(deep(0)), answer: 0 }),
            Self::Exhaust => {
                let mut kept = Vec::new();
                loop {
                    kept.push(vec![1_u8; 64 << 20]);
                }
            }
        }
    }
}

#[expect(unconditional_recursion, reason = "this is the overflow that is tried")]
fn deep(level: u64) -> u8 {
    let room = std::hint::black_box([level; 512]);
    deep(level + 1).wrapping_add(room[0].to_le_bytes()[0])
}
