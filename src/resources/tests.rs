use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde::Deserialize;
use tempfile::TempDir;

use super::*;

struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join(".pi")).unwrap();
        Self(directory)
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.0.path().join(relative)
    }

    fn with(self, relative: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn load(&self) -> Result<Resources, ResourceError> {
        Resources::load(Some(&self.path(".pi")))
    }

    fn fault(&self) -> String {
        self.load().unwrap_err().to_string()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sql {
    samples: bool,
    max_rows: u64,
    max_bytes: u64,
    deadline_ms: u64,
    grace_ms: u64,
    hide: Vec<String>,
}

#[test]
fn the_defaults_are_sound() {
    let resources = Resources::load(None).unwrap();
    assert_eq!(resources.warnings, []);
    assert_eq!(resources.settings.model, None);
    let sql: Sql = resources.settings.section("sql").unwrap();
    assert!(sql.samples && sql.max_rows < sql.max_bytes && sql.grace_ms < sql.deadline_ms && sql.hide.is_empty());
    let playbook = resources.skill("analytics-playbook").unwrap();
    assert!(playbook.description.contains("list_tables → describe_table → run_query → check → answer"));
    assert!(["(1)", "(2)", "(3)"].iter().all(|trigger| playbook.description.contains(trigger)));
    assert!(playbook.body.starts_with("# "));
    let ask = resources.template("ask").unwrap();
    assert_eq!(ask.argument_hint.as_deref(), Some("<question>"));
    assert!(ask.expand("how many?").ends_with("\n\nQuestion: how many?"));
}

#[test]
fn an_empty_project_changes_nothing() {
    assert_eq!(Project::new().load().unwrap(), Resources::load(None).unwrap());
}

#[test]
fn a_project_replaces_file_by_file() {
    let project = Project::new()
        .with(".pi/SYSTEM.md", "\u{feff}mine\r\nnow\r\n")
        .with(".pi/APPEND_SYSTEM.md", "more")
        .with("AGENTS.md", "outer")
        .with(".pi/AGENTS.md", "inner")
        .with(".pi/skills/analytics-playbook/SKILL.md", "---\ndescription: mine\n---\nbody")
        .with(".pi/skills/billing/SKILL.md", "---\ndescription: cents\n---\nbody")
        .with(".pi/skills/README.md", "no skill")
        .with(".pi/skills/.hidden/SKILL.md", "no skill")
        .with(".pi/prompts/churn.md", "Churn in $1?")
        .with(".pi/settings.json", "{\"sql\": {\"max_rows\": 50}, \"budget\": {\"turns\": 3}}");
    let (resources, defaults) = (project.load().unwrap(), Resources::load(None).unwrap());
    assert_eq!((resources.system.as_str(), resources.append.as_str()), ("mine\nnow\n", "more"));
    let context: Vec<(&str, &str)> = resources.context.iter().map(|c| (c.name.as_str(), c.text.as_str())).collect();
    assert_eq!(context, [("AGENTS.md", "outer"), (".pi/AGENTS.md", "inner")]);
    let skills: Vec<(&str, &str)> =
        resources.skills.iter().map(|skill| (skill.name.as_str(), skill.description.as_str())).collect();
    assert_eq!(skills, [("analytics-playbook", "mine"), ("billing", "cents")]);
    let templates: Vec<&str> = resources.templates.iter().map(|template| template.name.as_str()).collect();
    assert_eq!(templates, ["ask", "churn"]);
    assert_eq!(resources.settings.section::<Sql>("sql").unwrap().max_rows, 50);
    assert_eq!(resources.settings.budget, Budget { turns: 3, ..defaults.settings.budget });
    assert_eq!(resources.warnings, []);
}

#[test]
fn an_empty_file_takes_the_default_away_and_says_so() {
    let project = Project::new()
        .with(".pi/SYSTEM.md", "")
        .with(".pi/skills/analytics-playbook/SKILL.md", "")
        .with(".pi/prompts/ask.md", "");
    let resources = project.load().unwrap();
    assert_eq!((resources.system.as_str(), resources.skills.len(), resources.templates.len()), ("", 0, 0));
    let files: Vec<&str> = resources.warnings.iter().map(|warning| warning.file.as_str()).collect();
    assert_eq!(files, ["skills/analytics-playbook/SKILL.md", "prompts/ask.md"]);
}

#[test]
fn of_two_skills_with_one_name_the_first_wins() {
    let project = Project::new()
        .with(".pi/skills/a/SKILL.md", "---\nname: a\ndescription: first\n---\n")
        .with(".pi/skills/b/SKILL.md", "---\nname: a\ndescription: second\n---\n");
    let resources = project.load().unwrap();
    assert_eq!(resources.skill("a").unwrap().description, "first");
    assert!(resources.warnings.iter().any(|warning| warning.to_string().contains("skills/b/SKILL.md: another skill")));
}

#[test]
fn a_bad_file_is_named_with_what_to_do() {
    let cases: [(&str, Vec<u8>, &str); 5] = [
        (".pi/SYSTEM.md", vec![b'x'; 128 * 1024 + 1], ".pi/SYSTEM.md is larger than 131072 bytes"),
        (".pi/SYSTEM.md", b"ab\xff".to_vec(), ".pi/SYSTEM.md is not UTF-8 text (byte 2)"),
        (".pi/skills", b"a file".to_vec(), ".pi/skills can't be read"),
        (".pi/settings.json/x", b"".to_vec(), ".pi/settings.json is not a file"),
        (
            ".pi/settings.json",
            b"{\n  \"sql\": {\n    \"max_row\": 5\n  }\n}".to_vec(),
            ".pi/settings.json, line 3, key sql.max_row: there is no such setting; there are samples, max_rows",
        ),
    ];
    for (file, content, reason) in cases {
        let fault = Project::new().with(file, content).fault();
        assert!(fault.contains(reason), "{fault}");
    }
}

#[test]
fn links_are_followed_and_dead_ones_are_faults() {
    let project = Project::new().with("elsewhere.md", "linked");
    symlink(project.path("elsewhere.md"), project.path(".pi/SYSTEM.md")).unwrap();
    assert_eq!(project.load().unwrap().system, "linked");
    symlink(project.path("nowhere"), project.path(".pi/APPEND_SYSTEM.md")).unwrap();
    assert!(project.fault().contains(".pi/APPEND_SYSTEM.md can't be read"));
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let project = Project::new();
    nix::unistd::mkfifo(&project.path(".pi/SYSTEM.md"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(project.fault().contains(".pi/SYSTEM.md is not a file"));
}

#[test]
fn all_files_together_have_a_limit() {
    let project =
        (0..9).fold(Project::new(), |project, n| project.with(&format!(".pi/prompts/p{n}.md"), vec![b'x'; 128 * 1024]));
    assert!(project.fault().contains("p8.md is one too many"));
    let project = (0..257).fold(Project::new(), |project, n| project.with(&format!(".pi/prompts/p{n}.md"), "x"));
    assert!(project.fault().contains(".pi/prompts holds more than 256 entries"));
}

#[test]
fn a_directory_that_is_none_is_a_fault() {
    assert!(Resources::load(Some(Path::new("/nowhere/.pi"))).unwrap_err().to_string().contains("not a directory"));
}

#[test]
fn resources_travel_as_json() {
    let resources = Resources::load(None).unwrap();
    let json = serde_json::to_string(&resources).unwrap();
    assert_eq!(serde_json::from_str::<Resources>(&json).unwrap(), resources);
}
