//! The five tools, one a file, registered in one plain place.
