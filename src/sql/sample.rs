//! The sample database: deterministic, believable, with honest traps.
