//! What an operator may turn: the section `sql` of the settings.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::sql::connection::Hide;
use crate::sql::query::Caps;
use crate::sql::schema::DescribeOptions;

/// The section `sql`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SqlSettings {
    /// Whether a description may show values from the rows.
    pub samples: bool,
    /// Rows of a result.
    pub max_rows: usize,
    /// Bytes of a result.
    pub max_bytes: usize,
    /// Milliseconds that one query may take.
    pub deadline_ms: u64,
    /// Milliseconds after the deadline until the reader is killed.
    pub grace_ms: u64,
    /// Tables and columns that nobody who asks may see. The reader is told once, before it opens the database; what is
    /// sent with each errand leaves it out.
    #[serde(skip_serializing)]
    pub hide: Hide,
}

impl Default for SqlSettings {
    fn default() -> Self {
        let caps = Caps::default();
        Self {
            samples: true,
            max_rows: caps.rows,
            max_bytes: caps.bytes,
            deadline_ms: 10_000,
            grace_ms: 2_000,
            hide: Hide::default(),
        }
    }
}

impl SqlSettings {
    /// What cuts a result.
    pub fn caps(&self) -> Caps {
        Caps { rows: self.max_rows, bytes: self.max_bytes, ..Caps::default() }
    }

    /// How long one query may take.
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }

    /// How long after the deadline the reader is killed.
    pub fn grace(&self) -> Duration {
        Duration::from_millis(self.grace_ms)
    }

    pub(crate) fn describe_options(&self) -> DescribeOptions {
        DescribeOptions { samples: self.samples }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_settings_are_the_defaults() {
        let settings = crate::resources::Resources::load(None).unwrap().settings;
        assert_eq!(settings.section::<SqlSettings>("sql").unwrap(), SqlSettings::default());
    }
}
