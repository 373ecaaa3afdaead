//! The loop: one prompt, many turns, one end.
#![forbid(unsafe_code)]
