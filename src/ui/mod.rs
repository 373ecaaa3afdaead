//! Thin clients of the one protocol.
#![forbid(unsafe_code)]

pub mod text;
