//! Do intervals hold the truth as often as they say?
//!
//! Against "they do in at least 95 %, whatever came before" a bet is placed on each interval whose
//! truth is known: e is the capital won, from 1. If the claim is true, e ever reaches 20 with a chance
//! of at most 5 %, however often one looks (Ville; Shafer, "Testing by betting", J. Roy. Stat. Soc. A
//! 184 (2021)). Bets are likelihood ratios of 80, 90 and 60 %, begun anew at each interval with weight
//! 1 / (k (k + 1)), so that a long good past hides no break for long.

/// Share of intervals that hold the truth, at least.
pub const CLAIMED: f64 = 0.95;

/// Evidence from which the claim is given up.
pub const BROKEN: f64 = 20.0;

/// Shares that are bet on.
const BETS: [f64; 3] = [0.9, 0.8, 0.6];

/// The evidence against the claim after these intervals, the latest last.
pub fn evidence(held: &[bool]) -> f64 {
    let of = |share: f64| {
        held.iter().enumerate().fold(0.0, |capital, (k, held)| {
            let begun = 1.0 / ((k as f64 + 1.0) * (k as f64 + 2.0));
            let ratio = if *held { share / CLAIMED } else { (1.0 - share) / (1.0 - CLAIMED) };
            (capital + begun) * ratio
        })
    };
    let unplaced = 1.0 / (held.len() as f64 + 1.0);
    BETS.iter().map(|share| of(*share)).sum::<f64>() / BETS.len() as f64 + unplaced
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Splitmix64, as a share.
    fn uniform(state: &mut u64) -> f64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
    }

    /// Whether the claim is given up within so many intervals of that coverage.
    fn breaks(coverage: f64, intervals: usize, seed: u64) -> bool {
        let mut state = seed;
        let held: Vec<bool> = (0..intervals).map(|_| uniform(&mut state) < coverage).collect();
        (1..=intervals).any(|n| evidence(&held[..n]) >= BROKEN)
    }

    #[test]
    fn a_true_claim_is_given_up_in_at_most_5_of_100_and_a_false_one_soon() {
        let share = |coverage: f64, intervals: usize| {
            (0..400).filter(|seed| breaks(coverage, intervals, seed * 77 + 5)).count() as f64
                / 400.0
        };
        assert!(share(0.95, 300) <= 0.05, "{}", share(0.95, 300));
        assert!(share(0.7, 60) >= 0.8, "{}", share(0.7, 60));
        assert!(share(0.5, 30) >= 0.95, "{}", share(0.5, 30));
    }

    #[test]
    fn a_long_good_past_hides_no_break_for_long() {
        let mut held = vec![true; 500];
        assert!(evidence(&held) < 1.0);
        held.extend([false; 8]);
        assert!(evidence(&held) >= BROKEN, "{}", evidence(&held));
        assert_eq!(evidence(&[]), 1.0);
        assert!(evidence(&[false, false]) < BROKEN);
        assert!(evidence(&[false; 3]) >= BROKEN);
    }

    proptest! {
        #[test]
        fn it_is_a_fair_bet_or_less_at_each_interval(
            held in proptest::collection::vec(any::<bool>(), 0..60),
        ) {
            let next = |last: bool| evidence(&[&held[..], &[last]].concat());
            let expected = CLAIMED * next(true) + (1.0 - CLAIMED) * next(false);
            prop_assert!(expected <= evidence(&held) * (1.0 + 1e-9));
        }
    }
}
