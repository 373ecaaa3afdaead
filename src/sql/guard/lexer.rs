//! Cuts SQL into tokens exactly where SQLite cuts it.
//!
//! Every rule here mirrors one of SQLite's tokenizer, odd ones included, because a guard that sees other tokens than the
//! engine can be talked past: a comment that never ends is fine, `/*` at the very end is two operators, a vertical
//! tab is white space only after other white space, and every character beyond ASCII is part of a word.

/// One token: what it is and where it stands, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sql) struct Token {
    pub(in crate::sql) kind: Kind,
    pub(in crate::sql) start: usize,
    pub(in crate::sql) end: usize,
}

/// What a token is, as far as the guard has to tell tokens apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sql) enum Kind {
    /// White space, or a byte order mark.
    Space,
    /// `-- …` up to the end of the line, or `/* … */`, which doesn't nest.
    Comment,
    /// A bare word: keyword or name.
    Word,
    /// A quoted name: `"…"`, `` `…` `` or `[…]`.
    Name,
    /// A literal: text, number or blob.
    Literal,
    /// A parameter: `?`, `?1`, `:a`, `@a`, `$a`, `#a`, `$a::b(c)`.
    Parameter,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `;`
    Semicolon,
    /// `,`
    Comma,
    /// Any other operator or punctuation.
    Operator,
    /// Something SQLite has no token for.
    Bad(Fault),
}

/// Why something is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sql) enum Fault {
    /// A quote that opens and never closes.
    Unclosed,
    /// Digits with something in or after them that no number has.
    Number,
    /// `x'…'` whose inside isn't pairs of hexadecimal digits.
    Blob,
    /// A character, or a start of a parameter, that means nothing.
    Character,
}

/// The tokens of a text, in order, without gaps.
pub(in crate::sql) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(in crate::sql) fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), at: 0 }
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (kind, length) = first_token(Bytes(rest));
        let start = self.at;
        self.at += length;
        Some(Token { kind, start, end: self.at })
    }
}

/// Bytes that read as 0 beyond their end, like the C text that SQLite reads.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn at(self, i: usize) -> u8 {
        self.0.get(i).copied().unwrap_or(0)
    }

    /// The first position from `start` whose byte fails the test; a 0 fails every test used here.
    fn skip(self, start: usize, test: impl Fn(u8) -> bool) -> usize {
        let mut i = start;
        while i < self.0.len() && test(self.at(i)) {
            i += 1;
        }
        i
    }
}

fn first_token(z: Bytes<'_>) -> (Kind, usize) {
    match z.at(0) {
        b' ' | b'\t' | b'\n' | b'\x0c' | b'\r' => (Kind::Space, z.skip(1, is_space)),
        // Only here does SQLite take a byte order mark for a space; inside a word it is part of the word.
        0xEF if z.at(1) == 0xBB && z.at(2) == 0xBF => (Kind::Space, 3),
        b'-' => match z.at(1) {
            b'-' => (Kind::Comment, z.skip(2, |c| c != 0 && c != b'\n')),
            b'>' => (Kind::Operator, if z.at(2) == b'>' { 3 } else { 2 }),
            _ => (Kind::Operator, 1),
        },
        b'/' if z.at(1) == b'*' && z.at(2) != 0 => (Kind::Comment, block_comment(z)),
        b'(' => (Kind::Open, 1),
        b')' => (Kind::Close, 1),
        b';' => (Kind::Semicolon, 1),
        b',' => (Kind::Comma, 1),
        b'/' | b'+' | b'*' | b'%' | b'&' | b'~' => (Kind::Operator, 1),
        b'=' => (Kind::Operator, if z.at(1) == b'=' { 2 } else { 1 }),
        b'<' => (Kind::Operator, if matches!(z.at(1), b'=' | b'>' | b'<') { 2 } else { 1 }),
        b'>' => (Kind::Operator, if matches!(z.at(1), b'=' | b'>') { 2 } else { 1 }),
        b'!' if z.at(1) == b'=' => (Kind::Operator, 2),
        b'|' => (Kind::Operator, if z.at(1) == b'|' { 2 } else { 1 }),
        b'.' if !z.at(1).is_ascii_digit() => (Kind::Operator, 1),
        b'.' | b'0'..=b'9' => number(z),
        quote @ (b'\'' | b'"' | b'`') => quoted(z, quote),
        b'[' => bracketed(z),
        b'?' => (Kind::Parameter, z.skip(1, |c| c.is_ascii_digit())),
        b'$' | b'@' | b'#' | b':' => parameter(z),
        b'x' | b'X' if z.at(1) == b'\'' => blob(z),
        c if is_word(c) => (Kind::Word, z.skip(1, is_word)),
        _ => (Kind::Bad(Fault::Character), 1),
    }
}

/// SQLite's white space after the first: the vertical tab belongs to it, though no token may start with one.
fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t'..=b'\r')
}

/// What a word may go on with. `$` is among them, though no word starts with it.
fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$') || c >= 0x80
}

/// The length of a block comment. The search for its end starts at the third byte, so `/*/` has not ended yet.
fn block_comment(z: Bytes<'_>) -> usize {
    let mut i = 3;
    let mut before = z.at(2);
    while before != 0 && !(before == b'*' && z.at(i) == b'/') {
        before = z.at(i);
        i += 1;
    }
    // Without an end the loop has read one byte beyond the text (or stands on a NUL, which no guarded text holds).
    if before == 0 { i - 1 } else { i + 1 }
}

/// Text or a quoted name; the quote doubled stands for itself.
fn quoted(z: Bytes<'_>, quote: u8) -> (Kind, usize) {
    let mut i = 1;
    loop {
        i = z.skip(i, |c| c != 0 && c != quote);
        if z.at(i) != quote {
            return (Kind::Bad(Fault::Unclosed), i);
        }
        if z.at(i + 1) != quote {
            return (if quote == b'\'' { Kind::Literal } else { Kind::Name }, i + 1);
        }
        i += 2;
    }
}

/// `[name]`: no way to write a `]` inside.
fn bracketed(z: Bytes<'_>) -> (Kind, usize) {
    let end = z.skip(1, |c| c != 0 && c != b']');
    if z.at(end) == b']' { (Kind::Name, end + 1) } else { (Kind::Bad(Fault::Unclosed), end) }
}

/// A number: decimal with fraction and exponent, or hexadecimal, digits separable by single `_`.
fn number(z: Bytes<'_>) -> (Kind, usize) {
    let hexadecimal = z.at(0) == b'0' && matches!(z.at(1), b'x' | b'X') && z.at(2).is_ascii_hexdigit();
    let digits_end = if hexadecimal {
        z.skip(3, |c| c.is_ascii_hexdigit() || c == b'_')
    } else {
        let decimal = |c: u8| c.is_ascii_digit() || c == b'_';
        let mut i = z.skip(0, decimal);
        if z.at(i) == b'.' {
            i = z.skip(i + 1, decimal);
        }
        let sign = usize::from(matches!(z.at(i + 1), b'+' | b'-'));
        if matches!(z.at(i), b'e' | b'E') && z.at(i + 1 + sign).is_ascii_digit() {
            i = z.skip(i + 2, decimal);
        }
        i
    };
    let end = z.skip(digits_end, is_word);
    let digit = |c: u8| if hexadecimal { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
    // SQLite's tokenizer lets any `_` pass and its parser then refuses the stray ones as "unrecognized token".
    let separated = (0..digits_end).all(|i| z.at(i) != b'_' || (i > 0 && digit(z.at(i - 1)) && digit(z.at(i + 1))));
    if end == digits_end && separated { (Kind::Literal, end) } else { (Kind::Bad(Fault::Number), end) }
}

/// `x'…'`. A bad one still runs to its closing quote, so that what follows is cut as SQLite cuts it.
fn blob(z: Bytes<'_>) -> (Kind, usize) {
    let digits_end = z.skip(2, |c| c.is_ascii_hexdigit());
    if z.at(digits_end) == b'\'' && digits_end.is_multiple_of(2) {
        return (Kind::Literal, digits_end + 1);
    }
    let end = z.skip(digits_end, |c| c != 0 && c != b'\'');
    if z.at(end) == b'\'' { (Kind::Bad(Fault::Blob), end + 1) } else { (Kind::Bad(Fault::Unclosed), end) }
}

/// A named parameter, with the `::` and `(…)` of Tcl variables that SQLite reads as part of it.
fn parameter(z: Bytes<'_>) -> (Kind, usize) {
    let mut named = false;
    let mut i = 1;
    loop {
        match z.at(i) {
            c if is_word(c) => {
                named = true;
                i += 1;
            }
            b'(' if named => {
                let end = z.skip(i + 1, |c| c != 0 && c != b')' && !is_space(c));
                return if z.at(end) == b')' { (Kind::Parameter, end + 1) } else { (Kind::Bad(Fault::Character), end) };
            }
            b':' if z.at(i + 1) == b':' => i += 2,
            _ => return (if named { Kind::Parameter } else { Kind::Bad(Fault::Character) }, i),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        Lexer::new(text).map(|token| (token.kind, &text[token.start..token.end])).collect()
    }

    #[test]
    fn one_token_is_cut_as_one() {
        let bad = Kind::Bad;
        for (kind, text) in [
            (Kind::Space, " \t\n\x0c\r\x0b"),
            (Kind::Space, "\u{feff}"),
            (Kind::Comment, "-- a ' \" /* ;"),
            (Kind::Comment, "/* a * / /* ; ' */"),
            (Kind::Comment, "/**/"),
            (Kind::Comment, "/*/"),
            (Kind::Comment, "/* open"),
            (Kind::Comment, "/* open *"),
            (Kind::Word, "SELECT"),
            (Kind::Word, "a$1_b"),
            (Kind::Word, "x"),
            (Kind::Word, "\u{a0}\u{3000}é"),
            (Kind::Word, "a\u{feff}b"),
            (Kind::Name, r#""a""b""#),
            (Kind::Name, "`a``b`"),
            (Kind::Name, "[a'b\"c]"),
            (Kind::Literal, "'it''s'"),
            (Kind::Literal, "''"),
            (Kind::Literal, "1_000.5_0e+1_0"),
            (Kind::Literal, "0xFF_ff"),
            (Kind::Literal, ".5"),
            (Kind::Literal, "5."),
            (Kind::Literal, "x''"),
            (Kind::Literal, "X'00fF'"),
            (Kind::Parameter, "?"),
            (Kind::Parameter, "?12"),
            (Kind::Parameter, "$a::b(c'd;e)"),
            (Kind::Parameter, ":é1"),
            (Kind::Parameter, "#a"),
            (Kind::Operator, "->>"),
            (Kind::Operator, "!="),
            (Kind::Operator, "||"),
            (bad(Fault::Unclosed), "'a''"),
            (bad(Fault::Unclosed), "[a"),
            (bad(Fault::Unclosed), "x'0"),
            (bad(Fault::Blob), "x'0g'"),
            (bad(Fault::Blob), "x'000'"),
            (bad(Fault::Number), "1a"),
            (bad(Fault::Number), "0x"),
            (bad(Fault::Number), "1__0"),
            (bad(Fault::Number), "1_"),
            (bad(Fault::Number), "1_.5"),
            (bad(Fault::Character), "^"),
            (bad(Fault::Character), "\x0b"),
            (bad(Fault::Character), ":"),
            (bad(Fault::Character), ":::"),
            (bad(Fault::Character), "$a(b"),
        ] {
            assert_eq!(kinds(text), [(kind, text)]);
        }
    }

    #[test]
    fn neighbours_are_cut_apart() {
        let cut = |text| kinds(text).into_iter().map(|(_, part)| part.to_owned()).collect::<Vec<_>>();
        assert_eq!(cut("/*"), ["/", "*"]);
        assert_eq!(cut("a--b\nc"), ["a", "--b", "\n", "c"]);
        assert_eq!(cut("->--x"), ["->", "--x"]);
        assert_eq!(cut("1..2"), ["1.", ".2"]);
        assert_eq!(cut("1e+x"), ["1e", "+", "x"]);
        assert_eq!(cut("a::int"), ["a", ":", ":int"]);
        assert_eq!(cut("xx'00'"), ["xx", "'00'"]);
        assert_eq!(cut("/* /* */ */"), ["/* /* */", " ", "*", "/"]);
    }

    /// Texts dense in the characters where tokens begin and end.
    fn soup() -> impl Strategy<Value = String> {
        prop_oneof![
            r#"[a-exX0-9_'"`\[\]\-/*.;:$@#?!<>=|()\\{}^,~%& \t\n\x0b\x00\u{feff}\u{a0}é😀]{0,40}"#,
            any::<String>()
        ]
    }

    proptest! {
        #![proptest_config(super::super::differential::config(4_000))]

        #[test]
        fn tokens_always_advance_and_join_to_the_text(text in soup()) {
            let mut at = 0;
            for token in Lexer::new(&text) {
                prop_assert_eq!(token.start, at);
                prop_assert!(token.end > at);
                prop_assert!(text.is_char_boundary(token.end));
                at = token.end;
            }
            prop_assert_eq!(at, text.len());
        }
    }
}
