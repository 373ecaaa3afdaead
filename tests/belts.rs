//! Each belt alone, and a hole in the middle of them all: what is tried needs a build that can take belts off
//! (`cargo test --features belt-switches`). The table of attacks and belts is `docs/threats.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nix::libc;
use pi_sql::sandbox::probe::{Expected, probes};
use pi_sql::sandbox::{BELTS, Belt, Call, Condition, Role, Test, Way, calls, shims};
use serde_json::{Value, json};

const ROLES: [Role; 4] = [Role::Supervisor, Role::Spawner, Role::Reader, Role::Agent];
const THREATS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/threats.md");
const BEGIN: &str = "<!-- generated: begin -->\n";
const END: &str = "<!-- generated: end -->\n";

/// What became of a trial.
#[derive(Clone, Debug, PartialEq)]
enum Became {
    Killed,
    /// The last step that was tried, and the kernel's answer to it.
    Answered(u64, i64),
    Ended(String),
}

#[test]
fn each_belt_alone_stops_what_the_table_says_it_stops() {
    let room = Room::new();
    let trials: Vec<(Role, Value)> =
        probes().flat_map(|probe| ROLES.map(|role| (role, json!({"Probe": probe.name})))).collect();
    let without = room.try_with(&BELTS, None, &trials);
    let alone: BTreeMap<String, Vec<Became>> = BELTS
        .iter()
        .map(|belt| {
            // Who may trace everybody sees through a closed process: that belt is tried beside the one that takes the right.
            let beside = |other: &Belt| *belt == Belt::Process && *other == Belt::Capabilities;
            let others: Vec<Belt> = BELTS.into_iter().filter(|other| other != belt && !beside(other)).collect();
            (belt.to_string(), room.try_with(&others, None, &trials))
        })
        .collect();
    let mut table = String::from("| attack | without belts |");
    for belt in BELTS {
        write!(table, " {belt} |").unwrap();
    }
    table.push_str("\n|---|---|---|---|---|---|---|\n");
    for (index, probe) in probes().enumerate() {
        if probe.expected == [Expected::Works; 4] {
            continue;
        }
        let of_role = |became: &[Became], role: usize| became[index * ROLES.len() + role].clone();
        let works = (0..4).filter(|role| reached(&of_role(&without, *role))).count();
        let unstopped = match works {
            0 => words(&of_role(&without, 3)),
            4 => "works".into(),
            some => format!("works in {some} roles"),
        };
        write!(table, "| {} | {unstopped} |", probe.name).unwrap();
        for belt in BELTS {
            let before = if belt == Belt::Process { &alone["capabilities"] } else { &without };
            let stopped: Vec<String> = (0..4)
                .filter(|role| reached(&of_role(before, *role)) && !reached(&of_role(&alone[&belt.to_string()], *role)))
                .map(|role| ROLES[role].to_string())
                .collect();
            let cell = if stopped.len() == 4 { "all".into() } else { stopped.join(", ") };
            write!(table, " {cell} |").unwrap();
        }
        table.push('\n');
    }
    let document = fs::read_to_string(THREATS).unwrap();
    let (before, rest) = document.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(THREATS, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    // For another user than root the kernel itself stops more, and then no belt is seen to.
    if nix::unistd::geteuid().is_root() {
        assert_eq!(written, table, "docs/threats.md is not what was found; UPDATE_SNAPSHOTS=1 writes it anew");
    }
}

#[test]
fn no_argument_that_a_list_does_not_name_gets_past_it() {
    let room = Room::new();
    for role in ROLES {
        let wrong: Vec<(String, Vec<Value>, i64)> = perturbed(role);
        assert!(wrong.len() >= 10, "{role}: {}", wrong.len());
        let trials: Vec<(Role, Value)> = wrong
            .iter()
            .map(|(_, arguments, number)| (role, json!({"Hole": [{"number": number, "arguments": arguments}]})))
            .collect();
        let became = room.try_with(&[], None, &trials);
        for ((what, arguments, _), became) in wrong.iter().zip(became) {
            assert_eq!(became, Became::Killed, "{role}: {what} with {arguments:?}");
        }
    }
}

#[test]
fn a_role_that_ends_suddenly_ends_as_itself_and_not_as_a_forbidden_call() {
    let room = Room::new();
    let endings = ["abort", "panic", "overflow"];
    let mut trials: Vec<(Role, Value)> =
        ROLES.iter().flat_map(|role| endings.map(|ending| (*role, json!({"End": ending})))).collect();
    // Only these have a limit to run into.
    trials.extend([Role::Reader, Role::Agent].map(|role| (role, json!({"End": "exhaust"}))));
    for ((role, ending), became) in trials.iter().zip(room.try_with(&[], None, &trials)) {
        let Became::Ended(how) = became else { panic!("{role}, {ending}: {became:?}") };
        let (expected, words) = match ending["End"].as_str().unwrap() {
            // Without unwinding, as in the shipped build, this is an abort too.
            "panic" if cfg!(debug_assertions) => ("exit code 101", "as ordered"),
            "panic" => ("SIGABRT", "as ordered"),
            // Where its memory map is not readable, the runtime can't tell that it was the stack.
            "overflow" => ("it was killed by SIG", ""),
            "exhaust" => ("SIGABRT", "memory allocation"),
            _ => ("SIGABRT", ""),
        };
        assert!(how.contains(expected) && how.contains(words), "{role}, {ending}: {how}");
    }
}

#[test]
fn in_a_build_for_tests_the_forbidden_call_is_told() {
    let room = Room::new();
    let told = json!({"off": [], "trap": true});
    for role in ROLES {
        let hole = json!({"Hole": [{"number": libc::SYS_uname, "arguments": ["space"]}]});
        let became = room.trial(&told, None, &[(role, hole)]);
        let Became::Ended(how) = &became[0] else { panic!("{role}: {became:?}") };
        assert!(how.contains(&format!("forbidden call {:010}", libc::SYS_uname)), "{role}: {how}");
    }
}

#[test]
fn both_ways_around_the_port_rule_end_at_the_filter() {
    let room = Room::new();
    let (allowed, forbidden) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let address = |listener: &TcpListener| {
        let mut address = vec![2, 0];
        address.extend(port(listener).to_be_bytes());
        address.extend([127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        address
    };
    let socket =
        |protocol: i32| json!({"number": libc::SYS_socket, "arguments": [libc::AF_INET, libc::SOCK_STREAM, protocol]});
    let connect = |to: &TcpListener, protocol: i32| {
        let arguments = json!([{"answer": 0}, address(to), 16]);
        json!({"Hole": [socket(protocol), {"number": libc::SYS_connect, "arguments": arguments}]})
    };
    let sending = {
        let arguments = json!([{"answer": 0}, "space", 1, libc::MSG_FASTOPEN, address(&forbidden), 16]);
        json!({"Hole": [socket(0), {"number": libc::SYS_sendto, "arguments": arguments}]})
    };
    let attempts = [
        connect(&allowed, 0),
        connect(&allowed, libc::IPPROTO_TCP),
        connect(&forbidden, 0),
        connect(&forbidden, libc::IPPROTO_MPTCP),
        sending,
    ];
    let trials = attempts.map(|wanted| (Role::Agent, wanted));
    let refused = Became::Answered(1, -i64::from(libc::EACCES));
    let works = |became: &Became| matches!(became, Became::Answered(1, 0..));
    let whole = room.try_with(&[], Some(port(&allowed)), &trials);
    assert!(works(&whole[0]) && works(&whole[1]), "{whole:?}");
    assert_eq!(whole[2..], [refused.clone(), Became::Killed, Became::Killed]);
    // Landlock alone: its rule holds for the plain way, and on the kernels measured for neither of the others.
    let landlock = room.try_with(&[Belt::Seccomp], Some(port(&allowed)), &trials);
    assert_eq!(landlock[2], refused);
    assert!(landlock[3..].iter().all(|became| works(became) || *became == refused), "{landlock:?}");
}

/// For each list, each call with conditions, each condition: arguments that break it and fit no other case of the call.
fn perturbed(role: Role) -> Vec<(String, Vec<Value>, i64)> {
    let list: Vec<&Call> =
        calls(role, Way::Nothing).into_iter().flatten().chain(shims(role).iter().map(|shim| &shim.call)).collect();
    let mut wrong = Vec::new();
    for call in &list {
        for condition in call.cases.iter().copied().flatten() {
            let case = call.cases.iter().find(|case| case.iter().any(|other| std::ptr::eq(other, condition))).unwrap();
            let mut arguments = [0_u64; 6];
            for condition in *case {
                arguments[usize::from(condition.argument)] = fitting(condition.test);
            }
            arguments[usize::from(condition.argument)] = breaking(condition.test);
            let fits = |call: &&&Call| {
                call.number == self::number(&list, call.name)
                    && (call.cases.is_empty()
                        || call.cases.iter().any(|case| case.iter().all(|condition| holds(condition, &arguments))))
            };
            if list.iter().filter(|other| other.name == call.name).any(|other| fits(&other)) {
                continue;
            }
            let what = format!("{}, argument {}", call.name, condition.argument);
            wrong.push((what, arguments.iter().map(|argument| json!(argument.cast_signed())).collect(), call.number));
        }
    }
    wrong
}

fn number(list: &[&Call], name: &str) -> i64 {
    list.iter().find(|call| call.name == name).unwrap().number
}

fn fitting(test: Test) -> u64 {
    match test {
        Test::Is(value) | Test::Bits(_, value) | Test::UpTo(value) => value,
        Test::Over(value) => value + 1,
        // No trial has this number.
        Test::Own => 1,
    }
}

fn breaking(test: Test) -> u64 {
    match test {
        Test::Is(value) => value ^ 0x5a5a_0000,
        Test::Bits(mask, value) => value ^ (mask & mask.wrapping_neg()),
        Test::Over(value) => value,
        Test::UpTo(value) => value + 1,
        Test::Own => 1,
    }
}

fn holds(condition: &Condition, arguments: &[u64; 6]) -> bool {
    let argument = arguments[usize::from(condition.argument)];
    let argument = if condition.whole { argument } else { argument & 0xffff_ffff };
    match condition.test {
        Test::Is(value) => argument == value,
        Test::Bits(mask, value) => argument & mask == value,
        Test::Over(value) => argument > value,
        Test::UpTo(value) => argument <= value,
        Test::Own => false,
    }
}

/// Whether an attack came through to what it is after: it worked, or the kernel would have let it and stumbled over the
/// arguments, which are made harmless.
fn reached(became: &Became) -> bool {
    match became {
        Became::Killed => false,
        Became::Answered(_, answer) => !matches!(i32::try_from(-answer), Ok(libc::EPERM | libc::EACCES | libc::ENOMEM)),
        // Another program, or a crash of its own making, is the attacker's affair.
        Became::Ended(_) => true,
    }
}

fn words(became: &Became) -> String {
    match became {
        Became::Killed => "killed".into(),
        Became::Answered(_, answer) => {
            format!("{:?}", nix::errno::Errno::from_raw(i32::try_from(-answer).unwrap_or_default()))
        }
        Became::Ended(how) => how.clone(),
    }
}

/// A database in one directory and an output in another.
struct Room(tempfile::TempDir);

impl Room {
    fn new() -> Self {
        let room = Self(tempfile::tempdir().unwrap());
        fs::create_dir(room.0.path().join("data")).unwrap();
        let made = Command::new(env!("CARGO_BIN_EXE_pi-sql")).arg("sample").arg(room.database()).output().unwrap();
        assert!(made.status.success());
        fs::create_dir(room.0.path().join("out")).unwrap();
        fs::write(room.0.path().join("out/audit.jsonl"), "").unwrap();
        room
    }

    fn database(&self) -> PathBuf {
        self.0.path().join("data/s.db")
    }

    fn try_with(&self, off: &[Belt], port: Option<u16>, trials: &[(Role, Value)]) -> Vec<Became> {
        self.trial(&json!({"off": off, "trap": false}), port, trials)
    }

    fn trial(&self, belts: &Value, port: Option<u16>, trials: &[(Role, Value)]) -> Vec<Became> {
        let told = json!({"belts": belts, "port": port, "trials": trials}).to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_pi-sql"));
        command.args(["--db", self.database().to_str().unwrap(), "trial", "--out"]).arg(self.0.path().join("out"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(told.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let became: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(became.len(), trials.len());
        became.iter().map(read).collect()
    }
}

fn read(became: &Value) -> Became {
    match (&became["killed"], &became["attempt"]) {
        (Value::Bool(true), _) => Became::Killed,
        (_, Value::Null) => Became::Ended(became["how"].as_str().unwrap().to_owned()),
        (_, attempt) => Became::Answered(attempt["step"].as_u64().unwrap(), attempt["answer"].as_i64().unwrap()),
    }
}
