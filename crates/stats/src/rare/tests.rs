use proptest::prelude::*;

use super::*;

const QUIET: [f64; 10] = [0.0, 0.002, -0.001, 0.001, -0.002, 0.003, 0.0, 0.001, -0.001, 0.002];

/// Runs in blocks, at 5 %.
fn rare_of(baseline: &[f64], variant: &[f64]) -> Rare {
    Rare::of_blocks(baseline, variant, 0.05)
}

fn with_slow(slow: usize) -> Vec<f64> {
    QUIET.iter().enumerate().map(|(i, v)| if i < slow { v - 0.46 } else { *v }).collect()
}

#[test]
fn a_slow_state_of_one_side_is_counted_and_measured() {
    let rare = rare_of(&QUIET, &with_slow(1));
    assert_eq!((rare.baseline.rare, rare.variant.rare, rare.variant.runs), (0, 1, 10));
    assert!((rare.variant.size.unwrap().percent() + 36.9).abs() < 0.5, "{rare:?}");
    assert!(rare.is_unclear(0.01) && !rare.is_unclear(0.8));
    assert_eq!(
        rare.describe("A", "B").unwrap(),
        "1 of 10 runs of B is worse by about 36.9 %, none of A"
    );
    assert_eq!(rare_of(&QUIET, &QUIET).describe("A", "B"), None);
}

/// A stretch of quiet blocks, `count` of whose runs are slow, evenly spread from the `from`th on.
fn slow_among(blocks: usize, count: usize, from: usize) -> Vec<f64> {
    let mut runs: Vec<f64> = (0..blocks).map(|i| QUIET[i % 10]).collect();
    for slow in 0..count {
        runs[(from + slow * blocks / count.max(1)) % blocks] -= 0.46;
    }
    runs
}

/// Fisher's p is 0.35 and 0.74, the losses 1.8 and 1.7 times as large: such pairs were "equivalent".
#[test]
fn a_slow_state_of_the_baseline_excuses_none_half_as_often_again() {
    for (blocks, b, v) in [(40, 5, 9), (100, 5, 8), (20, 3, 5), (40, 4, 6)] {
        let rare = rare_of(&slow_among(blocks, b, 0), &slow_among(blocks, v, 1));
        assert_eq!((rare.baseline.rare, rare.variant.rare), (b, v));
        assert!(rare.is_unclear(0.01), "{blocks}: {rare:?}");
        let cost = rare.slower.unwrap();
        let truth = -0.46 * (v as f64 - b as f64) / blocks as f64;
        assert!((cost.estimate.ln() - truth).abs() < 1e-3, "{cost:?} {truth}");
        assert!(cost.low.ln() < 2.0 * truth, "as many may be one state: {cost:?}");
    }
}

/// Equal numbers prove nothing either while one more or less would matter; many do.
#[test]
fn a_slow_state_of_both_sides_needs_many_runs_or_must_be_shared() {
    let both = |blocks: usize, count: usize, shift: usize| {
        rare_of(&slow_among(blocks, count, 0), &slow_among(blocks, count, shift))
    };
    assert!(both(40, 4, 1).is_unclear(0.01) && both(1000, 100, 1).is_unclear(0.01));
    assert!(!both(10_000, 100, 1).is_unclear(0.01), "{:?}", both(10_000, 100, 1).slower);
    assert!(!both(40, 4, 0).is_unclear(0.01), "the same blocks: {:?}", both(40, 4, 0).slower);
}

#[test]
fn half_of_the_runs_are_a_cluster() {
    assert_eq!(rare_of(&QUIET, &with_slow(5)).variant.rare, 5);
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

/// 4 of 40 runs 58 % slower are a slow state, whatever one stray of the other side is like.
#[test]
fn a_harmless_stray_of_the_baseline_excuses_no_slow_state() {
    let quiet = || (0..4).flat_map(|_| QUIET);
    let slow: Vec<f64> = (0..4).flat_map(|_| with_slow(1)).collect();
    for stray in [-0.02, -0.06, 0.06, 0.46, -0.46] {
        let baseline: Vec<f64> =
            quiet().enumerate().map(|(i, v)| if i == 7 { v + stray } else { v }).collect();
        let rare = rare_of(&baseline, &slow);
        assert_eq!((rare.baseline.rare, rare.variant.rare), (1, 4), "{stray}");
        assert!(rare.is_unclear(0.01), "{stray}: {rare:?}");
    }
}

/// A level that drifts by 10 %, or moves from block to block, widened the spread that "far" is measured
/// by: a state of one run in ten 11 % slower was "equivalent" in 70 to 100 % of campaigns.
#[test]
fn a_machine_whose_level_moves_hides_no_rare_runs() {
    let drift = |i: usize| 0.1 * i as f64 / 40.0;
    let jumps = |i: usize| 0.1 * f64::sin(i as f64 * 5.3);
    for level in [drift as fn(usize) -> f64, jumps] {
        let side = |shift: usize, slow: f64| -> Vec<f64> {
            let run = |i: usize| QUIET[(i + shift) % 10] - if i % 10 == 4 { slow } else { 0.0 };
            (0..40).map(|i| level(i) + run(i)).collect()
        };
        let (quiet, slow) = (side(0, 0.0), side(3, 0.11));
        let rare = rare_of(&quiet, &slow);
        assert_eq!((rare.baseline.rare, rare.variant.slower.runs), (0, 4), "{rare:?}");
        assert!(rare.is_unclear(0.01), "{rare:?}");
        let turned = rare_of(&slow, &quiet);
        assert_eq!((turned.baseline.slower.runs, turned.variant.rare), (4, 0), "{turned:?}");
        assert_eq!(rare_of(&quiet, &side(3, 0.0)).slower, None);
    }
}

/// Either within the margin, and both together beyond it.
#[test]
fn what_rare_runs_cost_adds_to_what_typical_ones_differ_by() {
    let run = |i: usize| QUIET[i % 10];
    let slow = |i: usize| if i % 10 == 4 { 0.045 } else { 0.0 };
    let baseline: Vec<f64> = (0..100).map(run).collect();
    let rare = |shift: f64| {
        let variant: Vec<f64> = (0..100).map(|i| run(i + 3) - shift - slow(i)).collect();
        rare_of(&baseline, &variant)
    };
    let (far, near) = (rare(0.006), rare(0.0));
    assert!(far.slower.unwrap().is_within(0.01) && far.typical.unwrap().is_within(0.01));
    assert!(far.is_unclear(0.01) && !near.is_unclear(0.01), "{far:?} {near:?}");
    let words = in_words(&far, 0.01, ("A", "B")).unwrap();
    assert!(words.contains("with what typical runs differ by"), "{words}");
}

/// A stray that costs little whatever share such runs may have says nothing against "equivalent".
#[test]
fn a_small_stray_among_many_runs_leaves_the_verdict_alone() {
    let with = |runs: usize, by: f64| -> Vec<f64> {
        (0..runs).map(|i| QUIET[i % 10] + if i == 7 { by } else { 0.0 }).collect()
    };
    let judged = |runs, by| rare_of(&with(runs, 0.0), &with(runs, by)).is_unclear(0.01);
    // 4.74 of 40 runs by 6 % are 0.7 %, of 20 runs 1.4 %
    assert!(!judged(40, -0.06) && judged(20, -0.06));
    assert!(judged(100, -0.46) && !judged(400, -0.46));
    assert!(!judged(40, 0.06) && judged(20, 0.06), "faster ones are no excuse either");
}

/// A state of three runs in ten widens the spread that "far" is measured by.
#[test]
fn a_frequent_state_is_seen_whole() {
    let speed = |i: usize| 0.005 * f64::sin(i as f64 * 2.4) * 1.4;
    let runs: Vec<f64> = (0..100).map(|i| speed(i) - if i % 10 < 3 { 0.05 } else { 0.0 }).collect();
    assert_eq!(rare_of(&runs, &runs).variant.slower.runs, 30);
}

#[test]
fn runs_without_blocks_and_campaigns_are_judged_too() {
    let (b, v) = (slow_among(40, 5, 0), slow_among(40, 9, 1));
    assert!(Rare::of_runs(&b, &v, 0.05).is_unclear(0.01));
    let apart = |runs: &[f64]| -> Vec<Vec<f64>> {
        (0..4)
            .map(|k| runs[10 * k..10 * k + 10].iter().map(|own| own + k as f64).collect())
            .collect()
    };
    let rare = Rare::of_campaigns(&apart(&b), &apart(&v), 0.05);
    assert_eq!((rare.baseline.rare, rare.variant.rare), (5, 9));
    assert!(rare.is_unclear(0.01), "{rare:?}");
    assert!(
        !Rare::of_campaigns(&apart(&QUIET.repeat(4)), &apart(&QUIET.repeat(4)), 0.05)
            .is_unclear(0.01)
    );
}

#[test]
fn rare_runs_on_both_ends_do_not_make_up_for_each_other() {
    let both: Vec<f64> = (0..2)
        .flat_map(|_| QUIET)
        .enumerate()
        .map(|(i, v)| v + [0.4, -0.4, 0.4, -0.4].get(i).unwrap_or(&0.0))
        .collect();
    let rare = rare_of(&both, &QUIET);
    assert_eq!((rare.baseline.slower.runs, rare.baseline.faster.runs), (2, 2));
    assert!(rare.is_unclear(0.01));
    let text = rare.describe("A", "B").unwrap();
    assert!(text.contains("2 of 20 runs of A are worse by about 3"), "{text}");
    assert!(text.contains(" and 2 better by about 4"), "{text}");
}

proptest! {
    #[test]
    fn any_runs_are_counted_whole(
        a in prop::collection::vec(-1e3..1e3f64, 0..20), b in prop::collection::vec(-0.1..0.1f64, 0..20),
    ) {
        let rare = Rare::of_runs(&a, &b, 0.05);
        for (side, runs) in [(rare.baseline, a.len()), (rare.variant, b.len())] {
            prop_assert!(side.runs == runs && 2 * side.rare <= runs);
            prop_assert!(side.size.is_some() == (side.rare > 0));
            prop_assert_eq!(side.slower.runs + side.faster.runs, side.rare);
            prop_assert!((0.0..=1.0).contains(&side.share_at_most));
        }
        let same = a.len().min(b.len());
        let (a, b) = (&a[..same], &b[..same]);
        for of in [Rare::of_blocks, Rare::of_runs] {
            let (rare, other) = (of(a, b, 0.05), of(b, a, 0.05));
            prop_assert_eq!(rare.slower.is_some(), other.slower.is_some());
            prop_assert!(rare.slower.is_some() || rare.baseline.slower.runs + rare.variant.slower.runs == 0);
        }
    }
}
