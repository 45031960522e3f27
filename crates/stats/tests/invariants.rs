//! What holds of every comparison, whatever the figures.

use fwdlab_stats::multiple::Kind;
use fwdlab_stats::paired::{self, Block};
use fwdlab_stats::plan::{self, Goal};
use fwdlab_stats::sequential::{self, Rule};
use fwdlab_stats::{
    Comparison, Confidence, Direction, Effect, Subject, Verdict, mann_whitney, model, steady,
    unpaired, validity,
};
use proptest::prelude::*;

const HIGHER: Direction = Direction::HigherIsBetter;
const LOWER: Direction = Direction::LowerIsBetter;

/// Figures of every kind: two states, whole numbers, heavy tails, all of one value, and the ends of
/// what a double holds.
fn figure() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (0u8..2, 0.99..1.01f64).prop_map(|(state, near)| [4.8, 7.6][usize::from(state)] * near),
        3 => (1u32..9).prop_map(f64::from),
        2 => 1e-3..1e9f64,
        2 => Just(5.0),
        1 => prop_oneof![Just(f64::MAX), Just(f64::MIN_POSITIVE), Just(5e-324)],
    ]
}

fn figures() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(figure(), 0..24)
}

fn rows() -> impl Strategy<Value = Vec<Vec<f64>>> {
    (2usize..5).prop_flat_map(|columns| {
        prop::collection::vec(prop::collection::vec(figure(), columns), 0..14)
    })
}

fn confidence() -> impl Strategy<Value = Confidence> {
    prop_oneof![Just(0.95), Just(0.999), 0.8..0.9999f64]
        .prop_map(|share| Confidence::new(share).expect("a share in range"))
}

fn is_sound(own: &Comparison) {
    let figures = [
        own.estimate.ratio(),
        own.median.ratio(),
        own.mean.ratio(),
        own.interval95.low.ratio(),
        own.interval95.high.ratio(),
        own.interval90.low.ratio(),
        own.interval90.high.ratio(),
        own.p,
        own.sd_of_difference,
    ];
    assert!(figures.iter().all(|figure| figure.is_finite() && *figure >= 0.0), "{own:?}");
    assert!(own.p <= 1.0, "{own:?}");
    assert!(own.interval95.covers(own.estimate), "{own:?}");
    assert!(own.interval90.covers(own.estimate), "{own:?}");
    assert_eq!(
        own.interval95.excludes_no_change(),
        own.p <= own.confidence.alpha(),
        "p and interval are one thing: {own:?}"
    );
    let verdict = Verdict::judge(own, 0.01, &[]);
    let word = verdict.word();
    if own.interval95.excludes_no_change() {
        let side = if own.estimate.ratio() > 1.0 { "faster" } else { "slower" };
        assert!(word == side || word == "equivalent", "{word}: {own:?}");
    } else {
        assert!(word == "inconclusive" || word == "equivalent", "{word}: {own:?}");
    }
    let subject = Subject { variant: "b", baseline: "a", metric: "rate" };
    let sentence = verdict.sentence(Some(own), 0.01, subject);
    assert!(!sentence.contains("NaN") && !sentence.contains("inf %"), "{sentence}");
}

/// The same but for rounding, with the sides swapped.
fn is_mirrored(a: &Comparison, b: &Comparison) {
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs());
    let opposed = |a: Effect, b: Effect| close(a.ln(), -b.ln());
    assert!(opposed(a.estimate, b.estimate), "{a:?}\n{b:?}");
    assert!(opposed(a.interval95.low, b.interval95.high), "{a:?}\n{b:?}");
    assert!(opposed(a.interval95.high, b.interval95.low), "{a:?}\n{b:?}");
    assert!(close(a.p, b.p), "{a:?}\n{b:?}");
}

fn pairs(rows: &[Vec<f64>]) -> Vec<Block> {
    rows.iter().map(|row| Block::new(row[0], row[1])).collect()
}

fn swapped(blocks: &[Block]) -> Vec<Block> {
    blocks.iter().map(|block| Block::new(block.variant, block.baseline)).collect()
}

/// Figures whose logarithms lose no digits when they are scaled.
fn plain_rows() -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(1.0..1e3f64, 2), 3..14)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_of_any_figures_compare_soundly(rows in rows(), confidence in confidence()) {
        for direction in [HIGHER, LOWER] {
            if let Ok(own) = paired::compare_at(&pairs(&rows), direction, confidence) {
                is_sound(&own);
            } else {
                prop_assert!(rows.len() < 2);
            }
            for own in model::compare_at(&rows, direction, confidence).unwrap_or_default() {
                is_sound(&own);
            }
        }
    }

    #[test]
    fn campaigns_until_decided_compare_soundly(rows in rows(), comparisons in 1usize..7) {
        let rule = Rule { comparisons, ..Rule::default() };
        let state = sequential::look_at(&pairs(&rows), HIGHER, &rule).expect("positive figures");
        prop_assert!(state.e >= 0.0 && state.e.is_finite());
        if let Ok(own) = sequential::compare(&pairs(&rows), HIGHER, &rule) {
            let is_clear = own.rare.is_none_or(|rare| !rare.is_unclear(rule.margin));
            prop_assert_eq!(
                own.interval90.is_within(rule.margin) && is_clear,
                state.decision == sequential::Decision::Equivalent,
                "what stops a campaign is what is reported: {:?} {:?}", own, state
            );
            is_sound(&own);
            prop_assert!(
                !own.interval95.excludes_no_change() || state.e >= rule.threshold(),
                "{:?} {:?}", own, state
            );
            // where the effect is larger than a rounding error of 1, the two are one thing
            prop_assert!(
                own.interval95.excludes_no_change() || state.e < rule.threshold()
                    || own.estimate.ratio() == 1.0,
                "{:?} {:?}", own, state
            );
        }
    }

    #[test]
    fn what_is_called_different_stays_so(rows in rows()) {
        let gains = paired::log_gains(&pairs(&rows), HIGHER).unwrap();
        let rule = Rule::default();
        let mut largest = 0.0f64;
        for blocks in 0..=gains.len() {
            let state = sequential::look(&gains[..blocks], &rule);
            if state.interval.is_none() {
                continue;
            }
            let is_different = state.interval.is_some_and(|own| own.excludes_no_change());
            if is_different {
                prop_assert!(state.e >= rule.threshold());
            }
            largest = largest.max(state.e);
        }
        prop_assert!(largest >= 0.0);
    }

    #[test]
    fn groups_of_any_figures_compare_soundly(
        a in figures(), b in figures(), confidence in confidence(),
    ) {
        for direction in [HIGHER, LOWER] {
            match unpaired::compare_at(&a, &b, direction, confidence) {
                Ok(own) => is_sound(&own.comparison),
                Err(_) => prop_assert!(a.len().min(b.len()) < 2),
            }
        }
        let test = mann_whitney::test(&a, &b);
        prop_assert!((0.0..=1.0).contains(&test.p) && (0.0..=1.0).contains(&mann_whitney::of_shift(&a, &b)));
    }

    #[test]
    fn several_groups_compare_soundly(
        groups in prop::collection::vec((figures(), figures()), 0..5),
        failed in prop::collection::vec([0usize..3, 0usize..3], 5),
        confidence in confidence(),
        is_holm: bool,
    ) {
        let kind = if is_holm { Kind::Holm } else { Kind::FalseDiscovery };
        let directions = [HIGHER, LOWER].into_iter().cycle();
        let pairs: Vec<unpaired::Pair<'_>> = groups
            .iter()
            .zip(directions)
            .zip(&failed)
            .map(|(((a, b), direction), failed)| unpaired::Pair {
                baseline: a,
                variant: b,
                direction,
                failed: *failed,
            })
            .collect();
        let all = unpaired::compare_several(&pairs, confidence, kind);
        prop_assert_eq!(all.len(), pairs.len());
        for own in all.iter().flatten() {
            is_sound(&own.comparison);
            prop_assert!(own.comparison.correction.is_some());
        }
        for (own, pair) in all.iter().zip(&pairs) {
            let Ok(own) = own else { continue };
            let is_whole = pair.failed == [0; 2];
            prop_assert!(is_whole || own.comparison.rare.unwrap().is_unclear(0.01));
        }
    }

    #[test]
    fn checks_of_any_series_speak_in_numbers(
        values in prop::collection::vec(
            prop_oneof![Just(0.0), 0.0..1e12f64, (0u8..4).prop_map(f64::from)], 0..30,
        ),
    ) {
        let found = [
            validity::stray_runs("a", &values),
            validity::two_clusters("a", &values),
            validity::drift(&values),
            validity::ramp(&[&values]),
        ];
        for finding in found.iter().flatten() {
            let text = finding.to_string();
            prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
        let steady = steady::window(&values);
        prop_assert!(steady.figure(&values).is_none_or(f64::is_finite));
        for forecast in [
            plan::blocks(Goal::Difference { size: 0.01 }, values.len() as f64, values.len(), 0.8),
            plan::blocks_until_decided(
                Goal::Equivalence { margin: 0.01 }, 0.01, values.len(), 0.8, &Rule::default(),
            ),
        ] {
            prop_assert!(forecast.blocks >= 3 && forecast.blocks_if_unlucky >= forecast.blocks);
        }
    }

    #[test]
    fn swapped_sides_give_the_opposite(rows in plain_rows()) {
        let blocks = pairs(&rows);
        let compare = |blocks: &[Block]| paired::compare(blocks, HIGHER).unwrap();
        is_mirrored(&compare(&blocks), &compare(&swapped(&blocks)));
        let rule = Rule::default();
        let sequential = |blocks: &[Block]| sequential::compare(blocks, HIGHER, &rule).ok();
        if let Some((a, b)) = sequential(&blocks).zip(sequential(&swapped(&blocks))) {
            is_mirrored(&a, &b);
        }
        let (a, b): (Vec<f64>, Vec<f64>) = rows.iter().map(|row| (row[0], row[1])).unzip();
        let unpaired = |a: &[f64], b: &[f64]| unpaired::compare(a, b, HIGHER).unwrap().comparison;
        is_mirrored(&unpaired(&a, &b), &unpaired(&b, &a));
        is_mirrored(&unpaired(&a, &b), &unpaired::compare(&a, &b, LOWER).unwrap().comparison);
    }

    #[test]
    fn a_change_of_unit_changes_nothing(rows in plain_rows(), unit in 1e-6..1e6f64) {
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs());
        let same = |a: &Comparison, b: &Comparison| {
            close(a.estimate.ln(), b.estimate.ln())
                && close(a.interval95.low.ln(), b.interval95.low.ln())
                && close(a.interval95.high.ln(), b.interval95.high.ln())
        };
        let blocks = pairs(&rows);
        let scale = |block: &Block| Block::new(block.baseline * unit, block.variant * unit);
        let scaled: Vec<Block> = blocks.iter().map(scale).collect();
        let compare = |blocks: &[Block]| paired::compare(blocks, HIGHER).unwrap();
        prop_assert!(same(&compare(&blocks), &compare(&scaled)));
        let side = |blocks: &[Block], of: fn(&Block) -> f64| -> Vec<f64> { blocks.iter().map(of).collect() };
        let unpaired = |blocks: &[Block]| {
            let (a, b) = (side(blocks, |b| b.baseline), side(blocks, |b| b.variant));
            unpaired::compare(&a, &b, HIGHER).unwrap().comparison
        };
        prop_assert!(same(&unpaired(&blocks), &unpaired(&scaled)));
    }
}
