//! `pi-sql policy`: the whole table, for people and for programs.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::cli::{ExitKind, Failure};
use crate::sandbox::{ATTRIBUTES, Call, Condition, Policy, Role, Test, Way, calls, shims};

/// `pi-sql policy`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this role.
    #[arg(value_name = "supervisor|spawner|reader|agent", value_parser = role)]
    role: Option<Role>,
    /// One JSON object; the spawner's list then holds its children's too, and the agent's the one for each kind of model.
    #[arg(long)]
    json: bool,
}

const ROLES: [Role; 4] = [Role::Supervisor, Role::Spawner, Role::Reader, Role::Agent];

/// The kinds of model, and what a list is called that is for it.
const WAYS: [(Way, &str); 3] =
    [(Way::Nothing, "offline"), (Way::Tcp, "model on a TCP port"), (Way::Unix, "model on a Unix socket")];

/// Prints the policy.
pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let roles = ROLES.into_iter().filter(|role| args.role.is_none_or(|wanted| wanted == *role));
    let written = if args.json {
        let table = json!({
            "architecture": std::env::consts::ARCH,
            "attributes": ATTRIBUTES.iter().map(|(what, state, why)| json!({"what": what, "state": state, "why": why}))
                .collect::<Vec<_>>(),
            "roles": roles.map(as_json).collect::<Vec<_>>(),
        });
        writeln!(out, "{table:#}")
    } else {
        write_table(roles, out)
    };
    written
        .and_then(|()| out.flush())
        .map_err(|error| Failure::new(ExitKind::Output, "the policy can't be written").because(error))
}

fn write_table(roles: impl Iterator<Item = Role>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "every role ({})", std::env::consts::ARCH)?;
    for (what, state, why) in ATTRIBUTES {
        writeln!(out, "  {what}: {state}  # {why}")?;
    }
    for role in roles {
        let policy = Policy::of(role);
        writeln!(out, "\n{role}")?;
        writeln!(out, "  Landlock: everything the kernel knows is forbidden, but")?;
        for (place, access) in policy.files {
            writeln!(out, "    {place}: {access}")?;
        }
        writeln!(out, "    connections: {}", policy.network)?;
        let scope = if policy.scoped { "stay inside" } else { "stay inside since its start, with its children" };
        writeln!(out, "    signals and abstract sockets: {scope}")?;
        writeln!(out, "  limits")?;
        for (limit, value, why) in policy.limits {
            writeln!(out, "    {limit:?} {value}  # {why}")?;
        }
        writeln!(out, "  system calls: everything kills, but")?;
        for shim in shims(role) {
            let errno = nix::errno::Errno::from_raw(shim.errno);
            write_call(&shim.call, &format!("answered {errno:?}: "), out)?;
        }
        for (way, name) in ways(role) {
            if *way != Way::Nothing {
                writeln!(out, "  system calls with a {name}: also")?;
            }
            for call in own(role, *way) {
                write_call(call, "", out)?;
            }
        }
        if role == Role::Spawner {
            writeln!(out, "    … and all that its children's lists allow, since they start under this one")?;
        }
    }
    Ok(())
}

fn write_call(call: &Call, before: &str, out: &mut dyn Write) -> io::Result<()> {
    let cases: Vec<String> = call.cases.iter().map(|case| text_of_case(case)).collect();
    let when = if cases.is_empty() { String::new() } else { format!(" [{}]", cases.join(" or ")) };
    let seldom = if call.fallback { " (seldom)" } else { "" };
    writeln!(out, "    {before}{}{when}  # {}{seldom}", call.name, call.why)
}

fn text_of_case(case: &[Condition]) -> String {
    case.iter().map(text_of).collect::<Vec<_>>().join(", ")
}

fn text_of(condition: &Condition) -> String {
    let argument = condition.argument;
    match condition.test {
        Test::Is(value) => format!("a{argument} = {value:#x}"),
        Test::Bits(mask, value) => format!("a{argument} & {mask:#x} = {value:#x}"),
        Test::Over(value) => format!("a{argument} > {value:#x}"),
        Test::UpTo(value) => format!("a{argument} <= {value:#x}"),
        Test::Own => format!("a{argument} = this process"),
    }
}

/// The lists of a role; only an agent's depends on the kind of model.
fn ways(role: Role) -> &'static [(Way, &'static str)] {
    if role == Role::Agent { &WAYS } else { &WAYS[..1] }
}

/// What this list has that is not printed elsewhere already: another role's, or the same role's without a model.
fn own(role: Role, way: Way) -> impl Iterator<Item = &'static Call> {
    let mut elsewhere: Vec<&[Call]> = Vec::new();
    if role == Role::Spawner {
        elsewhere
            .extend(calls(Role::Reader, way).into_iter().skip(1).chain(calls(Role::Agent, way).into_iter().skip(1)));
    }
    if way != Way::Nothing {
        elsewhere.extend(calls(role, Way::Nothing));
    }
    calls(role, way)
        .into_iter()
        .filter(move |group| !elsewhere.iter().any(|other| std::ptr::eq(*other, *group)))
        .flatten()
}

fn as_json(role: Role) -> Value {
    let policy = Policy::of(role);
    let lists = ways(role).iter().map(|(way, name)| {
        let calls: Vec<Value> = calls(role, *way).into_iter().flatten().map(call_as_json).collect();
        json!({"model": name, "allowed": calls})
    });
    json!({
        "role": role,
        "landlock": {
            "files": policy.files.iter().map(|(place, access)| json!({"place": place, "access": access})).collect::<Vec<_>>(),
            "network": policy.network,
            "scoped": policy.scoped,
        },
        "limits": policy.limits.iter()
            .map(|(limit, value, why)| json!({"limit": format!("{limit:?}"), "value": value, "why": why}))
            .collect::<Vec<_>>(),
        "seccomp": {
            "otherwise": "kill process",
            "answered": shims(role).iter()
                .map(|shim| json!({"errno": shim.errno, "call": call_as_json(&shim.call)}))
                .collect::<Vec<_>>(),
            "lists": lists.collect::<Vec<_>>(),
        },
    })
}

fn call_as_json(call: &Call) -> Value {
    let cases: Vec<Vec<String>> = call.cases.iter().map(|case| case.iter().map(text_of).collect()).collect();
    json!({"name": call.name, "number": call.number, "cases": cases, "why": call.why, "seldom": call.fallback})
}

fn role(text: &str) -> Result<Role, String> {
    let found = ROLES.into_iter().find(|role| role.to_string() == text);
    found.ok_or_else(|| "use supervisor, spawner, reader or agent".into())
}
