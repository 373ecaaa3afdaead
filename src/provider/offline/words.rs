//! A question cut into words, numbers, quoted texts and marks.

use super::stem::singular;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Letters (and digits among them).
    Word,
    /// A number, with its value.
    Number(f64),
    /// A text in quotes, without them.
    Quoted,
    /// `,` `;` `:` or a bracket: a pause.
    Pause,
    /// `.` `?` `!`: the end of a sentence.
    Stop,
    /// `'s`, or the apostrophe after a plural.
    Possessive,
}

/// One piece of a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    /// As written.
    pub raw: String,
    /// In lower case.
    pub lower: String,
    /// In lower case and singular, for comparing names.
    pub key: String,
    /// What it is.
    pub kind: Kind,
    /// Where it starts in the question, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Joined to the token before it by a hyphen.
    pub glued: bool,
}

impl Token {
    /// Whether it is written with a capital.
    pub(super) fn capital(&self) -> bool {
        self.raw.chars().next().is_some_and(char::is_uppercase)
    }

    /// Its number, if it is one.
    pub(super) fn number(&self) -> Option<f64> {
        match self.kind {
            Kind::Number(value) => Some(value),
            _ => None,
        }
    }
}

/// The longest question that is read, in bytes: far above any sentence, low enough that reading stays instant.
pub(super) const LONGEST_QUESTION: usize = 2_000;

/// Cuts a question into tokens.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let at = |index: usize| chars.get(index).map(|&(_, c)| c);
    let byte = |index: usize| chars.get(index).map_or(text.len(), |&(position, _)| position);
    let mut index = 0;
    while let Some(c) = at(index) {
        let before = index.checked_sub(1).and_then(&at);
        if let Some((open, close)) = quoted(&chars, index) {
            out.push(token(&text[byte(open)..byte(close)], Kind::Quoted, byte(index), byte(close), false));
            index = close + closing_length(&chars, close);
        } else if c.is_alphanumeric() || c == '_' {
            let end = end_of_word(&chars, index);
            let raw = &text[byte(index)..byte(end)];
            let glued = before == Some('-') && index > 1 && at(index - 2).is_some_and(char::is_alphanumeric);
            let kind = number(raw).map_or(Kind::Word, Kind::Number);
            out.push(token(raw, kind, byte(index), byte(end), glued));
            index = end;
        } else {
            let end = byte(index + 1);
            let raw = &text[byte(index)..end];
            match c {
                '\'' | '’' => {
                    let letter = at(index + 1).is_some_and(|next| next == 's' || next == 'S')
                        && !at(index + 2).is_some_and(char::is_alphanumeric);
                    let follows_word = before.is_some_and(char::is_alphanumeric);
                    if letter && follows_word {
                        out.push(token("'s", Kind::Possessive, byte(index), byte(index + 2), false));
                        index += 1;
                    } else if follows_word {
                        out.push(token("'", Kind::Possessive, byte(index), end, false));
                    }
                }
                '.' | '?' | '!' | '\n' => out.push(token(raw, Kind::Stop, byte(index), end, false)),
                ',' | ';' | ':' | '(' | ')' | '[' | ']' | '–' | '—' => {
                    out.push(token(raw, Kind::Pause, byte(index), end, false));
                }
                '-' | '"' | '`' | '“' | '”' | '‘' | '«' | '»' => {}
                _ if c.is_whitespace() || c.is_control() => {}
                _ => out.push(token(raw, Kind::Word, byte(index), end, false)),
            }
            index += 1;
        }
    }
    out
}

fn token(raw: &str, kind: Kind, start: usize, end: usize, glued: bool) -> Token {
    let lower = raw.to_lowercase();
    let key = if kind == Kind::Word { singular(&lower) } else { lower.clone() };
    Token { raw: raw.to_owned(), lower, key, kind, start, end, glued }
}

/// The inside of a quoted text that opens at `index`: from, to (both in characters).
fn quoted(chars: &[(usize, char)], index: usize) -> Option<(usize, usize)> {
    let at = |position: usize| chars.get(position).map(|&(_, c)| c);
    let (closers, open): (&[&str], usize) = match at(index)? {
        '"' => (&["\""], index + 1),
        '“' => (&["”"], index + 1),
        '«' => (&["»"], index + 1),
        '‘' => (&["’"], index + 1),
        '`' if at(index + 1) == Some('`') => (&["''", "``", "\""], index + 2),
        '`' => (&["`"], index + 1),
        '\'' if index == 0 || at(index - 1).is_some_and(|c| c.is_whitespace() || c == '(') => (&["'"], index + 1),
        _ => return None,
    };
    let mut close = open;
    while at(close).is_some() {
        let ends =
            closers.iter().any(|closer| closer.chars().enumerate().all(|(offset, c)| at(close + offset) == Some(c)));
        let inside_word = at(close) == Some('\'') && at(close + 1).is_some_and(char::is_alphanumeric);
        if ends && !inside_word {
            let trimmed_open = (open..close).find(|&i| at(i).is_some_and(|c| !c.is_whitespace()))?;
            let trimmed_close = (trimmed_open..close).rev().find(|&i| at(i).is_some_and(|c| !c.is_whitespace()))? + 1;
            return Some((trimmed_open, trimmed_close));
        }
        close += 1;
    }
    None
}

/// How many characters follow the inside of a quoted text until after its closing mark.
fn closing_length(chars: &[(usize, char)], close: usize) -> usize {
    let blanks = chars[close..].iter().take_while(|(_, c)| c.is_whitespace()).count();
    let marks = chars[close + blanks..].iter().take(2).take_while(|(_, c)| matches!(c, '\'' | '`')).count();
    blanks + marks.max(1)
}

/// Where the word or number that starts at `index` ends: `10,000`, `3.5` and `2026-06-01` are one piece.
fn end_of_word(chars: &[(usize, char)], index: usize) -> usize {
    let digit = |position: usize| chars.get(position).is_some_and(|(_, c)| c.is_ascii_digit());
    let numeric = digit(index);
    let mut end = index;
    while let Some(&(_, c)) = chars.get(end) {
        let part_of_number = numeric
            && digit(end + 1)
            && match c {
                '.' | '-' => digit(end.wrapping_sub(1)),
                ',' => (1..=3).all(|offset| digit(end + offset)) && !digit(end + 4),
                ':' => true,
                _ => false,
            };
        // `O'Hara` and `don't` are one word, `Kyle's` is two.
        let letter = |position: usize| chars.get(position).is_some_and(|(_, c)| c.is_alphanumeric());
        let possessive = chars.get(end + 1).is_some_and(|(_, c)| matches!(c, 's' | 'S')) && !letter(end + 2);
        let inside = matches!(c, '\'' | '’') && end > index && letter(end + 1) && !possessive;
        if !(c.is_alphanumeric() || c == '_' || part_of_number || inside) {
            break;
        }
        end += 1;
    }
    end
}

fn number(raw: &str) -> Option<f64> {
    if !raw.starts_with(|c: char| c.is_ascii_digit()) {
        return spelled(raw);
    }
    let plain = raw.replace(',', "");
    let (digits, factor) = match plain.strip_suffix(['k', 'K']) {
        Some(rest) => (rest.to_owned(), 1e3),
        None => (plain, 1.0),
    };
    let usual = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    digits.parse::<f64>().ok().filter(|value| usual && value.is_finite()).map(|value| value * factor)
}

fn spelled(raw: &str) -> Option<f64> {
    const SPELLED: [&str; 12] =
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"];
    let lower = raw.to_lowercase();
    match lower.as_str() {
        "once" => return Some(1.0),
        "twice" => return Some(2.0),
        _ => {}
    }
    let place = SPELLED.iter().position(|word| *word == lower)?;
    u32::try_from(place + 2).ok().map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raws(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.raw).collect()
    }

    #[test]
    fn words_numbers_and_dates_are_single_pieces() {
        assert_eq!(
            raws("since 2026-06-01, 10,000 or 3.5k?"),
            ["since", "2026-06-01", ",", "10,000", "or", "3.5k", "?"]
        );
        assert_eq!(tokens("10,000")[0].number(), Some(10_000.0));
        assert_eq!(tokens("3.5k")[0].number(), Some(3_500.0));
        assert_eq!(tokens("Three")[0].number(), Some(3.0));
        assert_eq!(tokens("2026-06-01")[0].number(), None);
        assert_eq!(tokens("in 2014.")[1].number(), Some(2014.0));
    }

    #[test]
    fn quotes_keep_their_text_whole() {
        for text in ["named \"Sky Radio\" ?", "named 'Sky Radio'?", "named `` Sky Radio '' ?", "named “Sky Radio”?"]
        {
            let found = tokens(text);
            assert_eq!((found[1].raw.as_str(), &found[1].kind), ("Sky Radio", &Kind::Quoted), "{text}");
            assert_eq!(found.len(), 3, "{text}: {found:?}");
        }
        assert_eq!(tokens("named 'O'Brien'")[1].raw, "O'Brien");
    }

    #[test]
    fn possessives_and_hyphens_are_seen() {
        let found = tokens("Kyle's full-time shops' names");
        assert_eq!(found.iter().filter(|token| token.kind == Kind::Possessive).count(), 2);
        assert!(found.iter().any(|token| token.lower == "time" && token.glued));
    }

    #[test]
    fn a_lone_quote_or_stray_mark_swallows_nothing() {
        assert_eq!(raws("how \"many singers"), ["how", "many", "singers"]);
        assert_eq!(raws("50 % of ☃"), ["50", "%", "of", "☃"]);
    }
}
