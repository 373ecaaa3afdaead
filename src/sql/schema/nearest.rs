//! Names that a wrong name may have meant.

/// How many names are offered: enough to hold the right one, few enough to be read.
const OFFERED: usize = 3;

/// A part this short is in too many names to be a clue.
const SHORTEST_PART: usize = 3;

/// A name longer than this, in bytes, is no misspelling; the distance costs the product of both lengths.
const LONGEST: usize = 200;

/// The nearest of `known` to a name that isn't there, best first; empty when none is near.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if wrong.len() > LONGEST {
        return Vec::new();
    }
    let wrong = wrong.to_lowercase();
    let mut near: Vec<(usize, &str)> =
        known.into_iter().filter_map(|name| Some((distance(&wrong, name)?, name))).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(OFFERED).map(|(_, name)| name).collect()
}

/// Edits from one name to the other, or `None` when they are too far apart to be meant for each other.
fn distance(wrong: &str, name: &str) -> Option<usize> {
    if name.len() > LONGEST {
        return None;
    }
    let name = name.to_lowercase();
    let longest = wrong.chars().count().max(name.chars().count());
    let edits = strsim::osa_distance(wrong, &name);
    if edits <= (longest / 3).max(1) {
        return Some(edits);
    }
    // `churn` for `churn_reason`, `customer_id` for `id`: behind every near miss, but still a clue.
    let part = wrong.len().min(name.len()) >= SHORTEST_PART && (wrong.contains(&name) || name.contains(wrong));
    part.then_some(longest + edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_plural_and_partial_names_are_found_and_strange_ones_are_not() {
        let known = ["accounts", "account_events", "events", "plans", "subscriptions"];
        assert_eq!(nearest("acounts", known), ["accounts"]);
        assert_eq!(nearest("EVENT", known), ["events", "account_events"]);
        assert_eq!(nearest("plnas", known), ["plans"]);
        assert!(nearest("invoices", known).is_empty());
        assert!(nearest("", known).is_empty());
    }
}
