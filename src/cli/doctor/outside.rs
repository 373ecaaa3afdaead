//! The belts around the whole program: a container's, where there is one.

use std::fs;
use std::path::Path;

use nix::sys::statfs::{OVERLAYFS_SUPER_MAGIC, statfs};
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{AccessFlags, access};

use crate::cli::doctor::Check;

/// Files that container engines leave in every container's root.
const MARKS: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];

/// Whether this runs in a container; then the belts around it count.
pub(super) fn in_container() -> bool {
    // An engine's mark alone is not enough: disk images are made of container images, mark and all.
    std::process::id() == 1
        || is_overlay() && MARKS.iter().any(|mark| Path::new(mark).exists())
        || std::env::var_os("container").is_some()
        || std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
}

/// Looks at them; must run before this process drops anything itself.
pub(super) fn look(database: &Path, output: &Path) -> Vec<Check> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(str::trim).unwrap_or_default().to_owned()
    };
    let user = field("Uid").split_whitespace().next().unwrap_or_default().to_owned();
    let bounding = field("CapBnd");
    let beside = database.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    vec![
        check("root file system", read_only(Path::new("/")), "read-only", "can be written: run with --read-only"),
        check("user", !user.is_empty() && user != "0", "not root", "root: run as another user"),
        check(
            "capabilities",
            !bounding.is_empty() && bounding.chars().all(|digit| digit == '0'),
            "none, none to be gained",
            "some could be gained: run with --cap-drop ALL",
        ),
        check(
            "privileges",
            field("NoNewPrivs") == "1",
            "can't grow",
            "could grow: run with --security-opt no-new-privileges",
        ),
        check("database mount", read_only(beside), "read-only", "can be written: mount it with :ro"),
        check(
            "output directory",
            access(output, AccessFlags::W_OK).is_ok(),
            "can be written",
            "can't be written: mount one that this user owns",
        ),
        temporary(),
    ]
}

/// Temporary space is bounded and runs nothing, or does not exist.
fn temporary() -> Check {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let options = mounts.lines().rev().find_map(|line| {
        let mut fields = line.split(' ');
        (fields.nth(1)? == "/tmp").then(|| fields.nth(1))?
    });
    let bounded = options.is_none_or(|options| {
        let options: Vec<&str> = options.split(',').collect();
        let sized = options.iter().any(|option| option.starts_with("size="));
        options.contains(&"ro") || sized && ["noexec", "nosuid", "nodev"].iter().all(|flag| options.contains(flag))
    });
    check(
        "temporary space",
        bounded && (options.is_some() || read_only(Path::new("/"))),
        "bounded, and runs nothing",
        "unbounded, or runs programs: run with --tmpfs /tmp:rw,size=64m,noexec,nosuid,nodev, or without any",
    )
}

/// Whether the root is one of the layered file systems that engines use.
fn is_overlay() -> bool {
    statfs("/").is_ok_and(|found| found.filesystem_type() == OVERLAYFS_SUPER_MAGIC)
}

fn read_only(path: &Path) -> bool {
    statvfs(path).is_ok_and(|found| found.flags().contains(FsFlags::ST_RDONLY))
}

fn check(name: &'static str, ok: bool, good: &str, bad: &str) -> Check {
    Check { name, ok, found: if ok { good } else { bad }.to_owned() }
}
