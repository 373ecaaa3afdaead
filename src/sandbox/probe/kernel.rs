//! The kernel itself: its modules, its clocks, its newer and older interfaces, its other doors.

use super::short::*;

pub(super) const PROBES: &[Probe] = &[
    probe!("load a kernel module", [SYS_init_module, Space, N(0), T(c"")]; NOBODY),
    probe!("load a kernel module by descriptor", [SYS_finit_module, N(-1), T(c""), N(0)]; NOBODY),
    probe!("remove a kernel module", [SYS_delete_module, T(c"pi-sql"), N(0)]; NOBODY),
    probe!("another kernel", [SYS_kexec_load, N(0), N(0), N(0), N(-1)]; NOBODY),
    #[cfg(target_arch = "x86_64")]
    probe!("another kernel by descriptor", [SYS_kexec_file_load, N(-1), N(-1), N(0), N(0), N(-1)]; NOBODY),
    probe!("reboot", [SYS_reboot, N(0), N(0), N(0)]; NOBODY),
    probe!("swap", [SYS_swapon, T(c"/proc/pi-sql"), N(0)]; NOBODY),
    probe!("process accounting", [SYS_acct, T(c"/proc/pi-sql")]; NOBODY),
    probe!("set the clock", [SYS_clock_settime, N(0), N(0)]; NOBODY),
    probe!("set the time of day", [SYS_settimeofday, N(0), N(0)]; NOBODY),
    probe!("set the host's name", [SYS_sethostname, Space, N(-1)]; NOBODY),
    probe!("the kernel's log", [SYS_syslog, N(10), N(0), N(0)]; NOBODY),
    #[cfg(target_arch = "x86_64")]
    probe!("the machine's ports", [SYS_ioperm, N(0x80), N(1), N(1)]; NOBODY),
    probe!("a program in the kernel", [SYS_bpf, N(5), Space, N(128)]; NOBODY),
    probe!("performance events", [SYS_perf_event_open, Space, N(0), N(-1), N(-1), N(0)]; NOBODY),
    probe!("page faults of its own", [SYS_userfaultfd, N(0)]; NOBODY),
    probe!("a ring of requests", [SYS_io_uring_setup, N(1), Space]; NOBODY),
    probe!("requests through a ring", [SYS_io_uring_enter, N(-1), N(0), N(0), N(0), N(0), N(0)]; NOBODY),
    probe!("asynchronous requests", [SYS_io_setup, N(1), Space]; NOBODY),
    probe!("a key", [SYS_add_key, T(c"user"), T(c"pi-sql"), Space, N(1), N(-3)]; NOBODY),
    probe!("a keyring", [SYS_keyctl, N(0), N(-3), N(0)]; NOBODY),
    probe!("ask for a key", [SYS_request_key, T(c"user"), T(c"pi-sql"), N(0), N(0)]; NOBODY),
    probe!("shared memory by key", [SYS_shmget, N(0), N(4096), N(0)]; NOBODY),
    probe!("a queue by key", [SYS_msgget, N(0), N(0)]; NOBODY),
    probe!("a semaphore by key", [SYS_semget, N(0), N(1), N(0)]; NOBODY),
    probe!("a named queue", [SYS_mq_open, T(c"pi-sql"), N(0), N(0), N(0)]; NOBODY),
    probe!("a timer", [SYS_timer_create, N(0), N(0), Space]; NOBODY),
    probe!("a timer to read", [SYS_timerfd_create, N(0), N(0)]; NOBODY),
    probe!("barriers on other processors", [SYS_membarrier, N(0), N(0), N(0)]; NOBODY),
    probe!("move pages", [SYS_move_pages, N(0), N(0), N(0), N(0), N(0), N(0)]; NOBODY),
    probe!("about the machine", [SYS_sysinfo, Space]; NOBODY),
    probe!("about the kernel", [SYS_uname, Space]; NOBODY),
    probe!("type into the terminal", [SYS_ioctl, N(0), n!(TIOCSTI), Space]; NOBODY),
    probe!("the same with bits above the call's", [SYS_ioctl, N(0), N(0x5412 | 1 << 32), Space]; NOBODY),
    probe!("paste into the console", [SYS_ioctl, N(0), N(0x541c), Space]; NOBODY),
    probe!("ask about the terminal", [SYS_ioctl, N(2), n!(TCGETS), Space]; NOBODY),
    #[cfg(target_arch = "x86_64")]
    probe!("by the door of 32-bit numbers", [SYS_getpid | 0x4000_0000]; NOBODY),
    Probe {
        name: "by the door of 32-bit programs",
        // Its getpid.
        steps: &[Step { door: Door::Compatible, number: 20, arguments: &[] }],
        expected: if cfg!(target_arch = "x86_64") { NOBODY } else { [NO_DOOR; 4] },
    },
    probe!("a call that does not exist", [9_999]; NOBODY),
    probe!("random bytes", [SYS_getrandom, Space, N(8), N(0)]; [W, W, W, W]),
];

const NO_DOOR: Expected = Expected::Refused(&[ENOSYS]);
