//! A result as a table, CSV, JSON, JSON lines or Markdown.

use std::io::{self, Write};

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Map, Value};

use crate::sql::gate::QueryResult;
use crate::ui::text::harmless;

/// How rows are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum RowFormat {
    /// Aligned columns, for a terminal.
    #[default]
    Table,
    /// RFC 4180, with a header line; NULL is an empty field.
    Csv,
    /// One object: columns, rows, and whether more exist.
    Json,
    /// One object a row, keys are column names.
    Jsonl,
    /// A table for a page or a ticket.
    Markdown,
}

/// Writes a result.
pub fn write_rows(out: &mut dyn Write, result: &QueryResult, format: RowFormat) -> io::Result<()> {
    match format {
        RowFormat::Table => writeln!(out, "{}", table(result, false)),
        RowFormat::Markdown => writeln!(out, "{}", table(result, true)),
        RowFormat::Json => {
            serde_json::to_writer(&mut *out, result)?;
            writeln!(out)
        }
        RowFormat::Jsonl => json_lines(out, result),
        RowFormat::Csv => csv(out, result),
    }
}

fn table(result: &QueryResult, markdown: bool) -> Table {
    let style = if markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING };
    let mut table = Table::new();
    table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
    let show = |text: &str| {
        let shown = harmless(text);
        // A bar would end the cell.
        if markdown { shown.replace('|', "\\|") } else { shown.into_owned() }
    };
    table.set_header(result.columns.iter().map(|column| show(column)));
    for row in &result.rows {
        table.add_row(row.iter().map(|cell| show(&display(cell, "NULL"))));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if result.rows.iter().all(|row| row.get(index).is_some_and(|cell| cell.is_number() || cell.is_null())) {
            column.set_cell_alignment(comfy_table::CellAlignment::Right);
        }
    }
    table
}

/// Keys are the column names; a name that comes twice gets a number, so that no value is lost.
fn json_lines(out: &mut dyn Write, result: &QueryResult) -> io::Result<()> {
    for row in &result.rows {
        let mut object = Map::new();
        for (column, cell) in result.columns.iter().zip(row) {
            let mut key = column.clone();
            let mut count = 1;
            while object.contains_key(&key) {
                count += 1;
                key = format!("{column}:{count}");
            }
            object.insert(key, cell.clone());
        }
        serde_json::to_writer(&mut *out, &object)?;
        writeln!(out)?;
    }
    Ok(())
}

fn csv(out: &mut dyn Write, result: &QueryResult) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(&result.columns).map_err(unwrapped)?;
    for row in &result.rows {
        writer.write_record(row.iter().map(|cell| display(cell, ""))).map_err(unwrapped)?;
    }
    writer.flush()
}

/// The writer's own error, so that the caller knows it again.
fn unwrapped(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

fn display(cell: &Value, null: &str) -> String {
    match cell {
        Value::Null => null.to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(format: RowFormat) -> String {
        let result = QueryResult {
            truncated: None,
            columns: vec!["name".into(), "n".into(), "n".into()],
            rows: vec![
                vec![json!("a|b\n\u{1b}[31m"), json!(1), json!(null)],
                vec![json!("c,\"d\""), json!(20), json!(2.5)],
            ],
            row_count: 2,
            notes: Vec::new(),
            ms: 0.0,
            audit_seq: 1,
        };
        let mut out = Vec::new();
        write_rows(&mut out, &result, format).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_never_passes_a_terminal_escape_on() {
        assert!(!written(RowFormat::Table).contains('\u{1b}'));
        assert!(!written(RowFormat::Markdown).contains('\u{1b}'));
    }

    #[test]
    fn a_bar_does_not_end_a_markdown_cell() {
        assert!(written(RowFormat::Markdown).contains("a\\|b"));
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        assert!(written(RowFormat::Csv).contains("\"c,\"\"d\"\"\",20,2.5"));
    }

    #[test]
    fn a_column_name_that_comes_twice_loses_no_value() {
        let lines = written(RowFormat::Jsonl);
        assert!(lines.ends_with("{\"name\":\"c,\\\"d\\\"\",\"n\":20,\"n:2\":2.5}\n"), "{lines}");
    }
}
