use super::*;

const GAINS: [f64; 5] = [0.011, 0.018, 0.009, 0.022, 0.013];

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
    let reason = state.reason(&rule, ("a", "b"));
    assert!(reason.starts_with("different: e-value"), "{reason}");
    let state = first_decision(&[0.0003, -0.0002, 0.0001, -0.0004, 0.0002, 0.0001], &rule);
    assert_eq!(state.decision, Decision::Equivalent);
    assert_eq!(
        state.reason(&rule, ("a", "b")),
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

/// A campaign used to end as "equivalent" whose verdict then was "inconclusive".
#[test]
fn a_campaign_goes_on_while_what_rare_runs_cost_is_unknown() {
    let rule = Rule::default();
    let figure = |i: usize| 1e6 * (1.0 + 0.001 * f64::sin(i as f64 * 2.4));
    let block = |i: usize| {
        let slow = if i == 2 { 0.94 } else { 1.0 };
        Block::new(figure(i), figure(i + 7) * slow)
    };
    let blocks: Vec<Block> = (0..40).map(block).collect();
    let state = first_decision_at(&blocks, Direction::HigherIsBetter, &rule).unwrap();
    assert_eq!(state.decision, Decision::Equivalent);
    assert!((13..=39).contains(&state.blocks), "{state:?}");
    let earlier = look_at(&blocks[..state.blocks - 1], Direction::HigherIsBetter, &rule).unwrap();
    assert_eq!(earlier.decision, Decision::Continue);
    let why = earlier.reason(&rule, ("old", "new"));
    assert!(why.contains("typical runs are equal within ±1.00 %, but 1 of "), "{why}");
    assert!(
        why.contains("runs of new is worse by about 5.9") && why.contains("none of old"),
        "{why}"
    );
    // where it ends without a decision, too
    let rule = Rule { most_blocks: 12, ..rule };
    let state = first_decision_at(&blocks[..12], Direction::HigherIsBetter, &rule).unwrap();
    assert_eq!((state.blocks, state.decision), (12, Decision::Exhausted));
    let why = state.reason(&rule, ("old", "new"));
    assert!(why.contains("1 of 12 runs of new is worse"), "{why}");
}

/// Whoever asks gets the verdict that a report gives on the same blocks.
#[test]
fn what_stops_a_campaign_is_its_verdict() {
    use crate::Verdict;
    let mut random = Random(0x00de_c1de);
    let rule = Rule::default();
    let mut seen = [0; 3];
    for campaign in 0..300 {
        let shift = [0.0, 0.004, 0.02][campaign % 3];
        let mut side = |shift: f64| {
            let rare = if random.unit() < 0.05 { 0.05 } else { 0.0 };
            1e6 * (shift - rare + 0.002 * random.normal()).exp()
        };
        let blocks: Vec<Block> =
            (0..4 + campaign % 37).map(|_| Block::new(side(0.0), side(shift))).collect();
        let state = look_at(&blocks, Direction::HigherIsBetter, &rule).unwrap();
        let own = compare(&blocks, Direction::HigherIsBetter, &rule).unwrap();
        let (place, wanted) = match Verdict::judge(&own, rule.margin, &[]) {
            Verdict::Equivalent => (0, Decision::Equivalent),
            Verdict::Faster { .. } | Verdict::Slower { .. } => (1, Decision::Different),
            _ if blocks.len() >= rule.most_blocks => (2, Decision::Exhausted),
            _ => (2, Decision::Continue),
        };
        assert_eq!(state.decision, wanted, "campaign {campaign}: {own:?}");
        seen[place] += 1;
    }
    assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
}

/// Noise of one side with a long tail and the same median: 1.2 % on average, 0.6 % in the centre.
#[test]
fn skewed_noise_is_not_equivalent_by_its_centre() {
    let n = 400;
    let loss = |i: usize| 0.04 * (-(1.0 - (i as f64 + 0.5) / n as f64).ln() - 0.693);
    let blocks: Vec<Block> =
        (0..n).map(|i| Block::new(1e6 + i as f64, 1e6 * (-loss(i * 7 % n)).exp())).collect();
    let gains = paired::log_gains(&blocks, Direction::HigherIsBetter).unwrap();
    let own = paired::compare(&blocks, Direction::HigherIsBetter).unwrap();
    assert!(paired::rank_interval(&gains, 0.90).unwrap().is_within(0.01), "{own:?}");
    assert!(!own.interval90.is_within(0.01) && !own.rare.unwrap().is_unclear(0.01), "{own:?}");
    let rule = Rule { most_blocks: n, ..Rule::default() };
    let state = look_at(&blocks, Direction::HigherIsBetter, &rule).unwrap();
    assert_ne!(state.decision, Decision::Equivalent, "{state:?}");
}

/// 5.49 and 5.51 look like 5 and 6, too, however often they are measured.
#[test]
fn figures_without_spread_are_no_difference_within_their_rounding() {
    let rule = Rule::default();
    for blocks in 4..=40 {
        let of = |variant| vec![Block::new(5.0, variant); blocks];
        for (variant, is_far) in [(6.0, false), (5.0, false), (50.0, blocks >= 12)] {
            let blocks = of(variant);
            let state = look_at(&blocks, Direction::LowerIsBetter, &rule).unwrap();
            let own = compare(&blocks, Direction::LowerIsBetter, &rule).unwrap();
            let is_named = state.decision == Decision::Different;
            assert!(is_named || !is_far, "{variant}: {state:?}");
            assert!(!is_named || variant > 8.0, "{variant}: {state:?}");
            assert_eq!(own.interval95.excludes_no_change(), is_named, "{variant}: {own:?}");
            assert_eq!(own.p <= rule.alpha, is_named, "{variant}: {own:?}");
            assert!(own.interval95.covers(own.estimate), "{variant}: {own:?}");
        }
    }
}

/// Skewed two-state noise: 4.8 ns a frame, 7.6 ns in one trial of five, the same for both sides.
#[test]
fn two_state_noise_without_a_difference_names_a_winner_only_when_e_does() {
    let mut random = Random(0x2_57a7e);
    let rule = Rule::default();
    let mut winners = 0;
    for campaign in 0..600 {
        let blocks: Vec<Block> =
            (0..40).map(|_| Block::new(random.two_state(), random.two_state())).collect();
        let gains = paired::log_gains(&blocks, Direction::LowerIsBetter).unwrap();
        let stopped = first_decision(&gains, &rule);
        let result = compare(&blocks[..stopped.blocks], Direction::LowerIsBetter, &rule).unwrap();
        let is_named = result.interval95.excludes_no_change();
        assert_eq!(is_named, stopped.e >= rule.threshold(), "campaign {campaign}: {result:?}");
        assert_eq!(is_named, result.p <= rule.alpha, "campaign {campaign}: {result:?}");
        assert!(result.interval95.covers(result.estimate), "campaign {campaign}: {result:?}");
        winners += u32::from(is_named);
    }
    assert!(winners <= 30, "{winners} of 600");
}

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    fn two_state(&mut self) -> f64 {
        let level = if self.unit() < 0.2 { 7.6 } else { 4.8 };
        level * (0.005 * self.normal()).exp()
    }
}
