//! The chained log: write, verify, show.
//!
//! `audit.jsonl` holds one JSON object a line, in printable ASCII (everything else is escaped as `\uXXXX`):
//!
//! ```json
//! {"seq":7,"time":"2026-06-30T09:00:00.000Z","run":"…","question":"…","kind":"query",…,"prev":"sha256:…","hash":"sha256:…"}
//! ```
//!
//! `hash` is the SHA-256 of the line's own bytes up to, and without, `,"hash":"`; `prev` is the `hash` of the line
//! before, and of nothing (64 zeros) on the first line. So each line's hash covers every byte of the log before it, and
//! `sed` and `sha256sum` are enough to check it (`docs/audit.md` shows how).
//!
//! Several processes may write one log: each append happens under the lock of `audit.lock`, after a look at the log's
//! end. A line that a crash left half written is kept in a file of its own and replaced by a `repair` record. A full
//! log is renamed to `audit.000001.jsonl` and so on, and the chain runs on in a new `audit.jsonl`.
#![forbid(unsafe_code)]

mod backwards;
mod chain;
mod digest;
mod directory;
mod error;
mod line;
mod lines;
mod lock;
mod log;
mod read;
mod record;
mod snapshot;
mod verify;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod tamper_tests;

pub use digest::{Digest, Head, NotADigest};
pub use error::AuditError;
pub use line::LONGEST_LINE;
pub use log::{Durability, Log, Options, ROTATE_AT};
pub use read::{Follow, Reader};
pub use record::{Caps, Entry, Record};
pub use verify::{Broken, Reason, Verified, VerifyError, verify};
