//! Each way a database can't be opened, and each odd path by which it can.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::stage::{Stage, number, rows};
use crate::sql::connection::{Database, Identity, JournalMode, Limits, OpenError, OpenedAs};

const TABLE: &str = "CREATE TABLE t(x); INSERT INTO t VALUES (1), (2), (3);";

#[test]
fn what_is_missing_is_said_to_be_missing() {
    let stage = Stage::empty();
    assert!(matches!(stage.refusal(), OpenError::Missing(_)));
    symlink(stage.beside("gone.db"), &stage.path).unwrap();
    assert!(matches!(stage.refusal(), OpenError::DanglingLink(_)));
    assert!(!stage.beside("gone.db").exists(), "nothing was created");
}

#[test]
fn a_directory_a_pipe_and_a_device_are_refused_by_name() {
    let stage = Stage::empty();
    let open = |path: &str| Database::open(path.as_ref(), &Limits::default()).unwrap_err();
    assert!(matches!(open(stage.beside("").to_str().unwrap()), OpenError::Directory(_)));
    assert!(matches!(open("/dev/null"), OpenError::NotAFile { what: "a device", .. }));
    nix::unistd::mkfifo(&stage.path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(stage.refusal(), OpenError::NotAFile { what: "a pipe", .. }));
    let _listener = std::os::unix::net::UnixListener::bind(stage.beside("s")).unwrap();
    assert!(matches!(open(stage.beside("s").to_str().unwrap()), OpenError::NotAFile { what: "a socket", .. }));
}

#[test]
fn an_empty_file_is_refused_and_nothing_beside_it_is_touched() {
    let stage = Stage::empty();
    fs::write(&stage.path, b"").unwrap();
    // SQLite itself would delete both of these.
    fs::write(stage.beside("replica.db-wal"), b"log").unwrap();
    fs::write(stage.beside("replica.db-journal"), b"journal").unwrap();
    let before = stage.listing();
    assert!(matches!(stage.refusal(), OpenError::Empty(_)));
    assert_eq!(stage.listing(), before);
}

#[test]
fn what_is_no_database_is_refused() {
    let noise: Vec<u8> = (0..8192_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    for content in [b"hello, this is text".as_slice(), &noise] {
        let stage = Stage::empty();
        fs::write(&stage.path, content).unwrap();
        let refusal = stage.refusal();
        assert!(matches!(refusal, OpenError::NotADatabase(_)));
        assert!(refusal.to_string().contains("encrypted"));
    }
}

#[test]
fn a_file_that_ends_too_early_is_refused_as_damaged() {
    let stage = Stage::new("CREATE TABLE t(x); INSERT INTO t VALUES (hex(zeroblob(20000)))");
    let whole = fs::read(&stage.path).unwrap();
    for length in [20, 99, 100, 600, 4096, whole.len() - 1] {
        fs::write(&stage.path, &whole[..length]).unwrap();
        assert!(matches!(stage.refusal(), OpenError::Corrupt { .. }), "{length} bytes: {:?}", stage.refusal());
    }
}

#[test]
fn a_format_from_the_future_is_refused() {
    let stage = Stage::new(TABLE);
    let mut bytes = fs::read(&stage.path).unwrap();
    bytes[19] = 9;
    fs::write(&stage.path, bytes).unwrap();
    assert!(matches!(stage.refusal(), OpenError::TooNew(_)));
}

#[test]
fn a_schema_that_is_damaged_is_refused() {
    let stage = Stage::new(TABLE);
    stage.write("PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql='CREATE TABLE t(' WHERE name='t'");
    let refusal = stage.refusal();
    assert!(matches!(refusal, OpenError::Corrupt { .. }), "{refusal:?}");
}

#[test]
fn who_may_not_read_is_told_whose_file_it_is() {
    let sentence = OpenError::Unreadable { path: "/data/a.db".into(), owner: 0, mode: 0o600, user: 65532 }.to_string();
    assert_eq!(
        sentence,
        "/data/a.db can't be read by user 65532: it belongs to user 0 and has mode 0600. \
         Run as its owner, or let this user read it"
    );
    let stage = Stage::new(TABLE);
    fs::set_permissions(&stage.path, Permissions::from_mode(0o000)).unwrap();
    let mut reader = super::stage::Actor::new("unprivileged reader", &stage.path);
    let answer = reader.ask("SELECT 1");
    reader.leave();
    assert!(answer.starts_with("Unreadable {") && answer.contains("mode: 0"), "{answer}");

    fs::set_permissions(&stage.path, Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(stage.beside(""), Permissions::from_mode(0o700)).unwrap();
    let mut reader = super::stage::Actor::new("unprivileged reader", &stage.path);
    let answer = reader.ask("SELECT 1");
    reader.leave();
    let is_owner = !nix::unistd::geteuid().is_root();
    assert!(is_owner || answer.starts_with("Unreachable {"), "{answer}");
}

#[test]
fn any_name_a_file_can_have_can_be_opened() {
    let names: [&[u8]; 8] = [
        b"a?mode=rwc",
        b"a#b",
        b"50%25.db",
        b"two words",
        b"file:x",
        "tickets é \u{1f4ca}".as_bytes(),
        b"\xff\xfe",
        b"a&immutable=1",
    ];
    for name in names {
        let stage = Stage::new(TABLE);
        let path = stage.beside("").join(OsStr::from_bytes(name));
        fs::rename(&stage.path, &path).unwrap();
        let mut database = Database::open(&path, &Limits::default()).unwrap();
        assert_eq!(number(&mut database, "SELECT count(*) FROM t"), 3);
        assert_eq!(fs::read_dir(stage.beside("")).unwrap().count(), 1);
    }
}

#[test]
fn a_link_is_followed_and_the_identity_says_where() {
    let stage = Stage::new(TABLE);
    let link = stage.beside("current.db");
    symlink("replica.db", &link).unwrap();
    let database = Database::open(&link, &Limits::default()).unwrap();
    let identity = database.identity();
    assert_eq!(identity.path, link.to_str().unwrap());
    assert_eq!(identity.resolved, fs::canonicalize(&stage.path).unwrap().to_str().unwrap());
    assert_eq!((identity.journal, identity.opened), (JournalMode::Rollback, OpenedAs::Locked));
    assert_eq!(identity.size, fs::metadata(&stage.path).unwrap().len());
    assert!(identity.change_counter > 0 && identity.siblings_visible);
    let text = serde_json::to_string(identity).unwrap();
    assert_eq!(&serde_json::from_str::<Identity>(&text).unwrap(), identity);
}

#[test]
fn a_schema_written_under_wider_limits_still_opens() {
    let many: Vec<String> = (0..1500).map(|n| format!("c{n}")).collect();
    let union = vec!["SELECT 1"; 80].join(" UNION ALL ");
    let stage = Stage::new(&format!("CREATE TABLE wide({}); CREATE VIEW long AS {union}; {TABLE}", many.join(", ")));
    let mut database = stage.open();
    assert_eq!(rows(&mut database, "SELECT * FROM wide").unwrap().len(), 0);
    assert_eq!(number(&mut database, "SELECT count(*) FROM t"), 3);
}

#[test]
fn limits_keep_their_defaults_when_settings_name_only_some() {
    let limits: Limits = serde_json::from_str(r#"{"length": 8000000}"#).unwrap();
    assert_eq!(limits, Limits { length: 8_000_000, ..Limits::default() });
    assert!(serde_json::from_str::<Limits>(r#"{"attached": 1}"#).is_err());
}
