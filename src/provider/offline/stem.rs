//! Words brought to a common form, so that `cities` finds `City` and `visited` finds `visit`.

/// Plurals that follow no rule.
const IRREGULAR: [(&str, &str); 15] = [
    ("aged", "age"),
    ("people", "person"),
    ("persons", "person"),
    ("children", "child"),
    ("men", "man"),
    ("women", "woman"),
    ("feet", "foot"),
    ("mice", "mouse"),
    ("indices", "index"),
    ("criteria", "criterion"),
    ("analyses", "analysis"),
    ("statuses", "status"),
    ("lives", "life"),
    ("movies", "movie"),
    ("cookies", "cookie"),
];

/// Words that end in `s` and are singular already.
const SINGULAR: [&str; 12] =
    ["series", "species", "news", "status", "always", "less", "its", "bonus", "campus", "address", "gas", "previous"];

/// Forms of verbs that follow no rule.
const PARTICIPLES: [(&str, &str); 14] = [
    ("written", "write"),
    ("wrote", "write"),
    ("chosen", "choose"),
    ("given", "give"),
    ("driven", "drive"),
    ("flown", "fly"),
    ("sold", "sell"),
    ("bought", "buy"),
    ("paid", "pay"),
    ("sent", "send"),
    ("built", "build"),
    ("taught", "teach"),
    ("spent", "spend"),
    ("born", "birth"),
];

/// The singular of an English noun in lower case; other words come back as they are.
pub(super) fn singular(word: &str) -> String {
    if let Some((_, one)) = IRREGULAR.iter().find(|(many, _)| *many == word) {
        return (*one).to_owned();
    }
    if SINGULAR.contains(&word) || word.len() < 4 || !word.is_ascii() {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    for ending in ["sses", "shes", "ches", "xes", "zzes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// The root of a word: `visited`, `visiting` and `visit` share one, as do `opening` and `open`.
pub(super) fn root(word: &str) -> String {
    let word = singular(word);
    if !word.is_ascii() {
        return word;
    }
    if let Some((_, verb)) = PARTICIPLES.iter().find(|(form, _)| *form == word) {
        return bare(verb);
    }
    for (ending, shortest) in [("ation", 4), ("ment", 4), ("ing", 3), ("ed", 3), ("ion", 4)] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() >= shortest) {
            return bare(stem);
        }
    }
    bare(&word)
}

/// Whether a word looks like a verb's form: `directed`, `hiring`, `written`.
pub(super) fn verbal(word: &str) -> bool {
    (word.len() > 4 && (word.ends_with("ed") || word.ends_with("ing")))
        || PARTICIPLES.iter().any(|(form, _)| *form == word)
}

/// What does it: `director` and `directed` share one, as do `teacher` and `teach`.
pub(super) fn agent(word: &str) -> String {
    let word = singular(word);
    for ending in ["or", "er"] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() >= 4 && stem.is_ascii()) {
            return bare(stem);
        }
    }
    root(&word)
}

/// Without a final `e` and without a doubled consonant, which endings add or drop.
fn bare(stem: &str) -> String {
    let stem = stem.strip_suffix('e').filter(|rest| rest.len() >= 3).unwrap_or(stem);
    let mut tail = stem.chars().rev();
    match (tail.next(), tail.next()) {
        (Some(last), Some(before)) if last == before && "bdgmnprt".contains(last) => stem[..stem.len() - 1].to_owned(),
        _ => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_become_singular() {
        for (many, one) in [
            ("cities", "city"),
            ("boxes", "box"),
            ("classes", "class"),
            ("matches", "match"),
            ("singers", "singer"),
            ("people", "person"),
            ("series", "series"),
            ("status", "status"),
            ("bus", "bus"),
            ("addresses", "address"),
            ("houses", "house"),
            ("ages", "age"),
            ("basis", "basis"),
        ] {
            assert_eq!(singular(many), one);
        }
    }

    #[test]
    fn verbs_share_a_root_with_their_nouns() {
        for (left, right) in [
            ("visited", "visit"),
            ("hired", "hiring"),
            ("opening", "open"),
            ("liked", "likes"),
            ("written", "writing"),
            ("shipped", "shipping"),
            ("churned", "churn"),
        ] {
            assert_eq!(root(left), root(right), "{left} {right}");
        }
        assert_eq!(agent("directors"), agent("directed"));
        assert_eq!(agent("writer"), agent("written"));
        assert_ne!(root("rating"), root("ratio"));
    }
}
