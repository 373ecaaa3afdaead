//! The policy is a table that people review: any change of it shows up here, line by line.

use std::fs;
use std::process::Command;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/policy.x86_64.txt");

#[test]
#[cfg_attr(
    not(target_arch = "x86_64"),
    ignore = "call numbers and some calls differ from architecture to architecture"
)]
fn the_policy_is_the_one_that_was_reviewed() {
    let printed = policy(&[]);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(SNAPSHOT, &printed).unwrap();
    }
    let reviewed = fs::read_to_string(SNAPSHOT).unwrap_or_default();
    let changed: Vec<String> = diff(&reviewed, &printed);
    assert!(changed.is_empty(), "look at each, then run again with UPDATE_SNAPSHOTS=1\n{}", changed.join("\n"));
}

#[test]
fn the_json_form_has_every_role_and_the_spawner_has_all_that_its_children_may() {
    let policy: serde_json::Value = serde_json::from_str(&policy(&["--json"])).unwrap();
    let allowed = |role: usize, list: usize| -> Vec<String> {
        let calls = &policy["roles"][role]["seccomp"]["lists"][list]["allowed"];
        calls.as_array().unwrap().iter().map(|call| call["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(policy["roles"].as_array().unwrap().len(), 4);
    let spawner = allowed(1, 0);
    for child in [2, 3] {
        assert!(allowed(child, 0).iter().all(|name| spawner.contains(name)));
    }
    // An agent without a model on a network can't even make a socket.
    assert!(!allowed(3, 0).contains(&"socket".to_owned()));
    assert!(allowed(3, 1).contains(&"socket".to_owned()));
}

fn policy(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_pi-sql")).arg("policy").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn diff(before: &str, after: &str) -> Vec<String> {
    let gone = before.lines().filter(|line| !after.lines().any(|other| other == *line)).map(|line| format!("- {line}"));
    let new = after.lines().filter(|line| !before.lines().any(|other| other == *line)).map(|line| format!("+ {line}"));
    let mut changed: Vec<String> = gone.chain(new).collect();
    if changed.is_empty() && before != after {
        changed.push("the order".into());
    }
    changed
}
