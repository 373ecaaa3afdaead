//! The command line: one file a subcommand.
#![forbid(unsafe_code)]

mod failure;

pub use failure::{ExitKind, Failure};
