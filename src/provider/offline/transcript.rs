//! The conversation as facts: the question, what has been asked of the tools, and what came back.

use jiff::civil::Date;
use serde::Deserialize;
use serde_json::Value;

use super::calendar::is_month;
use super::schema::{Described, Listed, TablePage};
use crate::provider::Request;
use crate::session::{Message, ToolCall};

/// Rows of a query, as much as is needed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Rows {
    /// Which cap cut them, if one did.
    #[serde(default)]
    pub truncated: Option<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
}

/// Everything the messages tell.
#[derive(Clone, Debug, Default)]
pub(super) struct Transcript {
    /// The question.
    pub question: String,
    /// Readings the person picked when asked back.
    pub chosen: Vec<String>,
    /// The date, as the prompt tells it.
    pub today: Option<Date>,
    /// Tables listed.
    pub listed: Vec<Listed>,
    /// How many tables there are.
    pub total: usize,
    /// Pages asked for, as offset or filter.
    pub pages: Vec<String>,
    /// Where the next page starts.
    pub next_offset: Option<usize>,
    /// Tables described.
    pub described: Vec<Described>,
    /// Tables asked for, described or not.
    pub asked: Vec<String>,
    /// Queries since the question, with what came back.
    pub queries: Vec<(String, Result<Rows, String>)>,
    /// Why the tables can't be listed.
    pub fault: Option<String>,
    /// Calls made since the question.
    pub calls: usize,
}

impl Transcript {
    /// Reads a request.
    pub(super) fn of(request: Request<'_>) -> Self {
        let mut transcript = Self { today: today(request.system), ..Self::default() };
        let mut calls: Vec<&ToolCall> = Vec::new();
        let mut said = String::new();
        for message in request.messages {
            match message {
                Message::User(user) => {
                    transcript.hear(&user.text(), &said);
                    calls.clear();
                }
                Message::Assistant(reply) => {
                    said = reply.text();
                    calls.extend(reply.tool_calls());
                    transcript.calls += reply.tool_calls().count();
                }
                Message::ToolResult(result) => {
                    if let Some(call) = calls.iter().find(|call| call.id == result.tool_call_id) {
                        transcript.learn(call, &result.text(), result.is_error);
                    }
                }
            }
        }
        transcript
    }

    /// A person's message: a new question, or the answer to one asked back.
    fn hear(&mut self, text: &str, said: &str) {
        self.queries.clear();
        self.calls = 0;
        if let (Some(choice), false) = (choice(said, text), self.question.is_empty()) {
            self.chosen.push(choice);
            return;
        }
        self.chosen.clear();
        self.question = folded(question(text));
    }

    fn learn(&mut self, call: &ToolCall, text: &str, is_error: bool) {
        let argument = |name: &str| call.arguments.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
        match call.name.as_str() {
            "list_tables" => {
                let page = call
                    .arguments
                    .get("offset")
                    .map(Value::to_string)
                    .or_else(|| argument("filter"))
                    .unwrap_or_default();
                self.pages.push(page);
                match data::<TablePage>(text).filter(|_| !is_error) {
                    Some(page) => {
                        if call.arguments.get("filter").is_none() {
                            self.total = page.total;
                            self.next_offset = page.next_offset;
                        }
                        self.listed.extend(page.tables);
                    }
                    None => self.fault = Some(sentence(text)),
                }
            }
            "describe_table" => {
                let Some(table) = argument("table") else { return };
                if let Some(described) = data::<Described>(text).filter(|_| !is_error) {
                    self.described.retain(|known| known.table != described.table);
                    self.described.push(described);
                }
                self.asked.push(table);
            }
            "run_query" => {
                let Some(sql) = argument("sql") else { return };
                let result = match data::<Rows>(text).filter(|_| !is_error) {
                    Some(rows) => Ok(rows),
                    None => Err(sentence(text)),
                };
                self.queries.push((sql, result));
            }
            _ => {}
        }
    }

    /// What this query gave, if it ran.
    pub(super) fn result(&self, sql: &str) -> Option<&Result<Rows, String>> {
        self.queries.iter().find(|(known, _)| known == sql).map(|(_, result)| result)
    }
}

/// The question in a message: the line after `Question:` where a template marks it, else all of it.
fn question(text: &str) -> &str {
    let marked = text.lines().find_map(|line| line.trim().strip_prefix("Question:"));
    marked.map(str::trim).filter(|rest| !rest.is_empty()).unwrap_or(text.trim())
}

/// A question all in capitals, as one would write it otherwise: capitals then mark no names. Quoted text keeps its case.
fn folded(text: &str) -> String {
    let shouted = text.chars().any(char::is_uppercase) && text.split(' ').filter(|word| word.len() > 1).count() > 1;
    if !shouted || text.chars().any(char::is_lowercase) || text.contains(['"', '\'', '“', '‘', '«', '`']) {
        return text.to_owned();
    }
    let word = |word: &str| {
        let lower = word.to_lowercase();
        if is_month(lower.trim_matches(|c: char| !c.is_alphanumeric())) {
            let mut letters = lower.chars();
            return letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect());
        }
        lower
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The choice that a text picks from those just offered: by its words or by its number.
fn choice(said: &str, text: &str) -> Option<String> {
    let said = said.trim().strip_prefix("ASK:")?;
    let choices: Vec<&str> = said.lines().filter_map(|line| line.trim().strip_prefix("- ")).map(str::trim).collect();
    let text = text.trim().trim_end_matches(['.', '!']);
    if let Ok(place) = text.parse::<usize>() {
        return place.checked_sub(1).and_then(|place| choices.get(place)).map(|choice| (*choice).to_owned());
    }
    let lower = text.to_lowercase();
    let exact = choices.iter().find(|choice| choice.to_lowercase() == lower);
    // A choice of one plain word stands in many a new question (`never`): there nothing else may be said.
    let around = ["i", "mean", "please", "the", "ones", ""];
    let said = |choice: &str| {
        if !choice.chars().all(char::is_alphabetic) {
            return lower.contains(&choice.to_lowercase());
        }
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        words.all(|word| word == choice || around.contains(&word))
    };
    let mut inside = choices.iter().filter(|choice| !lower.is_empty() && said(choice));
    let only = inside.next().filter(|_| inside.next().is_none());
    exact.or(only).map(|choice| (*choice).to_owned())
}

/// The date in a prompt's line `Today is 2026-11-30.`
fn today(system: &str) -> Option<Date> {
    system.split("Today is ").skip(1).find_map(|rest| rest.get(..10)?.parse().ok())
}

/// The data inside a tool result's fence.
fn data<T: for<'a> Deserialize<'a>>(text: &str) -> Option<T> {
    let start = text.find("<data ")?;
    let inside = &text[start..];
    let open = inside.find(">\n")? + 2;
    let close = inside.rfind("</data>")?;
    serde_json::from_str(inside.get(open..close)?.trim()).ok()
}

/// The first words of a tool's complaint.
fn sentence(text: &str) -> String {
    /// As much as a person reads, in characters.
    const LONGEST: usize = 300;
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("no reason given").trim();
    line.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_read_from_the_prompt() {
        assert_eq!(today("You answer.\nToday is 2026-11-30.\n"), Some("2026-11-30".parse().unwrap()));
        assert_eq!(today("Today is sunny. Today is 2026-11-30."), Some("2026-11-30".parse().unwrap()));
        assert_eq!(today("Today is ☃☃☃☃"), None);
    }

    #[test]
    fn fenced_data_is_read_and_anything_else_is_not() {
        let text = "Cut after 200 rows.\n<data source=\"run_query\" note=\"rows\">\n{\"truncated\":\"rows\",\"rows\":[[\"\\u003cb>\"]]}\n</data>";
        let rows: Rows = data(text).unwrap();
        assert_eq!(rows.rows[0][0], "<b>");
        assert_eq!(data::<Rows>("<data >\n{"), None);
        assert_eq!(data::<Rows>("</data><data >\n"), None);
    }

    #[test]
    fn a_choice_is_picked_by_its_words_or_its_number() {
        let said = "ASK: Which?\n- a.x\n- b.y";
        assert_eq!(choice(said, "2").as_deref(), Some("b.y"));
        assert_eq!(choice(said, "A.X.").as_deref(), Some("a.x"));
        assert_eq!(choice(said, "I mean b.y").as_deref(), Some("b.y"));
        assert_eq!(choice(said, "how many accounts?"), None);
        assert_eq!(choice("142 accounts.", "2"), None);
    }
}
