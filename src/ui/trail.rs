//! The trail: what is done to answer, one line a step, on stderr.

use std::io::{self, Write};

use crate::agent::Event;
use crate::session::Block;
use crate::ui::text::harmless;

/// Writes the line of an event, if it has one.
pub fn write_step(out: &mut dyn Write, event: &Event) -> io::Result<()> {
    match event {
        Event::ToolExecutionStart { label, .. } => writeln!(out, "→ {}", harmless(label)),
        Event::ToolExecutionEnd { result, is_error: true, .. } => {
            let said: Vec<&str> = result
                .content
                .iter()
                .filter_map(|block| match block {
                    Block::Text { text } => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            writeln!(out, "  ✗ {}", harmless(&said.join(" ")))
        }
        Event::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } => {
            writeln!(out, "  … {} (try {attempt} of {max_attempts} in {delay_ms} ms)", harmless(error_message))
        }
        _ => Ok(()),
    }
}
