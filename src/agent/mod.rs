//! The loop: one prompt, many turns, one end.
//!
//! [`Agent::prompt`] runs one prompt to its end and tells a sink everything that happens as [`Event`]s; [`serve`] does
//! so over channels, for whoever speaks the protocol of [`Command`]s and [`Response`]s. Both need a tokio runtime with
//! its clock enabled.
#![forbid(unsafe_code)]

mod abort;
mod budget;
mod command;
mod dispatch;
mod event;
mod repeat;
mod reply;
mod run;
mod serve;

#[cfg(test)]
mod tests;

pub use abort::Abort;
pub use budget::{Budget, Limit, Retry};
pub use command::{Command, Outgoing, Response};
pub use event::{Event, Settled, SettledReason, ToolExecution};
pub use serve::serve;

use crate::extension::Registry;
use crate::provider::{Provider, ToolSpec};
use crate::session::Tree;

use run::Run;

/// A model, its tools and the conversation they have had.
pub struct Agent {
    provider: Box<dyn Provider>,
    registry: Registry,
    tools: Vec<ToolSpec>,
    system: String,
    budget: Budget,
    tree: Tree,
}

impl Agent {
    /// An agent at the beginning of a conversation.
    pub fn new(provider: Box<dyn Provider>, registry: Registry, system: String, budget: Budget) -> Self {
        let tools = registry.tool_specs();
        Self { provider, registry, tools, system, budget, tree: Tree::default() }
    }

    /// The same agent with a conversation to go on with.
    #[must_use]
    pub fn with_tree(mut self, tree: Tree) -> Self {
        self.tree = tree;
        self
    }

    /// The conversation.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Runs one prompt to its end; the last event is always [`Event::AgentSettled`] with what is returned.
    ///
    /// A `/command` is expanded first. Where the run is cut, what runs at that moment is dropped: tools must bear it.
    pub async fn prompt(&mut self, text: &str, abort: &Abort, sink: &mut (dyn FnMut(Event) + Send)) -> Settled {
        let text = self.registry.expand(text);
        Run::new(self, abort, sink).go(text).await
    }
}
