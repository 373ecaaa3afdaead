//! A result told in one sentence, in the words of the question where they fit.

use jiff::civil::Date;
use serde_json::Value;

use super::atoms::{Atom, What};
use super::link::UNITS;
use super::plan::{Aggregate, Cond, Group, Literal, Op, Output, Plan};
use super::schema::Schema;
use super::stem::singular;
use super::transcript::Rows;

/// How many values a sentence names before it stops.
const MOST_NAMED: usize = 10;

/// The sentence for a result.
pub(super) fn answer(
    question: &str,
    schema: &Schema,
    plan: &Plan,
    atoms: &[Atom],
    rows: &Rows,
    probe: Option<&Rows>,
) -> String {
    let range = ranges(atoms);
    let all = probe.filter(|_| plan.limit != Some(1)).and_then(|probe| probe.rows.first()?.first()?.as_i64());
    let told = match rows.rows.as_slice() {
        [] => nothing(question, schema, plan),
        [row] if row.len() == 1 => single(question, schema, plan, &row[0]),
        [row] if is_full_name(schema, plan) => {
            let name = row.iter().map(plain).collect::<Vec<_>>().join(" ");
            named(question, &name).unwrap_or_else(|| format!("{}: {name}", subject(question)))
        }
        [row] if plan.groups.is_empty() || plan.limit.is_some() => {
            let parts: Vec<String> = row
                .iter()
                .zip(&plan.outputs)
                .map(|(cell, output)| format!("{} {}", label(schema, output), value(cell, output)))
                .collect();
            let parts = if plan.outputs == [Output::All] { row.iter().map(plain).collect() } else { parts };
            format!("{}: {}", subject(question), parts.join(", "))
        }
        many => list(question, schema, plan, many, all),
    };
    let told = match probe.filter(|_| plan.limit == Some(1)).map(|probe| tie(plan, rows, probe)) {
        Some(Some(tied)) => format!("{}{tied}", told.trim_end_matches(['.', ' '])),
        _ => told,
    };
    let mut told = told.trim_end_matches(['.', ' ']).to_owned();
    if !range.is_empty() {
        told = format!("{told} ({range})");
    }
    if plan.joined.is_some()
        && plan.limit.is_none()
        && plan.outputs.contains(&Output::Rows)
        && plan.groups.iter().any(|group| matches!(group, Group::Row(_)))
    {
        told.push_str("; those with none are not listed");
    }
    if plan.groups.iter().any(|group| matches!(group, Group::Row(_))) && repeats(plan, &rows.rows) {
        told.push_str("; where a name stands twice, it is two rows");
    }
    if let Some(col) = plan.conds.iter().find_map(|cond| leaves_out_unknown(schema, cond)) {
        told = format!("{told}; rows without a {col} are left out");
    }
    format!("{told}.")
}

/// Whether rows that were counted apart look the same.
fn repeats(plan: &Plan, rows: &[Vec<Value>]) -> bool {
    let names = |row: &Vec<Value>| {
        let shown = row.iter().zip(&plan.outputs).filter(|(_, output)| matches!(output, Output::Column(_)));
        shown.map(|(cell, _)| cell.to_string()).collect::<Vec<_>>()
    };
    let mut seen = std::collections::BTreeSet::new();
    rows.iter().any(|row| !seen.insert(names(row)))
}

/// The column of an `is not` that leaves out rows without a value, where there are such rows.
fn leaves_out_unknown(schema: &Schema, cond: &Cond) -> Option<String> {
    let Cond::Compare(col, Op::Ne, _) = cond else { return None };
    let about = &schema.column(*col).about;
    about.storage.iter().any(|class| class == "null").then(|| about.name.clone())
}

/// What the probe tells of the first place: what it measures, and whether it is shared.
fn tie(plan: &Plan, rows: &Rows, probe: &Rows) -> Option<String> {
    let measure = |row: &Vec<Value>| row.last().cloned();
    let [first, second] = probe.rows.as_slice() else { return None };
    if measure(first) != measure(second) {
        return None;
    }
    // Which of the two came first need not be the same in both queries.
    let answered = rows.rows.first()?;
    let other = if second.starts_with(answered) { first } else { second };
    let name = other.iter().zip(&plan.outputs).map(|(cell, output)| value(cell, output)).collect::<Vec<_>>().join(", ");
    Some(format!("; this is a tie, e.g. with {name}"))
}

/// The days that relative phrases were taken for.
fn ranges(atoms: &[Atom]) -> String {
    let shown = |from: Option<Date>, until: Option<Date>| match (from, until.and_then(|until| until.yesterday().ok())) {
        (Some(from), Some(last)) if from == last => from.to_string(),
        (Some(from), Some(last)) => format!("{from} to {last}"),
        (Some(from), None) => format!("from {from} on"),
        (None, Some(last)) => format!("up to {last}"),
        (None, None) => String::new(),
    };
    let parts: Vec<String> = atoms
        .iter()
        .filter_map(|atom| match &atom.what {
            What::Time(period) if period.relative => Some(shown(period.from, period.until)),
            _ => None,
        })
        .collect();
    parts.join("; ")
}

fn single(question: &str, schema: &Schema, plan: &Plan, cell: &Value) -> String {
    let output = plan.outputs.first().unwrap_or(&Output::Rows);
    if cell.is_null() {
        return match output {
            Output::Aggregate(Aggregate::Average, _) => {
                format!("There are no rows to average{}", filters(schema, plan))
            }
            Output::Aggregate(aggregate, _) => {
                format!("There are no rows to take the {} of{}", aggregate.word(), filters(schema, plan))
            }
            _ => format!("{}: there is no value", subject(question)),
        };
    }
    let shown = format!("{}{}", value(cell, output), unit(schema, output));
    if matches!(output, Output::Rows | Output::Different(_))
        && let Some(told) = counted(question, &shown)
    {
        return told;
    }
    if let Some(told) = named(question, &shown) {
        return told;
    }
    let subject = subject(question);
    let plural = ["how many ", "how much "].iter().any(|start| subject.to_ascii_lowercase().starts_with(start));
    if subject.to_ascii_lowercase().starts_with("the ") && !plural {
        format!("{subject} {} {shown}", if subject_is_plural(&subject) { "are" } else { "is" })
    } else {
        format!("{subject}: {shown}")
    }
}

/// `Ada has the most orders` from `Which customer has the most orders?`, `Dan is the oldest customer` from `Who is …?`
fn named(question: &str, shown: &str) -> Option<String> {
    let text = bare(question);
    let words: Vec<&str> = text.split(' ').collect();
    let first = words.first()?.to_ascii_lowercase();
    let verb = |word: &&&str| ["has", "is", "was", "had", "have", "are"].contains(&word.to_ascii_lowercase().as_str());
    let place = match first.as_str() {
        "who" => 1,
        "which" | "what" => words.iter().position(|word| verb(&word)).filter(|place| *place > 1)?,
        _ => return None,
    };
    // `Which categories do not have …` must not come back without its `not`.
    let helped = |word: &&str| {
        ["do", "does", "did", "not", "never", "don't", "doesn't", "didn't"]
            .contains(&word.to_ascii_lowercase().as_str())
    };
    if words[..place].iter().any(helped) {
        return None;
    }
    let singular = match *words.get(place).filter(verb)? {
        "have" => "has",
        "are" => "is",
        other => other,
    };
    let rest = words.get(place + 1..).filter(|rest| rest.len() > 1)?;
    // `What country is Boris from?` turns round: the verb's own subject follows it.
    let turned = rest.first()?.starts_with(char::is_uppercase) || ["from", "in", "of"].contains(rest.last()?);
    (!turned).then(|| format!("{shown} {singular} {}", rest.join(" ")))
}

/// `142 accounts churned in June 2026` from `how many accounts churned in June 2026?`
fn counted(question: &str, shown: &str) -> Option<String> {
    let text = bare(question);
    let lower = text.to_ascii_lowercase();
    let start = lower.find("how many ")?;
    if lower[..start].trim().split(' ').any(|word| !word.is_empty() && !["so", "and", "please"].contains(&word)) {
        return None;
    }
    let mut rest = text.get(start + 9..)?.trim().to_owned();
    if rest.to_ascii_lowercase().starts_with("of the ") {
        rest = rest[7..].to_owned();
    }
    let number = if shown == "0" { "No" } else { shown };
    for (were, was) in [(" were there", "were"), (" was there", "was")] {
        if let Some((noun, tail)) = rest.split_once(were) {
            let (noun, verb) = if shown == "1" { (one(noun), "was") } else { (noun.to_owned(), was) };
            return Some(format!("There {verb} {} {noun}{tail}", if shown == "0" { "no" } else { shown }));
        }
    }
    for there in [" are there", " do we have", " is there", " exist", " are in the database"] {
        if let Some(place) = rest.to_ascii_lowercase().find(there) {
            let tail = rest.get(place + there.len()..)?.to_owned();
            let noun = rest.get(..place)?;
            let noun = if shown == "1" { one(noun) } else { noun.to_owned() };
            let number = if shown == "0" { "no" } else { shown };
            return Some(format!("There {} {number} {noun}{tail}", if shown == "1" { "is" } else { "are" }));
        }
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    if let Some(place) =
        words.iter().position(|word| ["do", "does", "did"].contains(&word.to_ascii_lowercase().as_str()))
    {
        let (object, verb, rest) = (words[..place].join(" "), words[place].to_ascii_lowercase(), &words[place + 1..]);
        if rest.first().is_some_and(|word| ["not", "never"].contains(&word.to_ascii_lowercase().as_str())) {
            return Some(format!("{number} {}", words.join(" ")));
        }
        let (last, who) = rest.split_last()?;
        let number = if shown == "0" { "no" } else { shown };
        let object = if shown == "1" { one(&object) } else { object };
        let has = match (last.to_ascii_lowercase().as_str(), verb.as_str()) {
            ("have", "does") => "has",
            ("have", "did") => "had",
            ("have", _) => "have",
            _ => return None,
        };
        return (!who.is_empty()).then(|| format!("{} {has} {number} {object}", capital(&who.join(" "))));
    }
    if shown == "1" {
        return Some(format!("1 {}", agree(&one(&rest))));
    }
    Some(format!("{number} {rest}"))
}

/// The first noun in the singular.
fn one(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(ToOwned::to_owned).collect();
    let small = ["different", "distinct", "unique", "new", "active"];
    if let Some(noun) = words.iter_mut().find(|word| !small.contains(&word.as_str())) {
        *noun = singular(noun);
    }
    words.join(" ")
}

fn agree(text: &str) -> String {
    let mut out = text.to_owned();
    for (many, single) in [(" are ", " is "), (" were ", " was "), (" have ", " has ")] {
        out = out.replacen(many, single, 1);
    }
    out
}

fn list(question: &str, schema: &Schema, plan: &Plan, rows: &[Vec<Value>], all: Option<i64>) -> String {
    let told: Vec<String> = rows
        .iter()
        .take(MOST_NAMED)
        .map(|row| {
            let cells: Vec<String> = row
                .iter()
                .enumerate()
                .map(|(place, cell)| plan.outputs.get(place).map_or_else(|| plain(cell), |output| value(cell, output)))
                .collect();
            match cells.as_slice() {
                [only] => only.clone(),
                [first, last] if is_full_name(schema, plan) => format!("{first} {last}"),
                [name, number] => format!("{name}: {number}"),
                many => format!("({})", many.join(", ")),
            }
        })
        .collect();
    let joint = if rows[0].len() == 2 { "; " } else { ", " };
    let told = told.join(joint);
    let subject = subject(question);
    // How many there are is itself a cell of a result, not a count of rows that came back.
    let all = all.map_or_else(String::new, |all| format!(" ({} in all)", grouped(&all.to_string())));
    if rows.len() > MOST_NAMED {
        format!("{subject}{all}, the first of them: {told} …")
    } else {
        format!("{subject}{all}: {told}")
    }
}

/// Whether what is shown is a person's first and last name.
fn is_full_name(schema: &Schema, plan: &Plan) -> bool {
    let [Output::Column(first), Output::Column(last)] = plan.outputs.as_slice() else { return false };
    schema.column(*first).words == ["first", "name"] && schema.column(*last).words == ["last", "name"]
}

fn nothing(question: &str, schema: &Schema, plan: &Plan) -> String {
    let filters = filters(schema, plan);
    let subject = subject(question);
    if filters.is_empty() {
        format!("{subject}: there are none")
    } else {
        format!("{subject}: there are none{filters}")
    }
}

/// The question as the subject of a sentence: without what opens it and its question mark.
fn subject(question: &str) -> String {
    let text = bare(question);
    let text = text.split_once("? ").or_else(|| text.split_once(". ")).map_or(text.as_str(), |(first, _)| first);
    let lower = text.to_ascii_lowercase();
    let openings = [
        "what is the",
        "what are the",
        "what was the",
        "what were the",
        "what's the",
        "find the",
        "show the",
        "list the",
        "give the",
        "return the",
        "give me the",
        "show me the",
        "tell me the",
        "count the",
        "get the",
        "compute the",
        "calculate the",
    ];
    for opening in openings {
        if let Some(rest) = lower.strip_prefix(opening).filter(|rest| rest.starts_with(' ')) {
            let rest = &text[text.len() - rest.len()..];
            return format!("The{rest}");
        }
    }
    for opening in [
        "what is ",
        "what are ",
        "find ",
        "show me ",
        "show ",
        "list ",
        "give me ",
        "return ",
        "give ",
        "tell me ",
        "get ",
    ] {
        if lower.starts_with(opening) && text.is_char_boundary(opening.len()) {
            return capital(&text[opening.len()..]);
        }
    }
    let turned = [" do ", " does ", " did "].iter().any(|verb| lower.contains(verb));
    match lower.strip_prefix("how many ") {
        Some(rest) if !turned => capital(&text[text.len() - rest.len()..]),
        _ => capital(text),
    }
}

fn subject_is_plural(subject: &str) -> bool {
    let first = subject.split(' ').nth(1).unwrap_or("").to_ascii_lowercase();
    first.ends_with('s') && singular(&first) != first
}

/// The question in one line without its end mark.
fn bare(question: &str) -> String {
    question.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches(['?', '.', '!', ' ']).to_owned()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn label(schema: &Schema, output: &Output) -> String {
    let name = |col| schema.column(col).about.name.clone();
    match output {
        Output::Column(col) => name(*col),
        Output::Aggregate(aggregate, col) => format!("{} {}", aggregate.word(), name(*col)),
        Output::Different(col) => format!("different {}", name(*col)),
        Output::Rows => "count".to_owned(),
        Output::All => String::new(),
        Output::Bucket(_, _) => "period".to_owned(),
    }
}

/// The unit that a column's name tells.
fn unit(schema: &Schema, output: &Output) -> String {
    let (Output::Column(col) | Output::Aggregate(_, col)) = output else { return String::new() };
    let last = schema.column(*col).about.name.rsplit('_').next().unwrap_or_default().to_owned();
    let known = UNITS.contains(&singular(&last.to_ascii_lowercase()).as_str());
    if known && schema.column(*col).words.len() > 1 { format!(" {last}") } else { String::new() }
}

/// A cell as told: amounts grouped by thousands and rounded, everything else as it is.
fn value(cell: &Value, output: &Output) -> String {
    match output {
        Output::Rows | Output::Aggregate(..) | Output::Different(_) => match (cell.as_i64(), cell.as_f64()) {
            (Some(whole), _) => grouped(&whole.to_string()),
            (None, Some(real)) => rounded(real),
            _ => plain(cell),
        },
        _ => plain(cell),
    }
}

fn rounded(real: f64) -> String {
    let text = format!("{real:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text.split_once('.') {
        Some((whole, part)) => format!("{}.{part}", grouped(whole)),
        None => grouped(text),
    }
}

/// Thousands apart, from five digits on.
fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    if digits.len() < 5 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("{sign}{digits}");
    }
    let mut out = String::new();
    for (place, c) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    format!("{sign}{out}")
}

fn plain(cell: &Value) -> String {
    match cell {
        Value::String(text) => text.clone(),
        Value::Null => "no value".to_owned(),
        other => other.to_string(),
    }
}

/// The filters in force, for a result that has nothing.
fn filters(schema: &Schema, plan: &Plan) -> String {
    let mut parts = Vec::new();
    for cond in plan.conds.iter().chain(plan.joined.iter().flat_map(|joined| &joined.conds)) {
        describe(schema, cond, &mut parts);
    }
    if parts.is_empty() { String::new() } else { format!(" with {}", parts.join(" and ")) }
}

fn describe(schema: &Schema, cond: &Cond, parts: &mut Vec<String>) {
    let name = |col| schema.column(col).about.name.clone();
    match cond {
        Cond::Compare(col, op, Literal::Text(text)) => parts.push(format!("{} {} “{text}”", name(*col), op.sql())),
        Cond::Compare(col, op, Literal::Number(number)) => parts.push(format!("{} {} {number}", name(*col), op.sql())),
        Cond::Between(col, low, high) => parts.push(format!("{} between {low} and {high}", name(*col))),
        Cond::Like(col, pattern) => parts.push(format!("{} like “{pattern}”", name(*col))),
        Cond::During(col, from, until) => {
            let from = from.map(|date| format!("{} from {date}", name(*col)));
            let until = until.map(|date| format!("{} before {date}", name(*col)));
            parts.extend(from.into_iter().chain(until));
        }
        Cond::Related(related) => related.conds.iter().for_each(|cond| describe(schema, cond, parts)),
        _ => {}
    }
}
