//! Each rule with an example: pages and data of a few lines, most of them
//! after published ones. docs/audit.md tells the same examples.

mod causes;
mod doubts;
mod families;
mod fresh;
mod mutations;
mod placed;
mod sentences;
mod settings;
mod shapes;
mod topics;
mod unseen;

use std::fs;

use super::report::audit;
use super::{AuditFinding, Rule, Severity, check_page};

const DIR: &str = "machine/results/fbsd13-r368606.D27401";

/// Values of the published sets that the examples use.
const OLD4: [f64; 5] = [700_644.0, 696_261.0, 694_169.0, 696_703.0, 697_081.0];
const NEW4: [f64; 5] = [825_061.0, 816_670.0, 818_114.5, 813_395.0, 820_180.5];
const OLD6: [f64; 5] = [833_084.0, 838_004.0, 824_195.0, 833_391.0, 832_643.0];
const NEW6: [f64; 5] = [771_196.0, 771_634.0, 773_353.0, 770_041.0, 773_742.0];
/// No difference proven, and none excluded either.
const LIKE6: [f64; 5] = [758_514.0, 751_712.0, 751_662.0, 750_663.0, 768_919.0];
const BASE6: [f64; 5] = [746_515.0, 759_642.0, 741_769.0, 754_061.0, 748_553.0];

/// A tree in a temporary directory.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn with(self, place: &str, text: &str) -> Self {
        let path = self.0.path().join(DIR).join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn series(self, prefix: &str, values: &[f64]) -> Self {
        let text: String = values.iter().map(|v| format!("{v}\n")).collect();
        self.with(&format!("{prefix}.pps"), &text)
    }

    /// Logs of one run: receiver and sender.
    fn run(self, prefix: &str, run: usize, rx: &str, tx: &str) -> Self {
        self.with(&format!("RAW/bench.{prefix}.{run}.receiver"), rx)
            .with(&format!("RAW/bench.{prefix}.{run}.sender"), tx)
    }

    fn findings(&self) -> Vec<AuditFinding> {
        audit(&[self.0.path().to_owned()]).unwrap().findings
    }

    fn of(&self, rule: Rule) -> Vec<AuditFinding> {
        self.findings().into_iter().filter(|f| f.rule == rule).collect()
    }

    /// The one finding of a rule.
    fn one(&self, rule: Rule) -> AuditFinding {
        let found = self.of(rule);
        assert_eq!(found.len(), 1, "{rule:?}: {:#?}", self.findings());
        found[0].clone()
    }
}

/// A ministat block of two or more sets.
fn block(sets: &[(&str, &[f64])]) -> String {
    use fwdlab_stats::ministat::{Dataset, Options, render};
    let datasets: Vec<Dataset> = sets
        .iter()
        .map(|(legend, values)| Dataset::new(*legend, values.to_vec()).unwrap())
        .collect();
    let options = Options { has_separate_bars: true, ..Options::default() };
    format!("```\n{}```\n", String::from_utf8(render(&datasets, &options)).unwrap())
}

fn block4() -> String {
    block(&[("r368606: inet4", &OLD4), ("r368606 with D27401: inet4", &NEW4)])
}

fn block6() -> String {
    block(&[("r368606: inet6", &OLD6), ("r368606 with D27401: inet6", &NEW6)])
}

/// The four published series and a page.
fn page(text: &str) -> Tree {
    Tree::new()
        .series("r368606.inet4", &OLD4)
        .series("r368606D27401.inet4", &NEW4)
        .series("r368606.inet6", &OLD6)
        .series("r368606D27401.inet6", &NEW6)
        .with("README.md", text)
}

/// The series without a difference and a page with their block between.
fn like(above: &str, below: &str) -> Tree {
    let block = block(&[("r368606: inet6", &BASE6), ("r368606 with D27401: inet6", &LIKE6)]);
    Tree::new()
        .series("r368606.inet6", &BASE6)
        .series("r368606D27401.inet6", &LIKE6)
        .with("README.md", &format!("Results\n\n{above}\n{block}\n{below}\n"))
}

fn log(command: &str, build: u32, rate: f64) -> String {
    let mut text = format!("{command}\n{}", "100.0 main [1] x\n".repeat(14));
    for second in 0..20 {
        text.push_str(&format!(
            "{}.0 main_thread [{build}] {rate} pps ({rate} pkts in 1000000 usec)\n",
            100 + second
        ));
    }
    text + &"Terminated\n".repeat(10)
}

fn receiver(rate: f64) -> String {
    log("CMD on h: pkt-gen -f rx -i b", 7, rate)
}

/// A sender of 20 x 100 flows unless told otherwise.
fn sender(last: u32, build: u32, rate: f64) -> String {
    log(
        &format!("CMD on h: pkt-gen -f tx -i a -l 60 -s 1.1.1.1-1.1.1.{last} -d 2.2.2.1-2.2.2.100"),
        build,
        rate,
    )
}

/// Logs of three runs of both variants around the rates.
fn logged(old: f64, new: f64, tx: [String; 2]) -> Tree {
    let mut tree = Tree::new();
    let mut values = [Vec::new(), Vec::new()];
    for run in 1..=3 {
        for (index, (prefix, rate)) in
            [("r368606.inet4", old), ("r368606D27401.inet4", new)].into_iter().enumerate()
        {
            let rate = rate + run as f64;
            values[index].push(rate);
            tree = tree.run(prefix, run, &receiver(rate), &tx[index]);
        }
    }
    let page = block(&[("r368606: inet4", &values[0]), ("r368606 with D27401: inet4", &values[1])]);
    tree.series("r368606.inet4", &values[0])
        .series("r368606D27401.inet4", &values[1])
        .with("README.md", &format!("Results\n  - 2000 flows of smallest UDP packets\n\n{page}"))
}

fn same_senders(rate: f64) -> [String; 2] {
    [sender(20, 7, rate), sender(20, 7, rate)]
}

/// The published directories; `None` (and a line on stderr) when they are not at hand.
fn published(test: &str) -> Option<std::path::PathBuf> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = root.join("../../../shared/data/netbenches");
    let found = root.is_dir().then_some(root);
    if found.is_none() {
        eprintln!("SKIPPED {test}: no published directories at ../shared/data/netbenches");
    }
    found
}

#[test]
fn a_page_that_agrees_with_its_data_has_no_finding() {
    let text = format!(
        "Impact of D27401\n\nIPv4:\n{}\n=> D27401 brings an improvement of 17.5% to forward IPv4!\n\nIPv6:\n{}\n=> a reduction of 7.2% to forward IPv6\n",
        block4(),
        block6()
    );
    let found: Vec<AuditFinding> =
        page(&text).findings().into_iter().filter(|f| f.rule != Rule::BlockPoints).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn faster_is_wrong_where_the_block_says_slower() {
    let cross =
        block(&[("r368606 with D27401: IPv4", &NEW4), ("r368606 with D27401: IPv6", &NEW6)]);
    let tree = page(&format!(
        "Results\n\n{cross}\n=> forwarding IPv6 is now 'only' 5.7% faster than IPv4\n"
    ));
    let found = tree.one(Rule::ClaimSign);
    assert_eq!(found.severity, Severity::Wrong);
    assert!(found.suggestion.contains("5.7 % slower"), "{found:?}");
    let tree = page(&format!("Results\n\nD27401 is faster:\n{}", block6()));
    assert_eq!(tree.one(Rule::ClaimSign).severity, Severity::Wrong);
}

#[test]
fn the_wording_says_which_set_is_compared_with_which() {
    let cross =
        block(&[("r368606.with-D27401: inet6", &NEW6), ("r368606.plainforwarding: inet6", &OLD6)]);
    let tree = page(&format!("Results\n\nD27401 is slower than plainforwarding here:\n{cross}"));
    assert!(tree.of(Rule::ClaimSign).is_empty(), "{:#?}", tree.findings());
    let tree = page(&format!("Results\n\nD27401 is faster than plainforwarding here:\n{cross}"));
    assert_eq!(tree.one(Rule::ClaimSign).severity, Severity::Wrong);
}

#[test]
fn a_percentage_must_follow_from_its_block() {
    let tree = page(&format!("Results\n\n{}\n=> an improvement of 27.5%\n", block4()));
    let found = tree.one(Rule::ClaimSize);
    assert_eq!((found.severity, found.line > 10), (Severity::Wrong, true));
    assert!(found.data.contains("+17.46 %"));
    let tree = page(&format!("Results\n\n{}\n=> twice as fast, a big improvement\n", block4()));
    assert_eq!(tree.one(Rule::ClaimSize).severity, Severity::Wrong);
}

#[test]
fn a_cut_percentage_is_a_note() {
    let tree = page(&format!("Results\n\nimprovement with D27401: +17.4%\n{}", block4()));
    let found = tree.one(Rule::ClaimRounding);
    assert_eq!(found.severity, Severity::Info);
    assert!(found.data.contains("17.5"), "{found:?}");
}

#[test]
fn a_percentage_of_medians_is_named() {
    // Medians 696703 and 818114.5: +17.43 %, means +17.46 %.
    let tree = page(&format!("Results\n\n{}\n=> +17.427% improvement\n", block4()));
    assert_eq!(tree.one(Rule::MedianPercent).severity, Severity::Info);
}

#[test]
fn a_difference_that_is_not_proven_is_no_improvement() {
    let tree = like("", "=> D27401 brings an improvement of 0.8%");
    assert_eq!(tree.one(Rule::ClaimUnproven).severity, Severity::Wrong);
}

#[test]
fn no_impact_needs_an_interval_within_the_margin() {
    let found = like("No impact on inet6 forwarding:", "").one(Rule::ClaimNoImpact);
    assert_eq!(found.severity, Severity::Check);
    assert!(found.data.contains("not within ±1 %"), "{found:?}");
    let tree = page(&format!("Results\n\nNo impact on inet6 forwarding:\n{}", block6()));
    assert_eq!(tree.one(Rule::ClaimNoImpact).severity, Severity::Wrong);
    let tree = page(&format!("Results\n\nNo regression on inet6:\n{}", block6()));
    assert_eq!(tree.one(Rule::ClaimNoImpact).severity, Severity::Wrong);
}

#[test]
fn faster_for_all_tests_must_hold_in_every_block() {
    let tree = page(&format!(
        "Results\n\n{}\n=> better performance for all the tests\n\n{}",
        block4(),
        block6()
    ));
    let found = tree.one(Rule::ClaimAll);
    assert_eq!(found.severity, Severity::Wrong);
}

#[test]
fn a_rate_in_a_conclusion_must_be_among_the_figures() {
    let tree = page(&format!("Results\n\n{}\n=> from 697Kpps to 888Kpps\n", block4()));
    assert!(tree.one(Rule::ClaimRate).claim.contains("888Kpps"));
}

#[test]
fn a_mistyped_line_rate_is_wrong() {
    let found =
        page("Results\n  - Traffic load at 1.448Mpps (Gigabit line-rate)\n").one(Rule::LineRate);
    assert_eq!((found.severity, found.line), (Severity::Wrong, 2));
    assert!(found.suggestion.contains("1.488"));
    for right in [
        "1.488Mpps (Gigabit line-rate)",
        "1.48 Mpps, line rate",
        "line-rate (14.8Mpps)",
        "14.88 Mpps line rate",
    ] {
        assert!(page(&format!("Results\n  - load at {right}\n")).findings().is_empty(), "{right}");
    }
}

#[test]
fn load_flows_and_frames_are_those_of_the_logged_commands() {
    let tree = logged(5e5, 6e5, same_senders(1_488_000.0));
    assert!(tree.findings().is_empty(), "{:#?}", tree.findings());
    let claims = "Results\n  - 3000 flows of smallest UDP packets\n  - Traffic load at 5Mpps\n  - frame size of 1500 bytes\n";
    let tree = tree.with("README.md", claims);
    assert_eq!(tree.one(Rule::FlowClaim).severity, Severity::Wrong);
    assert_eq!(tree.one(Rule::LoadClaim).severity, Severity::Wrong);
    assert_eq!(tree.one(Rule::FrameClaim).severity, Severity::Check);
    let tree = tree.with("README.md", "Results\n  - BUG: 200 flows only\n");
    assert_eq!(tree.one(Rule::FlowClaim).severity, Severity::Check);
}

#[test]
fn compared_sets_must_meet_the_same_traffic() {
    let tree = logged(5e5, 6e5, [sender(20, 7, 1.488e6), sender(71, 7, 1.488e6)]);
    let found = tree.one(Rule::TrafficDiffers);
    assert_eq!(found.severity, Severity::Wrong);
    assert!(found.data.contains("7100 flows against 2000"), "{found:?}");
}

#[test]
fn compared_sets_must_meet_the_same_generator() {
    let tree = logged(5e5, 6e5, [sender(20, 7, 1.488e6), sender(20, 7, 1.2e6)]);
    assert!(tree.one(Rule::GeneratorDiffers).data.contains("1.200 Mpps"));
}

#[test]
fn figures_at_line_rate_say_nothing() {
    let tree = logged(1_487_000.0, 1_487_500.0, same_senders(1_488_000.0));
    let found = tree.one(Rule::Saturation);
    assert_eq!(found.severity, Severity::Check);
    assert!(found.data.contains("the difference means nothing"), "{found:?}");
    let tree = logged(1_000_000.0, 1_487_500.0, same_senders(1_488_000.0));
    assert!(tree.one(Rule::Saturation).suggestion.contains("at least"));
}

#[test]
fn a_sender_that_slows_down_when_more_is_forwarded_is_a_limit() {
    let mut tree = Tree::new().with("README.md", "Results\n");
    for run in 0..8usize {
        let step = 10_000.0 * run as f64;
        tree =
            tree.run("r368606.inet4", run + 1, &receiver(5e5 + step), &sender(20, 7, 9e5 - step));
    }
    assert_eq!(tree.one(Rule::GeneratorLimit).severity, Severity::Check);
}

#[test]
fn rows_must_be_those_of_their_files() {
    let text = format!("Results\n\n{}", block4()).replace("696971.6", "697971.6");
    let tree = page(&text);
    assert_eq!(tree.one(Rule::BlockRows).severity, Severity::Wrong);
    assert_eq!(tree.one(Rule::BlockArithmetic).severity, Severity::Wrong);
    let foreign = block(&[("before", &[1e5, 2e5, 3e5]), ("after", &[2e5, 3e5, 4e5])]);
    assert_eq!(page(&format!("Results\n\n{foreign}")).of(Rule::BlockSource).len(), 2);
}

#[test]
fn comparison_lines_must_follow_from_the_rows() {
    let text = format!("Results\n\n{}", block4()).replace("17.4631%", "14.4631%");
    let found = page(&text).one(Rule::BlockArithmetic);
    assert!(found.data.contains("+17.46 %"), "{found:?}");
}

#[test]
fn hand_edited_white_space_and_plots_are_told_apart() {
    let text = format!("Results\n\n{}", block4().replace('\t', "        "));
    assert_eq!(page(&text).one(Rule::BlockText).severity, Severity::Info);
    let text = format!("Results\n\n{}", block4()).replacen("|_A", "|A_", 1);
    assert_eq!(page(&text).one(Rule::BlockText).severity, Severity::Check);
}

#[test]
fn points_that_the_plot_drops_are_counted() {
    // Three runs in one column, the last set has no such stack.
    let (stacked, spread) = ([1000.0, 1000.0, 1000.0, 5000.0], [9000.0, 10_000.0, 11_000.0]);
    let tree = Tree::new()
        .series("a", &stacked)
        .series("b", &spread)
        .with("README.md", &format!("Results\n\n{}", block(&[("a", &stacked), ("b", &spread)])));
    assert!(tree.one(Rule::BlockPoints).data.contains("shows 5"));
}

#[test]
fn missing_runs_are_named() {
    let four = &OLD4[..4];
    let short = block(&[("r368606: inet4", four), ("r368606 with D27401: inet4", &NEW4)]);
    let tree = page(&format!("Results of 7 benches\n\n{short}")).series("r368606.inet4", four);
    let found = tree.of(Rule::RunCount);
    assert_eq!(found.len(), 2, "{found:#?}");
}

#[test]
fn labels_must_name_their_data() {
    let swapped = block(&[("r368606: inet6", &OLD4), ("r368606 with D27401: inet4", &NEW4)]);
    assert_eq!(
        page(&format!("Results\n\n{swapped}")).one(Rule::BlockLabel).severity,
        Severity::Wrong
    );
    let old = block(&[("r368287: inet4", &OLD4), ("r368606 with D27401: inet4", &NEW4)]);
    assert!(page(&format!("Results\n\n{old}")).one(Rule::BlockLabel).data.contains("revision"));
}

#[test]
fn one_label_must_not_stand_for_two_sets() {
    let one = block(&[("r368606 base", &OLD4), ("r368606 with D27401 four", &NEW4)]);
    let two = block(&[("r368606 base", &OLD6), ("r368606 with D27401 six", &NEW6)]);
    assert_eq!(
        page(&format!("Results\n\n{one}\n{two}")).one(Rule::LabelTwoValues).severity,
        Severity::Check
    );
}

#[test]
fn variants_belong_beside_their_own_baseline() {
    let old = [711_656.5, 709_354.0, 714_432.0, 713_437.0, 713_233.5];
    let three = block(&[
        ("r368287: inet4", &old),
        ("r368606: inet4", &OLD4),
        ("r368606 with D27401: inet4", &NEW4),
    ]);
    let tree = page(&format!("Results\n\n{three}")).series("r368287.inet4", &old);
    let found = tree.one(Rule::OldBaseline);
    assert!(found.data.contains("+17.46 %"), "{found:?}");
}

#[test]
fn headings_must_name_the_family_below() {
    let tree = page(&format!("Results\n\nIPv6:\n{}", block4()));
    assert_eq!(tree.one(Rule::HeadingFamily).severity, Severity::Wrong);
}

#[test]
fn medians_must_follow_from_the_logs() {
    let tree = logged(5e5, 6e5, same_senders(1_488_000.0))
        .series("r368606.inet4", &[500_001.0, 500_002.0, 555_555.0]);
    let found = tree.one(Rule::MedianReproduced);
    assert_eq!((found.severity, found.line), (Severity::Wrong, 3));
    assert!(found.file.ends_with("r368606.inet4.pps"));
}

#[test]
fn failed_runs_and_missing_series_are_named() {
    let tree = logged(5e5, 6e5, same_senders(1_488_000.0))
        .with("RAW/bench.r368606.inet4.3.receiver", "ouch, thread 0 exited with error\n")
        .run("r368606D9.inet4", 1, &receiver(0.0), &sender(20, 7, 1.488e6));
    assert_eq!(tree.of(Rule::FailedRun).len(), 2, "{:#?}", tree.findings());
    assert!(tree.one(Rule::SeriesMissing).claim.contains("r368606D9.inet4"));
}

#[test]
fn captions_must_name_the_linked_file() {
    let text = "Results\n\n- [r368287: inet4](bench.r368606.inet4.svg)\n- [r368606: inet6](bench.r368606.inet4.svg)\n- [r368606: inet4](bench.r368606.inet4.svg)\n";
    let tree = page(text).with("bench.r368606.inet4.svg", "<svg/>");
    let lines: Vec<usize> = tree.of(Rule::CaptionFile).iter().map(|f| f.line).collect();
    assert_eq!(lines, [3, 4]);
}

#[test]
fn links_must_lead_somewhere() {
    let tree = page(
        "Results\n\n![graph](grpah.png)\n[up](../other/README.md) [web](https://x.org/y.png)\n",
    )
    .with("graph.png", "");
    let found = tree.of(Rule::LinkTarget);
    assert_eq!(
        found.iter().map(|f| (f.line, f.severity)).collect::<Vec<_>>(),
        [(3, Severity::Wrong), (4, Severity::Wrong)]
    );
}

#[test]
fn titles_must_be_about_the_results() {
    let text = format!(
        "Impact of enabling firewalls on BSDRP 1.90 (FreeBSD 11.2-BETA3)\n  - FreeBSD 13-head r368606\n\n{}",
        block4()
    );
    let found = page(&text).one(Rule::TitleCopied);
    assert_eq!((found.severity, found.line), (Severity::Wrong, 1));
    assert!(
        page(&format!("Impact of D11476\n\n{}", block4()))
            .one(Rule::TitleCopied)
            .data
            .contains("d27401")
    );
}

#[test]
fn revisions_of_text_path_and_kernel_must_agree() {
    let tree = page("Results\n  - FreeBSD 13-head r368287\n");
    assert_eq!(tree.one(Rule::RevisionDiffers).line, 2);
    let tree = page("Results\n").with(
        "RAW/bench.r368606.inet4.info",
        "IMAGE=\"r368606\"\nUNAME=\"FreeBSD x #0 r368287M: now\"",
    );
    assert!(tree.one(Rule::RevisionDiffers).data.contains("r368287"));
}

#[test]
fn two_variants_must_not_be_one_kernel() {
    let tree = page("Results\n")
        .with(
            "RAW/bench.r368606.inet4.info",
            "IMAGE=a\nUNAME=\"FreeBSD x #0 r368606M: Tue Jul  4 10:11:12 UTC 2017\"",
        )
        .with(
            "RAW/bench.r368606D27401.inet4.info",
            "IMAGE=b\nUNAME=\"FreeBSD x #0 r368606M: Tue Jul  4 10:11:12 UTC 2017\"",
        );
    assert_eq!(tree.one(Rule::SameKernel).severity, Severity::Check);
}

#[test]
fn graphs_must_draw_what_their_labels_say() {
    let tree = page("Results\n").with(
        "gnuplot.data",
        "r368606.inet4 696703 694169 999999\nr368606.inet6 696703 694169 700644\n",
    );
    assert_eq!(tree.one(Rule::GraphData).line, 1);
    assert_eq!(tree.one(Rule::GraphLabel).line, 2);
    let tree = page("Results\n").with("gnuplot.plt", "plot \"gone.data\" using 2 title \"x\"\n");
    assert_eq!(tree.one(Rule::GraphSource).line, 1);
}

#[test]
fn a_page_beyond_any_published_one_says_so() {
    let tree = page(&"x".repeat(10_000));
    assert_eq!(tree.one(Rule::PageUnreadable).severity, Severity::Check);
}

#[test]
fn a_single_page_and_a_single_directory_can_be_audited() {
    let tree = page(&format!("Results\n\n{}\n=> 99% improvement\n", block4()));
    let dir = tree.0.path().join(DIR);
    for path in [dir.clone(), dir.join("README.md")] {
        let report = audit(&[path]).unwrap();
        assert_eq!((report.counts.pages, report.counts.blocks_exact), (1, 1));
        assert!(report.has_wrong());
    }
    assert!(audit(&[dir.join("none.md")]).is_err());
}

/// What the issue behind this module asks to find in the published pages.
#[test]
fn the_known_mistakes_of_the_published_pages_are_found() {
    let Some(root) = published("the_known_mistakes_of_the_published_pages_are_found") else {
        return;
    };
    let report = audit(&[root]).unwrap();
    let has = |part: &str, rule: Rule, severity: Severity, words: &str| {
        let is = |f: &&AuditFinding| {
            f.file.contains(part)
                && f.rule == rule
                && f.severity == severity
                && format!("{} {} {}", f.claim, f.data, f.suggestion).contains(words)
        };
        assert!(report.findings.iter().any(|f| is(&f)), "{part} {rule:?} {words}");
    };
    has("fbsd13-r368606.D27401v4", Rule::ClaimSign, Severity::Wrong, "5.7 % slower");
    has("Atom_C2558", Rule::LineRate, Severity::Wrong, "1.488");
    has("Atom_C2758", Rule::TitleCopied, Severity::Wrong, "FreeBSD 11");
    has("r368606.D27401v3", Rule::Saturation, Severity::Check, "the difference means nothing");
    has("r368606.D27401v3", Rule::TrafficDiffers, Severity::Wrong, "4970 flows against 2000");
    has("fbsd13-D27401/", Rule::OldBaseline, Severity::Check, "+17.74 %");
    has("Atom_C2558", Rule::ClaimNoImpact, Severity::Check, "not within ±1 %");
    has("r368606.D27401v3", Rule::CaptionFile, Severity::Wrong, "another revision");
    has("Atom_C2558", Rule::ClaimRounding, Severity::Info, "-1.42 %");
    has("fbsd13-D27401/", Rule::BlockPoints, Severity::Info, "shows 21");
    assert_eq!(
        (report.counts.blocks, report.counts.blocks_exact, report.counts.blocks_spaced),
        (18, 16, 2)
    );
}

#[test]
fn a_rate_that_drops_by_more_than_all_of_it_is_wrong_without_any_block() {
    let impossible = |text: &str| {
        let page = format!("# Forwarding\n\n{text}\n");
        let found = check_page(page.as_bytes());
        found.iter().any(|f| f.rule == Rule::ClaimImpossible && f.severity == Severity::Wrong)
    };
    for text in [
        "The rate drops by 176 %.",
        "Performance is reduced by 120% with this change.",
        "Forwarding changed by -176%.",
        "It lost 250 percent of its speed.",
    ] {
        assert!(impossible(text), "{text}");
    }
    for text in [
        "The rate rises by 176 %.",
        "The rate drops by 76 %.",
        "The rate drops by 100 %.",
        "The time per packet is no longer reduced by 120 % of the old time.",
        "Latency -150%.",
    ] {
        assert!(!impossible(text), "{text}");
    }
}
