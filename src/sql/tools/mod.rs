//! The five tools, one a file, registered in one plain place (`sql::extension`).

mod describe_table;
mod fence;
mod list_tables;
mod load_skill;
mod run_query;
mod save_finding;
#[cfg(test)]
mod tests;

pub use describe_table::DescribeTable;
pub use list_tables::ListTables;
pub use load_skill::LoadSkill;
pub use run_query::RunQuery;
pub use save_finding::SaveFinding;

use crate::extension::{ToolError, ToolOutput};
use crate::sql::gate::{Gate, Refusal, RefusalKind, Reply, Request};

/// Asks the gate; a refusal becomes an error the model can act on, or the end of the run.
async fn ask(gate: &dyn Gate, request: Request) -> Result<Reply, ToolError> {
    gate.call(request).await.map_err(|Refusal { kind, message }| match kind {
        RefusalKind::Audit => ToolError::Fatal(message),
        _ => ToolError::Failed(message),
    })
}

/// The other side answered something else than it was asked.
fn mismatch(tool: &str) -> ToolError {
    ToolError::Fatal(format!("{tool} got the answer to another request: the two sides speak different versions"))
}

/// A result that could not be written as JSON.
fn unwritable(error: &serde_json::Error) -> ToolError {
    ToolError::Failed(format!("the result can't be written as JSON: {error}"))
}

/// Data in its fence for the model, and as it is for everybody else.
fn fenced<T: serde::Serialize>(source: &str, data: &T) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput {
        content: fence::fence(source, data).map_err(|error| unwritable(&error))?,
        details: serde_json::to_value(data).map_err(|error| unwritable(&error))?,
    })
}
