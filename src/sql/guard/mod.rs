//! Belt 2: exactly one SELECT, WITH … SELECT or VALUES, decided by SQLite's own token rules.
