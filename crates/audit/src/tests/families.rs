//! Sentences below a block of family against family: of the families, or of what the page is about.

use super::*;

/// Blocks of either family, of the families without the review, and with it; the sentence stands last.
fn found(sentence: &str) -> Vec<AuditFinding> {
    let without = block(&[("r368606: inet4", &OLD4), ("r368606: inet6", &OLD6)]);
    let with =
        block(&[("r368606 with D27401: inet4", &NEW4), ("r368606 with D27401: inet6", &NEW6)]);
    let text = format!(
        "Results\n\nIPv4:\n{}\nIPv6:\n{}\nWithout D27401:\n{without}\nWith D27401:\n{with}\n=> {sentence}\n",
        block4(),
        block6()
    );
    let all = page(&text).findings();
    all.into_iter()
        .filter(|f| f.severity == Severity::Wrong && f.rule != Rule::BlockPoints)
        .collect()
}

const RIGHT: &[&str] = &[
    "D27401 improves IPv4 by 17.5%.",
    "IPv4 gains 17.5% with D27401.",
    "D27401 makes IPv4 forwarding faster by 17.5%.",
    "r368606 with D27401 forwards IPv6 7.2% slower than r368606.",
    "IPv4 goes from 697 Kpps to 818 Kpps with the patch.",
    "IPv4 is now the faster one.",
    "IPv6 is the slower one.",
    "IPv6 is 5.7% slower than IPv4.",
    "With D27401, IPv6 is 5.7% slower.",
    "The patch is a loss for IPv6.",
    "The difference between the families did not stay the same.",
    "IPv4 with the patch reaches 818 Kpps.",
    "The patch helps IPv4 but not IPv6.",
    "The improvement of IPv4 is above 15%.",
    "The gap between the families narrows with D27401.",
    "IPv6 reaches 832 Kpps without the patch.",
    "IPv6 falls below 800 Kpps with the patch.",
    "IPv4 becomes the faster of the two with the patch.",
];

const WRONG: &[&str] = &[
    "D27401 improves IPv4 by 8%.",
    "The patch slows IPv4 down.",
    "D27401 reduces IPv4 forwarding by 17.5%.",
    "r368606 with D27401 forwards IPv6 2.9% slower than r368606.",
    "IPv4 goes from 697 Kpps to 918 Kpps with the patch.",
    "IPv4 is still the slower one.",
    "IPv6 is 15% slower than IPv4.",
    "The patch brings 11% to IPv6.",
    "No impact of the patch on IPv4.",
    "IPv6 with the patch reaches 702 Kpps.",
    "The gap between the families doubles with D27401.",
    "The gap between the families widens with D27401.",
    "The patch brings 6% to IPv6.",
    "IPv4 is 6% slower than IPv6.",
    "IPv4 forwards at about 950 Kpps either way.",
    "IPv6 stays the faster of the two with the patch.",
    "IPv6 falls below 700 Kpps with the patch.",
];

#[test]
fn a_sentence_below_families_may_be_of_either_block() {
    let blamed: Vec<_> =
        RIGHT.iter().map(|s| (s, found(s))).filter(|(_, f)| !f.is_empty()).collect();
    assert!(blamed.is_empty(), "{blamed:#?}");
    let missed: Vec<_> = WRONG.iter().filter(|s| found(s).is_empty()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

/// The first two compare revisions, the others a review.
#[test]
fn both_families_are_those_of_the_block_above() {
    let block = |x: &str, a: &[f64], y: &str, b: &[f64]| block(&[(x, a), (y, b)]);
    let text = format!(
        "Results\n\nIPv4:\n{}\nIPv6:\n{}\nwith the revision before:\n{}\n{}\n\
         => The new revision is faster for both families.\n",
        block("r368606: inet4", &NEW4, "r368606 with D27401: inet4", &OLD4),
        block("r368606: inet6", &OLD6, "r368606 with D27401: inet6", &NEW6),
        block("r368287: inet4", &OLD4, "r368606: inet4", &NEW4),
        block("r368287: inet6", &NEW6, "r368606: inet6", &OLD6),
    );
    let all = Tree::new().with("README.md", &text).findings();
    assert!(all.iter().all(|found| found.rule != Rule::ClaimAll), "{all:#?}");
    let everywhere = text.replace("both families", "all tests");
    let all = Tree::new().with("README.md", &everywhere).findings();
    assert!(all.iter().any(|found| found.rule == Rule::ClaimAll), "{all:#?}");
}

#[test]
fn a_number_held_against_another_is_of_the_other() {
    let text = |sentence: &str| format!("Results\n\nIPv4:\n{}\n=> {sentence}\n", block4());
    let wrong = |sentence: &str| {
        let all = page(&text(sentence)).findings();
        all.into_iter().filter(|f| f.severity == Severity::Wrong).count()
    };
    assert_eq!(wrong("IPv4 gained 17.5% against 50% on the other machine"), 0);
    assert_eq!(wrong("IPv4 gained 50% against 17.5% on the other machine"), 1);
}

#[test]
fn all_cases_of_a_patch_are_those_that_it_changes() {
    let far = |set: &[f64]| set.iter().map(|v| v * 1.5).collect::<Vec<f64>>();
    let (old6, new6) = (far(&NEW6), far(&OLD6));
    let text = format!(
        "Results\n\nIPv4:\n{}\nIPv6:\n{}\nWith D27401:\n{}\n\
         => The improvement is below 20% in both cases.\n",
        block4(),
        block(&[("r368606: inet6", &old6), ("r368606 with D27401: inet6", &new6)]),
        block(&[("r368606 with D27401: inet4", &NEW4), ("r368606 with D27401: inet6", &new6)]),
    );
    let about_all = |text: &str| {
        let all = Tree::new().with("README.md", text).findings();
        all.into_iter().filter(|found| found.rule == Rule::ClaimAll).count()
    };
    assert_eq!(about_all(&text), 0);
    assert_eq!(about_all(&text.replace("below 20%", "below 10%")), 1);
}
