//! Files: read, write, name, move, mount.

use super::short::*;

pub(super) const PROBES: &[Probe] = &[
    probe!("read the password file", [SYS_openat, HERE, T(c"/etc/passwd"), n!(O_RDONLY)]; [A, A, A, K]),
    probe!("read its own memory", [SYS_openat, HERE, T(c"/proc/self/mem"), n!(O_RDONLY)]; [A, A, A, K]),
    probe!("write its own memory", [SYS_openat, HERE, T(c"/proc/self/mem"), n!(O_RDWR)]; [A, A, A, K]),
    probe!("read its own environment", [SYS_openat, HERE, T(c"/proc/self/environ"), n!(O_RDONLY)]; [A, A, A, K]),
    probe!("read another's environment", [SYS_openat, HERE, T(c"/proc/1/environ"), n!(O_RDONLY)]; [A, A, A, K]),
    probe!("open the terminal", [SYS_openat, HERE, T(c"/dev/tty"), n!(O_RDWR)]; [NO_TTY, NO_TTY, NO_TTY, K]),
    // The spawner's layer is the union of its children's, so it could read what the reader may.
    probe!("open the database to read", [SYS_openat, HERE, Database, n!(O_RDONLY)]; [A, W, W, K]),
    probe!("open the database to write", [SYS_openat, HERE, Database, n!(O_RDWR)]; [A, A, A, K]),
    probe!("open the database to append", [SYS_openat, HERE, Database, n!(O_WRONLY | O_APPEND)]; [A, A, A, K]),
    probe!("read the audit log", [SYS_openat, HERE, Audit, n!(O_RDONLY)]; [W, A, A, K]),
    probe!("write the audit log", [SYS_openat, HERE, Audit, n!(O_WRONLY | O_APPEND)]; [W, A, A, K]),
    probe!(
        "make a file without a name",
        [SYS_openat, HERE, T(c"/tmp"), n!(O_TMPFILE | O_RDWR), n!(0o600)];
        [A, A, A, K]
    ),
    probe!("list a directory", [SYS_openat, HERE, T(c"/"), n!(O_RDONLY | O_DIRECTORY)]; [A, A, A, K]),
    // A starting child names its Landlock paths so, under the spawner's list.
    probe!("name a file without opening it", [SYS_openat, HERE, T(c"/"), n!(O_PATH)]; [K, W, K, K]),
    probe!("open by the newer call", [SYS_openat2, HERE, T(c"/"), Space, N(24)]; NOBODY),
    #[cfg(target_arch = "x86_64")]
    probe!("open by the older call", [SYS_open, T(c"/"), n!(O_RDONLY)]; NOBODY),
    #[cfg(target_arch = "x86_64")]
    probe!("make a file by the older call", [SYS_creat, T(c"/proc/pi-sql"), N(0)]; NOBODY),
    // Landlock does not keep names and attributes secret; SQLite and the audit ask for them by path.
    probe!("look at a file", [SYS_newfstatat, HERE, T(c"/"), Space, N(0)]; [K, W, W, K]),
    probe!("look at a file by the newer call", [SYS_statx, HERE, T(c"/"), N(0), N(0), Space]; [W, W, W, K]),
    #[cfg(target_arch = "x86_64")]
    probe!("read a link", [SYS_readlink, T(c"/proc/self/exe"), Space, N(64)]; [K, W, W, K]),
    #[cfg(target_arch = "x86_64")]
    probe!("ask for access", [SYS_access, T(c"/"), N(0)]; [K, W, W, K]),
    probe!("list an open directory", [SYS_getdents64, N(-1), Space, N(64)]; [BAD, K, K, K]),
    probe!("change directory", [SYS_chdir, T(c"/")]; NOBODY),
    probe!("change the root", [SYS_chroot, T(c"/")]; NOBODY),
    probe!("swap the root", [SYS_pivot_root, T(c"/"), T(c"/")]; NOBODY),
    probe!("remove a file", [SYS_unlinkat, HERE, T(c"/proc/pi-sql"), N(0)]; NOBODY),
    #[cfg(target_arch = "x86_64")]
    probe!("rename a file", [SYS_rename, T(c"/etc/passwd"), T(c"/etc/passwd")]; [READ_ONLY, K, K, K]),
    probe!("rename by the newer call", [SYS_renameat2, HERE, T(c"/proc/a"), HERE, T(c"/proc/b"), N(0)]; NOBODY),
    probe!("link a file", [SYS_linkat, HERE, T(c"/etc/passwd"), HERE, T(c"/etc/passwd"), N(0)]; NOBODY),
    probe!("make a symbolic link", [SYS_symlinkat, T(c"/"), HERE, T(c"/etc/passwd")]; NOBODY),
    probe!("make a directory", [SYS_mkdirat, HERE, T(c"/"), N(0)]; NOBODY),
    probe!("make a device", [SYS_mknodat, HERE, T(c"/"), n!(S_IFCHR), N(0)]; NOBODY),
    probe!("shorten a file", [SYS_truncate, Database, N(-1)]; NOBODY),
    probe!("write at an offset", [SYS_pwrite64, N(-1), Space, N(1), N(0)]; NOBODY),
    probe!("reserve room in a file", [SYS_fallocate, N(-1), N(0), N(0), N(1)]; NOBODY),
    probe!("change a mode", [SYS_fchmodat, HERE, T(c"/proc/pi-sql"), N(0)]; NOBODY),
    probe!("change an open file's mode", [SYS_fchmod, N(-1), N(0)]; NOBODY),
    probe!("change an owner", [SYS_fchownat, HERE, T(c"/proc/pi-sql"), N(0), N(0), N(0)]; NOBODY),
    probe!("change times", [SYS_utimensat, HERE, T(c"/proc/pi-sql"), Space, N(0)]; NOBODY),
    probe!("change an attribute", [SYS_setxattr, T(c"/proc/pi-sql"), T(c"user.a"), Space, N(1), N(0)]; NOBODY),
    probe!("send a file on", [SYS_sendfile, N(1), N(0), N(0), N(1)]; NOBODY),
    probe!("copy between files", [SYS_copy_file_range, N(0), N(0), N(1), N(0), N(1), N(0)]; NOBODY),
    probe!("splice", [SYS_splice, N(0), N(0), N(1), N(0), N(1), N(0)]; NOBODY),
    probe!("watch files", [SYS_inotify_init1, N(0)]; NOBODY),
    probe!("watch file systems", [SYS_fanotify_init, N(0), N(0)]; NOBODY),
    probe!("take a file's handle", [SYS_name_to_handle_at, HERE, T(c"/"), Space, Space, N(0)]; NOBODY),
    probe!("open by a handle", [SYS_open_by_handle_at, HERE, Space, n!(O_RDONLY)]; NOBODY),
    probe!("mount", [SYS_mount, T(c"none"), T(c"/proc/pi-sql"), T(c"tmpfs"), N(0), N(0)]; NOBODY),
    probe!("unmount", [SYS_umount2, T(c"/proc/pi-sql"), N(0)]; NOBODY),
    probe!("open a file system", [SYS_fsopen, T(c"tmpfs"), N(0)]; NOBODY),
    probe!("open a mount", [SYS_open_tree, HERE, T(c"/"), N(0)]; NOBODY),
    // The audit's descriptor appends; a filter that let its flags change would let it overwrite.
    probe!("clear a descriptor's flags", [SYS_fcntl, N(2), n!(F_SETFL), N(0)]; NOBODY),
    probe!("take signals from a descriptor", [SYS_fcntl, N(2), n!(F_SETOWN), Parent]; NOBODY),
    probe!("take a lease", [SYS_fcntl, N(2), n!(F_SETLEASE), n!(F_WRLCK)]; NOBODY),
    probe!("turn a file's attributes", [SYS_ioctl, N(2), N(0x4008_6602), Space]; NOBODY),
];

/// No descriptor is given, so the list is what answers, or the kernel says that it is none.
const BAD: Expected = Expected::Refused(&[EBADF]);
/// Landlock, or before it a file system that is mounted read-only, as an image is.
const READ_ONLY: Expected = Expected::Refused(&[EACCES, ENOENT, EROFS]);
/// Landlock's no; a process without a terminal has no such device, and an image may not have the file.
const NO_TTY: Expected = Expected::Refused(&[EACCES, ENXIO, ENOENT]);
