//! The command line: one file a subcommand.
#![forbid(unsafe_code)]

pub mod audit;
mod failure;

pub use failure::{ExitKind, Failure};
