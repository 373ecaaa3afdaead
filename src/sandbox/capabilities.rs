//! Capabilities: all five sets empty, read back.
#![expect(unsafe_code, reason = "the bounding set past the library's own list, and securebits, have no safe interface")]

use caps::CapSet;
use nix::errno::Errno;
use nix::libc::{self, PR_CAPBSET_DROP, PR_CAPBSET_READ, PR_GET_SECUREBITS, PR_SET_SECUREBITS, prctl};

use crate::sandbox::{Role, SandboxError};

/// Capability numbers are tried up to here; the kernel answers EINVAL after its last one (40 today).
const HIGHEST: u64 = 63;

/// User 0 is nobody special (`NOROOT`, `NO_SETUID_FIXUP`), keeps nothing (`KEEP_CAPS` off), raises nothing
/// (`NO_CAP_AMBIENT_RAISE`); each with its lock. From the kernel's `linux/securebits.h`; the C library has them not.
const SECUREBITS: libc::c_ulong = 0b1110_1111;

/// Locks the rules by which a user number gives capabilities. Only who has `CAP_SETPCAP` may; who has not has nothing
/// to gain from a user number either, with `no_new_privs` on.
pub(super) fn lock_securebits() {
    // SAFETY: takes integers and touches only this thread's credentials. That it may be refused is said above.
    unsafe { prctl(PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0) };
}

/// Whether they are locked.
pub(super) fn securebits_locked() -> bool {
    // SAFETY: takes integers and changes nothing.
    Ok(SECUREBITS) == libc::c_ulong::try_from(unsafe { prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) })
}

/// Empties the bounding, ambient, inheritable, permitted and effective sets, and checks that they are.
///
/// Without `CAP_SETPCAP` the kernel lets nobody shrink the bounding set; with `no_new_privs` on, which forbids ever gaining
/// from it, that is no hole.
pub(super) fn drop_all(role: Role) -> Result<(), SandboxError> {
    drop_bounding();
    for set in [CapSet::Ambient, CapSet::Inheritable, CapSet::Effective, CapSet::Permitted] {
        caps::clear(None, set).map_err(|error| SandboxError::Capabilities { role, reason: error.to_string() })?;
    }
    if any_left() {
        return Err(SandboxError::Capabilities { role, reason: "some are still there after dropping all".into() });
    }
    Ok(())
}

/// Whether any capability is left in the sets that can be used or inherited.
pub(super) fn any_left() -> bool {
    [CapSet::Ambient, CapSet::Inheritable, CapSet::Permitted, CapSet::Effective]
        .into_iter()
        .any(|set| caps::read(None, set).map_or(true, |held| !held.is_empty()))
}

/// Drops the bounding set one by one: by number, since a newer kernel may know more than the library's list.
fn drop_bounding() {
    for capability in 0..=HIGHEST {
        // SAFETY: both calls take plain integers and touch only this thread's credentials.
        let present = Errno::result(unsafe { prctl(PR_CAPBSET_READ, capability, 0, 0, 0) });
        match present {
            Ok(1) => {
                // SAFETY: as above. A refusal (no CAP_SETPCAP) is allowed for; see `drop_all`.
                unsafe { prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) };
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
}
