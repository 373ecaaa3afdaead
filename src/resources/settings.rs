//! Settings: what an operator may turn.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::files::Files;
use super::overlay::overlay;
use super::{ResourceError, defaults};

const FILE: &str = "settings.json";

/// All settings; those of an extension are its own business.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// `provider/id` of the model to use; none leaves the choice to the command line and the environment.
    pub model: Option<String>,
    /// What one question may cost.
    pub budget: Budget,
    /// The audit log.
    pub audit: Audit,
    #[serde(flatten)]
    sections: Map<String, Value>,
}

/// What one question may cost at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Replies of the model.
    pub turns: u64,
    /// Tool calls.
    pub calls: u64,
    /// Tokens, sent and received.
    pub tokens: u64,
    /// Seconds of wall time.
    pub seconds: u64,
}

/// How the audit log is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// From how many bytes on the log starts a new file.
    pub rotate_bytes: u64,
}

/// An extension can't use its section of the settings.
#[derive(Debug, thiserror::Error)]
#[error("the settings' section {name} can't be used: {source}")]
pub struct SectionError {
    name: String,
    source: serde_json::Error,
}

impl Settings {
    /// An extension's section, as its own type: `settings.section::<SqlSettings>("sql")`.
    ///
    /// The keys and kinds of values were checked against the defaults already, with file and line; this can only fail
    /// where the extension is stricter than its defaults, or has no section in them.
    pub fn section<T: DeserializeOwned>(&self, name: &str) -> Result<T, SectionError> {
        let fail = |source| SectionError { name: name.to_owned(), source };
        let section = self.sections.get(name).ok_or_else(|| fail(serde_json::Error::custom("it is not there")))?;
        T::deserialize(section).map_err(fail)
    }
}

/// The defaults with the project's file laid over them.
pub(super) fn load(files: &mut Files) -> Result<Settings, ResourceError> {
    let text = files.read(FILE)?;
    let path = files.path(FILE);
    let wrong = |line: usize, key: String, message: String| ResourceError::Settings {
        path: path.clone(),
        line: line.max(1),
        key,
        message,
    };
    let embedded = |error: serde_json::Error| wrong(error.line(), String::new(), error.to_string());
    let defaults: Value = serde_json::from_str(defaults::SETTINGS).map_err(embedded)?;
    let merged = match text {
        Some(text) => overlay(&defaults, &text).map_err(|error| wrong(error.line, error.key, error.message))?,
        None => defaults,
    };
    serde_json::from_value(merged).map_err(embedded)
}
