//! An agent behind its channels.

use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, channel, unbounded_channel};

use super::check;
use super::rig::{Rig, Step, budget, call, say};
use crate::agent::{Command, Event, Outgoing, Response, Settled, SettledReason, serve};

const LONG: Duration = Duration::from_mins(2);

fn prompt(id: &str) -> Command {
    Command::Prompt { id: Some(id.into()), message: "how many?".into() }
}

fn abort(id: &str) -> Command {
    Command::Abort { id: Some(id.into()) }
}

fn endless() -> Step {
    call(&[("c1", "hang", json!({}))])
}

/// Sends the commands, each after this wait, closes the channel after a last wait, and gives all that came back.
async fn served(steps: Vec<Step>, commands: Vec<(Duration, Command)>, at_last: Duration) -> (Rig, Vec<Outgoing>) {
    let mut rig = Rig::new(budget(), steps);
    let (commands_in, commands_out) = channel(8);
    let (out, mut sent) = unbounded_channel();
    let person = async move {
        for (wait, command) in commands {
            tokio::time::sleep(wait).await;
            commands_in.send(command).await.unwrap();
        }
        tokio::time::sleep(at_last).await;
    };
    tokio::join!(serve(&mut rig.agent, commands_out, out), person);
    let all = drain(&mut sent);
    check::history(&rig.agent);
    (rig, all)
}

fn drain(sent: &mut UnboundedReceiver<Outgoing>) -> Vec<Outgoing> {
    std::iter::from_fn(|| sent.try_recv().ok()).collect()
}

fn responses(all: &[Outgoing]) -> Vec<(Option<&str>, &str, bool)> {
    let responses = all.iter().filter_map(|outgoing| match outgoing {
        Outgoing::Response(Response { id, command, success, .. }) => Some((id.as_deref(), command.as_str(), *success)),
        Outgoing::Event(_) => None,
    });
    responses.collect()
}

/// Each run's events, checked.
fn settled(all: &[Outgoing]) -> Vec<SettledReason> {
    let mut events = Vec::new();
    let mut reasons = Vec::new();
    for outgoing in all {
        let Outgoing::Event(event) = outgoing else { continue };
        events.push(event.clone());
        if let Event::AgentSettled(settled) = event {
            check::events(&std::mem::take(&mut events), settled);
            reasons.push(settled.reason);
        }
    }
    assert!(events.is_empty(), "a run without its end: {events:?}");
    reasons
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_accepted_before_its_first_event_and_another_may_follow() {
    let commands = vec![(Duration::ZERO, prompt("1")), (LONG, prompt("2"))];
    let (rig, all) = served(vec![say("142"), say("143")], commands, LONG).await;
    assert_eq!(responses(&all), [(Some("1"), "prompt", true), (Some("2"), "prompt", true)]);
    assert!(matches!(all[0], Outgoing::Response(_)));
    assert_eq!(settled(&all), [SettledReason::Completed; 2]);
    assert_eq!(rig.answer(), "143");
}

#[tokio::test(start_paused = true)]
async fn a_second_prompt_is_refused_while_one_runs() {
    let second = Duration::from_millis(1);
    let commands = vec![(Duration::ZERO, prompt("1")), (second, prompt("2")), (second, abort("3"))];
    let (_, all) = served(vec![endless()], commands, LONG).await;
    let expected = [(Some("1"), "prompt", true), (Some("2"), "prompt", false), (Some("3"), "abort", true)];
    assert_eq!(responses(&all), expected);
    assert_eq!(settled(&all), [SettledReason::Aborted]);
    let Some(Outgoing::Response(last)) = all.last() else { panic!("an abort is answered when nothing runs any more") };
    assert_eq!(last.command, "abort");
}

#[tokio::test(start_paused = true)]
async fn an_abort_while_nothing_runs_is_accepted_and_stops_nothing() {
    let commands = vec![(Duration::ZERO, abort("0")), (Duration::ZERO, prompt("1"))];
    let (_, all) = served(vec![say("142")], commands, LONG).await;
    assert_eq!(responses(&all), [(Some("0"), "abort", true), (Some("1"), "prompt", true)]);
    assert_eq!(settled(&all), [SettledReason::Completed]);
}

#[tokio::test(start_paused = true)]
async fn an_abort_sent_together_with_its_prompt_stops_even_a_run_that_never_waits() {
    for _ in 0..32 {
        let turns = (0..9).map(|n| call(&[("c", "echo", json!({"n": n}))]));
        let mut rig = Rig::new(budget(), turns);
        let (commands, commands_out) = channel(8);
        let (out, mut sent) = unbounded_channel();
        commands.send(prompt("1")).await.unwrap();
        commands.send(abort("2")).await.unwrap();
        tokio::join!(serve(&mut rig.agent, commands_out, out), async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            drop(commands);
        });
        assert_eq!(settled(&drain(&mut sent)), [SettledReason::Aborted]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_closed_channel_aborts_what_runs_and_ends_the_service() {
    let started = tokio::time::Instant::now();
    let (_, all) = served(vec![endless()], vec![(Duration::ZERO, prompt("1"))], Duration::from_secs(1)).await;
    assert_eq!(settled(&all), [SettledReason::Aborted]);
    assert_eq!(started.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_gone_ends_the_service() {
    for is_running in [false, true] {
        let mut rig = Rig::new(budget(), [endless()]);
        let (commands, commands_out) = channel(8);
        let (out, sent) = unbounded_channel();
        if is_running {
            commands.send(prompt("1")).await.unwrap();
        }
        tokio::join!(serve(&mut rig.agent, commands_out, out), async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            drop(sent);
        });
        drop(commands);
    }
}

#[test]
fn the_service_may_run_on_any_thread() {
    fn sent<T: Send>(_: &T) {}
    let mut rig = Rig::new(budget(), []);
    let (_, commands) = channel(1);
    let (out, _) = unbounded_channel();
    sent(&serve(&mut rig.agent, commands, out));
    let end = Settled { reason: SettledReason::Completed, error: None };
    assert_eq!(serde_json::to_value(end).unwrap(), json!({"reason": "completed"}));
}
