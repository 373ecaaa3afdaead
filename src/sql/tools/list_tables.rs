//! `list_tables`: the names first, a page at a time.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::extension::{ToolError, ToolOutput, TypedTool};
use crate::sql::gate::{self, Gate, Reply, Request};
use crate::sql::tools::{ask, fenced, mismatch};

/// Lists tables and views.
pub struct ListTables {
    gate: Arc<dyn Gate>,
}

/// Which ones.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Only names that contain this
    #[serde(default)]
    #[schemars(with = "String")]
    filter: Option<String>,
    /// `next_offset` of the last page
    #[serde(default)]
    #[schemars(with = "u32")]
    offset: Option<usize>,
    /// How many, 50 if not given
    #[serde(default)]
    #[schemars(with = "u32")]
    limit: Option<usize>,
}

impl ListTables {
    /// The tool on this gate.
    pub fn new(gate: Arc<dyn Gate>) -> Self {
        Self { gate }
    }
}

#[async_trait]
impl TypedTool for ListTables {
    type Arguments = Arguments;
    const NAME: &'static str = "list_tables";
    const DESCRIPTION: &'static str = "Lists tables and views with row counts (exact, ≥ at least, ~ about, unknown). \
        Start here.";

    async fn run(&self, arguments: Arguments) -> Result<ToolOutput, ToolError> {
        let Arguments { filter, offset, limit } = arguments;
        let request =
            Request::ListTables(gate::ListTables { filter, offset: offset.unwrap_or(0), limit: limit.unwrap_or(0) });
        match ask(self.gate.as_ref(), request).await? {
            Reply::ListTables(list) => fenced(Self::NAME, &list),
            _ => Err(mismatch(Self::NAME)),
        }
    }
}
