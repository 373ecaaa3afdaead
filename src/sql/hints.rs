//! SQLite's errors, with what to do about them.
