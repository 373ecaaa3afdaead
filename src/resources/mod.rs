//! What the model is told, as reviewable files.
//!
//! The files of `.pi/` are embedded as defaults; a project's own `.pi` directory replaces them file by file, and settings
//! key by key. An empty file is a file: an empty `SKILL.md` takes the embedded skill of that directory away.
#![forbid(unsafe_code)]

mod defaults;
mod error;
mod files;
mod front_matter;
mod overlay;
pub mod prompt;
mod settings;
mod skill;
mod template;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use error::{ResourceError, Warning};
pub use settings::{Audit, Budget, SectionError, Settings};
pub use skill::Skill;
pub use template::Template;

use files::Files;

/// Everything a model can be told, and the settings, loaded and checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// `SYSTEM.md`.
    pub system: String,
    /// `APPEND_SYSTEM.md`: added to whichever `SYSTEM.md` is in use; empty when there is none.
    pub append: String,
    /// `AGENTS.md` beside the directory, then the one in it.
    pub context: Vec<ContextFile>,
    /// Skills, by name.
    pub skills: Vec<Skill>,
    /// Prompt templates, by name.
    pub templates: Vec<Template>,
    /// Settings, the project's over the defaults.
    pub settings: Settings,
    /// What is odd in the files, but not in the way.
    pub warnings: Vec<Warning>,
}

/// A file about the project that the model is told as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextFile {
    /// What the model sees as its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Resources {
    /// The embedded defaults, and over them the files of the project's `.pi` directory, if there is one.
    pub fn load(project: Option<&Path>) -> Result<Self, ResourceError> {
        let mut files = Files::of(project)?;
        let mut warnings = Vec::new();
        Ok(Self {
            system: files.read("SYSTEM.md")?.unwrap_or_else(|| defaults::SYSTEM.to_owned()),
            append: files.read("APPEND_SYSTEM.md")?.unwrap_or_default(),
            context: context(&mut files)?,
            skills: skill::load(&mut files, &mut warnings)?,
            templates: template::load(&mut files, &mut warnings)?,
            settings: settings::load(&mut files)?,
            warnings,
        })
    }

    /// The skill of that name.
    pub fn skill(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// The template of that name.
    pub fn template(&self, name: &str) -> Option<&Template> {
        self.templates.iter().find(|template| template.name == name)
    }
}

fn context(files: &mut Files) -> Result<Vec<ContextFile>, ResourceError> {
    let beside = files.read_beside("AGENTS.md")?.map(|text| ContextFile { name: "AGENTS.md".into(), text });
    let inside = files.read("AGENTS.md")?.map(|text| ContextFile { name: ".pi/AGENTS.md".into(), text });
    Ok(beside.into_iter().chain(inside).collect())
}

#[cfg(test)]
mod tests;
