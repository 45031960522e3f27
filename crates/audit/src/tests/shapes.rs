//! Shapes of sentences and links in published pages that are easily misread; the words are
//! invented, the figures of the order of published ones.

use super::*;

#[test]
fn half_widths_and_shares_in_tables_are_no_claims() {
    let text = format!(
        "Results\n\nSome gain (+17.5% +/- 0.8%) with D27401 on inet4:\n{}\n\n| path | share |\n|---|---|\n| enqueue | 6.48 % |\n",
        block4()
    );
    let found = page(&text).findings();
    assert!(found.iter().all(|f| f.rule == Rule::BlockPoints), "{found:#?}");
}

#[test]
fn a_ranking_of_other_things_is_no_claim_about_the_block() {
    let text = format!(
        "Results\n\n{}\n\nBefore, packets left by one queue in both configs (the first of them), and it \
         happened to be the slower of the two paths that a driver can take here\n",
        block4()
    );
    let found = page(&text).findings();
    assert!(found.iter().all(|f| f.rule == Rule::BlockPoints), "{found:#?}");
}

#[test]
fn the_same_drop_is_a_drop_and_a_lower_impact_none() {
    for sentence in ["Same drop regarding inet6:", "Impact is lower on inet6:"] {
        let found = page(&format!("Results\n\n{sentence}\n{}", block6())).findings();
        assert!(found.iter().all(|f| f.rule == Rule::BlockPoints), "{sentence}: {found:#?}");
    }
    let tree = page(&format!("Results\n\nSame gain regarding inet6:\n{}", block6()));
    assert_eq!(tree.one(Rule::ClaimSign).severity, Severity::Wrong);
}

/// After a published "-30 % for all tests" above blocks of -32 % and -12 %.
#[test]
fn a_percentage_for_all_tests_must_be_near_in_every_block() {
    let near: Vec<f64> = OLD6.iter().map(|v| v * 1.16).collect();
    let second = block(&[("r368606: inet6", &OLD6), ("r368606 with D27401: inet6", &near)]);
    let text = format!(
        "Results\n\nThere is a 17% improvement for all tests: the lookup is short now.\n\nIPv4:\n{}\n",
        block4()
    );
    let tree = page(&format!("{text}IPv6:\n{second}")).series("r368606D27401.inet6", &near);
    assert!(tree.of(Rule::ClaimAll).is_empty(), "{:#?}", tree.findings());
    let tree = page(&format!("{text}IPv6:\n{}", block6()));
    assert_eq!(tree.one(Rule::ClaimAll).line, 3);
    let small: Vec<f64> = OLD6.iter().map(|v| v * 1.05).collect();
    let second = block(&[("r368606: inet6", &OLD6), ("r368606 with D27401: inet6", &small)]);
    let tree = page(&format!("{text}IPv6:\n{second}")).series("r368606D27401.inet6", &small);
    assert_eq!(tree.one(Rule::ClaimAll).severity, Severity::Wrong);
}

#[test]
fn a_fence_closed_too_late_is_named_and_the_rest_is_read() {
    let text = format!("Results\n\n{}", block4()).replace(")\n```\n", ")```\n");
    let text = format!("{text}\n- [r368287: inet4](bench.r368606.inet4.svg)\n");
    let tree = page(&text).with("bench.r368606.inet4.svg", "<svg/>");
    assert!(tree.one(Rule::BlockText).data.contains("shown as code"));
    assert_eq!(tree.of(Rule::CaptionFile).len(), 1);
}

#[test]
fn shares_of_cycles_and_announced_lists_say_nothing_of_the_block() {
    let text = format!(
        "Results\n\nBefore, on and off were indistinguishable, and now they part:\n\n- on is fine\n\n### figures\n\n{}\n\nThe worker spends ~18 % of cycles in the queue.\n",
        block4()
    );
    let found = page(&text).findings();
    assert!(found.iter().all(|f| f.rule == Rule::BlockPoints), "{found:#?}");
}

#[test]
fn samples_of_a_profile_are_no_runs() {
    let text = format!("Results\n\n{}\n\nThe profiler returned 24 readings.\n", block4());
    assert!(page(&text).of(Rule::RunCount).is_empty());
    let text = format!("Results\n\n{}\n\nMedian of 7 benches.\n", block4());
    assert_eq!(page(&text).of(Rule::RunCount).len(), 1);
}

#[test]
fn a_caption_may_add_the_patch_that_no_file_name_has() {
    let text = "Results\n\n![r368606 (D27401) and firewalls](graph-r368606.png)\n";
    let tree = page(text).with("graph-r368606.png", "");
    assert!(tree.of(Rule::CaptionFile).is_empty());
    let text = format!("{text}![r368606](graph-r368606D27401.png)\n");
    let tree = tree.with("README.md", &text).with("graph-r368606D27401.png", "");
    assert_eq!(tree.of(Rule::CaptionFile).len(), 2);
}

#[test]
fn a_title_about_firewalls_needs_something_of_them_on_the_page() {
    let with = |more: &str| {
        page(&format!("Impact of D27401 on firewalls\n\n{}\n{more}\n", block4()))
            .of(Rule::TitleCopied)
            .len()
    };
    assert_eq!(with(""), 1);
    assert_eq!(with("![Impact of ipfw and pf](https://x.org/graph.png)"), 0);
}

#[test]
fn a_blank_within_a_link_is_named_once() {
    let found = page("Results\n\nsee [one] (one.txt) and [two] (two.txt)\n").one(Rule::LinkTarget);
    assert_eq!((found.severity, found.line), (Severity::Check, 3));
    assert!(found.data.contains("1 more"), "{found:?}");
}

#[test]
fn a_page_from_standard_input_is_audited_without_data() {
    let text = format!("Results\n\n{}\n=> 99% improvement\n", block4());
    let report = crate::audit_page(text.as_bytes());
    assert_eq!((report.counts.pages, report.counts.blocks), (1, 1));
    assert!(report.has_wrong() && report.findings.iter().all(|f| f.file == "-"));
}

/// docs/audit.md is where people look a rule up.
#[test]
fn every_rule_is_documented_with_an_example() {
    let text = include_str!("../../../../docs/audit.md");
    for rule in Rule::ALL {
        let start = format!("| `{}` |", rule.id());
        let row = text.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("{} is not in docs/audit.md", rule.id()));
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        assert!(cells.len() == 3 && cells[2].trim().len() > 3, "no example: {row}");
    }
}

/// "5 benches" may be some of them; what was done with each set so many times is said of all.
#[test]
fn each_set_was_run_as_often_as_its_block_says() {
    let severity = |said: &str| {
        let text = format!("Results\n\n{said}\n\n{}\n", block4());
        page(&text).one(Rule::RunCount).severity
    };
    assert_eq!(severity("Each configuration was run 7 times."), Severity::Wrong);
    assert_eq!(
        severity("Each was run 7 times, of which the first two are left out."),
        Severity::Check
    );
    assert_eq!(severity("Median of 7 benches."), Severity::Check);
}

/// The changes of a table were held against the first set of the block, whatever base they name.
#[test]
fn a_change_of_a_table_is_against_the_base_of_its_row() {
    let sets: [(&str, &[f64]); 3] = [
        ("r368287: inet4", &[712_000.0, 713_000.0, 711_000.0, 712_500.0, 711_500.0]),
        ("r368606: inet4", &OLD4),
        ("r368606 with D27401: inet4", &NEW4),
    ];
    let of = |change: &str| {
        let table =
            format!("| patch | base | inet4 |\n|---|---|---|\n| D27401 | r368606 | {change} |");
        let tree = page(&format!("Results\n\n{}\n\n{table}\n", block(&sets)));
        tree.of(Rule::ClaimSize).iter().map(|own| own.severity).collect::<Vec<_>>()
    };
    assert!(of("+17.5%").is_empty());
    // against r368287
    assert_eq!(of("+15.0%"), [Severity::Wrong]);
}
