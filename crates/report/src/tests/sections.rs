//! The one list of sections: what stands in it stands in the renderings.

use super::super::block::{Block, Heading, Item};
use super::super::build::Build;
use super::super::render::{Report, extras};
use super::super::sections::{
    COMMIT, GITHUB, PAGE, Place, README, Rendering, SECTIONS, Section, TERMINAL,
};
use super::super::source::{Extras, Source};
use super::example;
use fwdlab_claims::{Claims, claims};
use fwdlab_figures::Room;
use fwdlab_results::{Benchmark, Measure, Results, SessionRound, Sessions, Tick};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const RENDERINGS: [Rendering; 5] =
    [Rendering::Readme, Rendering::Page, Rendering::Terminal, Rendering::Commit, Rendering::Github];

/// A made-up campaign with everything that a report is made from.
struct Made {
    results: Results,
    claims: Claims,
    extras: Extras,
    _dir: tempfile::TempDir,
}

impl Made {
    fn of(mut results: Results) -> Self {
        let dir = tempfile::tempdir().unwrap();
        example::write(&mut results, dir.path());
        example::write_profiles(&results, dir.path());
        std::fs::write(dir.path().join("notes.md"), example::NOTES).unwrap();
        let mut claims = claims(&results).unwrap();
        // the samples are written without a chain
        claims.setting.journal_sha256 = Some("5e".repeat(32));
        let extras = extras(&results, &claims, Build::THIS).unwrap();
        Self { results, claims, extras, _dir: dir }
    }

    fn render(&self, sections: &[Section], rendering: Rendering) -> String {
        let Self { results, claims, extras, .. } = self;
        let report = Report { sections, source: Source { claims, results, extras } };
        match rendering {
            Rendering::Readme => report.readme(),
            Rendering::Page => report.page(),
            Rendering::Terminal => report.terminal(100, false),
            Rendering::Commit => report.commit(),
            Rendering::Github => report.github(),
        }
    }
}

fn planted<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let trials = source.claims.progress.planned;
    vec![
        Block::Paragraph(format!("A stranger watched {trials} trials.")),
        Block::List(vec![Item::from("The stranger was not paid.".to_owned())]),
    ]
}

#[test]
fn section_planted_in_the_list_stands_in_every_rendering() {
    const PLACES: &[Place] =
        &[README.under("Watched"), PAGE.under("Watched"), TERMINAL, COMMIT, GITHUB];
    let made = Made::of(example::results(&example::TWO, 8));
    let mut sections = SECTIONS.to_vec();
    sections.push(Section::new("watched", planted, PLACES));
    for rendering in RENDERINGS {
        let text = made.render(&sections, rendering);
        for wanted in ["A stranger watched 32 trials.", "The stranger was not paid."] {
            assert_eq!(text.matches(wanted).count(), 1, "{rendering:?}: {text}");
        }
        let is_headed = text.contains("## Watched\n") || text.contains("<h2>Watched</h2>");
        let is_file = matches!(rendering, Rendering::Readme | Rendering::Page);
        assert_eq!(is_headed, is_file, "{rendering:?}: {text}");
    }
}

#[test]
fn section_stands_only_where_its_places_are() {
    let made = Made::of(example::results(&example::TWO, 8));
    let mut sections = SECTIONS.to_vec();
    sections.insert(3, Section::new("watched", planted, &[COMMIT]));
    for rendering in RENDERINGS {
        let text = made.render(&sections, rendering);
        let is_there = text.contains("stranger");
        assert_eq!(is_there, rendering == Rendering::Commit, "{rendering:?}: {text}");
        if !is_there {
            assert!(text == made.render(SECTIONS, rendering), "{rendering:?}");
        }
    }
}

/// What a page has without any section.
fn frame(made: &Made, rendering: Rendering) -> BTreeSet<String> {
    made.render(&[], rendering).lines().map(str::to_owned).collect()
}

/// The lines of a section alone that must stand in the whole report too. Which part of a page a
/// section stands in depends on its neighbours.
fn own_lines(made: &Made, section: &Section, rendering: Rendering) -> Vec<String> {
    let frame = frame(made, rendering);
    let text = made.render(std::slice::from_ref(section), rendering);
    let is_border = |line: &str| {
        line.starts_with("<section") || line.starts_with("</section") || line.contains("</main>")
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !is_border(line));
    lines.filter(|line| !frame.contains(*line)).map(str::to_owned).collect()
}

#[test]
fn every_section_of_the_list_stands_in_the_report_of_the_samples() {
    let made = [
        example::results(&example::TWO, 8),
        example::doubtful(),
        example::results(&example::FOUR, 12),
        example::with_lengths(),
        example::with_latencies(),
        example::with_changes(),
        example::with_benchmarks(),
        example::with_both_ways(),
    ]
    .map(Made::of);
    for section in SECTIONS {
        for place in section.places {
            let mut shown = 0;
            for made in &made {
                let lines = own_lines(made, section, place.rendering);
                let whole = made.render(SECTIONS, place.rendering);
                for line in &lines {
                    assert!(whole.contains(line), "{} in {place:?}: {line:?}", section.name);
                }
                shown += lines.len();
            }
            assert!(shown > 0, "{} never shows in {place:?}", section.name);
        }
    }
}

#[test]
fn a_figure_of_its_own_decides_and_better_is_what_its_direction_says() {
    let made = Made::of(example::with_benchmarks());
    let words: Vec<(&str, &str)> =
        made.claims.verdicts.iter().map(|v| (v.metric, v.verdict.word())).collect();
    let wanted = [
        ("back-to-back", "faster"),
        ("loss-curve", "faster"),
        ("recovery", "slower"),
        ("reset", "slower"),
        ("soak", "faster"),
    ];
    assert_eq!(words, wanted);
    for verdict in &made.claims.verdicts {
        let percent = verdict.comparison().unwrap().estimate.percent();
        let expected = if verdict.verdict.word() == "faster" { 10.0 } else { -100.0 / 11.0 };
        assert!((percent - expected).abs() < 0.3, "{}: {percent}", verdict.metric);
        assert!(verdict.saved.is_none(), "no nanoseconds follow from it");
    }
    assert_eq!(fwdlab_claims::claim::resolve(&made.claims, &made.results), []);
    let text = made.render(SECTIONS, Rendering::Readme);
    for wanted in ["longest burst without loss", "+ the figure of the traffic's measure", "1.10 ms"]
    {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

/// What a full table refuses does not arrive; of all other measures that is a fault. Where the clock counts
/// instructions, so do the figures.
#[test]
fn flows_that_a_full_table_refuses_are_not_missing() {
    let of = |measure: Measure| {
        let mut results = example::with_benchmarks();
        let about = results.campaign.about.as_mut().expect("a device");
        about.tick = Tick::Instruction;
        let rounds = |ns| {
            let round =
                SessionRound { sent: 10, received: 5, ns, busy_ns: ns, ..Default::default() };
            Sessions { rounds: vec![round; 3], ..Sessions::default() }
        };
        for trial in &mut results.trials {
            let Some(Benchmark::Soak(own)) = &trial.measured.benchmark else { continue };
            let own = rounds((own.seconds * 1e3) as u64);
            trial.measured.flows_seen = Some(900);
            trial.measure = measure;
            trial.measured.benchmark = Some(match measure {
                Measure::FullTable => Benchmark::FullTable(own),
                _ => Benchmark::Insertion(own),
            });
        }
        Made::of(results)
    };
    let verdict = |made: &Made, metric: &str| {
        let own = made.claims.verdicts.iter().find(|own| own.metric == metric).unwrap();
        own.verdict.word()
    };
    let flows = |made: &Made| {
        let own = made.claims.badges.iter().find(|badge| badge.name == "flows seen").unwrap();
        own.text.clone()
    };
    let (full, new) = (of(Measure::FullTable), of(Measure::Insertion));
    assert_ne!(verdict(&full, "full-table"), "invalid");
    assert!(flows(&full).contains("a full table refuses some"), "{}", flows(&full));
    assert_eq!(verdict(&new, "insertion"), "invalid");
    // With the trial and its number.
    let said = flows(&new);
    let (_, one) = said.split_once("another number seen in ").expect("a wrong number");
    assert!(one.contains(" in b01-"), "{said}");
    let text = new.render(SECTIONS, Rendering::Readme);
    assert!(text.contains(" instructions/session") && !text.contains(" ns/session"), "{text}");
    // Figures with a long unit stand below their heads: they ran into each other.
    let head = text.lines().position(|line| line.contains("  least  ")).expect("a table");
    let row = text.lines().skip(head).find(|line| line.contains(" instructions/session "));
    let (head, row) = (text.lines().nth(head).unwrap_or_default(), row.unwrap_or_default());
    let end_of = |line: &str, word| line.find(word).map(|at| at + str::len(word));
    assert_eq!(end_of(head, "median"), end_of(row, "instructions/session"), "{head}\n{row}");
    assert_eq!(row.matches("instructions/session  ").count(), 2, "{head}\n{row}");
}

#[test]
fn next_to_nothing_has_no_percentage() {
    let mut results = example::with_benchmarks();
    let [base, _] = example::TWO;
    for trial in &mut results.trials {
        if let Some(Benchmark::Recovery(own)) = &mut trial.measured.benchmark {
            let is_base = trial.variant == base.name;
            own.ended_ns =
                if is_base { 4_000_000 + 1_000 * u64::from(trial.block) } else { 10_000 };
        }
    }
    let made = Made::of(results);
    let own = made.claims.verdicts.iter().find(|own| own.metric == "recovery").unwrap();
    let [change, interval] = own.change().unwrap();
    let said = format!(
        "is better than {} by 3.99 ms [3.99 ms, 4.00 ms] (99 % interval) of 4.00 ms",
        base.name
    );
    assert!(own.sentence.contains(&said), "{}", own.sentence);
    assert_eq!((&change[..], &interval[..]), ("-3.99 ms", "[-4.00 ms, -3.99 ms]"));
    for rendering in RENDERINGS {
        let text = made.render(SECTIONS, rendering);
        assert!(!text.contains("39900 %") && !text.contains("above +"), "{rendering:?}: {text}");
    }
    let readme = made.render(SECTIONS, Rendering::Readme);
    assert!(readme.contains(&format!("{change} {interval}+")), "{readme}");
}

#[test]
fn each_way_and_the_energy_stand_beside_the_sum() {
    let made = Made::of(example::with_both_ways());
    let arrows = |made: &Made| made.extras.drawings.topology.matches("class=\"whisker\"").count();
    let one_way = Made::of(example::results(&example::TWO, 2));
    // Two arrows for each traffic in a row, two in a column: three lines, and two more for a second point.
    let both = 5 * arrows(&one_way) / 3;
    assert_eq!(arrows(&made), both, "an arrow has a point at one end");
    assert!(made.extras.drawings.topology.contains("bytes, both ways"));
    assert!(!one_way.extras.drawings.topology.contains("both ways"));
    let mut claims = one_way.claims;
    let names = ["one", "two"].map(|middle| format!("{0}{middle}{0}", "x".repeat(30)));
    for (traffic, name) in claims.setting.traffics.iter_mut().zip(names) {
        traffic.name = name;
    }
    let drawn = super::super::topology::topology(&claims, Room::Page).into_inline("", "");
    for middle in ["one", "two"] {
        let shown = format!(">xxxxxxxx…{middle}…xxxxxxx<");
        assert!(drawn.contains(&shown), "a name stands beyond its box, or is another's: {drawn}");
    }
    let text = made.render(SECTIONS, Rendering::Readme);
    let row = |start: &str| {
        let found = text
            .lines()
            .find(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(start));
        found
            .unwrap_or_else(|| panic!("{start}: {text}"))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let [base, _] = example::TWO;
    let ahead = row(&format!("inet {} to the destinations", base.name));
    let back = row(&format!("inet {} to the sources", base.name));
    assert!(ahead.ends_with("60.0% 0.000% -"), "{ahead}");
    assert!(back.ends_with("40.0% 1.000% -"), "{back}");
    let queues = row("inet radix 8 ");
    assert_eq!(queues, "inet radix 8 2.50 8 cpu0 12.5%, cpu1 12.5%, cpu2 12.5%, cpu3 62.5%");
    let energy = text.lines().find(|line| line.contains("[2.500, 2.500]"));
    assert!(energy.is_some_and(|line| line.contains(" 8            2.500")), "{text}");
}

#[test]
fn energy_stands_beside_that_of_the_baseline_in_the_same_block() {
    let mut results = example::with_both_ways();
    let baseline = results.campaign.baseline.clone();
    for trial in &mut results.trials {
        // The machine takes more from block to block, the other variant half more in each.
        let of_machine = f64::from(trial.block + 1);
        let of_variant = if trial.variant == baseline { 1.0 } else { 1.5 };
        trial.measured.joules = trial.measured.joules.map(|own| own * of_machine * of_variant);
    }
    let text = Made::of(results).render(SECTIONS, Rendering::Readme);
    let (_, table) = text.split_once("J/million frames").unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("inet")).collect();
    let [base, _] = example::TWO;
    let (own, other): (Vec<&str>, Vec<&str>) =
        rows.iter().copied().partition(|row| row.contains(base.name));
    assert!(own.first().is_some_and(|row| row.trim_end().ends_with('-')), "{rows:?}");
    assert!(
        other.first().is_some_and(|row| row.trim_end().ends_with("1.500   [1.500, 1.500]")),
        "{rows:?}"
    );
}

#[test]
fn sections_have_names_of_their_own_and_one_place_in_a_rendering() {
    let names: BTreeSet<&str> = SECTIONS.iter().map(|section| section.name).collect();
    assert_eq!(names.len(), SECTIONS.len());
    for section in SECTIONS {
        let places = section.places.iter().map(|place| format!("{:?}", place.rendering));
        assert_eq!(places.collect::<BTreeSet<_>>().len(), section.places.len(), "{}", section.name);
    }
}

/// The compiler refuses a line of the list without its module, and a module that no line uses; a file that
/// no module names it does not see.
#[test]
fn no_file_lies_among_the_sections_that_is_none() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sections");
    let list = fs::read_to_string(dir.join("mod.rs")).unwrap();
    let entries = fs::read_dir(&dir).unwrap();
    let files: Vec<String> = entries
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name != "mod.rs")
        .collect();
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        let name = file.strip_suffix(".rs").unwrap();
        assert!(list.contains(&format!("\nmod {name};\n")), "{file} has no `mod {name};`");
        let is_used = list.lines().any(|line| {
            line.trim_start().starts_with("Section::new(") && line.contains(&format!("{name}::"))
        });
        assert!(is_used, "{file} makes no section of the list");
    }
}

/// Of a tester that had a fifth of its processor nothing follows about the device, also where both share one.
#[test]
fn a_tester_without_its_processor_gives_no_verdict_and_the_checks_say_so() {
    let mut results = example::with_benchmarks();
    let badge = |made: &Made, name: &str| {
        let own = made.claims.badges.iter().find(|badge| badge.name == name).unwrap();
        own.text.clone()
    };
    let whole = Made::of(example::with_benchmarks());
    assert!(whole.claims.verdicts.iter().all(|own| own.verdict.word() != "invalid"));
    assert!(badge(&whole, "tester headroom").contains("the device was the bottleneck"));
    for trial in &mut results.trials {
        trial.measured.environment.core_share = Some(0.2);
        trial.measured.environment.device_share = Some(0.9);
    }
    let made = Made::of(results);
    for own in &made.claims.verdicts {
        assert!(own.sentence.contains("cores taken"), "{}", own.sentence);
    }
    let cores = badge(&made, "cores");
    assert!(cores.starts_with("tester and device had 20.0 %"), "{cores}");
    assert!(cores.ends_with("no verdict is given"), "{cores}");
    let headroom = badge(&made, "tester headroom");
    assert!(headroom.contains("may be the machine's"), "{headroom}");
    assert!(!headroom.contains("bottleneck"), "{headroom}");
}

/// "offered FAILED" once stood beside "the load is the asked one", and a verdict.
#[test]
fn a_time_seen_by_too_few_frames_is_no_verdict() {
    let mut results = example::with_benchmarks();
    results.trials.retain(|trial| trial.traffic.ends_with("-reset"));
    results.campaign.traffics.retain(|traffic| traffic.ends_with("-reset"));
    results.campaign.trials = results.trials.iter().map(|t| t.id.clone()).collect();
    for trial in &mut results.trials {
        trial.offered_pps_asked = trial.offered_pps().map(|offered| 4.0 * offered);
    }
    let made = Made::of(results);
    let own = &made.claims.verdicts[0];
    assert!(own.sentence.starts_with("invalid: "), "{}", own.sentence);
    assert!(own.sentence.contains("generator limit"), "{}", own.sentence);
}

/// "recovery time cannot be compared: median 8684 pps against 2257 pps" stood where no block was complete.
#[test]
fn where_no_block_is_complete_the_median_is_that_of_the_measure() {
    let mut results = example::with_benchmarks();
    results
        .trials
        .retain(|trial| (trial.block % 2 == 0) == (trial.variant == example::TWO[0].name));
    for trial in &mut results.trials {
        trial.measure = trial.measured.benchmark.as_ref().unwrap().measure();
    }
    results.campaign.trials = results.trials.iter().map(|t| t.id.clone()).collect();
    let made = Made::of(results);
    for own in &made.claims.verdicts {
        assert_eq!(own.verdict.word(), "invalid", "{}", own.sentence);
        assert_ne!(own.metric, "rate", "{}", own.sentence);
    }
    let text = made.render(SECTIONS, Rendering::Readme);
    assert!(!text.contains("median 3"), "{text}");
}

/// Bars of "Forwarding rate" once stood under a verdict on convergence times, the worse variant the highest.
#[test]
fn charts_and_tables_of_a_measure_show_its_own_figure() {
    let made = Made::of(example::with_benchmarks());
    let drawn = &made.extras.drawings;
    let files: BTreeSet<&str> = drawn.rates.iter().map(|own| own.file.as_str()).collect();
    assert_eq!(files.len(), 5, "a chart for each measure: {files:?}");
    assert!(files.contains("graph.svg"), "{files:?}");
    for own in &drawn.rates {
        assert!(!own.svg.contains(">Forwarding rate<"), "{}", own.title);
        assert_ne!(own.title, "Forwarding rates");
    }
    let readme = made.render(SECTIONS, Rendering::Readme);
    for file in files {
        assert!(readme.contains(&format!("]({file})")), "{file}: {readme}");
    }
    assert!(readme.contains("median reset time"), "{readme}");
    assert!(!readme.contains("median pps") && !readme.contains("median Mpps"), "{readme}");
}

/// They stood under "Both ways", "Queues" or "Benchmarks", whichever came last.
#[test]
fn charts_stand_under_the_heading_of_their_figures() {
    for (place, words) in [(README, "All figures"), (PAGE, "Figures")] {
        let headings = SECTIONS.iter().map(|section| {
            let own = section.places.iter().find(|own| own.rendering == place.rendering);
            (section.name, own.map_or(Heading::None, |own| own.heading))
        });
        let mut above = Heading::None;
        for (name, heading) in headings {
            above = if heading == Heading::None { above } else { heading };
            if ["rates", "cost", "cost-that-decides", "curve"].contains(&name) {
                assert_eq!(above, Heading::Shown(words), "{name}");
            }
        }
    }
}
