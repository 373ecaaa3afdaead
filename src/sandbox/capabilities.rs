//! Capabilities: all five sets empty, read back.
#![expect(unsafe_code, reason = "the bounding set has no safe interface that reaches past the library's own list")]

use caps::CapSet;
use nix::errno::Errno;
use nix::libc::{PR_CAPBSET_DROP, PR_CAPBSET_READ, prctl};

use crate::sandbox::{Role, SandboxError};

/// Capability numbers are tried up to here; the kernel answers EINVAL after its last one (40 today).
const HIGHEST: u64 = 63;

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
