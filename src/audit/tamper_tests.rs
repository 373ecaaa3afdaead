//! Whatever is done to a good log, `verify` finds it.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;

use super::log_tests::{open, question};
use super::*;

/// A good log of several files: their names and contents in order, and its head.
struct Good {
    files: Vec<(String, Vec<u8>)>,
    head: Head,
}

static GOOD: LazyLock<Good> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let mut log = open(directory.path(), 3_000);
    for n in 0..30 {
        log.append(&[question(&format!("how many in {n}?"))], Durability::Later).unwrap();
    }
    let mut names: Vec<String> = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    names.sort();
    let files: Vec<_> =
        names.into_iter().map(|name| (name.clone(), fs::read(directory.path().join(name)).unwrap())).collect();
    assert!(files.len() > 2);
    Good { files, head: log.head() }
});

#[derive(Clone, Debug)]
enum Tampering {
    ChangeByte(Index, u8),
    RemoveByte(Index),
    InsertByte(Index, u8),
    RemoveLine(Index),
    RepeatLine(Index),
    SwapLines(Index, Index),
    MoveLine(Index, Index),
}

fn tamperings() -> impl Strategy<Value = Tampering> {
    let at = any::<Index>;
    prop_oneof![
        4 => (at(), 1..=255_u8).prop_map(|(at, change)| Tampering::ChangeByte(at, change)),
        1 => at().prop_map(Tampering::RemoveByte),
        1 => (at(), any::<u8>()).prop_map(|(at, byte)| Tampering::InsertByte(at, byte)),
        1 => at().prop_map(Tampering::RemoveLine),
        1 => at().prop_map(Tampering::RepeatLine),
        1 => (at(), at()).prop_map(|(one, other)| Tampering::SwapLines(one, other)),
        1 => (at(), at()).prop_map(|(from, to)| Tampering::MoveLine(from, to)),
    ]
}

/// The tampered content.
fn tamper(content: &[u8], tampering: &Tampering) -> Vec<u8> {
    let mut bytes = content.to_vec();
    let mut lines: Vec<&[u8]> = content.split_inclusive(|byte| *byte == b'\n').collect();
    let count = lines.len();
    match tampering {
        Tampering::ChangeByte(at, change) => bytes[at.index(content.len())] ^= change,
        Tampering::RemoveByte(at) => drop(bytes.remove(at.index(content.len()))),
        Tampering::InsertByte(at, byte) => bytes.insert(at.index(content.len() + 1), *byte),
        Tampering::RemoveLine(at) => drop(lines.remove(at.index(count))),
        Tampering::RepeatLine(at) => lines.insert(at.index(count), lines[at.index(count)]),
        Tampering::SwapLines(one, other) => lines.swap(one.index(count), other.index(count)),
        Tampering::MoveLine(from, to) => {
            let line = lines.remove(from.index(count));
            lines.insert(to.index(count), line);
        }
    }
    match tampering {
        Tampering::ChangeByte(..) | Tampering::RemoveByte(..) | Tampering::InsertByte(..) => bytes,
        _ => lines.concat(),
    }
}

/// Puts the log down with one file replaced, and follows its chain.
fn verify_with(changed: usize, content: Option<&[u8]>, kept: Option<Digest>) -> Result<Verified, VerifyError> {
    let directory = tempfile::tempdir().unwrap();
    for (position, (name, good)) in GOOD.files.iter().enumerate() {
        let content = if position == changed { content } else { Some(good.as_slice()) };
        if let Some(content) = content {
            fs::write(directory.path().join(name), content).unwrap();
        }
    }
    verify(directory.path(), kept)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn every_tampering_is_found_at_its_line(file in any::<Index>(), tampering in tamperings()) {
        let file = file.index(GOOD.files.len());
        let (name, good) = &GOOD.files[file];
        let bad = tamper(good, &tampering);
        prop_assume!(bad != *good);
        let is_last = file + 1 == GOOD.files.len();
        let result = verify_with(file, Some(&bad), None);
        if is_last && good.starts_with(&bad) && bad.ends_with(b"\n") {
            // Lines cut off the end leave a good chain: only a head kept elsewhere shows it.
            prop_assert!(result.is_ok());
            let result = verify_with(file, Some(&bad), Some(GOOD.head.hash));
            prop_assert!(
                matches!(result, Err(VerifyError::Broken(Broken { reason: Reason::HeadMissing { .. }, .. }))),
                "{result:?}"
            );
            return Ok(());
        }
        let Err(VerifyError::Broken(broken)) = result else { return Err(TestCaseError::fail(format!("{result:?}"))) };
        let first = good.iter().zip(&bad).take_while(|(good, bad)| good == bad).count();
        let line = good[..first].split(|byte| *byte == b'\n').count() as u64;
        if first == bad.len() && bad.ends_with(b"\n") {
            // The end of a full file is missing: the first line that doesn't fit stands in the next one.
            prop_assert_eq!((&broken.file, broken.line), (&GOOD.files[file + 1].0, 1));
        } else {
            prop_assert_eq!((&broken.file, broken.line), (name, line), "{}", broken);
        }
    }
}

#[test]
fn a_missing_file_is_named() {
    for (missing, (name, _)) in GOOD.files.iter().enumerate().take(GOOD.files.len() - 1) {
        let broken = verify_with(missing, None, None).unwrap_err();
        assert!(broken.to_string().contains(&format!("{name} is missing")), "{broken}");
    }
}

#[test]
fn reasons_are_plain() {
    let (_, good) = &GOOD.files[0];
    let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
    let reason = |content: &[u8]| match verify_with(0, Some(content), None) {
        Err(VerifyError::Broken(broken)) => broken.to_string(),
        other => panic!("{other:?}"),
    };
    let edited = String::from_utf8(good.clone()).unwrap().replace("in 2?", "in 3?");
    assert_eq!(reason(edited.as_bytes()), "audit.000001.jsonl, line 3: edited: its content doesn't match its own hash");
    let removed = [&lines[..1], &lines[3..]].concat().concat();
    assert_eq!(reason(&removed), "audit.000001.jsonl, line 2: removed or reordered: record 4 stands where 2 should");
    let repeated = [&lines[..2], &lines[1..]].concat().concat();
    assert_eq!(
        reason(&repeated),
        "audit.000001.jsonl, line 3: inserted, repeated or reordered: record 2 stands where 3 should"
    );
}

#[test]
fn a_record_from_another_log_does_not_fit() {
    let other = tempfile::tempdir().unwrap();
    open(other.path(), ROTATE_AT).append(&[question("a"), question("b")], Durability::Later).unwrap();
    let other = fs::read(other.path().join("audit.jsonl")).unwrap();
    let (_, good) = &GOOD.files[0];
    let foreign = other.split_inclusive(|byte| *byte == b'\n').nth(1).unwrap();
    let mut lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
    lines[1] = foreign;
    let result = verify_with(0, Some(&lines.concat()), None);
    assert!(matches!(result, Err(VerifyError::Broken(Broken { line: 2, reason: Reason::ChainBreak { seq: 2 }, .. }))));
}

#[test]
fn every_head_of_the_past_is_in_the_chain() {
    for line in GOOD.files.iter().flat_map(|(_, content)| content.split(|byte| *byte == b'\n')) {
        if !line.is_empty() {
            let head = line::read(line).unwrap().hash;
            assert!(verify_with(usize::MAX, None, Some(head)).is_ok());
        }
    }
    assert!(verify_with(usize::MAX, None, Some(Digest::NOTHING)).is_ok());
    assert!(verify_with(usize::MAX, None, Some(Digest::of(b"x"))).is_err());
}

#[test]
fn a_directory_without_a_log_says_so() {
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(verify(directory.path(), None), Err(VerifyError::Missing(_))));
    assert!(matches!(verify(&directory.path().join("nowhere"), None), Err(VerifyError::Missing(_))));
}
