//! The two years the sample tells, as seconds of UTC.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime, date};

use super::random::Random;

/// Seconds since the first month began.
pub(super) type Moment = i64;

const FIRST: Date = date(2024, 10, 1);

/// October 2024 to October 2026.
pub(super) const MONTHS: i32 = 25;

/// One month: from `start`, up to but without `end`.
#[derive(Clone, Copy)]
pub(super) struct Month {
    /// Its first day.
    pub(super) first: Date,
    /// How many months went before.
    pub(super) number: i32,
    /// Its first second.
    pub(super) start: Moment,
    /// The first second of the next.
    pub(super) end: Moment,
}

/// The months in order.
pub(super) fn months() -> impl Iterator<Item = Month> {
    (0..MONTHS).map(|number| {
        let first = FIRST.saturating_add(number.months());
        let next = FIRST.saturating_add((number + 1).months());
        let (start, end) = (moment(first.at(0, 0, 0, 0)), moment(next.at(0, 0, 0, 0)));
        Month { first, number, start, end }
    })
}

impl Month {
    /// A moment of this month's day.
    pub(super) fn at(self, (day, hour, minute, second): (i8, i8, i8, i8)) -> Moment {
        let days = i64::from(day) - 1;
        self.start + days * 86_400 + i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second)
    }

    /// Some moment of this month before `until`, mostly on a workday in the daytime.
    pub(super) fn moment_before(self, until: Moment, random: &mut Random) -> Moment {
        let days = u32::try_from((until.min(self.end) - self.start) / 86_400).unwrap_or(0);
        let mut day = random.below(days);
        if is_weekend(self.start / 86_400 + i64::from(day)) && random.chance(700) {
            day = random.below(days);
        }
        // Two dice make a midday peak; the world has time zones, so nights are not empty.
        let hour = if random.chance(900) { 7 + random.below(7) + random.below(7) } else { random.below(24) };
        let seconds = i64::from(day) * 86_400 + i64::from(hour * 3600 + random.below(3600));
        (self.start + seconds).clamp(self.start, (until - 1).max(self.start))
    }
}

fn moment(at: DateTime) -> Moment {
    FIRST.at(0, 0, 0, 0).duration_until(at).as_secs()
}

/// Whether the day with this number is a Saturday or Sunday; day 0 is a Tuesday.
fn is_weekend(day: i64) -> bool {
    matches!((day + 1) % 7, 5 | 6)
}

/// How a moment is stored: text that compares and sorts as it is.
pub(super) fn text(at: Moment) -> String {
    let at = FIRST.at(0, 0, 0, 0).saturating_add(at.seconds());
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use jiff::civil::Weekday;

    use super::*;

    #[test]
    fn a_month_begins_where_the_last_one_ended() {
        let all: Vec<Month> = months().collect();
        assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(text(all[20].at((30, 23, 59, 59))), "2026-06-30 23:59:59");
        assert_eq!(text(all[24].end - 1), "2026-10-31 23:59:59");
    }

    #[test]
    fn day_zero_is_a_tuesday() {
        assert_eq!(FIRST.weekday(), Weekday::Tuesday);
        assert!(!is_weekend(0) && is_weekend(4) && is_weekend(5) && !is_weekend(6));
    }
}
