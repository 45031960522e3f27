//! Sentences of a page whose blocks are of several things: forwarding and two firewalls.

use super::*;

/// Three blocks of one review; the sentence stands last.
fn found(sentence: &str) -> Vec<AuditFinding> {
    let of = |name: &str, old: f64, new: f64| {
        let runs = |level: f64| [0.998, 1.0, 1.001, 1.003, 0.999].map(|share| share * level);
        let (before, after) = (format!("r351000 {name}"), format!("r351000 with D999 {name}"));
        block(&[(before.as_str(), &runs(old)), (after.as_str(), &runs(new))])
    };
    let text = format!(
        "Impact of D999\n\n{}\n{}\n{}\n{sentence}\n",
        of("forwarding", 900_000.0, 927_000.0),
        of("ipfw-statefull", 600_000.0, 570_000.0),
        of("pf-statefull", 400_000.0, 392_000.0)
    );
    let is_wrong = |f: &AuditFinding| f.severity == Severity::Wrong && f.line > 30;
    page(&text).findings().into_iter().filter(is_wrong).collect()
}

const RIGHT: &[&str] = &[
    "ipfw loses 5%.",
    "pf: -2%, ipfw: -5%, forwarding: +3%",
    "Both firewalls are slower with D999.",
    "D999 slows ipfw and pf down.",
    "Only forwarding gains from D999.",
    "Forwarding is the only one that does not lose.",
    "ipfw stays faster than pf, with and without D999.",
    "The biggest loss is for ipfw.",
    "The regression is bigger with ipfw than with pf.",
    "pf drops from 400Kpps to 392Kpps.",
    "Less than 3% of pf performance is lost.",
    "Enabling a firewall costs more than a third of the rate.",
    "D999 costs 30 Kpps to ipfw.",
    "pf falls by 2%.",
];

const WRONG: &[&str] = &[
    "ipfw gains 5%.",
    "pf: -5%, ipfw: -2%",
    "Both firewalls are faster with D999.",
    "D999 speeds ipfw and pf up.",
    "All three configurations are slower with D999.",
    "ipfw is not impacted by D999.",
    "Only pf is slower with D999.",
    "pf is the only one that does not lose.",
    "pf stays faster than ipfw, with and without D999.",
    "The biggest loss is for pf.",
    "The regression is bigger with pf than with ipfw.",
    "ipfw drops from 600Kpps to 510Kpps.",
    "More than 5% of pf performance is lost.",
    "D999 brings 12% to forwarding.",
    "D999 doubles the ipfw rate.",
    "pf falls by 12%.",
];

#[test]
fn what_is_said_of_one_thing_is_held_against_its_block() {
    let blamed: Vec<&&str> = RIGHT.iter().filter(|text| !found(text).is_empty()).collect();
    let missed: Vec<&&str> = WRONG.iter().filter(|text| found(text).is_empty()).collect();
    assert!(blamed.is_empty() && missed.is_empty(), "blamed {blamed:#?}, missed {missed:#?}");
}

#[test]
fn settings_are_told_from_words() {
    let off = [800.0, 802.0, 801.0, 799.0, 803.0];
    let (on, later) = (off.map(|v| v * 0.5), off.map(|v| v * 1.2));
    let text = |sentence: &str| {
        let first = block(&[("r1/simple_tx_off.pps", &off), ("r1.D7777/simple_tx_off.pps", &on)]);
        let second = block(&[("r1/simple_tx_on.pps", &on), ("r1.D7777/simple_tx_on.pps", &later)]);
        format!("Impact of D7777\n\n{first}\n{second}\n{sentence}\n")
    };
    let said = |sentence: &str| -> Vec<Severity> {
        let all = page(&text(sentence)).findings();
        all.iter().filter(|f| f.line > 20).map(|f| f.severity).collect()
    };
    for right in [
        "Post-patch, simple_tx=on is the faster of the two.",
        "Pre-patch, simple_tx=off forwarded more than simple_tx=on.",
        "The patch makes simple_tx=on more than twice as fast.",
    ] {
        assert!(!said(right).contains(&Severity::Wrong), "{right}");
    }
    // On a page of two settings what makes more than one plain claim is asked about.
    for wrong in [
        "Post-patch, simple_tx=off is the faster of the two.",
        "Pre-patch, simple_tx=on forwarded more than simple_tx=off.",
        "The patch makes simple_tx=on five times as fast.",
        "The patch doubles simple_tx=off.",
    ] {
        assert!(!said(wrong).is_empty(), "{wrong}");
    }
}

/// A page of three sets and no words, and what is said below it.
#[test]
fn a_number_that_no_two_sets_give_is_wrong_whichever_are_meant() {
    let level = |share: f64| [998.0, 1000.0, 1001.0, 1003.0, 999.0].map(|v| v * 1e4 * share);
    let sets = [("one-8q", level(1.0)), ("two-16q", level(1.01)), ("three-16q", level(1.012))];
    let sets = sets.each_ref().map(|(label, values)| (*label, values.as_slice()));
    let is_wrong = |sentence: &str| {
        let text = format!("Impact of queues\n\n{}\n{sentence}\n", block(&sets));
        page(&text).findings().iter().any(|f| f.severity == Severity::Wrong && f.line > 10)
    };
    for right in ["The others forward 1% more.", "It brings 110Kpps more."] {
        assert!(!is_wrong(right), "{right}");
    }
    for wrong in ["We forward 9% less.", "It brings 1.9Mpps more."] {
        assert!(is_wrong(wrong), "{wrong}");
    }
}

/// Blocks of files below one directory: the file names it, not the directory.
#[test]
fn what_a_file_is_called_names_its_block() {
    let level = |share: f64| [998.0, 1000.0, 1001.0, 1003.0, 999.0].map(|v| v * 1e3 * share);
    let of = |file: &str, old: f64, new: f64| {
        let far = format!("../../forwarding-pf-ipfw/results/r7/{file}.pps");
        block(&[(far.as_str(), &level(old)), (&format!("{file}.pps"), &level(new))])
    };
    let is_wrong = |sentence: &str| {
        let text = format!(
            "Impact of a jail\n\n{}\n{}\n{}\n{sentence}\n",
            of("forwarding.inet4", 9.0, 9.0),
            of("ipfw-stateless.inet4", 6.0, 6.3),
            of("pf-stateful.inet4", 3.0, 3.0)
        );
        page(&text).findings().iter().any(|f| f.severity == Severity::Wrong && f.line > 25)
    };
    for right in ["ipfw is 5% faster in a jail.", "pf is the slowest of both firewalls."] {
        assert!(!is_wrong(right), "{right}");
    }
    for wrong in [
        "ipfw is 5% slower in a jail.",
        "The jail costs ipfw 5%.",
        "pf is the fastest of both firewalls.",
        "The jail costs pf 4%.",
    ] {
        assert!(is_wrong(wrong), "{wrong}");
    }
}
