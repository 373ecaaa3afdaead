//! What has been registered: looked up by name, listed in order.

use crate::extension::{Extension, Tool};
use crate::provider::ToolSpec;

/// A slash command: turns what a person typed after it into a prompt.
pub struct Command {
    /// The name without its slash.
    pub name: String,
    /// One line for a menu.
    pub description: String,
    /// From the arguments as typed to the prompt that is sent.
    pub expand: Box<dyn Fn(&str) -> String + Send + Sync>,
}

/// All tools and commands on offer.
#[derive(Default)]
pub struct Registry {
    tools: Vec<Box<dyn Tool>>,
    commands: Vec<Command>,
}

/// Two extensions claim one name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("two {kind}s are named “{name}”: rename one")]
pub struct RegistryError {
    kind: &'static str,
    name: String,
}

impl Registry {
    /// A registry of these extensions, in this order.
    pub fn of(extensions: Vec<Box<dyn Extension>>) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        for extension in extensions {
            extension.register(&mut registry)?;
        }
        Ok(registry)
    }

    /// Adds a tool.
    pub fn tool(&mut self, tool: impl Tool + 'static) -> Result<(), RegistryError> {
        let name = tool.spec().name;
        if self.find_tool(&name).is_some() {
            return Err(RegistryError { kind: "tool", name });
        }
        self.tools.push(Box::new(tool));
        Ok(())
    }

    /// Adds a command.
    pub fn command(&mut self, command: Command) -> Result<(), RegistryError> {
        if self.commands.iter().any(|known| known.name == command.name) {
            return Err(RegistryError { kind: "command", name: command.name });
        }
        self.commands.push(command);
        Ok(())
    }

    /// The tool of that name.
    pub fn find_tool(&self, name: &str) -> Option<&dyn Tool> {
        self.tools.iter().map(AsRef::as_ref).find(|tool| tool.spec().name == name)
    }

    /// What a model is told about the tools, in the order they were added.
    pub fn tool_specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec()).collect()
    }

    /// The commands, in the order they were added.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// The prompt a text stands for: a known `/command` expanded, anything else as it is.
    pub fn expand(&self, text: &str) -> String {
        let Some(rest) = text.strip_prefix('/') else { return text.to_owned() };
        let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        self.commands
            .iter()
            .find(|command| command.name == name)
            .map_or_else(|| text.to_owned(), |command| (command.expand)(arguments.trim()))
    }
}
