//! What a sentence names by place, by size, by what stood before, or for all rows at once.

use super::{hold, table};
use crate::{CellVerdict, Grid, Shown, across, joined, judge, judge_across, with_tables_named};

const RINGS: &str = "\
| Ring entries | Rate (Mpps) | Average latency (us) |
|---:|---:|---:|
| 128 | 9.12 | 11.0 |
| 512 | 11.85 | 15.9 |
| 2048 | 11.10 | 41.7 |
";

#[test]
fn rows_are_named_by_their_place_and_by_their_size() {
    let grid = table(RINGS, "");
    hold(
        &grid,
        &[
            ("In the second row the rate is 11.85 Mpps.", Some(true)),
            ("In the second row the rate is 11.10 Mpps.", Some(false)),
            ("The rate in the last line is the highest of all.", Some(false)),
            ("The rate in the middle of the table is fine.", None),
            ("With the smallest ring the average latency is 11.0 us.", Some(true)),
            ("With the largest ring the average latency is 51.7 us.", Some(false)),
            ("From the first row to the second the rate grows by 30 %.", Some(true)),
            ("From the first row to the second the rate grows by 60 %.", Some(false)),
            // which column is the second one is open
            ("In the first row the second column has 11.0 us.", Some(true)),
            // no row
            ("The bottom line is that 7.0 Mpps are enough.", None),
        ],
    );
}

const STACKS: &str = "\
| Stack | 64 bytes (Mpps) | Busy (W) |
|---|---:|---:|
| kernel | 1.92 | 88 |
| XDP | 9.70 | 93 |
| DPDK | 14.60 | 99 |
";

/// Whether something of a sentence behind another is asked about; what is taken from there is never called wrong.
fn is_asked(before: &str, sentence: &str) -> bool {
    let all = judge(&table(STACKS, ""), before, sentence);
    assert!(!all.iter().any(|own| matches!(own.1, CellVerdict::Wrong(_))), "{sentence} {all:?}");
    all.iter().any(|own| matches!(own.1, CellVerdict::Doubtful(_)))
}

#[test]
fn what_is_taken_from_the_sentence_before_is_asked_about() {
    for (before, sentence, is_odd) in [
        ("DPDK polls. ", "It reaches 14.6 Mpps with 64 bytes.", false),
        ("DPDK polls. ", "It reaches 15.8 Mpps with 64 bytes.", true),
        // of which of the two
        ("DPDK is ahead of XDP. ", "It reaches 15.8 Mpps with 64 bytes.", false),
        ("The kernel has 1.92 Mpps. ", "That is a fifth of what XDP has.", false),
        ("The kernel has 1.92 Mpps. ", "That is a third of what XDP has.", true),
        ("Busy power is 88 W for the kernel. ", "XDP has the same.", true),
        ("Busy power is 93 W for XDP. ", "XDP has the same.", false),
        ("Look at XDP and the kernel. ", "Both draw 93 W when busy.", true),
    ] {
        assert_eq!(is_asked(before, sentence), is_odd, "{before}{sentence}");
    }
}

#[test]
fn the_latter_of_two_is_as_sure_as_its_name() {
    let grid = table(STACKS, "");
    let said = |sentence: &str| judge(&grid, "XDP is a rival of DPDK. ", sentence);
    let right = said("The former has 9.7 Mpps with 64 bytes, the latter 14.6 Mpps.");
    assert!(right.len() == 2 && right.iter().all(|own| own.1 == CellVerdict::Holds), "{right:?}");
    let wrong = said("The latter has 9.7 Mpps with 64 bytes.");
    assert!(matches!(wrong[..], [(_, CellVerdict::Wrong(_))]), "{wrong:?}");
}

const GUESTS: &str = "\
| Guest | virtio (Mpps) | SR-IOV (Mpps) | change |
|---|---:|---:|---:|
| Debian | 1.41 | 6.88 | +1.2% |
| FreeBSD | 1.12 | 5.90 | -0.4% |
| OpenBSD | 0.55 | 1.02 | +4.8% |
| Alpine | 1.39 | 6.95 | -3.6% |
";

#[test]
fn what_is_said_of_all_rows_is_held_against_each() {
    let grid = table(GUESTS, "");
    hold(
        &grid,
        &[
            ("No guest gets more than 7 Mpps through SR-IOV.", Some(true)),
            ("No guest gets more than 6 Mpps through SR-IOV.", Some(false)),
            ("Virtio never gets to two thirds of SR-IOV.", Some(true)),
            ("Virtio never gets to half of SR-IOV.", Some(false)),
            ("Nothing changes by more than 5 %.", Some(true)),
            ("Nothing changes by more than 4 %.", Some(false)),
            ("None of them lost more than 4 %.", Some(true)),
            ("None of them lost more than 3 %.", Some(false)),
            ("Two of the four guests improved.", Some(true)),
            ("Three of the four guests improved.", Some(false)),
            ("OpenBSD shows the best gain.", Some(true)),
            ("Debian shows the best gain.", Some(false)),
            ("FreeBSD is the only guest that loses.", Some(false)),
            ("Nowhere does SR-IOV do worse than virtio.", Some(true)),
            ("Nowhere does virtio do worse than SR-IOV.", Some(false)),
            // not of all
            ("Not every guest improved.", None),
        ],
    );
}

#[test]
fn long_and_numbered_tables_are_read() {
    let mut text = "| # | case | base (Mpps) | head (Mpps) |\n|---|---|---|---|\n".to_owned();
    for at in 0..100 {
        let name = format!("em{}/v{}/{}", at / 10, 4 + at % 2 * 2, 64 + at);
        text += &format!("| {} | {name} | {at}.5 | {at}.7 |\n", at + 1);
    }
    let grid = table(&text, "");
    assert_eq!(grid.rows.len(), 100);
    hold(
        &grid,
        &[
            ("With em9/v4/154 head has 90.7 Mpps.", Some(true)),
            ("With em9/v4/154 head has 80.7 Mpps.", Some(false)),
        ],
    );
}

#[test]
fn two_tables_are_one_where_a_sentence_names_both() {
    let old = table(
        "| Routes | IPv4 | IPv6 |\n|---|---|---|\n| 10 | 8.2 | 6.9 |\n| 1M | 5.1 | 3.0 |\n",
        "Table 1: old, Mpps",
    );
    let new = table(
        "| Routes | IPv4 | IPv6 |\n|---|---|---|\n| 10 | 8.6 | 7.9 |\n| 1M | 6.2 | 4.5 |\n",
        "Table 2: new, Mpps",
    );
    let shown = |grid, about, number| Shown { grid, about, number };
    let (one, two) =
        (shown(&old, "Table 1: old, Mpps", "1"), shown(&new, "Table 2: new, Mpps", "2"));
    let numbers = ["1".to_owned(), "2".to_owned()];
    let said = |sentence: &str| {
        let all = joined(&two, &one, &with_tables_named(sentence, &numbers));
        let is_odd = all.iter().any(|own| own.1 != CellVerdict::Holds);
        (!all.is_empty()).then_some(!is_odd)
    };
    for (sentence, wanted) in [
        ("With 1M routes IPv6 has 50 % more in table 2 than in table 1.", Some(true)),
        ("With 1M routes IPv6 has 20 % more in table 2 than in table 1.", Some(false)),
        ("Compared with the first table, IPv4 gains 1.1 Mpps at 1M routes.", Some(true)),
        ("Compared with the first table, IPv4 gains 1.9 Mpps at 1M routes.", Some(false)),
        ("Every figure of table 2 is above that of table 1.", Some(true)),
        ("Every figure of the new kernel is below that of the old one.", Some(false)),
        ("IPv4 has 6.2 Mpps with 1M routes.", None),
    ] {
        assert_eq!(said(sentence), wanted, "{sentence}");
    }
}

#[test]
fn blocks_are_told_by_their_headings() {
    let block = |at: usize, a: f64, b: f64| {
        let values = |mean: f64| [mean - 1e4, mean + 1e4, mean, mean, 9e3];
        Grid::of_block((at, at + 5), &[("stock", values(a)), ("patched", values(b))], "")
    };
    let (plain, filtered) = (block(1, 2.98e6, 3.39e6), block(11, 2.41e6, 2.65e6));
    let grid = across(&[("Without a filter", &plain), ("Behind nftables", &filtered)]).unwrap();
    let is_odd = |sentence: &str| {
        let all = judge_across(&grid, Some(1), sentence);
        assert!(!all.is_empty(), "{sentence}");
        all.iter().any(|own| own.1 != CellVerdict::Holds)
    };
    assert!(!is_odd("Behind nftables the stock kernel does 19 % less than without a filter."));
    assert!(is_odd("Behind nftables the stock kernel does 29 % less than without a filter."));
    assert!(is_odd(
        "Behind nftables the patched kernel is faster than the stock one without a filter."
    ));
    // what several blocks stand under tells none of them
    assert!(across(&[("nftables", &plain), ("nftables", &filtered)]).is_none());
}
