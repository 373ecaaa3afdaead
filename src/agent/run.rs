//! One prompt from its start to its one end.

use crate::agent::Agent;
use crate::agent::abort::{Abort, Cut, Stop};
use crate::agent::budget::{Budget, Limit, Meter, after};
use crate::agent::dispatch::Halt;
use crate::agent::event::{Event, Settled, SettledReason};
use crate::agent::repeat::Repeats;
use crate::agent::reply::Reply;
use crate::extension::Registry;
use crate::provider::{Delta, Provider, ToolSpec};
use crate::session::{AssistantMessage, Block, Message, StopReason, Tree, Usage, now};

/// What a model is told after a text that its length limit cut: half a sentence may hold half a number.
const CUT_BY_LENGTH: &str = "Your reply was cut by its length limit. Answer again, in fewer words.";
/// The provider named by a message that the harness wrote itself.
const HARNESS: &str = "harness";

/// One prompt while it runs.
pub(super) struct Run<'a> {
    pub(super) provider: &'a dyn Provider,
    pub(super) registry: &'a Registry,
    pub(super) tools: &'a [ToolSpec],
    pub(super) system: &'a str,
    pub(super) budget: &'a Budget,
    pub(super) tree: &'a mut Tree,
    pub(super) sink: &'a mut (dyn FnMut(Event) + Send),
    pub(super) stop: Stop,
    pub(super) meter: Meter,
    pub(super) repeats: Repeats,
    /// The messages of this prompt so far.
    fresh: Vec<Message>,
}

/// How the loop goes on after a turn.
enum Next {
    /// The model is done.
    Done,
    /// Another turn, with something to tell the model first.
    Turn(Vec<String>),
    /// One last reply.
    Last(Why),
}

/// Why there is one last reply.
enum Why {
    Budget(Limit),
    /// The model said nothing at all.
    Empty,
}

impl<'a> Run<'a> {
    pub(super) fn new(agent: &'a mut Agent, abort: &Abort, sink: &'a mut (dyn FnMut(Event) + Send)) -> Self {
        let Agent { provider, registry, tools, system, budget, tree } = agent;
        Self {
            provider: &**provider,
            registry,
            tools,
            system,
            tree,
            sink,
            stop: abort.watch(),
            meter: Meter::start(budget),
            budget,
            repeats: Repeats::default(),
            fresh: Vec::new(),
        }
    }

    pub(super) async fn go(mut self, text: String) -> Settled {
        self.emit(Event::AgentStart);
        let settled = if text.trim().is_empty() {
            // Kept out of the conversation: providers refuse an empty message, and would refuse every later prompt too.
            Settled::because(SettledReason::Error, "the prompt is empty: type a question")
        } else {
            self.converse(text).await
        };
        let messages = std::mem::take(&mut self.fresh);
        self.emit(Event::AgentEnd { messages });
        self.emit(Event::AgentSettled(settled.clone()));
        settled
    }

    /// Turn after turn, until the model says something and calls nothing.
    async fn converse(&mut self, text: String) -> Settled {
        let mut opening = vec![text];
        loop {
            if let Some(limit) = self.meter.spent(self.budget) {
                return self.last_turn(opening, &Why::Budget(limit)).await;
            }
            match self.turn(opening).await {
                Ok(Next::Done) => return Settled { reason: SettledReason::Completed, error: None },
                Ok(Next::Turn(note)) => opening = note,
                Ok(Next::Last(why)) => return self.last_turn(Vec::new(), &why).await,
                Err(settled) => return settled,
            }
        }
    }

    async fn turn(&mut self, opening: Vec<String>) -> Result<Next, Settled> {
        self.open_turn(opening).await;
        let message = match self.reply(self.tools, self.meter.deadline()).await {
            Reply::Whole(message) => message,
            Reply::Cut(message, cut) => {
                self.end_turn(message, Vec::new());
                return self.after_cut(cut);
            }
            Reply::Failed(message, error) => {
                self.end_turn(message, Vec::new());
                return Err(Settled::because(SettledReason::Error, error));
            }
        };
        let (results, halt) = self.dispatch(&message).await;
        let called = !results.is_empty();
        let next = match halt {
            Some(Halt::Cut(cut)) => self.after_cut(cut),
            Some(Halt::Fatal(sentence)) => Err(Settled::because(SettledReason::Fatal, sentence)),
            None if called => Ok(Next::Turn(Vec::new())),
            None if message.stop_reason == StopReason::Length => Ok(Next::Turn(vec![CUT_BY_LENGTH.to_owned()])),
            None if is_blank(&message) => Ok(Next::Last(Why::Empty)),
            None => Ok(Next::Done),
        };
        self.end_turn(message, results);
        next
    }

    /// The model's last chance to answer, in words; where it doesn't, the harness says why there is no answer.
    async fn last_turn(&mut self, mut opening: Vec<String>, why: &Why) -> Settled {
        opening.push(why.note());
        self.open_turn(opening).await;
        let reply = self.reply(&[], after(self.budget.grace)).await;
        match (reply, why) {
            (Reply::Cut(message, Cut::Aborted), _) => {
                self.end_turn(message, Vec::new());
                Settled::aborted()
            }
            (Reply::Whole(message), _) if message.stop_reason != StopReason::Length && !is_blank(&message) => {
                self.end_turn(message, Vec::new());
                why.settled_with_words()
            }
            _ => {
                let message = self.close(&why.reason());
                self.end_turn(message, Vec::new());
                why.settled_without()
            }
        }
    }

    /// The harness's own last sentence, as a message that says whose it is.
    fn close(&mut self, reason: &str) -> AssistantMessage {
        let sentence = self.budget.closing_sentence(reason);
        let message = AssistantMessage {
            content: vec![Block::text(sentence.as_str())],
            provider: HARNESS.to_owned(),
            model: "closing".to_owned(),
            usage: Usage::default(),
            stop_reason: StopReason::Stop,
            error_message: None,
            timestamp: now(),
        };
        let empty = AssistantMessage { content: Vec::new(), ..message.clone() };
        self.emit(Event::MessageStart { message: Message::Assistant(empty) });
        self.emit(Event::MessageUpdate { assistant_message_event: Delta::TextDelta { delta: sentence } });
        self.keep(Message::Assistant(message.clone()));
        message
    }

    async fn open_turn(&mut self, opening: Vec<String>) {
        // Lets an abort through even where neither the model nor a tool ever waits.
        tokio::task::yield_now().await;
        self.emit(Event::TurnStart { turn_index: self.meter.turns });
        self.meter.turns += 1;
        for text in opening {
            self.say(Message::user(text));
        }
    }

    fn end_turn(&mut self, message: AssistantMessage, tool_results: Vec<Message>) {
        self.emit(Event::TurnEnd { message: Message::Assistant(message), tool_results });
    }

    fn after_cut(&self, cut: Cut) -> Result<Next, Settled> {
        match cut {
            Cut::Aborted => Err(Settled::aborted()),
            Cut::Time => Ok(Next::Last(Why::Budget(Limit::Time(self.budget.time)))),
        }
    }

    /// A message that does not stream.
    pub(super) fn say(&mut self, message: Message) {
        self.emit(Event::MessageStart { message: message.clone() });
        self.keep(message);
    }

    /// Ends a message and makes it part of the conversation.
    pub(super) fn keep(&mut self, message: Message) {
        self.emit(Event::MessageEnd { message: message.clone() });
        self.tree.append(message.clone());
        self.fresh.push(message);
    }

    pub(super) fn emit(&mut self, event: Event) {
        (self.sink)(event);
    }
}

impl Why {
    fn reason(&self) -> String {
        match self {
            Self::Budget(limit) => limit.to_string(),
            Self::Empty => "the model said nothing".to_owned(),
        }
    }

    /// What the model is told.
    fn note(&self) -> String {
        match self {
            Self::Budget(limit) => {
                format!("No more tools: {limit}. Answer now from what you have seen, or say what is missing.")
            }
            Self::Empty => "Your reply was empty. Answer now in words, or say what is missing.".to_owned(),
        }
    }

    fn settled_with_words(&self) -> Settled {
        match self {
            Self::Budget(_) => Settled::because(SettledReason::Budget, self.reason()),
            Self::Empty => Settled { reason: SettledReason::Completed, error: None },
        }
    }

    fn settled_without(&self) -> Settled {
        let reason = match self {
            Self::Budget(_) => SettledReason::Budget,
            Self::Empty => SettledReason::Error,
        };
        Settled::because(reason, self.reason())
    }
}

impl Settled {
    fn because(reason: SettledReason, error: impl Into<String>) -> Self {
        Self { reason, error: Some(error.into()) }
    }

    fn aborted() -> Self {
        Self { reason: SettledReason::Aborted, error: None }
    }
}

fn is_blank(message: &AssistantMessage) -> bool {
    message.text().trim().is_empty()
}
