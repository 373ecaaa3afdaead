//! The roles of a run, seen from outside.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::Place;

/// How long something that takes milliseconds may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A started role.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) role: String,
    pub(crate) pid: i32,
}

impl Process {
    pub(crate) fn signal(&self, signal: Signal) {
        // It may be gone by now.
        let _ = kill(Pid::from_raw(self.pid), signal);
    }

    pub(crate) fn proc(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.pid))
    }

    /// Where its descriptors lead, by number.
    pub(crate) fn descriptors(&self) -> std::io::Result<HashMap<u32, String>> {
        let mut found = HashMap::new();
        for entry in fs::read_dir(self.proc("fd"))? {
            let entry = entry?;
            let number = entry.file_name().to_str().unwrap().parse().unwrap();
            found.insert(number, fs::read_link(entry.path())?.to_string_lossy().into_owned());
        }
        Ok(found)
    }

    /// The terminal it could be reached by; 0 for none.
    pub(crate) fn terminal(&self) -> i64 {
        let stat = fs::read_to_string(self.proc("stat")).unwrap();
        stat.rsplit(')').next().unwrap().split_whitespace().nth(4).unwrap().parse().unwrap()
    }
}

/// Every role that works for a place: its arguments name the place's database, and no other place's.
pub(crate) fn roles(place: &Place) -> Vec<Process> {
    let database = place.path("");
    let database = database.to_str().unwrap().trim_end_matches('/');
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        if let Some(role) = line.strip_prefix("pi-sql:").and_then(|rest| rest.split('\0').next())
            && line.contains(database)
        {
            found.push(Process { role: role.to_owned(), pid });
        }
    }
    found
}

pub(crate) fn role(place: &Place, name: &str) -> Process {
    until("the role is there", || roles(place).into_iter().find(|process| process.role == name))
}

/// Waits until there is something.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "waited in vain until {what}");
        sleep(Duration::from_millis(2));
    }
}

/// No role outlives its run.
pub(crate) fn nobody_is_left(place: &Place) {
    until("nobody is left", || roles(place).is_empty().then_some(()));
}
