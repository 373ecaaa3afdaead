//! The function words of a question: what asks, counts, compares, orders and joins. No word here belongs to a schema.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::plan::{Aggregate, Op};

/// The part a word or phrase plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// `show`, `list`, `what`: opens a question.
    Opens,
    /// `which`: opens a question, or a relative clause.
    Which,
    /// `who`.
    Who,
    /// `when`.
    When,
    /// `where`.
    Where,
    /// `how many`, `number of`.
    Count,
    /// `average`, `total`.
    Aggregate(Aggregate),
    /// `different`.
    Distinct,
    /// `each`, `per`.
    Each,
    /// `the`, `all`, `any`.
    Determiner,
    /// `some`: at least one, where a choice is made.
    Some,
    /// `is`, `are`, `was`.
    Be,
    /// `have`, `has`.
    Have,
    /// `do`, `does`, `did`.
    Do,
    /// A verb that says no more than that two things belong together.
    Light,
    /// `not`, `never`.
    Not,
    /// `no`, `without`: the next relation is absent.
    Without,
    /// `and`.
    And,
    /// `or`.
    Or,
    /// `both`.
    Both,
    /// `either`.
    Either,
    /// `of`.
    Of,
    /// `in`, `for`, `from`, `with` …
    Preposition,
    /// `by`.
    By,
    /// `that`, `whose`.
    Relative,
    /// `ordered by`.
    OrderBy,
    /// `sort`: what follows is to be listed in an order.
    Sort,
    /// `ascending`.
    Ascending,
    /// `descending`.
    Descending,
    /// `alphabetically`.
    Alphabetical,
    /// A comparison.
    Compare(Op, Hint),
    /// `between`.
    Between,
    /// `most`, `largest`, `oldest`.
    Superlative(End, Hint),
    /// `most common`.
    Common(End),
    /// `top`.
    Top,
    /// `named`, `called`.
    Named,
    /// `contains`, `like`.
    Contains,
    /// `starts with`.
    StartsWith,
    /// `ends with`.
    EndsWith,
    /// `all the information about`.
    Everything,
    /// `more`, with what is compared and `than` still to come.
    Comparative(Op),
    /// `than`
    Than,
    /// `times`, in `more than 3 times`.
    Times,
    /// `percentage of`: understood, but not answered.
    Share,
    /// Says nothing.
    Filler,
}

/// Which end of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The most of it.
    Top,
    /// The least of it.
    Bottom,
}

/// What an adjective measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// Nothing by itself.
    None,
    /// `old`: an age, or a date read the other way.
    Age,
    /// `recent`: a date.
    Date,
    /// `tall`.
    Height,
    /// `heavy`.
    Weight,
    /// `long`.
    Length,
    /// `large`.
    Size,
    /// `expensive`.
    Price,
    /// `fast`.
    Speed,
    /// `populous`.
    Population,
}

impl Hint {
    /// Words of columns that hold the measure, best first.
    pub(super) fn words(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Age => &["age"],
            Self::Date => &["date", "time", "year", "at", "on", "day"],
            Self::Height => &["height"],
            Self::Weight => &["weight", "mass"],
            Self::Length => &["length", "duration", "distance"],
            Self::Size => &["size", "area", "surface"],
            Self::Price => &["price", "cost", "fee"],
            Self::Speed => &["speed"],
            Self::Population => &["population"],
        }
    }
}

use Role::{
    Aggregate as Agg, Alphabetical, And, Ascending, Be, Between, Both, By, Common, Comparative, Compare, Contains,
    Count, Descending, Determiner, Distinct, Do, Each, Either, EndsWith, Everything, Filler, Have, Light, Named, Not,
    Of, Opens, Or, OrderBy, Preposition, Relative, Share, Some as Any, Sort, StartsWith, Superlative, Than, Times, Top,
    When, Where, Which, Who, Without,
};

/// Words and phrases by role, parted by commas. Where phrases overlap, the longest wins.
const PHRASES: &[(Role, &str)] = &[
    (
        Opens,
        "show, list, find, give, return, what, tell, display, get, present, report, state, provide, retrieve, \
         identify, let, please, can you, could you, i want to know, i would like to know, select, what about, \
         whats, fetch, see, know, want to know, describe, compute, calculate, name all, print",
    ),
    (Which, "which"),
    (Who, "who, whom"),
    (When, "when, on what date, on which date, what date"),
    (Where, "where"),
    (
        Count,
        "how many, trend of, trend in, number of, numbers of, total number of, count, count of, total count of, counts of, the number \
         of, count the number of, overall number of, amount of different, how many of",
    ),
    (Agg(Aggregate::Average), "average, mean, avg, average of, mean of, on average, average number of"),
    (Agg(Aggregate::Sum), "total, sum, sum of, total of, combined, overall, total amount of, total sum of, how much"),
    (Agg(Aggregate::Max), "maximum, max, maximal, maximum of"),
    (Agg(Aggregate::Min), "minimum, min, minimal, minimum of"),
    (Distinct, "different, distinct, unique, various"),
    (Each, "each, per, every, each of, respective, grouped by, group by, broken down by, split by, by each, of each"),
    (
        Determiner,
        "the, a, an, all, any, this, these, those, their, its, his, her, our, my, all of, all the, any of, ones, \
         it, them, they, he, she, one of, each other",
    ),
    (Any, "some, at least one, one or more, a, an, one"),
    (Be, "is, are, was, were, be, been, being, 're, am"),
    (Have, "have, has, had, having, own, owns, owned, possess"),
    (Do, "do, does, did"),
    (
        Light,
        "place, places, placed, submit, submitted, belong, belongs, belonging, belonged, come, comes, came, use, uses, used, using, live, lives, living, \
         lived, occur, occurs, occurred, occurring, happen, happens, happened, took place, take place, exist, \
         exists, contain, located, recorded, registered, listed, found, get, gets, got, receive, received, \
         receives, work, works, working, worked, hold, holds, held, take, takes, taken, took, made, make, makes, \
         include, includes, included, associated, related, corresponding, correspond, given, done, stored, shown, \
         available, present, appear, appears, appeared, involved, participate, participated, participating, run, \
         runs, perform, performed, performs, play, plays, playing, played, buy, bought, earn, earned, earns, sell, \
         sells, sold, selling, shared, share the same, assigned, linked, connected, going, go, went, attached, \
         entered, in total, win, won, wins, made by, done by, create, creates, created, spoken, speak, speaks, shows, showed, showing, \
         supports, support, enrolled, served, serve, serves, employed, employ, employs, born",
    ),
    (Not, "not, never, neither, nor, n't, dont, don't, isn't, doesn't, didn't, aren't, haven't, hasn't, other than"),
    (Without, "no, without, without any, no any, lack, lacks, lacking, missing, except for, zero, excluding, except"),
    (And, "and, as well as, along with, together with, and also, but, plus, and the corresponding"),
    (Or, "or"),
    (Both, "both"),
    (Either, "either"),
    (Of, "of"),
    (Preposition, "in, for, from, with, at, on, to, among, across, within, during, about, into, amongst, for all"),
    (By, "by"),
    (Relative, "that, whose, such that"),
    (
        OrderBy,
        "ordered by, sorted by, order by, sort by, in order of, in the order of, sorted, ranked by, \
         arranged by, listed by, and sort by, order the result by, order the results by, sort the results by, sort \
         the result by, ordered in, sorted in, ranked",
    ),
    (Sort, "sort, order, rank"),
    (
        Ascending,
        "ascending, ordered ascending by, sorted ascending by, in ascending order, in ascending order of, in increasing order, in increasing order of, \
         increasing, ascending order, from low to high, from lowest to highest, from young to old, from youngest \
         to oldest, from the youngest to the oldest, from smallest to largest, from small to large, from the \
         lowest to the highest, from least to most, from a to z, lowest first, smallest first, youngest first, in \
         ascending order by, ascendingly",
    ),
    (
        Descending,
        "descending, ordered descending by, sorted descending by, in descending order, in descending order of, in decreasing order, in decreasing order of, \
         decreasing, descending order, from high to low, from highest to lowest, from old to young, from oldest to \
         youngest, from the oldest to the youngest, from largest to smallest, from large to small, from the \
         highest to the lowest, from most to least, from z to a, highest first, largest first, oldest first, in \
         descending order by, descendingly, in reverse order",
    ),
    (
        Alphabetical,
        "alphabetically, ordered alphabetically, in alphabetical order, in alphabetical order of, alphabetical order, in lexicographical \
         order, in alphabetic order, alphabetic order, lexicographically, in ascending alphabetical order, \
         ascending alphabetical order, in ascending alphabetical order of, in alphabetical order by, in ascending \
         alphabetical order by, alphabetical",
    ),
    (
        Compare(Op::Gt, Hint::None),
        "more than, greater than, higher than, larger than, bigger than, over, above, exceeding, exceeds, exceed, \
         >, in excess of",
    ),
    (Compare(Op::Lt, Hint::None), "less than, fewer than, lower than, smaller than, under, below, <"),
    (
        Compare(Op::Ge, Hint::None),
        "at least, no less than, not less than, no fewer than, greater than or equal to, more than or equal to, a \
         minimum of, ≥, not lower than",
    ),
    (
        Compare(Op::Le, Hint::None),
        "at most, no more than, not more than, less than or equal to, a maximum of, up to, ≤, not higher than, not \
         greater than, no higher than, not above",
    ),
    (Compare(Op::Eq, Hint::None), "equal to, equals, exactly, equal, =, the same as"),
    (Compare(Op::Ne, Hint::None), "not equal to, different from, not equal, ≠"),
    (Compare(Op::Gt, Hint::Age), "older than, older"),
    (Compare(Op::Lt, Hint::Age), "younger than, younger"),
    (Compare(Op::Gt, Hint::Height), "taller than"),
    (Compare(Op::Gt, Hint::Weight), "heavier than"),
    (Compare(Op::Lt, Hint::Weight), "lighter than"),
    (Compare(Op::Gt, Hint::Length), "longer than"),
    (Compare(Op::Gt, Hint::Price), "more expensive than"),
    (Compare(Op::Lt, Hint::Price), "cheaper than, less expensive than"),
    (Between, "between"),
    (Superlative(End::Top, Hint::None), "most, highest, greatest, most of"),
    (Superlative(End::Top, Hint::Size), "largest, biggest"),
    (Superlative(End::Bottom, Hint::None), "least, fewest, lowest"),
    (Superlative(End::Bottom, Hint::Size), "smallest"),
    (Superlative(End::Top, Hint::Age), "oldest, eldest"),
    (Superlative(End::Bottom, Hint::Age), "youngest"),
    (Superlative(End::Top, Hint::Date), "newest, latest, most recent, most recently, last"),
    (Superlative(End::Bottom, Hint::Date), "earliest, first"),
    (Superlative(End::Top, Hint::Height), "tallest"),
    (Superlative(End::Bottom, Hint::Height), "shortest"),
    (Superlative(End::Top, Hint::Weight), "heaviest"),
    (Superlative(End::Bottom, Hint::Weight), "lightest"),
    (Superlative(End::Top, Hint::Length), "longest"),
    (Superlative(End::Top, Hint::Price), "most expensive, priciest"),
    (Superlative(End::Bottom, Hint::Price), "cheapest, least expensive"),
    (Superlative(End::Top, Hint::Speed), "fastest"),
    (Superlative(End::Bottom, Hint::Speed), "slowest"),
    (Superlative(End::Top, Hint::Population), "most populous"),
    (Superlative(End::Bottom, Hint::Population), "least populous"),
    (Common(End::Top), "most common, most frequent, most popular, most frequently used, most commonly used, most used"),
    (Common(End::Bottom), "least common, least frequent, least popular, rarest"),
    (Top, "top"),
    (Named, "named, called, with the name, with name, whose name is, by the name of, name is"),
    (
        Contains,
        "contains, containing, contain the word, contains the word, containing the word, contain the substring, \
         like, includes the word, contains the substring, contain the string, contains the string",
    ),
    (
        StartsWith,
        "starts with, starting with, start with, begins with, beginning with, start with the letter, starts with \
         the letter, begin with",
    ),
    (EndsWith, "ends with, ending with, end with, ending in"),
    (
        Everything,
        "all the information, all information, all the details, all details, everything, all columns, all the \
         data, all data, information, details",
    ),
    (Times, "times, time"),
    (
        Share,
        "percentage, percent, percentage of, proportion, proportion of, ratio, ratio of, %, share of, fraction of, \
         difference, compare, growth, growth rate, change in, median, correlation, forecast, predict, why, how, \
         rate of, if, until all, second, third, nth",
    ),
    (
        Filler,
        "there, we, me, us, you, i, also, then, just, only, so, as, as well, who else, respectively, database, \
         table, currently, now, ever, yet, to be, in the database, in our database, in the table, table's, and \
         then, someone, someone else, total, values of, value of, the values of, do we have, are there, together, \
         own, else, will, would, has been, ok, hello, hi, thanks, at once, at one time, one time, of origin, in \
         it, there are, there is",
    ),
    (Comparative(Op::Gt), "more, higher, greater, larger, bigger"),
    (Comparative(Op::Lt), "less, fewer, lower, smaller"),
    (Than, "than"),
];

/// A phrase's words, and its role.
type Phrase = (Vec<&'static str>, Role);

/// Phrases by their first word.
static BY_FIRST: LazyLock<BTreeMap<&str, Vec<Phrase>>> = LazyLock::new(|| {
    let mut index: BTreeMap<&str, Vec<Phrase>> = BTreeMap::new();
    for (role, phrases) in PHRASES {
        for phrase in phrases.split(", ") {
            let words: Vec<&str> = phrase.split(' ').collect();
            index.entry(words[0]).or_default().push((words, *role));
        }
    }
    index
});

/// The longest phrase of function words that starts here: its role and how many words it takes.
pub(super) fn role(words: &[&str]) -> Option<(Role, usize)> {
    let mut best: Option<(Role, usize)> = None;
    for (phrase, role) in BY_FIRST.get(words.first()?)? {
        if words.starts_with(phrase) && best.is_none_or(|(_, longest)| phrase.len() > longest) {
            best = Some((*role, phrase.len()));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_phrase_wins() {
        assert_eq!(role(&["total", "number", "of", "singers"]), Some((Role::Count, 3)));
        assert_eq!(role(&["total", "bonus"]), Some((Role::Aggregate(Aggregate::Sum), 1)));
        assert_eq!(role(&["no", "more", "than"]), Some((Role::Compare(Op::Le, Hint::None), 3)));
        assert_eq!(role(&["most", "common"]), Some((Role::Common(End::Top), 2)));
        assert_eq!(role(&["singers"]), None);
    }
}
