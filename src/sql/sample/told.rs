//! The few lives that are told, not drawn: what June 2026 is known for, and its edges.

use super::calendar::Month;
use super::history::Kind;

/// Accounts that churned in June 2026; the first answer everybody gets must be this number.
const CHURNED_IN_JUNE_2026: u32 = 142;

/// Day, hour, minute, second.
type Clock = (i8, i8, i8, i8);

/// The last second of May: not June.
const MAY: &[&[(Kind, Clock)]] = &[&[(Kind::Churned, (31, 23, 59, 59))]];

const JUNE: &[&[(Kind, Clock)]] = &[
    // June's own first and last second; a range that ends "2026-06-30" loses the second.
    &[(Kind::Churned, (1, 0, 0, 0))],
    &[(Kind::Churned, (30, 23, 59, 59))],
    // Churned twice: two rows, one account.
    &[(Kind::Churned, (3, 9, 12, 41)), (Kind::Reactivated, (11, 14, 3, 5)), (Kind::Churned, (24, 16, 47, 30))],
    // Churned, came back and stayed.
    &[(Kind::Churned, (9, 11, 20, 0)), (Kind::Reactivated, (20, 8, 30, 15))],
];

/// The first second of July: not June.
const JULY: &[&[(Kind, Clock)]] = &[&[(Kind::Churned, (1, 0, 0, 0))]];

/// The leavings of this month that are told; the others are drawn.
pub(super) fn lives(month: Month) -> &'static [&'static [(Kind, Clock)]] {
    match (month.first.year(), month.first.month()) {
        (2026, 5) => MAY,
        (2026, 6) => JUNE,
        (2026, 7) => JULY,
        _ => &[],
    }
}

/// How many accounts leave this month, where that is told.
pub(super) fn churned_accounts(month: Month) -> Option<u32> {
    ((month.first.year(), month.first.month()) == (2026, 6)).then_some(CHURNED_IN_JUNE_2026)
}
