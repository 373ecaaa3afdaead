//! What anybody may add to the harness: tools and commands, through one trait.
#![forbid(unsafe_code)]

mod registry;
mod tool;

pub use registry::{Command, Registry, RegistryError};
pub use tool::{Tool, ToolError, ToolOutput, TypedTool, spec_of};

/// A set of tools and commands that registers itself.
pub trait Extension {
    /// Adds everything this extension brings.
    fn register(self: Box<Self>, registry: &mut Registry) -> Result<(), RegistryError>;
}
