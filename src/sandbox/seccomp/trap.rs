//! A forbidden call that is told before it ends the process. In builds for tests only: code that is in a process's
//! memory to be jumped to after a forbidden call is one thing more to use.

use std::io;

use nix::libc;

use super::call::{Call, call, is};

/// The exit code of a process that made a forbidden call, as shells show it.
const CODE: i32 = 128 + libc::SIGSYS;

/// What that takes, beyond every list.
pub(super) const HANDLE: Call = call!(fallback SYS_rt_sigaction, [[is(0, libc::SIGSYS)]], "a forbidden call is told");

/// Has forbidden calls told on standard error.
pub(super) fn install() -> io::Result<()> {
    // SAFETY: all zeroes is a valid `sigaction`: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = tell as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO;
    // SAFETY: the action is whole and outlives the call; the handler makes only async-signal-safe calls.
    let result = unsafe { libc::sigaction(libc::SIGSYS, &raw const action, std::ptr::null_mut()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

extern "C" fn tell(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel hands over a whole `siginfo_t`; of SIGSYS it says: signal, errno, code, padding, the calling
    // address (8 bytes), the call's number.
    let number = unsafe { info.cast::<i32>().add(6).read() };
    let mut text = *b"forbidden call 0000000000\n";
    let mut rest = number.unsigned_abs();
    for digit in text[15..25].iter_mut().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
    // SAFETY: both are async-signal-safe, and the bytes are alive.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
        libc::_exit(CODE);
    }
}
