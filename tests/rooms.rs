//! The house: which room may know which.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Each room and the rooms it may use. Dependencies point down only: a room never appears in a line above one it uses,
/// but for the two halves of one floor (`provider` ↔ `session`, `extension` → `provider`).
const MAY_USE: &[(&str, &[&str])] = &[
    ("cli", &["agent", "audit", "extension", "process", "provider", "resources", "sandbox", "session", "sql", "ui"]),
    ("ui", &["agent", "provider", "session", "sql"]),
    ("process", &["agent", "audit", "extension", "provider", "resources", "sandbox", "session", "sql"]),
    ("sql", &["audit", "extension", "resources", "session"]),
    ("agent", &["extension", "provider", "session"]),
    ("resources", &["provider"]),
    ("extension", &["provider"]),
    ("provider", &["session"]),
    ("session", &[]),
    ("audit", &[]),
    ("sandbox", &[]),
];

#[test]
fn a_room_uses_only_the_rooms_below_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    for (room, allowed) in MAY_USE {
        for (file, text) in files(&source.join(room)) {
            for used in rooms_used(&text) {
                if used != *room && !allowed.contains(&used.as_str()) {
                    faults.push(format!("{file} uses crate::{used}, which {room} may not"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_room_has_its_line() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rooms: BTreeSet<String> = fs::read_dir(source)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let listed: BTreeSet<String> = MAY_USE.iter().map(|(room, _)| (*room).to_owned()).collect();
    assert_eq!(rooms, listed);
}

#[test]
fn unsafe_code_lives_in_the_sandbox_and_the_process_room_only() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (room, _) in MAY_USE {
        let may = matches!(*room, "sandbox" | "process");
        let head = fs::read_to_string(source.join(room).join("mod.rs")).unwrap();
        assert_eq!(!may, head.contains("#![forbid(unsafe_code)]"), "src/{room}/mod.rs");
    }
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            // What only a test uses is no dependency of the room.
            let text = fs::read_to_string(&path).unwrap();
            let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
            let is_test = path.components().any(|part| part.as_os_str().to_string_lossy().contains("tests"));
            if !is_test {
                found.push((path.display().to_string(), shipped));
            }
        }
    }
    found
}

fn rooms_used(text: &str) -> BTreeSet<String> {
    text.match_indices("crate::")
        .map(|(at, found)| &text[at + found.len()..])
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>())
        .filter(|room| MAY_USE.iter().any(|(known, _)| known == room))
        .collect()
}
