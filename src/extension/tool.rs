//! A tool: a name, a schema, and something it does.

use async_trait::async_trait;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::provider::ToolSpec;

/// Characters of what a model gave, where it is repeated in a label or an error: about two lines of a terminal.
const LINE_CHARS: usize = 200;

/// Something a model may call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told about it.
    fn spec(&self) -> ToolSpec;

    /// Runs one call. The arguments are as the model gave them: the tool checks them against its own schema first.
    async fn call(&self, arguments: Map<String, Value>) -> Result<ToolOutput, ToolError>;

    /// One short line for a person's trail, e.g. `run_query(SELECT …)`, from the arguments as given.
    fn label(&self, arguments: &Map<String, Value>) -> String {
        let shown: Vec<String> = arguments
            .values()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned))
            .collect();
        format!("{}({})", self.spec().name, one_line(&shown.join(", ")))
    }
}

/// White space collapsed, and cut where it would no longer be a line.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LINE_CHARS) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// A result in two parts: one for the model, one for whoever looks on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// What the model sees.
    pub content: String,
    /// Structured data for front ends and logs; never sent to a model.
    pub details: Value,
}

/// A call that failed in a way the model can act on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ToolError {
    /// The arguments don't fit the schema.
    #[error("the arguments of {tool} don't fit: {reason}. Call it again with arguments that fit its schema")]
    Arguments {
        /// The tool's name.
        tool: String,
        /// What doesn't fit.
        reason: String,
    },
    /// The tool refused or failed; the sentence says why and what to do next.
    #[error("{0}")]
    Failed(String),
    /// Nothing that needs this tool's other side can go on; the run ends.
    #[error("{0}")]
    Fatal(String),
}

/// A tool whose arguments are a Rust type: the type is the schema and the check, so the two can't differ.
#[async_trait]
pub trait TypedTool: Send + Sync {
    /// The arguments. Give it `#[serde(deny_unknown_fields)]`.
    type Arguments: DeserializeOwned + JsonSchema + Send;
    /// The name the model calls it by.
    const NAME: &'static str;
    /// What it does and when to use it, for the model.
    const DESCRIPTION: &'static str;

    /// Runs one call with checked arguments.
    async fn run(&self, arguments: Self::Arguments) -> Result<ToolOutput, ToolError>;
}

#[async_trait]
impl<T: TypedTool> Tool for T {
    fn spec(&self) -> ToolSpec {
        spec_of::<T>()
    }

    async fn call(&self, arguments: Map<String, Value>) -> Result<ToolOutput, ToolError> {
        let checked = serde_json::from_value(Value::Object(arguments))
            .map_err(|error| ToolError::Arguments { tool: T::NAME.into(), reason: one_line(&error.to_string()) })?;
        self.run(checked).await
    }
}

/// The spec of a typed tool: its schema without what a model has no use for.
pub fn spec_of<T: TypedTool>() -> ToolSpec {
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    let mut parameters = generator.into_root_schema_for::<T::Arguments>().to_value();
    if let Some(object) = parameters.as_object_mut() {
        object.remove("$schema");
        object.remove("title");
        object.remove("description");
        let properties = object.get_mut("properties").and_then(Value::as_object_mut);
        for property in properties.into_iter().flat_map(|properties| properties.values_mut()) {
            if let Some(property) = property.as_object_mut() {
                // What an absent argument means is said in words; a null would contradict the type.
                property.retain(|key, value| key != "format" && !(key == "default" && value.is_null()));
            }
        }
    }
    ToolSpec { name: T::NAME.into(), description: T::DESCRIPTION.into(), parameters }
}
