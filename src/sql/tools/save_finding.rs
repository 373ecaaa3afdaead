//! `save_finding`: one sentence worth keeping, tied to the query that shows it.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::extension::{ToolError, ToolOutput, TypedTool};
use crate::sql::gate::{Finding, Gate, Reply, Request};
use crate::sql::tools::{ask, mismatch};

/// Keeps a finding.
pub struct SaveFinding {
    gate: Arc<dyn Gate>,
}

/// What to keep.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// One sentence with its number and range
    finding: String,
    /// `audit_seq` of the query that shows it
    audit_seq: u64,
}

impl SaveFinding {
    /// The tool on this gate.
    pub fn new(gate: Arc<dyn Gate>) -> Self {
        Self { gate }
    }
}

#[async_trait]
impl TypedTool for SaveFinding {
    type Arguments = Arguments;
    const NAME: &'static str = "save_finding";
    const DESCRIPTION: &'static str = "Keeps a finding for later readers. Only when asked to, or for what outlasts this \
        question.";

    async fn run(&self, arguments: Arguments) -> Result<ToolOutput, ToolError> {
        let Arguments { finding, audit_seq } = arguments;
        let finding = finding.trim().to_owned();
        if finding.is_empty() {
            return Err(ToolError::Failed("the finding is empty: write one sentence with its number".into()));
        }
        let request = Request::SaveFinding(Finding { finding: finding.clone(), audit_seq });
        match ask(self.gate.as_ref(), request).await? {
            Reply::SaveFinding { audit_seq: saved } => Ok(ToolOutput {
                content: format!("Saved as finding, audit record {saved}."),
                details: json!({ "finding": finding, "query_audit_seq": audit_seq, "audit_seq": saved }),
            }),
            _ => Err(mismatch(Self::NAME)),
        }
    }
}
