//! What to do next, decided anew each time from what the messages tell.

use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::atoms::{Atom, What, atoms};
use super::calendar;
use super::freshness::Asked;
use super::link;
use super::lookup::{self, Places};
use super::moment;
use super::plan::Plan;
use super::read::read;
use super::running;
use super::schema::{Schema, TableId};
use super::sentence;
use super::sql;
use super::transcript::Transcript;
use super::trouble::Trouble;
use super::unread;
use super::words::{Kind, LONGEST_QUESTION, Token, tokens};

/// The next step.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Call these tools.
    Call(Vec<(&'static str, Map<String, Value>)>),
    /// Say this; the question is settled.
    Say(String),
}

/// The most tool calls for one question.
const MOST_CALLS: usize = 12;
/// Of them, the most that describe a table: the rest list, look up and answer.
const MOST_DESCRIBED: usize = 8;
/// Calls kept for a look-up, two probes and the answer.
const RESERVED: usize = 4;
/// The longest question that is read, in words and marks: a sentence of more is not understood anyway, and reading
/// compares words with words, so that sixteen thousand took twenty seconds.
const MOST_WORDS: usize = 80;
/// The most pages of tables that are turned before names are filtered instead.
const MOST_PAGES: usize = 2;

/// Decides.
pub(super) fn next(transcript: &Transcript) -> Step {
    let step = decide(transcript);
    match &step {
        Step::Call(calls) if transcript.calls + calls.len() > MOST_CALLS => {
            Step::Say("CANNOT: this takes more steps than I allow myself. Please ask something simpler.".to_owned())
        }
        _ => step,
    }
}

fn decide(transcript: &Transcript) -> Step {
    if transcript.question.len() > LONGEST_QUESTION {
        return too_long();
    }
    let tokens = tokens(&transcript.question);
    if tokens.len() > MOST_WORDS {
        return too_long();
    }
    if tokens.is_empty() {
        return Step::Say("CANNOT: there is no question.".to_owned());
    }
    if several_questions(&tokens) {
        return Step::Say("CANNOT: please ask one question at a time.".to_owned());
    }
    if let Some(why) = unread::shape(&tokens) {
        return Step::Say(format!("CANNOT: {why}"));
    }
    if let Some(step) = list(transcript, &tokens) {
        return step;
    }
    let schema = Schema::of(&transcript.listed, &transcript.described);
    if schema.tables.is_empty() {
        return Step::Say("CANNOT: the database shows no tables.".to_owned());
    }
    if about_tables(&tokens) {
        return Step::Say(tables(&schema));
    }
    let named = named_tables(&schema, &tokens);
    if transcript.asked.is_empty() {
        let first = first_tables(transcript, &schema, &tokens, &named);
        if !first.is_empty() {
            return describe(&schema, &first);
        }
        return Step::Say(
            Trouble::Decline(format!("nothing in the question names what this database holds. {}", tables(&schema)))
                .text(&schema),
        );
    }
    if let Some(trouble) = moment::named(&tokens, transcript.today) {
        return Step::Say(trouble.text(&schema));
    }
    let mut places = Places::default();
    let understood = understand(transcript, &tokens, &schema, &places);
    let (plan, atoms) = match understood {
        // A value that was not seen yet: where is it, and how does the data spell it?
        Ok((plan, atoms)) if atoms.iter().any(|atom| matches!(atom.what, What::Text(_))) => {
            match look_up(transcript, &tokens, &schema, &mut places) {
                Some(step) => return step,
                None if places.is_empty() => (plan, atoms),
                None => match understand(transcript, &tokens, &schema, &places) {
                    Ok(found) => found,
                    Err(trouble) => return Step::Say(trouble.text(&schema)),
                },
            }
        }
        Ok(found) => found,
        Err(trouble) => {
            let more = more_tables(transcript, &schema, &named);
            if !more.is_empty() {
                return describe(&schema, &more);
            }
            match look_up(transcript, &tokens, &schema, &mut places) {
                Some(step) => return step,
                None => match understand(transcript, &tokens, &schema, &places) {
                    Ok(found) => found,
                    Err(_) if places.is_empty() => return Step::Say(trouble.text(&schema)),
                    Err(trouble) => return Step::Say(trouble.text(&schema)),
                },
            }
        }
    };
    let bare: Vec<TableId> = plan
        .tables_shown()
        .into_iter()
        .filter(|&table| !schema.tables[table].described && !transcript.asked.contains(&schema.tables[table].name))
        .collect();
    if !bare.is_empty() {
        return describe(&schema, &bare);
    }
    let settled = moment::settle(&schema, &tokens, plan, &transcript.chosen)
        .and_then(|plan| running::settle(&schema, &tokens, plan, &transcript.chosen));
    match settled {
        Ok((plan, note)) => {
            let ended = match ended(transcript, &schema, &plan) {
                Ok(ended) => ended,
                Err(step) => return step,
            };
            let step = add_note(answer(transcript, &schema, &plan, &atoms), note.map(|note| format!(" ({note})")));
            add_note(step, ended.map(|day| format!("; the data ends on {day}")))
        }
        Err(trouble) => Step::Say(trouble.text(&schema)),
    }
}

/// An answer with something added to its sentence.
fn add_note(step: Step, note: Option<String>) -> Step {
    match (step, note) {
        (Step::Say(text), Some(note)) if !text.starts_with("ASK:") && !text.starts_with("CANNOT:") => {
            Step::Say(format!("{}{note}.", text.trim_end_matches('.')))
        }
        (step, _) => step,
    }
}

/// The day the data ends on, where the question goes on after it; another step, where that must be found out first or
/// there is nothing to answer.
///
/// A period before this month is looked into only when nothing was found in it; the answer's query then runs once
/// more, so that it is the last one.
fn ended(transcript: &Transcript, schema: &Schema, plan: &Plan) -> Result<Option<Date>, Step> {
    let (Some(asked), Some(today)) = (Asked::of(plan), transcript.today) else { return Ok(None) };
    let Some(probe) = asked.newest(schema) else { return Ok(None) };
    let sql = sql::write(schema, plan);
    let answered = sql.as_ref().and_then(|sql| transcript.result(sql)).and_then(|result| result.as_ref().ok());
    let nothing =
        answered.is_some_and(|rows| rows.rows.iter().flatten().all(|cell| cell.is_null() || cell.as_i64() == Some(0)));
    if !asked.is_recent(today) && !nothing {
        return Ok(None);
    }
    let Some(result) = transcript.result(&probe) else { return Err(Step::Call(vec![run(&probe)])) };
    let cell = result.as_ref().ok().and_then(|rows| rows.rows.first()?.first());
    let Some(newest) = cell.and_then(|cell| asked.day(schema, cell)) else { return Ok(None) };
    if let Some(reason) = asked.beyond(newest) {
        return Err(Step::Say(Trouble::Decline(reason).text(schema)));
    }
    let last = transcript.queries.last().map(|(sql, _)| sql);
    if let (true, Some(sql), Some(last)) = (answered.is_some(), &sql, last)
        && *last == probe
    {
        return Err(Step::Call(vec![run(sql)]));
    }
    Ok(Some(newest).filter(|newest| asked.outlives(*newest, today)))
}

/// Whether the question is what there is to ask about.
fn about_tables(tokens: &[Token]) -> bool {
    let small = [
        "what", "which", "list", "show", "me", "all", "the", "are", "there", "in", "this", "database", "do", "you",
        "have", "of", "names",
    ];
    let mut words = tokens.iter().filter(|token| matches!(token.kind, Kind::Word));
    let mut asked = false;
    words.all(|token| {
        asked |= token.key == "table";
        token.key == "table" || small.contains(&token.lower.as_str())
    }) && asked
}

/// Whether a second question follows the first; `? Give me the shop name.` only says what to show.
fn several_questions(tokens: &[Token]) -> bool {
    const SHOW: [&str; 9] = ["give", "list", "find", "show", "return", "name", "tell", "display", "please"];
    let Some(mark) = tokens.iter().position(|token| token.kind == Kind::Stop && token.raw == "?") else { return false };
    let next = tokens[mark..].iter().find(|token| token.kind != Kind::Stop);
    next.is_some_and(|token| !SHOW.contains(&token.lower.as_str()))
}

fn too_long() -> Step {
    Step::Say(format!("CANNOT: this is too long for me. Please ask in one sentence of at most {MOST_WORDS} words."))
}

/// Pages of the list of tables, while there are more to turn.
fn list(transcript: &Transcript, tokens: &[Token]) -> Option<Step> {
    if transcript.pages.is_empty() {
        return Some(Step::Call(vec![("list_tables", Map::new())]));
    }
    if let (true, Some(fault)) = (transcript.listed.is_empty(), &transcript.fault) {
        return Some(Step::Say(format!("CANNOT: the tables could not be listed: {fault}")));
    }
    let offset = transcript.next_offset?;
    if transcript.pages.len() < MOST_PAGES {
        return Some(Step::Call(vec![("list_tables", object(json!({ "offset": offset })))]));
    }
    // Too many to turn every page: ask for names that contain the question's own words.
    let words = content_words(tokens);
    let calls: Vec<_> = words
        .iter()
        .filter(|token| !transcript.pages.contains(&token.key))
        .take(3)
        .map(|token| ("list_tables", object(json!({ "filter": token.key }))))
        .collect();
    let filtered = transcript.pages.len() > MOST_PAGES;
    (!calls.is_empty() && !filtered).then_some(Step::Call(calls))
}

/// Words that are no function words.
fn content_words(tokens: &[Token]) -> Vec<&Token> {
    /// A shorter part would match half the names of a large database.
    const SHORTEST: usize = 4;
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let words: Vec<&str> = tokens[at..].iter().take(8).map(|token| token.lower.as_str()).collect();
        if let Some((_, length)) = super::lexicon::role(&words) {
            at += length;
        } else {
            if token.kind == Kind::Word && token.key.len() >= SHORTEST {
                found.push(token);
            }
            at += 1;
        }
    }
    found
}

fn understand(
    transcript: &Transcript,
    tokens: &[Token],
    schema: &Schema,
    places: &Places,
) -> Result<(Plan, Vec<Atom>), Trouble> {
    let atoms = atoms(&transcript.question, tokens, schema, places, transcript.today).map_err(|_| Trouble::Today)?;
    match read(schema, &atoms, &transcript.chosen) {
        Ok(plan) => Ok((plan, atoms)),
        Err(trouble @ (Trouble::Unknown(_) | Trouble::Stuck(_))) => {
            Err(compound(&transcript.question, tokens, &atoms).map_or(trouble, Trouble::Unknown))
        }
        Err(trouble) => Err(trouble),
    }
}

/// The whole of a word with hyphens of which some part is not understood: `enterprise-y`.
fn compound(question: &str, tokens: &[Token], atoms: &[Atom]) -> Option<String> {
    atoms.iter().filter(|atom| atom.what == What::Unknown).find_map(|atom| {
        let (mut first, mut last) = (atom.first, atom.first);
        while first > 0 && tokens.get(first)?.glued {
            first -= 1;
        }
        while tokens.get(last + 1).is_some_and(|next| next.glued) {
            last += 1;
        }
        let whole = question.get(tokens[first].start..tokens[last].end)?;
        (last > first).then(|| whole.to_owned())
    })
}

/// Tables whose names stand in the question.
fn named_tables(schema: &Schema, tokens: &[Token]) -> Vec<TableId> {
    let mut named = Vec::new();
    for at in 0..tokens.len() {
        let Some((_, links)) = link::longest(schema, tokens, at) else { continue };
        for link in links {
            if let link::Target::Table(table, _) = link.target
                && !named.contains(&table)
            {
                named.push(table);
            }
        }
    }
    named
}

/// The tables to look at first: a log of events where something happened at a time, else those the question names.
fn first_tables(transcript: &Transcript, schema: &Schema, tokens: &[Token], named: &[TableId]) -> Vec<TableId> {
    let timed = (0..tokens.len()).any(|at| matches!(calendar::read(&tokens[at..], transcript.today), Ok(Some(_))));
    let happened = tokens.iter().enumerate().any(|(at, token)| {
        token.lower.ends_with("ed")
            && super::lexicon::role(&[token.lower.as_str()]).is_none()
            && link::longest(schema, tokens, at).is_none()
    });
    if timed && happened {
        let logs: Vec<TableId> = (0..schema.tables.len())
            .filter(|&table| {
                schema.tables[table]
                    .words
                    .last()
                    .is_some_and(|last| ["event", "activity", "log", "history", "audit"].contains(&last.as_str()))
            })
            .collect();
        if let [only] = logs.as_slice() {
            return vec![*only];
        }
    }
    if !named.is_empty() {
        return named.iter().copied().take(MOST_DESCRIBED).collect();
    }
    if schema.tables.len() <= MOST_DESCRIBED { (0..schema.tables.len()).collect() } else { Vec::new() }
}

/// Further tables to look at: those named, then neighbours along keys, then all of a small database.
fn more_tables(transcript: &Transcript, schema: &Schema, named: &[TableId]) -> Vec<TableId> {
    let room = MOST_CALLS - RESERVED;
    let room = room.saturating_sub(transcript.pages.len()).min(MOST_DESCRIBED).saturating_sub(transcript.asked.len());
    let fresh = |table: &TableId| !transcript.asked.contains(&schema.tables[*table].name);
    let mut more: Vec<TableId> = named.iter().copied().filter(|table| fresh(table)).collect();
    if more.is_empty() {
        if schema.tables.len() <= MOST_DESCRIBED {
            more = (0..schema.tables.len()).filter(fresh).collect();
        } else {
            let neighbours = schema.neighbours();
            more = neighbours.into_iter().filter(|table| fresh(table)).collect();
        }
    }
    more.truncate(room);
    more
}

/// Looks for words not understood among the values of the data.
fn look_up(transcript: &Transcript, tokens: &[Token], schema: &Schema, places: &mut Places) -> Option<Step> {
    let atoms = atoms(&transcript.question, tokens, schema, places, transcript.today).ok()?;
    let words = unknown_words(&atoms);
    let sql = lookup::query(schema, &words)?;
    match transcript.result(&sql) {
        None => Some(Step::Call(vec![run(&sql)])),
        Some(Ok(rows)) => {
            places.learn(schema, &words, &rows.rows);
            None
        }
        Some(Err(_)) => None,
    }
}

/// Words that may be values, alone and as runs.
fn unknown_words(atoms: &[Atom]) -> Vec<String> {
    /// More would make a look-up dear, and a question with more unknown words is not understood anyway.
    const MOST: usize = 8;
    let mut words: Vec<String> = Vec::new();
    let mut run: Vec<&str> = Vec::new();
    for atom in atoms.iter().chain(std::iter::once(&Atom { what: What::Stop, raw: String::new(), first: 0, end: 0 })) {
        match &atom.what {
            What::Text(text) => words.push(text.clone()),
            What::Unknown if atom.raw.chars().any(char::is_alphabetic) => {
                words.push(atom.raw.clone());
                run.push(&atom.raw);
                continue;
            }
            _ => {}
        }
        if run.len() > 1 {
            words.push(run.join(" "));
        }
        run.clear();
    }
    let mut seen: Vec<String> = Vec::new();
    for word in words {
        if !seen.iter().any(|known| known.to_lowercase() == word.to_lowercase()) {
            seen.push(word);
        }
    }
    seen.truncate(MOST);
    seen
}

fn answer(transcript: &Transcript, schema: &Schema, plan: &Plan, atoms: &[Atom]) -> Step {
    let Some(sql) = sql::write(schema, plan) else {
        return Step::Say(
            "CANNOT: I understood the question, but I can't tell it to the database in one query.".to_owned(),
        );
    };
    if let Some(step) = shared_first(transcript, schema, plan) {
        return step;
    }
    // Who comes first may not be alone there: the first two are compared before one is named. Of a list that may be
    // long, the length is asked for, since a count of rows that came back proves nothing.
    let probe = plan.probe().and_then(|plan| sql::write(schema, &plan)).or_else(|| sql::length(schema, plan));
    let probed = match &probe {
        None => None,
        Some(probe) => match transcript.result(probe) {
            None => return Step::Call(vec![run(probe)]),
            Some(result) => result.as_ref().ok(),
        },
    };
    match transcript.result(&sql) {
        None => Step::Call(vec![run(&sql)]),
        Some(Ok(rows)) => Step::Say(sentence::answer(&transcript.question, schema, plan, atoms, rows, probed)),
        Some(Err(reason)) => Step::Say(format!("CANNOT: the query for this did not run: {reason}")),
    }
}

/// `in the stadium with the highest capacity`: where several share that place, which one is not for the planner to pick.
fn shared_first(transcript: &Transcript, schema: &Schema, plan: &Plan) -> Option<Step> {
    const ALL: &str = "all of them together";
    if transcript.chosen.iter().any(|chosen| chosen == ALL) {
        return None;
    }
    let first = plan.shared_first()?;
    let sql = sql::write(schema, &first)?;
    match transcript.result(&sql) {
        None => Some(Step::Call(vec![run(&sql)])),
        Some(Ok(rows)) if rows.rows.first()?.first()?.as_i64()? > 1 => {
            let table = &schema.tables[first.root].name;
            let question =
                format!("Several rows of {table} share that place. Name one of them, or take them together?");
            Some(Step::Say(Trouble::Ask { question, choices: vec![ALL.to_owned()] }.text(schema)))
        }
        Some(_) => None,
    }
}

fn run(sql: &str) -> (&'static str, Map<String, Value>) {
    ("run_query", object(json!({ "sql": sql })))
}

fn describe(schema: &Schema, tables: &[TableId]) -> Step {
    Step::Call(
        tables.iter().map(|&table| ("describe_table", object(json!({ "table": schema.tables[table].name })))).collect(),
    )
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn tables(schema: &Schema) -> String {
    let names: Vec<&str> = schema.tables.iter().take(20).map(|table| table.name.as_str()).collect();
    format!("It has these tables: {}{}.", names.join(", "), if schema.tables.len() > 20 { " and more" } else { "" })
}
