//! Classes of meaning, each with sentences that are right and others that are wrong, of small pages.

use std::collections::BTreeSet;

use fwdlab_netbenches::name::NamedFamily;
use fwdlab_reading::{Cell, Change, Facts, Part, label_words};

use super::*;

/// A set: its label, and minimum, maximum, mean and standard deviation in thousands; its median is its mean.
type Row = (&'static str, [f64; 4]);

/// Blocks of one family each, the first set of which the others are compared with.
fn facts(blocks: &[(NamedFamily, &[Row])]) -> Facts {
    let mut facts = Facts::of_parts(vec![Part::default()]);
    for (block, (family, rows)) in blocks.iter().enumerate() {
        let words: Vec<BTreeSet<String>> =
            rows.iter().map(|(label, _)| label_words(label)).collect();
        let shared = words.iter().cloned().reduce(|a, b| &a & &b).unwrap();
        let first = facts.cells.len();
        for (role, (label, [min, max, mean, sd])) in rows.iter().enumerate() {
            facts.cells.push(Cell {
                part: 0,
                family: Some(*family),
                block,
                role,
                names: &words[role] - &shared,
                topics: shared.clone(),
                shared: shared.clone(),
                legend: (*label).to_owned(),
                runs: 5,
                values: [min * 1e3, max * 1e3, mean * 1e3, mean * 1e3, sd * 1e3],
                all: Vec::new(),
            });
        }
        for role in 1..rows.len() {
            let percent = (rows[role].1[2] / rows[0].1[2] - 1.0) * 100.0;
            let (base, variant) = (first, first + role);
            let is_proven = percent.abs() > 0.9;
            facts.changes.push(Change {
                base,
                variant,
                percent,
                median_percent: percent,
                half: 0.9,
                is_proven,
            });
        }
    }
    facts
}

/// A patch on both families.
fn patch() -> Facts {
    facts(&[
        (
            NamedFamily::Inet,
            &[
                ("r368606", [694.0, 701.0, 697.0, 2.3]),
                ("r368606 with D27401", [813.0, 825.0, 819.0, 4.3]),
            ],
        ),
        (
            NamedFamily::Inet6,
            &[
                ("r368606", [824.0, 838.0, 832.0, 5.0]),
                ("r368606 with D27401", [770.0, 774.0, 772.0, 1.5]),
            ],
        ),
    ])
}

/// Four versions on both families.
fn versions() -> Facts {
    facts(&[
        (
            NamedFamily::Inet,
            &[
                ("r368287", [709.0, 714.0, 712.0, 2.0]),
                ("r368287 with D27401 80345", [758.0, 765.0, 761.0, 2.4]),
                ("r368606", [689.0, 699.0, 693.0, 3.7]),
                ("r368606 with D27401 80677", [811.0, 821.0, 816.0, 4.2]),
            ],
        ),
        (
            NamedFamily::Inet6,
            &[
                ("r368287", [788.0, 803.0, 798.0, 6.3]),
                ("r368287 with D27401 80345", [719.0, 733.0, 727.0, 5.5]),
                ("r368606", [828.0, 841.0, 834.0, 5.3]),
                ("r368606 with D27401 80677", [769.0, 774.0, 772.0, 2.3]),
            ],
        ),
    ])
}

/// Forwarding and two firewalls with and without an option.
fn firewalls() -> Facts {
    facts(&[
        (
            NamedFamily::Inet,
            &[
                ("r1 forwarding", [473.0, 479.0, 477.0, 2.2]),
                ("r1 with VIMAGE forwarding", [481.0, 485.0, 484.0, 1.5]),
            ],
        ),
        (
            NamedFamily::Inet,
            &[
                ("r1 ipfw", [308.0, 312.0, 310.0, 1.4]),
                ("r1 with VIMAGE ipfw", [322.0, 326.0, 324.0, 1.6]),
            ],
        ),
        (
            NamedFamily::Inet,
            &[
                ("r1 pf", [274.0, 277.0, 276.0, 0.9]),
                ("r1 with VIMAGE pf", [268.0, 270.0, 269.0, 0.9]),
            ],
        ),
    ])
}

fn judge(facts: &Facts, sentences: &[(&str, bool)]) {
    for (sentence, is_right) in sentences {
        let verdict = read(facts, &Near::default(), sentence);
        let is_it = match is_right {
            true => verdict == PlainVerdict::Holds,
            false => matches!(verdict, PlainVerdict::Fails(_)),
        };
        assert!(is_it, "{sentence}: {verdict:?}");
    }
}

#[test]
fn bounds_are_of_every_run() {
    judge(
        &patch(),
        &[
            ("IPv6 never gets above 840 Kpps.", true),
            ("IPv6 never gets above 830 Kpps.", false),
            ("inet6 stays under 800Kpps", false),
            ("All the runs with D27401 are over 760Kpps", true),
            ("All the runs with D27401 are over 775Kpps", false),
            ("None of the results is above 840Kpps.", true),
            ("None of the results is above 820Kpps.", false),
            ("IPv4 stays between 690K and 830Kpps, whatever the kernel", true),
            ("IPv4 stays between 690K and 800Kpps, whatever the kernel", false),
        ],
    );
}

#[test]
fn spreads_are_no_levels() {
    judge(
        &patch(),
        &[
            ("IPv6 results are less stable with the patch", false),
            ("IPv6 results are more stable with the patch", true),
            ("Without the patch, IPv6 varies almost twice as much as IPv4", true),
            ("Without the patch, IPv4 varies almost twice as much as IPv6", false),
            ("in IPv4 the patched kernel varies more than the unpatched", true),
            ("in IPv6 the patched kernel varies more than the unpatched", false),
            ("IPv4 is not stable, more than 5 % between the runs", false),
            ("IPv4 varies by less than 2 % between the runs", true),
            ("the patch makes IPv6 more stable", true),
            ("the patch makes IPv4 more stable", false),
        ],
    );
    assert!(is_of_spread("With 256K the results are more stable"));
    assert!(!is_of_spread("The rate is stable with it"));
}

#[test]
fn ranks_are_among_all_of_a_family() {
    judge(
        &versions(),
        &[
            ("the last version was the worst for inet4", false),
            ("the last version was the best for inet4", true),
            ("diff 80345 is the worst for inet6", true),
            ("Worst IPv4 result is r368287 without any patch", false),
            ("last version was the worst", false),
        ],
    );
}

#[test]
fn what_is_said_of_all_is_so_of_each() {
    judge(
        &versions(),
        &[
            ("all versions are faster than the base", false),
            ("IPv4: all kernels are faster than r368287", false),
            ("In IPv6 all the kernels are slower than r368287", false),
            ("In IPv4 only r368606 without patch is slower than r368287", true),
            ("In IPv6 only r368606 without patch is slower than r368287", false),
        ],
    );
    judge(
        &patch(),
        &[
            ("Good improvement with both IPv4 and IPv6", false),
            ("IPv6 remains faster than IPv4 in both cases.", false),
            ("With D27401 IPv6 is slower than IPv4", true),
        ],
    );
    judge(
        &firewalls(),
        &[
            ("ipfw and pf lost both with VIMAGE", false),
            ("ipfw is faster than pf, with and without VIMAGE", true),
            ("pf is faster than ipfw, with and without VIMAGE", false),
            ("pf is the only one penalized by VIMAGE", true),
            ("ipfw is the only one penalized by VIMAGE", false),
        ],
    );
}

#[test]
fn changes_are_held_against_each_other() {
    judge(
        &firewalls(),
        &[
            ("VIMAGE helps ipfw the most", true),
            ("VIMAGE helps pf the most", false),
            ("The difference between ipfw and pf is reduced with VIMAGE", false),
            ("The difference between ipfw and pf grows with VIMAGE", true),
            ("forwarding gains more than ipfw", false),
            ("ipfw gains more than forwarding", true),
        ],
    );
    judge(
        &patch(),
        &[
            ("What IPv4 wins is twice what IPv6 loses", true),
            ("What IPv4 wins is half of what IPv6 loses", false),
            ("IPv6 loses more than 5%", true),
            ("IPv6 loses more than 10%", false),
        ],
    );
}

#[test]
fn ratios_are_of_what_is_named() {
    judge(
        &firewalls(),
        &[
            ("Without VIMAGE ipfw is twice as fast as pf", false),
            ("Without VIMAGE ipfw is 12% faster than pf", true),
            ("Without VIMAGE ipfw is 30% faster than pf", false),
            ("Enabling ipfw costs one third of the forwarding speed", true),
            ("Enabling ipfw costs two thirds of the forwarding speed", false),
        ],
    );
    judge(&patch(), &[("Without the patch IPv6 is almost twice as fast as IPv4", false)]);
}

#[test]
fn runs_are_held_against_runs() {
    judge(
        &patch(),
        &[
            ("In IPv4 no run of the patched kernel reaches the best one of the unpatched", false),
            ("In IPv6 no run of the patched kernel reaches the slowest one of the unpatched", true),
            ("The slowest patched IPv4 run is faster than the best unpatched one", true),
            ("The best patched IPv6 run is faster than the worst unpatched one", false),
        ],
    );
}

/// A sentence with a word that is not known is of something that may be left out of it.
#[test]
fn what_is_not_understood_is_not_judged() {
    for sentence in [
        "IPv6 never gets above 830 Kpps unless flowtables are used.",
        "I expected IPv6 to stay under 800Kpps",
        "The driver is always faster than the base",
        "The patch makes IPv4 5.7 times as fast",
        "",
        "(((((",
        "5 %",
    ] {
        assert_eq!(read(&patch(), &Near::default(), sentence), PlainVerdict::Open, "{sentence}");
    }
}

/// Beside the block of one family a sentence is of that one; for all the tests it is of more.
#[test]
fn a_sentence_is_of_the_block_that_it_stands_by() {
    let facts = patch();
    let near = |is_last| Near { blocks: vec![0], is_last, is_sure: true };
    let of = |sentence: &str, is_last| read(&facts, &near(is_last), sentence);
    assert_eq!(of("All the runs with D27401 are over 800Kpps", false), PlainVerdict::Holds);
    let asked = of("All the runs with D27401 are over 800Kpps", true);
    assert!(matches!(asked, PlainVerdict::Asked(_)), "{asked:?}");
    assert_eq!(of("always over 690Kpps", false), PlainVerdict::Holds);
    // what the second clause says is not known
    let half = of("All the runs with D27401 are over 800Kpps, and it is at 817 Kpps", false);
    assert_eq!(half, PlainVerdict::Open);
}

/// The same claims in other people's words.
#[test]
fn verbs_of_many_writers_say_the_same() {
    judge(
        &patch(),
        &[
            ("The forwarding rate is never reaching 840 Kpps", true),
            ("The forwarding rate is never reaching 830 Kpps", false),
            ("All the IPv4 measures are above 690 Kpps", true),
            ("IPv4 has more progressed than IPv6", true),
            ("IPv6 has more progressed than IPv4", false),
            ("Without the patch IPv6 beats IPv4 by 19%", true),
            ("Without the patch IPv6 is beaten by IPv4", false),
            ("Without the patch IPv4 outperforms IPv6", false),
            ("Without the patch IPv4 is inferior to IPv6", true),
        ],
    );
}

/// The model of the page's one machine says nothing; of another machine nothing here is known.
#[test]
fn the_model_of_the_machine_is_no_unknown_word() {
    let mut facts = patch();
    facts.parts[0].models.insert("apu2c4".to_owned());
    judge(
        &facts,
        &[
            ("On the APU2 the patch never costs more than 5% on inet6.", false),
            ("On the APU2 the patch never costs more than 8% on inet6.", true),
        ],
    );
    let other = read(&facts, &Near::default(), "On the APU4 the patch never costs more than 5%.");
    assert_eq!(other, PlainVerdict::Open);
}

#[test]
fn what_all_runs_reach_the_slowest_one_does() {
    judge(
        &patch(),
        &[
            ("For IPv6, we pass the 772 Kpps with the patch in all runs.", false),
            ("For IPv6, we pass the 769 Kpps with the patch in all runs.", true),
        ],
    );
}

#[test]
fn counted_things_are_those_that_are_named() {
    judge(
        &versions(),
        &[
            ("Both diffs are above 715 Kpps for IPv6", true),
            ("All two diffs are above 735 Kpps for IPv6", false),
            ("All the patches are above 750 Kpps for IPv4", true),
            ("The four kernels are above 685 Kpps for IPv4", true),
            ("All four kernels are above 705 Kpps for IPv4", false),
            ("the five runs are over 680 Kpps", true),
        ],
    );
    // by its mean each is, and one run is not
    let of_means = read(&versions(), &Near::default(), "Both diffs are above 725 Kpps for IPv6");
    assert!(matches!(of_means, PlainVerdict::Doubtful(_)), "{of_means:?}");
}

#[test]
fn an_end_of_its_own_runs_is_no_rank() {
    let of = |sentence: &str| read(&patch(), &Near::default(), sentence);
    let own = "All five runs of D27401 stayed above 760 Kpps, and the best run without it was at 838 Kpps";
    assert!(!matches!(of(own), PlainVerdict::Fails(_)), "{:?}", of(own));
    let versions = versions();
    let own = "The best inet6 run of diff 80345 was at 733 Kpps";
    let of_one = read(&versions, &Near::default(), own);
    assert!(!matches!(of_one, PlainVerdict::Fails(_)), "{of_one:?}");
    let of_which = read(&versions, &Near::default(), "r368287 is the slowest of the three here");
    assert_eq!(of_which, PlainVerdict::Open);
}

/// Repeatable runs prove a change of a few frames.
#[test]
fn a_proven_change_that_is_tiny_is_asked_about() {
    let rows: [Row; 2] = [
        ("r368606", [14817.2, 14817.6, 14817.4, 0.1]),
        ("r368606 with D27401", [14816.8, 14817.2, 14817.0, 0.1]),
    ];
    let mut facts = facts(&[(NamedFamily::Inet, &rows)]);
    facts.changes[0].is_proven = true;
    let verdict = read(&facts, &Near::default(), "No visible impact on inet in both cases");
    assert!(matches!(verdict, PlainVerdict::Doubtful(_)), "{verdict:?}");
}

#[test]
fn so_many_of_so_many_are_counted_by_their_changes() {
    judge(
        &firewalls(),
        &[
            ("Two out of three configurations are faster with VIMAGE", true),
            ("two of the three configurations are slower with VIMAGE", false),
            ("Only one of the three configurations loses with VIMAGE.", true),
            ("None of the three configurations gains with VIMAGE", false),
        ],
    );
    for sentence in [
        "Two of the four configurations are slower with VIMAGE",
        "pf is the slowest one of the three configurations",
        "Two of the three runs are faster than the base",
    ] {
        assert_eq!(
            read(&firewalls(), &Near::default(), sentence),
            PlainVerdict::Open,
            "{sentence}"
        );
    }
}

#[test]
fn what_is_proven_can_be_told_apart() {
    judge(
        &versions(),
        &[
            ("For inet4 diff 80345 can't be distinguished from r368287", false),
            ("For inet6, r368606 without patch and r368287 cannot be told apart", false),
        ],
    );
    judge(
        &firewalls(),
        &[
            ("Forwarding is not affected by VIMAGE", false),
            ("pf remains unaffected by VIMAGE.", false),
        ],
    );
    let mut facts = patch();
    facts.changes[1].is_proven = false;
    let of = |sentence: &str| read(&facts, &Near::default(), sentence);
    assert_eq!(of("On IPv6 both kernels can't be told apart"), PlainVerdict::Holds);
    assert_eq!(of("IPv6 is not affected by the patch"), PlainVerdict::Open);
    assert!(matches!(of("IPv4 is not influenced by the patch"), PlainVerdict::Fails(_)));
}

#[test]
fn numbers_in_words_are_numbers() {
    judge(
        &patch(),
        &[
            ("IPv6 loses more than six and a half percent", true),
            ("IPv6 loses more than nine percent", false),
            ("In no case did the runs differ by more than two per cent", true),
            ("In no case did the runs differ by more than half a percent", false),
        ],
    );
    // two numbers, or rates, that differ are of no runs
    let of_levels = "The families differ by more than fifty Kpps";
    assert_eq!(read(&patch(), &Near::default(), of_levels), PlainVerdict::Open);
}

#[test]
fn versions_of_a_patch_are_what_has_it() {
    judge(
        &versions(),
        &[
            ("For inet each version of the patch helps", true),
            ("For inet6 the picture is the opposite: no version of the patch helps", true),
            ("For inet6 the picture is the same: each version of the patch helps", false),
            ("For inet both patched kernels are faster than r368287", true),
            ("Whereas all patched kernels are faster than r368287 for inet6", false),
        ],
    );
}

#[test]
fn runs_are_counted_by_what_they_are_above() {
    judge(
        &patch(),
        &[
            ("Only one of the five IPv6 runs with the patch stayed under 780 Kpps", false),
            ("Five of the five IPv6 runs without the patch are above 820 Kpps", true),
            ("Two of the five IPv6 runs with the patch are above 780 Kpps", false),
        ],
    );
}

/// A version is called with and without its letter.
#[test]
fn versions_name_what_is_called_after_them() {
    let rows: [&[Row]; 2] = [
        &[("v6.1-fwd", [1839.0, 1844.0, 1841.0, 1.5]), ("v6.6-fwd", [1794.0, 1799.0, 1797.0, 1.9])],
        &[("v6.1-nft", [1199.0, 1205.0, 1203.0, 2.5]), ("v6.6-nft", [1311.0, 1320.0, 1316.0, 3.8])],
    ];
    let facts = facts(&rows.map(|rows| (NamedFamily::Inet, rows)));
    judge(
        &facts,
        &[
            ("The runs are a bit less stable on 6.6", true),
            ("They were a bit more stable on 6.6, though.", false),
            ("Forwarding is slower with 6.6 than with 6.1", true),
            ("nft is slower with 6.6 than with 6.1", false),
            ("Plain forwarding has not been affected by the upgrade.", false),
        ],
    );
}

/// On a page of two machines a sentence is of that by whose blocks it stands; below all of them nobody knows.
#[test]
fn beside_the_blocks_of_one_machine_a_sentence_is_of_that_one() {
    let small = [("old", [694.0, 701.0, 697.0, 2.3]), ("new", [813.0, 825.0, 819.0, 4.3])];
    let small6 = [("old", [824.0, 838.0, 832.0, 5.0]), ("new", [830.0, 842.0, 836.0, 5.0])];
    let large = [("old", [9900.0, 9990.0, 9950.0, 33.0]), ("new", [9960.0, 9970.0, 9965.0, 4.0])];
    let large6 = [("old", [8200.0, 8280.0, 8240.0, 30.0]), ("new", [9100.0, 9200.0, 9150.0, 40.0])];
    let (inet, inet6) = (NamedFamily::Inet, NamedFamily::Inet6);
    let mut facts = facts(&[(inet, &small), (inet6, &small6), (inet, &large), (inet6, &large6)]);
    facts.parts.push(Part::default());
    facts.cells.iter_mut().for_each(|cell| cell.part = cell.block / 2);
    let of = |block: usize, is_last: bool, sentence: &str| {
        let near = Near { blocks: vec![block], is_last, is_sure: true };
        read(&facts, &near, sentence)
    };
    let gains = "IPv6 gains more than IPv4";
    assert!(matches!(of(1, false, gains), PlainVerdict::Fails(_)), "{:?}", of(1, false, gains));
    assert_eq!(of(3, false, gains), PlainVerdict::Holds);
    assert_eq!(of(3, true, gains), PlainVerdict::Open);
    let near = Near { blocks: vec![1, 2], is_last: false, is_sure: true };
    assert_eq!(read(&facts, &near, gains), PlainVerdict::Open);
}
