//! One turn: wait, read what came, record, act.

use std::io::{self};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::agent::Event;
use crate::audit::Durability;
use crate::process::channel::ChannelError;
use crate::process::descriptor::receive_packet;
use crate::process::message::{
    FromAgent, FromReader, FromSpawner, ReaderRefused, ToAgent, ToReader, ToSpawner, Unusable,
};
use crate::process::supervisor::desk::{Job, Origin, Step, Then};
use crate::process::supervisor::worker::Worker;
use crate::process::supervisor::{Happening, Supervisor, SupervisorError};
use crate::sandbox::Role;
use crate::sql::gate::{Refusal, RefusalKind, Reply};
use crate::sql::hints;

/// Bytes of the longest report of the spawner.
const PACKET: usize = 4 << 10;

/// Who has something to say.
struct Due {
    signals: bool,
    roles: Vec<Role>,
}

impl Supervisor {
    /// One turn, waiting until `latest` at most.
    pub(super) fn turn_until(&mut self, latest: Instant) -> Result<(), SupervisorError> {
        let due = self.wait(latest)?;
        if due.signals {
            while let Some(signal) = self.signals.next() {
                self.happenings.push(Happening::Signal(signal));
            }
        }
        let mut steps = Vec::new();
        if due.roles.contains(&Role::Reader) {
            self.read_reader(&mut steps)?;
        }
        if due.roles.contains(&Role::Agent) {
            self.read_agent(&mut steps)?;
        }
        if due.roles.contains(&Role::Spawner) {
            self.read_spawner(&mut steps)?;
        }
        self.enforce_deadline(&mut steps)?;
        if self.latest_end.is_some_and(|latest| latest <= Instant::now()) {
            self.give_agent_up("it did not come to an end in its time", &mut steps)?;
        }
        self.carry_out(steps)
    }

    /// Puts every due record on disk, once, and only then lets happen what follows from them.
    pub(super) fn carry_out(&mut self, steps: Vec<Step>) -> Result<(), SupervisorError> {
        if !steps.is_empty() {
            let durability =
                if steps.iter().any(|step| step.then.needs_sync()) { Durability::Now } else { Durability::Later };
            let (records, follow): (Vec<_>, Vec<_>) = steps.into_iter().map(|step| (step.record, step.then)).unzip();
            let seqs = self.log.append(&records, durability)?;
            for (seq, then) in seqs.into_iter().zip(follow) {
                match then {
                    Then::Nothing => {}
                    Then::Run(origin, errand, settings) => {
                        self.waiting.push_back(Job {
                            origin,
                            errand,
                            settings,
                            seq,
                            ordered: Instant::now(),
                            told_of_change: false,
                        });
                    }
                    Then::Answer(origin, outcome) => self.answer(origin, outcome),
                    Then::Save(origin, finding) => {
                        let reply = self.desk.save(&finding, seq)?;
                        self.answer(origin, Ok(reply));
                    }
                }
            }
        }
        self.feed_reader()
    }

    fn wait(&mut self, latest: Instant) -> Result<Due, SupervisorError> {
        let latest = self.running.as_ref().map_or(latest, |(_, deadline)| latest.min(*deadline));
        let latest = self.latest_end.map_or(latest, |end| latest.min(end));
        // What has already happened is not kept waiting for something else to happen.
        let latest = if self.happenings.is_empty() { latest } else { Instant::now() };
        // Rounded up, so that the deadline has passed when the wait is over.
        let patience = latest.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
        let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        let mut ready = vec![
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.spawner.socket().as_fd(), PollFlags::POLLIN),
        ];
        // One that has no number yet could not be killed if it broke the rules; the spawner tells it right away.
        let listened_to = |worker: &&Worker| worker.pid.is_some() && !worker.muted;
        let workers: Vec<&Worker> = self.reader.iter().chain(self.agent.iter()).filter(listened_to).collect();
        for worker in &workers {
            let mut flags = PollFlags::POLLIN;
            flags.set(PollFlags::POLLOUT, worker.channel.has_unsent());
            ready.push(PollFd::new(worker.channel.as_fd(), flags));
            ready.push(PollFd::new(worker.last_words.as_fd(), PollFlags::POLLIN));
        }
        match poll(&mut ready, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
        let any = |index: usize| ready.get(index).is_some_and(|entry| entry.any().unwrap_or(false));
        let mut due = Due { signals: any(0), roles: Vec::new() };
        if any(1) {
            due.roles.push(Role::Spawner);
        }
        for (index, worker) in workers.iter().enumerate() {
            if any(2 + 2 * index) || any(3 + 2 * index) {
                due.roles.push(worker.role);
            }
        }
        Ok(due)
    }

    fn read_reader(&mut self, steps: &mut Vec<Step>) -> Result<(), SupervisorError> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        reader.last_words.hear();
        let messages = match reader.channel.flush().and_then(|()| reader.channel.receive::<FromReader>()) {
            Ok(messages) => messages,
            // How it ended comes from the spawner, which reaps it.
            Err(ChannelError::Closed) => return self.mute(Role::Reader),
            Err(error) => return self.kill_reader(&format!("broke the protocol: {error}"), steps),
        };
        for message in messages {
            let ready = self.reader.as_ref().is_some_and(|reader| reader.ready);
            if !message.is_in_turn(ready) {
                return self.kill_reader("spoke out of turn", steps);
            }
            match message {
                FromReader::Ready(ready) => {
                    ready.report.check(Role::Reader, self.setup.strictness)?;
                    if let Some(reader) = &mut self.reader {
                        reader.ready = true;
                    }
                    self.desk.note_report(ready.report);
                    self.hidden = ready.hidden;
                    if self.database.as_ref().is_some_and(|known| *known != ready.database) {
                        steps.push(self.desk.database_changed(&ready.database));
                    }
                    self.database = Some(ready.database);
                }
                // Only work makes it look at the file again; each change is a record, so one that keeps on is stopped.
                FromReader::Changed(identity) => {
                    let Some((job, _)) = self.running.as_mut().filter(|(job, _)| !job.told_of_change) else {
                        return self.kill_reader("told of a change that no work had shown it", steps);
                    };
                    job.told_of_change = true;
                    steps.push(self.desk.database_changed(&identity));
                    self.database = Some(*identity);
                }
                FromReader::Refused(ReaderRefused::Sandbox(reason)) => {
                    return Err(SupervisorError::RoleRefused(reason));
                }
                // At the start the run can't go on without a database.
                FromReader::Refused(ReaderRefused::Database(unusable)) if self.database.is_none() => {
                    return Err(SupervisorError::Database(unusable.reason));
                }
                FromReader::Refused(ReaderRefused::Hide(unusable)) if self.database.is_none() => {
                    return Err(SupervisorError::Setting(unusable.reason));
                }
                FromReader::Refused(ReaderRefused::Database(unusable) | ReaderRefused::Hide(unusable)) => {
                    self.refuse_waiting(&unusable, steps);
                }
                FromReader::Done { id, outcome } => {
                    let asked = |(job, _): &mut (Job, Instant)| job.seq == id && job.errand.is_answered_by(&outcome);
                    let Some((job, _)) = self.running.take_if(asked) else {
                        return self.kill_reader("answered what it was not asked", steps);
                    };
                    steps.push(self.desk.outcome(&job, outcome));
                }
            }
        }
        Ok(())
    }

    /// A reader that took another's place can't use the database: what waits for it is refused, and the next request
    /// tries again. The operator finds the reason in the audit.
    fn refuse_waiting(&mut self, unusable: &Unusable, steps: &mut Vec<Step>) {
        steps.push(self.desk.death(Role::Reader, &unusable.reason));
        for job in self.waiting.drain(..) {
            steps.push(self.desk.outcome(&job, Err(unusable.refusal.clone())));
        }
    }

    fn read_agent(&mut self, steps: &mut Vec<Step>) -> Result<(), SupervisorError> {
        let Some(agent) = &mut self.agent else { return Ok(()) };
        agent.last_words.hear();
        let messages = match agent.channel.flush().and_then(|()| agent.channel.receive::<FromAgent>()) {
            Ok(messages) => messages,
            Err(ChannelError::Closed) => return self.mute(Role::Agent),
            Err(error) => {
                return self.give_agent_up(&format!("it broke the protocol: {error}"), steps);
            }
        };
        for message in messages {
            let ready = self.agent.as_ref().is_some_and(|agent| agent.ready);
            if !message.is_in_turn(ready) {
                return self.give_agent_up("it spoke out of turn", steps);
            }
            match message {
                FromAgent::Ready(report) => {
                    report.check(Role::Agent, self.setup.strictness)?;
                    self.desk.note_report(report);
                    self.begin_agent();
                }
                FromAgent::Refused(reason) => return Err(SupervisorError::RoleRefused(reason)),
                FromAgent::Event(event) => {
                    if matches!(event, Event::AgentSettled(_)) {
                        self.latest_end = None;
                    }
                    self.happenings.push(Happening::Event(event));
                }
                FromAgent::Response(response) => self.happenings.push(Happening::Response(response)),
                // The loop keeps its own budget; an agent that goes past it is not the loop any more.
                FromAgent::Call { .. } if self.desk.calls >= self.call_budget() => {
                    return self.give_agent_up("it asked for more than its budget of calls", steps);
                }
                FromAgent::Call { id, request } => {
                    self.desk.calls += 1;
                    steps.push(self.desk.admit(self.desk.agent_call(id), &request, &self.setup.sql));
                }
            }
        }
        Ok(())
    }

    fn call_budget(&self) -> u32 {
        self.setup.agent.as_ref().map_or(0, |agent| agent.budget.calls)
    }

    fn begin_agent(&mut self) {
        let Some(setup) = self.setup.agent.clone() else { return };
        self.tell_agent(&ToAgent::Begin(Box::new(setup)));
        if let Some(agent) = &mut self.agent {
            agent.ready = true;
        }
    }

    fn read_spawner(&mut self, steps: &mut Vec<Step>) -> Result<(), SupervisorError> {
        let mut packet = vec![0; PACKET];
        let Some((length, _)) = receive_packet(self.spawner.socket(), &mut packet)? else {
            let how = self.spawner.last_words.after("is gone, and every role with it");
            return Err(SupervisorError::Role { role: Role::Spawner, how });
        };
        let report = serde_json::from_slice(&packet[..length]).map_err(io::Error::from)?;
        match report {
            FromSpawner::Ready(report) => {
                report.check(Role::Spawner, self.setup.strictness)?;
                self.spawner.ready = true;
                self.desk.note_report(report);
            }
            FromSpawner::Refused(reason) => return Err(SupervisorError::RoleRefused(reason)),
            FromSpawner::Started { role, pid } => {
                if let Some(worker) = self.worker(role).filter(|worker| worker.pid.is_none()) {
                    worker.pid = Some(pid);
                }
            }
            FromSpawner::NotStarted { role, reason } => {
                return Err(SupervisorError::Role { role, how: format!("could not be started: {reason}") });
            }
            FromSpawner::Ended { pid, how } => self.bury(pid, &how, steps)?,
        }
        Ok(())
    }

    /// A role has ended. Before it was ever ready that ends the run; later it is replaced.
    fn bury(&mut self, pid: i32, how: &str, steps: &mut Vec<Step>) -> Result<(), SupervisorError> {
        for role in [Role::Reader, Role::Agent] {
            let slot = if role == Role::Reader { &mut self.reader } else { &mut self.agent };
            let Some(mut dead) = slot.take_if(|worker| worker.pid == Some(pid)) else { continue };
            let how = dead.last_words.after(how);
            // A role that can't even start is not tried again: it would die for ever.
            if !dead.ready && (role == Role::Agent || self.database.is_none()) {
                return Err(SupervisorError::Role { role, how: format!("died at its start: {how}") });
            }
            if !dead.given_up {
                steps.push(self.desk.death(role, &how));
            }
            if role == Role::Agent {
                if !dead.given_up {
                    self.latest_end = None;
                    self.happenings.push(Happening::AgentDied(how));
                }
                self.order_agent()?;
            } else {
                let message = format!("the reader died ({how}) and is replaced. Try a simpler query");
                let refusal = Refusal { kind: RefusalKind::Reader, message };
                let mut lost: Vec<Job> = self.running.take().map(|(job, _)| job).into_iter().collect();
                if !dead.ready {
                    lost.extend(self.waiting.drain(..));
                }
                steps.extend(lost.iter().map(|job| self.desk.outcome(job, Err(refusal.clone()))));
            }
        }
        Ok(())
    }

    /// Kills a reader that is past its deadline and its grace.
    fn enforce_deadline(&mut self, steps: &mut Vec<Step>) -> Result<(), SupervisorError> {
        if self.running.as_ref().is_none_or(|(_, deadline)| *deadline > Instant::now()) {
            return Ok(());
        }
        if let Some((job, _)) = self.running.take() {
            steps.push(self.desk.outcome(&job, Err(hints::deadline_refusal())));
        }
        self.kill_reader("did not answer in time", steps)
    }

    /// Kills an agent, and tells whoever waits for it at once: how it ends is no news any more.
    fn give_agent_up(&mut self, why: &str, steps: &mut Vec<Step>) -> Result<(), SupervisorError> {
        self.latest_end = None;
        if let Some(agent) = &mut self.agent {
            agent.given_up = true;
        }
        steps.push(self.desk.death(Role::Agent, &format!("killed: {why}")));
        self.happenings.push(Happening::AgentDied(why.to_owned()));
        self.mute(Role::Agent)
    }

    /// Orders an agent; whatever an earlier one asked is moot.
    pub(super) fn order_agent(&mut self) -> Result<(), SupervisorError> {
        self.desk.agent_generation += 1;
        self.agent = Some(Worker::order(self.spawner.socket(), Role::Agent)?);
        Ok(())
    }

    fn kill_reader(&mut self, why: &str, steps: &mut Vec<Step>) -> Result<(), SupervisorError> {
        self.kill(Role::Reader)?;
        self.reader = None;
        steps.push(self.desk.death(Role::Reader, &format!("killed: it {why}")));
        if let Some((job, _)) = self.running.take() {
            let message = format!("the reader {why} and was replaced. Try a simpler query");
            steps.push(self.desk.outcome(&job, Err(Refusal { kind: RefusalKind::Reader, message })));
        }
        Ok(())
    }

    pub(super) fn kill(&mut self, role: Role) -> Result<(), SupervisorError> {
        let Some(pid) = self.worker(role).and_then(|worker| worker.pid) else { return Ok(()) };
        self.spawner.order(&ToSpawner::Kill(pid))
    }

    /// A role closed its channel: it is ending, and the spawner will say how. Until then it is not listened to.
    fn mute(&mut self, role: Role) -> Result<(), SupervisorError> {
        self.kill(role)?;
        if let Some(worker) = self.worker(role) {
            worker.muted = true;
        }
        Ok(())
    }

    fn worker(&mut self, role: Role) -> Option<&mut Worker> {
        match role {
            Role::Reader => self.reader.as_mut(),
            Role::Agent => self.agent.as_mut(),
            Role::Supervisor | Role::Spawner => None,
        }
    }

    /// Gives the reader the next piece of work, ordering a reader first if there is none.
    fn feed_reader(&mut self) -> Result<(), SupervisorError> {
        if self.running.is_some() || self.waiting.is_empty() {
            return Ok(());
        }
        let Some(reader) = &mut self.reader else {
            self.reader = Some(Worker::order_reader(self.spawner.socket(), &self.setup.sql)?);
            return Ok(());
        };
        if !reader.ready || reader.muted {
            return Ok(());
        }
        if let Some(job) = self.waiting.pop_front() {
            let message = ToReader::Run { id: job.seq, errand: job.errand.clone(), settings: job.settings.clone() };
            // A reader that died is noticed where its channel is read, and the work is answered there.
            let _: Result<(), ChannelError> = reader.channel.send(&message);
            let patience = job.errand.time(&job.settings) + job.settings.grace();
            self.running = Some((job, Instant::now() + patience));
        }
        Ok(())
    }

    fn answer(&mut self, origin: Origin, outcome: Result<Reply, Refusal>) {
        match origin {
            // An answer to an agent that is gone would meet another's call of the same number.
            Origin::Agent { generation, .. } if generation != self.desk.agent_generation => {}
            Origin::Agent { id, .. } => {
                if let Ok(Reply::RunQuery(result)) = &outcome {
                    let sql = self.desk.shown(result.audit_seq).to_owned();
                    self.happenings.push(Happening::Rows { sql, result: result.clone() });
                }
                self.tell_agent(&ToAgent::Answer { id, outcome });
            }
            Origin::Front(ticket) => self.happenings.push(Happening::Reply { ticket, outcome }),
        }
    }
}
