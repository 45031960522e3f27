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
    assert!(!Rare::of(&with_slow(2), &with_slow(2)).is_one_sided(0.01));
    assert!(!Rare::of(&with_slow(3), &with_slow(2)).is_one_sided(0.01));
    assert!(Rare::of(&with_slow(2), &with_slow(1)).is_one_sided(0.01), "twice the loss");
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

/// 4 of 40 runs 58 % slower are a slow state, whatever one stray of the other side is like.
#[test]
fn a_harmless_stray_of_the_baseline_excuses_no_slow_state() {
    let quiet = || (0..4).flat_map(|_| QUIET);
    let slow: Vec<f64> = (0..4).flat_map(|_| with_slow(1)).collect();
    for stray in [-0.02, -0.06, 0.06, 0.46, -0.46] {
        let baseline: Vec<f64> =
            quiet().enumerate().map(|(i, v)| if i == 7 { v + stray } else { v }).collect();
        let rare = Rare::of(&baseline, &slow);
        assert_eq!((rare.baseline.rare, rare.variant.rare), (1, 4), "{stray}");
        assert!(rare.is_one_sided(0.01), "{stray}: {rare:?}");
    }
}

/// Strays that cost less than half the margin a run say nothing while both sides have some.
#[test]
fn small_strays_of_both_sides_leave_the_verdict_alone() {
    let with = |strays: &[f64]| -> Vec<f64> {
        (0..4)
            .flat_map(|_| QUIET)
            .enumerate()
            .map(|(i, v)| v + strays.get(i).unwrap_or(&0.0))
            .collect()
    };
    assert!(!Rare::of(&with(&[-0.03]), &with(&[-0.05, -0.04, -0.06])).is_one_sided(0.01));
    assert!(!Rare::of(&with(&[-0.46; 3]), &with(&[-0.46; 4])).is_one_sided(0.01));
}

#[test]
fn rare_runs_on_both_ends_do_not_make_up_for_each_other() {
    let both: Vec<f64> = (0..2)
        .flat_map(|_| QUIET)
        .enumerate()
        .map(|(i, v)| v + [0.4, -0.4, 0.4, -0.4].get(i).unwrap_or(&0.0))
        .collect();
    let rare = Rare::of(&both, &QUIET);
    assert_eq!((rare.baseline.slower.runs, rare.baseline.faster.runs), (2, 2));
    assert!(rare.is_one_sided(0.01));
    let text = rare.describe("A", "B").unwrap();
    assert!(text.contains("2 of 20 runs of A are worse by about 3"), "{text}");
    assert!(text.contains(" and 2 better by about 4"), "{text}");
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
            prop_assert_eq!(side.slower.runs + side.faster.runs, side.rare);
            prop_assert!((0.0..=1.0).contains(&side.share_at_most));
        }
        prop_assert_eq!(rare.is_one_sided(0.01), Rare::of(&b, &a).is_one_sided(0.01));
    }
}
