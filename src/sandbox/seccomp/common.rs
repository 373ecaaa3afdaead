//! What every role needs: memory, time, last words, and a way out.

use nix::libc::{
    FUTEX_PRIVATE_FLAG, FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_WAKE, MADV_DONTNEED, MADV_FREE, MAP_ANONYMOUS, MAP_FIXED,
    MAP_NORESERVE, MAP_PRIVATE, MAP_STACK, PR_GET_SECCOMP, PROT_EXEC, SIGABRT, SIGBUS, SIGSEGV,
};

use super::call::{Call, Test, call, is, low, without};

/// The flags of private memory without a file behind it, and what an allocator may add to them.
const PRIVATE_MEMORY: Test =
    Test::Bits(!(MAP_NORESERVE | MAP_STACK | MAP_FIXED) as u32 as u64, (MAP_PRIVATE | MAP_ANONYMOUS) as u64);
/// A futex operation, whatever its clock: private or shared makes no difference without shared memory.
const fn futex(operation: i32) -> Test {
    const CLOCK_REALTIME: i32 = 256;
    Test::Bits(!(FUTEX_PRIVATE_FLAG | CLOCK_REALTIME) as u32 as u64, operation as u64)
}

/// In every role's list.
pub(super) const COMMON: &[Call] = &[
    call!(SYS_brk, "memory: the allocator's heap"),
    call!(fallback SYS_mmap, [[without(2, PROT_EXEC), low(3, PRIVATE_MEMORY)]], "memory: large blocks; never executable"),
    call!(fallback SYS_munmap, "memory: large blocks back, and the signal stack at the end"),
    call!(fallback SYS_mremap, "memory: a large block grows; it keeps its protection"),
    call!(fallback SYS_mprotect, [[without(2, PROT_EXEC)]], "memory: an allocator's arena grows; never executable"),
    call!(fallback SYS_madvise, [[is(2, MADV_DONTNEED)], [is(2, MADV_FREE)]], "memory: an allocator gives pages back"),
    call!(
        fallback SYS_futex,
        [
            [low(1, futex(FUTEX_WAIT))],
            [low(1, futex(FUTEX_WAKE))],
            [low(1, futex(FUTEX_WAIT_BITSET))]
        ],
        "locks: one that is contended, or says it is"
    ),
    call!(fallback SYS_clock_gettime, "time: where the kernel's shared page has no clock (some virtual machines)"),
    #[cfg(target_arch = "x86_64")]
    call!(fallback SYS_gettimeofday, "time: as above, for the C library's older calls"),
    #[cfg(target_arch = "x86_64")]
    call!(fallback SYS_time, "time: as above"),
    call!(fallback SYS_getrandom, "the seeds of hash tables, and identifiers"),
    call!(SYS_close, "descriptors that are done with"),
    call!(fallback SYS_fcntl, [[is(1, nix::libc::F_GETFD)]], "builds with debug assertions look before they close"),
    call!(fallback SYS_restart_syscall, "the kernel's own: a wait goes on after a stop signal"),
    call!(fallback SYS_rt_sigreturn, "the end of a signal handler: the runtime's, for a bad memory access"),
    call!(
        fallback SYS_rt_sigaction,
        [[is(0, SIGSEGV)], [is(0, SIGBUS)], [is(0, SIGABRT)]],
        "a bad memory access or an abort ends the process as itself"
    ),
    call!(fallback SYS_rt_sigprocmask, "an abort lets its own signal through; a process starts with its parent's mask"),
    call!(fallback SYS_gettid, "an abort names its thread"),
    call!(fallback SYS_getpid, "an abort names its process; SQLite seeds with it"),
    call!(fallback SYS_tgkill, [[low(0, Test::Own), is(2, SIGABRT)]], "an abort ends the process as SIGABRT, not as a forbidden call"),
    call!(fallback SYS_sigaltstack, "the runtime's signal stack goes at the end"),
    call!(SYS_prctl, [[is(0, PR_GET_SECCOMP)]], "the report: whether this very filter is in force"),
    call!(fallback SYS_exit_group, "the end"),
];
