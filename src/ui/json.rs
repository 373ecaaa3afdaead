//! `--mode json`: the session's header, then every event, one JSON object a line.

use std::io::{self, Write};

use serde::Serialize;

use crate::agent::Event;
use crate::session::Header;

/// Writes objects as lines; each is flushed, so that a program at the other end sees it when it happens.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: W,
}

impl<W: Write> JsonLines<W> {
    /// Begins with the session's header.
    pub fn begin(out: W, header: &Header) -> io::Result<Self> {
        let mut lines = Self { out };
        lines.line(header)?;
        Ok(lines)
    }

    /// Writes an event.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        self.line(event)
    }

    fn line(&mut self, object: &impl Serialize) -> io::Result<()> {
        // In one write, so that lines stay whole where another process writes to the same pipe.
        let mut line = serde_json::to_vec(object)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::agent::{Settled, SettledReason};
    use crate::provider::Delta;

    #[test]
    fn a_stream_is_a_header_and_then_one_line_an_event() {
        let mut out = Vec::new();
        let header = Header::new();
        let mut lines = JsonLines::begin(&mut out, &header).unwrap();
        lines.event(&Event::AgentStart).unwrap();
        let delta = "two\nlines \u{2028} and a \u{1b} byte".to_owned();
        lines
            .event(&Event::MessageUpdate { assistant_message_event: Delta::TextDelta { delta: delta.clone() } })
            .unwrap();
        let end = Settled { reason: SettledReason::Completed, error: None };
        lines.event(&Event::AgentSettled(end)).unwrap();

        let text = String::from_utf8(out).unwrap();
        assert!(text.ends_with('\n'));
        let objects: Vec<Value> = text.split_terminator('\n').map(|line| serde_json::from_str(line).unwrap()).collect();
        let types: Vec<&str> = objects.iter().map(|object| object["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["session", "agent_start", "message_update", "agent_settled"]);
        assert_eq!(objects[0]["id"], header.id.to_string());
        assert_eq!(objects[2]["assistantMessageEvent"]["delta"], delta);
    }
}
