//! pi-sql: a question in plain English, one sentence with the number in it, and a receipt for every query that ran.
//!
//! Two halves that never blur: the **harness** ([`agent`], [`session`], [`resources`], [`provider`], [`extension`])
//! knows nothing of SQL; the **SQL extension** ([`sql`]) registers its tools through the same public API anybody else
//! uses. [`process`] and [`sandbox`] put each role into a process that holds one thing and can reach nothing else.

pub mod agent;
pub mod audit;
pub mod cli;
pub mod extension;
pub mod process;
pub mod provider;
pub mod resources;
pub mod sandbox;
pub mod session;
pub mod sql;
pub mod ui;
