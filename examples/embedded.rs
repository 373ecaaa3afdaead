//! The same harness inside a program of one's own: nothing is spawned, the belts of the process are the host's affair,
//! the guard, the connection and the audit are the same.
//!
//! `cargo run --example embedded -- DATABASE "QUESTION"`

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use pi_sql::agent::{Abort, Agent, Budget, Event};
use pi_sql::audit::{Log, Options};
use pi_sql::extension::Registry;
use pi_sql::provider;
use pi_sql::resources::Resources;
use pi_sql::resources::prompt::{Facts, assemble};
use pi_sql::session::Message;
use pi_sql::sql::connection::{Database, Limits};
use pi_sql::sql::extension::SqlExtension;
use pi_sql::sql::local::LocalGate;
use pi_sql::sql::settings::SqlSettings;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(database), Some(question)) = (arguments.next(), arguments.next()) else {
        return Err("usage: embedded DATABASE QUESTION".into());
    };
    let resources = Resources::load(None)?;
    let settings: SqlSettings = resources.settings.section("sql")?;
    let database = Database::open(Path::new(&database), &Limits::default())?;
    let log = Log::open(Path::new("sql-output"), Options::for_run("embedded"))?;
    let gate = Arc::new(LocalGate::new(database, log, settings)?);
    let sql = SqlExtension::new(gate, resources.skills.clone(), resources.template("ask").cloned());
    let registry = Registry::of(vec![Box::new(sql)])?;

    let today = jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now()).date();
    let facts = Facts { today, named: &[("sqlite_version", rusqlite::version())] };
    let system = assemble(&resources, &registry.tool_specs(), &facts);
    let mut agent = Agent::new(provider::select(provider::DEFAULT)?, registry, system, Budget::default());

    let mut answer = String::new();
    let mut listen = |event: Event| {
        if let Event::MessageEnd { message: Message::Assistant(reply) } = event {
            answer = reply.text();
        }
    };
    agent.prompt(&question, &Abort::new(), &mut listen).await;
    #[expect(clippy::print_stdout, reason = "this is the program's one line of output")]
    {
        println!("{answer}");
    }
    Ok(())
}
