//! The packed image: what is in it, and how it behaves in a real engine, run as `docs/deploy.md` says.
//!
//! `scripts/test-image` packs it, starts an engine where none is running, and runs these tests. `PI_SQL_ARCHIVE` names
//! the archive, `PI_SQL_PROGRAM` the program in it.

use std::env;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// A question of the sample's, and its answer.
const QUESTION: &str = "how many accounts churned in June 2026?";
const ANSWER: &str = "142 accounts churned in June 2026.\n";
/// The belts of the one command that everything is promised for.
const BELTS: [&str; 8] =
    ["--rm", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--network", "none"];
/// A person of the host, where the tests run as root.
const PERSON: u32 = 1000;
/// Bytes: the design's budget for the program, and for the image as it is shipped.
const PROGRAM_BUDGET: u64 = 12 << 20;
const IMAGE_BUDGET: usize = 8 << 20;

fn archive() -> PathBuf {
    env::var_os("PI_SQL_ARCHIVE").expect("PI_SQL_ARCHIVE names the archive: run scripts/test-image").into()
}

fn program() -> PathBuf {
    env::var_os("PI_SQL_PROGRAM").expect("PI_SQL_PROGRAM names the program: run scripts/test-image").into()
}

fn image() -> String {
    format!("pi-sql:{}", env!("CARGO_PKG_VERSION"))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a command that must succeed prints.
fn said(command: &mut Command) -> String {
    let output = run(command);
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    stdout(&output)
}

fn tar(arguments: &[&str]) -> Vec<u8> {
    run(Command::new("tar").arg("-xOf").arg(archive()).args(arguments)).stdout
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

/// The archive's index for docker.
fn manifest() -> Value {
    json(&tar(&["manifest.json"]))[0].clone()
}

fn config() -> Value {
    json(&tar(&[manifest()["Config"].as_str().unwrap()]))
}

fn digest_of(bytes: &[u8]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("bytes");
    fs::write(&file, bytes).unwrap();
    said(Command::new("sha256sum").arg(file))[..64].to_owned()
}

/// A place on the host with the sample in it, and a volume for the output.
struct Stage {
    directory: TempDir,
    volume: String,
}

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let database = directory.path().join("replica.db");
        said(Command::new(program()).arg("sample").arg(&database));
        let volume = format!("pi-sql-test-{}", directory.path().file_name().unwrap().to_string_lossy());
        Self { directory, volume }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The command that everything is promised for, with these arguments.
    fn docker(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("docker");
        command.arg("run").args(BELTS);
        command.arg("-v").arg(format!("{}:/data/analytics.db:ro", self.path("replica.db").display()));
        command.arg("-v").arg(format!("{}:/work/sql-output", self.volume)).arg(image()).args(arguments);
        command
    }

    /// The launcher, as a person of the host who may use the engine.
    fn launcher(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(root().join("scripts/pi-sql"));
        command.args(arguments).current_dir(self.directory.path()).env("PI_SQL_IMAGE", image());
        if nix::unistd::getuid().is_root() {
            chown(self.directory.path(), Some(PERSON), Some(PERSON)).unwrap();
            let socket = env::var("DOCKER_HOST").unwrap_or_else(|_| "unix:///var/run/docker.sock".into());
            let group = fs::metadata(socket.trim_start_matches("unix://")).unwrap().gid();
            command.uid(PERSON).gid(group).env("PI_SQL_USER", format!("{PERSON}:{PERSON}")).env("HOME", "/nonexistent");
        }
        command
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        run(Command::new("docker").args(["volume", "rm", "--force", &self.volume]));
    }
}

#[test]
#[ignore = "needs the packed image: scripts/test-image"]
fn the_image_holds_exactly_what_is_listed() {
    let layer = tar(&[manifest()["Layers"][0].as_str().unwrap()]);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("layer");
    fs::write(&file, layer).unwrap();
    let listed = said(Command::new("tar").args(["--numeric-owner", "-tvf"]).arg(file));
    let found: Vec<String> = listed
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            format!("{} {} {}", words[0], words[1], words[5..].join(" "))
        })
        .collect();
    let expected = fs::read_to_string(root().join("container/contents.txt")).unwrap();
    assert_eq!(found, expected.lines().collect::<Vec<_>>());
    assert!(!found.iter().any(|line| line[..10].contains(['s', 't', 'l'])), "no setuid, no sticky bit, no link");
    assert_eq!(manifest()["Layers"].as_array().unwrap().len(), 1);
}

#[test]
#[ignore = "needs the packed image: scripts/test-image"]
fn the_program_is_static_stripped_small_and_does_not_tell_where_it_was_built() {
    let headers = said(Command::new("readelf").arg("-lW").arg(program()));
    assert!(!headers.contains("INTERP"), "{headers}");
    let dynamic = said(Command::new("readelf").arg("-dW").arg(program()));
    for forbidden in ["NEEDED", "RPATH", "RUNPATH"] {
        assert!(!dynamic.contains(forbidden), "{dynamic}");
    }
    let sections = said(Command::new("readelf").arg("-SW").arg(program()));
    assert!(!sections.contains(".symtab") && !sections.contains(".debug"), "{sections}");
    let bytes = fs::read(program()).unwrap();
    assert!(bytes.len() as u64 <= PROGRAM_BUDGET, "{} bytes", bytes.len());
    for place in [env!("CARGO_MANIFEST_DIR").to_owned(), env::var("HOME").unwrap() + "/"] {
        assert!(memchr::memmem::find(&bytes, place.as_bytes()).is_none(), "{place} is in the program");
    }
}

#[test]
#[ignore = "needs the packed image: scripts/test-image"]
fn the_image_is_small() {
    let compressed = run(Command::new("gzip").arg("-9nc").arg(archive())).stdout;
    assert!(compressed.len() <= IMAGE_BUDGET, "{} bytes", compressed.len());
}

#[test]
#[ignore = "needs the packed image: scripts/test-image"]
fn the_image_says_what_it_is_and_runs_as_nobody() {
    let config = config();
    let inside = &config["config"];
    assert_eq!(inside["User"], "65532:65532");
    assert_eq!(inside["WorkingDir"], "/work");
    assert_eq!(inside["Entrypoint"], serde_json::json!(["/pi-sql"]));
    assert_eq!(inside["Env"], serde_json::json!(["PI_SQL_DB=/data/analytics.db", "PI_SQL_OUT=/work/sql-output"]));
    assert_eq!(inside["Healthcheck"]["Test"], serde_json::json!(["CMD", "/pi-sql", "health"]));
    let labels = inside["Labels"].as_object().unwrap();
    let label = |name: &str| labels[&format!("org.opencontainers.image.{name}")].as_str().unwrap().to_owned();
    assert_eq!(label("title"), "pi-sql");
    assert_eq!(label("version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(label("licenses"), "Apache-2.0 OR MIT");
    assert_eq!(label("created"), config["created"].as_str().unwrap());
    assert!(!label("revision").is_empty() && !label("description").is_empty());
    assert_eq!(manifest()["RepoTags"], serde_json::json!([image()]));
}

#[test]
#[ignore = "needs the packed image: scripts/test-image"]
fn every_digest_in_the_archive_is_right() {
    for name in ["index.json", "oci-layout", "manifest.json"] {
        json(&tar(&[name]));
    }
    let listed = said(Command::new("tar").arg("-tf").arg(archive()));
    let blobs: Vec<&str> = listed.lines().filter_map(|name| name.strip_prefix("blobs/sha256/")).collect();
    let blobs: Vec<&str> = blobs.into_iter().filter(|name| !name.is_empty()).collect();
    assert_eq!(blobs.len(), 3, "{listed}");
    for blob in blobs {
        assert_eq!(digest_of(&tar(&[&format!("blobs/sha256/{blob}")])), blob);
    }
    let index = json(&tar(&["index.json"]));
    let told = index["manifests"][0]["digest"].as_str().unwrap().replace(':', "/");
    let oci = json(&tar(&[&format!("blobs/{told}")]));
    assert_eq!(
        oci["config"]["digest"].as_str().unwrap().replace(':', "/"),
        manifest()["Config"].as_str().unwrap()["blobs/".len()..]
    );
}

#[test]
#[ignore = "needs the packed image: scripts/test-image"]
fn packing_again_elsewhere_gives_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let label = |name: &str| {
        config()["config"]["Labels"][format!("org.opencontainers.image.{name}")].as_str().unwrap().to_owned()
    };
    let epoch = said(Command::new("date").args(["-d", &label("created"), "+%s"]));
    let again = directory.path().join("again.tar");
    let mut pack = Command::new("sh");
    pack.args(["-c", "umask 077; exec \"$@\"", "sh"]).arg(root().join("container/pack.sh")).arg(&again);
    pack.arg(program()).arg(root().join(".pi")).arg(label("version")).arg(config()["architecture"].as_str().unwrap());
    pack.arg(label("revision")).arg(epoch.trim());
    pack.current_dir(directory.path()).env("TZ", "Asia/Kathmandu").env("LC_ALL", "C.UTF-8");
    said(&mut pack);
    assert!(fs::read(archive()).unwrap() == fs::read(again).unwrap(), "other bytes");
}

#[test]
#[ignore = "needs an engine: scripts/test-image"]
fn the_engine_shows_the_digest_that_the_packer_printed() {
    let id = said(Command::new("docker").args(["image", "inspect", "--format", "{{.Id}}", &image()]));
    assert_eq!(id.trim(), format!("sha256:{}", digest_of(&tar(&[manifest()["Config"].as_str().unwrap()]))));
}

#[test]
#[ignore = "needs an engine: scripts/test-image"]
fn a_question_is_answered_in_a_container_without_anything() {
    let stage = Stage::new();
    let before = fs::read(stage.path("replica.db")).unwrap();
    assert_eq!(said(&mut stage.docker(&["--", QUESTION])), ANSWER);
    assert!(before == fs::read(stage.path("replica.db")).unwrap());
    let around: Vec<_> = fs::read_dir(stage.directory.path()).unwrap().collect();
    assert_eq!(around.len(), 1, "{around:?}");
    // The volume is the only thing it could write; the program itself reads what is there.
    let mut kept = stage.docker(&[]);
    kept.args(["audit", "verify"]);
    assert!(said(&mut kept).starts_with("the chain is whole"));
}

#[test]
#[ignore = "needs an engine: scripts/test-image"]
fn the_doctor_finds_every_belt_in_the_container() {
    let stage = Stage::new();
    let output = run(&mut stage.docker(&["doctor"]));
    let report = stdout(&output);
    assert!(output.status.success(), "{report}");
    assert!(report.lines().count() > 5 && report.lines().all(|line| line.starts_with("ok ")), "{report}");
}

#[test]
#[ignore = "needs an engine: scripts/test-image"]
fn there_is_nothing_to_run_but_the_program() {
    for other in ["/bin/sh", "sh", "/bin/busybox", "/usr/bin/env"] {
        let output =
            run(Command::new("docker").args(["run", "--rm", "--network", "none", "--entrypoint", other, &image()]));
        assert!(matches!(output.status.code(), Some(125..=127)), "{other}: {:?}", output.status);
    }
}

#[test]
#[ignore = "needs an engine: scripts/test-image"]
fn health_is_told_by_the_exit_code() {
    let stage = Stage::new();
    let code = |arguments: &[&str]| run(&mut stage.docker(arguments)).status.code();
    assert_eq!(code(&["health"]), Some(0));
    assert_eq!(code(&["health", "--max-age", "1h"]), Some(7), "no run yet");
    assert_eq!(code(&["--", QUESTION]), Some(0));
    assert_eq!(code(&["health", "--max-age", "1h"]), Some(0));
    assert_eq!(code(&["health", "--db", "/data/none.db"]), Some(5));
    assert_eq!(code(&["health", "--max-age", "soon"]), Some(2));
}

#[test]
#[ignore = "needs an engine: scripts/test-image"]
fn the_engine_s_own_health_check_works_without_a_shell() {
    let stage = Stage::new();
    assert_eq!(said(&mut stage.docker(&["--", QUESTION])), ANSWER);
    let mut follow = stage.docker(&["audit", "tail", "-f"]);
    let arguments: Vec<_> = follow.get_args().map(ToOwned::to_owned).collect();
    follow = Command::new("docker");
    follow.arg("run").args(["--detach", "--health-interval", "1s", "--name", &stage.volume]).args(&arguments[1..]);
    said(&mut follow);
    let status =
        || said(Command::new("docker").args(["inspect", "--format", "{{.State.Health.Status}}", &stage.volume]));
    let healthy = (0..60).any(|_| {
        sleep(Duration::from_millis(500));
        status().trim() == "healthy"
    });
    run(Command::new("docker").args(["rm", "--force", &stage.volume]));
    assert!(healthy);
}

#[test]
#[ignore = "needs an engine: scripts/test-image"]
fn a_container_that_is_told_to_stop_stops_with_its_log_closed() {
    let stage = Stage::new();
    let endless = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let mut query = stage.docker(&["query", endless]);
    let arguments: Vec<_> = query.get_args().map(ToOwned::to_owned).collect();
    query = Command::new("docker");
    query.args(["run", "--name", &stage.volume]).args(&arguments[1..]);
    let mut running = query.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let asked = (0..100).any(|_| {
        sleep(Duration::from_millis(100));
        stdout(&run(&mut stage.docker(&["audit", "show", "--kind", "query"]))).contains("RECURSIVE")
    });
    assert!(asked);
    // Were the signal not heeded, the engine would kill it after a minute, and the code would be 137.
    said(Command::new("docker").args(["stop", "--time", "60", &stage.volume]));
    assert_eq!(running.wait().unwrap().code(), Some(143));
    assert!(said(&mut stage.docker(&["audit", "verify"])).starts_with("the chain is whole"));
    assert!(said(&mut stage.docker(&["audit", "show", "--kind", "stop"])).contains("stop"));
}

#[test]
#[ignore = "needs an engine: scripts/test-image"]
fn the_launcher_s_output_belongs_to_the_caller_and_nothing_else_is_written() {
    let stage = Stage::new();
    let before = fs::read(stage.path("replica.db")).unwrap();
    assert_eq!(said(&mut stage.launcher(&["--db", "replica.db", "--", QUESTION])), ANSWER);
    assert!(before == fs::read(stage.path("replica.db")).unwrap());
    let owner = fs::metadata(stage.directory.path()).unwrap().uid();
    let mut found: Vec<String> = Vec::new();
    for file in fs::read_dir(stage.path("sql-output")).unwrap() {
        let file = file.unwrap();
        let metadata = file.metadata().unwrap();
        assert_eq!(metadata.uid(), owner, "{file:?}");
        assert_eq!(metadata.mode() & 0o077, 0, "{file:?}");
        found.push(file.file_name().into_string().unwrap());
    }
    assert!(found.contains(&"audit.jsonl".into()), "{found:?}");
    let mut around: Vec<_> =
        fs::read_dir(stage.directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    around.sort();
    assert_eq!(around, ["replica.db", "sql-output"]);
}

#[test]
#[ignore = "needs an engine: scripts/test-image"]
fn the_launcher_s_doctor_is_green() {
    let report = said(&mut Stage::new().launcher(&["--db", "replica.db", "doctor"]));
    assert!(report.lines().count() > 5 && report.lines().all(|line| line.starts_with("ok ")), "{report}");
}

#[test]
#[ignore = "needs an engine: scripts/test-image"]
fn the_launcher_makes_a_sample_for_the_caller_and_reads_sql_from_its_input() {
    let stage = Stage::new();
    said(&mut stage.launcher(&["sample", "new.db"]));
    let owner = fs::metadata(stage.directory.path()).unwrap().uid();
    assert_eq!(fs::metadata(stage.path("new.db")).unwrap().uid(), owner);
    assert!(fs::read(stage.path("new.db")).unwrap() == fs::read(stage.path("replica.db")).unwrap());
    let sql = stage.path("query.sql");
    fs::write(&sql, "SELECT 6 * 7 AS answer").unwrap();
    let mut query = stage.launcher(&["query", "--db", "new.db", "--format", "csv", "-"]);
    let output = query.stdin(fs::File::open(sql).unwrap()).output().unwrap();
    assert_eq!(stdout(&output), "answer\n42\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "needs an engine: scripts/test-image"]
fn every_command_works_behind_the_container_s_filter() {
    let stage = Stage::new();
    for call in [
        &["--db", "replica.db", "--", QUESTION][..],
        &["schema", "--db", "replica.db"],
        &["schema", "--db", "replica.db", "events"],
        &["audit", "verify"],
        &["audit", "show"],
        &["audit", "tail"],
        &["prompt"],
        &["policy"],
        &["health", "--db", "replica.db", "--max-age", "1h"],
        &["sample", "new.db"],
        &["sample", "--force", "new.db"],
        &["--help"],
    ] {
        let output = run(&mut stage.launcher(call));
        assert!(output.status.success(), "{call:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
#[ignore = "needs an engine: scripts/test-image"]
fn a_live_write_ahead_log_is_read_to_its_newest_commit() {
    let stage = Stage::new();
    let writer = rusqlite::Connection::open(stage.path("live.db")).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer.execute_batch("CREATE TABLE accounts (id INTEGER PRIMARY KEY); INSERT INTO accounts VALUES (1)").unwrap();
    writer.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO accounts VALUES (2), (3)").unwrap();
    let question = "how many accounts are there?";
    let live = said(&mut stage.launcher(&["--db", "live.db", "--", question]));
    assert!(live.contains('3'), "{live}");
    // A lone file hides the log, and the answer says so.
    let lone = format!("{}:/data/analytics.db:ro", stage.path("live.db").display());
    let mut alone = Command::new("docker");
    alone.arg("run").args(BELTS).args(["-v", &lone, "-v"]).arg(format!("{}:/work/sql-output", stage.volume));
    let output = run(alone.arg(image()).args(["--", question]));
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stdout(&output).contains('1') && notes.contains("as of the last checkpoint"), "{notes}");
    drop(writer);
}
