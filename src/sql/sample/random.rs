//! Numbers that look random and are the same on every machine, every time.

/// `SplitMix64`: eight lines, no state but a counter, good enough for believable data and for nothing else.
pub(super) struct Random(u64);

impl Random {
    /// The one sequence the sample is drawn from.
    pub(super) fn new() -> Self {
        Self(0x7069_2d73_716c)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..bound`; 0 when the bound is 0.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        // The upper half of 32 × 32 bits: no division, no float, the same on every machine.
        let draw = self.next() >> 32;
        u32::try_from((draw * u64::from(bound)) >> 32).unwrap_or(0)
    }

    /// A number in `low..=high`.
    pub(super) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `permille` of 1,000 cases.
    pub(super) fn chance(&mut self, permille: u32) -> bool {
        self.below(1000) < permille
    }

    /// One of these.
    pub(super) fn pick<T: Copy, const N: usize>(&mut self, choices: &[T; N]) -> T {
        choices[self.index(N)]
    }

    /// One of these, in proportion to its weight.
    pub(super) fn weighted<T: Copy, const N: usize>(&mut self, choices: &[(T, u32); N]) -> T {
        let total = choices.iter().map(|(_, weight)| weight).sum();
        let mut rest = self.below(total);
        for &(choice, weight) in choices {
            if rest < weight {
                return choice;
            }
            rest -= weight;
        }
        choices[N - 1].0
    }

    /// A position in a list of that length.
    pub(super) fn index(&mut self, length: usize) -> usize {
        self.below(u32::try_from(length).unwrap_or(u32::MAX)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_never_changes() {
        let mut random = Random::new();
        let drawn: Vec<u32> = (0..6).map(|_| random.below(1000)).collect();
        assert_eq!(drawn, [145, 770, 961, 689, 658, 477]);
    }

    #[test]
    fn weights_are_kept() {
        let mut random = Random::new();
        let heavy = (0..10_000).filter(|_| random.weighted(&[("light", 1), ("heavy", 9)]) == "heavy").count();
        assert!((8_800..9_200).contains(&heavy), "{heavy}");
    }
}
