//! Tests of the stop and of the forecast, on made-up campaigns.

use std::path::Path;

use crate::plan::{Earlier, Needs, UntilDecided, Wanted, own_truths, unproven};
use crate::runner::Stopper as _;
use fwdlab_claims::decided::{Look, Open};
use fwdlab_device::Repeatability;
use fwdlab_experiment::Anything;
use fwdlab_experiment::Experiment;
use fwdlab_results::{Busy, LimitedBy, Results, Status, Trial, examples};

fn experiment(blocks: &str) -> Experiment {
    let text = format!(
        "title = \"t\"\nbaseline = \"radix\"\n{blocks}\n\
         [[variant]]\nname = \"radix\"\n[[variant]]\nname = \"modular\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:1\"\ndestination = \"198.19.0.1:1\"\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n"
    );
    Experiment::parse(Path::new("sample.toml"), &text, &[&Anything]).unwrap()
}

const UNTIL_DECIDED: &str = "blocks = \"until-decided\"\ncap = 12";

/// So many blocks in which the modular variant is faster by these ratios, with
/// a common drift that pairing takes out.
fn trials(ratios: &[f64]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (index, ratio) in ratios.iter().enumerate() {
        let base = 4e6 * (1.0 + 0.01 * index as f64);
        for (variant, rate) in [("radix", base), ("modular", base * ratio)] {
            let block = index as u32 + 1;
            trials.push(Trial {
                id: format!("b{block:02}-inet-{variant}"),
                block,
                order: trials.len() as u32 + 1,
                variant: variant.to_owned(),
                rate_pps: Some(rate),
                started: Some(format!("2026-11-21T13:{:02}:{:02}Z", index, 2 * (trials.len() % 2))),
                ..examples::trial(0)
            });
        }
    }
    trials
}

/// Results with these trials.
fn results_of(trials: Vec<Trial>) -> Results {
    Results {
        dir: "results/sample".into(),
        campaign: examples::campaign(),
        trials,
        repeated: Vec::new(),
        resumed: Vec::new(),
        finished: None,
        known: Vec::new(),
        sequence: Vec::new(),
        is_torn: false,
        changed: None,
    }
}

/// The same as what a plan of this very experiment learns from.
fn earlier_of(results: Results) -> Earlier {
    Earlier { results, differences: Vec::new(), is_of_other_device: false }
}

fn settled(stop: &mut UntilDecided, trials: &[Trial]) -> Option<String> {
    match stop.look(trials) {
        Look::Settled(why) => Some(why),
        Look::Open(_) => None,
    }
}

#[test]
fn a_clear_difference_stops_the_campaign_after_the_fourth_block() {
    let mut stop = UntilDecided::new(&experiment(UNTIL_DECIDED));
    let trials = trials(&[1.050, 1.051, 1.049, 1.050]);
    assert_eq!(settled(&mut stop, &trials[..6]), None, "fewer than four blocks name no winner");
    let why = settled(&mut stop, &trials).unwrap();
    assert!(
        why.starts_with("every comparison is settled after 4 blocks: modular and radix"),
        "{why}"
    );
    assert!(why.contains("different") && why.contains("(rate)"), "{why}");
}

#[test]
fn no_difference_stops_as_equivalent() {
    let mut stop = UntilDecided::new(&experiment(UNTIL_DECIDED));
    let ratios = [1.0001, 0.9999, 1.0002, 0.9998, 1.0001, 0.9999];
    let why = (3..=6).find_map(|blocks| settled(&mut stop, &trials(&ratios[..blocks]))).unwrap();
    assert!(why.contains("equivalent"), "{why}");
}

#[test]
fn noise_goes_on_until_the_cap() {
    let mut stop = UntilDecided::new(&experiment(UNTIL_DECIDED));
    let ratios = [1.03, 0.98, 1.02, 0.97, 1.01, 1.02, 0.99, 0.98, 1.03, 0.97, 1.0, 1.01];
    for blocks in 1..12 {
        assert_eq!(settled(&mut stop, &trials(&ratios[..blocks])), None, "after {blocks} blocks");
    }
    let why = settled(&mut stop, &trials(&ratios)).unwrap();
    assert!(why.contains("undecided after the largest number of blocks, 12"), "{why}");
}

/// One trial that is 6 % slower: the campaign used to stop as "equivalent", and its report said
/// "inconclusive".
#[test]
fn a_rare_run_keeps_a_campaign_going_and_that_is_said() {
    let mut stop = UntilDecided::new(&experiment(UNTIL_DECIDED));
    let mut ratios = [1.0001, 0.9999, 1.0002, 0.9998, 1.0001, 0.9999].repeat(2);
    ratios[4] = 0.94;
    let mut said = Vec::new();
    for blocks in 5..12 {
        let Look::Open(open) = stop.look(&trials(&ratios[..blocks])) else {
            panic!("stopped after {blocks} blocks");
        };
        said.extend(open);
    }
    let Some(Open { subject, why }) = said.last() else { panic!("nobody says why") };
    assert_eq!(subject, "modular and radix with inet");
    assert!(
        why.contains("typical runs are equal") && why.contains("1 of 11 runs of modular"),
        "{why}"
    );
    let why = settled(&mut stop, &trials(&ratios)).unwrap();
    assert!(why.contains("the largest number of blocks, 12: typical runs are equal"), "{why}");
}

#[test]
fn a_fixed_number_of_blocks_is_never_cut() {
    let mut stop = UntilDecided::new(&experiment("blocks = 8"));
    assert_eq!(settled(&mut stop, &trials(&[1.05; 8])), None);
}

#[test]
fn a_variant_that_always_fails_does_not_run_to_the_cap() {
    let mut stop = UntilDecided::new(&experiment(UNTIL_DECIDED));
    let mut trials = trials(&[1.0; 4]);
    for trial in trials.iter_mut().filter(|t| t.variant == "modular") {
        trial.status = Status::Failed;
    }
    let why = settled(&mut stop, &trials).unwrap();
    assert!(why.contains("no block in which both trials succeeded"), "{why}");
}

/// With three variants the report compares the blocks in which all kept their trial; the stop looked
/// at those of each pair.
#[test]
fn the_stop_looks_at_the_blocks_of_the_report() {
    let text = |third: &str| {
        format!(
            "title = \"t\"\nbaseline = \"radix\"\n{UNTIL_DECIDED}\n\
             [[variant]]\nname = \"radix\"\n[[variant]]\nname = \"modular\"\n{third}\
             [[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:1\"\ndestination = \"198.19.0.1:1\"\n\
             [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n"
        )
    };
    let text = text("[[variant]]\nname = \"third\"\n");
    let experiment = Experiment::parse(Path::new("sample.toml"), &text, &[&Anything]).unwrap();
    let mut stop = UntilDecided::new(&experiment);
    let mut trials = trials(&[1.050, 1.051, 1.049, 1.050]);
    for block in 1..=4u32 {
        let status = if block < 3 { Status::Ok } else { Status::Failed };
        let third = Trial { block, variant: "third".to_owned(), status, ..trials[1].clone() };
        trials.push(third);
    }
    assert_eq!(settled(&mut stop, &trials), None, "two blocks in which all three kept their trial");
}

#[test]
fn the_cost_decides_when_the_tester_bounded_a_trial() {
    let mut stop = UntilDecided::new(&experiment(UNTIL_DECIDED));
    let mut trials = trials(&[1.0, 1.001, 0.999, 1.0]);
    for trial in &mut trials {
        let is_modular = trial.variant == "modular";
        trial.limited_by = LimitedBy::Generator;
        let ns = if is_modular { 20_000_000 } else { 40_000_000 };
        let ns = ns + u64::from(trial.block);
        trial.measured.intervals[0].busy = Some(Busy { ns, frames: 400_000 });
    }
    let why = settled(&mut stop, &trials).unwrap();
    assert!(why.contains("different") && why.contains("(cost)"), "{why}");
}

const WANTED: Wanted = Wanted { difference: 0.01, margin: 0.01, power: 0.8 };

#[test]
fn without_results_the_published_spread_is_taken() {
    let needs = Needs::of(&experiment("blocks = 8"), None, WANTED, None);
    assert!(!needs.is_measured() && !needs.is_time_measured);
    assert_eq!(needs.trials_per_block, 2);
    assert!((needs.block_seconds - 2.2).abs() < 1e-9);
    let blocks: Vec<u64> = needs.rows.iter().map(|row| row.difference.blocks).collect();
    assert!(blocks.is_sorted() && blocks[0] < 10 && blocks[2] > 50, "{blocks:?}");
    assert_eq!(needs.planned_blocks, 8);
}

/// A soak of a week in each trial was once "at least 1 s".
#[test]
fn what_a_measure_takes_of_its_own_is_part_of_the_plan() {
    let text = "blocks = 4\nmeasure = \"soak\"\n[benchmarks]\nsoak = \"168h\"";
    let needs = Needs::of(&experiment(text), None, WANTED, None);
    let trials = f64::from(needs.planned_blocks) * needs.trials_per_block as f64;
    assert!(needs.planned_seconds() >= trials * 168.0 * 3600.0, "{}", needs.planned_seconds());
}

#[test]
fn what_a_campaign_does_not_prove_of_itself_is_said_with_the_reason() {
    let said =
        |head: &str, share, word| unproven(&experiment(head), share, word).unwrap_or_default();
    assert_eq!(said("blocks = 3", 0.0, Some("slow")), "", "nobody asked");
    assert!(said("blocks = 3", 0.5, Some("slow")).contains("it has 3 blocks, and a truth takes 4"));
    assert!(
        said("blocks = 4", 0.2, Some("slow")).contains("none in this campaign: 20 % of its trials")
    );
    let pairs = said("blocks = 40", 0.2, None);
    assert!(
        pairs.contains("only the baseline beside itself: nothing slows this device"),
        "{pairs}"
    );
    assert!(said("blocks = 12", 0.2, Some("slow")).contains("a second truth takes 4 more"));
    assert_eq!(said("blocks = 40", 0.2, Some("slow")), "", "both");
    // Whatever is said, it is what is planned.
    for (blocks, word) in
        [(3, None), (4, Some("slow")), (12, Some("slow")), (40, None), (40, Some("slow"))]
    {
        let own = experiment(&format!("blocks = {blocks}"));
        let truths = own_truths(&own, 0.2, word).map_or(0, |found| found.truths.len());
        let why = unproven(&own, 0.2, word).unwrap_or_default();
        let expected =
            if why.starts_with("none") { 0 } else { 2 - usize::from(why.starts_with("only")) };
        assert_eq!(truths, expected, "{blocks} {word:?}: {why}");
    }
}

#[test]
fn the_labs_own_truths_take_their_time() {
    let experiment = experiment("blocks = 8");
    let without = Needs::of(&experiment, None, WANTED, None);
    let truths = own_truths(&experiment, 0.2, Some("slow"));
    let needs = Needs::of(&experiment, None, WANTED, truths);
    // A fifth of all trials: four beside the 16 of 8 blocks.
    assert_eq!((needs.trials_per_block, needs.own_truths_per_block), (2, 0.5));
    assert!((needs.block_seconds - without.block_seconds * 1.25).abs() < 1e-9);
    assert_eq!(needs.rows, without.rows);
}

#[test]
fn earlier_results_tell_spread_and_time() {
    let results = results_of(trials(&[1.010, 1.012, 1.008, 1.011]));
    let own = experiment("blocks = 8");
    let earlier = earlier_of(results);
    let needs = Needs::of(&own, Some(&earlier), WANTED, None);
    assert!(needs.is_measured() && needs.is_time_measured);
    assert_eq!(needs.rows.len(), 1);
    assert_eq!((needs.rows[0].pilot_blocks, needs.rows[0].metric.as_str()), (4, "rate"));
    // by hand: ln of the ratios has the sample standard deviation 0.00169
    assert!((needs.rows[0].sd_of_difference - 0.001_69).abs() < 1e-5);
    assert!(needs.rows[0].difference.blocks <= needs.rows[0].difference.blocks_if_unlucky);
    assert_eq!(needs.rows[0].of, "inet: modular against radix");
    // What was measured stays, whatever the device is known for.
    let spread = Repeatability { of: vec![("boots of one kernel", 0.0003)], source: "boots" };
    let kept = needs.clone().with_repeatability(&experiment("blocks = 8"), &spread);
    assert_eq!(kept, needs);
}

/// A guest whose instructions are counted was planned with the spread of machines: 16 blocks for what 4 show.
#[test]
fn a_spread_that_a_device_is_known_to_have_stands_for_that_of_machines() {
    let spread = Repeatability { of: vec![("boots of one kernel", 0.0003)], source: "boots" };
    let wanted = Wanted { difference: 0.002, margin: 0.002, power: 0.8 };
    let own = experiment("blocks = 8");
    let machines = Needs::of(&own, None, wanted, None);
    assert!(machines.rows.iter().all(|row| row.difference.blocks > 16), "{machines:?}");
    let needs = machines.with_repeatability(&own, &spread);
    assert_eq!(needs.rows.len(), 1);
    assert_eq!(needs.rows[0].of, "boots of one kernel (CV 0.03 %)");
    assert_eq!((needs.rows[0].difference.blocks, needs.rows[0].equivalence.blocks), (4, 4));
    assert!(!needs.is_measured());
}

#[test]
fn boots_are_in_the_time_of_a_plan_unless_it_was_measured() {
    let results = |seconds: &[u64]| {
        let mut trials = trials(&[1.0, 1.0, 1.0, 1.0]);
        for (at, trial) in trials.iter_mut().enumerate() {
            trial.order = at as u32;
            let second: u64 = seconds.iter().take(at).sum();
            trial.started = Some(format!("2026-01-01T00:{:02}:{:02}Z", second / 60, second % 60));
        }
        results_of(trials)
    };
    let experiment = experiment("blocks = 8");
    let plan = |earlier: Option<Results>, trial| {
        let earlier = earlier.map(earlier_of);
        Needs::of(&experiment, earlier.as_ref(), WANTED, None).on_device(3, trial)
    };
    let booted = plan(None, Some((20.0, "a boot")));
    assert_eq!((booted.block_seconds, booted.beside_traffic.as_str()), (40.0, "a boot"));
    assert_eq!(booted.planned_seconds(), 3.0 * 20.0 + 8.0 * 40.0);
    assert_eq!(
        plan(None, None).block_seconds,
        Needs::of(&experiment, None, WANTED, None).block_seconds
    );
    // Trials of 100 s are no interruptions of an hour; a night between two of 1 s is one.
    let slow = [100; 7];
    let measured = plan(Some(results(&slow)), Some((20.0, "a boot")));
    assert!(measured.is_time_measured);
    assert_eq!(measured.block_seconds, 200.0);
    let quick = [1, 1, 1, 1, 1, 1, 900];
    assert_eq!(plan(Some(results(&quick)), None).block_seconds, 2.0);
}

/// They were no part of the time: 12 profiles of two seconds behind a campaign of five.
#[test]
fn profiles_take_their_time_too() {
    let without = Needs::of(&experiment("blocks = 8"), None, WANTED, None);
    let own = experiment("blocks = 8\nprofile = true");
    let needs = Needs::of(&own, None, WANTED, None);
    assert_eq!((without.profiles, needs.profiles), (0, 2));
    // A trial of a profile lasts two seconds at least, and these last one.
    let more = needs.planned_seconds() - without.planned_seconds();
    assert!((more - 2.0 * 2.1).abs() < 1e-9, "{more}");
    let booted = needs.on_device(3, Some((20.0, "a boot")));
    assert_eq!(booted.planned_seconds(), 3.0 * 20.0 + 8.0 * 40.0 + 2.0 * 20.0);
}

/// Results of `text`, as they lie in a directory, beside the experiment that is planned.
fn learned(there: &str, device: &str, planned: &Experiment) -> (tempfile::TempDir, Earlier) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("experiment.toml"), there).unwrap();
    let campaign = fwdlab_results::Campaign {
        device: device.to_owned(),
        experiment_sha256: "0".repeat(64),
        ..examples::campaign()
    };
    let results = results_of(trials(&[1.010, 1.012, 1.008, 1.011]));
    let results = Results { dir: dir.path().to_owned(), campaign, ..results };
    (dir, Earlier::of(results, planned))
}

/// Its times were taken without a word.
#[test]
fn results_of_another_experiment_give_no_times_and_say_what_differs() {
    let own = experiment("blocks = 8\nduration = \"1s\"");
    let learn = |text: String, device: &str| learned(&text, device, &own);
    let (_dir, same) = learn(own.text.replace("blocks = 8", "blocks = 3"), &own.device);
    assert_eq!(same.differences, [""; 0]);
    assert!(Needs::of(&own, Some(&same), WANTED, None).is_time_measured);
    let (_dir, longer) = learn(own.text.replace("\"1s\"", "\"5s\""), &own.device);
    assert_eq!(longer.differences, ["duration \"5s\", here \"1s\""]);
    let needs = Needs::of(&own, Some(&longer), WANTED, None);
    assert!(needs.is_measured() && !needs.is_time_measured);
    let (_dir, other) =
        learn(own.text.replace("198.18.0.1:", "198.18.0.1-198.18.0.9:"), &own.device);
    assert_eq!(other.differences, ["another traffic inet"]);
    let (_dir, alone) = learn(own.text.replace("\"modular\"", "\"mod\""), &own.device);
    assert_eq!(alone.differences, ["no variant modular"]);
    let (_dir, elsewhere) = learn(own.text.clone(), "vm");
    assert!(elsewhere.is_of_other_device);
    assert!(!Needs::of(&own, Some(&elsewhere), WANTED, None).is_measured());
}
