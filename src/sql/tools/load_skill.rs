//! `load_skill`: the only reader there is, and it reads only what was loaded at start.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::extension::{ToolError, ToolOutput, TypedTool};
use crate::resources::Skill;
use crate::sql::cell::shorten;

/// Characters of an unknown name that the message repeats.
const ECHOED: usize = 80;

/// Gives a skill's text.
pub struct LoadSkill {
    skills: Vec<Skill>,
}

/// Which one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The skill's name
    name: String,
}

impl LoadSkill {
    /// The tool over these skills; hidden ones are for people.
    pub fn new(skills: Vec<Skill>) -> Self {
        Self { skills: skills.into_iter().filter(|skill| !skill.hidden).collect() }
    }
}

#[async_trait]
impl TypedTool for LoadSkill {
    type Arguments = Arguments;
    const NAME: &'static str = "load_skill";
    const DESCRIPTION: &'static str = "Gives the text of one of the skills named in your instructions.";

    async fn run(&self, Arguments { name }: Arguments) -> Result<ToolOutput, ToolError> {
        match self.skills.iter().find(|skill| skill.name == name.trim()) {
            Some(skill) => Ok(ToolOutput { content: skill.body.clone(), details: json!({ "skill": skill.name }) }),
            None => Err(ToolError::Failed(self.unknown(&name))),
        }
    }
}

impl LoadSkill {
    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.skills.iter().map(|skill| skill.name.as_str()).collect();
        let known =
            if names.is_empty() { "there are none".to_owned() } else { format!("there is {}", names.join(", ")) };
        format!("There is no skill “{}”; {known}.", shorten(name, ECHOED))
    }
}
