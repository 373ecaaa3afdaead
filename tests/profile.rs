//! `container/seccomp.json`, the filter for the whole container: the union of the roles' lists, and what comes before
//! they are in force. It is made from the program's own table; `scripts/seccomp` writes it anew.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use serde_json::{Value, json};

/// What the program calls before its roles have locked themselves down, or in commands that have none (measured).
const BEFORE: &[(&str, &str)] = &[
    ("execve", "the engine starts the program"),
    ("close_range", "what was inherited is closed at exec"),
    ("signalfd4", "signals are read like messages"),
    ("mkdir", "the output directory, when it is made"),
    ("pwrite64", "a new sample"),
    ("unlink", "a new sample's journal"),
    ("renameat2", "a new sample gets its name, if that is free"),
    ("statfs", "doctor looks at the file systems around it"),
];

/// What engines call between their own use of this filter and the start of the program (runc and crun).
const ENGINE: &[&str] = &[
    "chdir",
    "clock_getres",
    "exit",
    "faccessat2",
    "fstat",
    "fstatfs",
    "getppid",
    "getuid",
    "getgid",
    "getegid",
    "nanosleep",
    "openat2",
    "sched_yield",
    "setgid",
    "setgroups",
    "setuid",
    "uname",
    "waitid",
];

/// The same calls where a newer architecture has no older name (aarch64).
const ELSEWHERE: &[(&str, &str)] = &[
    ("access", "faccessat"),
    ("dup2", "dup3"),
    ("epoll_wait", "epoll_pwait"),
    ("mkdir", "mkdirat"),
    ("poll", "ppoll"),
    ("readlink", "readlinkat"),
    ("rename", "renameat"),
    ("unlink", "unlinkat"),
];

/// `PROT_EXEC`: the program is static and maps no code.
const EXECUTABLE: u64 = 0x4;
/// The flags of `clone` that make namespaces, all of them.
const NAMESPACES: u64 = 0x7e02_0080;
/// The families a role may ever use: Unix, IPv4, IPv6.
const FAMILIES: [u64; 3] = [1, 2, 10];

/// The names that any role's list allows or answers.
fn union() -> BTreeSet<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_pi-sql")).args(["policy", "--json"]).output().unwrap();
    let table: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut names = BTreeSet::new();
    for role in table["roles"].as_array().unwrap() {
        let seccomp = &role["seccomp"];
        for list in seccomp["lists"].as_array().unwrap() {
            names.extend(list["allowed"].as_array().unwrap().iter().map(|call| name(&call["name"])));
        }
        names.extend(seccomp["answered"].as_array().unwrap().iter().map(|shim| name(&shim["call"]["name"])));
    }
    assert!(names.len() > 40, "{names:?}");
    names
}

fn name(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// A rule with a condition; several for one call mean any of them.
fn when(call: &str, index: u8, operator: &str, value: u64, second: u64, why: &str) -> Value {
    let condition = json!({ "index": index, "value": value, "valueTwo": second, "op": operator });
    json!({ "names": [call], "action": "SCMP_ACT_ALLOW", "args": [condition], "comment": why })
}

fn profile() -> Value {
    let mut roles = union();
    let conditional = ["clone", "mmap", "mprotect", "socket", "socketpair"];
    roles.retain(|name| !conditional.contains(&name.as_str()));
    let before: Vec<&str> = BEFORE.iter().map(|(name, _)| *name).filter(|name| !roles.contains(*name)).collect();
    let listed = |name: &str| roles.contains(name) || before.contains(&name);
    let engine: Vec<&str> = ENGINE.iter().copied().filter(|name| !listed(name)).collect();
    let elsewhere: Vec<&str> =
        ELSEWHERE.iter().filter(|(older, newer)| listed(older) && !listed(newer)).map(|(_, newer)| *newer).collect();
    let allowed = |names: Value, why: &str| json!({ "names": names, "action": "SCMP_ACT_ALLOW", "comment": why });
    let mut syscalls = vec![
        allowed(json!(roles), "what any role's own list allows; those lists are far shorter and check arguments"),
        allowed(json!(before), "before the roles have locked themselves down"),
        allowed(json!(engine), "the engine, between this filter and the program"),
        allowed(json!(elsewhere), "the same calls by the names of aarch64"),
        when("clone", 0, "SCMP_CMP_MASKED_EQ", NAMESPACES, 0, "processes and threads, no namespaces"),
        when("mmap", 2, "SCMP_CMP_MASKED_EQ", EXECUTABLE, 0, "memory that can't be executed"),
        when("mprotect", 2, "SCMP_CMP_MASKED_EQ", EXECUTABLE, 0, "memory that can't be executed"),
        when("socketpair", 0, "SCMP_CMP_EQ", FAMILIES[0], 0, "the roles' channels"),
    ];
    syscalls
        .extend(FAMILIES.iter().map(|family| when("socket", 0, "SCMP_CMP_EQ", *family, 0, "the model's connection")));
    // C libraries try the older call when this one is not there; its flags can't be checked here.
    syscalls.push(json!({ "names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38, "comment": "not there" }));
    json!({
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": 1,
        "archMap": [
            { "architecture": "SCMP_ARCH_X86_64", "subArchitectures": [] },
            { "architecture": "SCMP_ARCH_AARCH64", "subArchitectures": [] },
        ],
        "syscalls": syscalls,
    })
}

/// Written on `x86_64`, where each call has its older name, too.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_container_s_filter_is_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("container/seccomp.json");
    let made = format!("{:#}\n", profile());
    if env::var_os("PI_SQL_WRITE_PROFILE").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert!(
        made == kept,
        "container/seccomp.json is not what the table says: run scripts/seccomp and look at the change"
    );
}

#[test]
fn the_container_s_filter_allows_all_that_a_role_s_list_allows() {
    let profile: Value = serde_json::from_str(include_str!("../container/seccomp.json")).unwrap();
    let rules = profile["syscalls"].as_array().unwrap();
    let names: BTreeSet<String> =
        rules.iter().flat_map(|rule| rule["names"].as_array().unwrap().iter().map(name)).collect();
    let missing: Vec<String> = union().difference(&names).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
    for never in
        ["ptrace", "mount", "unshare", "setns", "bpf", "io_uring_setup", "keyctl", "memfd_create", "personality"]
    {
        assert!(!names.contains(never), "{never}");
    }
}
