//! `pi-sql schema [TABLE]`: what the model would see of the data's shape.

use std::io::{self, Write};
use std::process::ExitCode;

use comfy_table::{ContentArrangement, Table, presets};

use crate::cli::Failure;
use crate::cli::appliance::Appliance;
use crate::cli::options::Options;
use crate::cli::output::unwritable;
use crate::cli::query::{finish, request};
use crate::sql::gate::{ForeignKey, ListTables, Reply, Request, TableDescription, TableList};
use crate::sql::schema::LARGEST_PAGE;
use crate::ui::text::harmless;

/// `pi-sql schema`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The table to describe; none lists them all.
    table: Option<String>,
    /// Only tables whose name contains this.
    #[arg(long, value_name = "TEXT", conflicts_with = "table")]
    filter: Option<String>,
    /// Skip so many tables.
    #[arg(long, default_value_t = 0, value_name = "N", allow_negative_numbers = true)]
    offset: usize,
    /// How it is written.
    #[arg(long, value_enum, default_value_t)]
    format: SchemaFormat,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum SchemaFormat {
    #[default]
    Text,
    Json,
}

/// Lists or describes.
pub(crate) fn run(options: &Options, args: &Args, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let asked = match &args.table {
        Some(table) => Request::DescribeTable { table: table.clone() },
        None => {
            Request::ListTables(ListTables { filter: args.filter.clone(), offset: args.offset, limit: LARGEST_PAGE })
        }
    };
    let appliance = Appliance::load(options)?;
    let mut supervisor = appliance.start(options, false)?;
    let outcome = request(&mut supervisor, &asked, &appliance.sql).and_then(|reply| {
        write(out, &reply, args.format).and_then(|()| out.flush()).map_err(|error| unwritable("the schema", error))
    });
    finish(supervisor, outcome)?;
    Ok(ExitCode::SUCCESS)
}

fn write(out: &mut dyn Write, reply: &Reply, format: SchemaFormat) -> io::Result<()> {
    match (format, reply) {
        (SchemaFormat::Json, Reply::ListTables(list)) => json(out, list),
        (SchemaFormat::Json, Reply::DescribeTable(table)) => json(out, table),
        (SchemaFormat::Text, Reply::ListTables(list)) => write_list(out, list),
        (SchemaFormat::Text, Reply::DescribeTable(table)) => write_table(out, table),
        _ => Err(io::Error::other("the reader answered something else")),
    }
}

fn json(out: &mut dyn Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

fn write_list(out: &mut dyn Write, list: &TableList) -> io::Result<()> {
    let mut table = plain_table(&["table", "kind", "rows"]);
    for entry in &list.tables {
        let kind = format!("{:?}", entry.kind).to_lowercase();
        table.add_row([harmless(&entry.name).into_owned(), kind, String::from(entry.rows)]);
    }
    writeln!(out, "{table}")?;
    match list.next_offset {
        Some(next) => writeln!(out, "{} of {} tables; go on with --offset {next}", list.tables.len(), list.total),
        None => Ok(()),
    }
}

fn write_table(out: &mut dyn Write, description: &TableDescription) -> io::Result<()> {
    writeln!(out, "{} ({} rows)", harmless(&description.table), String::from(description.rows))?;
    let mut table = plain_table(&["column", "type", "stored as", "key", "samples"]);
    for column in &description.columns {
        let samples: Vec<String> = column
            .samples
            .iter()
            .map(|sample| sample.as_str().map_or_else(|| sample.to_string(), ToOwned::to_owned))
            .collect();
        let mut key = String::new();
        if column.primary_key > 0 {
            key.push_str("primary");
        }
        if column.generated {
            key.push_str(" generated");
        }
        table.add_row([
            harmless(&column.quoted).into_owned(),
            harmless(&column.declared_type).into_owned(),
            column.storage.join(", "),
            key.trim().to_owned(),
            harmless(&samples.join(", ")).into_owned(),
        ]);
    }
    writeln!(out, "{table}")?;
    for key in &description.foreign_keys {
        writeln!(out, "{}", foreign_key(&description.table, key, true))?;
    }
    for key in &description.referenced_by {
        writeln!(out, "{}", foreign_key(&description.table, key, false))?;
    }
    Ok(())
}

fn foreign_key(table: &str, key: &ForeignKey, outgoing: bool) -> String {
    let (from, to) = if outgoing { (table, key.table.as_str()) } else { (key.table.as_str(), table) };
    let text = format!("{from}({}) → {to}({})", key.columns.join(", "), key.to.join(", "));
    harmless(&text).into_owned()
}

fn plain_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    table
}
