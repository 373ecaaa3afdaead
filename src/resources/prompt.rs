//! The system prompt, put together from the resources and nothing else.

use std::fmt::Write as _;

use jiff::civil::Date;

use crate::provider::ToolSpec;
use crate::resources::Resources;

/// The tool that reads a skill; without it skills are not announced.
const SKILL_READER: &str = "load_skill";

/// What the prompt says about here and now.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The day questions like "last month" start from.
    pub today: Date,
    /// What `{{name}}` stands for in `SYSTEM.md` and `APPEND_SYSTEM.md`; an unknown name stays as it is written.
    pub named: &'a [(&'a str, &'a str)],
}

/// The system prompt: the same bytes for the same resources, tools and facts.
///
/// The day comes last, so that everything before it stays in a provider's cache from one day to the next.
pub fn assemble(resources: &Resources, tools: &[ToolSpec], facts: &Facts<'_>) -> String {
    let mut parts = vec![fill(&resources.system, facts.named), fill(&resources.append, facts.named)];
    for file in &resources.context {
        parts.push(format!("About this project ({}):\n{}", file.name, file.text.trim()));
    }
    if tools.iter().any(|tool| tool.name == SKILL_READER) {
        parts.push(skills(resources));
    }
    parts.push(format!("Today is {}.", facts.today));
    let parts: Vec<&str> = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

fn skills(resources: &Resources) -> String {
    let mut list = String::new();
    for skill in resources.skills.iter().filter(|skill| !skill.hidden) {
        let description: Vec<&str> = skill.description.split_whitespace().collect();
        let _ = write!(list, "\n- {}: {}", skill.name, description.join(" "));
    }
    if list.is_empty() { list } else { format!("Skills, read in full with {SKILL_READER} when they fit:{list}") }
}

/// Puts the named values in; one pass, so that a value is never looked at again.
fn fill(text: &str, named: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let known = after.split_once("}}").and_then(|(name, after)| {
            named.iter().find(|(known, _)| *known == name.trim()).map(|(_, value)| (*value, after))
        });
        if let Some((value, after)) = known {
            filled.push_str(value);
            rest = after;
        } else {
            filled.push_str("{{");
            rest = after;
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use serde_json::json;

    use super::*;
    use crate::resources::{ContextFile, Skill};

    /// Characters of the embedded prompt: it leaves 2,400 to the tools' specs below 1,000 tokens of 4 characters.
    const MOST: usize = 1_600;

    fn reader() -> ToolSpec {
        ToolSpec { name: SKILL_READER.into(), description: String::new(), parameters: json!({}) }
    }

    fn facts() -> Facts<'static> {
        Facts { today: date(2026, 11, 30), named: &[("sqlite_version", "3.54.1")] }
    }

    #[test]
    fn the_embedded_prompt_is_short_and_complete() {
        let prompt = assemble(&Resources::load(None).unwrap(), &[reader()], &facts());
        let length = prompt.chars().count();
        assert!(length <= MOST, "{length} characters");
        for part in ["SQLite 3.54.1 ", "ASK: ", "CANNOT: ", "\n- analytics-playbook: ", "→ run_query →"] {
            assert!(prompt.contains(part), "{part} is missing");
        }
        assert!(!prompt.contains("{{"));
        assert_eq!(prompt.lines().last(), Some("Today is 2026-11-30."));
    }

    #[test]
    fn parts_come_in_order_and_empty_ones_leave_no_gap() {
        let mut resources = Resources::load(None).unwrap();
        resources.system = "S {{ sqlite_version }} {{unknown}} {{".into();
        resources.context = vec![ContextFile { name: "AGENTS.md".into(), text: "C {{sqlite_version}}\n".into() }];
        resources.skills.push(Skill { name: "h".into(), description: "d".into(), body: "b".into(), hidden: true });
        resources.skills[0].description = "two\nlines".into();
        let expected = "S 3.54.1 {{unknown}} {{\n\nAbout this project (AGENTS.md):\nC {{sqlite_version}}\n\n\
            Skills, read in full with load_skill when they fit:\n- analytics-playbook: two lines\n\nToday is 2026-11-30.";
        assert_eq!(assemble(&resources, &[reader()], &facts()), expected);
    }

    #[test]
    fn skills_nobody_can_read_are_not_announced() {
        let prompt = assemble(&Resources::load(None).unwrap(), &[], &facts());
        assert!(!prompt.contains("analytics-playbook"));
    }

    #[test]
    fn a_value_is_never_filled_again() {
        assert_eq!(fill("{{a}}{{b}}", &[("a", "{{b}}"), ("b", "x")]), "{{b}}x");
    }
}
