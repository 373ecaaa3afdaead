//! Belt 1: a read-only connection that refuses everything but reading.
