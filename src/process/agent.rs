//! The agent: the loop, the conversation and the model; no file, no process, one way out.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

use crate::agent::{Agent, Command, Outgoing, serve};
use crate::extension::Registry;
use crate::process::channel::Channel;
use crate::process::descriptor::inherited_channel;
use crate::process::frame::{Decoder, Encoder, REPLY_CAP};
use crate::process::message::{AgentSetup, FromAgent, ToAgent};
use crate::process::role::RoleArguments;
use crate::provider;
use crate::sandbox::{Grants, Role, lock_down};
use crate::sql::extension::SqlExtension;
use crate::sql::gate::{Gate, Refusal, RefusalKind, Reply, Request};

/// Bytes read at once.
const PIECE: usize = 64 << 10;
/// Commands that may wait; a front end sends them one at a time.
const WAITING: usize = 16;

/// Runs an agent until the supervisor is gone.
pub(crate) fn run(arguments: &RoleArguments) -> io::Result<()> {
    let socket = inherited_channel()?;
    socket.set_nonblocking(true)?;
    let grants = Grants { port: arguments.port, belts: arguments.belts.clone(), ..Grants::default() };
    // Made before the lock-down, so that the list has no call for it; it starts no thread.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let locked = lock_down(Role::Agent, &grants, arguments.strictness);
    if let (Ok(_), Some(order)) = (&locked, &arguments.trial) {
        let attempt = order.obey(&arguments.database)?;
        return Channel::blocking(socket).send(&attempt).map_err(io::Error::other);
    }
    runtime.block_on(async move {
        let (reading, writing) = UnixStream::from_std(socket)?.into_split();
        let (outgoing, queue) = mpsc::unbounded_channel();
        let hello = match locked {
            Ok(report) => FromAgent::Ready(report),
            Err(error) => FromAgent::Refused(error.to_string()),
        };
        let _ = outgoing.send(hello);
        let writer = tokio::spawn(write(writing, queue));
        read(reading, outgoing).await?;
        writer.await?
    })
}

/// What this end has to know to hand an answer to the call that waits for it.
#[derive(Clone, Default)]
struct Pending(Arc<Mutex<HashMap<u64, Waiting>>>);

/// A call that waits for its answer.
type Waiting = oneshot::Sender<Result<Reply, Refusal>>;

impl Pending {
    fn add(&self, id: u64) -> oneshot::Receiver<Result<Reply, Refusal>> {
        let (answer, waits) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id, answer);
        waits
    }

    fn answer(&self, id: u64, outcome: Result<Reply, Refusal>) {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(waiting) = waiting {
            // Nobody waits any more when the call was aborted.
            let _ = waiting.send(outcome);
        }
    }
}

/// The gate, at the other end of the channel.
struct RemoteGate {
    outgoing: mpsc::UnboundedSender<FromAgent>,
    pending: Pending,
    next: AtomicU64,
}

#[async_trait]
impl Gate for RemoteGate {
    async fn call(&self, request: Request) -> Result<Reply, Refusal> {
        let gone =
            || Refusal { kind: RefusalKind::Audit, message: "the supervisor is gone: nothing can run any more".into() };
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let answer = self.pending.add(id);
        self.outgoing.send(FromAgent::Call { id, request }).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

async fn read(mut socket: OwnedReadHalf, outgoing: mpsc::UnboundedSender<FromAgent>) -> io::Result<()> {
    let pending = Pending::default();
    let mut decoder = Decoder::new(REPLY_CAP);
    let mut commands: Option<mpsc::Sender<Command>> = None;
    let mut piece = vec![0; PIECE];
    loop {
        let length = socket.read(&mut piece).await?;
        if length == 0 {
            return Ok(());
        }
        decoder.push(&piece[..length]);
        while let Some(message) = decoder.next::<ToAgent>().map_err(io::Error::other)? {
            match message {
                ToAgent::Begin(setup) => commands = Some(begin(*setup, &outgoing, &pending)?),
                ToAgent::Command(command) => {
                    if let Some(commands) = &commands {
                        commands.send(command).await.map_err(io::Error::other)?;
                    }
                }
                ToAgent::Answer { id, outcome } => pending.answer(id, outcome),
            }
        }
    }
}

/// Starts the loop; its commands go into what is returned, its events and responses into the channel.
fn begin(
    setup: AgentSetup,
    outgoing: &mpsc::UnboundedSender<FromAgent>,
    pending: &Pending,
) -> io::Result<mpsc::Sender<Command>> {
    let gate = Arc::new(RemoteGate { outgoing: outgoing.clone(), pending: pending.clone(), next: AtomicU64::new(1) });
    let sql = SqlExtension::new(gate, setup.skills, setup.ask);
    let registry = Registry::of(vec![Box::new(sql)]).map_err(io::Error::other)?;
    let provider = provider::select(&setup.model).map_err(io::Error::other)?;
    let mut agent = Agent::new(provider, registry, setup.system, setup.budget);
    let (commands, received) = mpsc::channel(WAITING);
    let (said, mut heard) = mpsc::unbounded_channel();
    tokio::spawn(async move { serve(&mut agent, received, said).await });
    let outgoing = outgoing.clone();
    tokio::spawn(async move {
        while let Some(said) = heard.recv().await {
            let message = match said {
                Outgoing::Event(event) => FromAgent::Event(event),
                Outgoing::Response(response) => FromAgent::Response(response),
            };
            if outgoing.send(message).is_err() {
                return;
            }
        }
    });
    Ok(commands)
}

async fn write(mut socket: OwnedWriteHalf, mut queue: mpsc::UnboundedReceiver<FromAgent>) -> io::Result<()> {
    let mut encoder = Encoder::new(REPLY_CAP);
    while let Some(message) = queue.recv().await {
        let frame = encoder.encode(&message).map_err(io::Error::other)?;
        socket.write_all(&frame).await?;
    }
    Ok(())
}
