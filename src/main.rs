//! The program: parse, hand over, exit code.

fn main() {}
