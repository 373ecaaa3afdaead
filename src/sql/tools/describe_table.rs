//! `describe_table`: what a query on one table needs to know.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::extension::{ToolError, ToolOutput, TypedTool};
use crate::sql::gate::{Gate, Reply, Request};
use crate::sql::tools::{ask, fenced, mismatch};

/// Describes one table or view.
pub struct DescribeTable {
    gate: Arc<dyn Gate>,
}

/// Which one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// A name from `list_tables`
    table: String,
}

impl DescribeTable {
    /// The tool on this gate.
    pub fn new(gate: Arc<dyn Gate>) -> Self {
        Self { gate }
    }
}

#[async_trait]
impl TypedTool for DescribeTable {
    type Arguments = Arguments;
    const NAME: &'static str = "describe_table";
    const DESCRIPTION: &'static str = "Describes one table or view: columns with declared type and stored classes, names \
        quoted for SQL, keys both ways, indexes, sample values (samples_complete: there are no others). Use it before \
        you query a table.";

    async fn run(&self, arguments: Arguments) -> Result<ToolOutput, ToolError> {
        match ask(self.gate.as_ref(), Request::DescribeTable { table: arguments.table }).await? {
            Reply::DescribeTable(description) => fenced(Self::NAME, &description),
            _ => Err(mismatch(Self::NAME)),
        }
    }
}
