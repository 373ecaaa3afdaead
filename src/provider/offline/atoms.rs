//! A question as atoms: function words, names of the schema, numbers, time phrases, and words not understood.

use jiff::civil::Date;

use super::calendar::{self, Period, TodayUnknown};
use super::lexicon::{self, Role};
use super::link::{self, Link, Target};
use super::lookup::Places;
use super::schema::{Col, Schema, TableId};
use super::words::{Kind, Token};

/// What an atom is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// A function word.
    Role(Role),
    /// Something of the schema, best fit first.
    Name(Vec<Link>),
    /// A number.
    Number(f64),
    /// A text that stands for a value.
    Text(String),
    /// A time phrase.
    Time(Period),
    /// A comma or the like.
    Pause,
    /// The end of a sentence.
    Stop,
    /// `'s`
    Possessive,
    /// Not understood.
    Unknown,
}

/// One atom of a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Atom {
    /// What it is.
    pub what: What,
    /// As written.
    pub raw: String,
    /// Its first token.
    pub first: usize,
    /// The token after its last.
    pub end: usize,
}

impl Atom {
    /// The function word, if it is one.
    pub(super) fn role(&self) -> Option<Role> {
        match self.what {
            What::Role(role) => Some(role),
            _ => None,
        }
    }

    /// What it may name.
    pub(super) fn links(&self) -> &[Link] {
        match &self.what {
            What::Name(links) => links,
            _ => &[],
        }
    }

    /// The table it names best, with the fit.
    pub(super) fn table(&self) -> Option<(TableId, Option<Col>, u8)> {
        self.links().iter().find_map(|link| match link.target {
            Target::Table(table, via) => Some((table, via, link.fit)),
            _ => None,
        })
    }

    /// The columns it may name, with their fits.
    pub(super) fn columns(&self) -> impl Iterator<Item = (Col, u8)> {
        self.links().iter().filter_map(|link| match link.target {
            Target::Column(col) => Some((col, link.fit)),
            _ => None,
        })
    }

    /// How well it names a column of this table.
    pub(super) fn fit_in(&self, table: TableId) -> u8 {
        self.columns().filter(|(col, _)| col.table == table).map(|(_, fit)| fit).max().unwrap_or(0)
    }

    /// How well it names a value.
    pub(super) fn value_fit(&self) -> u8 {
        let fits = self.links().iter().filter(|link| matches!(link.target, Target::Value(..))).map(|link| link.fit);
        fits.max().unwrap_or(0)
    }

    /// The values it may name.
    pub(super) fn values(&self) -> impl Iterator<Item = (Col, &str)> {
        self.links().iter().filter_map(|link| match &link.target {
            Target::Value(col, value) => Some((*col, value.as_str())),
            _ => None,
        })
    }

    /// Whether it can stand for a value whose column is named elsewhere.
    pub(super) fn is_literal(&self) -> bool {
        matches!(self.what, What::Text(_) | What::Unknown) || self.values().next().is_some()
    }
}

/// Reads a question as atoms. `places` are the values that look-ups have found.
pub(super) fn atoms(
    question: &str,
    tokens: &[Token],
    schema: &Schema,
    places: &Places,
    today: Option<Date>,
) -> Result<Vec<Atom>, TodayUnknown> {
    let mut out: Vec<Atom> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let (what, length) = next(tokens, at, schema, places, today, out.last())?;
        let end = (at + length.max(1)).min(tokens.len());
        let raw = question.get(tokens[at].start..tokens[end - 1].end).unwrap_or(&tokens[at].raw).to_owned();
        out.push(Atom { what, raw, first: at, end });
        at = end;
    }
    Ok(out)
}

fn next(
    tokens: &[Token],
    at: usize,
    schema: &Schema,
    places: &Places,
    today: Option<Date>,
    before: Option<&Atom>,
) -> Result<(What, usize), TodayUnknown> {
    let token = &tokens[at];
    match token.kind {
        Kind::Pause => return Ok((What::Pause, 1)),
        Kind::Stop => return Ok((What::Stop, 1)),
        Kind::Possessive => return Ok((What::Possessive, 1)),
        Kind::Quoted => return Ok((text(&token.raw, places), 1)),
        Kind::Word | Kind::Number(_) => {}
    }
    let words: Vec<&str> = tokens[at..]
        .iter()
        .take(8)
        .map_while(|token| matches!(token.kind, Kind::Word | Kind::Number(_)).then_some(token.lower.as_str()))
        .collect();
    if before.and_then(Atom::role) == Some(Role::Named) && token.capital() {
        let length = capitals(tokens, at, |_| false);
        return Ok((text(&joined(tokens, at, length), places), length));
    }
    if let Some((length, links)) = places.longest(tokens, at)
        && (length > 1 || link::longest(schema, tokens, at).is_none() && lexicon::role(&words).is_none())
    {
        return Ok((What::Name(links), length));
    }
    let role = lexicon::role(&words);
    let name = link::longest(schema, tokens, at);
    let name_length = name
        .as_ref()
        .map_or(0, |(length, links)| if links.first().is_some_and(|link| link.fit >= 6) { *length } else { 1 });
    let role_length = role.map_or(0, |(_, length)| length);
    // A phrase of a preposition and a date is longer than the preposition alone, but names come before bare years.
    if let Some(period) = calendar::read(&tokens[at..], today)?
        && period.len > name_length
        && period.len > role_length
    {
        return Ok((What::Time(period.clone()), period.len));
    }
    let weak = matches!(
        role,
        Some((Role::Light | Role::Filler | Role::Opens | Role::Share | Role::Sort | Role::Times | Role::Everything, _))
    );
    match (role, name) {
        (Some((_, length)), Some((named, links)))
            if weak && length > named && links.first().is_some_and(|link| link.fit >= 9) =>
        {
            Ok((What::Name(links), named))
        }
        (Some((role, length)), Some(_)) if length > name_length || (length == name_length && !weak) => {
            Ok((What::Role(role), length))
        }
        (_, Some((length, links))) => Ok((What::Name(links), length)),
        (Some((role, length)), None) => Ok((What::Role(role), length)),
        (None, None) => {
            if let Some(value) = token.number() {
                return Ok((What::Number(value), 1));
            }
            if token.capital() && at > 0 {
                let stop = |next: usize| link::longest(schema, tokens, next).is_some();
                let length = capitals(tokens, at, stop);
                return Ok((text(&joined(tokens, at, length), places), length));
            }
            Ok((What::Unknown, 1))
        }
    }
}

/// How many tokens a run of capitalised words takes, small words between them included.
fn capitals(tokens: &[Token], at: usize, stop: impl Fn(usize) -> bool) -> usize {
    let mut end = at + 1;
    loop {
        let small = tokens.get(end).is_some_and(|token| {
            ["of", "the", "and", "de", "la", "von", "van"].contains(&token.lower.as_str()) && !token.capital()
        });
        let next = end + usize::from(small);
        let goes_on = tokens.get(next).is_some_and(|token| token.kind == Kind::Word && token.capital());
        // `Ben Jones and Michael Chang` are two: only a name's own small words are bridged.
        let bridged = !small || tokens[end].lower != "and";
        if !goes_on || !bridged || stop(next) {
            return end - at;
        }
        end = next + 1;
    }
}

fn joined(tokens: &[Token], at: usize, length: usize) -> String {
    tokens[at..at + length].iter().map(|token| token.raw.as_str()).collect::<Vec<_>>().join(" ")
}

fn text(raw: &str, places: &Places) -> What {
    match places.of(raw) {
        Some(links) if !links.is_empty() => What::Name(links),
        _ => What::Text(raw.to_owned()),
    }
}
