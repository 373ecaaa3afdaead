//! Questions of a shape that is known to be misread: said so, rather than answered with a wrong number.

use super::words::{Kind, Token};

/// Why the question isn't read, if it is of such a shape.
pub(super) fn shape(tokens: &[Token]) -> Option<&'static str> {
    let words: Vec<&str> =
        tokens.iter().map(|token| if token.kind == Kind::Quoted { "" } else { token.lower.as_str() }).collect();
    let at = |place: usize, wanted: &[&str]| words.get(place).is_some_and(|word| wanted.contains(word));
    let turn = |word: &str| ["first", "last"].contains(&word);

    // A row is no more common than another; something else has to be counted, and it isn't named.
    if at(0, &["which", "what"]) && at(2, &["is"]) && at(3, &["the"]) && at(4, &["most", "least"]) {
        let vague = at(5, &["popular", "common", "frequent", "used"]) && words.len() <= 7;
        return vague.then_some("I don't know what to count. Ask for example which one has the most of something.");
    }
    // The total would be given as if it were one row's.
    if at(0, &["how"]) && at(1, &["many"]) {
        let one =
            words.windows(2).any(|pair| ["do", "does"].contains(&pair[0]) && ["a", "an", "one"].contains(&pair[1]));
        if one {
            return Some(
                "I can't count for one of them without knowing which. Ask for the count for each, or name one.",
            );
        }
    }
    // What came first is read off the row's own date, not off the date of what it did.
    let when = at(0, &["when"]) && at(1, &["did"]) && words.iter().take(5).any(|word| turn(word));
    let done = words.windows(2).any(|pair| turn(pair[0]) && pair[1].len() > 4 && pair[1].ends_with("ed"));
    if when || done {
        return Some("I can't tell what came first or last of what was done. Ask what was done in a period.");
    }
    if words.contains(&"will") {
        return Some("I can only tell what the data holds, not what will be.");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::words::tokens;
    use super::*;

    #[test]
    fn a_shape_that_is_misread_is_known_and_its_neighbours_are_not() {
        for misread in [
            "which plan is the least popular?",
            "how many events does an account have?",
            "when did the first account churn?",
            "how many accounts first churned in June 2026?",
            "how many will churn in December 2026?",
        ] {
            assert!(shape(&tokens(misread)).is_some(), "{misread}");
        }
        for read in [
            "which plan is the most popular of the plans that were sold in 2025?",
            "how many events does each account have?",
            "when was the last event?",
            "what are the first names of the teachers?",
            "how many accounts churned in June 2026?",
            "how many songs are named \"will\"?",
        ] {
            assert!(shape(&tokens(read)).is_none(), "{read}");
        }
    }
}
