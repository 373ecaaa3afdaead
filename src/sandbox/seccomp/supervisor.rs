//! The supervisor's list: keep files in one directory, talk to the roles, to the person and to the spawner.

use nix::libc::{
    AF_UNIX, AT_EMPTY_PATH, F_DUPFD_CLOEXEC, FIONBIO, MSG_CMSG_CLOEXEC, MSG_NOSIGNAL, O_PATH, SIGHUP, SIGINT, SIGTERM,
    SOCK_CLOEXEC, SOCK_STREAM,
};

use super::call::{Call, KILL_ONE, SEND_CONNECTED, Test, call, is, low, without};

/// What only the supervisor does.
pub(super) const SUPERVISOR: &[Call] = &[
    #[cfg(target_arch = "x86_64")]
    call!(SYS_poll, "waiting for a role, a signal, the spawner"),
    #[cfg(target_arch = "aarch64")]
    call!(SYS_ppoll, "waiting for a role, a signal, the spawner"),
    call!(SYS_read, "signals, a role's last words, the audit's own files"),
    call!(SYS_write, "the audit, findings, the answer"),
    call!(SYS_recvfrom, "the roles' channels"),
    call!(SYS_sendto, [SEND_CONNECTED], "the roles' channels"),
    call!(SYS_recvmsg, [[is(2, MSG_CMSG_CLOEXEC)]], "the spawner's reports"),
    call!(SYS_sendmsg, [[is(2, MSG_NOSIGNAL)]], "orders to the spawner, with the new role's descriptors beside them"),
    call!(SYS_socketpair, [[is(0, AF_UNIX), is(1, SOCK_STREAM | SOCK_CLOEXEC), is(2, 0)]], "a new role's channel"),
    call!(SYS_pipe2, [[is(1, nix::libc::O_CLOEXEC)]], "a new role's standard error"),
    call!(SYS_ioctl, [[low(1, Test::Is(FIONBIO))]], "this end of a new role's channel never blocks"),
    call!(SYS_fcntl, [[is(1, F_DUPFD_CLOEXEC)]], "the audit's file, to read its end while it is written"),
    call!(SYS_shutdown, "the spawner's order to end"),
    call!(SYS_wait4, "the spawner's end"),
    call!(fallback SYS_kill, [KILL_ONE], "a spawner that does not end"),
    call!(SYS_clock_nanosleep, "waiting for the spawner's end, and for another writer of the audit"),
    call!(SYS_openat, [[without(2, O_PATH)]], "the audit's files; where is Landlock's part"),
    call!(SYS_statx, "is the audit's file still the one with the name"),
    call!(SYS_signalfd4, "signals that come while an answer is written"),
    call!(
        fallback SYS_tgkill,
        [
            [low(0, Test::Own), is(2, SIGINT)],
            [low(0, Test::Own), is(2, SIGTERM)],
            [low(0, Test::Own), is(2, SIGHUP)]
        ],
        "a signal that came while an answer was written is passed on to its own loop"
    ),
    call!(SYS_fdatasync, "nothing runs before its record is on disk"),
    call!(SYS_fsync, "a new name of a file is on disk"),
    call!(SYS_flock, "one writer of the audit at a time"),
    call!(SYS_pread64, "the audit's last record, from its end"),
    call!(SYS_lseek, "a broken end of the audit, which is kept"),
    call!(SYS_ftruncate, "a record that was cut short is taken off again"),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_rename, "a full audit file gets its number"),
    #[cfg(target_arch = "aarch64")]
    call!(SYS_renameat, "a full audit file gets its number"),
    call!(SYS_newfstatat, [[is(3, AT_EMPTY_PATH)]], "the C library looks at a directory it has opened"),
    call!(SYS_getdents64, "which numbers there are"),
];
