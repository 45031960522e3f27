//! `compare` on results directories: one says what its report says, two are before and after, three
//! are campaigns of one experiment.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

use fwdlab_compare::{Compared, Format, Options};
use fwdlab_results::environment::Environment;
use fwdlab_results::journal::Journal;
use fwdlab_results::{
    Benchmark, Busy, BusyBy, Campaign, LimitedBy, Measure, Results, Soak, Status, Trial, examples,
};
use fwdlab_stats::validity::Finding;
use fwdlab_stats::{Confidence, Estimand, Method};
use proptest::prelude::*;

/// The figures of one made-up trial.
#[derive(Clone, Copy, Debug)]
struct Figures {
    rate: f64,
    cost: f64,
    /// Seconds without loss, where that is measured.
    soak: Option<f64>,
    limit: LimitedBy,
    by: Option<BusyBy>,
    /// The share of the time in which tester and device had their processors.
    core_share: f64,
    frame_bytes: u16,
    is_ok: bool,
}

const USUAL: Figures = Figures {
    rate: 4e6,
    cost: 100.0,
    soak: None,
    limit: LimitedBy::Device,
    by: None,
    core_share: 1.0,
    frame_bytes: 64,
    is_ok: true,
};

/// What a made-up campaign has.
#[derive(Clone, Debug)]
struct Made {
    variants: usize,
    traffics: usize,
    blocks: usize,
    is_until_decided: bool,
    /// By block, traffic, variant.
    figures: Vec<Figures>,
}

impl Made {
    /// One traffic and two variants, with the figures of each block.
    fn of(blocks: &[[Figures; 2]]) -> Self {
        Self {
            variants: 2,
            traffics: 1,
            blocks: blocks.len(),
            is_until_decided: false,
            figures: blocks.concat(),
        }
    }

    fn write(&self, dir: &Path) {
        let variants: Vec<String> = ["radix", "modular", "third"][..self.variants]
            .iter()
            .map(|s| (*s).to_owned())
            .collect();
        let traffics: Vec<String> =
            ["inet", "inet6"][..self.traffics].iter().map(|s| (*s).to_owned()).collect();
        let mut trials = Vec::new();
        for block in 1..=self.blocks as u32 {
            for traffic in &traffics {
                for variant in &variants {
                    let own = self.figures[trials.len() % self.figures.len()];
                    trials.push(trial((block, traffic, variant), trials.len() as u32 + 1, own));
                }
            }
        }
        let campaign = Campaign {
            blocks: self.blocks as u32,
            until_decided: self.is_until_decided,
            variants,
            traffics,
            trials: trials.iter().map(|trial: &Trial| trial.id.clone()).collect(),
            ..examples::campaign()
        };
        let mut journal = Journal::create(dir, &campaign, "title = \"t\"", None).unwrap();
        // What was kept beside the journal is no experiment of ours.
        std::fs::remove_file(dir.join("experiment.toml")).unwrap();
        trials.iter().for_each(|trial| journal.append(trial).unwrap());
    }
}

fn trial((block, traffic, variant): (u32, &str, &str), order: u32, own: Figures) -> Trial {
    let mut trial = Trial {
        id: format!("b{block:02}-{traffic}-{variant}"),
        block,
        order,
        traffic: traffic.to_owned(),
        variant: variant.to_owned(),
        rate_pps: Some(own.rate),
        limited_by: own.limit,
        frame_bytes: own.frame_bytes,
        status: if own.is_ok { Status::Ok } else { Status::Failed },
        reason: (!own.is_ok).then(|| "made up".to_owned()),
        ..examples::trial(0)
    };
    let busy = Busy { ns: (own.cost * 400_000.0) as u64, frames: 400_000 };
    trial.measured.intervals[0].busy = Some(busy);
    trial.measured.busy_by = own.by;
    if own.core_share < 1.0 {
        trial.measured.environment.core_share = Some(own.core_share);
    }
    let soak = |seconds| Benchmark::Soak(Soak { seconds, ..Soak::default() });
    trial.measured.benchmark = own.soak.map(soak);
    if own.soak.is_some() {
        trial.measure = Measure::Soak;
    }
    trial
}

fn compared(dirs: &[&Path], options: Options) -> Compared {
    let sources = dirs.iter().map(|dir| dir.to_path_buf()).collect();
    fwdlab_compare::compare(&Options { sources, ..options }, &mut std::io::empty()).unwrap()
}

fn text(compared: &Compared) -> String {
    String::from_utf8(fwdlab_compare::render(compared, Format::Text).unwrap()).unwrap()
}

fn figures() -> impl Strategy<Value = Figures> {
    let level = prop_oneof![Just(1.0), Just(1.0), Just(0.63), Just(1.05)];
    let limit = prop_oneof![
        6 => Just(LimitedBy::Device),
        1 => Just(LimitedBy::Core),
        1 => Just(LimitedBy::Generator),
    ];
    (level, 0.0..0.02f64, 0.0..0.02f64, limit, prop::bool::weighted(0.95)).prop_map(
        |(level, rate, cost, limit, is_ok)| Figures {
            rate: 4e6 * level * (1.0 + rate),
            cost: 100.0 / level * (1.0 + cost),
            soak: None,
            limit,
            by: None,
            is_ok,
            ..USUAL
        },
    )
}

fn made() -> impl Strategy<Value = Made> {
    (2..=3usize, 1..=2usize, 2..=9usize, any::<bool>()).prop_flat_map(
        |(variants, traffics, blocks, is_until_decided)| {
            prop::collection::vec(figures(), variants * traffics * blocks).prop_map(
                move |figures| Made { variants, traffics, blocks, is_until_decided, figures },
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Verdict, figure, interval, p or e, estimand, unit, sign and sentence: all the same.
    #[test]
    fn a_report_and_compare_say_the_same(made in made()) {
        let dir = tempfile::tempdir().unwrap();
        made.write(dir.path());
        let claims = fwdlab_claims::claims(&Results::read(dir.path()).unwrap()).unwrap();
        let compared = compared(&[dir.path()], Options::default());
        let count: usize = compared.groups.iter().map(|group| group.judgements.len()).sum();
        prop_assert_eq!(count, claims.verdicts.len());
        for wanted in &claims.verdicts {
            let unit = if wanted.metric == "rate" { "frames/s" } else { "ns/frame" };
            let group = compared.groups.iter().find(|g| g.name == wanted.traffic && g.unit == unit);
            let group = group.unwrap();
            let own = group.judgements.iter().find(|own| own.variant == wanted.variant).unwrap();
            prop_assert_eq!(&own.verdict, &wanted.verdict);
            prop_assert_eq!(own.comparison.as_ref(), wanted.comparison());
            prop_assert_eq!(&own.findings, &wanted.findings);
            prop_assert_eq!(&own.saved, &wanted.saved);
            prop_assert_eq!(&own.sentence, &wanted.sentence);
            prop_assert_eq!(group.margin, wanted.margin);
            if let (Some(saved), Some(c)) = (&own.saved, &own.comparison) {
                let [low, high] = saved.interval_ns;
                prop_assert!(low <= saved.ns && saved.ns <= high && low * high > 0.0);
                prop_assert!(c.interval95.covers(c.estimate));
            }
        }
    }
}

/// So many blocks, the variant's rate and cost better by this factor, with a little noise.
fn faster(factor: f64, blocks: usize, seed: usize) -> Made {
    let side = |i: usize, factor: f64| {
        let noise = 1.0 + 1e-3 * ((i * 7 + seed * 3) % 11) as f64;
        Figures { rate: 4e6 * noise * factor, cost: 100.0 / noise / factor, ..USUAL }
    };
    let row = |i: usize| [side(2 * i, 1.0), side(2 * i + 1, factor)];
    Made::of(&(0..blocks).map(row).collect::<Vec<_>>())
}

fn directories(list: &[Made]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let root = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> =
        (0..list.len()).map(|i| root.path().join(format!("run-{}", i + 1))).collect();
    list.iter().zip(&paths).for_each(|(made, path)| made.write(path));
    (root, paths)
}

/// The tester and the device shared the limit, and the rate decided: 1 s / rate stood as ns/frame
/// beside another cost of the report.
#[test]
fn the_device_cost_decides_and_is_shown_where_tester_and_device_share_the_limit() {
    let mut made = faster(1.25, 8, 0);
    for own in &mut made.figures {
        own.limit = LimitedBy::Core;
        own.rate /= 10.0;
    }
    let (_root, dirs) = directories(&[made]);
    let all = compared(&[&dirs[0]], Options::default());
    assert_eq!(all.groups.len(), 1);
    assert_eq!(
        (all.groups[0].unit.as_str(), all.groups[0].metric.as_str()),
        ("ns/frame", "device cost")
    );
    let text = text(&all);
    assert!(text.contains("device cost in ns/frame, inet") && !text.contains("2500"), "{text}");
    let own = &all.groups[0].judgements[0];
    assert!(own.sentence.contains("ns per frame ["), "{}", own.sentence);
    let busy = "IPv4 frames per busy second of the device (1 s / its cost per frame)";
    assert!(own.sentence.contains(busy), "{}", own.sentence);
    let rate = Options { metric: Some("rate".to_owned()), ..Options::default() };
    let rate = compared(&[&dirs[0]], rate);
    assert_eq!(rate.groups[0].unit, "frames/s");
    assert!(rate.groups[0].judgements[0].sentence.contains("in IPv4 forwarding rate"));
}

/// Sentences said "better" and the tables beside them "faster".
#[test]
fn a_figure_that_is_no_speed_is_better_in_every_table() {
    let mut after = [faster(1.0, 8, 0), faster(1.0, 8, 1), faster(1.0, 8, 2)];
    let mut before = after.clone();
    for (side, seconds) in [(&mut before, 10.0), (&mut after, 12.0)] {
        for own in side.iter_mut().flat_map(|made| &mut made.figures) {
            own.soak = Some(seconds * own.cost / 100.0);
        }
    }
    let (_root, dirs) = directories(&[before, after].concat());
    let options = Options { after: dirs[3..].to_vec(), ..Options::default() };
    let before: Vec<&Path> = dirs[..3].iter().map(PathBuf::as_path).collect();
    let all = compared(&before, options);
    for form in [Format::Text, Format::Markdown, Format::Csv, Format::Benchstat] {
        let text = String::from_utf8(fwdlab_compare::render(&all, form).unwrap()).unwrap();
        assert!(text.contains("better"), "{text}");
        assert!(!text.contains("faster") && !text.contains("slower"), "{text}");
    }
}

#[test]
fn the_headline_says_nanoseconds_first_and_names_what_is_quoted() {
    let (_root, dirs) = directories(&[faster(1.25, 8, 0)]);
    let all = compared(&[&dirs[0]], Options::default());
    let own = &all.groups[0].judgements[0];
    let sentence = &own.sentence;
    let (ns, percent) = (sentence.find("ns per frame").unwrap(), sentence.find('%').unwrap());
    assert!(ns < percent, "{sentence}");
    let [elsewhere, quoted] = &own.notes()[..] else { panic!("{:?}", own.notes()) };
    assert!(elsewhere.contains("on a device of 100 ns per frame"), "{elsewhere}");
    assert!(
        quoted.ends_with("; quoted: Hodges-Lehmann centre of the ratios within blocks"),
        "{quoted}"
    );
    assert_eq!(own.comparison.as_ref().unwrap().estimand, Estimand::CentreOfRatios);
    let saved = own.saved.as_ref().unwrap();
    // 1 s / 4 Mpps is 250 ns, a fifth of it is saved
    assert!((saved.baseline_ns - 250.0).abs() < 3.0 && (saved.ns - 50.0).abs() < 2.0, "{saved:?}");
}

#[test]
fn two_directories_are_before_and_after_of_equal_variants_without_a_winner() {
    let mut after = faster(1.0, 8, 1);
    after.figures.iter_mut().for_each(|own| own.rate *= 1.3);
    let (_root, dirs) = directories(&[faster(1.0, 8, 0), after]);
    let all = compared(&[&dirs[0], &dirs[1]], Options::default());
    let names: Vec<&str> = all.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["inet radix", "inet modular"]);
    for own in all.groups.iter().map(|group| &group.judgements[0]) {
        assert_eq!((own.baseline.as_str(), own.variant.as_str()), ("run-1", "run-2"));
        assert_eq!(own.verdict.word(), "inconclusive");
        let few = Finding::FewCampaigns { campaigns: [1, 1], needed: 3 };
        assert!(own.findings.contains(&few), "{:?}", own.findings);
        assert!(
            own.sentence.contains("no winner is named")
                && own.sentence.contains("--single-campaign")
        );
    }
    let told = Options { is_single_campaign: true, ..Options::default() };
    let all = compared(&[&dirs[0], &dirs[1]], told);
    let own = &all.groups[0].judgements[0];
    assert_eq!(own.verdict.word(), "faster", "{}", own.sentence);
    assert!(own.sentence.starts_with("run-2 is faster than run-1 by "), "{}", own.sentence);
    assert!(own.sentence.contains("IPv4 forwarding rate of radix"), "{}", own.sentence);
}

#[test]
fn three_campaigns_of_each_side_name_a_winner() {
    let after = |seed: usize| {
        let mut made = faster(1.0, 8, seed);
        made.figures.iter_mut().for_each(|own| own.rate *= 1.3);
        made
    };
    let (_root, dirs) = directories(&[
        faster(1.0, 8, 0),
        faster(1.0, 8, 1),
        faster(1.0, 8, 2),
        after(3),
        after(4),
        after(5),
    ]);
    let options = Options { after: dirs[3..].to_vec(), ..Options::default() };
    let dirs: Vec<&Path> = dirs[..3].iter().map(PathBuf::as_path).collect();
    let all = compared(&dirs, options.clone());
    let own = &all.groups[0].judgements[0];
    assert_eq!(own.verdict.word(), "faster", "{}", own.sentence);
    let comparison = own.comparison.as_ref().unwrap();
    assert_eq!((comparison.method, comparison.n.baseline), (Method::Campaigns, 3));
    assert!(own.sentence.starts_with("after is faster than before by "), "{}", own.sentence);
    let two = compared(&dirs[..2], options);
    assert_eq!(two.groups[0].judgements[0].verdict.word(), "inconclusive");
}

/// Constant figures have no spread, which proves nothing beyond the step in which they are given.
#[test]
fn constant_campaigns_prove_no_more_than_their_figures_step() {
    let lab = tempfile::tempdir().unwrap();
    // Their lengths tell the campaigns apart. The last digits are a step apart.
    let usual = (100.0, 4.0e6);
    let made = |at: usize, both: [(f64, f64); 2]| {
        Made::of(&vec![both.map(|(cost, rate)| Figures { cost, rate, ..USUAL }); 8 + at])
    };
    let dirs: Vec<PathBuf> = (0..6).map(|at| lab.path().join(at.to_string())).collect();
    let write = |at: usize, other: (f64, f64)| made(at, [usual, other]).write(&dirs[at]);
    (0..3).for_each(|at| write(at, usual));
    (3..6).for_each(|at| write(at, (101.0, 3.9e6)));
    let sources: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
    let options = |after: &[PathBuf]| Options { after: after.to_vec(), ..Options::default() };
    let sides = compared(&sources[..3], options(&dirs[3..]));
    let together = compared(&sources[..3], options(&[]));
    for own in [sides, together] {
        for judgement in own.groups.iter().flat_map(|group| &group.judgements) {
            let comparison = judgement.comparison.as_ref().unwrap();
            assert!(!comparison.interval95.excludes_no_change(), "{}", judgement.sentence);
            let is_named = matches!(judgement.word, "faster" | "slower");
            assert!(!is_named, "{}", judgement.sentence);
        }
    }
}

#[test]
fn campaigns_of_one_experiment_tell_what_the_next_will_show() {
    let (_root, dirs) = directories(&[
        faster(1.20, 8, 0),
        faster(1.24, 8, 1),
        faster(1.28, 8, 2),
        faster(1.22, 8, 3),
    ]);
    let paths: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
    let all = compared(&paths, Options::default());
    let own = &all.groups[0].judgements[0];
    assert_eq!(own.verdict.word(), "faster", "{}", own.sentence);
    let (several, comparison) = (own.campaigns.as_ref().unwrap(), own.comparison.as_ref().unwrap());
    assert_eq!(several.campaigns.len(), 4);
    for (one, dir) in several.campaigns.iter().zip(&paths) {
        let alone = compared(&[dir], Options::default());
        let alone = &alone.groups[0].judgements[0];
        assert_eq!(one.comparison, alone.comparison, "each as in its own report");
        let narrow = one.comparison.as_ref().unwrap().interval95;
        assert!(several.next.covers(narrow.low) && several.next.covers(narrow.high));
    }
    assert!(several.next.low < comparison.interval95.low);
    assert!(several.next.high > comparison.interval95.high);
    let text = text(&all);
    assert!(text.contains("campaign ") && text.contains("campaigns differ by"), "{text}");
    assert!(own.sentence.contains("the next run of this experiment will show ["));
}

#[test]
fn directories_of_other_experiments_are_refused_as_campaigns() {
    let (_root, dirs) = directories(&[faster(1.2, 4, 0), faster(1.2, 4, 1), faster(1.2, 4, 2)]);
    let journal = dirs[1].join("trials.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, text.replace(&"00".repeat(32), &"11".repeat(32))).unwrap();
    let options = Options { sources: dirs.clone(), ..Options::default() };
    let error = fwdlab_compare::compare(&options, &mut std::io::empty()).unwrap_err().to_string();
    assert!(error.contains("run-2 is of another experiment than") && error.contains("--after"));
    let options =
        Options { baseline: Some("radix".to_owned()), sources: dirs[..2].to_vec(), ..options };
    let error = fwdlab_compare::compare(&options, &mut std::io::empty()).unwrap_err().to_string();
    assert!(error.contains("leave out --baseline radix"), "{error}");
}

/// Three times the same trials were three campaigns without any spread between them.
#[test]
fn one_campaign_given_twice_counts_once() {
    let (_root, dirs) = directories(&[faster(1.0, 8, 0), faster(1.0, 8, 1), faster(1.0, 8, 0)]);
    let options = Options { sources: dirs.clone(), ..Options::default() };
    let error = fwdlab_compare::compare(&options, &mut std::io::empty()).unwrap_err().to_string();
    assert!(error.contains("run-3 has the trials of"), "{error}");
}

#[test]
fn confidence_and_another_baseline_reach_directories_too() {
    let (_root, dirs) = directories(&[faster(1.25, 12, 0)]);
    let confidence = Confidence::new(0.999).unwrap();
    let usual = compared(&[&dirs[0]], Options::default());
    let sure = compared(&[&dirs[0]], Options { confidence, ..Options::default() });
    let interval =
        |all: &Compared| all.groups[0].judgements[0].comparison.as_ref().unwrap().interval95;
    assert!(interval(&sure).low < interval(&usual).low);
    let turned = Options { baseline: Some("modular".to_owned()), ..Options::default() };
    let turned = compared(&[&dirs[0]], turned);
    assert_eq!(turned.groups[0].judgements[0].verdict.word(), "slower");
}

#[test]
fn no_sources_and_files_after_directories_are_errors() {
    let (root, dirs) = directories(&[faster(1.2, 4, 0)]);
    let refused = |options: &Options| {
        fwdlab_compare::compare(options, &mut std::io::empty()).unwrap_err().to_string()
    };
    assert!(refused(&Options::default()).starts_with("nothing to compare"));
    let none = Options { after: dirs.clone(), ..Options::default() };
    assert!(refused(&none).starts_with("nothing to compare"));
    let file = root.path().join("a.txt");
    std::fs::write(&file, "1\n2\n").unwrap();
    let mixed = Options { sources: dirs, after: vec![file], ..Options::default() };
    assert!(refused(&mixed).contains("a.txt: no results directory"), "{}", refused(&mixed));
}

/// Found by the property above: no variant has its figure in every block.
#[test]
fn a_campaign_with_nothing_to_compare_is_reported() {
    let broken = Figures { is_ok: false, ..USUAL };
    for is_until_decided in [false, true] {
        let made = Made { is_until_decided, ..Made::of(&[[broken, broken], [USUAL, broken]]) };
        let dir = tempfile::tempdir().unwrap();
        made.write(dir.path());
        let claims = fwdlab_claims::claims(&Results::read(dir.path()).unwrap()).unwrap();
        assert!(claims.verdicts.iter().all(|verdict| verdict.comparison().is_none()));
    }
}

/// One digit of one trial: no form of the output names a winner any more, ministat's neither.
#[test]
fn a_journal_that_was_changed_decides_nothing() {
    let (_place, dirs) = directories(&[faster(1.05, 12, 0), faster(1.05, 12, 1)]);
    let dir = dirs[0].as_path();
    let say = |format| {
        let compared = compared(&[dir], Options::default());
        String::from_utf8(fwdlab_compare::render(&compared, format).unwrap()).unwrap()
    };
    assert!(!say(Format::Ministat).contains("invalid"));
    let path = dir.join("trials.jsonl");
    let journal = std::fs::read_to_string(&path).unwrap();
    let third = journal.lines().nth(2).unwrap();
    let other = third.replacen("\"order\":2", "\"order\":2,\"note\":1", 1);
    assert_ne!(third, other);
    std::fs::write(&path, journal.replacen(third, &other, 1)).unwrap();
    // The line after it carries the hash of the one that stood there.
    for format in [Format::Text, Format::Markdown, Format::Csv, Format::Benchstat, Format::Ministat]
    {
        let text = say(format).replace('\n', " ");
        assert!(text.contains("invalid") && text.contains("line 4 of"), "{format:?}: {text}");
    }
    let compared = compared(&[dir, dirs[1].as_path()], Options::default());
    assert!(text(&compared).contains("journal changed: line 4"), "{}", text(&compared));
    std::fs::write(dir.with_extension("pps"), "1\n2\n3\n").unwrap();
    let sources = vec![dir.to_owned(), dir.with_extension("pps")];
    let options = Options { sources, ..Options::default() };
    let error = fwdlab_compare::compare(&options, &mut std::io::empty()).unwrap_err();
    assert!(error.to_string().contains("line 4 of its journal"), "{error}");
}

/// Eight blocks in which the trials of these variants (by their place) all FAILED.
fn without(failed: &[usize], seed: usize) -> Made {
    let mut made = faster(1.25, 8, seed);
    for (place, own) in made.figures.iter_mut().enumerate() {
        own.is_ok = !failed.contains(&(place % 2));
    }
    made
}

/// A single trial that FAILED used to leave every comparison over several directories as it was, but for a
/// warning.
#[test]
fn nothing_is_equivalent_to_what_failed_in_any_of_several_campaigns() {
    let campaigns = |is_failed: bool| {
        let campaign = |seed| {
            let mut made = faster(1.0, 8, seed);
            // The variant's trial of the third block, in the second and fifth campaign.
            made.figures[5].is_ok = !(is_failed && seed % 3 == 1);
            made
        };
        directories(&(0..6).map(campaign).collect::<Vec<_>>())
    };
    let ((_whole, whole), (_lost, lost)) = (campaigns(false), campaigns(true));
    let said = |dirs: &[PathBuf], [before, after]: [usize; 2]| {
        let after = dirs[before..before + after].to_vec();
        let is_single_campaign = before == 1;
        let options = Options { after, is_single_campaign, ..Options::default() };
        let paths: Vec<&Path> = dirs[..before].iter().map(PathBuf::as_path).collect();
        let all = compared(&paths, options);
        let own = all.groups.last().unwrap().judgements.last().unwrap().clone();
        (own.word, own.sentence)
    };
    for (counts, why) in [
        ([3, 0], "but 1 of 24 trials of modular FAILED, and may have been slow"),
        ([3, 3], "but 1 of 24 trials of after and 1 of 24 trials of before FAILED"),
        ([1, 1], "but 1 of 8 trials of run-2 FAILED, and may have been slow"),
    ] {
        let (word, sentence) = said(&whole, counts);
        assert_eq!(word, "equivalent", "{sentence}");
        let (word, sentence) = said(&lost, counts);
        assert_eq!(word, "inconclusive", "{sentence}");
        assert!(sentence.contains(why), "{sentence}");
    }
}

/// Winners of several campaigns whose trials FAILED win with the worst of their campaign in their place.
#[test]
fn a_winner_of_several_campaigns_wins_with_its_worst_in_the_place_of_what_failed() {
    let words = |failed: &[usize]| {
        let campaign = |seed| {
            let mut made = faster(1.008, 12, seed);
            // One trial of the variant far below the others, and these lost.
            made.figures[1].rate *= 0.97;
            failed.iter().for_each(|block| made.figures[2 * block + 1].is_ok = false);
            made
        };
        let (_root, dirs) = directories(&(0..4).map(campaign).collect::<Vec<_>>());
        let paths: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
        let all = compared(&paths, Options { margin: Some(0.001), ..Options::default() });
        let own = &all.groups[0].judgements[0];
        (own.word, own.sentence.clone())
    };
    let (word, sentence) = words(&[]);
    assert_eq!(word, "faster", "{sentence}");
    let (word, sentence) = words(&[3, 4, 5, 6]);
    assert_eq!(word, "inconclusive", "{sentence}");
    assert!(sentence.contains("FAILED trials taken for their side's worst"), "{sentence}");
}

/// What `compare` prints in each form; each of them says something and none a number that is none.
fn every_form(dirs: &[&Path], options: &Options) -> Vec<String> {
    let sources = dirs.iter().map(|dir| dir.to_path_buf()).collect();
    let options = Options { sources, ..options.clone() };
    let all = match fwdlab_compare::compare(&options, &mut std::io::empty()) {
        Ok(all) => all,
        Err(error) => return vec![error.to_string()],
    };
    use Format::{Benchstat, Csv, Json, Markdown, Ministat, Text};
    let forms = [Text, Markdown, Json, Csv, Benchstat, Ministat].map(|form| {
        fwdlab_compare::render(&all, form)
            .map_or_else(|error| error.to_string(), |bytes| String::from_utf8(bytes).unwrap())
    });
    forms.into()
}

#[test]
fn where_no_trial_was_kept_it_is_said_once_and_there_is_no_number() {
    let one = |failed: &[usize]| vec![without(failed, 0)];
    let two = |a: &[usize], b: &[usize]| vec![without(a, 0), without(b, 1)];
    let three = |a: &[usize], b: &[usize]| [two(a, b), vec![without(a, 2)]].concat();
    let cases = [
        (one(&[1]), "0 of its trials kept where at least 2 are needed"),
        (one(&[0]), "a comparison over blocks: 0 values where at least 2 are needed"),
        (one(&[0, 1]), "0 of its trials kept"),
        (two(&[], &[1]), "variant: 0 values where at least 2 are needed"),
        (two(&[0, 1], &[]), "baseline: 0 values where at least 2 are needed"),
        (two(&[0, 1], &[0, 1]), "run-2/b01-inet-"),
        (three(&[], &[0, 1]), "run-2: 0 of its trials kept"),
        (three(&[], &[1]), "run-2: 0 of its trials kept"),
        (three(&[1], &[1]), "run-3: 0 of its trials kept"),
    ];
    for (list, wanted) in cases {
        let (_root, dirs) = directories(&list);
        let paths: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
        let forms = every_form(&paths, &Options::default());
        let [text, markdown, json, csv, benchstat, ministat] = &forms[..] else {
            panic!("{wanted}: {forms:?}")
        };
        for form in [markdown, json, csv, benchstat] {
            assert!(form.contains(wanted), "{wanted}: {form}");
        }
        let lines = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(lines.contains(wanted) && lines.contains("=> invalid: "), "{wanted}: {text}");
        // Each remedy and each reason stands once in a paragraph; over campaigns, once for each.
        let most = if list.len() > 2 { list.len() } else { 1 };
        for paragraph in text.split("=>").skip(1) {
            assert!(paragraph.matches("run more blocks").count() <= most, "{paragraph}");
        }
        assert!(
            ministat.contains("has 0 values, ministat needs 3")
                || ministat.contains("decides nothing"),
            "{ministat}"
        );
        for form in &forms {
            for wrong in ["NaN", "nan%", " inf", "inf%", "factor"] {
                assert!(!form.contains(wrong), "{wrong} in {form}");
            }
        }
    }
}

#[test]
fn what_only_one_side_has_is_named() {
    let wide = Made { traffics: 2, blocks: 4, ..without(&[], 0) };
    let third = Made { variants: 3, blocks: 5, ..without(&[], 1) };
    let (_root, dirs) = directories(&[wide, third]);
    let all = compared(&[&dirs[0], &dirs[1]], Options::default());
    let said: Vec<String> = all.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "traffic inet6 is in run-1 alone: not compared",
            "variant third is in run-2 alone: not compared"
        ]
    );
    let lost: Vec<bool> = all.left_out.iter().map(|own| own.is_lost).collect();
    assert_eq!(lost, [true, false], "what was measured before and is gone");
    let alone = compared(&[&dirs[1]], Options::default());
    assert_eq!(alone.left_out, []);
}

/// It said that trials of the other side had failed, and to check the tester's addresses.
#[test]
fn figures_of_two_measures_are_no_before_and_after() {
    let soaked = Figures { soak: Some(1.0), ..USUAL };
    let list = [Made::of(&[[USUAL; 2]; 3]), Made::of(&[[soaked; 2]; 3])];
    let (_root, paths) = directories(&list);
    let sources = paths.clone();
    let options = Options { sources, ..Options::default() };
    let error = fwdlab_compare::compare(&options, &mut std::io::empty()).unwrap_err().to_string();
    let wanted = "run-1 has its forwarding rate";
    assert!(error.contains(wanted) && error.contains("run-2 its time without loss"), "{error}");
}

/// `--metric cost` held a cost by ticks against one between readings of a clock, which the run's verdict did not.
#[test]
fn costs_that_were_taken_in_two_ways_are_compared_nowhere() {
    let ticks = Some(BusyBy::Ticks);
    // Each campaign is another one.
    let own = |at: usize, by: [Option<BusyBy>; 2]| {
        let figures = |by, cost: f64| Figures { cost: cost + at as f64, by, ..USUAL };
        let block = |block: usize| {
            let cost = 100.0 + block as f64 / 10.0;
            [figures(by[0], cost), figures(by[1], 1.01 * cost)]
        };
        Made::of(&(0..6).map(block).collect::<Vec<_>>())
    };
    let ways = [[None; 2], [None; 2], [None; 2], [ticks; 2], [ticks; 2], [ticks; 2], [None, ticks]];
    let made: Vec<Made> = (0..).zip(ways).map(|(at, by)| own(at, by)).collect();
    let (_root, dirs) = directories(&made);
    let asked = || Options { metric: Some("cost".to_owned()), ..Options::default() };
    let of = |before: &[usize], after: &[usize]| {
        let all: Vec<&Path> = before.iter().map(|at| dirs[*at].as_path()).collect();
        let after = after.iter().map(|at| dirs[*at].clone()).collect();
        let said = text(&compared(&all, Options { after, ..asked() }));
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // One directory; before and after; campaigns of one experiment; three before and three after.
    for said in [of(&[6], &[]), of(&[0, 3], &[]), of(&[0, 1, 3], &[]), of(&[0, 1, 2], &[3, 4, 5])] {
        assert!(said.contains("they are two quantities"), "{said}");
        assert!(!said.contains("slower by") && !said.contains("faster by"), "{said}");
    }
    // Taken in one way they are compared.
    for said in [of(&[3], &[]), of(&[0, 1], &[]), of(&[3, 4, 5], &[]), of(&[0, 1], &[2])] {
        assert!(!said.contains("two quantities"), "{said}");
    }
    // Beside a file, which says no more than that its values are a cost.
    let table = dirs[0].with_file_name("costs.csv");
    std::fs::write(&table, "variant,group,device cost [ns/frame]\nnew,inet,99\nnew,inet,101\n")
        .unwrap();
    let beside = |dir: &Path| {
        let sources = vec![dir.to_owned(), table.clone()];
        fwdlab_compare::compare(&Options { sources, ..asked() }, &mut std::io::empty())
    };
    let names = |all: Compared| -> Vec<String> {
        all.groups[0].series.iter().map(|own| own.name.clone()).collect()
    };
    assert_eq!(names(beside(&dirs[0]).unwrap()), ["radix", "modular", "new"]);
    assert_eq!(names(beside(&dirs[3]).unwrap()), ["radix", "modular"]);
}

/// Beside a file of other figures nothing was left of a campaign's checks: "faster" was said of trials whose
/// processors others had.
#[test]
fn a_campaign_beside_a_file_is_what_its_report_says() {
    let figures =
        |cost: f64| Figures { cost, core_share: 0.1, limit: LimitedBy::Generator, ..USUAL };
    let made = Made::of(&[[figures(100.0), figures(80.0)]; 8]);
    let (_root, dirs) = directories(&[made]);
    let file = dirs[0].with_file_name("other.pps");
    std::fs::write(&file, "1\n2\n3\n").unwrap();
    let alone = compared(&[&dirs[0]], Options::default());
    let beside = compared(&[&dirs[0], &file], Options::default());
    assert_eq!(alone.groups[0].judgements[0].verdict.word(), "invalid");
    let said = |all: &Compared| {
        let own = &all.groups[0].judgements[0];
        (own.verdict.word(), own.findings.clone(), own.sentence.clone())
    };
    assert_eq!(said(&beside), said(&alone));
    assert_eq!(beside.groups.len(), alone.groups.len());
}

/// "Slower by 23 %" was said of a campaign whose processors others had all the time: of both sides that is no more than
/// half.
#[test]
fn before_and_after_are_not_compared_where_others_had_the_processors_of_one_side() {
    let taken = |made: Made| {
        let figures = made.figures.into_iter();
        Made { figures: figures.map(|own| Figures { core_share: 0.1, ..own }).collect(), ..made }
    };
    let sides = [faster(1.2, 8, 0), taken(faster(0.9, 8, 1)), faster(0.9, 8, 2)];
    let (_root, dirs) = directories(&sides);
    let said = |after: &Path| {
        let options = Options { is_single_campaign: true, ..Options::default() };
        let all = compared(&[&dirs[0], after], options);
        let words = all.groups.iter().map(|own| own.judgements[0].verdict.word());
        words.collect::<Vec<_>>()
    };
    assert_eq!(said(&dirs[1]), ["invalid", "invalid"]);
    assert!(!said(&dirs[2]).contains(&"invalid"));
}

/// In a group that it shared with a file a campaign lost its blocks and its checks: trials whose processors others had
/// were "faster", and so they were beside the file's.
#[test]
fn a_campaign_that_shares_a_group_with_a_file_keeps_its_checks() {
    let at = |core_share: f64, factor: f64, file: &str, order: [usize; 2]| {
        let figures = |at: usize, factor: f64| Figures {
            rate: (4e6 + 1e4 * at as f64) * factor,
            core_share,
            ..USUAL
        };
        let block = |at: usize| [figures(at, 1.0), figures(at, factor)];
        let made = Made::of(&(0..8).map(block).collect::<Vec<_>>());
        let (root, dirs) = directories(&[made]);
        let path = dirs[0].with_file_name("other.csv");
        std::fs::write(&path, file).unwrap();
        let sources = [&dirs[0], &path];
        let alone = compared(&[&dirs[0]], Options::default());
        let beside = compared(&order.map(|at| sources[at].as_path()), Options::default());
        drop(root);
        (alone, beside)
    };
    let row = |name: &str, add: u32| -> String {
        (0..8).map(|at| format!("{name},inet,{}\n", 4_000_000 + 10_000 * at + add)).collect()
    };
    let file = |name: &str| format!("variant,traffic,forwarding rate (frames/s)\n{}", row(name, 1));
    // what the report says of the campaign is said beside a file, whatever its variants are called
    for name in ["other", "modular"] {
        let (alone, beside) = at(1.0, 1.001, &file(name), [0, 1]);
        // the costs are the campaign's alone
        let group = beside.groups.iter().find(|own| own.unit == "frames/s").unwrap();
        let (own, wanted) = (&group.judgements[0], &alone.groups[0].judgements[0]);
        assert_eq!((group.series.len(), own.comparison.clone()), (3, wanted.comparison.clone()));
        assert!(own.comparison.as_ref().unwrap().method.is_blocked(), "{own:?}");
        assert!(own.sentence.ends_with(&wanted.sentence), "{}", own.sentence);
        assert_eq!(own.variant, group.series[1].name);
        assert_ne!(group.judgements[1].verdict.word(), "invalid");
    }
    let (alone, beside) = at(0.1, 1.3, &file("other"), [0, 1]);
    let group = beside.groups.iter().find(|own| own.unit == "frames/s").unwrap();
    let [own, other] = &group.judgements[..] else { panic!("two judgements") };
    assert_eq!(own.findings, alone.groups[0].judgements[0].findings);
    for (side, own) in [("its own", own), ("beside the file", other)] {
        assert_eq!(own.verdict.word(), "invalid", "{side}: {}", own.sentence);
        let is_it = |own: &Finding| matches!(own, Finding::CoresTaken { .. });
        assert!(own.findings.iter().any(is_it), "{side}: {:?}", own.findings);
    }
    // and where the file comes first
    let (_, beside) = at(0.1, 1.3, &file("other"), [1, 0]);
    for own in beside.groups.iter().flat_map(|group| &group.judgements) {
        assert_eq!(own.verdict.word(), "invalid", "{}", own.sentence);
    }
}

/// Of a campaign that was killed half way nothing was said but "8 planned, 4 kept", and to look at trials that FAILED.
#[test]
fn a_campaign_that_is_unfinished_is_said_to_be_with_the_command_that_goes_on() {
    let (root, dirs) = directories(&[faster(1.2, 8, 0), faster(1.2, 8, 1)]);
    let file = root.path().join("other.pps");
    std::fs::write(&file, "1\n2\n3\n").unwrap();
    assert_eq!(compared(&[&dirs[0], &dirs[1]], Options::default()).unfinished, []);
    let journal = dirs[0].join("trials.jsonl");
    let lines = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    std::fs::write(&journal, lines[..lines.len() - 3].join("\n") + "\n").unwrap();
    let dir = dirs[0].display();
    let command = format!("fwdlab run {dir}/experiment.toml -o {dir}");
    let wanted = format!("{dir} is unfinished, with 6 of 8 blocks; to go on: {command}");
    for sources in [&[dirs[0].as_path()][..], &[&dirs[0], &dirs[1]], &[&dirs[0], &file]] {
        let all = compared(sources, Options::default());
        let [own] = &all.unfinished[..] else { panic!("{:?}", all.unfinished) };
        assert_eq!(own.to_string(), wanted);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&text(&all)).contains(&words(&wanted)), "{}", text(&all));
        let markdown = fwdlab_compare::render(&all, Format::Markdown).unwrap();
        assert!(String::from_utf8(markdown).unwrap().contains("unfinished"));
    }
    // nothing FAILED that could be looked at
    let said = text(&compared(&[&dirs[0]], Options::default()));
    assert!(said.contains("8 planned, 6 kept") && !said.contains("retry-failed"), "{said}");
}

/// "Equivalent in goodput" was said of rates, and of a goodput that nobody had measured.
#[test]
fn only_what_was_asked_for_and_measured_is_compared() {
    let block = |at: usize| {
        let rate = 4e6 + at as f64;
        [100.0, 130.0].map(|cost| Figures { rate, soak: Some(cost / 10.0), ..USUAL })
    };
    let soak = Made::of(&(0..8).map(block).collect::<Vec<_>>());
    let (_root, dirs) = directories(&[soak]);
    let by = |name: &str| Options { metric: Some(name.to_owned()), ..Options::default() };
    let said = |name: &str| {
        let all = compared(&[&dirs[0]], by(name));
        all.groups[0].judgements[0].sentence.clone()
    };
    let (rate, soak) = (said("rate"), said("soak"));
    assert!(rate.contains("equivalent") && rate.contains("in IPv4 forwarding rate"), "{rate}");
    assert!(soak.contains("better") && soak.contains("time without loss"), "{soak}");
    let options = Options { sources: vec![dirs[0].clone()], ..by("goodput") };
    let error = fwdlab_compare::compare(&options, &mut std::io::empty()).unwrap_err().to_string();
    assert_eq!(error, "no metric `goodput`; there are: rate, cost, soak");
    // of two traffics one was measured by it
    let figures = |soak: f64| [Figures { soak: Some(soak), ..USUAL }, USUAL];
    let block = |at: usize| {
        let [one, other] = [figures(10.0 + at as f64), figures(13.0 + at as f64)];
        [one[0], other[0], one[1], other[1]]
    };
    let both = Made {
        traffics: 2,
        figures: (0..8).flat_map(block).collect(),
        ..Made::of(&[[USUAL; 2]; 8])
    };
    let (_root, dirs) = directories(&[both]);
    let all = compared(&[&dirs[0]], by("soak"));
    let names: Vec<&str> = all.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["inet"]);
}

/// "Slower by 20 %" was said of another processor, another build, other routes, without a word of them.
#[test]
fn what_campaigns_differ_in_beside_the_change_is_said() {
    let (_root, dirs) = directories(&[faster(1.0, 8, 0), faster(1.0, 8, 1), faster(1.0, 8, 2)]);
    let dirs: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
    let environment = |dir: &Path, profile: &str| {
        let mut own = Environment::default();
        own.machine.processor = "one".to_owned();
        own.fwdlab.profile = profile.to_owned();
        std::fs::write(dir.join("environment.json"), serde_json::to_vec(&own).unwrap()).unwrap();
    };
    dirs.iter().for_each(|dir| environment(dir, "release"));
    for sources in [&dirs[..2], &dirs[..]] {
        assert!(compared(sources, Options::default()).apart.is_empty());
    }
    environment(dirs[1], "debug");
    for sources in [&dirs[..2], &dirs[..]] {
        let all = compared(sources, Options::default());
        assert_eq!(all.apart.len(), 1, "{:?}", all.apart);
        let said = text(&all).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("run-2 differ in what they ran on"), "{said}");
        assert!(said.contains("(release), ") && said.contains("(debug)"), "{said}");
        assert!(said.contains("debug build of fwdlab, whose figures mean little: "), "{said}");
    }
    // Beside a plain file nothing of it was said.
    let file = dirs[0].with_file_name("other.pps");
    std::fs::write(&file, "1\n2\n3\n").unwrap();
    let all = compared(&[dirs[0], dirs[1], &file], Options::default());
    assert_eq!((all.apart.len(), all.debug_builds.len()), (1, 1), "{:?}", all.apart);
    let all = compared(&[dirs[1], &file], Options::default());
    assert_eq!((all.apart.len(), all.debug_builds.len()), (0, 1), "{:?}", all.debug_builds);
    let other = vec![dirs[1].to_owned()];
    let all = compared(&dirs[2..], Options { after: other, ..Options::default() });
    assert_eq!(all.apart.len(), 1, "{:?}", all.apart);
}

#[test]
fn another_traffic_after_a_change_is_no_effect_of_it() {
    let long = |seed: usize| {
        let mut made = faster(1.0, 8, seed);
        made.figures
            .iter_mut()
            .for_each(|own| (own.frame_bytes, own.rate) = (1518, own.rate * 0.6));
        made
    };
    let all: Vec<Made> = (0..3).map(|at| faster(1.0, 8, at)).chain((3..6).map(long)).collect();
    let (_root, dirs) = directories(&all);
    let options = Options { after: dirs[3..].to_vec(), ..Options::default() };
    let dirs: Vec<&Path> = dirs[..3].iter().map(PathBuf::as_path).collect();
    let own = &compared(&dirs, options).groups[0].judgements[0];
    assert_eq!(own.verdict.word(), "invalid", "{}", own.sentence);
    assert!(own.sentence.contains("frames of 1518 bytes"), "{}", own.sentence);
}
