//! Processes and memory: start, trace, signal, and turn data into code.

use super::short::*;

pub(super) const PROBES: &[Probe] = &[
    probe!("start a program", [SYS_execve, T(c"/proc/self/exe"), N(0), N(0)]; NOBODY),
    probe!("start a program by its path", [SYS_execveat, HERE, T(c"/proc/self/exe"), N(0), N(0), N(0)]; NOBODY),
    probe!("start what is open", [SYS_execveat, N(0), T(c""), N(0), N(0), n!(AT_EMPTY_PATH)]; [K, A, K, K]),
    probe!(
        "make a program in memory",
        [SYS_memfd_create, T(c"a"), N(0)],
        [SYS_execveat, Answer(0), T(c""), N(0), N(0), n!(AT_EMPTY_PATH)];
        NOBODY
    ),
    probe!("make secret memory", [SYS_memfd_secret, N(0)]; NOBODY),
    #[cfg(target_arch = "x86_64")]
    probe!("fork", [SYS_clone, n!(CLONE_VFORK | CLONE_VM | SIGCHLD), N(-1)]; NOBODY),
    probe!(
        "start a thread",
        [SYS_clone, n!(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD), N(0), N(1)];
        NOBODY
    ),
    probe!("fork by the newer call", [SYS_clone3, Space, N(0)]; NOBODY),
    probe!("a new user namespace", [SYS_unshare, n!(CLONE_NEWUSER)]; NOBODY),
    probe!("a new mount namespace", [SYS_unshare, n!(CLONE_NEWNS)]; NOBODY),
    probe!("another's namespace", [SYS_setns, N(-1), N(0)]; NOBODY),
    probe!(
        "memory to write and execute",
        [SYS_mmap, N(0), N(4096), n!(PROT_READ | PROT_WRITE | PROT_EXEC), n!(MAP_PRIVATE | MAP_ANONYMOUS), N(-1)];
        NOBODY
    ),
    probe!(
        "written memory made executable",
        [SYS_mmap, N(0), N(4096), n!(PROT_READ | PROT_WRITE), n!(MAP_PRIVATE | MAP_ANONYMOUS), N(-1)],
        [SYS_mprotect, Answer(0), N(4096), n!(PROT_READ | PROT_EXEC)];
        NOBODY
    ),
    probe!("the same with a key", [SYS_pkey_mprotect, N(0), N(4096), n!(PROT_READ | PROT_EXEC), N(-1)]; NOBODY),
    probe!("all readable memory executable", [SYS_personality, N(0x040_0000)]; NOBODY),
    // The limits: the spawner and the supervisor keep no data, and have none.
    probe!(
        "four gigabytes",
        [SYS_mmap, N(0), N(4 << 30), n!(PROT_READ), n!(MAP_PRIVATE | MAP_ANONYMOUS), N(-1)];
        [W, W, FULL, FULL]
    ),
    probe!(
        "shared memory of a file",
        [SYS_mmap, N(0), N(4096), n!(PROT_READ | PROT_WRITE), n!(MAP_SHARED), N(0)];
        NOBODY
    ),
    probe!("lock all memory", [SYS_mlockall, n!(MCL_CURRENT)]; NOBODY),
    probe!("trace the parent", [SYS_ptrace, n!(PTRACE_SEIZE), Parent, N(0), N(0)]; NOBODY),
    probe!("be traced", [SYS_ptrace, n!(PTRACE_TRACEME)]; NOBODY),
    probe!("read the parent's memory", [SYS_process_vm_readv, Parent, Space, N(1), Space, N(1), N(0)]; NOBODY),
    probe!("write the parent's memory", [SYS_process_vm_writev, Parent, Space, N(1), Space, N(1), N(0)]; NOBODY),
    probe!("advise the parent's memory", [SYS_process_madvise, N(-1), Space, N(1), n!(MADV_COLD), N(0)]; NOBODY),
    probe!("a handle on the parent", [SYS_pidfd_open, Parent, N(0)]; NOBODY),
    probe!("the parent's descriptors", [SYS_pidfd_getfd, N(-1), N(0), N(0)]; NOBODY),
    probe!("signal by a handle", [SYS_pidfd_send_signal, N(-1), N(0), N(0), N(0)]; NOBODY),
    probe!("compare with the parent", [SYS_kcmp, Own, Parent, N(0), N(0), N(0)]; NOBODY),
    probe!("signal the parent", [SYS_kill, Parent, N(0)]; NOBODY),
    probe!("signal everybody", [SYS_kill, N(-1), N(0)]; NOBODY),
    probe!("signal its group", [SYS_kill, N(0), N(0)]; NOBODY),
    probe!("signal a thread", [SYS_tgkill, Parent, Parent, N(0)]; NOBODY),
    probe!("queue a signal", [SYS_rt_sigqueueinfo, Parent, N(0), Space]; NOBODY),
    probe!("the parent's limits", [SYS_prlimit64, Parent, n!(RLIMIT_NOFILE), N(0), Space]; NOBODY),
    probe!("the parent's processors", [SYS_sched_setaffinity, Parent, N(8), Space]; NOBODY),
    probe!("the parent's priority", [SYS_setpriority, N(0), Parent, N(0)]; NOBODY),
    probe!("a new user", [SYS_setuid, N(0)]; NOBODY),
    probe!("new groups", [SYS_setgroups, N(0), N(0)]; NOBODY),
    probe!("a new group", [SYS_setresgid, N(0), N(0), N(0)]; NOBODY),
    probe!("all capabilities", [SYS_capset, Bytes(CAPABILITIES_VERSION), Bytes(&[0xff; 24])]; [K, P, K, K]),
    probe!("open to its peers again", [SYS_prctl, n!(PR_SET_DUMPABLE), N(1)]; NOBODY),
    probe!("a tracer of its choice", [SYS_prctl, n!(PR_SET_PTRACER), N(-1)]; NOBODY),
    probe!("move its memory's bounds", [SYS_prctl, n!(PR_SET_MM), N(1), N(0)]; NOBODY),
    probe!("outlive its parent", [SYS_prctl, n!(PR_SET_PDEATHSIG), N(0)]; NOBODY),
    // A starting child puts its own belts on under the spawner's list: it can only ever tighten them.
    probe!("another filter", [SYS_seccomp, N(1), N(0), Space]; [K, EMPTY, K, K]),
    probe!("another Landlock layer", [SYS_landlock_create_ruleset, N(0), N(0), N(1)]; [K, W, K, K]),
    probe!("handle forbidden calls", [SYS_rt_sigaction, n!(SIGSYS), N(0), N(0), N(8)]; NOBODY),
    #[cfg(target_arch = "x86_64")]
    probe!("set a segment", [SYS_arch_prctl, N(0x1001), N(0)]; NOBODY),
    #[cfg(target_arch = "x86_64")]
    probe!("change the segment table", [SYS_modify_ldt, N(0), Space, N(8)]; NOBODY),
    probe!("its filter's mode", [SYS_prctl, n!(PR_GET_SECCOMP)]; [W, W, W, W]),
    probe!("its own number", [SYS_getpid]; [W, W, W, W]),
];

/// A header of version 3, for this process.
const CAPABILITIES_VERSION: &[u8] = &[0x22, 0x05, 0x08, 0x20, 0, 0, 0, 0];
const P: Expected = Expected::Refused(&[EPERM]);
const FULL: Expected = Expected::Refused(&[ENOMEM]);
const EMPTY: Expected = Expected::Refused(&[EINVAL]);
