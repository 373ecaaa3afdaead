//! The program as its users drive it: one binary of tests, one module a concern.
#![allow(clippy::disallowed_methods, reason = "tests start the program under test")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that can't go on has failed"
)]
#![allow(missing_docs, reason = "a test's name says what it proves")]

mod ask;
mod attacks;
#[cfg(feature = "belt-switches")]
mod belts;
mod commands;
mod crash;
mod databases;
mod doctor;
mod health;
mod hiding;
mod image;
mod isolation;
mod kernel;
mod launcher;
mod output;
mod policy;
mod processes;
mod profile;
mod query;
mod repertoire;
mod roles;
mod rooms;
mod shipped;
mod supply;
mod support;

#[test]
fn no_test_file_is_forgotten() {
    let declared = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
            assert!(
                declared.contains(&format!("mod {module};")),
                "tests/{name} is not compiled: declare it in main.rs"
            );
        }
    }
}
