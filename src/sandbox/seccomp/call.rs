//! What an entry of an allow-list is made of.

/// One system call that a role may make.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Its name.
    pub name: &'static str,
    /// Its number on this architecture.
    pub number: i64,
    /// With which arguments: one of these cases must hold whole; no case at all means any arguments.
    pub cases: &'static [&'static [Condition]],
    /// What it is for.
    pub why: &'static str,
    /// Whether an ordinary run makes this call, or only one on another kernel, under another load, or at its death.
    pub fallback: bool,
}

/// What one argument of a call must be.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// Which argument, from 0.
    pub argument: u8,
    /// Pointers are compared whole; of an `int` the kernel looks at the low half only, so nothing else is compared.
    pub whole: bool,
    /// The test.
    pub test: Test,
}

/// A test on an argument.
#[derive(Clone, Copy, Debug)]
pub enum Test {
    /// It is this.
    Is(u64),
    /// Under a mask it is this.
    Bits(u64, u64),
    /// It is more than this.
    Over(u64),
    /// It is this or less.
    UpTo(u64),
    /// It is the number of the process that the list is for.
    Own,
}

/// A call that is answered with an error instead of death, since a library tries it and goes on without.
#[derive(Clone, Copy, Debug)]
pub struct Shim {
    /// The call and the cases in which it is answered; elsewhere the allow-list decides.
    pub call: Call,
    /// The error.
    pub errno: i32,
}

/// The end of one process: neither a group's nor everybody's. Linux counts processes to 2^22 at most.
pub(super) const KILL_ONE: [Condition; 3] =
    [low(0, Test::Over(0)), low(0, Test::UpTo(1 << 22)), is(1, nix::libc::SIGKILL)];

/// Sending on what is connected already: no address, and not the flag that connects while it sends, which gets past
/// Landlock's port rule (measured: the kernel asks no security module there).
pub(super) const SEND_CONNECTED: [Condition; 2] = [without(3, nix::libc::MSG_FASTOPEN | nix::libc::MSG_OOB), null(4)];

/// An `int` argument.
pub(super) const fn low(argument: u8, test: Test) -> Condition {
    Condition { argument, whole: false, test }
}

/// An `int` argument that is this number.
pub(super) const fn is(argument: u8, value: i32) -> Condition {
    low(argument, Test::Is(value as u32 as u64))
}

/// An `int` argument without these bits.
pub(super) const fn without(argument: u8, bits: i32) -> Condition {
    low(argument, Test::Bits(bits as u32 as u64, 0))
}

/// A pointer argument that is null.
pub(super) const fn null(argument: u8) -> Condition {
    Condition { argument, whole: true, test: Test::Is(0) }
}

/// A call's name, from its constant's.
pub(super) const fn name(constant: &'static str) -> &'static str {
    constant.split_at("SYS_".len()).1
}

/// Writes an entry: `call!(SYS_read, "why")`, `call!(SYS_fcntl, [[is(1, F_GETFL)]], "why")`; `fallback` before either.
macro_rules! call {
    (@ $fallback:literal $number:ident, [$($case:expr),*], $why:literal) => {
        $crate::sandbox::seccomp::call::Call {
            name: $crate::sandbox::seccomp::call::name(stringify!($number)),
            number: nix::libc::$number,
            cases: &[$(&$case),*],
            why: $why,
            fallback: $fallback,
        }
    };
    (fallback $number:ident, $why:literal) => { call!(@ true $number, [], $why) };
    (fallback $number:ident, [$($case:expr),*], $why:literal) => { call!(@ true $number, [$($case),*], $why) };
    ($number:ident, $why:literal) => { call!(@ false $number, [], $why) };
    ($number:ident, [$($case:expr),*], $why:literal) => { call!(@ false $number, [$($case),*], $why) };
}
pub(super) use call;
