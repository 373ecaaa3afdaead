//! `pi-sql trial`: belts taken off and holes made, as a test tells on standard input. Not in the shipped program.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cli::options::Options;
use crate::cli::{ExitKind, Failure};
use crate::process::{Bench, Place, Wanted};
use crate::sandbox::probe::{Attempt, Found};
use crate::sandbox::{Belts, Role};

/// What is told.
#[derive(Deserialize)]
struct Told {
    belts: Belts,
    port: Option<u16>,
    trials: Vec<(Role, Wanted)>,
}

/// What became of one.
#[derive(Serialize)]
struct Became {
    killed: bool,
    attempt: Option<Attempt>,
    how: String,
}

/// Takes the trials one after the other.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Failure> {
    let unusable = |error: serde_json::Error| Failure::new(ExitKind::Usage, error.to_string());
    let told: Told = serde_json::from_reader(io::stdin().lock()).map_err(unusable)?;
    let place = Place {
        database: options.db.clone(),
        output: PathBuf::from(&options.out),
        strictness: options.sandbox,
        port: told.port,
        belts: told.belts,
    };
    let mut bench = Bench::start(place)?;
    let mut became = Vec::new();
    for (role, wanted) in told.trials {
        let (found, how) = bench.attempt(role, wanted)?;
        let attempt = if let Found::Answered(attempt) = found { Some(attempt) } else { None };
        became.push(Became { killed: found == Found::Killed, attempt, how });
    }
    serde_json::to_writer(out, &became).map_err(unusable)
}
