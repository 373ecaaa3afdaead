//! Belt 3: the live schema, looked up by name and never interpolated.
