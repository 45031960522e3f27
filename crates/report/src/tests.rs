//! The report as a whole, on made-up results.

#[cfg(feature = "png")]
mod browser;
mod causes;
mod earlier;
pub(crate) mod example;
mod golden;
mod sections;
mod unlike;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::build::Build;
use super::{Difference, check, terminal, write};
use fwdlab_claims::claim::{Claims, resolve};
use fwdlab_claims::claims;
use fwdlab_results::{Link, Metric, Results, Status, environment::Environment};

fn directory(mut results: Results) -> (tempfile::TempDir, Results) {
    let dir = tempfile::tempdir().unwrap();
    example::write(&mut results, dir.path());
    (dir, results)
}

fn bytes(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(bytes(&path));
        } else {
            files.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    files.sort();
    files
}

fn read(dirs: &[impl AsRef<Path>]) -> Vec<Results> {
    dirs.iter().map(|dir| Results::read(dir.as_ref()).unwrap()).collect()
}

#[test]
fn second_report_is_the_same_byte_for_byte() {
    let (dir, results) = directory(example::doubtful());
    write(dir.path(), &results).unwrap();
    let first = bytes(dir.path());
    write(dir.path(), &Results::read(dir.path()).unwrap()).unwrap();
    assert!(first == bytes(dir.path()));
    assert_eq!(derived(&Results::read(dir.path()).unwrap()), vec![]);
}

/// A grid over frame lengths had "Simple IMIX" on its right, too.
#[test]
fn throughput_of_a_mix_is_said_beside_rates_of_smallest_frames_only() {
    let graph = |results: Results| {
        let (dir, results) = directory(results);
        write(dir.path(), &results).unwrap();
        fs::read_to_string(dir.path().join("graph.svg")).unwrap()
    };
    assert!(graph(example::published()).contains("Simple IMIX"));
    let mut larger = example::published();
    larger.trials[0].frame_bytes = 512;
    assert!(!graph(larger).contains("IMIX"));
}

/// Experiments may not have such names; results of others may.
#[test]
fn series_whose_names_meet_have_files_of_their_own() {
    let mut results = example::doubtful();
    let renamed = |name: &str| {
        match name {
            "radix" => "a.b",
            "modular" => "a",
            "inet" => "c",
            _ => "b.c",
        }
        .to_owned()
    };
    for trial in &mut results.trials {
        (trial.variant, trial.traffic) = (renamed(&trial.variant), renamed(&trial.traffic));
    }
    let campaign = &mut results.campaign;
    campaign.baseline = renamed(&campaign.baseline);
    for name in campaign.variants.iter_mut().chain(&mut campaign.traffics) {
        *name = renamed(name);
    }
    let (dir, results) = directory(results);
    write(dir.path(), &results).unwrap();
    let mut names: Vec<String> = bytes(&dir.path().join("netbenches"))
        .into_iter()
        .map(|(path, _)| path.rsplit_once('/').unwrap().1.to_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["a.b.b.c.pps", "a.b.c-2.pps", "a.b.c.pps", "a.c.pps"]);
    assert_eq!(derived(&Results::read(dir.path()).unwrap()), vec![]);
}

#[test]
fn three_lengths_of_frames_are_a_curve_and_two_traffics_are_none() {
    let (dir, results) = directory(example::with_lengths());
    write(dir.path(), &results).unwrap();
    let svg = fs::read_to_string(dir.path().join("curve.svg")).unwrap();
    for label in ["Rate over frame length in bytes", ">64<", ">512<", ">1518<", ">modular<"] {
        assert!(svg.contains(label), "{label}: {svg}");
    }
    let page = fs::read_to_string(dir.path().join("index.html")).unwrap();
    assert!(page.contains("id=\"figure-curve\"") && page.contains("inet-1518, IPv4: "), "{page}");
    let (dir, results) = directory(example::results(&example::TWO, 8));
    write(dir.path(), &results).unwrap();
    assert!(!dir.path().join("curve.svg").exists());
}

#[test]
fn check_names_the_file_that_was_edited() {
    let (dir, results) = directory(example::results(&example::TWO, 8));
    write(dir.path(), &results).unwrap();
    let readme = dir.path().join("README.md");
    let text = fs::read_to_string(&readme).unwrap();
    fs::write(&readme, text.replace("faster", "much faster")).unwrap();
    fs::remove_file(dir.path().join("gnuplot.data")).unwrap();
    let found = derived(&Results::read(dir.path()).unwrap());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(matches!(&found[0], Difference::Line { file, .. } if file == "README.md"));
    assert_eq!(found[1], Difference::Missing { file: "gnuplot.data".to_owned() });
}

/// What [`check`] says of derived files. The made-up journals here follow from no seed and no rule,
/// and it says so; whole journals are in the campaign's tests.
fn derived(results: &Results) -> Vec<Difference> {
    let found = check(results).unwrap();
    found.into_iter().filter(|d| !matches!(d, Difference::Journal(_))).collect()
}

/// A build that leaves something out and one that does not check each other's reports. (Where this
/// build leaves it out itself, it draws no more than the other.)
#[test]
fn a_report_holds_before_builds_that_draw_more_or_less() {
    let builds =
        [(true, true), (true, false), (false, true), (false, false)].map(|(png, flame)| {
            let Build { draws_pictures, draws_flames } = Build::THIS;
            Build { draws_pictures: draws_pictures && png, draws_flames: draws_flames && flame }
        });
    for writer in builds {
        let (dir, results) = directory(example::results(&example::TWO, 8));
        example::write_profiles(&results, dir.path());
        let files = super::render::files(&results, &claims(&results).unwrap(), writer).unwrap();
        super::write::put(dir.path(), &files).unwrap();
        let readme = fs::read_to_string(dir.path().join("README.md")).unwrap();
        assert_ne!(readme.contains(super::flame::LEFT_OUT), writer.draws_flames);
        for reader in builds {
            let found = |results: &Results| -> Vec<Difference> {
                let all = super::check::check_by(results, reader).unwrap().into_iter();
                all.filter(|d| !matches!(d, Difference::Journal(_))).collect()
            };
            let results = Results::read(dir.path()).unwrap();
            assert_eq!(found(&results), vec![], "{writer:?} wrote, {reader:?} checks");
            let edited = readme.replace("faster", "much faster");
            fs::write(dir.path().join("README.md"), edited).unwrap();
            let seen = found(&results);
            assert!(
                matches!(&seen[..], [Difference::Line { is, .. }] if is.contains("much faster")),
                "{writer:?} wrote, {reader:?} checks: {seen:?}"
            );
            fs::write(dir.path().join("README.md"), &readme).unwrap();
        }
    }
}

/// As a build with everything leaves them beside a report.
#[test]
fn pictures_that_this_build_does_not_draw_belong_to_the_report() {
    let (dir, results) = directory(example::results(&example::TWO, 8));
    example::write_profiles(&results, dir.path());
    let bare = Build { draws_pictures: false, draws_flames: false };
    let files = super::render::files(&results, &claims(&results).unwrap(), bare).unwrap();
    super::write::put(dir.path(), &files).unwrap();
    let drawn = ["flame-radix.inet.svg", "graph.png"];
    for name in drawn {
        fs::write(dir.path().join(name), "drawn").unwrap();
    }
    let results = Results::read(dir.path()).unwrap();
    let found = super::check::check_by(&results, bare).unwrap();
    assert!(found.iter().all(|d| matches!(d, Difference::Journal(_))), "{found:?}");
    let unchecked = super::check::unchecked_by(&results, bare).unwrap();
    let unchecked = unchecked.last().unwrap().to_string();
    assert!(unchecked.starts_with(&drawn.join(", ")), "{unchecked}");
}

#[test]
fn check_names_files_that_do_not_belong_there() {
    let (dir, results) = directory(example::results(&example::TWO, 8));
    write(dir.path(), &results).unwrap();
    example::write_profiles(&results, dir.path());
    for known in ["notes.md", "README.md.part", ".gitignore", "trials.jsonl.torn"] {
        fs::write(dir.path().join(known), "").unwrap();
    }
    fs::create_dir(dir.path().join("console")).unwrap();
    for file in ["trials.csv", "netbenches/other.pps", "console/b01.txt"] {
        fs::write(dir.path().join(file), "1\n").unwrap();
    }
    write(dir.path(), &results).unwrap();
    let unknown = ["netbenches/other.pps", "trials.csv"]
        .map(|file| Difference::Unknown { file: file.to_owned() });
    assert_eq!(derived(&Results::read(dir.path()).unwrap()), unknown);
}

#[test]
fn claim_about_another_variants_trials_does_not_resolve() {
    let results = example::results(&example::TWO, 8);
    let mutated = |change: fn(&mut Claims)| {
        let mut claims = claims(&results).unwrap();
        change(&mut claims);
        resolve(&claims, &results)
    };
    assert!(mutated(|_| {}).is_empty());
    assert!(
        mutated(|c| c.cells[0].variant = "modular".to_owned())[0]
            .detail
            .contains("is of inet/radix")
    );
    assert!(
        mutated(|c| c.cells[0].kept[0] = "b99-inet-radix".to_owned())[0]
            .detail
            .contains("does not exist")
    );
    assert!(
        mutated(|c| c.cells[1].rate.as_mut().unwrap().median += 1.0)[0]
            .detail
            .contains("rate is stated")
    );
    assert!(mutated(|c| c.verdicts[0].pairs.swap(0, 1)).is_empty());
    assert!(
        !mutated(|c| {
            c.verdicts[0].pairs.pop();
        })
        .is_empty()
    );
}

#[test]
fn figure_with_swapped_labels_is_refused() {
    let results = example::results(&example::TWO, 8);
    let claims = claims(&results).unwrap();
    let mut chart = super::chart::Charts::of(&claims, &results).base;
    let draw = |chart: &fwdlab_figures::Chart| fwdlab_figures::bars(chart).into_document("t", "");
    fwdlab_figures::verify(&draw(&chart), "graph.svg", (&results, Metric::Rate)).unwrap();
    let series = &mut chart.traffics[0].series;
    let name = series[0].variant.clone();
    series[0].variant = std::mem::replace(&mut series[1].variant, name);
    let error =
        fwdlab_figures::verify(&draw(&chart), "graph.svg", (&results, Metric::Rate)).unwrap_err();
    assert!(error.to_string().starts_with("graph.svg: it shows "), "{error}");
}

#[test]
fn failed_trials_are_shown_and_counted() {
    let (_dir, mut results) = directory(example::doubtful());
    for trial in
        results.trials.iter_mut().filter(|t| t.variant == "modular" && t.traffic == "inet6")
    {
        trial.status = Status::Failed;
        trial.reason = Some("no frame came back".to_owned());
        trial.measured.proof.insert("net.inet6.ip6.forwarding".to_owned(), "0".to_owned());
    }
    // What was read back of them is all that is known of the variant.
    let all = claims(&results).unwrap();
    let cell = all.cells.iter().find(|c| c.variant == "modular" && c.traffic == "inet6").unwrap();
    assert_eq!(cell.proof["net.inet6.ip6.forwarding"], "0");
    let text = terminal(&results, 100, false);
    assert!(text.contains("FAILED: b01-inet6-modular, b02-inet6-modular"), "{text}");
    assert!(text.contains("0 of 8"), "{text}");
    assert!(text.contains("invalid: "), "{text}");
}

/// "Nothing read back from the device for b" stood where all trials of b had FAILED before it was asked.
#[test]
fn what_failed_before_it_was_asked_is_not_said_to_answer_nothing() {
    let proof = |has_failed: bool| {
        let mut results = example::results(&example::TWO, 8);
        for trial in results.trials.iter_mut().filter(|trial| trial.variant == "modular") {
            trial.measured.proof.clear();
            if has_failed {
                trial.status = Status::Failed;
                trial.reason = Some("no frame came back".to_owned());
            }
        }
        let (_dir, results) = directory(results);
        let badges = claims(&results).unwrap().badges;
        badges.into_iter().find(|badge| badge.name == "proof of change").unwrap().text
    };
    assert_eq!(proof(false), "nothing read back from the device for modular");
    assert_eq!(proof(true), "no trial that counts, and so nothing read back, of modular");
}

/// "No stray run" and "the device dropped no frame in the kept trials" were said of none.
#[test]
fn of_no_kept_trial_nothing_is_said() {
    let mut results = example::results(&example::TWO, 8);
    for trial in &mut results.trials {
        trial.status = Status::Failed;
        trial.reason = Some("no frame came back".to_owned());
    }
    let (dir, results) = directory(results);
    write(dir.path(), &results).unwrap();
    for file in ["README.md", "index.html"] {
        let page = fs::read_to_string(dir.path().join(file)).unwrap();
        assert!(page.contains("0 kept") && page.contains("no trial was kept"), "{page}");
        // Times that all FAILED were "median pps ... of 1 Gb/s".
        assert!(!page.contains("median pps") && !page.contains("of 1 Gb/s"), "{page}");
        assert!(!page.contains("stray run") && !page.contains("dropped no frame"), "{page}");
    }
    let terminal = terminal(&results, 100, false);
    assert!(!terminal.contains("stray run") && !terminal.contains("dropped no"), "{terminal}");
}

#[test]
fn unfinished_campaign_says_so() {
    let mut results = example::results(&example::TWO, 8);
    results.trials.truncate(20);
    results.finished = None;
    let text = terminal(&results, 80, false);
    assert!(text.contains("20 of 32 trials are recorded"), "{text}");
}

#[test]
fn campaign_without_a_trial_has_a_report() {
    let mut results = example::results(&example::TWO, 8);
    results.trials.clear();
    results.finished = None;
    let (dir, results) = directory(results);
    write(dir.path(), &results).unwrap();
    assert_eq!(derived(&Results::read(dir.path()).unwrap()), vec![]);
}

#[test]
fn terminal_keeps_running_text_within_its_width() {
    let text = terminal(&example::doubtful(), 80, false);
    for line in text.lines().filter(|l| !l.contains("  ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn no_percentage_stands_beside_an_unproven_difference() {
    let mut results = example::results(&example::TWO, 8);
    let mut noise = example::Noise::new(3);
    for trial in &mut results.trials {
        let rate = 4e6 * (1.0 + 0.02 * noise.next());
        trial.rate_pps = Some(rate);
    }
    let claims = claims(&results).unwrap();
    for verdict in &claims.verdicts {
        assert_eq!(verdict.verdict.word(), "inconclusive");
        assert!(verdict.sentence.contains("proven neither different"), "{}", verdict.sentence);
    }
}

#[test]
fn notes_are_checked_against_the_data() {
    let (dir, results) = directory(example::results(&example::TWO, 8));
    fs::write(dir.path().join("notes.md"), example::NOTES).unwrap();
    write(dir.path(), &results).unwrap();
    let text = fs::read_to_string(dir.path().join("README.md")).unwrap();
    let doubts: Vec<&str> = text.lines().filter(|l| l.starts_with("> warning: ")).collect();
    let wanted = [
        "notes.md:2: 1.448 Mpps is no figure",
        "notes.md:3: 7.0 % is said to be faster, but",
        "notes.md:4: \"no impact\", but modular is slower",
        "notes.md:5: 12.5 ns is no figure",
    ];
    assert_eq!(doubts.len(), wanted.len(), "{doubts:#?}");
    for (doubt, start) in doubts.iter().zip(wanted) {
        assert!(doubt.contains(start), "{doubt}");
    }
}

/// A true number beside the wrong name, family or direction is a false sentence.
#[test]
fn a_figure_in_the_notes_must_be_of_what_its_sentence_names() {
    let (_dir, results) = directory(example::results(&example::TWO, 8));
    let claims = claims(&results).unwrap();
    let doubts = |text: &str| super::prose::check(text, "notes.md", &claims);
    let effect = |traffic: &str| {
        let own = claims.verdicts.iter().find(|v| v.traffic == traffic).unwrap();
        own.rate.as_ref().unwrap().estimate.ratio()
    };
    let rate = |variant: &str, traffic: &str| {
        let mut cells = claims.cells.iter();
        let cell = cells.find(|c| c.variant == variant && c.traffic == traffic).unwrap();
        fwdlab_results::units::rate(cell.rate.as_ref().unwrap().median)
    };
    let percent = |ratio: f64| format!("{:.1} %", (ratio - 1.0).abs() * 100.0);
    let (up, down) = (percent(effect("inet")), percent(effect("inet6")));
    let turned = percent(1.0 / effect("inet"));
    for text in [
        format!("modular is {up} faster than radix on IPv4."),
        format!("On IPv4 modular is faster than\nradix by {up}, on IPv6 it is {down} slower."),
        format!("Compared to radix, modular loses {down} on IPv6."),
        format!("radix is {turned} slower than modular on IPv4."),
        format!(
            "radix forwards {} on IPv4 and {} on IPv6.",
            rate("radix", "inet"),
            rate("radix", "inet6")
        ),
        format!("| modular | {} |\n| radix | {} |", rate("modular", "inet"), rate("radix", "inet")),
    ] {
        assert_eq!(doubts(&text), Vec::<String>::new(), "{text}");
    }
    for (text, wanted) in [
        (format!("modular is {up} faster than radix on IPv6."), "of modular, radix, IPv6, but"),
        (format!("radix is {up} faster than modular on IPv4."), "of radix, modular, IPv4, but"),
        (format!("radix is {turned} faster than modular on IPv4."), "is said to be faster, but"),
        (format!("modular is {up} slower than radix on IPv4."), "is said to be slower, but"),
        (format!("radix is {turned}\nfaster than modular on IPv6."), "notes.md:1: "),
        (
            format!("radix forwards {} on IPv4.", rate("modular", "inet")),
            "of radix, IPv4, but rate of modular",
        ),
        (format!("radix forwards\n{} on IPv6.", rate("radix", "inet")), "notes.md:2: "),
    ] {
        let found = doubts(&text);
        assert!(found.len() == 1 && found[0].contains(wanted), "{text}: {found:#?}");
    }
}

#[test]
fn numbers_of_our_own_readme_are_figures_of_the_report() {
    for results in [example::results(&example::TWO, 8), example::results(&example::FOUR, 12)] {
        let (dir, results) = directory(results);
        write(dir.path(), &results).unwrap();
        let readme = fs::read_to_string(dir.path().join("README.md")).unwrap();
        let sentences: String = readme
            .lines()
            .filter(|l| l.starts_with("=>") || l.starts_with("   "))
            // each a paragraph of its own, as it stands there
            .fold(String::new(), |all, line| match line.strip_prefix("=>") {
                Some(begin) => all + "\n\n" + begin.trim_start() + " ",
                None => all + line.trim_start() + " ",
            });
        let found = super::prose::check(&sentences, "README.md", &claims(&results).unwrap());
        assert_eq!(found, Vec::<String>::new());
    }
}

#[test]
fn profile_that_missed_the_load_is_refused() {
    let (dir, results) = directory(example::results(&example::TWO, 8));
    example::write_profiles(&results, dir.path());
    let about = dir.path().join("profiles/modular.inet.json");
    fs::write(&about, r#"{"profiler":"p","rate_pps":1000000.0}"#).unwrap();
    fs::write(dir.path().join("profiles/other.inet.folded"), "a;b 3\n").unwrap();
    write(dir.path(), &results).unwrap();
    let text = fs::read_to_string(dir.path().join("README.md")).unwrap();
    assert!(text.contains(
        "profiles/modular.inet.folded: refused: the profiled trial forwarded 1.000 Mpps"
    ));
    assert!(text.contains("profiles/other.inet.folded belongs to no variant"));
    let drawn = Build::THIS.draws_flames;
    assert_eq!(dir.path().join("flame-radix.inet.svg").exists(), drawn);
    assert!(!dir.path().join("flame-modular.inet.svg").exists());
    assert_eq!(dir.path().join("flame-modular-against-radix.inet6.svg").exists(), drawn);
    assert_eq!(derived(&Results::read(dir.path()).unwrap()), vec![]);
}

/// The report ended with "unsorted input lines detected", or the frames above such a name were in two pieces.
#[test]
fn names_with_signs_before_a_semicolon_are_drawn_in_one_piece() {
    if !Build::THIS.draws_flames {
        eprintln!(
            "SKIPPED names_with_signs_before_a_semicolon: flame graphs were left out of this build"
        );
        return;
    }
    let (dir, results) = directory(example::results(&example::TWO, 8));
    example::write_profiles(&results, dir.path());
    for (variant, lookup) in [("radix", 900), ("modular", 700)] {
        let text = format!(
            "a;fib::lookup;node {lookup}\na;fib::lookup-cold 300\na;fib::lookup 200\na;fib::lookup(1);x 90\n"
        );
        fs::write(dir.path().join(format!("profiles/{variant}.inet.folded")), text).unwrap();
    }
    write(dir.path(), &results).unwrap();
    let picture = dir.path().join("flame-modular-against-radix.inet.svg");
    let picture = fs::read_to_string(picture).unwrap();
    assert_eq!(picture.matches("<title>fib::lookup (").count(), 1, "{picture}");
}

#[test]
fn page_stays_below_two_megabytes_for_320_trials() {
    let (dir, results) = directory(example::results(&example::FOUR, 40));
    example::write_profiles(&results, dir.path());
    write(dir.path(), &results).unwrap();
    let size = fs::metadata(dir.path().join("index.html")).unwrap().len();
    assert!(size < 2_000_000, "{size} bytes");
}

#[test]
fn commit_message_keeps_to_72_columns() {
    let text = super::commit(&example::doubtful()).unwrap();
    assert!(text.lines().all(|l| l.chars().count() <= 72), "{text}");
}

#[test]
fn variant_without_trials_does_not_take_the_others_with_it() {
    let mut results = example::results(&example::FOUR, 8);
    for trial in results.trials.iter_mut().filter(|t| t.variant == "dxr") {
        trial.status = Status::Failed;
    }
    let claims = claims(&results).unwrap();
    let word = |variant: &str| {
        claims.verdicts.iter().find(|v| v.variant == variant).unwrap().verdict.word()
    };
    assert_eq!((word("bsearch"), word("dxr")), ("faster", "invalid"));
}

#[test]
fn synthesis_refuses_to_mix_traffic_silently() {
    use super::synthesis::{Synthesis, write as write_synthesis};
    let (a, _) = directory(example::results(&example::TWO, 8));
    let mut other = example::results(&example::TWO, 8);
    for trial in other.trials.iter_mut().filter(|t| t.traffic == "inet") {
        trial.flows_planned = Some(200);
        trial.measured.flows_seen = Some(200);
    }
    let (b, _) = directory(other);
    let dirs = [a.path().to_owned(), b.path().to_owned()];
    let error = Synthesis::of(read(&dirs), false).unwrap_err();
    assert!(error.to_string().contains("inet as 200 flows"), "{error}");
    let synthesis = Synthesis::of(read(&dirs), true).unwrap();
    assert_eq!(synthesis.warnings.len(), 1, "{:?}", synthesis.warnings);
    assert!(synthesis.columns[0].label != synthesis.columns[1].label);
    let out = tempfile::tempdir().unwrap();
    write_synthesis(&synthesis, out.path()).unwrap();
    let text = fs::read_to_string(out.path().join("README.md")).unwrap();
    assert!(text.contains("warning: ") && text.contains(" %, "), "{text}");
    assert!(out.path().join("inet6.svg").exists());
    assert_eq!(out.path().join("inet6.png").exists(), Build::THIS.draws_pictures);
}

#[test]
fn synthesis_of_pages_with_other_titles_has_a_title_of_its_own() {
    use super::synthesis::{Synthesis, write as write_synthesis};
    let titled = |title: &str| {
        let mut results = example::results(&example::TWO, 8);
        results.campaign.title = title.to_owned();
        directory(results).0
    };
    let title = |titles: [&str; 3]| {
        let made = titles.map(titled);
        let made =
            Synthesis::of(read(&made.each_ref().map(|dir| dir.path().to_owned())), true).unwrap();
        let out = tempfile::tempdir().unwrap();
        write_synthesis(&made, out.path()).unwrap();
        let readme = fs::read_to_string(out.path().join("README.md")).unwrap();
        (made.title, readme.lines().next().unwrap().to_owned())
    };
    let own = |title: &str, head: &str| (title.to_owned(), head.to_owned());
    // "6 campaigns on 4 machines: 6 machines" stood above a page.
    assert_eq!(
        title(["Impact of D1", "Impact of D1", "Impact of D1"]),
        own("Impact of D1", "# Impact of D1: 3 campaigns on one machine")
    );
    assert_eq!(
        title(["Impact of D1", "Impact of D2", "Impact of D3"]),
        own("3 campaigns on one machine", "# 3 campaigns on one machine")
    );
}

/// "of N Gb/s" and "limited by" were explained below tables that have no such column.
#[test]
fn the_legend_speaks_of_columns_that_are_there() {
    let legend = |results: &Results| super::table::legend(&claims(results).unwrap());
    let plain = legend(&example::results(&example::TWO, 8));
    for column in ["ns/frame: ", "of N Gb/s: ", "CV: ", "limited by: "] {
        assert!(plain.contains(column), "{column}: {plain}");
    }
    let mut results = without_speeds();
    let own = legend(&results);
    assert!(own.contains("forwarded: ") && own.ends_with("beside the measure."), "{own}");
    assert!(!own.contains("ns/frame: ") && !own.contains("Gb/s") && !own.contains("limited"));
    results.trials.clear();
    legend(&results);
}

/// Figures of their own that are no speeds: bursts, times without loss or without forwarding.
fn without_speeds() -> Results {
    let mut results = example::with_benchmarks();
    results.trials.retain(|trial| !trial.traffic.ends_with("loss-curve"));
    results.campaign.traffics.retain(|traffic| !traffic.ends_with("loss-curve"));
    results.campaign.trials = results.trials.iter().map(|trial| trial.id.clone()).collect();
    results
}

/// What a reader sees: not the classes of the page's style.
fn of_speed(text: &str) -> Vec<&str> {
    let is_speed = |line: &&str| line.contains("faster") || line.contains("slower");
    text.lines().filter(is_speed).filter(|line| !line.starts_with(".verdict.")).collect()
}

#[test]
fn figures_that_are_no_speeds_are_better_and_never_faster() {
    let (dir, results) = directory(without_speeds());
    write(dir.path(), &results).unwrap();
    for name in ["README.md", "index.html", "forest.svg"] {
        let text = fs::read_to_string(dir.path().join(name)).unwrap();
        assert!(text.contains("better"), "{name}: {text}");
        assert_eq!(of_speed(&text), [""; 0], "{name}");
    }
}

/// A column of dashes pushed the others from the page.
#[test]
fn a_measure_without_a_limit_has_no_column_for_it() {
    let (dir, results) = directory(without_speeds());
    write(dir.path(), &results).unwrap();
    let readme = fs::read_to_string(dir.path().join("README.md")).unwrap();
    let heads: Vec<&str> = readme.lines().filter(|line| line.starts_with("| inet-")).collect();
    assert!(heads.iter().any(|head| head.contains(" forwarded |")), "{heads:?}");
    assert!(!heads.iter().any(|head| head.contains("limited by")), "{heads:?}");
}

#[test]
fn machines_together_say_better_where_the_figures_are_no_speeds() {
    use super::synthesis::{Synthesis, write as write_synthesis};
    let made = [without_speeds(), without_speeds()].map(directory);
    let environment = made[1].0.path().join("environment.json");
    let text = fs::read_to_string(&environment).unwrap();
    fs::write(&environment, text.replace("Example CPU", "Another CPU")).unwrap();
    let dirs = made.each_ref().map(|(dir, _)| dir.path().to_owned());
    let synthesis = Synthesis::of(read(&dirs), true).unwrap();
    let out = tempfile::tempdir().unwrap();
    write_synthesis(&synthesis, out.path()).unwrap();
    let page = fs::read_to_string(out.path().join("index.html")).unwrap();
    for id in ["machines-0-narrow", "figure-inet-soak-narrow"] {
        assert!(page.contains(&format!("<svg id=\"{id}\" class=\"figure for-phone\"")), "{id}");
    }
    let plot = fs::read_to_string(out.path().join("forest-modular-inet-soak.svg")).unwrap();
    assert!(plot.contains("better +10") && plot.contains("better →"), "{plot}");
    for (name, bytes) in bytes(out.path()) {
        assert_eq!(of_speed(&String::from_utf8_lossy(&bytes)), [""; 0], "{name}");
    }
}

/// A family whose comparison was invalid on one of two machines was missing without a word.
#[test]
fn a_synthesis_says_which_changes_it_leaves_out_and_why() {
    use super::synthesis::{Synthesis, text};
    let whole = example::results(&example::TWO, 8);
    let mut failed = example::results(&example::TWO, 8);
    let is_it = |t: &&mut fwdlab_results::Trial| t.traffic == "inet6" && t.variant == "modular";
    for trial in failed.trials.iter_mut().filter(is_it) {
        trial.status = Status::Failed;
    }
    let made = [whole, failed].map(directory);
    let environment = made[1].0.path().join("environment.json");
    let own = fs::read_to_string(&environment).unwrap();
    fs::write(&environment, own.replace("Example CPU", "Another CPU")).unwrap();
    let dirs = made.each_ref().map(|(dir, _)| dir.path().to_owned());
    let said = text(&Synthesis::of(read(&dirs), true).unwrap());
    let line = said.lines().find(|line| line.starts_with("- inet6, modular: only ")).unwrap();
    assert!(line.contains("%]; left out: ") && line.contains(" (invalid: "), "{line}");
}

/// A machine of 64 cores was left out as "the same machine again" beside one of two with the same processor.
#[test]
fn machines_of_one_processor_and_other_hardware_count_each() {
    use super::synthesis::{Synthesis, text};
    let made = [(); 3].map(|()| directory(example::results(&example::TWO, 8)));
    let environment = made[1].0.path().join("environment.json");
    let mut own = Environment::read(made[1].0.path()).unwrap().unwrap();
    own.machine.cores_online += 62;
    fs::write(&environment, serde_json::to_string(&own).unwrap()).unwrap();
    let dirs = made.each_ref().map(|(dir, _)| dir.path().to_owned());
    let synthesis = Synthesis::of(read(&dirs), true).unwrap();
    let said = text(&synthesis);
    assert!(said.contains("two machines say nothing about a third"), "{said}");
    assert_eq!(
        said.matches(" (the same machine again)").count(),
        synthesis.traffics().len(),
        "{said}"
    );
}

#[test]
fn readme_answers_first_and_proves_below() {
    let (dir, results) = directory(example::results(&example::TWO, 8));
    example::write_profiles(&results, dir.path());
    fs::write(dir.path().join("notes.md"), "Looks good.\n").unwrap();
    write(dir.path(), &results).unwrap();
    let readme = fs::read_to_string(dir.path().join("README.md")).unwrap();
    let page = fs::read_to_string(dir.path().join("index.html")).unwrap();
    let in_order = |text: &str, marks: &[&str]| {
        let places: Vec<Option<usize>> = marks.iter().map(|m| text.find(m)).collect();
        assert!(places.is_sorted() && places[0].is_some(), "{marks:?} at {places:?}");
    };
    in_order(
        &readme,
        &[
            "=> modular is",
            "## Checks",
            "(forest.svg)",
            "## All figures",
            "(graph.svg)",
            "(run-order.svg)",
            "## Flame graphs",
            "Looks good.",
            "## Provenance",
            "## ministat",
        ],
    );
    let sections = ["verdicts", "checks", "forest", "figures", "run-order", "figure-distribution"];
    let sections = sections.into_iter().chain(["flames", "notes", "provenance", "ministat"]);
    let sections: Vec<String> = sections.map(|id| format!(" id=\"{id}\"")).collect();
    in_order(&page, &sections.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn imix_axis_stands_only_where_frames_cross_a_link() {
    let mut results = example::results(&example::TWO, 8);
    let svg = |results: &Results| {
        let (dir, results) = directory(results.clone());
        write(dir.path(), &results).unwrap();
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        (read("graph.svg"), read("cost.svg"))
    };
    assert!(!svg(&results).0.contains("IMIX"));
    results.campaign.about.as_mut().unwrap().link = Link::Veth;
    let (rate, cost) = svg(&results);
    // 4 Mpps carry 4e6 x 2834.67 bits of simple IMIX: ticks in Gb/s.
    assert!(rate.contains("Simple IMIX Ethernet throughput (Gb/s)"));
    assert!(!cost.contains("IMIX"));
}

#[test]
fn refusals_are_shown_where_no_profile_is_left() {
    let (dir, results) = directory(example::results(&example::TWO, 8));
    fs::create_dir(dir.path().join("profiles")).unwrap();
    fs::write(dir.path().join("profiles/other.inet.folded"), "a;b 3\n").unwrap();
    write(dir.path(), &results).unwrap();
    for name in ["README.md", "index.html"] {
        let text = fs::read_to_string(dir.path().join(name)).unwrap();
        assert!(text.contains("belongs to no variant"), "{name}");
    }
}

#[test]
fn published_runs_are_judged_without_blocks_and_not_by_what_nobody_counted() {
    let (dir, results) = directory(example::published());
    fs::remove_file(dir.path().join("experiment.toml")).unwrap();
    fs::remove_file(dir.path().join("environment.json")).unwrap();
    let claims = claims(&results).unwrap();
    let inet = &claims.verdicts[0];
    assert_eq!(inet.verdict.word(), "faster", "{}", inet.sentence);
    assert_eq!(inet.rate.as_ref().unwrap().method, fwdlab_stats::Method::Welch);
    assert!(inet.rank.is_some() && inet.pairs.is_empty());
    assert_eq!(inet.runs.as_ref().map(|[b, v]| (b.len(), v.len())), Some((5, 4)));
    assert!(inet.findings.iter().any(|f| f.to_string().contains("not in randomised blocks")));
    assert!(!claims.badges.iter().any(|b| b.state == fwdlab_claims::claim::State::Bad));
    write(dir.path(), &results).unwrap();
    assert_eq!(derived(&Results::read(dir.path()).unwrap()), vec![]);
    let page = fs::read_to_string(dir.path().join("README.md")).unwrap();
    for nonsense in ["seed ", "default settings", "dropped no frame", "SHA-256", "0 seen", "pinned"]
    {
        assert!(!page.contains(nonsense), "{nonsense}: {page}");
    }
}

#[test]
fn drops_that_nobody_counted_are_not_known_and_not_none() {
    let mut results = example::results(&example::TWO, 8);
    for trial in &mut results.trials {
        trial.measured.drops = None;
    }
    let page = |results: &Results| {
        let (dir, _) = directory(results.clone());
        write(dir.path(), results).unwrap();
        let text = fs::read_to_string(dir.path().join("README.md")).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // The device's other counters are there.
    let text = page(&results);
    assert!(text.contains("what the device dropped is not known"), "{text}");
    assert!(text.contains("What the device dropped is not known"), "{text}");
    assert!(!text.contains("dropped no frame") && !text.contains("0 dropped by"), "{text}");
    // One variant counted, the other did not.
    for trial in results.trials.iter_mut().filter(|trial| trial.variant == "radix") {
        trial.measured.drops = Some(BTreeMap::from([("no-route".to_owned(), 3)]));
    }
    let text = page(&results);
    assert!(text.contains("not counted") && text.contains("no-route"), "{text}");
}

#[test]
fn idle_stacks_are_stated_and_left_out_of_shares() {
    let (dir, results) = directory(example::results(&example::TWO, 8));
    fs::create_dir(dir.path().join("profiles")).unwrap();
    let put = |name: &str, text: &str| fs::write(dir.path().join("profiles").join(name), text);
    put("radix.inet.folded", "swapper;cpu_idle;default_idle 50\nswapper;softirq;lookup 50\n")
        .unwrap();
    put("modular.inet.folded", "swapper;softirq;lookup 25\nswapper;softirq;send 75\n").unwrap();
    write(dir.path(), &results).unwrap();
    let text = fs::read_to_string(dir.path().join("README.md")).unwrap();
    // Beside the graph that leaves them out.
    assert_eq!(text.contains("idle stacks 50.0 %"), Build::THIS.draws_flames, "{text}");
    let before = |name: &str| {
        let row = text.lines().find(|l| l.starts_with(name)).unwrap();
        row.split('|').nth(2).unwrap().trim().to_owned()
    };
    assert_eq!(before("| lookup"), before("| sum"), "the lookup is all that the baseline does");
}

#[test]
fn repeated_trials_are_counted() {
    let mut results = example::results(&example::TWO, 8);
    results.repeated.push(results.trials[0].clone());
    let claims = claims(&results).unwrap();
    assert_eq!(claims.badges[0].text, "32 planned, 32 kept; 1 more did not count and ran again");
}

#[test]
fn published_verdict_on_other_runs_does_not_resolve() {
    let results = example::published();
    let mut claims = claims(&results).unwrap();
    assert!(resolve(&claims, &results).is_empty());
    claims.verdicts[0].runs.as_mut().unwrap()[0].pop();
    assert!(resolve(&claims, &results)[0].detail.contains("not what its runs give"));
}

#[test]
fn published_runs_that_reached_the_offered_load_prove_nothing() {
    let mut results = example::published();
    for trial in &mut results.trials {
        trial.limited_by = fwdlab_results::LimitedBy::Generator;
        for interval in &mut trial.measured.intervals {
            interval.tx = Some(interval.rx);
        }
    }
    let claims = claims(&results).unwrap();
    assert_eq!(claims.verdicts[0].metric, "rate");
    assert!(claims.verdicts[0].sentence.contains("saturated"), "{}", claims.verdicts[0].sentence);
}

#[test]
fn a_core_that_tester_and_device_share_is_stated_and_no_fault_of_the_generator() {
    let mut results = example::results(&example::TWO, 8);
    for trial in &mut results.trials {
        // The more comes back, the less is sent.
        for interval in &mut trial.measured.intervals {
            interval.tx = Some(10_000_000 - interval.rx);
        }
    }
    let sentence = |results: &Results| claims(results).unwrap().verdicts[0].sentence.clone();
    assert!(sentence(&results).contains("generator limit"), "{}", sentence(&results));
    for trial in &mut results.trials {
        trial.measured.environment.device_share =
            Some(if trial.variant == "radix" { 0.6 } else { 0.75 });
        if trial.variant == "radix" {
            trial.limited_by = fwdlab_results::LimitedBy::Core;
        }
    }
    assert!(!sentence(&results).contains("invalid"), "{}", sentence(&results));
    let claims = claims(&results).unwrap();
    assert_eq!(claims.cells[0].limits(), "tester and device");
    let headroom = claims.badges.iter().find(|badge| badge.name == "tester headroom").unwrap();
    assert_eq!(
        headroom.text,
        "in 16 of 32 trials the tester took over a third of the core that it shares with the \
         device: the rate is that of both; the device had 60.0 % to 75.0 % of that core"
    );
    results.trials.retain(|trial| trial.variant != "radix");
    let badges = fwdlab_claims::claims(&results).unwrap().badges;
    let headroom = badges.iter().find(|badge| badge.name == "tester headroom").unwrap();
    assert!(headroom.text.ends_with("the device had 75.0 % to 75.0 % of that core"));
}

/// The badge said that verdicts rested on the cost where no cost was compared.
#[test]
fn the_badge_says_what_verdicts_rest_on_where_costs_were_taken_in_two_ways() {
    let mut results = example::results(&example::TWO, 8);
    for trial in &mut results.trials {
        trial.limited_by = fwdlab_results::LimitedBy::Generator;
    }
    let said = |results: &Results| {
        let own = claims(results).unwrap();
        let badge = own.badges.iter().find(|badge| badge.name == "tester headroom");
        (own.verdicts[0].metric, badge.expect("it is asked").text.clone())
    };
    let (metric, text) = said(&results);
    assert!(
        metric == "cost" && text.ends_with("those verdicts rest on its cost per frame"),
        "{text}"
    );
    let of_second =
        |trial: &&mut fwdlab_results::Trial| trial.variant != "radix" && trial.traffic == "inet";
    for trial in results.trials.iter_mut().filter(of_second) {
        trial.measured.busy_by = Some(fwdlab_results::BusyBy::Ticks);
    }
    let (metric, text) = said(&results);
    assert_eq!(metric, "rate");
    assert!(text.ends_with("1 of those 2 verdicts rest on its cost per frame; in the others its own rate may be higher"), "{text}");
    results.trials.retain(|trial| trial.traffic == "inet");
    results.campaign.traffics.truncate(1);
    let (metric, text) = said(&results);
    assert_eq!(metric, "rate");
    assert!(
        text.ends_with(
            "may be higher there, and costs that were taken in two ways are not compared"
        ),
        "{text}"
    );
}

/// "Limited by tester" stood at a guest's variant whose device took 96 % of all instructions.
#[test]
fn where_tester_and_device_take_turns_neither_is_blamed_and_the_cost_decides() {
    let mut results = example::results(&example::TWO, 8);
    for trial in &mut results.trials {
        trial.measured.environment.takes_turns = true;
        trial.limited_by = fwdlab_results::LimitedBy::Core;
    }
    let badge = |claims: &Claims| {
        let own = claims.badges.iter().find(|badge| badge.name == "tester headroom");
        own.expect("it is asked").text.clone()
    };
    let whole = claims(&results).unwrap();
    let text =
        "tester and device take turns on one processor: verdicts rest on the device's own cost";
    assert_eq!(
        (whole.cells[0].limits().as_str(), badge(&whole).as_str()),
        ("tester and device", text)
    );
    assert_eq!(whole.verdicts[0].metric, "cost");
    assert!(!whole.verdicts[0].sentence.contains("invalid"), "{}", whole.verdicts[0].sentence);
    // Without a cost there is no verdict: the rate is the tester's, who waited, as much as the device's.
    for trial in results.trials.iter_mut().filter(|trial| trial.variant != "radix") {
        trial.measured.busy = None;
        trial.measured.intervals.iter_mut().for_each(|interval| interval.busy = None);
    }
    let less = claims(&results).unwrap();
    assert_eq!(badge(&less), format!("{text}, which is not known in 16 of 32 trials"));
    assert!(less.verdicts[0].sentence.contains("generator limit"), "{}", less.verdicts[0].sentence);
}

#[test]
fn intervals_on_a_slow_processor_are_counted_and_do_not_count() {
    let mut results = example::results(&example::TWO, 8);
    let processor = |results: &Results| {
        let badges = claims(results).unwrap().badges;
        badges.into_iter().find(|badge| badge.name == "processor").map(|badge| badge.text)
    };
    assert_eq!(processor(&results), None);
    for trial in &mut results.trials {
        for interval in &mut trial.measured.intervals {
            interval.slow_share = Some(0.0);
        }
    }
    assert_eq!(processor(&results).unwrap(), "at full speed in every interval");
    let trial = &mut results.trials[0];
    (trial.measured.intervals[3].slow_share, trial.measured.intervals[3].rx) = (Some(0.5), 1);
    assert!(processor(&results).unwrap().ends_with("in 1 trial too few others remained"));
    results.trials[0].steady.as_mut().unwrap().skipped = vec![3];
    let text = processor(&results).unwrap();
    assert!(text.starts_with("the device's processor was slow in 1 of 320 intervals"), "{text}");
    assert!(text.ends_with("these do not count"), "{text}");
}
