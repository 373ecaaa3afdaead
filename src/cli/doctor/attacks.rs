//! The attack list, taken through every role in a throw-away process each.

use serde::Serialize;

use crate::cli::Failure;
use crate::process::{Bench, Place, Wanted};
use crate::sandbox::Role;
use crate::sandbox::probe::{Expected, Found, Probe, probes};

pub(super) const ROLES: [Role; 4] = [Role::Supervisor, Role::Spawner, Role::Reader, Role::Agent];

/// One attempt in one role.
#[derive(Serialize)]
pub(super) struct Outcome {
    pub(super) role: Role,
    pub(super) attempt: &'static str,
    pub(super) expected: String,
    pub(super) found: String,
    pub(super) ok: bool,
    /// Whether it must work: a control, or what the role's work needs.
    pub(super) works: bool,
}

/// Attempts everything in every role.
pub(super) fn attempt_all(place: Place) -> Result<Vec<Outcome>, Failure> {
    let mut bench = Bench::start(place)?;
    let mut outcomes = Vec::new();
    for role in ROLES {
        for probe in probes() {
            let (found, how) = bench.attempt(role, Wanted::Probe(probe.name.into()))?;
            outcomes.push(outcome(role, probe, found, &how));
        }
    }
    Ok(outcomes)
}

fn outcome(role: Role, probe: &'static Probe, found: Found, how: &str) -> Outcome {
    Outcome {
        role,
        attempt: probe.name,
        expected: match probe.expected_in(role) {
            Expected::Killed => "killed".into(),
            Expected::Works => "works".into(),
            Expected::Refused(errors) => errors.iter().map(|error| name_of(*error)).collect::<Vec<_>>().join(" or "),
        },
        found: match found {
            Found::Killed => "killed".into(),
            Found::Answered(attempt) if attempt.answer >= 0 => "works".into(),
            Found::Answered(attempt) => {
                let error = i32::try_from(-attempt.answer).map_or_else(|_| attempt.answer.to_string(), name_of);
                if attempt.step + 1 == probe.steps.len() {
                    error
                } else {
                    format!("{error} at step {}", attempt.step + 1)
                }
            }
            Found::Ended => how.to_owned(),
        },
        ok: probe.holds(role, found),
        works: probe.expected_in(role) == Expected::Works,
    }
}

fn name_of(error: i32) -> String {
    format!("{:?}", nix::errno::Errno::from_raw(error))
}
