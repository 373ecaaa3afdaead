//! The lines between `---` and `---` at the head of a Markdown file.
//!
//! The part of YAML that skills and prompts use: `key: value`, the value plain, quoted, folded (`>`) or literal (`|`),
//! on one line or on indented ones. Nested lists and maps are passed over, since no key that we read has one.

/// A file in two parts.
#[derive(Debug)]
pub(super) struct Document<'a> {
    fields: Vec<(&'a str, String)>,
    /// What comes after the front matter.
    pub(super) body: &'a str,
}

/// The front matter can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub(super) struct FrontMatterError {
    line: usize,
    fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error("the front matter has no end: close it with a line ---")]
    Open,
    #[error("not a `key: value` line")]
    NotAField,
    #[error("indented, but under no key")]
    Stray,
    #[error("this key came before")]
    Twice,
    #[error("the quote is not closed")]
    Unclosed,
    #[error("there is text after the closing quote")]
    AfterQuote,
    #[error("only \\\" \\\\ \\/ \\n and \\t may follow a backslash in double quotes")]
    Escape,
    #[error("only >, >-, |, |- and the like may stand there: the text starts on the next line")]
    BlockHead,
}

impl<'a> Document<'a> {
    /// Reads a file; one that doesn't start with `---` is all body.
    pub(super) fn parse(text: &'a str) -> Result<Self, FrontMatterError> {
        let Some(rest) = after_fence(text) else { return Ok(Self { fields: Vec::new(), body: text }) };
        let mut lines = Vec::new();
        let mut rest = rest;
        loop {
            if let Some(body) = after_fence(rest) {
                return Ok(Self { fields: fields(&lines)?, body });
            }
            let Some((line, after)) = rest.split_once('\n') else {
                return Err(FrontMatterError { line: 1, fault: Fault::Open });
            };
            lines.push(line);
            rest = after;
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str())
    }
}

/// What follows a line `---`, if the text starts with one.
fn after_fence(text: &str) -> Option<&str> {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    (line.trim_end() == "---").then_some(rest)
}

fn fields<'a>(lines: &[&'a str]) -> Result<Vec<(&'a str, String)>, FrontMatterError> {
    let mut fields: Vec<(&str, String)> = Vec::new();
    let mut at = 0;
    while let Some(&line) = lines.get(at) {
        let first = at;
        // The fence is line 1.
        let fail = |fault| FrontMatterError { line: first + 2, fault };
        at += 1;
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with([' ', '\t', '-']) {
            return Err(fail(Fault::Stray));
        }
        let (key, value) = split_field(line).ok_or_else(|| fail(Fault::NotAField))?;
        if fields.iter().any(|(known, _)| *known == key) {
            return Err(fail(Fault::Twice));
        }
        while lines.get(at).is_some_and(|line| line.trim().is_empty() || line.starts_with([' ', '\t', '-'])) {
            at += 1;
        }
        let value = scalar(value, &lines[first + 1..at]).map_err(fail)?;
        fields.push((key, value));
    }
    Ok(fields)
}

fn split_field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_end();
    let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    (plain && (value.is_empty() || value.starts_with([' ', '\t']))).then_some((key, value.trim()))
}

/// A value, from what stands behind its key and the lines that belong to it.
fn scalar(value: &str, more: &[&str]) -> Result<String, Fault> {
    match value.chars().next() {
        Some('>') => block(value, more).map(|lines| fold(&lines)),
        Some('|') => block(value, more).map(|lines| lines.join("\n")),
        Some(quote @ ('"' | '\'')) => {
            let whole = [&[value], more].concat();
            let joined: Vec<&str> = whole.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
            unquote(&joined.join(" "), quote)
        }
        _ => {
            let plain = std::iter::once(value).chain(more.iter().copied()).map(without_comment);
            Ok(plain.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "))
        }
    }
}

fn without_comment(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with('#') {
        return "";
    }
    let comment = line.find(" #").or_else(|| line.find("\t#"));
    line[..comment.unwrap_or(line.len())].trim_end()
}

/// The lines of a folded or literal block, without their common indent and without blank ones at the end.
fn block<'a>(head: &str, more: &[&'a str]) -> Result<Vec<&'a str>, Fault> {
    let head = without_comment(head);
    if head.len() > 2 || !matches!(head.chars().nth(1), None | Some('-' | '+')) {
        return Err(Fault::BlockHead);
    }
    let indent =
        more.iter().find(|line| !line.trim().is_empty()).map_or(0, |line| line.len() - line.trim_start().len());
    let lines = more.iter().map(|line| {
        let own = line.len() - line.trim_start().len();
        line[own.min(indent)..].trim_end()
    });
    let mut lines: Vec<&str> = lines.collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    Ok(lines)
}

/// Lines become one, blank lines become line ends.
fn fold(lines: &[&str]) -> String {
    let mut folded = String::new();
    for line in lines {
        if line.is_empty() {
            folded.push('\n');
        } else {
            if !folded.is_empty() && !folded.ends_with('\n') {
                folded.push(' ');
            }
            folded.push_str(line);
        }
    }
    folded
}

fn unquote(text: &str, quote: char) -> Result<String, Fault> {
    let mut value = String::new();
    let mut chars = text.chars().skip(1).peekable();
    loop {
        match chars.next().ok_or(Fault::Unclosed)? {
            '\\' if quote == '"' => value.push(match chars.next().ok_or(Fault::Unclosed)? {
                'n' => '\n',
                't' => '\t',
                literal @ ('"' | '\\' | '/') => literal,
                _ => return Err(Fault::Escape),
            }),
            // In single quotes a quote is written twice.
            found if found == quote && quote == '\'' && chars.next_if_eq(&quote).is_some() => value.push(quote),
            found if found == quote => break,
            other => value.push(other),
        }
    }
    let rest: String = chars.collect();
    if without_comment(&rest).is_empty() { Ok(value) } else { Err(Fault::AfterQuote) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn field(value: &str) -> Result<String, String> {
        let text = format!("---\nkey: {value}\nafter: x\n---\nbody");
        let document = Document::parse(&text).map_err(|error| error.to_string())?;
        assert_eq!((document.get("after"), document.body), (Some("x"), "body"));
        Ok(document.get("key").unwrap().to_owned())
    }

    #[test]
    fn values_in_every_style() {
        for (written, read) in [
            ("plain text: with a colon # comment", "plain text: with a colon"),
            ("a#b", "a#b"),
            ("", ""),
            ("\n  on the next\n  lines", "on the next lines"),
            ("starts here\n  goes on", "starts here goes on"),
            ("\"double \\\"quoted\\\" \\\\ # no comment\" # comment", "double \"quoted\" \\ # no comment"),
            ("'it''s'", "it's"),
            ("'over\n  two lines'", "over two lines"),
            (">\n  folded\n  text\n\n  second", "folded text\nsecond"),
            (">-\n  a → b:\n  # no comment", "a → b: # no comment"),
            ("|\n  literal\n    deeper\n\n  end\n", "literal\n  deeper\n\nend"),
            ("\n  nested:\n    - list", "nested: - list"),
            ("\n- item\n- item", "- item - item"),
        ] {
            assert_eq!(field(written).as_deref(), Ok(read), "{written}");
        }
    }

    #[test]
    fn broken_front_matter_names_its_line() {
        for (text, reason) in [
            ("---\nname: x\n", "line 1: the front matter has no end"),
            ("---\nname: x\nno field\n---\n", "line 3: not a `key: value` line"),
            ("---\n  deep: x\n---\n", "line 2: indented, but under no key"),
            ("---\na: 1\nb: 2\na: 3\n---\n", "line 4: this key came before"),
            ("---\na: 'open\n---\n", "line 2: the quote is not closed"),
            ("---\na: \"x\" y\n---\n", "line 2: there is text after"),
            ("---\na: \"\\x\"\n---\n", "line 2: only"),
            ("---\na: >5 text\n---\n", "line 2: only >"),
            ("---\na:b\n---\n", "line 2: not a"),
        ] {
            let error = Document::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_file_without_front_matter_is_all_body() {
        for text in ["", "# Title\n---\nname: x\n---\n", "----\na: b\n----\n"] {
            assert_eq!(Document::parse(text).unwrap().body, text);
        }
        assert_eq!(Document::parse("---\n---").unwrap().body, "");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_the_body_is_its_end(text in "(---\n)?([a-z:>|'\"# \\\\-]{0,6}\n?){0,12}(---\n)?.{0,20}") {
            if let Ok(document) = Document::parse(&text) {
                prop_assert!(text.ends_with(document.body));
            }
        }

        #[test]
        fn a_quoted_value_comes_back_as_it_was(value in "[^\r\n]{0,60}") {
            // Line ends inside quotes fold, and so do the spaces around them; within a line nothing changes.
            let double = format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
            prop_assert_eq!(field(&double), Ok(value.clone()));
            prop_assert_eq!(field(&format!("'{}'", value.replace('\'', "''"))), Ok(value));
        }

        #[test]
        fn folding_undoes_breaking_between_words(words in prop::collection::vec("[!-~]{1,8}", 1..20), every in 1_usize..5) {
            let lines: Vec<String> = words.chunks(every).map(|chunk| format!("  {}", chunk.join(" "))).collect();
            prop_assert_eq!(field(&format!(">-\n{}", lines.join("\n"))), Ok(words.join(" ")));
        }
    }
}
