//! Thin clients of the one protocol.
#![forbid(unsafe_code)]

mod json;
pub mod text;

pub use json::JsonLines;
