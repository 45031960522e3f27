//! Series whose changes are known.

use super::*;
use proptest::prelude::*;

/// Values around 1,000,000 with small deterministic noise and a step of `percent` at `at`.
fn stepped(count: usize, at: usize, percent: f64) -> Vec<f64> {
    let wobble = |i: usize| ((i * 7919 % 101) as f64 / 101.0 - 0.5) * 0.01;
    (0..count)
        .map(|i| 1e6 * (1.0 + wobble(i)) * if i >= at { 1.0 + percent / 100.0 } else { 1.0 })
        .collect()
}

#[test]
fn a_step_is_found_where_it_is_with_its_size() {
    for at in [5, 20, 35] {
        let found = changes(&stepped(40, at, -3.0), 0.003, &Settings::default());
        assert_eq!(found.len(), 1, "{at}: {found:?}");
        assert_eq!(found[0].at, at);
        assert!(found[0].low < -0.03 && -0.03 < found[0].high, "{found:?}");
        assert!(found[0].range.0 <= at && at <= found[0].range.1);
    }
}

#[test]
fn no_step_is_found_in_noise_nor_below_the_margin() {
    assert_eq!(changes(&stepped(60, 60, 0.0), 0.003, &Settings::default()), []);
    let quiet: Vec<f64> =
        (0..40).map(|i| if i < 20 { 14_817_376.0 } else { 14_816_983.0 }).collect();
    assert_eq!(changes(&quiet, 0.0, &Settings::default()), []);
}

#[test]
fn bad_days_are_no_change() {
    let mut values = stepped(50, 50, 0.0);
    values[10] *= 0.7;
    values[30] *= 0.8;
    values[31] *= 0.75;
    assert_eq!(changes(&values, 0.003, &Settings::default()), []);
}

#[test]
fn two_points_far_apart_differ_and_close_ones_do_not() {
    let found = changes(&[9_909_120.0, 14_817_398.0], 0.006, &Settings::default());
    assert_eq!((found.len(), found[0].at), (1, 1));
    assert!((found[0].ratio - 0.495).abs() < 0.01);
    assert_eq!(changes(&[713_233.0, 692_963.0], 0.002, &Settings::default()), []);
}

#[test]
fn values_that_are_missing_change_nothing() {
    let mut values = stepped(40, 20, 5.0);
    values[3] = f64::NAN;
    values[25] = 0.0;
    let found = changes(&values, 0.003, &Settings::default());
    assert_eq!(found.iter().map(|c| c.at).collect::<Vec<_>>(), [20]);
}

#[test]
fn the_rival_finds_a_clear_step_too() {
    assert_eq!(divisive::changes(&stepped(40, 20, -5.0), 0.01, 1), [20]);
    assert!(divisive::changes(&[1.0, 2.0], 0.01, 1).is_empty());
}

#[test]
fn the_watch_speaks_by_the_third_point_and_not_before_the_change() {
    let values = stepped(43, 40, -4.0);
    let alarm = watch::first_alarm(&values, 1_000.0).expect("an alarm");
    assert_eq!((alarm.began, alarm.is_up), (40, false));
    assert!(alarm.raised <= 42);
    assert_eq!(watch::first_alarm(&stepped(40, 40, 0.0), 1_000.0), None);
    assert_eq!(watch::first_alarm(&[5.0; 200], 1_000.0), None);
}

/// The games win nothing on average: over all orders of a few points the mean capital of each is 1,
/// which is what the bound on false alarms rests on.
#[test]
fn a_game_is_fair_over_all_orders() {
    let mut orders = Vec::new();
    permutations(&mut vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0, &mut orders);
    for is_up in [true, false] {
        let mean = orders.iter().map(|o| watch::game_for_tests(o, 4, 5, is_up)).sum::<f64>()
            / orders.len() as f64;
        assert!((mean - 1.0).abs() < 1e-9, "{mean}");
    }
}

fn permutations(values: &mut Vec<f64>, from: usize, into: &mut Vec<Vec<f64>>) {
    if from == values.len() {
        into.push(values.clone());
        return;
    }
    for k in from..values.len() {
        values.swap(from, k);
        permutations(values, from + 1, into);
        values.swap(from, k);
    }
}

proptest! {
    #[test]
    fn any_values_give_ordered_changes_inside_the_series(
        values in prop::collection::vec(prop_oneof![Just(f64::NAN), Just(0.0), 1.0..1e9f64], 0..80),
    ) {
        let found = changes(&values, 0.0, &Settings::default());
        prop_assert!(found.windows(2).all(|pair| pair[0].at < pair[1].at));
        prop_assert!(found.iter().all(|c| c.at > 0 && c.at < values.len() && c.low <= c.high));
        let alarm = today::alarm(&values, 0.0, &Settings::default(), today::BOUND);
        prop_assert!(alarm.is_none_or(|a| a.began < values.len() && a.evidence >= today::BOUND));
    }

    #[test]
    fn a_unit_changes_nothing(scale in 1e-3..1e6f64, at in 5usize..35) {
        let values = stepped(40, at, 4.0);
        let scaled: Vec<f64> = values.iter().map(|v| v * scale).collect();
        let places = |v: &[f64]| -> Vec<usize> {
            changes(v, 0.003, &Settings::default()).iter().map(|c| c.at).collect()
        };
        prop_assert_eq!(places(&values), places(&scaled));
    }
}

/// Two states, 1.5 % apart, seven points in ten in the upper one.
fn two_states(count: usize, at: usize, percent: f64) -> Vec<f64> {
    let state = |i: usize| if (i * 37 % 100) < 30 { 0.985 } else { 1.0 };
    stepped(count, at, percent).iter().enumerate().map(|(i, value)| value * state(i)).collect()
}

#[test]
fn the_last_points_speak_at_the_third_and_not_of_a_state_or_of_bad_days() {
    let alarm = |values: &[f64]| today::alarm(values, 0.003, &Settings::default(), today::BOUND);
    for percent in [-3.0, 3.0] {
        let values = two_states(43, 40, percent);
        let found = alarm(&values).expect("an alarm");
        assert_eq!((found.began, found.is_up), (40, percent > 0.0));
        assert_eq!(alarm(&values[..41]), None, "one point is too few");
    }
    let quiet = two_states(80, 80, 0.0);
    assert!((1..=80).all(|count| alarm(&quiet[..count]).is_none()));
    let mut bad = stepped(50, 50, 0.0);
    bad[48] *= 0.8;
    bad[49] *= 0.75;
    assert_eq!(alarm(&bad), None);
    assert_eq!(alarm(&[5.0; 200]), None);
    assert_eq!(alarm(&[]), None);
}

#[test]
fn one_or_two_points_at_the_end_are_no_change_yet() {
    let values = stepped(43, 40, -8.0);
    let count = |end: usize| changes(&values[..end], 0.003, &Settings::default()).len();
    assert_eq!([count(41), count(42), count(43)], [0, 0, 1]);
}

/// Normal noise of `sd`, of which each point keeps a share to the next: xorshift64*.
fn noise(count: usize, sd: f64, share: f64, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut unit = move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        ((state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    for _ in 0..8 {
        unit();
    }
    let mut kept = 0.0;
    let mut one = move || {
        let own = crate::distribution::normal_quantile(unit());
        kept = share * kept + (1.0 - share * share).sqrt() * own;
        sd * kept
    };
    (0..count).map(|_| one()).collect()
}

/// 60 points that go by `size` from the point `from` to the point `to`.
fn ramped(from: usize, to: usize, size: f64, share: f64, seed: u64) -> Vec<f64> {
    let way = |i: usize| ((i as f64 - from as f64) / (to - from) as f64).clamp(0.0, 1.0);
    let noise = noise(60, 0.007, share, seed);
    noise.iter().enumerate().map(|(i, own)| 1e6 * (own + size * way(i)).exp()).collect()
}

/// None of them is one that a setting was chosen by.
const SEEDS: std::ops::Range<u64> = 1_000..1_200;
const MANY: usize = 200;

/// Of 200 series: with something found, with one drift and nothing else, with any drift.
fn drifts(from: usize, to: usize, size: f64, share: f64) -> [usize; 3] {
    let mut counts = [0; 3];
    for seed in SEEDS {
        let values = ramped(from, to, size, share, seed);
        let found = changes(&values, 0.003, &Settings::default());
        counts[0] += usize::from(!found.is_empty());
        counts[1] += usize::from(found.len() == 1 && found[0].is_drift());
        counts[2] += usize::from(found.iter().any(Change::is_drift));
    }
    println!("{from} to {to}, {size}, {share}: {counts:?}");
    counts
}

#[test]
fn a_slow_drift_is_no_step() {
    for (from, to, size, share) in
        [(15, 45, -0.08, 0.0), (20, 40, 0.08, 0.0), (25, 59, -0.08, 0.0), (10, 50, -0.12, 0.5)]
    {
        let [_, one, any] = drifts(from, to, size, share);
        assert!(any * 10 >= MANY * 9, "{from} to {to}: {any}");
        assert!(one * 10 >= MANY * 8, "{from} to {to}: {one}");
    }
}

#[test]
fn a_drift_says_between_which_points_and_by_how_much() {
    let mut inside = 0;
    for seed in SEEDS {
        let found = changes(&ramped(15, 45, -0.08, 0.0, seed), 0.003, &Settings::default());
        let [own] = found[..] else { continue };
        assert!(own.range == (own.at - own.over + 1, own.at) && own.p < 1e-4, "{own:?}");
        let is_near = (own.at - own.over).abs_diff(15) <= 6 && own.at.abs_diff(45) <= 6;
        let truth = (-0.08f64).exp_m1();
        inside += usize::from(is_near && own.low <= truth && truth <= own.high);
    }
    assert!(inside * 10 >= MANY * 8, "{inside}");
}

#[test]
fn a_step_is_no_drift() {
    for share in [0.0, 0.5] {
        let mut all = 0;
        for size in [-0.03, 0.05, -0.1, 0.3] {
            for at in [14, 30, 48] {
                let [found, _, any] = drifts(at - 1, at, size, share);
                assert!(found * 10 >= MANY * 8, "{at}, {size}: {found}");
                all += any;
            }
        }
        assert!(all * 100 <= 12 * MANY, "{share}: {all} of {}", 12 * MANY);
    }
}

/// Two changes the same way, apart: neither is a part of the other.
#[test]
fn two_steps_the_same_way_stay_two() {
    let mut drifts = 0;
    for seed in SEEDS {
        let mut values = ramped(19, 20, -0.05, 0.0, seed);
        values[40..].iter_mut().for_each(|value| *value *= 0.95);
        let found = changes(&values, 0.003, &Settings::default());
        drifts += usize::from(found.iter().any(Change::is_drift));
    }
    assert!(drifts * 100 <= MANY, "{drifts}");
}

/// A bisection asks for steps: a chain of states has no drift.
#[test]
fn steps_are_told_where_no_drift_is_asked_for() {
    let values = ramped(15, 45, -0.15, 0.0, 1_000);
    let settings = Settings::default();
    assert!(changes(&values, 0.003, &settings)[0].is_drift());
    let all = steps(&values, 0.003, &settings).changes;
    assert!(all.iter().all(|own| !own.is_drift() && own.ratio < 0.0) && !all.is_empty());
}

/// What goes on from end to end has no level before it: the steps that it looks like are withdrawn, since what a point
/// keeps of the one before counts as noise, or they are the drift.
#[test]
fn a_drift_from_end_to_end_is_one() {
    let settings = Settings::default();
    for (sd, size) in [(0.002, -0.02), (0.002, 0.03), (0.0005, -0.03), (0.0, -0.05)] {
        let (mut of_steps, mut one) = (0, 0);
        for seed in SEEDS {
            let off = noise(60, sd, 0.0, seed);
            let on_way = |(at, own): (usize, &f64)| 1e6 * (own + size * at as f64 / 59.0).exp();
            let values: Vec<f64> = off.iter().enumerate().map(on_way).collect();
            of_steps += usize::from(!steps(&values, 0.003, &settings).changes.is_empty());
            let found = changes(&values, 0.003, &settings);
            let is_whole = |own: &Change| own.is_drift() && own.over >= 40;
            one += usize::from(found.len() == 1 && is_whole(&found[0]));
        }
        println!("{sd}, {size}: {of_steps} with a step, {one} drifts");
        assert!(one * 10 >= MANY * 9, "{sd}, {size}: {one}");
    }
}

/// Of series without a change, whatever their noise, hardly one drifts; asked each night as a history is.
#[test]
fn noise_is_no_drift() {
    for share in [0.0, 0.5] {
        let mut drifts = 0;
        for seed in SEEDS {
            let values = ramped(0, 59, 0.0, share, seed);
            let is_drift = |count: usize| {
                let found = changes(&values[..count], 0.003, &Settings::default());
                found.iter().any(Change::is_drift)
            };
            drifts += usize::from((12..=60).any(is_drift));
        }
        println!("{share}: {drifts}");
        // 49 nights of 200 series: one in 1,000 points would be ten
        assert!(drifts <= 2, "{share}: {drifts}");
    }
}

/// Levels as those of a year of the archive, with its noise: no step takes the next one with it.
#[test]
fn several_steps_are_found_in_noise_that_is_kept() {
    const LEVELS: [(usize, f64); 5] =
        [(3, 1.067), (10, 0.964), (28, 0.913), (15, 1.005), (6, 0.582)];
    for (share, fewest) in [(0.0, 98), (0.4, 98), (0.6, 95)] {
        let mut found = [0; 2];
        for seed in SEEDS.take(100) {
            let off = noise(62, 0.02, share, seed);
            let levels =
                LEVELS.iter().flat_map(|&(count, level)| std::iter::repeat_n(level, count));
            let values: Vec<f64> =
                levels.zip(&off).map(|(level, own)| 9e5 * level * own.exp()).collect();
            let changes = changes(&values, 0.005, &Settings::default());
            for (count, place) in found.iter_mut().zip([41, 56]) {
                *count += usize::from(changes.iter().any(|own| own.at.abs_diff(place) <= 3));
            }
        }
        println!("{share}: {found:?}");
        assert!(found.iter().all(|&count| count >= fewest), "{share}: {found:?}");
    }
}

/// One false alarm in 1,000 points at most, asked each night, where points keep as much as they do in the archive; one
/// look at the end of the year where they keep more. (At 0.6 and 2 % one look has 1.1.)
#[test]
fn noise_that_is_kept_is_no_step() {
    for (share, sd, is_nightly) in [(0.3, 0.02, true), (0.6, 0.007, true), (0.6, 0.014, false)] {
        let mut known_of_all = 0;
        for seed in SEEDS {
            let values: Vec<f64> =
                noise(55, sd, share, seed).iter().map(|own| 9e5 * own.exp()).collect();
            let mut known: Vec<usize> = Vec::new();
            for count in if is_nightly { 2..=55 } else { 55..=55 } {
                for own in changes(&values[..count], 0.003, &Settings::default()) {
                    if known.iter().all(|other| other.abs_diff(own.at) > 3) {
                        known.push(own.at);
                    }
                }
            }
            known_of_all += known.len();
        }
        println!("{share}, {sd}: {known_of_all} of {} points", MANY * 55);
        assert!(known_of_all <= 11, "{share}, {sd}: {known_of_all}");
    }
}
