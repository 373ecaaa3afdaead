//! The command line: one file a subcommand.
#![forbid(unsafe_code)]

mod failure;
pub mod sample;

pub use failure::{ExitKind, Failure};
