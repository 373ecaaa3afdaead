//! The chained log: write, verify, show.
#![forbid(unsafe_code)]
