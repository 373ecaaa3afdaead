//! SQLite values as JSON cells: exact where JSON can hold them, marked where it can't.
