//! Whatever a device counts, a finished campaign has a report: no error, no NaN, and nothing for
//! `fwdlab report --check` to find.

// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

mod lab;

use std::fmt::Write as _;

use fwdlab_compare::{Format, Options};
use fwdlab_device::DeviceError;
use fwdlab_report::Difference;
use fwdlab_results::{Busy, Interval, Ledger, Measured, Results, Trial};
use fwdlab_verify::Fault;
use proptest::prelude::*;
use proptest::sample::select;

/// An experiment of so many variants and blocks.
fn experiment(variants: usize, blocks: u32, load: &str) -> String {
    let mut text = format!("title = \"any\"\nbaseline = \"v0\"\nblocks = {blocks}\nseed = 3\n");
    for variant in 0..variants {
        let _ =
            write!(text, "[[variant]]\nname = \"v{variant}\"\nset = {{ word = \"{variant}\" }}\n");
    }
    for (name, net) in [("inet", ""), ("other", "1")] {
        let _ = write!(
            text,
            "[[traffic]]\nname = \"{name}\"\nload = \"{load}\"\nsource = \"198.18.{net}0.1:7\"\n\
             destination = \"198.19.{net}0.1-198.19.{net}0.4:7\"\n"
        );
    }
    text + "[routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n"
}

/// No frame, a few, many.
fn frames() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(0), 3 => 0u64..5, 2 => 90u64..110, 3 => 0u64..2_000_000]
}

fn busy() -> impl Strategy<Value = Option<Busy>> {
    let some = (0u64..200_000_000, frames()).prop_map(|(ns, frames)| Some(Busy { ns, frames }));
    prop_oneof![Just(None), Just(Some(Busy::default())), some]
}

fn interval() -> impl Strategy<Value = Interval> {
    let ms = select(vec![0.0, 1e-6, 20.0, 100.0, 100.02, 5_000.0]);
    let slow = select(vec![None, Some(0.0), Some(0.03), Some(1.0)]);
    (ms, frames(), frames(), busy(), slow).prop_map(|(ms, tx, rx, busy, slow_share)| Interval {
        ms,
        tx: Some(tx),
        rx,
        busy,
        slow_share,
        ..Interval::default()
    })
}

/// Intervals of all kinds, of one kind, or one alone.
fn intervals() -> impl Strategy<Value = Vec<Interval>> {
    prop_oneof![
        proptest::collection::vec(interval(), 0..12),
        (interval(), 1usize..12).prop_map(|(interval, count)| vec![interval; count]),
    ]
}

/// A total is never less than its intervals.
fn with_those_of(intervals: &[Interval], more: Busy) -> Busy {
    let each = intervals.iter().filter_map(|interval| interval.busy);
    each.fold(more, |all, own| Busy { ns: all.ns + own.ns, frames: all.frames + own.frames })
}

fn measured() -> impl Strategy<Value = Measured> {
    let shares = select(vec![None, Some(0.0), Some(0.5), Some(1.0)]);
    let probes = proptest::collection::vec(select(vec![None, Some(60.0), Some(400.0)]), 0..12);
    (intervals(), frames(), busy(), shares, probes, any::<bool>()).prop_map(
        |(intervals, rest, busy, share, roundtrips_ns, is_sent_known)| {
            let sum = |count: fn(&Interval) -> u64| intervals.iter().map(count).sum::<u64>();
            let mut measured = Measured {
                sent: is_sent_known.then(|| sum(|i| i.tx.unwrap_or(0)) + rest),
                received: sum(|i| i.rx) + rest,
                ledger: Ledger::Unknown,
                busy: busy.map(|more| with_those_of(&intervals, more)),
                idle_share: share,
                intervals,
                ..Measured::default()
            };
            measured.environment.roundtrips_ns = roundtrips_ns;
            measured.environment.core_share = share;
            measured.environment.device_share = share;
            measured
        },
    )
}

/// What trials answer, in turn; nothing is a device that breaks.
fn answers() -> impl Strategy<Value = Vec<Option<Measured>>> {
    let answer = prop_oneof![1 => Just(None), 9 => measured().prop_map(Some)];
    proptest::collection::vec(answer, 1..9)
}

/// What stands around the first NaN or infinity of a text.
fn no_number(text: &str) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = text.split(|c: char| !is_word(c));
    let word = words.find(|word| ["NaN", "inf", "infinity"].contains(word))?;
    let at = word.as_ptr() as usize - text.as_ptr() as usize;
    let around = |from: usize, to: usize| text.get(from..to).unwrap_or(word).to_owned();
    Some(around(at.saturating_sub(200), (at + 40).min(text.len())))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_campaign_has_a_report_without_nan(
        answers in answers(),
        (variants, blocks) in (2usize..4, 1u32..6),
        load in select(vec!["max", "1kpps", "1Gbps"]),
        // a variant that never works
        broken in proptest::option::of(0usize..3),
        last in proptest::option::of(0usize..30),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let text = experiment(variants, blocks, load);
        let mut answer = |number: usize, request: &fwdlab_device::Request<'_>| {
            let name = &request.variant.name;
            let answer = answers[number % answers.len()].clone();
            let is_broken = broken.is_some_and(|broken| *name == format!("v{broken}"));
            answer.filter(|_| !is_broken).ok_or_else(|| DeviceError::trial("it broke"))
        };
        let (_, results) = lab::run(dir.path(), &text, last, &mut answer);
        let written = fwdlab_report::write(dir.path(), &results).unwrap();
        prop_assert_eq!(no_number(&format!("{:?}", written.claims)), None);
        for file in ["README.md", "index.html", "graph.svg", "gnuplot.data"] {
            let path = dir.path().join(file);
            // Without a trial that counts there is nothing to draw.
            if file == "graph.svg" && !path.exists() {
                let counts = |trial: &Trial| trial.is_ok() && !trial.is_known();
                prop_assert!(!results.trials.iter().any(counts));
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            prop_assert_eq!(no_number(&text), None, "{}", file);
        }
        let mut found = fwdlab_report::check(&results).unwrap();
        // A campaign that was stopped is not vouched for, nor what this device makes up.
        found.retain(|what| {
            let is_known = |fault: &Fault| {
                matches!(fault, Fault::Unfinished { .. } | Fault::Impossible { .. })
            };
            !matches!(what, Difference::Journal(fault) if is_known(fault))
        });
        prop_assert_eq!(found, vec![]);
        prop_assert_eq!(fwdlab_report::unchecked(&results).unwrap(), vec![]);
    }
}

/// Equal with one traffic, where one trial of the second variant FAILED; a little faster with the other, where
/// half of them did.
const FAILING: &str = r#"
title = "trials that fail"
baseline = "old"
blocks = 12
seed = 3

[[variant]]
name = "old"
[[variant]]
name = "new"
set = { word = "1" }

[[traffic]]
name = "equal"
source = "198.18.0.1:7"
destination = "198.19.0.1:7"
[[traffic]]
name = "faster"
source = "198.18.1.1:7"
destination = "198.19.1.1:7"

[routes]
static = ["198.19.0.0/16 via 198.19.0.2"]
"#;

/// The words of a text without the ends of its lines, which are a matter of width.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// From the journal to whoever reads of it: report, claims, check and compare.
#[test]
fn what_failed_counts_and_is_said_wherever_the_campaign_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut answer = |number: usize, request: &fwdlab_device::Request<'_>| {
        let is_new = request.variant.name == "new";
        let is_equal = request.traffic.name == "equal";
        // Two variants with two traffics are a block.
        let block = number / 4 + 1;
        let has_failed = is_new && if is_equal { block == 7 } else { block.is_multiple_of(2) };
        if has_failed {
            return Err(DeviceError::trial("it took too long"));
        }
        let noise = ((number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % 2_003;
        let gain = if is_new { 8_200 } else { 0 };
        Ok(lab::counted(410_000 + if is_equal { noise } else { 10 * noise + gain }))
    };
    let (_, results) = lab::run(dir.path(), FAILING, None, &mut answer);
    assert_eq!(results.trials.iter().filter(|trial| !trial.is_ok()).count(), 7);

    let claims = fwdlab_report::write(dir.path(), &results).unwrap().claims;
    let of = |traffic: &str| claims.verdicts.iter().find(|own| own.traffic == traffic).unwrap();
    let equal = of("equal");
    assert_eq!(equal.verdict.word(), "inconclusive", "{}", equal.sentence);
    let why = "but 1 of 12 trials of new FAILED, and may have been slow";
    assert!(equal.sentence.ends_with(why), "{}", equal.sentence);
    let faster = of("faster");
    assert_eq!(faster.verdict.word(), "inconclusive", "{}", faster.sentence);
    let how = "FAILED trials taken for their side's worst";
    assert!(faster.sentence.contains(how), "{}", faster.sentence);

    let read = |name: &str| flowing(&std::fs::read_to_string(dir.path().join(name)).unwrap());
    let results = Results::read(dir.path()).unwrap();
    let options = Options { sources: vec![dir.path().to_owned()], ..Options::default() };
    let compared = fwdlab_compare::compare(&options, &mut std::io::empty()).unwrap();
    let compared = fwdlab_compare::render(&compared, Format::Text).unwrap();
    let places = [
        ("README.md", read("README.md")),
        ("claims.json", read("claims.json")),
        ("terminal", flowing(&fwdlab_report::terminal(&results, 100, false))),
        ("compare", flowing(&String::from_utf8(compared).unwrap())),
    ];
    for (name, text) in &places {
        for verdict in [equal, faster] {
            assert!(
                text.contains(&flowing(&verdict.sentence)),
                "{name}: {}\n{text}",
                verdict.sentence
            );
        }
    }
    for name in [0, 3] {
        assert!(places[name].1.contains("run them again"), "{}", places[name].1);
    }
    let failed = "b07-equal-new";
    assert!(places[0].1.contains(failed) && places[1].1.contains(failed), "{failed}");
    assert!(places[0].1.contains("it took too long"), "{}", places[0].1);

    assert_eq!(fwdlab_report::check(&results).unwrap(), vec![]);
    assert_eq!(fwdlab_report::unchecked(&results).unwrap(), vec![]);
    // Whoever takes one of them away is found.
    let path = dir.path().join("claims.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen(failed, "b08-equal-new", 1)).unwrap();
    assert_ne!(fwdlab_report::check(&results).unwrap(), vec![]);
}
