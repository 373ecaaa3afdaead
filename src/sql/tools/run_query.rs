//! `run_query`: one SELECT, its rows fenced, a cut result saying so first.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extension::{ToolError, ToolOutput, TypedTool};
use crate::sql::gate::{Cap, Gate, QueryResult, Reply, Request};
use crate::sql::tools::{ask, fence, mismatch, unwritable};

/// Runs one query.
pub struct RunQuery {
    gate: Arc<dyn Gate>,
}

/// Which one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// One SELECT, WITH … SELECT or VALUES in SQLite's dialect
    sql: String,
}

/// What a front end sees: the result, and the text it belongs to.
#[derive(Serialize)]
struct Details<'a> {
    sql: &'a str,
    #[serde(flatten)]
    result: &'a QueryResult,
}

impl RunQuery {
    /// The tool on this gate.
    pub fn new(gate: Arc<dyn Gate>) -> Self {
        Self { gate }
    }
}

#[async_trait]
impl TypedTool for RunQuery {
    type Arguments = Arguments;
    const NAME: &'static str = "run_query";
    const DESCRIPTION: &'static str = "Runs one read-only SELECT and gives its rows. Count, sum and compare in the SELECT; \
        write ORDER BY and LIMIT yourself. Rows, bytes and time are capped.";

    async fn run(&self, Arguments { sql }: Arguments) -> Result<ToolOutput, ToolError> {
        let Reply::RunQuery(result) = ask(self.gate.as_ref(), Request::RunQuery { sql: sql.clone() }).await? else {
            return Err(mismatch(Self::NAME));
        };
        let fence = fence::fence(Self::NAME, &result).map_err(|error| unwritable(&error))?;
        let content = match result.truncated {
            Some(cap) => format!("{}\n{fence}", warning(cap, result.row_count)),
            None => fence,
        };
        let details =
            serde_json::to_value(Details { sql: &sql, result: &result }).map_err(|error| unwritable(&error))?;
        Ok(ToolOutput { content, details })
    }
}

/// The sentence before a cut result, so that nobody reads past it.
fn warning(cap: Cap, rows: usize) -> String {
    let (by, more) = match cap {
        Cap::Rows => ("row cap", "more exist"),
        Cap::Bytes => ("byte cap", "more exist"),
        Cap::Time => ("deadline", "more may exist"),
    };
    let (noun, are) = if rows == 1 { ("row", "is") } else { ("rows", "are") };
    format!(
        "Truncated by the {by}: {rows} {noun} {are} here and {more}, so never report row_count as an answer; aggregate in \
         SQL instead."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_result_says_which_cap_cut_it() {
        assert_eq!(
            warning(Cap::Rows, 200),
            "Truncated by the row cap: 200 rows are here and more exist, so never report row_count as an answer; \
             aggregate in SQL instead."
        );
        assert!(warning(Cap::Bytes, 1).starts_with("Truncated by the byte cap: 1 row is here and more exist,"));
        assert!(warning(Cap::Time, 7).starts_with("Truncated by the deadline: 7 rows are here and more may exist,"));
    }
}
