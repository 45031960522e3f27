use fwdlab_netbenches::page::{Item, ItemKind, Page};

use super::{CellVerdict, Grid, judge};

mod bindings;
mod grounds;

fn table(text: &str, about: &str) -> Grid {
    let page = Page::parse(text.as_bytes());
    let rows: Vec<&Item> = page.items.iter().filter(|item| item.kind == ItemKind::Row).collect();
    Grid::of_table(&rows, about).unwrap()
}

/// Whether all that is said of a sentence holds, or something of it is wrong; `None` where nothing is bound.
fn said(grid: &Grid, sentence: &str) -> Option<bool> {
    let all = judge(grid, "", sentence);
    if all.iter().any(|own| matches!(own.1, CellVerdict::Wrong(_))) {
        return Some(false);
    }
    (!all.is_empty() && all.iter().all(|own| own.1 == CellVerdict::Holds)).then_some(true)
}

fn hold(grid: &Grid, wanted: &[(&str, Option<bool>)]) {
    for (sentence, wanted) in wanted {
        assert_eq!(said(grid, sentence), *wanted, "{sentence} {:?}", judge(grid, "", sentence));
    }
}

const SERVICES: &str = "\
| Service | IPv4 | IPv6 |
|---|---:|---:|
| Routing only | 20.00 | 16.00 |
| NAT | 8.00 | n/a |
| ACL, 10 entries | 18.00 | 15.00 |
| ACL, 1k entries | 17.10 | 6.00 |
";

#[test]
fn a_number_is_of_the_cell_that_row_and_column_name() {
    let grid = table(SERVICES, "Throughput (Mpps)");
    hold(
        &grid,
        &[
            ("With NAT the device forwards 8.0 Mpps in IPv4.", Some(true)),
            ("With NAT the device forwards 9.0 Mpps in IPv4.", Some(false)),
            ("With NAT the IPv4 throughput drops by 60 % against routing only.", Some(true)),
            ("With NAT the IPv4 throughput drops by 40 % against routing only.", Some(false)),
            // of whatever it is, it names no row
            ("The tester offers 9.0 Mpps.", None),
            ("Something is 77 % slower.", None),
            // of the load, not of what is forwarded
            ("With NAT an offered load of 9.5 Mpps was used.", None),
            ("Would NAT reach 9 Mpps?", None),
        ],
    );
}

/// "Four times" was wrong of 4.02.
#[test]
fn factors_in_words_are_rounded_ones() {
    let grid = table(
        "| Firewall | Junco | Siskin |\n|---|---:|---:|\n| none | 2410 | 8750 |\n| pf stateful | 1475 | 5930 |\n",
        "kpps",
    );
    hold(
        &grid,
        &[
            ("With pf stateful, Siskin is four times as fast as Junco.", Some(true)),
            ("With pf stateful, Siskin is five times as fast as Junco.", Some(false)),
            ("With pf stateful, Siskin is 4.4 times as fast as Junco.", Some(false)),
        ],
    );
}

/// "Siskin ... five times as fast as Junco": "0.25 times" was what the data said, of Junco.
#[test]
fn a_wrong_factor_is_told_both_ways() {
    let grid = table(
        "| Firewall | Junco | Siskin |\n|---|---:|---:|\n| pf | 1475 | 5930 |\n| none | 2410 | 8750 |\n",
        "kpps",
    );
    let all = judge(&grid, "", "With pf, Siskin is five times as fast as Junco.");
    let told = all.iter().find_map(|own| match &own.1 {
        CellVerdict::Wrong(told) => Some(told.clone()),
        _ => None,
    });
    let told = told.expect("it is wrong");
    assert!(
        told.contains("4.02 times (+302.0 %)") && told.contains("0.25 times (-75.1 %)"),
        "{told}"
    );
    assert!(told.contains("the second is") && told.contains("the first"), "{told}");
}

#[test]
fn what_is_more_and_what_is_most_is_told_by_columns_and_rows() {
    let grid = table(SERVICES, "Throughput (Mpps)");
    hold(
        &grid,
        &[
            ("NAT has the lowest IPv4 rate.", Some(true)),
            ("Routing only has the lowest IPv6 value.", Some(false)),
            ("Routing only, IPv6 is below IPv4.", Some(true)),
            ("IPv6 exceeds IPv4.", Some(false)),
            // the best of some, and not of all
            ("The best firewall is NAT.", None),
        ],
    );
}

const LATENCY: &str = "\
| Load (%) | min [us] | avg [us] | max [us] | lost frames |
|---:|---:|---:|---:|---:|
| 10 | 5.0 | 8.0 | 40.0 | 0 |
| 90 | 5.2 | 24.0 | 140.0 | 7 |
";

#[test]
fn bounds_and_counts_are_of_each_row() {
    let grid = table(LATENCY, "");
    hold(
        &grid,
        &[
            ("The maximum latency never exceeds 150 us.", Some(true)),
            ("The maximum latency never exceeds 100 us.", Some(false)),
            ("No frames were lost.", Some(false)),
            ("Between 10 % and 90 % load the average latency triples.", Some(true)),
            ("At 90 % load the average is 28.0 us.", Some(false)),
        ],
    );
}

const FLOWS: &str = "\
| Flows | Vendor A (Mpps) | In-house (Mpps) |
|---|---|---|
| 1 k | 8.90 | 8.10 |
| 1 M | 3.10 | 4.80 |
";

#[test]
fn names_of_several_words_are_one_name() {
    let grid = table(FLOWS, "");
    hold(
        &grid,
        &[
            ("At 1 M flows, Vendor A is the fastest.", Some(false)),
            ("At 1 k flows, Vendor A is the fastest.", Some(true)),
            ("Vendor A drops from 8.90 Mpps at 1 k to 3.10 Mpps at 1 M flows.", Some(true)),
            ("Vendor A drops from 8.90 Mpps at 1 k to 4.20 Mpps at 1 M flows.", Some(false)),
        ],
    );
}

#[test]
fn figures_of_a_block_are_told_by_what_ministat_calls_them() {
    let stock = ("stock", [1.805e6, 1.826e6, 1.809e6, 1.8135e6, 8378.0]);
    let patched = ("q8 patched", [1.980e6, 2.014e6, 1.993e6, 1.9936e6, 13365.0]);
    let grid = Grid::of_block((1, 9), &[stock, patched], "");
    hold(
        &grid,
        &[
            ("Stddev 8.4K before, 13.4K after.", Some(true)),
            ("Stddev 13.4K before, 8.4K after.", Some(false)),
            ("Stddev goes from 8.4 kpps to 13.4 kpps.", Some(true)),
            ("Stock peaks at 1.83 Mpps.", Some(true)),
            ("Stock peaks at 1.76 Mpps.", Some(false)),
            ("The worst patched run is 154 kpps above the best stock one.", Some(true)),
            ("The worst patched run is below the best stock run.", Some(false)),
            ("Stock is the noisiest of all.", Some(false)),
            ("551 ns per packet become 502 ns per packet.", Some(true)),
            // what is held against something else is not of these two
            ("The tag costs 24% on stock.", None),
            ("Forwarding 1000 packets took 1.20 ms before.", None),
        ],
    );
}

#[test]
fn rows_that_share_what_they_are_called_are_no_pair() {
    let sets = [
        ("none", [3.9e6, 4.0e6, 3.95e6, 3.95e6, 9e3]),
        ("pf 1 rule", [3.0e6, 3.2e6, 3.1e6, 3.1e6, 9e3]),
        ("pf 500 rules", [1.3e6, 1.4e6, 1.38e6, 1.38e6, 9e3]),
    ];
    let grid = Grid::of_block((1, 9), &sets, "");
    hold(
        &grid,
        &[
            ("A pf rule eats 21.5% of the rate.", None),
            ("From 1 to 500 rules pf loses 55%.", Some(true)),
            ("From 1 to 500 rules pf loses 35%.", Some(false)),
        ],
    );
}

const CORES: &str = "\
| cores | stock (Mpps) | patched (Mpps) |
|---|---:|---:|
| 1 | 0.50 | 0.58 |
| 4 | 1.80 | 2.40 |
| 8 | 2.90 | 2.30 |
";

#[test]
fn steps_factors_and_the_only_one_are_told_by_all_rows() {
    let grid = table(CORES, "");
    hold(
        &grid,
        &[
            ("Stock grows monotonically.", Some(true)),
            ("Patched grows monotonically.", Some(false)),
            ("Stock goes up with every step.", Some(true)),
            // of six times one of them
            ("With stock 8 cores forward less than six times what one core does.", Some(true)),
            // what one gains as many times as another
            ("The patched kernel grows five times as much as stock does.", None),
            ("Per packet 8 cores need six times the energy of one.", None),
        ],
    );
}

const UPDATES: &str = "\
| Structure | Insertions | Withdrawals |
|---|---:|---:|
| Trie | 1,210,000 | 1,180,000 |
| LC-trie | 38,400 | 36,900 |
| DIR-24-8 | 9,800 | 7,300 |
";

#[test]
fn a_number_with_the_name_of_a_column_is_of_it() {
    let grid = table(UPDATES, "");
    hold(
        &grid,
        &[
            ("DIR-24-8 is the only one that does not reach 10,000 insertions.", Some(true)),
            ("DIR-24-8 is the only one that does not reach 50,000 insertions.", Some(false)),
        ],
    );
}

const TURNED: &str = "\
| | AES | ChaCha |
|---|---:|---:|
| Throughput, 1 tunnel (Gbit/s) | 9.1 | 6.7 |
| Throughput, 64 tunnels (Gbit/s) | 21.4 | 22.7 |
| CPU load (%) | 71 | 98 |
";

#[test]
fn what_is_measured_may_stand_before_rows() {
    let grid = table(TURNED, "");
    assert_eq!((grid.rows.len(), grid.columns.len()), (2, 3));
    let units: Vec<super::Unit> = grid.columns.iter().map(|own| own.unit).collect();
    assert_eq!(units, [super::Unit::Bits, super::Unit::Bits, super::Unit::Percent]);
    assert_eq!(grid.at((1, 0)).map(|own| own.value), Some(6.7e9));
}

#[test]
fn a_number_is_the_same_however_it_is_written() {
    let grid = table("| routes | rate (Mpps) |\n|---|---|\n| 1,000 | 9.0 |\n| 1M | 3.0 |\n", "");
    hold(
        &grid,
        &[
            ("With a million routes it is 3.0 Mpps.", Some(true)),
            ("With a million routes it is 4.0 Mpps.", Some(false)),
            ("With a thousand routes it is 9.0 Mpps.", Some(true)),
            ("With 1k routes it is 7.0 Mpps.", Some(false)),
        ],
    );
}

#[test]
fn a_block_is_of_the_unit_that_stands_above_it() {
    let sets = [("a", [5.0, 7.0, 6.0, 6.0, 0.1]), ("b", [8.0, 9.0, 8.5, 8.5, 0.1])];
    let grid = Grid::of_block((1, 9), &sets, "Raw rate, seven runs each, Mpps");
    assert_eq!(grid.at((0, 1)).map(|own| own.value), Some(7e6));
    // of a link, and of packets/s already
    for (above, scale) in [("on 10 Gbit/s", 1.0), ("Tunnel, Mbit/s", 1e6)] {
        let grid = Grid::of_block((1, 9), &sets, above);
        assert_eq!(grid.at((0, 1)).map(|own| own.value), Some(7.0 * scale), "{above}");
    }
}
