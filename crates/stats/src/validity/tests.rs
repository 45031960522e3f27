//! Every finding is provoked once, and stays away once.

use super::*;
use crate::{Comparison, Direction, Verdict, paired, steady, unpaired};

/// Line rate of smallest IPv4 frames on 1 Gb/s.
const LINE_RATE: f64 = 1_488_095.0;

fn clear_difference() -> Comparison {
    let blocks: Vec<paired::Block> =
        (0..8).map(|i| paired::Block::new(1000.0, 1100.0 + f64::from(i))).collect();
    paired::compare(&blocks, Direction::HigherIsBetter).unwrap()
}

/// A finding must change the verdict exactly when it says that it does, and name a remedy.
fn assert_weight(finding: &Finding, severity: Severity) {
    assert_eq!(finding.severity(), severity, "{finding}");
    let verdict = Verdict::judge(&clear_difference(), 0.01, std::slice::from_ref(finding));
    assert_eq!(verdict.word() == "invalid", severity == Severity::Invalid, "{finding}");
    assert!(!finding.remedy().is_empty() && !finding.to_string().is_empty());
    let json = serde_json::to_string(finding).unwrap();
    // JSON may lose the last bit of a figure
    let read = serde_json::from_str::<Finding>(&json).unwrap();
    assert_eq!(format!("{read:.9?}"), format!("{finding:.9?}"), "{json}");
}

#[test]
fn rates_at_the_line_rate_are_saturated() {
    let at = [(None, 1_488_010.0), (None, 1_488_090.0)];
    let finding = saturation(&at, Some(LINE_RATE)).unwrap();
    assert_weight(&finding, Severity::Invalid);
    assert!(finding.to_string().contains("100.0 % of the line rate"), "{finding}");
    let below = [(None, 1_300_000.0), (None, 1_488_090.0)];
    assert_eq!(
        saturation(&below, Some(LINE_RATE)),
        None,
        "one variant is below: the other may be faster"
    );
}

#[test]
fn a_load_that_comes_through_whole_is_saturated() {
    let whole = [(Some(500_000.0), 499_990.0), (Some(500_000.0), 500_000.0)];
    assert_weight(&saturation(&whole, None).unwrap(), Severity::Invalid);
    let lossy = [(Some(500_000.0), 499_990.0), (Some(500_000.0), 450_000.0)];
    assert_eq!(saturation(&lossy, None), None);
    assert_eq!(saturation(&[], None), None);
}

#[test]
fn a_tester_that_offers_less_than_asked_is_named() {
    let finding = generator(&[990_000.0, 999_000.0], Some(1_000_000.0)).unwrap();
    assert_weight(&finding, Severity::Invalid);
    assert_eq!(generator(&[999_000.0], Some(1_000_000.0)), None);
    assert_eq!(generator(&[10.0], None), None);
}

#[test]
fn offered_load_that_falls_as_the_forwarded_rate_rises_shows_a_shared_bottleneck() {
    let runs: Vec<(f64, f64)> = (0..8)
        .map(|i| (1000.0 - f64::from(i), 500.0 + f64::from(i) + 0.3 * f64::from(i % 2)))
        .collect();
    assert_weight(&shared_bottleneck(&runs).unwrap(), Severity::Invalid);
    let apart: Vec<(f64, f64)> =
        (0..8).map(|i| (1000.0 + f64::from(i % 3), 500.0 + f64::from(i))).collect();
    assert_eq!(shared_bottleneck(&apart), None);
    assert_eq!(shared_bottleneck(&runs[..4]), None, "four runs are too few for a correlation");
}

#[test]
fn flows_must_equal_the_plan() {
    let finding = flows(2000, &[2000, 200, 1999]).unwrap();
    assert_eq!(finding.to_string(), "flows: 2000 planned, 200 seen");
    assert_weight(&finding, Severity::Invalid);
    assert_eq!(flows(2000, &[2000, 2000]), None);
}

#[test]
fn failed_trials_are_a_warning_with_their_names() {
    let finding = failed_trials(8, 7, vec!["b03-inet-radix".to_owned()]).unwrap();
    assert_eq!(finding.to_string(), "8 planned, 7 kept (FAILED: b03-inet-radix)");
    assert_weight(&finding, Severity::Warning);
    assert_eq!(failed_trials(8, 8, vec![]), None);
}

#[test]
fn only_one_factor_may_differ() {
    let factors =
        [("kernel", "r368606", "r368606"), ("tester build", "1180", "1312"), ("variant", "a", "b")];
    let finding = one_factor(&factors, &["variant"]).unwrap();
    assert!(finding.to_string().contains("tester build (1180 / 1312)"), "{finding}");
    assert_weight(&finding, Severity::Invalid);
    assert_eq!(one_factor(&factors, &["variant", "tester build"]), None, "the experiment says so");
    assert_eq!(one_factor(&factors[1..2], &[]), None, "one unexpected factor alone is the variant");
}

#[test]
fn wrong_frames_are_named_by_their_worst_kind() {
    let finding = frames(1000, &[("misrouted", 3), ("with a bad TTL", 70)]).unwrap();
    assert_eq!(finding.to_string(), "frames: 70 of 1000 with a bad TTL");
    assert_weight(&finding, Severity::Invalid);
    assert_eq!(frames(1000, &[("misrouted", 0)]), None);
}

#[test]
fn a_stray_run_is_kept_and_named() {
    let values = [100.0, 100.2, 99.9, 80.0, 100.1, 100.0];
    let finding = stray_runs("radix", &values).unwrap();
    assert_eq!(finding.to_string(), "stray runs: radix number 4 (kept)");
    assert_weight(&finding, Severity::Warning);
    assert_eq!(stray_runs("radix", &[100.0, 100.2, 99.9, 100.1, 100.0]), None);
    let published = [700_644.0, 696_261.0, 694_169.0, 696_703.0, 697_081.0];
    assert_eq!(stray_runs("radix", &published), None, "0.6 % off is no stray run among five");
}

#[test]
fn two_clusters_are_told_from_scatter() {
    let values = [100.0, 103.0, 100.1, 103.1, 99.9, 102.9, 100.0, 103.0];
    let finding = two_clusters("radix", &values).unwrap();
    assert!(
        finding.to_string().contains("4 runs near 100.000000 and 4 near 103.000000"),
        "{finding}"
    );
    assert_weight(&finding, Severity::Warning);
    assert_eq!(two_clusters("radix", &[100.0, 101.0, 100.5, 101.5, 102.0, 102.5, 103.0]), None);
}

#[test]
fn thousands_of_stray_runs_are_counted_and_not_named() {
    let values: Vec<f64> =
        (0..30_000).map(|i| if i % 10 == 0 { 158.0 } else { 100.0 + f64::from(i % 7) }).collect();
    let text = stray_runs("B", &values).unwrap().to_string();
    assert!(text.ends_with("171, 181, 191 and 2980 more (kept)"), "{text}");
}

/// Every pair of a million values would take four terabytes.
#[test]
fn drift_of_a_million_values_is_seen_in_steps() {
    let noise = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 12) / 1e5;
    let of = |rise: f64| -> Vec<f64> {
        (0..1_000_000).map(|i| 1000.0 + noise(i) + rise * f64::from(i) / 1e6).collect()
    };
    assert_eq!(drift(&of(0.0)), None);
    let Some(Finding::Drift { percent, .. }) = drift(&of(20.0)) else { panic!("no drift") };
    assert!((percent - 2.0).abs() < 0.1, "{percent}");
}

#[test]
fn drift_over_the_campaign_is_seen() {
    let drifting: Vec<f64> =
        (0..12).map(|i| 100.0 + 0.3 * f64::from(i) + 0.1 * f64::from(i % 2)).collect();
    let finding = drift(&drifting).unwrap();
    assert!(
        matches!(finding, Finding::Drift { percent, .. } if (2.5..4.0).contains(&percent)),
        "{finding}"
    );
    assert_weight(&finding, Severity::Warning);
    let steady: Vec<f64> = (0..12).map(|i| 100.0 + f64::from(i % 3)).collect();
    assert_eq!(drift(&steady), None);
}

#[test]
fn ramps_within_the_steady_window_are_seen() {
    let ramp_window: Vec<f64> = (0..10).map(|i| 100.0 + 0.5 * f64::from(i)).collect();
    let flat = vec![100.0; 10];
    let finding = ramp(&[&ramp_window, &flat]).unwrap();
    assert!(matches!(finding, Finding::Ramp { trials: 1, of: 2, .. }), "{finding}");
    assert_weight(&finding, Severity::Warning);
    assert_eq!(ramp(&[&flat, &flat]), None);
    assert_eq!(ramp(&[]), None);
}

#[test]
fn gaps_inside_steady_windows_are_counted() {
    let mut rates = vec![1000.0; 20];
    rates[10] = 0.0;
    let steady = steady::window(&rates);
    let finding = gaps([&steady, &steady]).unwrap();
    assert_eq!(finding, Finding::ZeroGaps { intervals: 2 });
    assert_weight(&finding, Severity::Warning);
}

#[test]
fn losses_of_which_the_median_interval_has_another_share_are_bursts() {
    let even = [Some([0.1, 0.1]), Some([0.0, 0.009]), Some([0.02, 0.0]), None];
    assert_eq!(loss_in_bursts(&even), None);
    let finding = loss_in_bursts(&[Some([0.0, 0.1]), even[0], Some([0.5, 0.2]), None]).unwrap();
    let wanted = Finding::LossInBursts { trials: 2, of: 4, lost: [0.5, 0.2] };
    assert_eq!(finding, wanted);
    assert_weight(&finding, Severity::Invalid);
    assert!(finding.to_string().contains("lost 50.0 % of its frames, all together lost 20.0 %"));
}

#[test]
fn costs_of_devices_that_drop_another_share_are_not_compared() {
    let names = ["plain", "rules"];
    assert_eq!(drops_apart(names, [&[0.0, 0.01], &[0.02, 0.02]], 0.03), None);
    assert_eq!(drops_apart(names, [&[], &[0.5]], 0.03), None);
    // Rules that both have drop alike.
    assert_eq!(drops_apart(names, [&[0.5, 0.51], &[0.49, 0.5]], 0.03), None);
    let finding = drops_apart(names, [&[0.0, 0.0], &[0.5, 0.5]], 0.03).unwrap();
    assert_weight(&finding, Severity::Invalid);
    let said = finding.to_string();
    assert!(said.contains("50.0 % of the frames of rules and 0.0 % of those of plain"), "{said}");
}

#[test]
fn every_other_finding_weighs_what_it_should() {
    let settings = vec!["net.route.algo.inet.algo".to_owned()];
    assert_weight(&Finding::NotApplied { settings }, Severity::Invalid);
    let words = vec!["net.route.algo.inet.algo (bsearch4 / dxr)".to_owned()];
    assert_weight(&Finding::OwnChoices { words }, Severity::Warning);
    let limited = |has_cost| Finding::GeneratorLimited { trials: 3, of: 16, has_cost };
    assert_weight(&limited(true), Severity::Invalid);
    // A mesh has none, and was told to compare them.
    assert!(limited(true).remedy().starts_with("compare the device cost"));
    assert!(limited(false).remedy().contains("no device cost to compare"));
    assert_weight(
        &Finding::NotComputable { reason: "no block is complete".to_owned() },
        Severity::Invalid,
    );
    let announced = Finding::AnnouncedFlowsDiffer { announced: 2000, commanded: 200 };
    assert_weight(&announced, Severity::Warning);
    let (sampled, timed) = ("b".to_owned(), "a".to_owned());
    assert_weight(&Finding::CostsApart { sampled, timed }, Severity::Warning);
    assert_weight(&Finding::NotBlocked, Severity::Warning);
    assert_weight(&Finding::TestsDisagree { welch_p: 0.03, rank_p: 0.2 }, Severity::Warning);
}

/// "Run more blocks" was said of goodputs that were compared by the device's cost, which no block has.
#[test]
fn more_blocks_are_no_remedy_for_a_figure_that_none_has() {
    let remedy = |reason: String| Finding::NotComputable { reason }.remedy().to_owned();
    let none = remedy(format!("a trial has no {NO_FIGURE}cost"));
    assert!(none.contains("--metric") && !none.contains("--blocks"), "{none}");
    assert!(remedy("variant: 1 value where at least 2 are needed".to_owned()).contains("--blocks"));
}

#[test]
fn rare_runs_of_one_side_are_named_with_number_and_size() {
    let blocks = |slow: usize| -> Vec<paired::Block> {
        let noise = |i: usize| 1.0 + 1e-4 * (i * 7 % 11) as f64;
        let state = |i: usize| if i < slow { 0.63 } else { 1.0 };
        (0..20).map(|i| paired::Block::new(noise(i), noise(i + 3) * state(i))).collect()
    };
    let found = |slow| {
        let own = paired::compare(&blocks(slow), Direction::HigherIsBetter).unwrap();
        rare_runs(&own, 0.01, ("A", "B"))
    };
    assert_eq!(found(0), None);
    let finding = found(2).unwrap();
    assert_weight(&finding, Severity::Warning);
    let text = finding.to_string();
    assert!(text.starts_with("rare runs: 2 of 20 runs of B are worse by about 37"), "{text}");
    // they follow each other: one event
    let cost = "none of A; on average over all runs these alone are -4.51 % [-19.7 %, +10.4 %] for B, beside";
    assert!(text.contains(cost), "{text}");
    let share = "at most 28 % of B's and 14 % of A's will be like that";
    assert!(text.ends_with(share), "{text}");
}

#[test]
fn runs_that_cannot_reach_the_level_are_too_few() {
    let compared = |n: usize, confidence: f64| {
        let side = |base: f64| -> Vec<f64> { (0..n).map(|i| base + i as f64 * 0.01).collect() };
        let confidence = crate::Confidence::new(confidence).unwrap();
        unpaired::compare_at(&side(100.0), &side(200.0), Direction::HigherIsBetter, confidence)
            .unwrap()
            .comparison
    };
    for (n, confidence) in [(2, 0.95), (3, 0.95), (4, 0.999), (6, 0.999)] {
        let own = compared(n, confidence);
        assert!(!own.interval95.excludes_no_change());
        let finding = out_of_reach(&own).unwrap();
        assert_weight(&finding, Severity::Warning);
        let needed = if confidence > 0.95 { 7 } else { 4 };
        assert!(finding.to_string().ends_with(&format!("; {needed} of each can")), "{finding}");
    }
    for (n, confidence) in [(4, 0.95), (7, 0.999)] {
        let own = compared(n, confidence);
        assert!(own.interval95.excludes_no_change(), "{n} at {confidence}");
        assert_eq!(out_of_reach(&own), None);
    }
}

#[test]
fn too_few_campaigns_name_no_winner() {
    let finding = Finding::FewCampaigns { campaigns: [1, 2], needed: 3 };
    assert_weight(&finding, Severity::Warning);
    let verdict = Verdict::judge(&clear_difference(), 0.01, &[finding]);
    assert_eq!(verdict.word(), "inconclusive");
}

#[test]
fn a_machine_that_belongs_to_others_gives_no_verdict() {
    // what such machines really gave: shares of 6 to 36 %
    let finding = cores_taken(&[0.06, 0.36, 0.2, 0.95], 4).unwrap();
    assert_weight(&finding, Severity::Invalid);
    assert!(finding.to_string().contains("in 3 of 4 trials"), "{finding}");
    assert!(finding.to_string().contains("for 6 to 36 % of the time, less than 60 %"), "{finding}");
    let verdict = Verdict::judge(&clear_difference(), 0.01, &[finding]);
    assert_eq!(verdict.word(), "invalid");
    // half of them, shares that nobody measured, and a machine with some other work
    assert_eq!(cores_taken(&[0.06, 0.36, 0.95, 0.95], 4), None);
    assert_eq!(cores_taken(&[0.06], 4), None);
    assert_eq!(cores_taken(&[0.61; 4], 4), None);
    assert_eq!(cores_taken(&[], 0), None);
}

#[test]
fn a_copy_and_another_unit_are_doubted() {
    let figures = [3.0, 4.0, 5.0, 4.0];
    let names = ["a", "b"];
    assert_weight(&same_figures(names, [&figures, &figures]).unwrap(), Severity::Warning);
    assert_eq!(same_figures(names, [&figures, &figures[..3]]), None);
    // counts repeat themselves
    assert_eq!(same_figures(names, [&[3.0, 4.0, 3.0], &[3.0, 4.0, 3.0]]), None);
    assert_eq!(same_figures(names, [&[], &[]]), None);
    let finding = units_apart([&[4e6, 4.1e6], &[3.9, 4.2]]).unwrap();
    assert_weight(&finding, Severity::Warning);
    assert_eq!(finding, Finding::UnitsApart { factor: 1e6 });
    for other in [4.0e6, 400.0e6, 0.0] {
        assert_eq!(units_apart([&[4e6, 4e6], &[other, other]]), None, "{other}");
    }
}
