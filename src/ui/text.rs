//! Text from outside, made harmless for a terminal: the one place for it.

use std::borrow::Cow;
use std::fmt::Write;

/// Escapes every character that could do more than show itself: controls (which move the cursor, colour, ring, end
/// lines), bidirectional marks (which reorder what is read) and characters of no width (which hide in a word).
///
/// Newlines and tabs are controls too: print text of several lines line by line. A backslash stays as it is, so the
/// result is for eyes, not for reading back.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(acts) else { return Cow::Borrowed(text) };
    let (plain, rest) = text.split_at(first);
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(plain);
    for character in rest.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ if acts(character) => {
                // Writing to a String doesn't fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Whether the character does something other than showing itself.
fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{00ad}' // soft hyphen
            | '\u{034f}' // combining grapheme joiner
            | '\u{061c}' // Arabic letter mark
            | '\u{115f}'..='\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers, blank
            | '\u{17b4}'..='\u{17b5}' // Khmer inherent vowels, invisible
            | '\u{180b}'..='\u{180f}' // Mongolian selectors and vowel separator
            | '\u{200b}'..='\u{200f}' // zero width space, joiners, direction marks
            | '\u{2028}'..='\u{202e}' // line and paragraph separators, embeddings, overrides
            | '\u{2060}'..='\u{206f}' // word joiner, invisible operators, isolates
            | '\u{feff}' // zero width no-break space
            | '\u{fff0}'..='\u{fffb}' // unassigned specials, interlinear annotations
            | '\u{1bca0}'..='\u{1bca3}' // shorthand format controls
            | '\u{1d173}'..='\u{1d17a}' // musical format controls
            | '\u{e0000}'..='\u{e0fff}' // tags, selectors: a whole hidden alphabet
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_only_shows_itself_is_not_copied() {
        for text in ["", "142 accounts", "Zürich 東京 Ελλάδα", "שלום", "👍🏽", "a\\nb", "naïve e\u{301}"]
        {
            assert!(matches!(harmless(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn what_acts_on_a_terminal_is_spelled_out() {
        assert_eq!(harmless("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(harmless("\u{9b}31m\u{7f}\0\u{7}"), "\\u{9b}31m\\u{7f}\\u{0}\\u{7}");
        assert_eq!(harmless("one\r\n\ttwo"), "one\\r\\n\\ttwo");
    }

    #[test]
    fn what_hides_or_reorders_is_spelled_out() {
        assert_eq!(harmless("pay\u{202e}lap"), "pay\\u{202e}lap");
        assert_eq!(harmless("a\u{200b}b\u{2066}c\u{2028}d\u{feff}"), "a\\u{200b}b\\u{2066}c\\u{2028}d\\u{feff}");
        assert_eq!(harmless("\u{e0041}x"), "\\u{e0041}x");
    }

    #[test]
    fn no_control_is_left_of_any_character() {
        let all: String = ('\0'..=char::MAX).collect();
        let shown = harmless(&all);
        assert!(!shown.contains(acts));
        assert_eq!(harmless(&shown), shown);
    }
}
