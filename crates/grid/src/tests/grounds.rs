//! What nothing on a page gives.

use super::{SERVICES, table};
use crate::{Grid, Number, Sentence, Unit, ungrounded};
use std::collections::BTreeSet;

/// What is asked of a sentence beside some grids.
fn asked(grids: &[&Grid], text: &str) -> Option<String> {
    let none = BTreeSet::new();
    let heads: Vec<&BTreeSet<String>> = grids.iter().map(|_| &none).collect();
    let stated = [Number { value: 14.88e6, half: 5e3, unit: Unit::Packets }];
    let sentence = Sentence { grids, heads: &heads, stated: &stated, before: "", text };
    ungrounded(&sentence, &(0..text.len())).map(|own| own.data)
}

fn hold(grid: &Grid, right: &[&str], wrong: &[&str]) {
    for text in right {
        assert_eq!(asked(&[grid], text), None, "{text}");
    }
    for text in wrong {
        assert!(asked(&[grid], text).is_some(), "{text}");
    }
}

#[test]
fn a_number_is_some_figure_of_what_is_named() {
    let grid = table(SERVICES, "Throughput (Mpps)");
    hold(
        &grid,
        &[
            "For plain routing we noted 20 Mpps of IPv4.",
            "NAT takes away 12 Mpps, or 60% of the IPv4 rate.",
            "With 10 entries an ACL leaves 90 % of it.",
            "Routing does 2.5 times what NAT does.",
            "IPv6 routing is a fifth slower.",
            "More than half of the IPv4 rate is gone with NAT.",
            "The generator sent 14.88 Mpps.",
            "About 8.3 Mpps are left with NAT.",
            // nothing of its kind is measured
            "A run takes 60 s, the box 45 W.",
        ],
        &[
            "For plain routing we noted 23 Mpps of IPv4.",
            "NAT takes away 10.7 Mpps.",
            "NAT takes away 72% of the IPv4 rate.",
            "Routing does 3.1 times what NAT does.",
            "About 6.5 Mpps are left with NAT.",
        ],
    );
}

/// What is taken away is no value that is left: 9 of 8 was one, as both are written.
#[test]
fn what_is_taken_away_is_what_two_are_apart() {
    let grid = table("| setup | Mpps |\n|---|---:|\n| plain | 20 |\n| NAT | 8 |\n", "");
    hold(
        &grid,
        &["NAT takes away 12 Mpps.", "NAT takes 12 Mpps away."],
        &["NAT takes away 9 Mpps.", "NAT takes 9 Mpps away."],
    );
}

#[test]
fn what_is_asked_names_the_nearest_figure_and_how_many_there_were() {
    let grid = table(SERVICES, "Throughput (Mpps)");
    let data = asked(&[&grid], "We noted 6.1 Mpps of IPv4 for NAT.").unwrap();
    assert!(data.starts_with("nothing here gives 6.1 Mpps: of "), "{data}");
    assert!(data.contains("the nearest is 8.000 Mpps, 'NAT', IPv4"), "{data}");
}

#[test]
fn a_bound_of_all_is_one_of_each() {
    let grid = table(SERVICES, "Throughput (Mpps)");
    hold(
        &grid,
        &[
            "No service gets less than 8 Mpps over IPv4.",
            "All of them stay below 17 Mpps with IPv6.",
        ],
        &[
            "No service gets less than 9 Mpps over IPv4.",
            "All of them stay below 15.5 Mpps with IPv6.",
        ],
    );
}

#[test]
fn an_order_is_so_of_some_pair_of_what_is_named() {
    let grid = table(SERVICES, "Throughput (Mpps)");
    hold(
        &grid,
        &[
            "NAT is well behind plain routing.",
            "Routing only beats NAT.",
            "Routing is the fastest of all.",
            "IPv6 never is faster than IPv4.",
            "With IPv6 each of these is slower than with IPv4.",
        ],
        &[
            "Plain routing is well behind NAT.",
            "NAT beats routing.",
            "NAT is the fastest of all.",
            "With IPv6 each of these is faster than with IPv4.",
        ],
    );
}

#[test]
fn less_time_is_faster() {
    let text = "\
| Driver | p50 (us) | p99 (us) |
|---|---:|---:|
| alpha | 10 | 40 |
| beta | 14 | 31 |
| gamma | 19 | 77 |
";
    let grid = table(text, "");
    hold(
        &grid,
        &["alpha has the shortest p50.", "gamma is slower than alpha.", "gamma has the worst p99."],
        &["gamma has the shortest p50.", "gamma is faster than alpha.", "beta has the worst p99."],
    );
}

/// A table in which some pair is anything is asked about nothing.
#[test]
fn of_too_many_figures_nothing_is_asked() {
    let mut text = "| Case | Old | New |\n|---|---:|---:|\n".to_owned();
    for row in 0..200 {
        text.push_str(&format!("| case{row} | {}.5 | {}.25 |\n", row + 1, row + 1));
    }
    let grid = table(&text, "Rates (Mpps)");
    assert_eq!(asked(&[&grid], "It was 812.4 Mpps."), None);
}
