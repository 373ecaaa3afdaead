//! Landlock: the object layer.
#![expect(unsafe_code, reason = "the library keeps the kernel's ABI to itself")]

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort, PathBeneath,
    PathFd, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope, make_bitflags,
};

use nix::libc::{SYS_landlock_create_ruleset, syscall};

use crate::sandbox::{Access, Grants, Landlock, Network, Place, Policy, Role, SandboxError, Strictness};

/// The newest ABI this program knows; older kernels get the part of it they have.
const NEWEST: ABI = ABI::V10;

/// The supervisor's first layer: signals and abstract sockets stay inside. It goes on before any child exists; set later,
/// the children would lie outside it, and could be neither killed nor taken down with their parent.
pub(super) fn scope_signals() -> Result<(), SandboxError> {
    // Nothing rests on this layer alone (it needs ABI 6), so an older kernel goes without it.
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .scope(Scope::from_all(NEWEST))
        .and_then(Ruleset::create)
        .and_then(RulesetCreated::restrict_self)
        .map(drop)
        .map_err(|error| refused(Role::Supervisor, &error))
}

/// Applies a policy's file, network and scope rules: everything the kernel knows is handled, only what is granted is allowed.
pub(super) fn restrict(policy: &Policy, grants: &Grants, strictness: Strictness) -> Result<Landlock, SandboxError> {
    let role = policy.role;
    let needed = policy.landlock_abi_needed(grants);
    let (base, base_level) = match strictness {
        Strictness::Required => (if needed >= 4 { ABI::V4 } else { ABI::V1 }, CompatLevel::HardRequirement),
        Strictness::BestEffort => (ABI::V1, CompatLevel::BestEffort),
    };
    let status = build(policy, grants, base, base_level)
        .and_then(|created| created.restrict_self().map_err(|error| refused(role, &error)));
    match status {
        Ok(status) => Ok(state(&status)),
        Err(SandboxError::Landlock { .. }) if found_abi() < i32::from(needed) => {
            Err(SandboxError::LandlockMissing { role, needed, found: found_abi() })
        }
        Err(error) => Err(error),
    }
}

fn build(policy: &Policy, grants: &Grants, base: ABI, base_level: CompatLevel) -> Result<RulesetCreated, SandboxError> {
    let role = policy.role;
    let refused = |error: RulesetError| refused(role, &error);
    let mut ruleset =
        Ruleset::default().set_compatibility(base_level).handle_access(AccessFs::from_all(base)).map_err(refused)?;
    if !AccessNet::from_all(base).is_empty() {
        ruleset = ruleset.handle_access(AccessNet::from_all(base)).map_err(refused)?;
    }
    ruleset = ruleset
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(NEWEST)))
        .map_err(refused)?;
    if policy.scoped {
        ruleset = ruleset.scope(Scope::from_all(NEWEST)).map_err(refused)?;
    }
    let mut created = ruleset.create().map_err(refused)?;
    for &(place, access) in policy.files {
        created = allow_place(created, role, place, rights(access), grants)?;
    }
    if let (Network::ModelPort, Some(port)) = (policy.network, grants.port) {
        created = created.add_rule(NetPort::new(port, AccessNet::ConnectTcp)).map_err(refused)?;
    }
    Ok(created)
}

/// Adds a place's paths. A path that can't be opened is an error, never a rule silently left out.
fn allow_place(
    mut created: RulesetCreated,
    role: Role,
    place: Place,
    rights: BitFlags<AccessFs>,
    grants: &Grants,
) -> Result<RulesetCreated, SandboxError> {
    let paths: Vec<_> = match place {
        Place::Program => {
            if let Some(program) = &grants.program {
                created = created.add_rule(PathBeneath::new(program, rights)).map_err(|error| refused(role, &error))?;
            }
            return Ok(created);
        }
        Place::DatabaseDirectory => grants.database.iter().collect(),
        Place::OutputDirectory => grants.output.iter().collect(),
    };
    for path in paths {
        let opened = PathFd::new(path).map_err(|source| SandboxError::Path {
            role,
            place,
            path: path.display().to_string(),
            source,
        })?;
        created = created.add_rule(PathBeneath::new(opened, rights)).map_err(|error| refused(role, &error))?;
    }
    Ok(created)
}

fn rights(access: Access) -> BitFlags<AccessFs> {
    match access {
        Access::ReadFiles => make_bitflags!(AccessFs::{ReadFile}),
        Access::Execute => make_bitflags!(AccessFs::{Execute | ReadFile}),
        Access::KeepFiles => {
            make_bitflags!(AccessFs::{ReadFile | ReadDir | WriteFile | Truncate | MakeReg | MakeDir | RemoveFile})
        }
    }
}

fn state(status: &RestrictionStatus) -> Landlock {
    let abi = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as i32,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    };
    Landlock { abi, enforced: status.ruleset != RulesetStatus::NotEnforced }
}

/// The kernel's ABI, 0 for none. Asked of the kernel itself: `/sys/kernel/security/lsm` is missing on kernels that have it.
fn found_abi() -> i32 {
    const VERSION: u32 = 1;
    // SAFETY: with a null pointer, size 0 and the version flag the call reads nothing and changes nothing.
    let answer = unsafe { syscall(SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION) };
    i32::try_from(answer).unwrap_or(0).max(0)
}

fn refused(role: Role, error: &RulesetError) -> SandboxError {
    SandboxError::Landlock { role, reason: error.to_string() }
}
