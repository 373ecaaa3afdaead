//! The files of `.pi/`, as they were when the program was built.

/// `SYSTEM.md`.
pub(super) const SYSTEM: &str = include_str!("../../.pi/SYSTEM.md");

/// `settings.json`: every key there is, with its default.
pub(super) const SETTINGS: &str = include_str!("../../.pi/settings.json");

/// `skills/*/SKILL.md`, each with the name of its directory.
pub(super) const SKILLS: [(&str, &str); 1] =
    [("analytics-playbook", include_str!("../../.pi/skills/analytics-playbook/SKILL.md"))];

/// `prompts/*.md`, each with its name.
pub(super) const TEMPLATES: [(&str, &str); 1] = [("ask", include_str!("../../.pi/prompts/ask.md"))];
