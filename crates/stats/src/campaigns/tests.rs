use proptest::prelude::*;

use super::*;

/// Campaigns of one size: the mean of their means, its t interval, and s sqrt(1 + 1/k) for the next.
#[test]
fn campaigns_of_one_size_give_the_textbook_intervals() {
    let gains = |level: f64| (0..8).map(|i| level + 0.001 * [1.0, -1.0][i % 2]).collect();
    let levels = [1.085, 1.190, 0.723, 0.457];
    let campaigns: Vec<Campaign> =
        levels.iter().map(|level| Campaign::of_one_process(gains(*level))).collect();
    let all = together(&campaigns, Terms::default()).unwrap();
    let (mean, s) = (dataset::mean(&levels), dataset::sd(&levels));
    let t = t_critical(0.95, 3.0);
    let half = |interval: ConfidenceInterval| (interval.high.ln() - interval.low.ln()) / 2.0;
    assert!((all.comparison.estimate.ln() - mean).abs() < 1e-9);
    assert!((half(all.comparison.interval95) - t * s / 2.0).abs() < 1e-9);
    assert!((half(all.next) - t * s * 1.25f64.sqrt()).abs() < 1e-9);
    assert!(all.same_p < 1e-6, "they differ: {}", all.same_p);
    assert!(levels.iter().all(|level| all.next.covers(Effect::from_ln(*level))), "{all:?}");
    assert!((all.spread.block - 0.001 * (8.0f64 / 7.0).sqrt()).abs() < 1e-9);
    assert!(all.spread.process.is_none());
}

/// Two campaigns of two processes of two blocks, by hand: blocks 0.0002 apart, processes 0.02.
#[test]
fn nested_levels_are_told_apart() {
    let campaign = |level: f64| {
        Campaign::of_processes(vec![
            vec![level, level + 0.0002],
            vec![level + 0.02, level + 0.0202],
        ])
    };
    let levels = Levels::of(&[campaign(0.1), campaign(0.3)]);
    assert!((levels.block - 2e-8).abs() < 1e-15, "{}", levels.block);
    // mean square of processes 2 * 0.02^2 / 2 = 4e-4, less that of blocks, by two blocks each
    let process = levels.process.unwrap();
    assert!((process - (4e-4 - 2e-8) / 2.0).abs() < 1e-12, "{process}");
    let error = levels.error(&campaign(0.1));
    assert!((error - (process / 2.0 + 2e-8 / 4.0)).abs() < 1e-15);
}

#[test]
fn fewer_than_three_campaigns_name_no_winner_unless_told_to() {
    let of = |level: f64| Campaign::of_one_process(vec![level, level + 0.001, level - 0.001]);
    let (two, three) = ([of(0.1), of(0.11)], [of(0.1), of(0.11), of(0.105)]);
    let few = together(&two, Terms::default()).unwrap_err();
    assert_eq!(few, Error::TooFewCampaigns { side: "this experiment", got: 2, need: 3 });
    let error = compare(&three, &two, Terms::default()).unwrap_err();
    assert_eq!(error, Error::TooFewCampaigns { side: "the variant", got: 2, need: 3 });
    let told = Terms { least_campaigns: 0, ..Terms::default() };
    assert!(together(&two, told).is_ok() && compare(&three, &two, told).is_ok());
    assert!(together(&two[..1], told).is_err(), "one campaign cannot tell how campaigns differ");
    assert!(together(&[Campaign::default(), of(0.1), of(0.1)], told).is_err());
    assert!(together(&three, Terms::default()).unwrap().comparison.interval95.excludes_no_change());
    let copies = [of(0.1), of(0.1), of(0.1)];
    assert!(!compare(&copies, &copies, told).unwrap().interval95.excludes_no_change());
}

/// Three campaigns of eight runs, each of exactly the same figure.
fn constant(figure: f64) -> [Campaign; 3] {
    [(); 3].map(|()| Campaign::of_one_process(vec![-figure.ln(); 8]))
}

#[test]
fn no_spread_proves_nothing_beyond_the_figures_own_step() {
    let of = |a: f64, b: f64| {
        let figures = [[a; 24], [b; 24]].concat();
        let terms = Terms { resolution: Resolution::of(&figures), ..Terms::default() };
        compare(&constant(a), &constant(b), terms).unwrap()
    };
    let coarse = of(7.0, 7.1);
    assert!(!coarse.interval95.excludes_no_change() && coarse.p > 0.05, "{coarse:?}");
    assert!(!coarse.interval90.is_within(0.01), "nor that they are equal: {coarse:?}");
    // A step of 0.001 beside a difference of 0.1.
    let both = [[7.0, 7.001].repeat(12), vec![7.1; 24]].concat();
    let terms = Terms { resolution: Resolution::of(&both), ..Terms::default() };
    let told = compare(&constant(7.0), &constant(7.1), terms).unwrap();
    assert!(told.interval95.excludes_no_change(), "{told:?}");
    assert!(told.interval95.high.ln() > told.interval95.low.ln(), "not of zero width");
}

/// What is left of no spread is the arithmetic's own, and no proof.
#[test]
fn campaigns_without_any_spread_are_copies() {
    let gains = |gain: f64| [(); 3].map(|()| Campaign::of_one_process(vec![gain; 8]));
    let all = together(&gains(0.1), Terms::default()).unwrap();
    assert!(!all.comparison.interval95.excludes_no_change(), "{all:?}");
    let nearly =
        [0.1, 0.1 + 1e-16, 0.1 - 2e-17].map(|gain| Campaign::of_one_process(vec![gain; 7]));
    let own = compare(&gains(0.0), &nearly, Terms::default()).unwrap();
    assert!(!own.interval95.excludes_no_change(), "{own:?}");
}

fn campaigns() -> impl Strategy<Value = Vec<Campaign>> {
    let gain = prop_oneof![-0.1..0.1f64, -700.0..700.0f64, Just(0.0)];
    let process = prop::collection::vec(gain, 0..5);
    let campaign = prop::collection::vec(process, 0..4).prop_map(Campaign::of_processes);
    prop::collection::vec(campaign, 0..6)
}

proptest! {
    #[test]
    fn any_campaigns_combine_soundly(a in campaigns(), b in campaigns()) {
        let told = Terms { least_campaigns: 2, ..Terms::default() };
        let sound = |own: &Comparison| {
            assert!(own.interval95.covers(own.estimate) && own.interval90.covers(own.estimate));
            assert_eq!(own.interval95.excludes_no_change(), own.p <= 0.05, "{own:?}");
            assert!(own.p.is_finite() && own.sd_of_difference.is_finite());
        };
        if let Ok(all) = together(&a, told) {
            sound(&all.comparison);
            prop_assert!(all.next.low <= all.comparison.interval95.low);
            prop_assert!(all.next.high >= all.comparison.interval95.high);
            prop_assert!((0.0..=1.0).contains(&all.same_p));
        }
        if let Ok(own) = compare(&a, &b, told) {
            sound(&own);
            let other = compare(&b, &a, told).unwrap();
            prop_assert!((own.mean.ln() + other.mean.ln()).abs() < 1e-6);
        }
    }
}
