//! The one place where the SQL tools and `/ask` join the harness, through the API that anybody has.

use std::sync::Arc;

use crate::extension::{Command, Extension, Registry, RegistryError};
use crate::resources::{Skill, Template};
use crate::sql::gate::Gate;
use crate::sql::tools::{DescribeTable, ListTables, LoadSkill, RunQuery, SaveFinding};

/// Questions over one SQLite database.
pub struct SqlExtension {
    gate: Arc<dyn Gate>,
    skills: Vec<Skill>,
    ask: Option<Template>,
}

impl SqlExtension {
    /// The extension on this gate, with the skills a model may load and the template behind `/ask`.
    pub fn new(gate: Arc<dyn Gate>, skills: Vec<Skill>, ask: Option<Template>) -> Self {
        Self { gate, skills, ask }
    }
}

impl Extension for SqlExtension {
    fn register(self: Box<Self>, registry: &mut Registry) -> Result<(), RegistryError> {
        let Self { gate, skills, ask } = *self;
        registry.tool(ListTables::new(gate.clone()))?;
        registry.tool(DescribeTable::new(gate.clone()))?;
        registry.tool(RunQuery::new(gate.clone()))?;
        registry.tool(SaveFinding::new(gate))?;
        registry.tool(LoadSkill::new(skills))?;
        let Some(ask) = ask else { return Ok(()) };
        registry.command(Command {
            name: "ask".into(),
            description: ask.description.clone(),
            expand: Box::new(move |question| ask.expand(question)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::gate::{Refusal, RefusalKind, Reply, Request};

    struct Closed;

    #[async_trait::async_trait]
    impl Gate for Closed {
        async fn call(&self, _: Request) -> Result<Reply, Refusal> {
            Err(Refusal { kind: RefusalKind::Audit, message: "the disk is full".into() })
        }
    }

    fn registry() -> Registry {
        let resources = crate::resources::Resources::load(None).unwrap();
        let ask = resources.template("ask").unwrap().clone();
        Registry::of(vec![Box::new(SqlExtension::new(Arc::new(Closed), resources.skills, Some(ask)))]).unwrap()
    }

    #[test]
    fn there_are_five_verbs_and_one_command() {
        let registry = registry();
        let names: Vec<String> = registry.tool_specs().into_iter().map(|spec| spec.name).collect();
        assert_eq!(names, ["list_tables", "describe_table", "run_query", "save_finding", "load_skill"]);
        assert!(registry.expand("/ask how many?").contains("Question: how many?"));
    }

    #[test]
    fn what_a_model_is_told_about_the_tools_stays_small() {
        let specs = serde_json::to_string(&registry().tool_specs()).unwrap();
        println!("{specs}");
        assert!(specs.chars().count() < 2_400, "{}", specs.chars().count());
    }

    #[test]
    fn labels_are_one_short_line() {
        let registry = registry();
        let label = |tool: &str, arguments: serde_json::Value| {
            registry.find_tool(tool).unwrap().label(arguments.as_object().unwrap())
        };
        assert_eq!(label("list_tables", serde_json::json!({})), "list_tables()");
        assert_eq!(label("describe_table", serde_json::json!({"table": "events"})), "describe_table(events)");
        assert_eq!(label("run_query", serde_json::json!({"sql": "SELECT 1,\n\t 2 "})), "run_query(SELECT 1, 2)");
        let long = label("run_query", serde_json::json!({"sql": "é".repeat(500)}));
        assert_eq!(long, format!("run_query({}…)", "é".repeat(200)));
    }
}
