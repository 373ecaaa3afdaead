//! Skills: what a model may read up on when it needs it.

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::front_matter::Document;
use super::{ResourceError, Warning, defaults};

/// Characters of a name, as the skill format has it.
const MAX_NAME: usize = 64;
/// Characters of a description, as the skill format has it: every prompt carries it.
const MAX_DESCRIPTION: usize = 1024;

/// One skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// What it is loaded by.
    pub name: String,
    /// What it is for and when to load it; the model sees this all the time.
    pub description: String,
    /// What the model reads when it loads it.
    pub body: String,
    /// Not shown to the model (`disable-model-invocation`): for people to call by name.
    pub hidden: bool,
}

/// The embedded skills, replaced directory by directory, and the project's own.
pub(super) fn load(files: &mut Files, warnings: &mut Vec<Warning>) -> Result<Vec<Skill>, ResourceError> {
    let mut texts: Vec<(String, String)> =
        defaults::SKILLS.iter().map(|&(directory, text)| (directory.to_owned(), text.to_owned())).collect();
    for directory in files.names("skills")? {
        if !files.path("skills").join(&directory).is_dir() {
            continue;
        }
        if let Some(text) = files.read(&format!("skills/{directory}/SKILL.md"))? {
            texts.retain(|(known, _)| *known != directory);
            texts.push((directory, text));
        }
    }
    texts.sort();
    let mut skills: Vec<Skill> = Vec::new();
    for (directory, text) in texts {
        let file = format!("skills/{directory}/SKILL.md");
        match parse(&directory, &text, &mut |message| warnings.push(Warning::new(&file, message))) {
            Some(skill) if skills.iter().any(|known| known.name == skill.name) => {
                let message = format!("another skill is named {} already: this one is left out", skill.name);
                warnings.push(Warning::new(&file, message));
            }
            skill => skills.extend(skill),
        }
    }
    Ok(skills)
}

fn parse(directory: &str, text: &str, warn: &mut dyn FnMut(String)) -> Option<Skill> {
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            warn(format!("{error}; the skill is left out"));
            return None;
        }
    };
    let description = document.get("description").unwrap_or_default().trim();
    if description.is_empty() {
        warn("it has no description, so nobody could know when to load it; the skill is left out".into());
        return None;
    }
    if description.chars().count() > MAX_DESCRIPTION {
        warn(format!("the description is longer than {MAX_DESCRIPTION} characters, and every prompt carries it"));
    }
    let name = document.get("name").map(str::trim).filter(|name| !name.is_empty()).unwrap_or(directory);
    if name != directory {
        warn(format!("the name {name} differs from its directory {directory}"));
    }
    if !is_plain(name) {
        warn(format!("the name {name} should be at most {MAX_NAME} of a-z, 0-9 and single hyphens between them"));
    }
    let hidden = match document.get("disable-model-invocation") {
        None | Some("false" | "") => false,
        Some("true") => true,
        Some(other) => {
            warn(format!("disable-model-invocation is true or false, not {other}; taken as true"));
            true
        }
    };
    Some(Skill { name: name.into(), description: description.into(), body: document.body.trim().into(), hidden })
}

fn is_plain(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name
            .split('-')
            .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Skill>, Vec<String>) {
        let mut warnings = Vec::new();
        let skill = parse("my-skill", text, &mut |message| warnings.push(message));
        (skill, warnings)
    }

    #[test]
    fn a_sound_skill_has_no_warnings() {
        let (skill, warnings) = read("---\nname: my-skill\ndescription: d\nlicense: MIT\n---\n\n# Body\n");
        let expected = Skill { name: "my-skill".into(), description: "d".into(), body: "# Body".into(), hidden: false };
        assert_eq!((skill, warnings), (Some(expected), vec![]));
    }

    #[test]
    fn a_skill_that_breaks_a_rule_is_loaded_with_a_warning() {
        for (text, warning) in [
            ("---\nname: Other\ndescription: d\n---\n", "differs from its directory"),
            ("---\nname: my--skill\ndescription: d\n---\n", "single hyphens"),
            ("---\ndescription: d\ndisable-model-invocation: yes\n---\n", "taken as true"),
            (&format!("---\ndescription: {}\n---\n", "d".repeat(1025)), "longer than 1024"),
        ] {
            let (skill, warnings) = read(text);
            assert!(skill.is_some() && warnings.iter().any(|found| found.contains(warning)), "{warnings:?}");
        }
    }

    #[test]
    fn a_skill_nobody_could_choose_is_left_out() {
        for text in ["", "# Only a body", "---\nname: my-skill\n---\n", "---\ndescription: ''\n---\n", "---\nbroken"] {
            let (skill, warnings) = read(text);
            assert_eq!((skill, warnings.len()), (None, 1), "{text:?}");
        }
    }
}
