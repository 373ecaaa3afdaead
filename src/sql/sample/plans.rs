//! The five plans: what a seat costs, and who is on which.

use super::history::Segment;
use super::random::Random;

/// A plan, by its position in [`PLANS`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan(usize);

/// What a plan is.
pub(super) struct PlanFacts {
    pub(super) name: &'static str,
    /// The name it had, and when it got the new one.
    pub(super) renamed: Option<(&'static str, &'static str)>,
    pub(super) seat_price_cents: u32,
    /// Out of 1,000 who are drawn to leave, how many on this plan really go: those who pay more stay longer.
    restlessness_permille: u32,
}

/// All plans, cheapest first.
pub(super) const PLANS: [PlanFacts; 5] = [
    PlanFacts { name: "free", renamed: None, seat_price_cents: 0, restlessness_permille: 1000 },
    PlanFacts { name: "starter", renamed: None, seat_price_cents: 1_200, restlessness_permille: 760 },
    PlanFacts { name: "pro", renamed: None, seat_price_cents: 2_900, restlessness_permille: 560 },
    PlanFacts {
        name: "team",
        renamed: Some(("business", "2025-09-15 00:00:00")),
        seat_price_cents: 4_500,
        restlessness_permille: 380,
    },
    PlanFacts { name: "enterprise", renamed: None, seat_price_cents: 7_900, restlessness_permille: 190 },
];

/// The plan that costs nothing.
pub(super) const FREE: Plan = Plan(0);
const STARTER: Plan = Plan(1);
const PRO: Plan = Plan(2);
const TEAM: Plan = Plan(3);
const ENTERPRISE: Plan = Plan(4);

impl Plan {
    /// Its position in [`PLANS`].
    pub(super) fn position(self) -> usize {
        self.0
    }

    /// The next cheaper one.
    pub(super) fn below(self) -> Option<Self> {
        self.0.checked_sub(1).map(Self)
    }

    /// The next dearer one.
    pub(super) fn above(self) -> Option<Self> {
        (self.0 + 1 < PLANS.len()).then_some(Self(self.0 + 1))
    }

    pub(super) fn restlessness_permille(self) -> u32 {
        PLANS[self.0].restlessness_permille
    }
}

/// The plan a new or returning customer takes.
pub(super) fn first_plan(segment: Segment, random: &mut Random) -> Plan {
    let shares = match segment {
        Segment::Small => [(FREE, 52), (STARTER, 31), (PRO, 13), (TEAM, 4), (ENTERPRISE, 0)],
        Segment::Medium => [(FREE, 28), (STARTER, 24), (PRO, 28), (TEAM, 18), (ENTERPRISE, 2)],
        Segment::Large => [(FREE, 12), (STARTER, 8), (PRO, 22), (TEAM, 31), (ENTERPRISE, 27)],
    };
    random.weighted(&shares)
}

/// How many seats such a customer takes on such a plan.
pub(super) fn seats(plan: Plan, segment: Segment, random: &mut Random) -> u32 {
    let most = match segment {
        Segment::Small => 8,
        Segment::Medium => 30,
        Segment::Large => 120,
    };
    match plan {
        FREE => random.between(1, 3),
        STARTER => random.between(1, most.min(10)),
        PRO => random.between(2, most),
        _ => random.between(5, most + 5),
    }
}

/// What all seats cost a month; a few big customers have a discount.
pub(super) fn monthly_price_cents(plan: Plan, seats: u32, random: &mut Random) -> u32 {
    let list = PLANS[plan.0].seat_price_cents * seats;
    if seats >= 20 && random.chance(350) { list * random.pick(&[95, 90, 85, 80]) / 100 } else { list }
}
