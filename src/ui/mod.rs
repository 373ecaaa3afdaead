//! Thin clients of the one protocol.
#![forbid(unsafe_code)]

pub mod collector;
pub mod envelope;
mod json;
pub mod rows;
pub mod text;
pub mod trail;

pub use json::JsonLines;
