//! What the program is made of, as its own SBOM tells: known licences only, every crate with its checksum.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Licences that let the program be given away as it is.
const ACCEPTED: &[&str] = &["Apache-2.0", "BSD-3-Clause", "BSL-1.0", "ISC", "MIT", "Unicode-3.0", "Unlicense", "Zlib"];

fn script(name: &str, arguments: &[&str]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name);
    let output = Command::new(path).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn sbom() -> Value {
    serde_json::from_str(&script("sbom", &["x86_64-unknown-linux-gnu", "1"])).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn every_crate_has_its_checksum_and_a_licence_that_is_accepted() {
    let sbom = sbom();
    let components = sbom["components"].as_array().unwrap();
    let crates: Vec<&Value> = components.iter().filter(|one| text(&one["purl"]).starts_with("pkg:cargo/")).collect();
    assert!(crates.len() > 50);
    for one in crates {
        assert_eq!(text(&one["hashes"][0]["content"]).len(), 64, "{one}");
        let expression = text(&one["licenses"][0]["expression"]);
        let accepted = |licence: &str| ACCEPTED.contains(&licence.trim_matches(['(', ')']));
        let fits = expression.split(" AND ").all(|all| all.split(" OR ").any(accepted));
        assert!(fits, "{}: {expression}", text(&one["name"]));
    }
}

#[test]
fn what_is_not_a_crate_is_there_too() {
    let sbom = sbom();
    let named = |name: &str| {
        let components = sbom["components"].as_array().unwrap();
        components.iter().find(|one| one["name"] == name).unwrap()["version"].as_str().unwrap().to_owned()
    };
    assert_eq!(named("sqlite"), rusqlite::version());
    assert!(!named("glibc").is_empty() && !named("rust-std").is_empty());
}

#[test]
fn each_dependency_is_one_of_the_components_and_tests_are_none() {
    let sbom = sbom();
    let mut known: BTreeSet<&str> =
        sbom["components"].as_array().unwrap().iter().map(|one| text(&one["bom-ref"])).collect();
    assert_eq!(known.len(), sbom["components"].as_array().unwrap().len(), "one is listed twice");
    known.insert(text(&sbom["metadata"]["component"]["bom-ref"]));
    for one in sbom["dependencies"].as_array().unwrap() {
        assert!(known.contains(text(&one["ref"])), "{one}");
        assert!(one["dependsOn"].as_array().unwrap().iter().all(|need| known.contains(text(need))), "{one}");
    }
    assert!(!known.iter().any(|one| one.contains("/proptest@") || one.contains("/windows")));
}

#[test]
fn the_licences_name_every_crate_of_the_sbom() {
    let licences = script("licences", &["x86_64-unknown-linux-gnu"]);
    for one in sbom()["components"].as_array().unwrap() {
        if text(&one["purl"]).starts_with("pkg:cargo/") {
            let line = format!("\n{}-{}  ", text(&one["name"]), text(&one["version"]));
            assert!(licences.contains(&line), "{line}");
        }
    }
}
