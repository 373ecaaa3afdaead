//! One guarded query, capped by stepping.
