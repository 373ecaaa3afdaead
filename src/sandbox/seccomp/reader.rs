//! The reader's list: open and read files, take locks, answer on one channel.

use nix::libc::{
    EACCES, EPERM, F_GETLK, F_OFD_SETLK, F_SETLK, MAP_SHARED, O_ACCMODE, O_CREAT, O_PATH, O_RDWR, O_TRUNC, O_WRONLY,
    PROT_READ, STDERR_FILENO,
};

use super::call::{Call, SEND_CONNECTED, Shim, Test, call, is, low, without};

/// What only the reader does.
pub(super) const READER: &[Call] = &[
    call!(SYS_recvfrom, "its channel: what it is to run"),
    call!(SYS_sendto, [SEND_CONNECTED], "its channel: what came of it"),
    call!(fallback SYS_write, [[is(0, STDERR_FILENO)]], "its last words, on standard error"),
    call!(
        SYS_openat,
        [[without(2, O_PATH)]],
        "the database and its siblings, again when they are replaced; Landlock says where, the shim below how"
    ),
    call!(SYS_pread64, "the database's pages"),
    call!(fallback SYS_read, "the table of mounts, where it is readable (a database in the root directory)"),
    call!(fallback SYS_lseek, "as above"),
    call!(SYS_newfstatat, "SQLite: has the file, its journal or its log changed"),
    call!(SYS_statx, "has the file been replaced, and what lies beside it"),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_readlink, "the database's path may be a link that moves on"),
    #[cfg(target_arch = "aarch64")]
    call!(SYS_readlinkat, "the database's path may be a link that moves on"),
    call!(SYS_getcwd, "the database may be named by a relative path"),
    call!(SYS_faccessat2, "the C library, where the database's path goes up again (`..`)"),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_access, "a log's index: readable?"),
    #[cfg(target_arch = "aarch64")]
    call!(SYS_faccessat, "a log's index: readable?"),
    call!(
        SYS_fcntl,
        [[is(1, F_SETLK)], [is(1, F_GETLK)], [is(1, F_OFD_SETLK)]],
        "a reader's locks, SQLite's and our own"
    ),
    call!(SYS_geteuid, "SQLite asks who owns the log's index"),
    call!(SYS_mmap, [[low(2, Test::Is(PROT_READ as u64)), is(3, MAP_SHARED)]], "the log's index, to read only"),
    call!(SYS_munmap, "the log's index is let go"),
    call!(SYS_clock_nanosleep, "a writer that comes and goes is waited for"),
];

/// What SQLite tries first and can do without: it must be told no, not be killed.
pub(super) const READER_SHIMS: &[Shim] = &[
    Shim {
        call: call!(
            SYS_openat,
            [
                [low(2, Test::Bits(O_ACCMODE as u64, O_WRONLY as u64))],
                [low(2, Test::Bits(O_ACCMODE as u64, O_RDWR as u64))],
                [low(2, Test::Bits(O_CREAT as u64, O_CREAT as u64))],
                [low(2, Test::Bits(O_TRUNC as u64, O_TRUNC as u64))]
            ],
            "SQLite tries to open a log's index for writing before it opens it for reading"
        ),
        errno: EACCES,
    },
    Shim {
        call: call!(fallback SYS_fchown, "SQLite, run by root, tries to give a log's index to the database's owner"),
        errno: EPERM,
    },
];
