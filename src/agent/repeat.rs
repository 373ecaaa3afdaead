//! The same call again: a model that goes in circles is told so.

use std::collections::HashMap;

use serde_json::Value;

use crate::agent::dispatch::Outcome;
use crate::session::{Block, ToolCall};

/// What the second result says beside the first one.
const AGAIN: &str = "You made this same call before; this is its earlier result, the tool did not run again. Use it.";
/// What every further result says.
const TOO_OFTEN: &str = "You made this same call again and its result will not change, so it did not run. \
    Change course: call something else or with other arguments, or answer from what you have seen.";

/// The calls of one run.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    seen: HashMap<String, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    times: u32,
    /// The first good result. A failure is not kept: its cause may have passed, so a second try runs.
    result: Option<Outcome>,
}

impl Repeats {
    /// Counts the call; gives the result it must have instead of running.
    pub(super) fn instead(&mut self, call: &ToolCall) -> Option<Outcome> {
        let seen = self.seen.entry(key(call)).or_default();
        seen.times += 1;
        match seen.times {
            1 => None,
            2 => seen.result.clone().map(|mut result| {
                result.content.push(Block::text(AGAIN));
                result
            }),
            _ => Some(Outcome::failed(TOO_OFTEN)),
        }
    }

    /// Keeps the call's result for its repetition.
    pub(super) fn keep(&mut self, call: &ToolCall, result: &Outcome) {
        if !result.is_error {
            self.seen.entry(key(call)).or_default().result = Some(result.clone());
        }
    }
}

/// One text for all spellings of a call: its arguments with their keys in order.
fn key(call: &ToolCall) -> String {
    format!("{} {}", call.name, sorted(&Value::Object(call.arguments.clone())))
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut pairs: Vec<_> = object.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            pairs.sort_by(|(left, _), (right, _)| left.cmp(right));
            Value::Object(pairs.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(arguments: &Value) -> ToolCall {
        ToolCall { id: "c".into(), name: "look".into(), arguments: arguments.as_object().unwrap().clone() }
    }

    #[test]
    fn the_order_of_keys_makes_no_other_call() {
        let one = call(&json!({"a": 1, "b": [{"x": 1, "y": 2}]}));
        assert_eq!(key(&one), key(&call(&json!({"b": [{"y": 2, "x": 1}], "a": 1}))));
        assert_ne!(key(&one), key(&call(&json!({"a": 1, "b": [{"x": 2, "y": 1}]}))));
        assert_ne!(key(&one), key(&ToolCall { name: "find".into(), ..one.clone() }));
    }

    #[test]
    fn the_second_call_gets_the_result_again_and_the_third_an_error() {
        let mut repeats = Repeats::default();
        let one = call(&json!({"a": 1}));
        assert_eq!(repeats.instead(&one), None);
        repeats.keep(&one, &Outcome { content: vec![Block::text("42")], details: json!({"n": 42}), is_error: false });
        let second = repeats.instead(&one).unwrap();
        assert_eq!(second.content, [Block::text("42"), Block::text(AGAIN)]);
        assert!(!second.is_error && second.details == json!({"n": 42}));
        assert_eq!(repeats.instead(&one), Some(Outcome::failed(TOO_OFTEN)));
        assert_eq!(repeats.instead(&one), Some(Outcome::failed(TOO_OFTEN)));
        assert_eq!(repeats.instead(&call(&json!({"a": 2}))), None);
    }

    #[test]
    fn a_failed_call_may_be_tried_once_more() {
        let mut repeats = Repeats::default();
        let one = call(&json!({}));
        assert_eq!(repeats.instead(&one), None);
        repeats.keep(&one, &Outcome::failed("the reader was replaced: try again"));
        assert_eq!(repeats.instead(&one), None);
        assert_eq!(repeats.instead(&one), Some(Outcome::failed(TOO_OFTEN)));
    }
}
