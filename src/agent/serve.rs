//! An agent behind two channels: commands in, events and responses out.

use std::pin::pin;

use tokio::sync::mpsc::{Receiver, UnboundedSender};

use crate::agent::{Abort, Agent, Command, Event, Outgoing, Response};

/// Runs commands until their channel closes, or nobody reads what is sent; what runs then is aborted.
///
/// The channel out has no bound, because an event must never wait in the middle of a run; the budget bounds what a run
/// can say.
pub async fn serve(agent: &mut Agent, mut commands: Receiver<Command>, out: UnboundedSender<Outgoing>) {
    loop {
        let command = tokio::select! {
            command = commands.recv() => command,
            () = out.closed() => None,
        };
        match command {
            None => return,
            Some(Command::Abort { id }) => respond(&out, Response::accepted("abort", id)),
            Some(Command::Prompt { id, message }) => {
                respond(&out, Response::accepted("prompt", id));
                run(agent, &message, &mut commands, &out).await;
            }
        }
    }
}

/// Runs one prompt to its end and answers what is asked meanwhile.
async fn run(agent: &mut Agent, text: &str, commands: &mut Receiver<Command>, out: &UnboundedSender<Outgoing>) {
    let abort = Abort::new();
    let mut aborts = Vec::new();
    let mut sink = |event: Event| send(out, Outgoing::Event(event));
    let mut prompt = pin!(agent.prompt(text, &abort, &mut sink));
    let mut is_open = true;
    loop {
        tokio::select! {
            // The run is looked at first, so that it listens before the first abort is fired.
            biased;
            _ = &mut prompt => break,
            command = commands.recv(), if is_open => match command {
                Some(Command::Abort { id }) => {
                    abort.fire();
                    aborts.push(id);
                }
                Some(Command::Prompt { id, .. }) => respond(
                    out,
                    Response::refused("prompt", id, "a prompt is running: wait for agent_settled, or abort it first"),
                ),
                None => {
                    is_open = false;
                    abort.fire();
                }
            },
            () = out.closed(), if is_open => {
                is_open = false;
                abort.fire();
            }
        }
    }
    for id in aborts {
        respond(out, Response::accepted("abort", id));
    }
}

fn respond(out: &UnboundedSender<Outgoing>, response: Response) {
    send(out, Outgoing::Response(response));
}

fn send(out: &UnboundedSender<Outgoing>, outgoing: Outgoing) {
    // Nobody reads any more: `serve` sees that itself and ends.
    let _ = out.send(outgoing);
}
