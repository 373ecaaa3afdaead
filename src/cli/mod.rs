//! The command line: one file a subcommand.
#![forbid(unsafe_code)]

pub mod audit;
mod failure;
pub mod sample;

pub use failure::{ExitKind, Failure};
