//! Sentences of pages that compare settings: several numbers of queues with both families, sizes of a table below the
//! firewalls that it is of, and what is said of spreads, gaps and of one family alone.

use super::*;

/// Runs around a level, so far apart as said.
fn runs(level: f64, spread: f64) -> Vec<f64> {
    [-1.0, 0.2, 0.9, -0.4, 0.5].map(|off| level + off * spread).to_vec()
}

fn sets(all: &[(&str, f64, f64)]) -> String {
    let own: Vec<(&str, Vec<f64>)> =
        all.iter().map(|(name, level, spread)| (*name, runs(*level, *spread))).collect();
    let own: Vec<(&str, &[f64])> = own.iter().map(|(name, runs)| (*name, &runs[..])).collect();
    block(&own)
}

/// What is said of a sentence that stands last.
fn said(above: &str, sentence: &str) -> Vec<Severity> {
    let line = above.lines().count() + 1;
    let all = page(&format!("{above}{sentence}\n")).findings();
    all.iter()
        .filter(|f| f.line >= line && f.severity != Severity::Info)
        .map(|f| f.severity)
        .collect()
}

fn hold(above: &str, right: &[&str], wrong: &[&str]) {
    for sentence in right {
        assert!(!said(above, sentence).contains(&Severity::Wrong), "blamed: {sentence}");
    }
    for sentence in wrong {
        assert!(!said(above, sentence).is_empty(), "missed: {sentence}");
    }
}

fn queues() -> String {
    let of = |family: &str, last: f64| {
        let name = |queues: usize| format!("q{queues}.{family}.pps");
        let (one, four, eight) = (name(1), name(4), name(8));
        sets(&[(&one, 1.62e6, 4e3), (&four, 5.95e6, 4e4), (&eight, last, 1.6e5)])
    };
    let (inet, inet6) = (of("inet4", 9.85e6), of("inet6", 5.52e6));
    format!("Queues\n\n## inet4\n\n{inet}\n\n## inet6\n\n{inet6}\n\n")
}

#[test]
fn who_scatters_most_and_where_a_gap_is_widest() {
    let right = [
        "* The 8-queue set is the noisiest of the three (largest stddev).",
        "* One queue is the most stable setting.",
        "* The gap between inet4 and inet6 is the widest with 8 queues.",
    ];
    let wrong = [
        "* The 8-queue set is the most stable of the three (smallest stddev).",
        "* One queue has the largest standard deviation.",
        "* The gap between inet4 and inet6 is the smallest with 8 queues.",
        "* The gap between inet4 and inet6 is the widest with four queues.",
    ];
    hold(&queues(), &right, &wrong);
}

/// Firewalls, then the sizes of a table of one of them under a heading of its own, then the other family.
fn tables() -> String {
    let firewalls = sets(&[
        ("fwd.pps", 5.18e6, 4e4),
        ("ipfw-stateless.pps", 4.15e6, 2e4),
        ("ipfw-stateful.pps", 3.4e6, 1e4),
        ("pf-stateful.pps", 2.86e6, 2e4),
    ]);
    let sizes = sets(&[
        ("hash-32k.pps", 2.86e6, 2e4),
        ("hash-1M.pps", 3.3e6, 2e4),
        ("hash-4M.pps", 3.3e6, 2e4),
    ]);
    let family = sets(&[("fwd6.pps", 4.97e6, 3e4), ("pf6-stateful.pps", 2.58e6, 2e4)]);
    format!(
        "What a firewall costs\n=====================\n\nFirewalls, IPv4\n---------------\n\n{firewalls}\n\n\
         IPv6\n----\n\n{family}\n\nThe pf state table\n------------------\n\nStateful pf with 32k (the \
         default), 1M and 4M entries:\n\n{sizes}\n\n"
    )
}

#[test]
fn sets_are_named_by_their_setting_and_blocks_by_what_they_stand_under() {
    let right = [
        "Going from 32k to 1M lifts pf from 2.86 to 3.30 Mpps, that is by 15.4 percent.",
        "The worst run with 1M entries (3.28 Mpps) is well above the best one with 32k (2.88 Mpps).",
        "Plain IPv6 forwarding is about 4 percent slower than plain IPv4 forwarding.",
        "Without any firewall the box forwards 5.18 Mpps on average.",
    ];
    let wrong = [
        "Going from 32k to 1M lifts pf from 2.86 to 3.90 Mpps, that is by 36 percent.",
        "The worst run with 1M entries (3.28 Mpps) is below the best one with 32k (2.88 Mpps).",
    ];
    hold(&tables(), &right, &wrong);
    let above = tables();
    let announced = above.find("Stateful pf with").unwrap();
    let line = above[..announced].lines().count() + 1;
    let is_wrong = |f: &AuditFinding| f.line == line && f.severity == Severity::Wrong;
    assert!(!page(&above).findings().iter().any(is_wrong));
}

/// A revision, the next one, and that with a patch.
fn revisions() -> String {
    let of = |family: &str, levels: [f64; 3]| {
        let name = |name: &str| format!("{name}.{family}.pps");
        let (old, new, patched) = (name("r357011"), name("r357013"), name("r357013-D23242"));
        sets(&[(&old, levels[0], 1e3), (&new, levels[1], 3e3), (&patched, levels[2], 1e3)])
    };
    let inet6 = of("inet6", [799e3, 742e3, 799e3]);
    let inet = of("inet4", [713e3, 691e3, 758e3]);
    format!("Impact of r357013\n\n## IPv6\n\n{inet6}\n\n## IPv4\n\n{inet}\n\n")
}

#[test]
fn what_is_limited_to_one_family_is_not_so_of_the_other() {
    let right = [
        "=> r357013 is the slowest of the three here, with only 691 Kpps",
        "The improvement with D23242 over r357011 is limited to IPv4, the IPv6 is not impacted.",
    ];
    let wrong = [
        "The regression of r357013 is limited to IPv4, the IPv6 is not impacted.",
        "The regression of r357013 is confined to IPv6.",
    ];
    hold(&revisions(), &right, &wrong);
}

/// Cores, and what is called after what it does.
fn drops() -> String {
    let of = |what: &str, one: f64, four: f64| {
        let name = |cores: usize| format!("xdp-{what}.{cores}c.pps");
        let (a, b, c) = (name(1), name(2), name(4));
        sets(&[(&a, one, 2e4), (&b, 2.0 * one, 5e4), (&c, four, 4e5)])
    };
    let (drop, redirect) = (of("drop", 14.2e6, 54.5e6), of("redirect", 6.0e6, 22e6));
    format!(
        "XDP\n\n`xdp-bench drop`, default options:\n\n{drop}\n`xdp-bench redirect`, same order:\n\n{redirect}\n\n"
    )
}

#[test]
fn what_sets_are_called_says_nothing_of_them() {
    let above = drops();
    let is_wrong = |f: &AuditFinding| {
        f.severity == Severity::Wrong && above.lines().nth(f.line - 1).unwrap().contains("bench")
    };
    assert!(!page(&above).findings().iter().any(is_wrong));
    let right = [
        "One core already drops 14.2 Mpps.",
        "Four cores are the noisiest setup of the three.",
        "On one core XDP drop is 2.4 times as fast as this.",
    ];
    let wrong = [
        "Four cores are the steadiest setup of the three.",
        "Every four-core trial of redirect is above 22.3 Mpps.",
    ];
    hold(&above, &right, &wrong);
}

#[test]
fn a_table_without_a_block_is_of_the_medians_beside_it() {
    let found = |rate: &str| {
        let text =
            format!("Cards\n\n| NIC | IPv4 kpps |\n|---|---:|\n| RTL8111 (r8169) | {rate} |\n");
        let tree = Tree::new().series("igb.rx1", &OLD4).series("r8169.rx1", &NEW4);
        tree.with("README.md", &text).of(Rule::ClaimRate).iter().map(|f| f.severity).next()
    };
    assert_eq!((found("818"), found("697")), (None, Some(Severity::Wrong)));
}
