//! Twelve variants with two traffics whose comparisons all fail for the same cause.

use std::fs;

use super::example::{self, Variant};
use super::{directory, terminal, write};
use fwdlab_claims::claims;
use fwdlab_results::{LimitedBy, Measured, Results, Resumed, Status};
use fwdlab_stats::Verdict;

const NAMES: [&str; 12] =
    ["v01", "v02", "v03", "v04", "v05", "v06", "v07", "v08", "v09", "v10", "v11", "v12"];

/// A campaign of twelve variants in which others had the processors.
pub(super) fn taken() -> Results {
    let algorithms = ["radix4", "radix6"];
    let variants = NAMES.map(|name| Variant { name, algorithms, rates: [4.11e6, 3.52e6] });
    let mut results = example::results(&variants, 4);
    for trial in &mut results.trials {
        trial.measured.environment.core_share = Some(0.31);
    }
    results
}

/// 22 cards of the same cause were 5,000 px of the page before "Is it valid?".
#[test]
fn a_cause_that_verdicts_share_is_said_once_with_all_that_it_holds_for() {
    let (dir, results) = directory(taken());
    let found = claims(&results).unwrap();
    let invalid =
        |own: &&fwdlab_claims::claim::VerdictClaim| matches!(own.verdict, Verdict::Invalid { .. });
    assert_eq!(found.verdicts.iter().filter(invalid).count(), 22);
    write(dir.path(), &results).unwrap();
    let page = fs::read_to_string(dir.path().join("index.html")).unwrap();
    assert_eq!(page.matches("<div class=\"verdict").count(), 1);
    assert!(page.contains("invalid: 22 comparisons with v01 cannot be made"));
    assert_eq!(page.matches("cause: cores taken: ").count(), 1);
    for name in &NAMES[1..] {
        let own = format!("<span data-variant=\"{name}\">{name}</span>");
        assert_eq!(page.matches(&own).count(), 2, "{name}: once for each traffic");
    }
    let readme = fs::read_to_string(dir.path().join("README.md")).unwrap();
    assert_eq!(readme.matches("=> invalid: 11 comparisons with v01").count(), 2, "{readme:.3000}");
    let flat = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("IPv6: v02, v03, v04, v05, v06, v07, v08, v09, v10, v11, v12"));
    let screen = terminal(&results, 80, false);
    assert_eq!(screen.matches("cannot be").count(), 1, "{screen}");
    // The data has them all.
    let data = fs::read_to_string(dir.path().join("claims.json")).unwrap();
    assert_eq!(data.matches("\"verdict\": \"invalid\"").count(), 22);
}

/// Of two each has its card, with its medians.
#[test]
fn two_verdicts_of_one_cause_stand_apart() {
    let mut results = example::results(&example::TWO, 4);
    for trial in &mut results.trials {
        trial.measured.environment.core_share = Some(0.31);
    }
    let (dir, results) = directory(results);
    write(dir.path(), &results).unwrap();
    let page = fs::read_to_string(dir.path().join("index.html")).unwrap();
    assert_eq!(page.matches("<div class=\"verdict invalid\"").count(), 2);
    assert!(page.contains("data-variant=\"modular\" data-traffic=\"inet\""));
}

/// "Faster by 88.7 %" was said of a rule that dropped half of the frames, and nothing of the frames.
#[test]
fn a_verdict_by_costs_is_withheld_where_rules_drop_another_share() {
    let of = |lost: [f64; 2], limited_by: LimitedBy| {
        let mut results = example::results(&example::TWO, 8);
        let base = results.campaign.baseline.clone();
        for trial in &mut results.trials {
            let lost = lost[usize::from(trial.variant != base)];
            let sent = trial.measured.received as f64 / (1.0 - lost);
            let dropped = sent as u64 - trial.measured.received;
            trial.measured.sent = Some(sent as u64);
            let drops = (dropped > 0).then(|| (Measured::BY_RULES.to_owned(), dropped));
            trial.measured.drops = Some(drops.into_iter().collect());
            trial.limited_by = limited_by;
        }
        let (_dir, results) = directory(results);
        let found = claims(&results).unwrap();
        found
            .verdicts
            .iter()
            .map(|own| format!("{:?}", own.findings))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let apart = of([0.0, 0.5], LimitedBy::Core);
    assert_eq!(apart.matches("DropsApart { baseline: \"radix\"").count(), 2, "{apart}");
    assert!(apart.contains("shares: [0.0, 0.5"), "{apart}");
    // Where rates decide, what is lost is in them; what both drop is no difference.
    for same in [of([0.0, 0.5], LimitedBy::Device), of([0.5, 0.5], LimitedBy::Core)] {
        assert!(!same.contains("DropsApart"), "{same}");
    }
}

/// What differs from verdict to verdict, such as how many trials, is said of each.
#[test]
fn figures_of_a_shared_cause_stand_beside_those_they_are_of() {
    let mut results = taken();
    for trial in &mut results.trials {
        if trial.variant == "v05" && trial.block == 1 {
            trial.measured.environment.core_share = Some(0.25);
        }
    }
    let (dir, results) = directory(results);
    write(dir.path(), &results).unwrap();
    let readme = fs::read_to_string(dir.path().join("README.md")).unwrap();
    let flat = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(flat.matches("cause: cores taken: stop what else runs").count(), 2, "{flat:.3000}");
    assert!(flat.contains("for 25 to 31 % of the time, less than 60 % (v05)"), "{flat:.3000}");
    assert!(flat.contains("(v02, v03, v04, v06, "), "{flat:.3000}");
}

/// A rule that drops 400 of 1000 frames in a row made the median interval lose half of them, and the verdict said so.
#[test]
fn a_verdict_by_the_median_of_intervals_is_withheld_where_losses_come_in_bursts() {
    let of = |is_in_bursts: bool| {
        let mut results = example::results(&example::TWO, 8);
        let base = results.campaign.baseline.clone();
        for trial in &mut results.trials {
            trial.offered_pps_asked = Some(1_000_000.0);
            let is_base = trial.variant == base;
            for (at, interval) in trial.measured.intervals.iter_mut().enumerate() {
                let lost = match (is_base, is_in_bursts) {
                    (true, _) => 0,
                    (_, true) if at % 3 == 0 => 80_000,
                    (_, true) => 10_000,
                    (_, false) => 30_000,
                };
                (interval.tx, interval.rx) = (Some(100_000), 100_000 - lost);
                interval.busy = None;
            }
            trial.measured.busy = None;
            let rate = if is_base {
                1e6
            } else if is_in_bursts {
                9e5
            } else {
                7e5
            };
            trial.rate_pps = Some(rate + f64::from(trial.block));
        }
        let (_dir, results) = directory(results);
        let found = claims(&results).unwrap();
        let said = found.verdicts.iter().map(|own| format!("{:?} {:?}", own.verdict, own.findings));
        let said = said.collect::<Vec<_>>().join("\n");
        let own: Vec<_> = found.cells.iter().filter(|cell| cell.traffic == "inet").collect();
        let table = crate::table::cells(&own, &found).plain() + &crate::table::legend(&found);
        (said, table)
    };
    let ((said, table), (steady, whole)) = (of(true), of(false));
    assert!(said.contains("LossInBursts { trials: 8, of: 16"), "{said}");
    assert!(!steady.contains("LossInBursts"), "{steady}");
    // The figure of the median interval is marked, and what came of all frames stands beside it.
    assert_eq!(table.matches('~').count(), 2, "{table}");
    assert!(table.contains("0.900~"), "{table}");
    assert!(table.contains("all frames of a trial together came at "), "{table}");
    assert!(!whole.contains('~'), "{whole}");
}

/// Trials on the first machine, gone back to, were told as those of the second.
#[test]
fn a_warning_of_another_machine_names_the_trials_on_it_and_no_later_ones() {
    let variants = ["a", "b"].map(|name| Variant {
        name,
        algorithms: ["radix4", "radix6"],
        rates: [4.11e6, 3.52e6],
    });
    let mut results = example::results(&variants, 4);
    let at = |place: usize| results.trials[place].started.clone().expect("a time");
    let differences = vec!["kernel: 6.1, then 6.2".to_owned()];
    results.resumed = vec![
        Resumed { at: at(4), differences, again: Vec::new() },
        Resumed { at: at(7), differences: Vec::new(), again: Vec::new() },
    ];
    let of_it: Vec<String> = results.trials[4..7].iter().map(|trial| trial.id.clone()).collect();
    let warnings = claims(&results).unwrap().warnings;
    let own = warnings.iter().filter(|own| own.text.contains("kernel: 6.1, then 6.2"));
    assert_eq!(own.map(|own| own.trials.clone()).collect::<Vec<_>>(), [of_it]);
}

/// As many paragraphs as trials, where the machine belonged to others.
#[test]
fn trials_that_failed_for_one_cause_are_one_paragraph_whatever_was_counted() {
    let mut results = taken();
    for (number, trial) in (0..).zip(&mut results.trials) {
        trial.status = Status::Failed;
        trial.reason = Some(format!("nothing came: cores for {} % of the time", 20 + number % 40));
    }
    let (dir, results) = directory(results);
    write(dir.path(), &results).unwrap();
    let readme = fs::read_to_string(dir.path().join("README.md")).unwrap().replace("\n  ", " ");
    let told: Vec<&str> =
        readme.lines().filter(|line| line.contains(" more: nothing came")).collect();
    assert_eq!(told.len(), 2, "once for each traffic: {told:#?}");
    assert!(told.iter().all(|line| line.contains(" to 59 % of the time")), "{told:#?}");
}
