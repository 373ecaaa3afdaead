//! Belt 1: a read-only connection that refuses everything but reading.
//!
//! [`Database`] is the only way in. It looks at the file before SQLite does (`evidence`), decides how it can be read
//! without creating or changing anything (`plan`), opens and hardens a connection (`harden`, `authorizer`), and lends
//! it out for one reading at a time, looking again before and after each (`opened`). What an operator hides is kept from
//! those who ask by `hiding`.
#![forbid(unsafe_code)]

mod authorizer;
mod database;
mod error;
mod evidence;
mod functions;
mod harden;
mod header;
mod hiding;
mod identity;
mod limits;
mod opened;
mod plan;
mod regexp;
mod restricted;
mod text;

#[cfg(test)]
mod tests;

pub use authorizer::{Authorizer, Denial, Ours};
pub use database::{Database, Freshness, Reopened};
pub use error::OpenError;
pub use functions::ALLOWED as ALLOWED_FUNCTIONS;
pub use header::JournalMode;
pub use hiding::{HiddenNames, Hide, Hiding, NoSuchName, PatternError};
pub use identity::{Identity, OpenedAs};
pub use limits::Limits;
pub use restricted::Restricted;
