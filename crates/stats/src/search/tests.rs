use super::*;
use proptest::prelude::*;

const LIMITS: Limits = Limits { min_load: 1e4, max_load: 20e6 };

fn trial(duration_s: f64, lost: u64) -> Trial {
    Trial { load: 1e6, duration_s, sent: (1e6 * duration_s) as u64, lost }
}

/// Runs a search on a device given as the number of frames it forwards of those sent.
fn run(search: &mut Search, mut forwarded: impl FnMut(f64, u64) -> u64) -> usize {
    for trials in 0..2000 {
        let Step::Measure { load, duration_s } = search.next() else { return trials };
        let sent = (load * duration_s).round() as u64;
        let received = forwarded(duration_s, sent).min(sent);
        search.record(Trial { load, duration_s, sent, lost: sent - received });
    }
    panic!("the search does not end");
}

#[test]
fn classifies_loads_by_the_rules_of_mlrsearch() {
    let goal = Goal::ndr();
    let class = |trials: &[Trial]| goal.classify(trials);
    let (low, high) = (trial(1.0, 0), trial(1.0, 5));
    assert_eq!(class(&[]), LoadClass::Undecided);
    assert_eq!(class(&[low; 2]), LoadClass::Undecided, "2 s of 5 s");
    assert_eq!(class(&[low; 3]), LoadClass::Lower, "the rest could be bad, half is good");
    assert_eq!(class(&[high; 2]), LoadClass::Undecided);
    assert_eq!(class(&[high; 3]), LoadClass::Upper);
    assert_eq!(class(&[high, high, low, low]), LoadClass::Undecided);
    assert_eq!(class(&[high, high, low, low, low]), LoadClass::Lower);
    assert_eq!(class(&[high, high, low, low, high]), LoadClass::Upper);
}

#[test]
fn counts_short_trials_against_a_load_but_never_for_it() {
    let goal = Goal::ndr();
    let (short_low, short_high) = (trial(0.1, 0), trial(0.1, 5));
    assert_eq!(goal.classify(&[short_low; 100]), LoadClass::Undecided);
    assert_eq!(goal.classify(&[short_high; 26]), LoadClass::Upper, "2.6 s of 5 s");
    let balanced: Vec<_> = [short_low, short_high].repeat(100);
    assert_eq!(goal.classify(&balanced), LoadClass::Undecided);
}

#[test]
fn allows_no_bad_trial_at_exceed_ratio_zero() {
    let goal = Goal { final_trial_s: 1.0, duration_sum_s: 1.0, ..Goal::rfc2544() };
    assert_eq!(goal.classify(&[trial(1.0, 0)]), LoadClass::Lower);
    assert_eq!(goal.classify(&[trial(1.0, 0), trial(1.0, 1)]), LoadClass::Upper);
    assert_eq!(goal.classify(&[trial(0.1, 1)]), LoadClass::Upper, "even a short one");
}

#[test]
fn takes_the_throughput_at_the_quantile_of_the_loss() {
    let goal = Goal::pdr();
    let trials: Vec<_> = [0, 1000, 2000, 3000, 900_000].map(|lost| trial(1.0, lost)).to_vec();
    // 2.5 s of 5 s: the third best trial.
    assert_eq!(goal.conditional_throughput(&trials), 998_000.0);
}

#[test]
fn finds_both_goals_of_a_constant_device() {
    let mut search = Search::new(LIMITS, vec![Goal::pdr(), Goal::ndr()]);
    let trials = run(&mut search, |seconds, _| (3e6 * seconds) as u64);
    let pdr = search.outcome(0).bounds().expect("regular");
    let ndr = search.outcome(1).bounds().expect("regular");
    assert!(ndr.lower <= 3e6 && 3e6 <= ndr.upper, "{ndr:?}");
    // 0.5 % loss: 3e6 / 0.995.
    assert!(pdr.lower <= 3.0151e6 && 3.015e6 <= pdr.upper, "{pdr:?}");
    assert!(ndr.upper - ndr.lower <= 0.005 * ndr.upper);
    assert!((search.mrr().expect("measured") - 3e6).abs() < 1.0);
    assert!(trials < 60, "{trials} trials");
}

#[test]
fn says_when_the_device_is_beyond_the_limits() {
    let mut fast = Search::new(LIMITS, vec![Goal::ndr()]);
    run(&mut fast, |_, sent| sent);
    assert_eq!(fast.outcome(0), Standing::AtMaxLoad(20e6));
    let mut dead = Search::new(LIMITS, vec![Goal::ndr()]);
    run(&mut dead, |_, _| 0);
    assert_eq!(dead.outcome(0), Standing::BelowMinLoad);
}

#[test]
fn survives_a_rare_disturbance() {
    let mut search = Search::new(LIMITS, vec![Goal::ndr()]);
    let mut count = 0;
    run(&mut search, |seconds, sent| {
        count += 1;
        if count % 7 == 0 { sent - 100 } else { (3e6 * seconds) as u64 }
    });
    let ndr = search.outcome(0).bounds().expect("regular");
    assert!((ndr.lower / 3e6 - 1.0).abs() < 0.02, "{ndr:?}");
}

#[test]
fn goes_on_from_its_journal() {
    let device = |seconds: f64| (3e6 * seconds) as u64;
    let mut whole = Search::new(LIMITS, vec![Goal::ndr()]);
    let mut journal = Vec::new();
    while let Step::Measure { load, duration_s } = whole.next() {
        let sent = (load * duration_s) as u64;
        let lost = sent.saturating_sub(device(duration_s));
        journal.push(Trial { load, duration_s, sent, lost });
        whole.record(journal[journal.len() - 1]);
    }
    for cut in 0..journal.len() {
        let mut resumed = Search::new(LIMITS, vec![Goal::ndr()]);
        journal[..cut].iter().for_each(|&trial| resumed.record(trial));
        let next = journal[cut];
        let expected = Step::Measure { load: next.load, duration_s: next.duration_s };
        assert_eq!(resumed.next(), expected, "after {cut} trials");
    }
}

#[test]
fn halves_to_the_throughput_of_rfc_2544() {
    let mut search = BinarySearch::new(LIMITS, 0.001, 60.0);
    let mut trials = 0;
    while let Step::Measure { load, duration_s } = search.next() {
        let sent = (load * duration_s) as u64;
        let lost = sent.saturating_sub((3e6 * duration_s) as u64);
        search.record(Trial { load, duration_s, sent, lost });
        trials += 1;
    }
    let bounds = search.outcome().bounds().expect("regular");
    assert!(bounds.lower <= 3e6 && 3e6 < bounds.upper, "{bounds:?}");
    assert!(bounds.upper - bounds.lower <= 0.001 * bounds.upper && trials < 20);
    let mut dead = BinarySearch::new(LIMITS, 0.001, 1.0);
    while let Step::Measure { load, duration_s } = dead.next() {
        dead.record(Trial { load, duration_s, sent: 10, lost: 10 });
    }
    assert_eq!(dead.outcome(), Standing::BelowMinLoad);
}

proptest! {
    #[test]
    fn brackets_the_capacity_of_any_constant_device(
        capacity in 2e4_f64..19e6, loss_ratio in prop_oneof![Just(0.0), 0.0_f64..0.05],
        exceed_ratio in prop_oneof![Just(0.0), 0.0_f64..0.9], width in 0.001_f64..0.05,
    ) {
        let goal = Goal { loss_ratio, exceed_ratio, width, ..Goal::ndr() };
        let mut search = Search::new(LIMITS, vec![goal]);
        run(&mut search, |seconds, _| (capacity * seconds) as u64);
        match search.outcome(0) {
            Standing::Regular(bounds) => {
                let true_rate = capacity / (1.0 - loss_ratio);
                // Whole frames: a short trial at a low rate knows its loss only so far.
                prop_assert!(bounds.lower <= true_rate * 1.001 && bounds.upper >= true_rate * 0.999);
                prop_assert!(bounds.upper - bounds.lower <= (width * bounds.upper).max(1.0));
            }
            other => prop_assert_eq!(other, Standing::AtMaxLoad(capacity.min(20e6))),
        }
    }

    #[test]
    fn ends_on_any_noisy_device(seed in any::<u64>(), noise in 0.0_f64..0.2) {
        let mut state = seed | 1;
        let mut search = Search::new(LIMITS, vec![Goal::pdr(), Goal::ndr()]);
        run(&mut search, |seconds, _| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let factor = 1.0 + noise * ((state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5);
            (3e6 * factor * seconds) as u64
        });
        prop_assert!(search.outcome(1) != Standing::Unfinished);
    }
}
