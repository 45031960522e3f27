use super::*;

const GAINS: [f64; 5] = [0.011, 0.018, 0.009, 0.022, 0.013];

/// scipy 1.17.1: the Bayes factor integrated numerically over the prior N(0, 16) with
/// scipy.stats.nct and scipy.stats.t (t = 6.1368, v = 4) is 29.548465555553.
#[test]
fn e_t_equals_the_integrated_bayes_factor() {
    assert!((e_t(&GAINS) / 29.548_465_555_553 - 1.0).abs() < 1e-9, "{}", e_t(&GAINS));
}

/// 2^5 B(6, 1) = 32 / 6.
#[test]
fn e_sign_of_five_positive_blocks_is_a_sixth_of_32() {
    assert!((e_sign(&GAINS) - 32.0 / 6.0).abs() < 1e-12);
    assert!((e_value(&GAINS) - f64::midpoint(29.548_465_555_553, 32.0 / 6.0)).abs() < 1e-6);
}

/// The formula in the function's comment, evaluated with numpy: 0.0132420118438.
#[test]
fn the_confidence_sequence_is_wider_than_the_t_interval() {
    let half = half_width(&GAINS, 0.05).unwrap();
    assert!((half - 0.013_242_011_843_833).abs() < 1e-12, "{half}");
    assert!(half_width(&GAINS[..2], 0.05).is_none());
}

#[test]
fn equal_blocks_without_any_noise_are_evidence_of_nothing() {
    assert!(e_value(&[0.0; 10]) < 1.0);
    assert!(e_value(&[0.01; 10]).is_finite());
    assert!(e_value(&[0.01; 10]) > 20.0);
    assert_eq!(e_value(&[]), 1.0);
}

#[test]
fn a_clear_difference_stops_early_and_equal_variants_stop_as_equivalent() {
    let rule = Rule::default();
    assert_eq!(look(&GAINS[..2], &rule).decision, Decision::Continue);
    let state = first_decision(&[0.05, 0.051, 0.049, 0.05, 0.052], &rule);
    assert_eq!(state.decision, Decision::Different);
    assert!(state.reason(&rule).starts_with("different: e-value"), "{}", state.reason(&rule));
    let state = first_decision(&[0.0003, -0.0002, 0.0001, -0.0004, 0.0002, 0.0001], &rule);
    assert_eq!(state.decision, Decision::Equivalent);
    assert_eq!(
        state.reason(&rule),
        format!(
            "equivalent: the confidence sequence lies within ±1.00 % after {} blocks",
            state.blocks
        )
    );
}

#[test]
fn noise_runs_to_the_cap() {
    let zigzag: Vec<f64> = (0..50).map(|i| if i % 2 == 0 { 0.05 } else { -0.05 }).collect();
    let state = first_decision(&zigzag, &Rule::default());
    assert_eq!((state.blocks, state.decision), (40, Decision::Exhausted));
}

#[test]
fn several_comparisons_share_alpha() {
    let rule = Rule { comparisons: 6, ..Rule::default() };
    assert!((rule.threshold() - 120.0).abs() < 1e-9);
}

#[test]
fn the_interval_leaves_out_no_change_exactly_when_e_reaches_the_threshold() {
    for size in 0..40 {
        let gains: Vec<f64> = GAINS.iter().map(|g| g - 0.0005 * f64::from(size)).collect();
        let blocks: Vec<Block> = gains.iter().map(|g| Block::new(1.0, g.exp())).collect();
        let comparison = compare(&blocks, Direction::HigherIsBetter, &Rule::default()).unwrap();
        let is_decided = e_value(&gains) >= 20.0;
        assert_eq!(
            comparison.interval95.excludes_no_change(),
            is_decided,
            "shift {size}: {comparison:?}"
        );
    }
}

#[test]
fn too_few_blocks_are_told_how_many_are_enough() {
    let blocks = [Block::new(1.0, 1.1), Block::new(1.0, 1.2)];
    let error = compare(&blocks, Direction::HigherIsBetter, &Rule::default()).unwrap_err();
    let Error::TooFew { got: 2, need, .. } = error else { panic!("{error}") };
    let enough: Vec<Block> = (0..need).map(|n| Block::new(1.0, 1.1 + n as f64 / 100.0)).collect();
    let with = |blocks| compare(blocks, Direction::HigherIsBetter, &Rule::default());
    assert!(with(&enough).is_ok());
    let error = with(&enough[1..]).unwrap_err();
    assert!(matches!(error, Error::TooFew { got, need: all, .. } if got + 1 == all && all == need));
}
