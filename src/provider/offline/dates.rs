//! Which columns hold dates, and how a range of days is written for each.

use jiff::civil::{Date, date};
use serde_json::Value;

use super::schema::{Col, Column, Schema, TableId};
use super::span::Unit;
use super::sql::text_literal;
use super::stem::root;

/// How a column writes its dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// `2026-06-01`, with or without a time: text that sorts like time.
    Text,
    /// Unix seconds.
    Seconds,
    /// Unix milliseconds.
    Milliseconds,
    /// A year, as a number or as text.
    Year,
}

/// Unix seconds of 1990 and 2100: what a plausible timestamp lies between.
const SECONDS: std::ops::Range<f64> = 631_152_000.0..4_102_444_800.0;

/// How this column writes dates, if it does.
pub(super) fn format(column: &Column) -> Option<Format> {
    let words: Vec<&str> = column.words.iter().map(String::as_str).collect();
    let named_year = words.contains(&"year");
    let named_date = words.iter().any(|word| {
        ["date", "time", "day", "at", "on", "timestamp", "datetime", "created", "updated", "when", "ts"].contains(word)
    });
    let values: Vec<&Value> = column.about.samples.iter().filter(|value| !value.is_null()).collect();
    let all = |test: &dyn Fn(&Value) -> bool| !values.is_empty() && values.iter().all(|value| test(value));
    if all(&|value| value.as_str().is_some_and(looks_like_date)) {
        return Some(Format::Text);
    }
    if named_date && !named_year {
        if all(&|value| value.as_f64().is_some_and(|n| SECONDS.contains(&n))) {
            return Some(Format::Seconds);
        }
        if all(&|value| value.as_f64().is_some_and(|n| SECONDS.contains(&(n / 1_000.0)))) {
            return Some(Format::Milliseconds);
        }
    }
    if named_year {
        return Some(Format::Year);
    }
    (values.is_empty() && named_date && (column.is_text() || column.about.declared.to_uppercase().contains("DATE")))
        .then_some(Format::Text)
}

fn looks_like_date(text: &str) -> bool {
    text.get(..10).is_some_and(|day| day.parse::<Date>().is_ok())
        && text.get(10..11).is_none_or(|next| next == " " || next == "T")
}

/// The date columns of a table.
pub(super) fn columns(schema: &Schema, table: TableId) -> Vec<Col> {
    schema.columns(table).filter(|&col| format(schema.column(col)).is_some()).collect()
}

/// Whether a date column says when its row came about, so that a bare `in June` speaks of it.
pub(super) fn is_natural(schema: &Schema, col: Col) -> bool {
    const PLAIN: [&str; 20] = [
        "date",
        "time",
        "day",
        "at",
        "on",
        "timestamp",
        "datetime",
        "ts",
        "year",
        "created",
        "creation",
        "occurred",
        "happened",
        "recorded",
        "logged",
        "added",
        "inserted",
        "received",
        "event",
        "of",
    ];
    let table = &schema.tables[col.table].words;
    let own = |word: &String| table.iter().any(|name| root(name) == root(word));
    schema.column(col).words.iter().all(|word| PLAIN.contains(&word.as_str()) || own(word))
}

/// Whether a date is of its own kind, so that a bare `in June` never speaks of it.
pub(super) fn is_special(column: &Column) -> bool {
    const SPECIAL: [&str; 22] = [
        "birth",
        "birthday",
        "birthdate",
        "born",
        "dob",
        "death",
        "died",
        "renamed",
        "updated",
        "modified",
        "changed",
        "deleted",
        "ended",
        "end",
        "expire",
        "expired",
        "expiry",
        "due",
        "closed",
        "cancelled",
        "last",
        "next",
    ];
    column.words.iter().any(|word| SPECIAL.contains(&word.as_str()))
}

/// The condition that a column lies in a half-open range; `None` when the range can't be told in the column's format.
pub(super) fn condition(name: &str, format: Format, from: Option<Date>, until: Option<Date>) -> Option<String> {
    if format == Format::Year {
        let aligned = |date: Option<Date>| date.is_none_or(|date| date.month() == 1 && date.day() == 1);
        if !aligned(from) || !aligned(until) {
            return None;
        }
        return Some(match (from.map(Date::year), until.map(Date::year)) {
            (Some(first), Some(end)) if end == first + 1 => format!("{name} = {first}"),
            (Some(first), Some(end)) => format!("{name} >= {first} AND {name} < {end}"),
            (Some(first), None) => format!("{name} >= {first}"),
            (None, Some(end)) => format!("{name} < {end}"),
            (None, None) => return None,
        });
    }
    let bound = |date: Date| match format {
        Format::Seconds => unix(date).to_string(),
        Format::Milliseconds => (unix(date) * 1_000).to_string(),
        _ => text_literal(&date.to_string()),
    };
    let mut parts = Vec::new();
    if let Some(from) = from {
        parts.push(format!("{name} >= {}", bound(from)));
    }
    if let Some(until) = until {
        parts.push(format!("{name} < {}", bound(until)));
    }
    (!parts.is_empty()).then(|| parts.join(" AND "))
}

/// Unix seconds of a day's first moment in UTC.
fn unix(day: Date) -> i64 {
    day.duration_since(date(1970, 1, 1)).as_secs()
}

/// The expression that cuts a column's dates to a unit.
pub(super) fn bucket(name: &str, format: Format, unit: Unit) -> Option<String> {
    let (value, modifier) = match format {
        Format::Text => (name.to_owned(), ""),
        Format::Seconds => (name.to_owned(), ", 'unixepoch'"),
        Format::Milliseconds => (format!("{name} / 1000"), ", 'unixepoch'"),
        Format::Year => return (unit == Unit::Year).then(|| name.to_owned()),
    };
    Some(match unit {
        Unit::Day => format!("strftime('%Y-%m-%d', {value}{modifier})"),
        Unit::Week => format!("strftime('%G-W%V', {value}{modifier})"),
        Unit::Month => format!("strftime('%Y-%m', {value}{modifier})"),
        Unit::Quarter => format!(
            "strftime('%Y', {value}{modifier}) || '-Q' || ((CAST(strftime('%m', {value}{modifier}) AS INTEGER) + 2) / 3)"
        ),
        Unit::Year => format!("strftime('%Y', {value}{modifier})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_is_written_in_the_columns_own_format() {
        let (from, until) = (Some(day("2026-06-01")), Some(day("2026-07-01")));
        for (format, expected) in [
            (Format::Text, "t >= '2026-06-01' AND t < '2026-07-01'"),
            (Format::Seconds, "t >= 1780272000 AND t < 1782864000"),
            (Format::Milliseconds, "t >= 1780272000000 AND t < 1782864000000"),
        ] {
            assert_eq!(condition("t", format, from, until).as_deref(), Some(expected));
        }
        assert_eq!(condition("y", Format::Year, from, until), None);
        assert_eq!(
            condition("y", Format::Year, Some(day("2014-01-01")), Some(day("2015-01-01"))).as_deref(),
            Some("y = 2014")
        );
        assert_eq!(condition("y", Format::Year, Some(day("2014-01-01")), None).as_deref(), Some("y >= 2014"));
        assert_eq!(condition("t", Format::Text, None, None), None);
    }
}
