//! `pi-sql prompt`: exactly what the model is told, before the question.

use std::io::{self, Write};

use serde_json::json;

use crate::cli::Failure;
use crate::cli::appliance::Appliance;
use crate::cli::options::Options;
use crate::cli::output::unwritable;
use crate::ui::text::harmless;

/// `pi-sql prompt`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The system prompt and each tool, for reading; or one JSON object with both, byte for byte.
    #[arg(long, value_enum, default_value_t)]
    format: PromptFormat,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum PromptFormat {
    #[default]
    Text,
    Json,
}

/// Prints it.
pub(crate) fn run(options: &Options, args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let appliance = Appliance::load(options)?;
    let system = appliance.system_prompt(options)?;
    let tools = appliance.tools()?;
    let print = |out: &mut dyn Write| -> io::Result<()> {
        match args.format {
            PromptFormat::Json => {
                serde_json::to_writer(&mut *out, &json!({ "system": system, "tools": tools }))?;
                writeln!(out)?;
            }
            PromptFormat::Text => {
                writeln!(out, "{system}")?;
                for tool in &tools {
                    writeln!(out, "\n{}: {}", tool.name, tool.description)?;
                    writeln!(out, "{}", tool.parameters)?;
                }
            }
        }
        out.flush()
    };
    print(out).map_err(|error| unwritable("the prompt", error))?;
    for warning in &appliance.resources.warnings {
        let _ = writeln!(io::stderr(), "note: {}", harmless(&warning.to_string()));
    }
    Ok(())
}
