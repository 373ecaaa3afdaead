//! The lives of the accounts, told month by month.

use super::calendar::{Moment, Month, months};
use super::plans::{self, FREE, Plan};
use super::random::Random;
use super::told;
use super::words::{COUNTRIES, INDUSTRIES, company};

/// One account.
pub(super) struct Account {
    pub(super) name: String,
    pub(super) country: Option<&'static str>,
    pub(super) industry: &'static str,
    pub(super) segment: Segment,
    pub(super) created: Moment,
}

/// One subscription; accounts are named by their position.
pub(super) struct Subscription {
    pub(super) account: usize,
    pub(super) plan: Plan,
    pub(super) started: Moment,
    pub(super) ended: Option<Moment>,
    pub(super) seats: u32,
    pub(super) monthly_price_cents: u32,
}

/// Something that happened to an account.
pub(super) struct Event {
    pub(super) at: Moment,
    pub(super) account: usize,
    pub(super) kind: Kind,
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Signup,
    Activated,
    Upgraded,
    Downgraded,
    PaymentFailed,
    TicketOpened,
    Churned,
    Reactivated,
}

/// How big a customer is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Segment {
    Small,
    Medium,
    Large,
}

/// Everything that happened, each list in the order of time.
#[derive(Default)]
pub(super) struct History {
    pub(super) accounts: Vec<Account>,
    pub(super) subscriptions: Vec<Subscription>,
    pub(super) events: Vec<Event>,
}

/// Signups of the first month.
const FIRST_SIGNUPS: u32 = 126;
/// By how much signups grow from month to month, in percent of the first.
const SIGNUP_GROWTH_PERCENT: u32 = 5;
/// Signups by calendar month, in percent of an even year: slow summers and Decembers, busy Januaries and Septembers.
const SIGNUP_SEASON: [u32; 12] = [118, 106, 110, 102, 97, 90, 78, 76, 121, 116, 109, 74];
/// Of 1,000 active accounts, how many churn in an even month.
const CHURN_PERMILLE: u32 = 60;
/// Churn by calendar month, in percent of an even year: budgets end in June and December and are cut in January.
const CHURN_SEASON: [u32; 12] = [122, 98, 94, 90, 96, 118, 104, 92, 97, 96, 101, 112];
const ACTIVATED_PERMILLE: u32 = 910;
const COUNTRY_UNKNOWN_PERMILLE: u32 = 45;
const REACTIVATED_PERMILLE: u32 = 11;
const TICKET_PERMILLE: u32 = 130;
const PAYMENT_FAILED_PERMILLE: u32 = 22;
const PAYMENT_FAILED_BEFORE_CHURN_PERMILLE: u32 = 260;
const PLAN_CHANGED_PERMILLE: u32 = 34;
/// Of 1,000 plan changes, how many are downgrades.
const DOWNGRADED_PERMILLE: u32 = 270;

/// Tells the whole history.
pub(super) fn tell() -> History {
    let mut teller = Teller { random: Random::new(), history: History::default(), running: Vec::new() };
    let mut end = 0;
    for month in months() {
        teller.live(month);
        end = month.end;
    }
    let mut history = teller.history;
    // An activation a few days after a late signup may lie beyond the last day told.
    history.events.retain(|event| event.at < end);
    history.subscriptions.retain(|subscription| subscription.started < end);
    history.events.sort_by_key(|event| (event.at, event.account));
    history.subscriptions.sort_by_key(|subscription| (subscription.started, subscription.account));
    history
}

struct Teller {
    random: Random,
    history: History,
    /// For each account the position of its running subscription, or the moment the last one ended.
    running: Vec<State>,
}

#[derive(Clone, Copy)]
enum State {
    Running(usize),
    Left(Moment),
    NeverActivated,
}

impl Teller {
    fn live(&mut self, month: Month) {
        let mut active = self.active_before(month.start);
        let lapsed = self.lapsed_before(month.start);
        let leaving = self.choose_leaving(&mut active, month);
        for account in active {
            self.ordinary_month(account, month, month.end);
        }
        let mut told = told::lives(month).iter();
        for account in leaving {
            let life: Vec<(Kind, Moment)> = match told.next() {
                Some(life) => life.iter().map(|&(kind, at)| (kind, month.at(at))).collect(),
                None => vec![(Kind::Churned, month.moment_before(month.end, &mut self.random))],
            };
            self.last_month(account, month, &life);
        }
        for account in lapsed {
            if self.random.chance(REACTIVATED_PERMILLE) {
                let at = month.moment_before(month.end, &mut self.random);
                self.reactivate(account, at);
            }
        }
        self.sign_up(month);
    }

    fn active_before(&self, moment: Moment) -> Vec<usize> {
        let running = |account: &usize| match self.running[*account] {
            State::Running(subscription) => self.history.subscriptions[subscription].started < moment,
            _ => false,
        };
        (0..self.running.len()).filter(running).collect()
    }

    fn lapsed_before(&self, moment: Moment) -> Vec<usize> {
        let lapsed = |account: &usize| matches!(self.running[*account], State::Left(at) if at < moment);
        (0..self.running.len()).filter(lapsed).collect()
    }

    /// Takes those who churn this month out of `active`.
    fn choose_leaving(&mut self, active: &mut Vec<usize>, month: Month) -> Vec<usize> {
        let base = u32::try_from(active.len()).unwrap_or(u32::MAX);
        let even = base * CHURN_PERMILLE * season(&CHURN_SEASON, month) / 100_000;
        let quota = told::churned_accounts(month).unwrap_or(even) as usize;
        let mut leaving = Vec::with_capacity(quota);
        while leaving.len() < quota && !active.is_empty() {
            let position = self.random.index(active.len());
            if let Some(plan) = self.plan_of(active[position])
                && self.random.chance(plan.restlessness_permille())
            {
                leaving.push(active.swap_remove(position));
            }
        }
        leaving
    }

    /// What happens to an account that stays, or until it leaves.
    fn ordinary_month(&mut self, account: usize, month: Month, until: Moment) {
        if self.random.chance(TICKET_PERMILLE) {
            for _ in 0..self.random.between(1, 2) {
                self.happens(account, Kind::TicketOpened, month, until);
            }
        }
        let paying = self.plan_of(account).is_some_and(|plan| plan != FREE);
        if paying && self.random.chance(PAYMENT_FAILED_PERMILLE) {
            self.happens(account, Kind::PaymentFailed, month, until);
        }
        if self.random.chance(PLAN_CHANGED_PERMILLE) {
            let at = month.moment_before(until, &mut self.random);
            self.change_plan(account, at);
        }
    }

    /// What happens to an account that leaves; `life` is its leaving, and sometimes its coming back.
    fn last_month(&mut self, account: usize, month: Month, life: &[(Kind, Moment)]) {
        let Some(&(_, leaves)) = life.first() else { return };
        if leaves > month.start + 86_400 {
            self.ordinary_month(account, month, leaves);
            let paying = self.plan_of(account).is_some_and(|plan| plan != FREE);
            if paying && self.random.chance(PAYMENT_FAILED_BEFORE_CHURN_PERMILLE) {
                self.happens(account, Kind::PaymentFailed, month, leaves);
            }
        }
        for &(kind, at) in life {
            match kind {
                Kind::Reactivated => self.reactivate(account, at),
                _ => self.churn(account, at),
            }
        }
    }

    fn happens(&mut self, account: usize, kind: Kind, month: Month, until: Moment) {
        let at = month.moment_before(until, &mut self.random);
        self.history.events.push(Event { at, account, kind });
    }

    fn change_plan(&mut self, account: usize, at: Moment) {
        let Some(plan) = self.plan_of(account) else { return };
        let down = self.random.chance(DOWNGRADED_PERMILLE);
        let (kind, next) = match (down, plan.below(), plan.above()) {
            (true, Some(next), _) => (Kind::Downgraded, next),
            (false, _, Some(next)) => (Kind::Upgraded, next),
            _ => return,
        };
        self.end(account, at);
        self.history.events.push(Event { at, account, kind });
        self.start(account, next, at);
    }

    fn churn(&mut self, account: usize, at: Moment) {
        self.end(account, at);
        self.running[account] = State::Left(at);
        self.history.events.push(Event { at, account, kind: Kind::Churned });
    }

    fn reactivate(&mut self, account: usize, at: Moment) {
        let plan = plans::first_plan(self.history.accounts[account].segment, &mut self.random);
        self.history.events.push(Event { at, account, kind: Kind::Reactivated });
        self.start(account, plan, at);
    }

    fn start(&mut self, account: usize, plan: Plan, at: Moment) {
        let seats = plans::seats(plan, self.history.accounts[account].segment, &mut self.random);
        let monthly_price_cents = plans::monthly_price_cents(plan, seats, &mut self.random);
        self.running[account] = State::Running(self.history.subscriptions.len());
        let subscription = Subscription { account, plan, started: at, ended: None, seats, monthly_price_cents };
        self.history.subscriptions.push(subscription);
    }

    fn end(&mut self, account: usize, at: Moment) {
        if let State::Running(subscription) = self.running[account] {
            self.history.subscriptions[subscription].ended = Some(at);
        }
    }

    fn plan_of(&self, account: usize) -> Option<Plan> {
        match self.running[account] {
            State::Running(subscription) => Some(self.history.subscriptions[subscription].plan),
            _ => None,
        }
    }

    fn sign_up(&mut self, month: Month) {
        let grown = FIRST_SIGNUPS * (100 + SIGNUP_GROWTH_PERCENT * month.number.unsigned_abs()) / 100;
        let count = grown * season(&SIGNUP_SEASON, month) / 100;
        let mut created: Vec<Moment> = (0..count).map(|_| month.moment_before(month.end, &mut self.random)).collect();
        created.sort_unstable();
        for created in created {
            self.join(created);
        }
    }

    fn join(&mut self, created: Moment) {
        let random = &mut self.random;
        let account = self.history.accounts.len();
        let name = company(account, random);
        let country = (!random.chance(COUNTRY_UNKNOWN_PERMILLE)).then(|| random.weighted(&COUNTRIES));
        let industry = random.weighted(&INDUSTRIES);
        let segment = random.weighted(&[(Segment::Small, 68), (Segment::Medium, 25), (Segment::Large, 7)]);
        self.history.accounts.push(Account { name, country, industry, segment, created });
        self.history.events.push(Event { at: created, account, kind: Kind::Signup });
        self.running.push(State::NeverActivated);
        if self.random.chance(ACTIVATED_PERMILLE) {
            // Most within the hour, some after a few days.
            let patience = if self.random.chance(650) { 3_600 } else { 5 * 86_400 };
            let at = created + 60 + i64::from(self.random.below(patience));
            let plan = plans::first_plan(segment, &mut self.random);
            self.history.events.push(Event { at, account, kind: Kind::Activated });
            self.start(account, plan, at);
        }
    }
}

fn season(percent: &[u32; 12], month: Month) -> u32 {
    usize::try_from(month.first.month() - 1).ok().and_then(|position| percent.get(position)).copied().unwrap_or(100)
}

impl Kind {
    /// As `events.kind` spells it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Signup => "signup",
            Self::Activated => "activated",
            Self::Upgraded => "upgraded",
            Self::Downgraded => "downgraded",
            Self::PaymentFailed => "payment_failed",
            Self::TicketOpened => "ticket_opened",
            Self::Churned => "churned",
            Self::Reactivated => "reactivated",
        }
    }
}

impl Segment {
    /// As `accounts.segment` spells it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
}
