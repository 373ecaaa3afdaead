//! Whatever it is asked and whatever the tools say: no panic, and an end.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ask, database, reply, result};
use crate::session::{Block, Message, ToolCall, ToolResultMessage};

/// Tool results, well-formed and not.
fn results() -> impl Strategy<Value = String> {
    let name = prop_oneof![Just("accounts".to_owned()), Just("id".to_owned()), "[a-z_]{0,8}", "\\PC{0,6}"];
    let value = prop_oneof![
        Just(json!(null)),
        Just(json!(1)),
        Just(json!("churned")),
        "\\PC{0,8}".prop_map(|text| json!(text))
    ];
    let fence = |value: Value| format!("<data source=\"x\" note=\"y\">\n{value}\n</data>");
    prop_oneof![
        "\\PC{0,40}",
        Just("<data >\n".to_owned()),
        (prop::collection::vec(name.clone(), 0..4), any::<bool>()).prop_map(move |(names, more)| {
            let tables: Vec<Value> = names.iter().map(|name| json!({"name": name, "quoted": name, "kind": "table", "rows": "1"})).collect();
            fence(json!({"total": 9, "tables": tables, "next_offset": if more { json!(2) } else { json!(null) }}))
        }),
        (name.clone(), prop::collection::vec((name.clone(), value.clone()), 0..4), name).prop_map(move |(table, columns, other)| {
            let keys: Vec<Value> = columns.iter().map(|(name, _)| json!({"columns": [name], "table": other, "to": ["id"]})).collect();
            let columns: Vec<Value> = columns
                .iter()
                .map(|(name, value)| json!({"name": name, "quoted": name, "type": "", "storage": ["text"], "samples": [value], "samples_complete": true}))
                .collect();
            fence(json!({"table": table, "quoted": table, "columns": columns, "foreign_keys": keys}))
        }),
        prop::collection::vec(prop::collection::vec(value, 0..3), 0..3)
            .prop_map(move |rows| fence(json!({"truncated": null, "columns": [], "rows": rows, "row_count": 1, "ms": 1}))),
    ]
}

/// Questions of known words in any order, and of any characters.
fn questions() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "how many",
        "accounts",
        "customers",
        "the",
        "most",
        "orders",
        "churned",
        "in",
        "June",
        "2026",
        "each",
        "per",
        "month",
        "by",
        "and",
        "or",
        "not",
        "name",
        "names of",
        "age",
        "older than",
        "30",
        "between",
        "France",
        "with",
        "without",
        "'Ada'",
        "top",
        "5",
        "average",
        "of",
        "who",
        "that",
        "have",
        "at least",
        "highest",
        "price",
        "ordered by",
        "descending",
        "is",
        ",",
        "?",
        ".",
        "'s",
        "both",
        "no",
        "number of",
        "status",
        "since",
        "last month",
        "title",
        "shipped",
        "once",
        "times",
        "more",
        "than",
        "where",
        "when",
        "total",
        "named",
    ]);
    prop_oneof!["\\PC{0,60}", prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "))]
}

thread_local! {
    static DATABASE: rusqlite::Connection = database();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_question_ends_within_its_calls(question in questions()) {
        let played = DATABASE.with(|database| ask(database, &question));
        prop_assert!(!played.text.is_empty());
        prop_assert!(played.trail.len() <= 12, "{:?}", played.trail);
    }

    #[test]
    fn any_tool_results_end_in_a_text(question in questions(), results in prop::collection::vec((results(), any::<bool>()), 16)) {
        let mut messages = vec![Message::user(question)];
        let mut results = results.into_iter();
        let mut calls = 0;
        loop {
            let reply = reply("Today is 2026-11-30.", &messages);
            let wanted: Vec<ToolCall> = reply.tool_calls().cloned().collect();
            messages.push(Message::Assistant(reply));
            if wanted.is_empty() {
                break;
            }
            calls += wanted.len();
            prop_assert!(calls <= 12);
            for call in wanted {
                let (text, is_error) = results.next().unwrap_or_else(|| (String::new(), true));
                messages.push(Message::ToolResult(ToolResultMessage {
                    tool_call_id: call.id.clone(),
                    tool_name: call.name.clone(),
                    content: vec![Block::text(text)],
                    details: Value::Null,
                    is_error,
                    timestamp: 0,
                }));
            }
        }
    }
}

#[test]
fn a_call_without_its_result_is_made_again_but_not_for_ever() {
    let mut messages = vec![Message::user("how many accounts?")];
    for _ in 0..20 {
        let reply = reply("", &messages);
        let done = reply.tool_calls().next().is_none();
        messages.push(Message::Assistant(reply));
        if done {
            return;
        }
    }
    panic!("no end");
}

#[test]
fn an_error_from_every_tool_is_told() {
    let mut messages = vec![Message::user("how many accounts?")];
    let first = reply("", &messages);
    let call = first.tool_calls().next().cloned().unwrap();
    messages.push(Message::Assistant(first));
    messages.push(result(&call, Err("the database is locked".to_owned())));
    assert_eq!(reply("", &messages).text(), "CANNOT: the tables could not be listed: the database is locked");
}

#[test]
fn the_list_of_tables_is_turned_and_then_filtered() {
    let listing = |name: &str| json!({"total": 2000, "tables": [{"name": name, "quoted": name, "kind": "table", "rows": "1"}], "next_offset": 50});
    let mut messages = vec![Message::user("how many invoices are there?")];
    let mut asked = Vec::new();
    for name in ["aaa", "bbb", "invoices"] {
        let reply = reply("", &messages);
        let calls: Vec<ToolCall> = reply.tool_calls().cloned().collect();
        messages.push(Message::Assistant(reply));
        for call in calls {
            asked.push(format!("{} {}", call.name, Value::Object(call.arguments.clone())));
            messages.push(result(&call, Ok(listing(name))));
        }
    }
    let last = reply("", &messages);
    let next: Vec<&ToolCall> = last.tool_calls().collect();
    assert_eq!(asked, ["list_tables {}", "list_tables {\"offset\":50}", "list_tables {\"filter\":\"invoice\"}"]);
    assert_eq!((next[0].name.as_str(), &next[0].arguments["table"]), ("describe_table", &json!("invoices")));
}
