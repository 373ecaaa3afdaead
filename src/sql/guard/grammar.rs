//! The shape of a whole text: which statement it is, and that it is one.
//!
//! Only the outermost layer is read. What stands inside a SELECT is SQLite's to judge: its grammar has no rule by which
//! a statement that starts with SELECT or VALUES does anything but select.

use super::advice::{BadTokenAdvice, VerbAdvice};
use super::lexer::{Fault, Kind, Lexer, Token};
use super::refused::{Excerpt, Refused};

/// What an accepted text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A query.
    Query,
    /// EXPLAIN QUERY PLAN of a query.
    QueryPlan,
}

/// How much is shown before a quote that never closes.
const QUOTE_CONTEXT_BYTES: usize = 16;

/// Reads the shape of a text, or says why it has none that may run.
pub(super) fn shape(text: &str) -> Result<Shape, Refused> {
    let mut reader = Reader { text, tokens: Lexer::new(text), parameter: None };
    let shape = reader.statement()?;
    // Last, because whatever else is wrong says more.
    reader.parameter.map_or(Ok(shape), |found| Err(Refused::Parameter { found }))
}

/// Reads tokens forward, once, and never goes back.
struct Reader<'a> {
    text: &'a str,
    tokens: Lexer<'a>,
    /// The first parameter met.
    parameter: Option<Excerpt>,
}

impl<'a> Reader<'a> {
    fn statement(&mut self) -> Result<Shape, Refused> {
        let mut first = self.meaningful();
        // Empty statements before the first are nothing to SQLite, and `;WITH …` is a habit from another dialect.
        while first.is_some_and(|token| token.kind == Kind::Semicolon) {
            first = self.meaningful();
        }
        let first = first.ok_or(Refused::Empty)?;
        if self.is_word(first, "EXPLAIN") {
            self.query_plan()?;
            return Ok(Shape::QueryPlan);
        }
        if self.is_query_start(first) {
            self.query(first)?;
            return Ok(Shape::Query);
        }
        let found = self.part(first);
        Err(Refused::NotSelect { found: Excerpt::of(found), advice: VerbAdvice::for_start(found) })
    }

    /// After EXPLAIN.
    fn query_plan(&mut self) -> Result<(), Refused> {
        for word in ["QUERY", "PLAN"] {
            if !self.meaningful().is_some_and(|token| self.is_word(token, word)) {
                return Err(Refused::ExplainBytecode);
            }
        }
        match self.meaningful() {
            Some(first) if self.is_query_start(first) => self.query(first),
            _ => Err(Refused::ExplainOther),
        }
    }

    fn is_query_start(&self, token: Token) -> bool {
        ["SELECT", "VALUES", "WITH"].iter().any(|word| self.is_word(token, word))
    }

    /// From its first word to the end of the text.
    fn query(&mut self, first: Token) -> Result<(), Refused> {
        if self.is_word(first, "WITH") {
            self.with_clause()?;
        }
        while let Some(token) = self.next()? {
            match token.kind {
                Kind::Open => self.group()?,
                Kind::Close => return Err(Refused::Parenthesis { which: ')' }),
                Kind::Semicolon => return self.end(),
                _ => {}
            }
        }
        Ok(())
    }

    /// After WITH, up to and including the main SELECT or VALUES:
    /// `[RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (…) [, name …]`.
    fn with_clause(&mut self) -> Result<(), Refused> {
        let mut name = self.expect()?;
        if self.is_word(name, "RECURSIVE") {
            name = self.expect()?;
        }
        loop {
            // SQLite takes text in single quotes for a name here.
            if !matches!(name.kind, Kind::Word | Kind::Name | Kind::Literal) {
                return Err(Refused::WithIncomplete);
            }
            let mut token = self.expect()?;
            if token.kind == Kind::Open {
                self.group()?;
                token = self.expect()?;
            }
            if !self.is_word(token, "AS") {
                return Err(Refused::WithIncomplete);
            }
            token = self.expect()?;
            if self.is_word(token, "NOT") {
                token = self.expect()?;
                if !self.is_word(token, "MATERIALIZED") {
                    return Err(Refused::WithIncomplete);
                }
            }
            if self.is_word(token, "MATERIALIZED") {
                token = self.expect()?;
            }
            if token.kind != Kind::Open {
                return Err(Refused::WithIncomplete);
            }
            self.group()?;
            let main = self.expect()?;
            if main.kind != Kind::Comma {
                return self.main_verb(main);
            }
            name = self.expect()?;
        }
    }

    /// The verb a WITH clause belongs to.
    fn main_verb(&self, token: Token) -> Result<(), Refused> {
        let is = |word: &&str| self.is_word(token, word);
        if ["SELECT", "VALUES"].iter().any(is) {
            Ok(())
        } else if ["INSERT", "REPLACE", "UPDATE", "DELETE"].iter().any(is) {
            Err(Refused::WithWrite { verb: Excerpt::of(self.part(token)) })
        } else {
            Err(Refused::WithIncomplete)
        }
    }

    /// After an opening parenthesis, up to and including its partner.
    fn group(&mut self) -> Result<(), Refused> {
        let mut depth = 1_usize;
        while let Some(token) = self.next()? {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close if depth == 1 => return Ok(()),
                Kind::Close => depth -= 1,
                // SQLite ends the statement at any semicolon token, wherever it stands.
                Kind::Semicolon => break,
                _ => {}
            }
        }
        Err(Refused::Parenthesis { which: '(' })
    }

    /// After the statement's semicolon.
    fn end(&mut self) -> Result<(), Refused> {
        let mut extra = false;
        while let Some(token) = self.meaningful() {
            if token.kind != Kind::Semicolon {
                return Err(Refused::SecondStatement { found: Excerpt::of(self.part(token)) });
            }
            extra = true;
        }
        if extra { Err(Refused::ExtraSemicolon) } else { Ok(()) }
    }

    /// The next token of a WITH clause, which can't end here.
    fn expect(&mut self) -> Result<Token, Refused> {
        self.next()?.ok_or(Refused::WithIncomplete)
    }

    /// The next token that SQLite can read.
    fn next(&mut self) -> Result<Option<Token>, Refused> {
        let Some(token) = self.meaningful() else { return Ok(None) };
        match token.kind {
            Kind::Bad(Fault::Unclosed) => {
                // The quote that lacks its partner is often one before: `'it's'`.
                let start = self.text.floor_char_boundary(token.start.saturating_sub(QUOTE_CONTEXT_BYTES));
                return Err(Refused::UnclosedQuote { near: Excerpt::of(self.text.get(start..).unwrap_or_default()) });
            }
            Kind::Bad(_) => {
                let part = self.part(token);
                let rest = self.text.get(token.end..).unwrap_or_default();
                return Err(Refused::BadToken {
                    found: Excerpt::of(part),
                    advice: BadTokenAdvice::for_part(part, rest),
                });
            }
            Kind::Parameter if self.parameter.is_none() => self.parameter = Some(Excerpt::of(self.part(token))),
            _ => {}
        }
        Ok(Some(token))
    }

    /// The next token that isn't white space or a comment.
    fn meaningful(&mut self) -> Option<Token> {
        self.tokens.find(|token| !matches!(token.kind, Kind::Space | Kind::Comment))
    }

    fn is_word(&self, token: Token, word: &str) -> bool {
        token.kind == Kind::Word && self.part(token).eq_ignore_ascii_case(word)
    }

    fn part(&self, token: Token) -> &'a str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }
}
