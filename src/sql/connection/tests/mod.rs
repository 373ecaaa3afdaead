//! Belt 1 alone, against real files.
#![allow(clippy::disallowed_methods, reason = "a live writer must be another process: locks are per process")]

mod attacks;
mod opening;
mod reading;
mod replicas;
mod stage;
