//! `scripts/pi-sql` with an engine that only tells what it was asked: which options, mounts and arguments it gets.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A release laid out anew, an engine beside it, and a place to call from.
#[must_use]
struct Release {
    directory: TempDir,
    engine: &'static str,
    environment: Vec<(&'static str, String)>,
}

impl Release {
    fn with(engine: &'static str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for made in ["release/scripts", "release/bin", "release/container", "engines", "here/replica"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        let launcher = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/pi-sql");
        fs::copy(launcher, root.join("release/scripts/pi-sql")).unwrap();
        symlink(env!("CARGO_BIN_EXE_pi-sql"), root.join("release/bin/pi-sql")).unwrap();
        fs::write(root.join("release/VERSION"), "9.9.9\n").unwrap();
        fs::write(root.join("here/replica/app.db"), rollback_header()).unwrap();
        let release = Self { directory, engine, environment: Vec::new() };
        release.engine_does(engine, r#"case $1 in image) echo sha256:0 ;; *) printf '%s\n' "$@" ;; esac"#);
        release
    }

    fn engine_does(&self, engine: &str, script: &str) {
        let path = self.directory.path().join("engines").join(engine);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn set(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    fn here(&self) -> PathBuf {
        fs::canonicalize(self.directory.path().join("here")).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let path = format!("{}:/usr/bin:/bin", self.directory.path().join("engines").display());
        Command::new(self.directory.path().join("release/scripts/pi-sql"))
            .args(arguments)
            .current_dir(self.here())
            .env_clear()
            .env("PATH", path)
            .env("PI_SQL_ENGINE", self.engine)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap()
    }

    /// What the engine was told, a word a line.
    fn told(&self, arguments: &[&str]) -> Vec<String> {
        let output = self.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{stderr}");
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }

    /// The mounts among that.
    fn mounts(&self, arguments: &[&str]) -> Vec<String> {
        let here = format!("{}/", self.here().display());
        after(&self.told(arguments), "--mount").iter().map(|mount| mount.replace(&here, "")).collect()
    }
}

/// The first page of a database with a rollback journal, as far as a launcher looks.
fn rollback_header() -> Vec<u8> {
    let mut header = b"SQLite format 3\0\x10\0\x01\x01".to_vec();
    header.resize(100, 0);
    header
}

/// The words that follow `option`, each time it is there.
fn after(words: &[String], option: &str) -> Vec<String> {
    words.windows(2).filter(|pair| pair[0] == option).map(|pair| pair[1].clone()).collect()
}

/// What comes after the image's name: pi-sql's own arguments.
fn inside(words: &[String]) -> Vec<&str> {
    let image = words.iter().position(|word| word == "pi-sql:9.9.9").unwrap();
    words[image + 1..].iter().map(String::as_str).collect()
}

#[test]
fn every_belt_is_asked_for() {
    let words = Release::with("docker").told(&["--db", "replica/app.db", "--", "how many?"]);
    let line = words.join(" ");
    for belt in [
        "run --rm --interactive --pull never",
        "--read-only",
        "--tmpfs /tmp:rw,size=64m,noexec,nosuid,nodev",
        "--cap-drop ALL",
        "--security-opt no-new-privileges",
        "--pids-limit 64",
        "--memory 512m --memory-swap 512m",
        "--cpus 2",
        "--ulimit core=0",
        "--ipc none",
        "--network none",
    ] {
        assert!(line.contains(belt), "{belt} is missing in: {line}");
    }
    assert!(!words.iter().any(|word| word == "--tty"), "no terminal here");
    assert_eq!(inside(&words), ["--", "how many?"]);
}

#[test]
fn a_terminal_is_passed_on_where_there_is_one() {
    let release = Release::with("docker");
    let launcher = release.directory.path().join("release/scripts/pi-sql");
    let line = format!("'{}' --db replica/app.db doctor", launcher.display());
    let path = format!("{}:/usr/bin:/bin", release.directory.path().join("engines").display());
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).current_dir(release.here()).env_clear();
    let output = terminal.env("PATH", path).env("PI_SQL_ENGINE", "docker").stdin(Stdio::null()).output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    assert!(words.lines().any(|word| word.trim() == "--tty"), "{words}");
}

#[test]
fn further_options_are_words_and_never_commands() {
    let release = Release::with("docker").set("PI_SQL_ENGINE_OPTIONS", "--label a=$(touch${IFS}gone) --init *");
    let words = release.told(&["--db", "replica/app.db", "doctor"]);
    for word in ["--label", "a=$(touch${IFS}gone)", "--init", "*"] {
        assert!(words.contains(&word.to_owned()), "{word}: {words:?}");
    }
    assert!(!release.here().join("gone").exists());
}

#[test]
fn the_user_is_the_caller_and_never_root_unless_told() {
    let told = |release: Release| after(&release.told(&["--db", "replica/app.db", "doctor"]), "--user");
    let id = nix::unistd::getuid();
    let expected = if id.is_root() { "65532:65532".into() } else { format!("{id}:{}", nix::unistd::getgid()) };
    assert_eq!(told(Release::with("docker")), [expected]);
    assert_eq!(told(Release::with("docker").set("PI_SQL_USER", "7:8")), ["7:8"]);
}

#[test]
fn the_generated_filter_is_used_where_it_is() {
    let release = Release::with("docker");
    let told = || after(&release.told(&["--db", "replica/app.db", "doctor"]), "--security-opt");
    assert_eq!(told(), ["no-new-privileges"]);
    let filter = release.directory.path().join("release/container/seccomp.json");
    fs::write(&filter, "{}").unwrap();
    assert!(told()[1].ends_with("/release/container/seccomp.json"), "{:?}", told());
}

#[test]
fn a_lone_database_is_mounted_alone_and_one_with_a_journal_in_its_directory() {
    let release = Release::with("docker");
    let call = ["--db", "replica/app.db", "doctor"];
    let alone = "type=bind,source=replica/app.db,target=/data/app.db,readonly";
    let directory = "type=bind,source=replica,target=/data,readonly";
    assert_eq!(release.mounts(&call)[0], alone);
    for sibling in ["app.db-journal", "app.db-wal", "app.db-shm"] {
        let path = release.here().join("replica").join(sibling);
        fs::write(&path, "").unwrap();
        assert_eq!(release.mounts(&call)[0], directory, "{sibling}");
        fs::remove_file(path).unwrap();
    }
    let mut ahead = rollback_header();
    ahead[18] = 2;
    ahead[19] = 2;
    fs::write(release.here().join("replica/app.db"), ahead).unwrap();
    assert_eq!(release.mounts(&call)[0], directory, "write-ahead log");
}

#[test]
fn a_link_leads_to_the_database_it_names() {
    let release = Release::with("docker");
    symlink("replica/app.db", release.here().join("current.db")).unwrap();
    let words = release.told(&["--db=current.db", "doctor"]);
    assert!(after(&words, "--env").contains(&"PI_SQL_DB=/data/app.db".into()), "{words:?}");
    assert_eq!(inside(&words), ["doctor"]);
}

#[test]
fn the_output_directory_is_made_and_is_the_only_thing_mounted_to_be_written() {
    let release = Release::with("docker");
    let mounts = release.mounts(&["--db", "replica/app.db", "--out", "kept", "--", "how many?"]);
    assert_eq!(mounts[1], "type=bind,source=kept,target=/work/sql-output");
    assert_eq!(mounts.iter().filter(|mount| !mount.ends_with(",readonly")).count(), 1);
    let made = fs::metadata(release.here().join("kept")).unwrap();
    assert_eq!(made.permissions().mode() & 0o777, 0o700);
}

#[test]
fn what_only_looks_makes_no_output_directory() {
    let release = Release::with("docker");
    for call in [&["audit", "verify"][..], &["--version"], &["prompt"], &["--db", "replica/app.db", "health"]] {
        let _ = release.told(call);
        assert!(!release.here().join("sql-output").exists(), "{call:?}");
    }
}

#[test]
fn resources_sockets_and_secrets_are_mounted_read_only_and_only_when_asked() {
    let release = Release::with("docker");
    for made in [".pi", "other"] {
        fs::create_dir(release.here().join(made)).unwrap();
    }
    for made in ["model.sock", "key"] {
        fs::write(release.here().join(made), "").unwrap();
    }
    let call = ["--db", "replica/app.db", "--pi", "other", "doctor"];
    assert_eq!(release.mounts(&["--db", "replica/app.db", "doctor"]).len(), 2);
    let release = release.set("PI_SQL_MODEL_SOCKET", "model.sock").set("PI_SQL_SECRET", "key");
    let mounts = release.mounts(&call);
    for expected in ["other,target=/work/.pi", "model.sock,target=/run/model.sock", "key,target=/run/secrets/key"] {
        let expected = format!("type=bind,source={expected},readonly");
        assert!(mounts.contains(&expected), "{expected} is missing in {mounts:?}");
    }
    assert_eq!(inside(&release.told(&call)), ["doctor"]);
}

#[test]
fn there_is_a_network_only_for_a_model_elsewhere() {
    let network = |release: Release, arguments: &[&str]| {
        let call = [&["--db", "replica/app.db"], arguments, &["--", "how many?"]].concat();
        after(&release.told(&call), "--network")
    };
    let docker = || Release::with("docker");
    assert_eq!(network(docker(), &[]), ["none"]);
    assert_eq!(network(docker(), &["--model", "offline/planner"]), ["none"]);
    assert_eq!(network(docker(), &["--model=elsewhere/large"]), [""; 0]);
    assert_eq!(network(docker().set("PI_SQL_MODEL", "elsewhere/large"), &[]), [""; 0]);
    assert_eq!(network(docker().set("PI_SQL_NETWORK", "egress"), &[]), ["egress"]);
    let with_socket = docker().set("PI_SQL_MODEL_SOCKET", "/dev/null");
    assert_eq!(network(with_socket, &["--model", "elsewhere/large"]), ["none"]);
}

#[test]
fn files_among_the_arguments_are_mounted_and_named_as_they_are_inside() {
    let release = Release::with("docker");
    fs::write(release.here().join("some questions.jsonl"), "").unwrap();
    let words = release.told(&["eval", "--db", "replica/app.db", "some questions.jsonl"]);
    assert_eq!(inside(&words), ["eval", "/files/1/some questions.jsonl"]);
    let words = release.told(&["sample", "--force", "replica/new.db"]);
    assert_eq!(inside(&words), ["sample", "--force", "/made/new.db"]);
    assert!(!words.iter().any(|word| word.contains("/data")));
}

#[test]
fn names_with_spaces_quotes_and_commas_arrive_whole() {
    let release = Release::with("docker");
    for name in ["it's a replica", "a,b \"c\"", "$(touch gone) `touch gone`"] {
        let directory = release.here().join(name);
        fs::create_dir(&directory).unwrap();
        fs::copy(release.here().join("replica/app.db"), directory.join("app.db")).unwrap();
        let words = release.told(&["--db", &format!("{name}/app.db"), "--", "how many “x'$y\"”?"]);
        let source = directory.join("app.db").display().to_string();
        assert!(words.iter().any(|word| word.contains(&source)), "{name}: {words:?}");
        assert_eq!(inside(&words), ["--", "how many “x'$y\"”?"]);
        assert!(!release.here().join("gone").exists());
    }
}

#[test]
fn what_follows_the_dashes_is_left_alone() {
    let release = Release::with("docker");
    let words = release.told(&["--db", "replica/app.db", "--", "--db", "replica/app.db", "sample"]);
    assert_eq!(inside(&words), ["--", "--db", "replica/app.db", "sample"]);
}

#[test]
fn an_engine_asked_for_and_not_usable_ends_the_run() {
    let release = Release::with("docker");
    release.engine_does("docker", "echo 'Cannot connect to the daemon' >&2; exit 1");
    let output = release.run(&["--version"]);
    assert_eq!(output.status.code(), Some(6));
    assert!(String::from_utf8_lossy(&output.stderr).contains("docker can't be used: Cannot connect"));
}

#[test]
fn an_engine_that_is_there_and_not_usable_gives_way_with_one_line() {
    let release = Release::with("docker").set("PI_SQL_ENGINE", "");
    release.engine_does("docker", "echo 'Cannot connect to the daemon' >&2; exit 1");
    let output = release.run(&["--version"]);
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), concat!("pi-sql ", env!("CARGO_PKG_VERSION"), "\n"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.contains("running natively, behind the same in-process belts"), "{stderr}");
}

#[test]
fn without_an_engine_it_runs_natively_and_says_so_only_when_asked() {
    let quiet = Release::with("native").run(&["--version"]);
    assert!(quiet.status.success() && quiet.stderr.is_empty());
    let question = ["query", "--db", "new.db", "SELECT count(*) FROM plans"];
    let release = Release::with("native");
    assert!(release.run(&["sample", "new.db"]).status.success());
    assert!(release.run(&question).status.success());
    assert!(Path::new(&release.here().join("sql-output/audit.jsonl")).exists());
}

#[test]
fn an_image_that_is_not_there_is_named() {
    let release = Release::with("docker");
    release.engine_does("docker", "case $2 in inspect) exit 1 ;; esac");
    let output = release.run(&["--version"]);
    assert_eq!(output.status.code(), Some(6));
    assert!(String::from_utf8_lossy(&output.stderr).contains("docker load --input ARCHIVE"));
}
