//! The spawner's list. Its children start under it, so it also lets through what a role does before it is locked down.

use nix::libc::{
    AT_EMPTY_PATH, CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID, F_DUPFD_CLOEXEC, F_SETFD, MSG_CMSG_CLOEXEC, MSG_NOSIGNAL,
    PR_CAP_AMBIENT, PR_CAPBSET_DROP, PR_CAPBSET_READ, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_GET_SECUREBITS,
    PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, SIGABRT, SIGCHLD, SIGKILL, SIGPIPE,
};

use super::call::{Call, Condition, KILL_ONE, Test, call, is, low};

/// A child that shares nothing: exactly what the C library's `fork` asks for. No thread, no namespace, no shared memory.
const FORK: [Condition; 1] = [low(0, Test::Is((CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | SIGCHLD) as u64))];

/// What only the spawner does.
pub(super) const SPAWNER: &[Call] = &[
    #[cfg(target_arch = "x86_64")]
    call!(SYS_poll, "waiting for an order or for a child's end"),
    #[cfg(target_arch = "aarch64")]
    call!(SYS_ppoll, "waiting for an order or for a child's end"),
    call!(SYS_read, "children's ends"),
    call!(SYS_recvmsg, [[is(2, MSG_CMSG_CLOEXEC)]], "orders, with a new role's descriptors beside them"),
    call!(SYS_sendmsg, [[is(2, MSG_NOSIGNAL)]], "reports"),
    call!(
        SYS_fcntl,
        [[is(1, F_DUPFD_CLOEXEC)]],
        "a new role's descriptors, out of the way of the numbers they will get"
    ),
    call!(SYS_clone, [FORK], "a new role's process"),
    call!(SYS_kill, [KILL_ONE], "the end of a role"),
    call!(SYS_wait4, "how a role ended"),
];

/// What a new role does before its own list is in force.
pub(super) const START: &[Call] = &[
    call!(SYS_set_robust_list, "a new process: the C library's list of locks"),
    call!(SYS_setsid, "a new process: a session of its own, so no terminal"),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_dup2, "a new process: its descriptors get their numbers"),
    call!(fallback SYS_dup3, "the same, where the C library has only this one"),
    call!(
        SYS_execveat,
        [[is(4, AT_EMPTY_PATH)]],
        "a new process: by descriptor only; Landlock knows one inode to execute"
    ),
    #[cfg(target_arch = "x86_64")]
    call!(SYS_arch_prctl, [[low(0, Test::Is(0x1002))]], "start: the C library's thread pointer (ARCH_SET_FS)"),
    call!(SYS_set_tid_address, "start: the C library"),
    call!(SYS_rseq, "start: the C library"),
    call!(SYS_mprotect, [[low(2, Test::Is(nix::libc::PROT_READ as u64))]], "start: tables are made read-only"),
    call!(SYS_rt_sigaction, [[is(0, SIGPIPE)]], "start: a closed channel is an error, not death"),
    call!(SYS_rt_sigaction, [[is(0, SIGCHLD)]], "start: a caller that ignored deaths is not followed in that"),
    call!(fallback SYS_sched_getaffinity, "start: where its memory map is readable (a database in the root directory)"),
    call!(SYS_fcntl, [[is(1, F_SETFD)]], "start: what was inherited goes at exec"),
    call!(SYS_epoll_create1, "start: the agent's runtime"),
    call!(SYS_eventfd2, "start: the agent's runtime"),
    call!(SYS_ioctl, [[low(1, Test::Is(nix::libc::FIONBIO))]], "start: the agent's channel never blocks"),
    call!(
        SYS_prctl,
        [
            [is(0, PR_SET_NO_NEW_PRIVS), is(1, 1)],
            [is(0, PR_GET_NO_NEW_PRIVS)],
            [is(0, PR_SET_DUMPABLE), is(1, 0)],
            [is(0, PR_GET_DUMPABLE)],
            [is(0, PR_SET_PDEATHSIG), is(1, SIGKILL)],
            [is(0, PR_CAPBSET_READ)],
            [is(0, PR_CAP_AMBIENT)],
            [is(0, PR_GET_SECUREBITS)]
        ],
        "lock-down: privileges"
    ),
    call!(
        fallback SYS_prctl,
        [[is(0, PR_CAPBSET_DROP)]],
        "lock-down: where the bounding set is not empty yet (any user but root), which the kernel then refuses"
    ),
    call!(fallback SYS_tgkill, [[is(2, SIGABRT)]], "an abort of a child, whose number is not known yet"),
    call!(SYS_openat, "start: Landlock's paths are named, not opened"),
    call!(SYS_prlimit64, [[is(0, 0)]], "lock-down: its own limits"),
    call!(SYS_landlock_create_ruleset, "lock-down: Landlock"),
    call!(SYS_landlock_add_rule, "lock-down: Landlock"),
    call!(SYS_landlock_restrict_self, "lock-down: Landlock"),
    call!(SYS_capget, "lock-down: capabilities"),
    call!(SYS_capset, "lock-down: capabilities"),
    call!(SYS_seccomp, [[is(0, 1)]], "lock-down: its own list, on top of this one"),
];
