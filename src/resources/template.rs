//! Prompt templates: a text with places for what a person typed after the command.

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::front_matter::Document;
use super::{ResourceError, Warning, defaults};

/// Characters of a description that was taken from the body.
const MAX_BORROWED_DESCRIPTION: usize = 60;

/// One template; its name is its slash command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// The command without its slash.
    pub name: String,
    /// One line for a menu.
    pub description: String,
    /// What to type after the command, for a menu.
    pub argument_hint: Option<String>,
    /// The text, with its places.
    pub body: String,
}

/// The embedded templates, replaced file by file, and the project's own.
pub(super) fn load(files: &mut Files, warnings: &mut Vec<Warning>) -> Result<Vec<Template>, ResourceError> {
    let mut texts: Vec<(String, String)> =
        defaults::TEMPLATES.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
    for file in files.names("prompts")? {
        let Some(name) = file.strip_suffix(".md").filter(|name| !name.is_empty()) else { continue };
        if let Some(text) = files.read(&format!("prompts/{file}"))? {
            texts.retain(|(known, _)| known != name);
            texts.push((name.to_owned(), text));
        }
    }
    texts.sort();
    let mut templates = Vec::new();
    for (name, text) in texts {
        let file = format!("prompts/{name}.md");
        match Template::parse(&name, &text) {
            Ok(template) if template.body.is_empty() => {
                warnings.push(Warning::new(&file, "it is empty; the template is left out"));
            }
            Ok(template) => templates.push(template),
            Err(fault) => warnings.push(Warning::new(&file, format!("{fault}; the template is left out"))),
        }
    }
    Ok(templates)
}

impl Template {
    fn parse(name: &str, text: &str) -> Result<Self, String> {
        if name.contains(char::is_whitespace) {
            return Err("a name with spaces can't be typed as a command".into());
        }
        let document = Document::parse(text).map_err(|error| error.to_string())?;
        let given = |key| document.get(key).map(str::trim).filter(|value| !value.is_empty()).map(ToOwned::to_owned);
        let body = document.body.trim();
        let borrowed = || body.lines().next().unwrap_or_default().chars().take(MAX_BORROWED_DESCRIPTION).collect();
        Ok(Self {
            name: name.to_owned(),
            description: given("description").unwrap_or_else(borrowed),
            argument_hint: given("argument-hint"),
            body: body.to_owned(),
        })
    }

    /// The prompt for these arguments.
    ///
    /// `$ARGUMENTS` and `$@` are the arguments as typed; `$1`, `${@:2}` and `${@:2:3}` count words, where quotes hold
    /// words together. One pass: what is inserted is never looked at again.
    pub fn expand(&self, arguments: &str) -> String {
        let arguments = arguments.trim();
        let words = words(arguments);
        let mut expanded = String::with_capacity(self.body.len() + arguments.len());
        let mut rest = self.body.as_str();
        while let Some(at) = rest.find('$') {
            expanded.push_str(&rest[..at]);
            rest = &rest[at..];
            let (place, length) = Place::at_start(rest);
            match place {
                Place::None => expanded.push('$'),
                Place::All => expanded.push_str(arguments),
                Place::Words { first, count } => {
                    let chosen: Vec<&str> = words.iter().skip(first).take(count).map(String::as_str).collect();
                    expanded.push_str(&chosen.join(" "));
                }
            }
            rest = &rest[length..];
        }
        expanded.push_str(rest);
        expanded
    }
}

/// What a `$` stands for.
enum Place {
    /// Itself.
    None,
    /// Everything typed.
    All,
    /// Some words, from `first`, counted from 0.
    Words { first: usize, count: usize },
}

impl Place {
    /// The place that a text starting with `$` begins with, and its length in bytes.
    fn at_start(text: &str) -> (Self, usize) {
        let after = &text[1..];
        if after.starts_with('@') {
            return (Self::All, 2);
        }
        if after.starts_with("ARGUMENTS") {
            return (Self::All, 1 + "ARGUMENTS".len());
        }
        let (number, rest) = leading_number(after);
        if let Some(number) = number {
            let count = usize::from(number > 0);
            return (Self::Words { first: number.saturating_sub(1), count }, text.len() - rest.len());
        }
        Self::slice(text).unwrap_or((Self::None, 1))
    }

    /// `${@:N}` and `${@:N:L}`.
    fn slice(text: &str) -> Option<(Self, usize)> {
        let (first, rest) = leading_number(text.strip_prefix("${@:")?);
        let (count, rest) = match rest.strip_prefix(':') {
            Some(rest) => leading_number(rest),
            None => (Some(usize::MAX), rest),
        };
        let rest = rest.strip_prefix('}')?;
        Some((Self::Words { first: first?.saturating_sub(1), count: count? }, text.len() - rest.len()))
    }
}

fn leading_number(text: &str) -> (Option<usize>, &str) {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = text.split_at(digits);
    // A number that doesn't fit points past every word all the same.
    ((digits > 0).then(|| number.parse().unwrap_or(usize::MAX)), rest)
}

/// Words between blanks. A quote at the start of a word holds it together up to the same quote; elsewhere, and where no
/// second one follows, it is a letter, so that "Bob's accounts" are two words and keep their apostrophe.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let quoted = matches!(first, '"' | '\'').then(|| rest[1..].split_once(first)).flatten();
        let after = match quoted {
            Some((word, after)) if after.is_empty() || after.starts_with(char::is_whitespace) => {
                words.push(word.to_owned());
                after
            }
            _ => {
                let (word, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
                words.push(word.to_owned());
                after
            }
        };
        rest = after.trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn expand(body: &str, arguments: &str) -> String {
        Template::parse("t", body).unwrap().expand(arguments)
    }

    #[test]
    fn places_take_what_was_typed() {
        for (body, arguments, expected) in [
            ("Q: $ARGUMENTS", " how many  of Bob's \"big\" accounts? ", "Q: how many  of Bob's \"big\" accounts?"),
            ("$@ and $@", "a b", "a b and a b"),
            ("$1-$2-$3", "'one word' two", "one word-two-"),
            ("$1|$2", "\"\" two", "|two"),
            ("$12", "1 2 3 4 5 6 7 8 9 10 11 twelve", "twelve"),
            ("${@:2}", "a b c d", "b c d"),
            ("${@:2:2}", "a b c d", "b c"),
            ("${@:0:1}${@:1:1}", "a b", "aa"),
            ("$0", "a", ""),
            ("$99999999999999999999", "a", ""),
            ("cost: $ 5, ${@:x}, ${@:1, $x, $$1", "a", "cost: $ 5, ${@:x}, ${@:1, $x, $a"),
            ("$1", "it's 'un closed", "it's"),
            ("$2", "it's 'un closed", "'un"),
            ("no place", "a", "no place"),
        ] {
            assert_eq!(expand(body, arguments), expected, "{body} with {arguments}");
        }
    }

    #[test]
    fn what_is_inserted_is_never_expanded_again() {
        assert_eq!(expand("$1 / $2", "$ARGUMENTS $1"), "$ARGUMENTS / $1");
        assert_eq!(expand("$ARGUMENTS", "$1 $@ $$ $& ${@:1}"), "$1 $@ $$ $& ${@:1}");
    }

    #[test]
    fn a_description_is_borrowed_from_the_first_line() {
        let template = Template::parse("t", &format!("\n{}\nmore", "x".repeat(80))).unwrap();
        assert_eq!((template.description.len(), template.argument_hint), (60, None));
        assert!(Template::parse("two words", "x").is_err());
    }

    proptest! {
        #[test]
        fn pieces_expand_on_their_own(
            pieces in prop::collection::vec("[a-z \n]{0,5}|[$]1|[$]2|[$]@|[$]ARGUMENTS|[$][{]@:2[}]|[$][{]@:1:2[}]", 0..8),
            arguments in "[a-z0-9$@{}:'\" ]{0,20}",
        ) {
            // A marker keeps pieces apart: `$1` and `2` side by side would be another place.
            let body = format!("<{}>", pieces.join("|"));
            let apart: Vec<String> = pieces.iter().map(|piece| {
                let one = expand(&format!("<{piece}>"), &arguments);
                one[1..one.len() - 1].to_owned()
            }).collect();
            prop_assert_eq!(expand(&body, &arguments), format!("<{}>", apart.join("|")));
        }

        #[test]
        fn any_body_takes_any_arguments(body in "[$@{}:A-Z0-9 é]{0,30}", arguments in ".{0,30}") {
            let expanded = expand(&body, &arguments);
            if !body.contains('$') {
                prop_assert_eq!(expanded, body.trim());
            }
        }

        #[test]
        fn words_lose_no_letter(text in "[a-z'\" ]{0,30}") {
            let letters = |text: &str| text.chars().filter(char::is_ascii_lowercase).collect::<String>();
            prop_assert_eq!(letters(&words(&text).concat()), letters(&text));
        }
    }
}
