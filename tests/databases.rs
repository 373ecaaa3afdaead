//! Databases that can't be used, and paths that can although they look odd.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::processes::{nobody_is_left, until};
use crate::support::{ANSWER, Place, QUESTION, Ran};

/// Fails with the exit code for databases, in one clear sentence.
fn unusable(place: &Place, path: impl AsRef<Path>, part: &str) {
    let path = path.as_ref().as_os_str();
    let one = |ran: Ran| {
        let ran = ran.fails(5, part);
        assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{ran}");
        assert!(ran.stderr.contains(&*path.to_string_lossy()), "the path is named\n{ran}");
    };
    one(place.query("SELECT 1").db(path).go());
    one(place.ask(QUESTION).db(path).go());
    one(place.ask(QUESTION).args(["--mode", "json"]).db(path).go());
    one(place.ask(QUESTION).args(["--format", "json"]).db(path).go());
    one(place.run(["schema"]).db(path).go());
    nobody_is_left(place);
}

#[test]
fn what_is_not_there_is_said() {
    let place = Place::bare();
    unusable(&place, place.path("missing.db"), "pi-sql sample");
    unusable(&place, place.path("no/such/directory.db"), "pi-sql sample");
    symlink("nowhere.db", place.path("dangling.db")).unwrap();
    unusable(&place, place.path("dangling.db"), "link");
    symlink("loop.db", place.path("loop.db")).unwrap();
    unusable(&place, place.path("loop.db"), "loop");
    place.query("SELECT 1").db("").go().exits(2).silent();
}

#[test]
fn what_is_not_a_file_is_said() {
    let place = Place::bare();
    std::fs::create_dir(place.path("directory")).unwrap();
    unusable(&place, place.path("directory"), "is a directory");
    unusable(&place, "/", "is a directory");
    nix::unistd::mkfifo(&place.path("pipe"), nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR).unwrap();
    unusable(&place, place.path("pipe"), "is a pipe");
    unusable(&place, "/dev/null", "is a device");
    unusable(&place, "/dev/zero", "is a device");
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    unusable(&place, place.path("socket"), "is a socket");
}

#[test]
fn what_is_no_database_is_said() {
    let place = Place::bare();
    unusable(&place, place.file("empty", ""), "is empty");
    unusable(&place, place.file("text", "id,name\n1,free\n"), "not a SQLite database");
    unusable(&place, place.file("long", "id,name\n1,free\n".repeat(10_000)), "not a SQLite database");
    let noise: Vec<u8> = (0..32_768_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
    unusable(&place, place.file("encrypted", noise), "encrypted");
    unusable(&place, place.file("short", "SQLite format 3\0"), "short");
}

#[test]
fn a_database_that_may_not_be_read_is_said() {
    let place = Place::new();
    // The program drops root's right to read everything, so this holds for root too.
    std::fs::set_permissions(place.db(), PermissionsExt::from_mode(0o000)).unwrap();
    unusable(&place, place.db(), "mode 0000");
    std::fs::create_dir(place.path("closed")).unwrap();
    std::fs::rename(place.db(), place.path("closed/sample.db")).unwrap();
    std::fs::set_permissions(place.path("closed"), PermissionsExt::from_mode(0o000)).unwrap();
    unusable(&place, place.path("closed/sample.db"), "denied");
    std::fs::set_permissions(place.path("closed"), PermissionsExt::from_mode(0o700)).unwrap();
}

#[test]
fn a_damaged_database_is_an_error_and_nothing_else() {
    let place = Place::new();
    let sound = std::fs::read(place.db()).unwrap();
    let count = "SELECT count(*), max(name), max(country) FROM accounts NOT INDEXED";
    unusable(&place, place.file("cut.db", &sound[..1000]), "cut.db");
    place.query(count).db(place.file("half.db", &sound[..sound.len() / 2])).go().exits(5).silent().says("damaged");
    let mut garbage = sound.clone();
    garbage[100..4096].fill(0xa5);
    unusable(&place, place.file("first.db", &garbage), "damaged");
    // The middle: what doesn't touch it is answered, what does is an error.
    let mut garbage = sound.clone();
    let page = 4096;
    let (from, to) = (20 * page, sound.len() / page - 20);
    garbage[from..to * page].fill(0xa5);
    let middle = place.file("middle.db", &garbage);
    place.query("SELECT 1 AS n").db(&middle).go().exits(0).shows("1");
    place.query(count).db(&middle).go().exits(5).silent().says("damaged");
    let ran = place.ask(QUESTION).db(&middle).go().exits(5).silent();
    assert!(!ran.stderr.contains("panicked"), "{ran}");
    nobody_is_left(&place);
    place.verified();
}

#[test]
fn a_database_locked_by_a_writer_is_said_and_answered_again_later() {
    let place = Place::new();
    let writer = rusqlite::Connection::open(place.db()).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE; DELETE FROM plans WHERE id = 99").unwrap();
    place.query("SELECT count(*) FROM plans").go().fails(5, "is locked");
    writer.execute_batch("ROLLBACK").unwrap();
    place.query("SELECT count(*) AS n FROM plans").go().exits(0).shows("5");
}

#[test]
fn odd_paths_are_paths() {
    let place = Place::new();
    for name in [
        "with spaces.db",
        "it's.db",
        "\"quoted\".db",
        "what?.db",
        "a#b.db",
        "100%25.db",
        "a&b=c.db",
        "file:x.db",
        ":memory:",
        "ünï 東京.db",
        "-rf.db",
        "new\nline.db",
        "back\\slash.db",
        "x?mode=rwc",
        "no extension",
    ] {
        std::fs::copy(place.db(), place.path(name)).unwrap();
        place.ask(QUESTION).db(place.path(name)).go().exits(0).prints(ANSWER);
        place.query("SELECT count(*) AS n FROM plans").db(format!("./{name}")).go().exits(0).shows("5");
    }
    place.ask(QUESTION).db("sample.db").go().exits(0).prints(ANSWER);
    place.ask(QUESTION).db("./out/../sample.db").go().exits(0).prints(ANSWER);
    std::fs::create_dir(place.path("sub")).unwrap();
    place.ask(QUESTION).cwd(place.path("sub")).db("../sample.db").go().exits(0).prints(ANSWER);
    place.run(["--db", "sample.db", "--", QUESTION]).db("/nowhere").go().exits(0).prints(ANSWER);
}

#[test]
fn a_path_that_is_not_text_is_answered_or_refused_as_a_database() {
    let place = Place::new();
    let odd = place.path(OsStr::from_bytes(b"caf\xe9.db"));
    std::fs::copy(place.db(), &odd).unwrap();
    place.query("SELECT 1").db(&odd).go().fails(5, "UTF-8");
}

#[test]
fn a_link_is_followed_and_followed_anew() {
    let place = Place::new();
    symlink("sample.db", place.path("current.db")).unwrap();
    std::fs::create_dir(place.path("elsewhere")).unwrap();
    symlink("../current.db", place.path("elsewhere/link.db")).unwrap();
    place.ask(QUESTION).db(place.path("current.db")).go().exits(0).prints(ANSWER);
    place.ask(QUESTION).db(place.path("elsewhere/link.db")).go().exits(0).prints(ANSWER);
    rusqlite::Connection::open(place.path("next.db")).unwrap().execute_batch("CREATE TABLE plans(id); ").unwrap();
    std::fs::remove_file(place.path("current.db")).unwrap();
    symlink("next.db", place.path("current.db")).unwrap();
    place.query("SELECT count(*) AS n FROM plans").db(place.path("current.db")).go().exits(0).shows("0");
}

/// A conversation of many questions, and a replica published in the middle of it.
#[test]
fn a_replica_published_while_questions_are_answered_is_answered_from_and_recorded() {
    let place = Place::new();
    std::fs::copy(place.db(), place.path("next.db")).unwrap();
    let next = rusqlite::Connection::open(place.path("next.db")).unwrap();
    next.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM accounts WHERE id > 1000").unwrap();
    drop(next);
    let left: i64 = 1000;
    let line = r#"{"question": "how many accounts are there?", "rows": [[5023]]}"#;
    let cases = place.file("cases.jsonl", [line; 25].join("\n"));
    let running = place.run(["eval", cases.to_str().unwrap(), "--wrong"]).start();
    until("the first answer is recorded", || (!place.answers().is_empty()).then_some(()));
    std::fs::rename(place.path("next.db"), place.db()).unwrap();
    let ran = running.end().exits(0).shows(&format!("{left} accounts"));
    let answers = place.answers();
    assert_eq!(answers.len(), 25, "{ran}");
    assert!(answers[0].contains("5,023") || answers[0].contains("5023"), "{answers:?}");
    assert!(answers[24].contains("1,000") || answers[24].contains("1000"), "{answers:?}");
    assert_eq!(place.records_of("database").len(), 1, "{ran}");
    place.verified();
}

#[test]
fn a_replica_taken_away_while_questions_are_answered_is_said_and_found_again() {
    let place = Place::new();
    let line = r#"{"question": "how many accounts are there?", "rows": [[5023]]}"#;
    let cases = place.file("cases.jsonl", [line; 30].join("\n"));
    let running = place.run(["eval", cases.to_str().unwrap(), "--declined"]).start();
    until("the first answer is recorded", || (!place.answers().is_empty()).then_some(()));
    std::fs::rename(place.db(), place.path("away.db")).unwrap();
    let at_hand = place.answers().len();
    until("more answers are recorded", || (place.answers().len() > at_hand + 3).then_some(()));
    std::fs::rename(place.path("away.db"), place.db()).unwrap();
    let ran = running.end().exits(0).shows("is not there any more");
    let answers = place.answers();
    assert!(answers.last().unwrap().contains("accounts"), "{answers:?}\n{ran}");
    assert!(answers.iter().any(|answer| answer.contains("not there any more")), "{answers:?}");
    place.verified();
}
