//! The policy table and its appliers.
