//! Days, weeks, months, quarters and years as half-open spans of days.

use jiff::ToSpan;
use jiff::civil::Date;

/// A unit of the calendar; weeks start on Monday.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    /// A day.
    Day,
    /// An ISO week.
    Week,
    /// A month.
    Month,
    /// A quarter.
    Quarter,
    /// A year.
    Year,
}

/// From a day up to, not including, another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The first day.
    pub from: Date,
    /// The day after the last.
    pub until: Date,
}

impl Unit {
    /// The unit a word names.
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "day" | "days" | "daily" => Self::Day,
            "week" | "weeks" | "weekly" => Self::Week,
            "month" | "months" | "monthly" => Self::Month,
            "quarter" | "quarters" | "quarterly" => Self::Quarter,
            "year" | "years" | "yearly" | "annually" => Self::Year,
            _ => return None,
        })
    }

    /// That many units later, or earlier when negative.
    pub(super) fn step(self, day: Date, count: i32) -> Option<Date> {
        let count = i64::from(count);
        let span = match self {
            Self::Day => count.days(),
            Self::Week => count.weeks(),
            Self::Month => count.months(),
            Self::Quarter => (count * 3).months(),
            Self::Year => count.years(),
        };
        day.checked_add(span).ok()
    }

    /// The first day of the unit that holds this day.
    fn start(self, day: Date) -> Option<Date> {
        match self {
            Self::Day => Some(day),
            Self::Week => day.checked_sub(i64::from(day.weekday().to_monday_zero_offset()).days()).ok(),
            Self::Month => Some(day.first_of_month()),
            Self::Quarter => Date::new(day.year(), (day.month() - 1) / 3 * 3 + 1, 1).ok(),
            Self::Year => Some(day.first_of_year()),
        }
    }
}

impl Span {
    /// One day.
    pub(super) fn day(day: Date) -> Option<Self> {
        Some(Self { from: day, until: day.tomorrow().ok()? })
    }

    /// One year.
    pub(super) fn year(year: i16) -> Option<Self> {
        Self::months(year, 1, 12)
    }

    /// Some months from this one on.
    pub(super) fn months(year: i16, month: i8, count: i8) -> Option<Self> {
        let from = Date::new(year, month, 1).ok()?;
        Some(Self { from, until: from.checked_add(i64::from(count).months()).ok()? })
    }

    /// From the start of the unit up to and with today.
    pub(super) fn to_date(today: Date, unit: Unit) -> Option<Self> {
        Some(Self { from: unit.start(today)?, until: today.tomorrow().ok()? })
    }
}

/// The unit that holds this day.
pub(super) fn this_unit(day: Date, unit: Unit) -> Option<Span> {
    let from = unit.start(day)?;
    Some(Span { from, until: unit.step(from, 1)? })
}

/// The last so many units, today being the last day.
pub(super) fn last_units(today: Date, unit: Unit, count: i32) -> Option<Span> {
    let until = today.tomorrow().ok()?;
    Some(Span { from: unit.step(until, -count)?, until })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn months_end_where_the_calendar_says() {
        for (day, until) in [("2024-02-10", "2024-03-01"), ("2026-12-31", "2027-01-01"), ("2026-01-31", "2026-02-01")] {
            assert_eq!(this_unit(date(day), Unit::Month).unwrap().until, date(until));
        }
        assert_eq!(Unit::Month.step(date("2026-03-31"), -1), Some(date("2026-02-28")));
        assert_eq!(Unit::Year.step(date("2024-02-29"), 1), Some(date("2025-02-28")));
    }

    #[test]
    fn weeks_start_on_monday_across_the_turn_of_the_year() {
        let week = this_unit(date("2027-01-01"), Unit::Week).unwrap();
        assert_eq!((week.from, week.until), (date("2026-12-28"), date("2027-01-04")));
        assert_eq!(this_unit(date("2026-11-29"), Unit::Week).unwrap().from, date("2026-11-23"));
    }

    #[test]
    fn the_edge_of_the_calendar_is_no_panic() {
        assert_eq!(Unit::Year.step(Date::MAX, 1), None);
        assert_eq!(Span::day(Date::MAX), None);
    }
}
