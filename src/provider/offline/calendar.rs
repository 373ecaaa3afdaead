//! Time phrases: `June 2026`, `last month`, `Q2`, `since March`, `between … and …`, as half-open ranges of days.

use jiff::civil::Date;

use super::span::{Span, Unit, last_units, this_unit};
use super::words::{Kind, Token};

/// A stretch of days that a phrase names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Period {
    /// The first day, if bounded.
    pub from: Option<Date>,
    /// The day after the last, if bounded.
    pub until: Option<Date>,
    /// Whether the phrase counts from today, so that an answer must say which days it took.
    pub relative: bool,
    /// Whether the phrase is a bare number that may be no year at all.
    pub bare: bool,
    /// How many tokens the phrase takes.
    pub len: usize,
}

/// A phrase that counts from today was used, and today is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TodayUnknown;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Whether this is a month's whole name, in lower case.
pub(super) fn is_month(word: &str) -> bool {
    MONTHS.contains(&word)
}

/// The first and last year that a bare number is taken for.
const YEARS: std::ops::RangeInclusive<f64> = 1900.0..=2100.0;

/// The phrase that starts here, if one does.
pub(super) fn read(tokens: &[Token], today: Option<Date>) -> Result<Option<Period>, TodayUnknown> {
    let reader = Reader { tokens, today };
    let first = reader.lower(0);
    match first {
        "between" => reader.pair(1, &["and"]),
        "from" => match reader.pair(1, &["to", "until", "till", "through"])? {
            Some(period) => Ok(Some(period)),
            None => reader.edge(1, Edge::Since, true),
        },
        "since" => reader.edge(1, Edge::Since, true),
        "starting" | "beginning" => {
            reader.edge(1 + usize::from(["in", "from", "on"].contains(&reader.lower(1))), Edge::Since, true)
        }
        "after" => reader.edge(1, Edge::After, true),
        "before" => reader.edge(1, Edge::Before, true),
        "until" | "till" | "through" => reader.edge(1, Edge::Until, true),
        "up" if reader.lower(1) == "to" => reader.edge(2, Edge::Until, true),
        "prior" if reader.lower(1) == "to" => reader.edge(2, Edge::Before, true),
        "in" | "during" | "on" | "within" | "for" | "over" | "of" | "at" | "throughout" => {
            let mut at = 1;
            while ["the", "year", "month", "of"].contains(&reader.lower(at)) {
                at += 1;
            }
            // `over 2000` and `a grade of 2000` are numbers; `in 2000` is a year.
            let years = ["in", "during", "for", "throughout"].contains(&first) || at > 1;
            Ok(reader.edge(at, Edge::Within, years)?.map(|period| Period { bare: period.bare && at == 1, ..period }))
        }
        "year" if reader.lower(1) != "to" => reader.edge(1, Edge::Within, true),
        "the" if !matches!(reader.tokens.get(1).map(|token| &token.kind), Some(Kind::Number(_))) => {
            reader.edge(1, Edge::Within, false)
        }
        _ => reader.edge(0, Edge::Within, false),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Within,
    Since,
    After,
    Before,
    Until,
}

struct Reader<'a> {
    tokens: &'a [Token],
    today: Option<Date>,
}

/// A unit of time as read, and how far it reaches.
struct Found {
    span: Span,
    relative: bool,
    bare: bool,
    end: usize,
}

impl Reader<'_> {
    fn lower(&self, at: usize) -> &str {
        self.tokens.get(at).filter(|token| token.kind != Kind::Quoted).map_or("", |token| token.lower.as_str())
    }

    fn number(&self, at: usize) -> Option<f64> {
        self.tokens.get(at).and_then(Token::number)
    }

    fn year(&self, at: usize) -> Option<i16> {
        let value = self.number(at).filter(|value| YEARS.contains(value) && value.fract() == 0.0)?;
        let plain = self.tokens.get(at).is_some_and(|token| token.raw.len() == 4);
        #[expect(clippy::cast_possible_truncation, reason = "checked to lie between 1900 and 2100")]
        plain.then_some(value as i16)
    }

    fn today(&self) -> Result<Date, TodayUnknown> {
        self.today.ok_or(TodayUnknown)
    }

    /// A unit with an edge before it. Without a preposition a bare year is no phrase.
    fn edge(&self, at: usize, edge: Edge, preposition: bool) -> Result<Option<Period>, TodayUnknown> {
        let skip = usize::from(self.lower(at) == "the" && at > 0);
        let Some(mut found) = self.unit(at + skip)? else { return Ok(None) };
        if found.bare && !preposition {
            return Ok(None);
        }
        let mut edge = edge;
        let later = ["later", "after", "onwards", "onward", "since"];
        let earlier = ["earlier", "before"];
        if edge == Edge::Within && ["or", "and"].contains(&self.lower(found.end)) {
            let closed = |at: usize| {
                self.tokens.get(at).is_none_or(|token| token.kind != Kind::Word && token.number().is_none())
            };
            if later.contains(&self.lower(found.end + 1)) && closed(found.end + 2) {
                edge = Edge::Since;
                found.end += 2;
            } else if earlier.contains(&self.lower(found.end + 1)) && closed(found.end + 2) {
                edge = Edge::Until;
                found.end += 2;
            }
        } else if edge == Edge::Within && ["onward", "onwards"].contains(&self.lower(found.end)) {
            edge = Edge::Since;
            found.end += 1;
        }
        let Span { from, until } = found.span;
        let (from, until) = match edge {
            Edge::Within => (Some(from), Some(until)),
            Edge::Since => (Some(from), None),
            Edge::After => (Some(until), None),
            Edge::Before => (None, Some(from)),
            Edge::Until => (None, Some(until)),
        };
        Ok(Some(Period { from, until, relative: found.relative, bare: found.bare, len: found.end }))
    }

    /// `A and B`, `A to B`: from the start of A to the end of B.
    fn pair(&self, at: usize, joints: &[&str]) -> Result<Option<Period>, TodayUnknown> {
        let skip = |at: usize| at + usize::from(self.lower(at) == "the");
        let Some(first) = self.unit(skip(at))? else { return Ok(None) };
        if !joints.contains(&self.lower(first.end)) {
            return Ok(None);
        }
        let Some(second) = self.unit(skip(first.end + 1))? else { return Ok(None) };
        // `between March and June 2026`: the year stands once, at the end.
        let mut from = first.span.from;
        if first.relative && !second.relative {
            from = Date::new(second.span.from.year(), from.month(), from.day()).unwrap_or(from);
        }
        if from >= second.span.until {
            return Ok(None);
        }
        Ok(Some(Period {
            from: Some(from),
            until: Some(second.span.until),
            relative: second.relative,
            bare: first.bare && second.bare,
            len: second.end,
        }))
    }

    fn unit(&self, at: usize) -> Result<Option<Found>, TodayUnknown> {
        if let Some(span) = iso(self.lower(at)) {
            return Ok(Some(Found { span, relative: false, bare: false, end: at + 1 }));
        }
        if let Some(year) = self.year(at) {
            let span = Span::year(year);
            return Ok(span.map(|span| Found { span, relative: false, bare: true, end: at + 1 }));
        }
        if let Some(found) = self.month_phrase(at)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.part_of_year(at)? {
            return Ok(Some(found));
        }
        self.relative(at)
    }

    fn month(&self, at: usize) -> Option<i8> {
        let word = self.lower(at);
        let known = |(_, name): &(i8, &&str)| {
            word == **name || (word.len() >= 3 && word == &name[..3]) || (word == "sept" && **name == "september")
        };
        let (place, _) = (1..).zip(MONTHS.iter()).find(known)?;
        // `may` and `mar` are words of their own: only with a capital.
        let capital = self.tokens.get(at).is_some_and(Token::capital);
        (capital || !["may", "mar", "march", "jan", "sun", "dec"].contains(&word) || self.year(at + 1).is_some())
            .then_some(place)
    }

    fn day(&self, at: usize) -> Option<i8> {
        let token = self.tokens.get(at)?;
        let digits = token.lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let ending = &token.lower[digits.len()..];
        let day = digits.parse::<i8>().ok().filter(|day| (1..=31).contains(day))?;
        ["", "st", "nd", "rd", "th"].contains(&ending).then_some(day)
    }

    /// `June 2026`, `June 15, 2026`, `15 June 2026`, `June`.
    fn month_phrase(&self, at: usize) -> Result<Option<Found>, TodayUnknown> {
        let (month, mut day, mut end) = if let Some(month) = self.month(at) {
            (month, None, at + 1)
        } else if let Some(day) = self.day(at) {
            let of = usize::from(self.lower(at + 1) == "of");
            match self.month(at + 1 + of) {
                Some(month) => (month, Some(day), at + 2 + of),
                None => return Ok(None),
            }
        } else {
            return Ok(None);
        };
        if day.is_none()
            && self.year(end).is_none()
            && let Some(found) = self.day(end)
        {
            day = Some(found);
            end += 1;
        }
        let pause = usize::from(self.lower(end) == "," || self.lower(end) == "of");
        let (year, relative) = if let Some(year) = self.year(end + pause) {
            end += pause + 1;
            (year, false)
        } else {
            let today = self.today()?;
            // Without a year: the latest such month that has begun.
            (if month <= today.month() { today.year() } else { today.year() - 1 }, true)
        };
        let span = match day {
            Some(day) => Date::new(year, month, day).ok().and_then(Span::day),
            None => Span::months(year, month, 1),
        };
        Ok(span.map(|span| Found { span, relative, bare: false, end }))
    }

    /// `Q2 2026`, `second quarter of 2026`, `H1 2025`, `first half of 2025`.
    fn part_of_year(&self, at: usize) -> Result<Option<Found>, TodayUnknown> {
        let ordinals =
            [("first", 1), ("second", 2), ("third", 3), ("fourth", 4), ("1st", 1), ("2nd", 2), ("3rd", 3), ("4th", 4)];
        let word = self.lower(at);
        let short = |letter: char| word.strip_prefix(letter).and_then(|rest| rest.parse::<i8>().ok());
        let ordinal = ordinals.iter().find(|(name, _)| *name == word).map(|&(_, n)| n);
        let (part, months, mut end) = match (short('q'), short('h'), ordinal, self.lower(at + 1)) {
            (Some(part @ 1..=4), ..) => (part, 3, at + 1),
            (_, Some(part @ 1..=2), ..) => (part, 6, at + 1),
            (_, _, Some(part), "quarter") => (part, 3, at + 2),
            (_, _, Some(part @ 1..=2), "half") => (part, 6, at + 2),
            _ => return Ok(None),
        };
        let of = usize::from(self.lower(end) == "of" || self.lower(end) == "in");
        let (year, relative) = match (self.year(end + of), self.lower(end + of), self.lower(end + of + 1)) {
            (Some(year), ..) => {
                end += of + 1;
                (year, false)
            }
            (None, "last", "year") => {
                end += of + 2;
                (self.today()?.year() - 1, true)
            }
            (None, "this", "year") => {
                end += of + 2;
                (self.today()?.year(), true)
            }
            _ => {
                let today = self.today()?;
                let begun = (part - 1) * months < today.month();
                (if begun { today.year() } else { today.year() - 1 }, true)
            }
        };
        Ok(Span::months(year, (part - 1) * months + 1, months).map(|span| Found { span, relative, bare: false, end }))
    }

    /// `yesterday`, `last month`, `the past 30 days`, `this year so far`, `3 weeks ago`.
    fn relative(&self, at: usize) -> Result<Option<Found>, TodayUnknown> {
        let found = |span: Option<Span>, end| Ok(span.map(|span| Found { span, relative: true, bare: false, end }));
        match (self.lower(at), self.lower(at + 1)) {
            ("today", _) => return found(Span::day(self.today()?), at + 1),
            ("yesterday", _) => return found(self.today()?.yesterday().ok().and_then(Span::day), at + 1),
            ("tomorrow", _) => return found(self.today()?.tomorrow().ok().and_then(Span::day), at + 1),
            ("ytd", _) => return found(Span::to_date(self.today()?, Unit::Year), at + 1),
            ("year" | "month" | "quarter" | "week", "to") if self.lower(at + 2) == "date" => {
                let unit = Unit::named(self.lower(at));
                let today = self.today()?;
                return found(unit.and_then(|unit| Span::to_date(today, unit)), at + 3);
            }
            ("so", "far") if self.lower(at + 2) == "this" => {
                let Some(unit) = Unit::named(self.lower(at + 3)) else { return Ok(None) };
                return found(Span::to_date(self.today()?, unit), at + 4);
            }
            _ => {}
        }
        if let (Some(count), Some(unit), "ago") = (self.count(at), Unit::named(self.lower(at + 1)), self.lower(at + 2))
        {
            let today = self.today()?;
            return found(
                unit.step(today, -count)
                    .and_then(|day| if unit == Unit::Day { Span::day(day) } else { this_unit(day, unit) }),
                at + 3,
            );
        }
        let which = self.lower(at);
        if !["this", "current", "last", "previous", "past", "next"].contains(&which) {
            return Ok(None);
        }
        if let (Some(count), Some(unit)) = (self.count(at + 1), Unit::named(self.lower(at + 2))) {
            return match which {
                "last" | "past" | "previous" => found(last_units(self.today()?, unit, count), at + 3),
                _ => Ok(None),
            };
        }
        let Some(unit) = Unit::named(self.lower(at + 1)) else { return Ok(None) };
        let today = self.today()?;
        match which {
            "this" | "current" => {
                let so_far = self.lower(at + 2) == "so" && self.lower(at + 3) == "far";
                found(this_unit(today, unit), at + if so_far { 4 } else { 2 })
            }
            "last" | "previous" => found(unit.step(today, -1).and_then(|day| this_unit(day, unit)), at + 2),
            "past" => found(last_units(today, unit, 1), at + 2),
            _ => found(unit.step(today, 1).and_then(|day| this_unit(day, unit)), at + 2),
        }
    }

    fn count(&self, at: usize) -> Option<i32> {
        #[expect(clippy::cast_possible_truncation, reason = "checked to lie between 1 and 10,000")]
        self.number(at).filter(|n| (1.0..=10_000.0).contains(n) && n.fract() == 0.0).map(|n| n as i32)
    }
}

/// `2026-06-01` or `2026-06`.
fn iso(word: &str) -> Option<Span> {
    let mut parts = word.split('-');
    let year = parts.next().filter(|part| part.len() == 4)?.parse::<i16>().ok()?;
    let month = parts.next()?.parse::<i8>().ok()?;
    match (parts.next(), parts.next()) {
        (None, _) => Span::months(year, month, 1),
        (Some(day), None) => Date::new(year, month, day.parse().ok()?).ok().and_then(Span::day),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::tokens;
    use super::*;

    fn range(text: &str) -> String {
        let today = Date::new(2026, 11, 30).unwrap();
        match read(&tokens(text), Some(today)) {
            Ok(Some(period)) => {
                let show = |date: Option<Date>| date.map_or("..".to_owned(), |date| date.to_string());
                format!("{} {}{}", show(period.from), show(period.until), if period.relative { " r" } else { "" })
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn named_months_quarters_and_years() {
        for (text, expected) in [
            ("in June 2026", "2026-06-01 2026-07-01"),
            ("June, 2026", "2026-06-01 2026-07-01"),
            ("in Dec 2025", "2025-12-01 2026-01-01"),
            ("in February 2024", "2024-02-01 2024-03-01"),
            ("on June 15, 2026", "2026-06-15 2026-06-16"),
            ("on 29 February 2024", "2024-02-29 2024-03-01"),
            ("on the 3rd of May 2025", "2025-05-03 2025-05-04"),
            ("in Q2 2026", "2026-04-01 2026-07-01"),
            ("in Q4 2025", "2025-10-01 2026-01-01"),
            ("in the second quarter of 2026", "2026-04-01 2026-07-01"),
            ("in the first half of 2025", "2025-01-01 2025-07-01"),
            ("in 2025", "2025-01-01 2026-01-01"),
            ("during the year 2025", "2025-01-01 2026-01-01"),
            ("2026-06", "2026-06-01 2026-07-01"),
            ("on 2026-06-30", "2026-06-30 2026-07-01"),
        ] {
            assert_eq!(range(text), expected, "{text}");
        }
    }

    #[test]
    fn relative_phrases_count_from_today() {
        for (text, expected) in [
            ("today", "2026-11-30 2026-12-01 r"),
            ("yesterday", "2026-11-29 2026-11-30 r"),
            ("last month", "2026-10-01 2026-11-01 r"),
            ("this month", "2026-11-01 2026-12-01 r"),
            ("last week", "2026-11-23 2026-11-30 r"),
            ("this week", "2026-11-30 2026-12-07 r"),
            ("last quarter", "2026-07-01 2026-10-01 r"),
            ("this quarter", "2026-10-01 2027-01-01 r"),
            ("in the last year", "2025-01-01 2026-01-01 r"),
            ("this year", "2026-01-01 2027-01-01 r"),
            ("in the last 30 days", "2026-11-01 2026-12-01 r"),
            ("past 3 months", "2026-09-01 2026-12-01 r"),
            ("2 weeks ago", "2026-11-16 2026-11-23 r"),
            ("in June", "2026-06-01 2026-07-01 r"),
            ("in December", "2025-12-01 2026-01-01 r"),
            ("since March", "2026-03-01 .. r"),
            ("in Q2", "2026-04-01 2026-07-01 r"),
            ("year to date", "2026-01-01 2026-12-01 r"),
        ] {
            assert_eq!(range(text), expected, "{text}");
        }
    }

    #[test]
    fn edges_are_half_open() {
        for (text, expected) in [
            ("since March 2026", "2026-03-01 .."),
            ("after 2010", "2011-01-01 .."),
            ("before 2009", ".. 2009-01-01"),
            ("until June 2026", ".. 2026-07-01"),
            ("in 2014 or later", "2014-01-01 .."),
            ("between 2026-01-01 and 2026-03-31", "2026-01-01 2026-04-01"),
            ("between March and June 2026", "2026-03-01 2026-07-01"),
            ("from January 2025 to March 2025", "2025-01-01 2025-04-01"),
            ("from 2024 to 2025", "2024-01-01 2026-01-01"),
        ] {
            assert_eq!(range(text), expected, "{text}");
        }
    }

    #[test]
    fn words_that_only_look_like_dates_are_left_alone() {
        for text in
            ["march on", "5000", "2014", "may have", "in 99", "on 31 June 2026", "between 20 and 30", "last name"]
        {
            assert_eq!(range(text), "Ok(None)", "{text}");
        }
    }

    #[test]
    fn without_today_a_relative_phrase_says_so() {
        assert_eq!(read(&tokens("last month"), None), Err(TodayUnknown));
        assert!(read(&tokens("in June 2026"), None).is_ok_and(|found| found.is_some()));
    }
}
