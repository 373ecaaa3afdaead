//! The SQL extension: tools, guard, connection, schema, caps, receipts.
#![forbid(unsafe_code)]

pub mod admission;
pub mod cell;
pub mod connection;
pub mod errand;
pub mod extension;
pub mod findings;
#[cfg(test)]
mod fixture;
pub mod gate;
pub mod guard;
pub mod hints;
pub mod local;
pub mod outcome;
pub mod proof;
pub mod query;
pub mod receipt;
pub mod sample;
pub mod schema;
pub mod settings;
pub mod tools;
