//! Which tables, columns and values a run of words may name, and how well it fits.

use super::schema::{Col, Column, Schema, TableId, is_own, name_words};
use super::stem::{agent, root};
use super::words::{Kind, Token};

/// Something of the schema that words may name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    /// A table; by a column's role when given (`student` by `student_id`).
    Table(TableId, Option<Col>),
    /// A column.
    Column(Col),
    /// A value of a column, as the data spells it.
    Value(Col, String),
}

/// A target and how well the words fit it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Link {
    /// What is named.
    pub target: Target,
    /// How well, from 1 to 10.
    pub fit: u8,
}

/// The words are the name.
const SAME: u8 = 10;
/// The words are the name without the table's own.
const OWN: u8 = 9;
/// The words mean the same in general English.
const SYNONYM: u8 = 8;
/// The words share the name's root.
const ROOT: u8 = 7;
/// The words name what a key column points at, or are the name without its general last word.
const ROLE: u8 = 6;
/// The words are the main part of the name.
const PART: u8 = 5;

/// The longest name that is looked for, in words.
const LONGEST_NAME: usize = 6;

/// Last words of column names that say the unit of an amount.
pub(super) const UNITS: [&str; 14] =
    ["cent", "usd", "eur", "gbp", "dollar", "euro", "kg", "cm", "km", "percent", "pct", "second", "minute", "hour"];

/// Groups of words that mean the same in most schemas.
const SYNONYMS: [&[&str]; 22] = [
    &["country", "nation", "nationality"],
    &["shop", "store"],
    &["film", "movie"],
    &["customer", "client"],
    &["kind", "type", "category"],
    &["city", "town"],
    &["sex", "gender"],
    &["salary", "wage", "pay"],
    &["price", "cost"],
    &["id", "identifier", "ids"],
    &["phone", "telephone"],
    &["email", "mail"],
    &["birthday", "birthdate", "birth", "dob"],
    &["picture", "photo", "image"],
    &["company", "firm"],
    &["title", "name"],
    &["number", "count"],
    &["start", "starting", "begin", "beginning"],
    &["end", "ending", "finish"],
    &["teacher", "instructor"],
    &["option", "choice"],
    &["user", "member"],
];

/// The longest run of words from `at` on that names something: how many tokens, and what.
pub(super) fn longest(schema: &Schema, tokens: &[Token], at: usize) -> Option<(usize, Vec<Link>)> {
    let usable = tokens[at..]
        .iter()
        .take(LONGEST_NAME)
        .take_while(|token| matches!(token.kind, Kind::Word | Kind::Number(_)))
        .count();
    let mut partial: Option<(usize, Vec<Link>)> = None;
    for length in (1..=usable).rev() {
        let phrase = &tokens[at..at + length];
        if [phrase.first(), phrase.last()].into_iter().flatten().any(|token| joins(&token.lower)) {
            continue;
        }
        let links = links(schema, phrase);
        let best = links.iter().map(|link| link.fit).max().unwrap_or(0);
        if best >= ROOT {
            return Some((length, links));
        }
        if best > 0 && partial.is_none() {
            partial = Some((length, links));
        }
    }
    partial
}

/// Words that join the parts of a name and never start or end one.
fn joins(word: &str) -> bool {
    [
        "of", "the", "in", "a", "an", "and", "or", "is", "are", "by", "for", "per", "each", "with", "from", "on", "at",
        "to",
    ]
    .contains(&word)
}

/// Everything the whole phrase may name.
fn links(schema: &Schema, phrase: &[Token]) -> Vec<Link> {
    let mut keys: Vec<String> = phrase
        .iter()
        .filter(|token| token.lower != "of" && token.lower != "the")
        .map(|token| token.key.clone())
        .collect();
    if let [only] = phrase
        && only.raw.contains('_')
    {
        keys = name_words(&only.raw);
    }
    let mut found = Vec::new();
    if keys.is_empty() {
        return found;
    }
    for (table, about) in schema.tables.iter().enumerate() {
        if let Some(fit) = table_fit(&keys, &about.words) {
            found.push(Link { target: Target::Table(table, None), fit });
        }
        for col in schema.columns(table) {
            let column = schema.column(col);
            // `ids of students` are those of the students, not a key of some other table that points at them.
            let pointing =
                phrase.iter().any(|token| token.lower == "of") && schema.keys.iter().any(|key| key.from == col);
            let fit = column_fit(&keys, &column.words, &about.words, &column.about.name).filter(|_| !pointing);
            if let Some(fit) = fit {
                found.push(Link { target: Target::Column(col), fit });
            }
            if let Some(key) = schema.keys.iter().find(|key| key.from == col) {
                let role = &column.words[..column.words.len().saturating_sub(1)];
                if role == keys
                    && column.words.last().is_some_and(|last| last == "id")
                    && schema.tables[key.to.table].words != role
                {
                    found.push(Link { target: Target::Table(key.to.table, Some(col)), fit: ROLE });
                }
            }
            if let Some((value, fit)) = value_fit(schema, phrase, col) {
                found.push(Link { target: Target::Value(col, value), fit });
            }
        }
    }
    // `country code` is a key of other tables, and the country's own `code`.
    if found.iter().any(|link| matches!(link.target, Target::Column(_)) && link.fit >= ROOT) {
        for (table, about) in schema.tables.iter().enumerate() {
            let own = keys.strip_prefix(about.words.as_slice()).filter(|own| !own.is_empty());
            let own = own.and_then(|own| schema.columns(table).find(|&col| schema.column(col).words == own));
            found.extend(own.map(|col| Link { target: Target::Column(col), fit: OWN }));
        }
    }
    found.sort_by_key(|link| std::cmp::Reverse(link.fit));
    found
}

fn table_fit(keys: &[String], name: &[String]) -> Option<u8> {
    if name.is_empty() {
        return None;
    }
    if keys == name || keys.concat() == name.concat() {
        return Some(SAME);
    }
    if keys.len() == name.len() && same_meaning(keys, name) {
        return Some(SYNONYM);
    }
    if let ([key], [word]) = (keys, name)
        && root(key) == root(word)
    {
        return Some(ROOT);
    }
    // `teach` is what a `teacher` does; `high school` is where a `highschooler` goes.
    let (joined, whole) = (keys.concat(), name.concat());
    if agent(&whole) == joined || (keys.len() == 1 && agent(&whole) == root(&joined)) {
        return Some(ROLE);
    }
    let prefixed =
        name.len() > 1 && ["tbl", "dim", "fact", "t", "table"].contains(&name[0].as_str()) && name[1..] == *keys;
    if prefixed {
        return Some(OWN);
    }
    if let ([key], [.., last]) = (keys, name)
        && name.len() > 1
        && root(key) == root(last)
    {
        return Some(PART);
    }
    (keys.len() < name.len() && name.ends_with(keys)).then_some(PART)
}

fn column_fit(keys: &[String], name: &[String], table: &[String], spelled: &str) -> Option<u8> {
    if name.is_empty() {
        return None;
    }
    // A unit says how the amount is written, not what it is.
    if let [amount @ .., unit] = name
        && !amount.is_empty()
        && UNITS.contains(&unit.as_str())
        && !keys.contains(unit)
    {
        return column_fit(keys, amount, table, spelled);
    }
    if same_words(keys, name) || keys.concat() == name.concat() {
        return Some(SAME);
    }
    // `Singer_ID` of `singer` is its `id`.
    let own = name.len() > 1 && is_own(&name[..name.len() - 1], table);
    if own && keys.len() == 1 && keys[0] == name[name.len() - 1] {
        return Some(OWN);
    }
    if keys.len() == name.len() && same_meaning(keys, name) {
        return Some(SYNONYM);
    }
    if own && keys.len() == 1 && same_meaning(keys, &name[name.len() - 1..]) {
        return Some(SYNONYM);
    }
    // `Directed_by` is what `directed` and `director` say, `Open_Year` is when it `opened`.
    let (core, tail) = match name {
        [core @ .., tail]
            if !core.is_empty()
                && ["by", "on", "at", "in", "to", "year", "date", "time", "day"].contains(&tail.as_str()) =>
        {
            (core, tail.as_str())
        }
        _ => (name, ""),
    };
    if let ([key], [.., verb], false) = (keys, core, tail.is_empty()) {
        if core.len() == 1 && tail == "by" && (key == verb || root(key) == root(verb)) {
            return Some(SAME);
        }
        if core.len() == 1 && (root(key) == root(verb) || (tail == "by" && agent(key) == agent(verb))) {
            return Some(ROLE);
        }
        if key.len() > 2 && root(key) == root(verb) && key != verb {
            return Some(PART);
        }
    }
    let roots = |words: &[String]| words.iter().map(|word| root(word)).collect::<Vec<_>>();
    if keys.len() == name.len() && same_words(&roots(keys), &roots(name)) {
        return Some(ROOT);
    }
    // `staff` is `num_of_staff`, `song` is `song_name`, `release year` is `song_release_year`.
    let (first, last) = (&name[0], &name[name.len() - 1]);
    if name.len() > 1
        && (first == "number" || first == "total")
        && (name[1..] == *keys || (keys.len() == 2 && keys[0] == name[1] && keys[1] == "member"))
    {
        return Some(ROLE);
    }
    if name.len() > 1
        && !own
        && ["name", "title", "type", "date", "at", "code"].contains(&last.as_str())
        && name[..name.len() - 1] == *keys
    {
        return Some(ROLE);
    }
    let head_first = spelled.to_lowercase().replace([' ', '-'], "_").contains("_of_");
    let head = if head_first { first } else { last };
    let inside = keys.len() < name.len() && keys.iter().all(|key| name.contains(key));
    if inside && keys.contains(head) && !["id", "name", "number"].contains(&keys[keys.len() - 1].as_str()) {
        return Some(PART);
    }
    (inside && keys.len() == name.len() - 1 && name.len() > 2).then_some(PART)
}

fn value_fit(schema: &Schema, phrase: &[Token], col: Col) -> Option<(String, u8)> {
    let text = phrase.iter().map(|token| token.raw.as_str()).collect::<Vec<_>>().join(" ");
    if text.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let about = &schema.column(col).about;
    let samples = about.samples.iter().filter_map(|value| value.as_str());
    if let Some(exact) = samples
        .clone()
        .find(|sample| sample.eq_ignore_ascii_case(&text) || sample.to_lowercase() == text.to_lowercase())
    {
        return Some((exact.to_owned(), SAME));
    }
    // `failed payments` is `payment_failed`, `signed up` is `signup`.
    if phrase.len() > 1 {
        let keys: Vec<String> = phrase.iter().map(|token| token.key.clone()).collect();
        let joined = phrase.iter().map(|token| root(&token.lower)).collect::<String>();
        let last = phrase.last().map_or("", |token| token.lower.as_str());
        let particle = phrase.len() == 2 && ["up", "in", "out", "off", "down"].contains(&last);
        return samples
            .clone()
            .find(|sample| {
                let parts = name_words(sample);
                (parts.len() > 1 && sample.contains(['_', '-']) && same_words(&parts, &keys))
                    || (particle && sample.to_lowercase() == joined)
            })
            .map(|sample| (sample.to_owned(), ROOT));
    }
    // Only where all values are known can `cancelled` stand for `cancel` without a doubt.
    let [word] = phrase else { return None };
    if !about.samples_complete || word.capital() || word.lower.len() < 4 {
        return None;
    }
    let mut alike = samples.filter(|sample| root(&sample.to_lowercase()) == root(&word.lower));
    alike.next().filter(|_| alike.next().is_none()).map(|sample| (sample.to_owned(), ROOT))
}

/// Words for places.
pub(super) const PLACES: [&str; 14] = [
    "country",
    "city",
    "town",
    "hometown",
    "location",
    "nation",
    "nationality",
    "state",
    "region",
    "district",
    "address",
    "province",
    "continent",
    "place",
];

/// Whether a column holds places.
pub(super) fn is_place(column: &Column) -> bool {
    column.words.iter().any(|word| PLACES.contains(&word.as_str()))
}

fn same_words(left: &[String], right: &[String]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut rest: Vec<&String> = right.iter().collect();
    left.iter().all(|word| match rest.iter().position(|other| *other == word) {
        Some(place) => {
            rest.swap_remove(place);
            true
        }
        None => false,
    })
}

fn same_meaning(left: &[String], right: &[String]) -> bool {
    let canonical = |words: &[String]| words.iter().map(|word| meaning(word).to_owned()).collect::<Vec<_>>();
    same_words(&canonical(left), &canonical(right))
}

fn meaning(word: &str) -> &str {
    SYNONYMS.iter().find(|group| group.contains(&word)).map_or(word, |group| group[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        name_words(text)
    }

    fn column(phrase: &str, table: &str, name: &str) -> Option<u8> {
        column_fit(&words(phrase), &words(name), &words(table), name)
    }

    #[test]
    fn columns_are_found_by_the_words_people_use() {
        assert_eq!(column("birth date", "person", "BirthDate"), Some(SAME));
        assert_eq!(column("membership level", "visitor", "Level_of_membership"), Some(SAME));
        assert_eq!(column("number products", "shop", "Number_products"), Some(SAME));
        assert_eq!(column("id", "singer", "Singer_ID"), Some(OWN));
        assert_eq!(column("nation", "singer", "Country"), Some(SYNONYM));
        assert_eq!(column("opening year", "museum", "Open_Year"), Some(ROOT));
        assert_eq!(column("staff", "museum", "Num_of_Staff"), Some(ROLE));
        assert_eq!(column("song", "singer", "Song_Name"), Some(ROLE));
        assert_eq!(column("release year", "singer", "Song_release_year"), Some(PART));
        assert_eq!(column("name", "singer", "Song_Name"), None);
        assert_eq!(column("weather", "singer", "Song_Name"), None);
    }

    #[test]
    fn tables_are_found_in_any_number_and_spelling() {
        let fit = |phrase: &str, name: &str| table_fit(&words(phrase), &words(name));
        assert_eq!(fit("high schoolers", "Highschooler"), Some(SAME));
        assert_eq!(fit("TV channels", "TV_Channel"), Some(SAME));
        assert_eq!(fit("channel", "TV_Channel"), Some(PART));
        assert_eq!(fit("stores", "shop"), Some(SYNONYM));
        assert_eq!(fit("visited", "visit"), Some(ROOT));
        assert_eq!(fit("song", "singer"), None);
    }
}
