//! From options, resources and settings to a running supervisor.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use uuid::Uuid;

use crate::agent::Budget;
use crate::audit;
use crate::cli::options::Options;
use crate::cli::{ExitKind, Failure};
use crate::extension::Registry;
use crate::process::{AgentSetup, Setup, Supervisor, SupervisorError};
use crate::provider::{self, ToolSpec};
use crate::resources::prompt::{Facts, assemble};
use crate::resources::{Resources, Template};
use crate::sql::extension::SqlExtension;
use crate::sql::gate::{Gate, Refusal, RefusalKind, Reply, Request};
use crate::sql::settings::SqlSettings;

/// The directory with a project's own resources, where no other is named.
const PROJECT: &str = ".pi";

/// What a command needs to start.
pub(crate) struct Appliance {
    pub(crate) resources: Resources,
    pub(crate) sql: SqlSettings,
    /// The model that answers, `provider/id`.
    pub(crate) model: String,
}

impl Appliance {
    /// Loads resources and settings, and picks the model.
    pub(crate) fn load(options: &Options) -> Result<Self, Failure> {
        let project = match &options.pi {
            Some(directory) => Some(directory.as_path()),
            None => Some(Path::new(PROJECT)).filter(|directory| directory.is_dir()),
        };
        let resources = Resources::load(project).map_err(unusable)?;
        let sql = resources.settings.section::<SqlSettings>("sql").map_err(unusable)?;
        let model = options.model.clone().or_else(|| resources.settings.model.clone());
        let model = model.unwrap_or_else(|| provider::DEFAULT.into());
        provider::select(&model).map_err(unusable)?;
        Ok(Self { resources, sql, model })
    }

    /// The system prompt, word for word.
    pub(crate) fn system_prompt(&self, options: &Options) -> Result<String, Failure> {
        let named = [("sqlite_version", rusqlite::version())];
        Ok(assemble(&self.resources, &self.tools()?, &Facts { today: options.today(), named: &named }))
    }

    /// What the model is told about its tools.
    pub(crate) fn tools(&self) -> Result<Vec<ToolSpec>, Failure> {
        let extension = SqlExtension::new(Arc::new(ClosedGate), self.resources.skills.clone(), self.ask_template());
        Ok(Registry::of(vec![Box::new(extension)]).map_err(unusable)?.tool_specs())
    }

    /// Starts the roles. With `with_agent` questions can be asked; without, only a person's own requests.
    pub(crate) fn start(&self, options: &Options, with_agent: bool) -> Result<Supervisor, Failure> {
        let settings = &self.resources.settings;
        let mut audit = audit::Options::for_run(Uuid::now_v7().to_string());
        audit.rotate_at = settings.audit.rotate_bytes;
        let agent = if with_agent {
            Some(AgentSetup {
                model: self.model.clone(),
                system: self.system_prompt(options)?,
                skills: self.resources.skills.clone(),
                ask: self.ask_template(),
                budget: self.budget(),
            })
        } else {
            None
        };
        let setup = Setup {
            database: options.db.clone(),
            output: options.out.clone(),
            strictness: options.sandbox,
            audit,
            sql: self.sql.clone(),
            agent,
        };
        Ok(Supervisor::start(setup)?)
    }

    fn budget(&self) -> Budget {
        let budget = &self.resources.settings.budget;
        Budget {
            turns: u32::try_from(budget.turns).unwrap_or(u32::MAX),
            calls: u32::try_from(budget.calls).unwrap_or(u32::MAX),
            tokens: budget.tokens,
            time: Duration::from_secs(budget.seconds),
            // The last sentence may not take longer than the whole question.
            grace: Budget::default().grace.min(Duration::from_secs(budget.seconds)),
            // The harness's own last sentence must read as the no it is.
            closing: "CANNOT: I stopped without an answer, because {reason}.".into(),
            ..Budget::default()
        }
    }

    fn ask_template(&self) -> Option<Template> {
        self.resources.template("ask").cloned()
    }
}

/// A setting, a resource or the model's name is not usable; the error's own sentence says why.
fn unusable(error: impl Error) -> Failure {
    Failure::new(ExitKind::Usage, error.to_string())
}

/// A gate for commands that only show what a model is told.
struct ClosedGate;

#[async_trait]
impl Gate for ClosedGate {
    async fn call(&self, _: Request) -> Result<Reply, Refusal> {
        Err(Refusal { kind: RefusalKind::Request, message: "there is no database here".into() })
    }
}

impl From<SupervisorError> for Failure {
    fn from(error: SupervisorError) -> Self {
        let kind = match &error {
            SupervisorError::Sandbox(_)
            | SupervisorError::RoleRefused(_)
            | SupervisorError::Role { .. }
            | SupervisorError::Io(_) => ExitKind::Sandbox,
            SupervisorError::Database(_) => ExitKind::Database,
            SupervisorError::Setting(_) => ExitKind::Usage,
            SupervisorError::Audit(_) | SupervisorError::Output(_) => ExitKind::Output,
            SupervisorError::Stopped(signal) => ExitKind::of_signal(*signal),
        };
        Self::new(kind, error.to_string())
    }
}
