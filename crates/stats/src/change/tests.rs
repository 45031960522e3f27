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
