//! Thin clients of the one protocol.
#![forbid(unsafe_code)]

mod json;

pub use json::JsonLines;
