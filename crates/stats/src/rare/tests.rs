use proptest::prelude::*;

use super::*;

const QUIET: [f64; 10] = [0.0, 0.002, -0.001, 0.001, -0.002, 0.003, 0.0, 0.001, -0.001, 0.002];

fn with_slow(slow: usize) -> Vec<f64> {
    QUIET.iter().enumerate().map(|(i, v)| if i < slow { v - 0.46 } else { *v }).collect()
}

#[test]
fn a_slow_state_of_one_side_is_counted_and_measured() {
    let rare = Rare::of(&QUIET, &with_slow(1));
    assert_eq!((rare.baseline.rare, rare.variant.rare, rare.variant.runs), (0, 1, 10));
    assert!((rare.variant.size.unwrap().percent() + 36.9).abs() < 0.5, "{rare:?}");
    assert!(rare.is_one_sided(0.01) && !rare.is_one_sided(0.8));
    assert_eq!(
        rare.describe("A", "B").unwrap(),
        "1 of 10 runs of B is worse by about 36.9 %, none of A"
    );
    assert_eq!(Rare::of(&QUIET, &QUIET).describe("A", "B"), None);
}

#[test]
fn a_slow_state_of_both_sides_is_the_machine_s_unless_one_has_far_more() {
    assert!(!Rare::of(&with_slow(2), &with_slow(1)).is_one_sided(0.01));
    let many: Vec<f64> = (0..4).flat_map(|_| with_slow(4)).collect();
    let few: Vec<f64> = (0..4).flat_map(|_| QUIET).chain(with_slow(1)).collect();
    assert!(Rare::of(&few, &many).is_one_sided(0.01));
}

#[test]
fn half_of_the_runs_are_a_cluster() {
    assert_eq!(Rare::of(&QUIET, &with_slow(5)).variant.rare, 5);
}

/// Clopper and Pearson (1934) and the rule of three: no rare run among 8, 20 and 100 leaves at most
/// 1 - 0.05^(1/n).
#[test]
fn what_was_not_seen_is_bounded() {
    for (runs, bound) in [(8, 0.3123), (20, 0.1391), (100, 0.0295)] {
        assert!((upper_share(0, runs) - bound).abs() < 1e-4, "{}", upper_share(0, runs));
    }
    assert!((upper_share(2, 20) - 0.2826).abs() < 1e-4, "{}", upper_share(2, 20));
    assert_eq!(upper_share(0, 0), 1.0);
}

/// Fisher's tea-tasting lady, 3 of 4 right: p = 34/70; all right: 2/70.
#[test]
fn the_lady_tasting_tea() {
    assert!((fisher((3, 4), (1, 4)) - 34.0 / 70.0).abs() < 1e-9);
    assert!((fisher((4, 4), (0, 4)) - 2.0 / 70.0).abs() < 1e-9);
}

proptest! {
    #[test]
    fn any_runs_are_counted_whole(
        a in prop::collection::vec(-1e3..1e3f64, 0..20), b in prop::collection::vec(-0.1..0.1f64, 0..20),
    ) {
        let rare = Rare::of(&a, &b);
        for (side, runs) in [(rare.baseline, a.len()), (rare.variant, b.len())] {
            prop_assert!(side.runs == runs && 2 * side.rare <= runs);
            prop_assert!(side.size.is_some() == (side.rare > 0));
            prop_assert!((0.0..=1.0).contains(&side.share_at_most));
        }
        prop_assert_eq!(rare.is_one_sided(0.01), Rare::of(&b, &a).is_one_sided(0.01));
    }
}
