//! One attempt as data: raw system calls, each of which may use what an earlier one answered.
#![expect(unsafe_code, reason = "an attacker would not go through an interface either")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::libc;
use serde::{Deserialize, Serialize};

/// Bytes of zeroes that a call may be pointed at: as long as any structure that is read from there.
const SPACE: usize = 4096;

/// One system call.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// By which door it enters the kernel.
    pub door: Door,
    /// Its number there.
    pub number: i64,
    /// Its arguments; those that are not named are 0.
    pub arguments: &'a [Argument<'a>],
}

/// A door into the kernel. A filter that knows one only is no filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Door {
    /// The one that this program's own code uses.
    Native,
    /// The one of 32-bit programs, where there is one.
    Compatible,
}

/// One argument.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// A number.
    Number(i64),
    /// A text's address.
    Text(&'a CStr),
    /// Bytes' address.
    Bytes(&'a [u8]),
    /// The address of the database's path.
    Database,
    /// The address of the audit log's path.
    Audit,
    /// The process that started this one.
    Parent,
    /// This process.
    Own,
    /// The address of zeroes.
    Space,
    /// What an earlier step answered.
    Answer(usize),
}

/// What the named places are here.
#[derive(Debug)]
pub struct Targets {
    database: CString,
    audit: CString,
    space: Vec<u8>,
}

/// How far an attempt came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The last step that was tried.
    pub step: usize,
    /// What the kernel answered: not less than 0, or an error's number below it.
    pub answer: i64,
}

impl Targets {
    /// The places of this run.
    pub fn new(database: &Path, audit: &Path) -> io::Result<Self> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes());
        Ok(Self { database: text(database)?, audit: text(audit)?, space: vec![0; SPACE] })
    }
}

/// Takes the steps until one is refused.
pub fn attempt(steps: &[Step<'_>], targets: &mut Targets) -> Attempt {
    let mut answers = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let mut arguments = [0; 6];
        for (into, argument) in arguments.iter_mut().zip(step.arguments) {
            *into = value(argument, targets, &answers);
        }
        let answer = enter(step.door, step.number, arguments);
        answers.push(answer);
        if answer < 0 || index + 1 == steps.len() {
            return Attempt { step: index, answer };
        }
    }
    Attempt { step: 0, answer: 0 }
}

fn value(argument: &Argument<'_>, targets: &mut Targets, answers: &[i64]) -> i64 {
    let address = |bytes: &[u8]| bytes.as_ptr().expose_provenance().cast_signed() as i64;
    match argument {
        Argument::Number(number) => *number,
        Argument::Text(text) => address(text.to_bytes_with_nul()),
        Argument::Bytes(bytes) => address(bytes),
        Argument::Database => address(targets.database.as_bytes_with_nul()),
        Argument::Audit => address(targets.audit.as_bytes_with_nul()),
        Argument::Parent => nix::unistd::getppid().as_raw().into(),
        Argument::Own => std::process::id().into(),
        Argument::Space => targets.space.as_mut_ptr().expose_provenance().cast_signed() as i64,
        Argument::Answer(step) => answers.get(*step).copied().unwrap_or(-1),
    }
}

fn enter(door: Door, number: i64, arguments: [i64; 6]) -> i64 {
    match door {
        Door::Native => {
            let [first, second, third, fourth, fifth, sixth] = arguments;
            // SAFETY: this process exists to make these calls and ends after them; it is a role that is locked down, and
            // everything the arguments point at is alive. A call that breaks this very process is part of the trial.
            let answer = unsafe { libc::syscall(number, first, second, third, fourth, fifth, sixth) };
            if answer == -1 { -i64::from(Errno::last_raw()) } else { answer }
        }
        Door::Compatible => compatible(number),
    }
}

#[cfg(target_arch = "x86_64")]
fn compatible(number: i64) -> i64 {
    let answer: i64;
    // SAFETY: the call of 32-bit programs without arguments: it reads and writes registers only, and those are named.
    unsafe {
        std::arch::asm!(
            "int 0x80",
            inlateout("rax") number => answer,
            lateout("r8") _, lateout("r9") _, lateout("r10") _, lateout("r11") _,
        );
    }
    answer
}

#[cfg(not(target_arch = "x86_64"))]
fn compatible(_: i64) -> i64 {
    // A program of this architecture can't enter by a door of another.
    -i64::from(libc::ENOSYS)
}
