//! Sentences over eight pages, written without sight of the rules: sixty wrong and sixty right ones in
//! each file, `page wrong|right place | sentence` a line.

use super::*;

/// A block: the line above it and its sets.
type Block = (&'static str, &'static [(&'static str, [f64; 5])]);

struct Page {
    name: &'static str,
    text: &'static str,
    blocks: &'static [Block],
}

const PAGES: [Page; 11] = [
    Page {
        name: "apu",
        text: "Comparing D27401 (Diff 80677) impact on forwarding performance:\n\
               \x20 - PC Engines APU2C4 (quad core AMD GX-412T Processor 1 GHz)\n\
               \x20 - 3 Intel i210AT Gigabit Ethernet ports\n\
               \x20 - FreeBSD 13-head r368606\n\
               \x20 - 2000 flows of smallest UDP packets\n",
        blocks: &[
            (
                "IPv4:",
                &[
                    ("r368606: IPv4 packets-per-second forwarded", OLD4),
                    ("r368606 with D27401(Diff 80677): IPv4 packets-per-second forwarded", NEW4),
                ],
            ),
            (
                "IPv6:",
                &[
                    ("r368606: IPv6 packets-per-second forwarded", OLD6),
                    ("r368606 with D27401(Diff 80677): IPv6 packets-per-second forwarded", NEW6),
                ],
            ),
        ],
    },
    Page {
        name: "xeon",
        text: "Comparing D27401 (Diff 80345) impact on forwarding performance:\n\
               \x20 - HP ProLiant DL360p Gen8 with 8 cores (Intel Xeon E5-2650 @ 2.60GHz)\n\
               \x20 - Quad port Chelsio 10-Gigabit T540-CR\n\
               \x20 - FreeBSD 13-head r368287\n",
        blocks: &[
            (
                "IPv4:",
                &[
                    (
                        "r368287: IPv4 packets-per-second forwarded",
                        [9_912_089.0, 9_903_564.0, 9_920_131.0, 9_909_120.0, 9_658_584.0],
                    ),
                    (
                        "r368287 with D27401(Diff 80345): IPv4 packets-per-second forwarded",
                        [10_003_670.0, 10_048_340.0, 10_027_243.0, 10_049_670.0, 10_047_306.0],
                    ),
                ],
            ),
            (
                "IPv6:",
                &[
                    (
                        "r368287: IPv6 packets-per-second forwarded",
                        [12_320_352.0, 12_345_704.0, 12_306_587.0, 12_338_573.0, 12_231_886.0],
                    ),
                    (
                        "r368287 with D27401(Diff 80345): IPv6 packets-per-second forwarded",
                        [12_441_659.0, 12_499_686.0, 12_481_834.0, 12_466_082.0, 12_511_796.0],
                    ),
                ],
            ),
        ],
    },
    Page {
        name: "atom",
        text: "Impact of D27401 on forwarding performance\n\
               \x20 - SuperMicro SuperServer 5018A-FTN4 (8 cores Atom C2758 at 2.4GHz)\n\
               \x20 - Quad port Chelsio 10-Gigabit T540-CR (10Giga DAC cable)\n\
               \x20 - FreeBSD 13-head r368606\n\
               \x20 - Traffic load at 14.88 Mpps\n",
        blocks: &[
            (
                "IPv4:",
                &[
                    (
                        "r368606: inet packets-per-second forwarded",
                        [5_283_305.0, 5_163_716.0, 5_055_700.0, 5_004_207.0, 5_269_970.0],
                    ),
                    (
                        "r368606 with D27401 (Diff 80677): inet packets-per-second forwarded",
                        [5_928_183.0, 5_946_368.0, 5_863_973.0, 5_879_229.0, 5_924_908.0],
                    ),
                ],
            ),
            (
                "IPv6:",
                &[
                    (
                        "r368606: inet6 packets-per-second forwarded",
                        [5_130_055.0, 5_080_004.0, 4_978_494.0, 5_126_860.0, 5_139_249.0],
                    ),
                    (
                        "r368606 with D27401 (Diff 80677): inet6 packets-per-second forwarded",
                        [5_424_518.0, 5_503_879.0, 5_605_214.0, 5_508_895.0, 5_504_621.0],
                    ),
                ],
            ),
        ],
    },
    Page {
        name: "netgate",
        text: "Impact of D11476 on forwarding performance\n\
               \x20 - Netgate RCC-VE 4860 (4 cores Intel Atom C2558E)\n\
               \x20 - Quad port Intel i350\n\
               \x20 - FreeBSD 12-head r320657\n\
               \x20 - Traffic load at 1.448Mpps (Gigabit line-rate)\n",
        blocks: &[
            (
                "inet4:",
                &[
                    (
                        "r320657, inet4, packets-per-second",
                        [819_142.5, 826_898.0, 829_855.5, 826_483.0, 826_231.0],
                    ),
                    (
                        "r320657 with D11476, inet4, packets-per-second",
                        [809_218.0, 815_034.0, 816_685.0, 817_676.0, 811_512.0],
                    ),
                ],
            ),
            (
                "inet6:",
                &[
                    ("r320657, inet6, packets-per-second", BASE6),
                    ("r320657 with D11476, inet6, packets-per-second", LIKE6),
                ],
            ),
        ],
    },
    Page {
        name: "firewalls",
        text: "Impact of enabling firewalls on forwarding performance\n\
               \x20 - HP ProLiant DL360p Gen8 with 8 cores (Intel Xeon E5-2650 @ 2.60GHz)\n\
               \x20 - FreeBSD 11-routing.r287531\n\
               \x20 - 2000 flows of smallest UDP packets\n",
        blocks: &[(
            "Results:",
            &[
                ("forwarding", [4_112_310.0, 4_098_123.0, 4_120_421.0, 4_105_822.0, 4_115_200.0]),
                (
                    "ipfw-stateless",
                    [3_310_112.0, 3_302_456.0, 3_318_921.0, 3_312_009.0, 3_305_777.0],
                ),
                (
                    "ipfw-statefull",
                    [2_441_202.0, 2_436_820.0, 2_448_114.0, 2_439_987.0, 2_445_300.0],
                ),
                ("pf-stateless", [2_240_118.0, 2_233_800.0, 2_246_371.0, 2_238_904.0, 2_242_613.0]),
                ("pf-statefull", [1_702_213.0, 1_697_445.0, 1_707_900.0, 1_700_871.0, 1_704_116.0]),
            ],
        )],
    },
    Page {
        name: "threads",
        text: "Impact of hyperthreading on forwarding performance\n\
               \x20 - HP ProLiant DL360p Gen8 with 8 cores (Intel Xeon E5-2650 @ 2.60GHz)\n\
               \x20 - Quad port Chelsio 10-Gigabit T540-CR\n",
        blocks: &[(
            "Results:",
            &[
                (
                    "hyperthreading disabled",
                    [5_203_118.0, 5_190_450.0, 5_215_333.0, 5_198_721.0, 5_209_904.0],
                ),
                (
                    "hyperthreading enabled",
                    [4_061_530.0, 4_049_877.0, 4_072_201.0, 4_056_118.0, 4_066_040.0],
                ),
            ],
        )],
    },
    Page {
        name: "queues",
        text: "Impact of the number of rx queues on forwarding performance\n\
               \x20 - SuperMicro SuperServer 5018A-FTN4 (8 cores Atom C2758 at 2.4GHz)\n\
               \x20 - Intel 82599 10-Gigabit\n",
        blocks: &[(
            "Results:",
            &[
                ("1 rx queue", [1_620_114.0, 1_612_230.0, 1_628_745.0, 1_617_890.0, 1_623_456.0]),
                ("2 rx queues", [3_050_441.0, 3_041_008.0, 3_058_977.0, 3_047_116.0, 3_053_652.0]),
                ("4 rx queues", [5_210_660.0, 5_199_870.0, 5_222_314.0, 5_206_432.0, 5_215_008.0]),
                ("8 rx queues", [4_880_307.0, 4_868_112.0, 4_891_550.0, 4_876_209.0, 4_884_915.0]),
            ],
        )],
    },
    Page {
        name: "revisions",
        text: "I never saw a 14.8Mpps forwarding speed on this hardware before,\n\
           let's compare with previous benches:\n",
        blocks: &[
            (
                "IPv4:",
                &[
                    (
                        "r368287: inet packets-per-second forwarded",
                        [9_912_089.0, 9_903_564.0, 9_920_131.0, 9_909_120.0, 9_658_584.0],
                    ),
                    (
                        "r368606: inet packets-per-second forwarded",
                        [14_817_398.0, 14_817_404.0, 14_817_300.0, 14_817_568.0, 14_817_212.0],
                    ),
                ],
            ),
            (
                "IPv6:",
                &[
                    (
                        "r368287: inet6 packets-per-second forwarded",
                        [12_320_352.0, 12_345_704.0, 12_306_587.0, 12_338_573.0, 12_231_886.0],
                    ),
                    (
                        "r368606: inet6 packets-per-second forwarded",
                        [14_472_668.0, 14_472_619.0, 14_472_495.0, 14_472_837.0, 14_472_627.0],
                    ),
                ],
            ),
        ],
    },
    Page {
        name: "redirect",
        text: "Impact of ICMP redirect on forwarding performance\n\
               \x20 - Netgate RCC-VE 4860 (4 cores Intel Atom C2558E)\n\
               \x20 - Quad port Intel i350\n\
               \x20 - FreeBSD 12-head r341190\n",
        blocks: &[
            (
                "IPv4:",
                &[
                    (
                        "inet, ICMP redirect enabled (default)",
                        [640_112.0, 638_450.0, 642_908.0, 639_771.0, 641_020.0],
                    ),
                    (
                        "inet, ICMP redirect disabled",
                        [905_330.0, 902_117.0, 908_640.0, 904_218.0, 906_455.0],
                    ),
                ],
            ),
            (
                "IPv6:",
                &[
                    (
                        "inet6, ICMP redirect enabled (default)",
                        [701_440.0, 698_012.0, 705_230.0, 700_115.0, 703_876.0],
                    ),
                    (
                        "inet6, ICMP redirect disabled",
                        [702_118.0, 699_340.0, 706_002.0, 698_870.0, 704_415.0],
                    ),
                ],
            ),
        ],
    },
    Page {
        name: "releases",
        text: "Forwarding performance of different FreeBSD releases\n\
               \x20 - PC Engines APU2C4 (quad core AMD GX-412T Processor 1 GHz)\n\
               \x20 - 2000 flows of smallest UDP packets\n",
        blocks: &[(
            "IPv4 forwarding:",
            &[
                ("FreeBSD 11.3", [512_340.0, 510_118.0, 514_902.0, 511_760.0, 513_425.0]),
                ("FreeBSD 12.1", [735_120.0, 732_048.0, 738_415.0, 733_990.0, 736_277.0]),
                ("FreeBSD 13-head", [689_400.0, 686_112.0, 692_870.0, 688_031.0, 690_755.0]),
            ],
        )],
    },
    Page {
        name: "two",
        text: "Impact of D27401 on forwarding performance\n\
               \x20 - SuperMicro SuperServer 5018A-FTN4 (8 cores Atom C2758 at 2.4GHz)\n\
               \x20 - Quad port Chelsio 10-Gigabit T540-CR\n\
               \x20 - 2000 flows of smallest UDP packets, five runs of each kernel\n",
        blocks: &[
            (
                "inet4:",
                &[
                    (
                        "baseline: inet4 packets-per-second forwarded",
                        [4_112_000.0, 4_098_700.0, 4_120_400.0, 4_105_800.0, 4_119_200.0],
                    ),
                    (
                        "patched with D27401: inet4 packets-per-second forwarded",
                        [4_833_000.0, 4_822_100.0, 4_841_900.0, 4_826_600.0, 4_845_300.0],
                    ),
                ],
            ),
            (
                "inet6:",
                &[
                    (
                        "baseline: inet6 packets-per-second forwarded",
                        [832_600.0, 836_400.0, 829_100.0, 833_300.0, 830_700.0],
                    ),
                    (
                        "patched with D27401: inet6 packets-per-second forwarded",
                        [771_600.0, 774_800.0, 769_000.0, 773_100.0, 770_200.0],
                    ),
                ],
            ),
            (
                "The other machine (Netgate RCC-VE 4860, 4 cores Intel Atom C2558E), inet6:",
                &[
                    (
                        "baseline: inet6 packets-per-second forwarded",
                        [746_500.0, 759_600.0, 741_800.0, 754_100.0, 744_600.0],
                    ),
                    (
                        "patched with D27401: inet6 packets-per-second forwarded",
                        [751_700.0, 758_500.0, 747_900.0, 745_700.0, 765_900.0],
                    ),
                ],
            ),
        ],
    },
];

/// The page with a sentence at its place: `top`, `a1`, `b1`, `a2`, `b2`, `end`.
fn told(page: &Page, place: &str, sentence: &str) -> String {
    let mut text = page.text.to_owned();
    let say = |text: &mut String, here: &str| {
        if place == here {
            text.push_str(&format!("\n{sentence}\n"));
        }
    };
    say(&mut text, "top");
    for (number, (heading, sets)) in page.blocks.iter().enumerate() {
        text.push_str(&format!("\n{heading}\n"));
        say(&mut text, &format!("a{}", number + 1));
        let sets: Vec<(&str, &[f64])> = sets.iter().map(|(l, v)| (*l, v.as_slice())).collect();
        text.push_str(&block(&sets));
        say(&mut text, &format!("b{}", number + 1));
    }
    say(&mut text, "end");
    text
}

/// What is said of a page.
fn said(text: &str) -> Vec<(&'static str, Severity)> {
    check_page(text.as_bytes())
        .into_iter()
        .filter(|f| f.rule != Rule::BlockPoints && f.severity != Severity::Info)
        .map(|f| (f.rule.id(), f.severity))
        .collect()
}

/// What is said of a sentence: what the page without it is not told.
fn blaming(page: &Page, place: &str, sentence: &str) -> Vec<(&'static str, Severity)> {
    let mut all = said(&told(page, place, sentence));
    for own in said(&told(page, "", "")) {
        if let Some(at) = all.iter().position(|f| *f == own) {
            all.remove(at);
        }
    }
    all
}

/// How many wrong ones are found, and how many right ones are called wrong, and to be checked.
fn measured(lines: &str) -> (usize, usize, usize) {
    let (mut found, mut blamed, mut asked) = (0, 0, 0);
    for line in lines.lines() {
        let (head, sentence) = line.split_once(" | ").unwrap();
        let [name, verdict, place] = head.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let page = PAGES.iter().find(|p| p.name == name).unwrap();
        let by = blaming(page, place, &sentence.replace("\\n", "\n"));
        match (verdict, by.is_empty()) {
            ("wrong", true) => println!("missed: {line}"),
            ("wrong", false) => {
                found += 1;
                let is_wrong = by.iter().any(|(_, severity)| *severity == Severity::Wrong);
                println!("  FOUND {} {by:?} {line}", if is_wrong { "WRONG" } else { "CHECK" });
            }
            ("right", false) => {
                if by.iter().any(|(_, severity)| *severity == Severity::Wrong) {
                    blamed += 1;
                } else {
                    asked += 1;
                }
                println!("blamed {by:?}: {line}");
            }
            _ => {}
        }
    }
    let of = |verdict| lines.lines().filter(|l| l.split(' ').nth(1) == Some(verdict)).count();
    println!(
        "{found} of {} found, {blamed} of {} called wrong, {asked} to be checked",
        of("wrong"),
        of("right")
    );
    (found, blamed, asked)
}

/// The rules were mended by what this set showed.
#[test]
fn third_set() {
    let (found, blamed, asked) = measured(include_str!("unseen/third.txt"));
    assert!(found >= 59 && blamed <= 1 && asked <= 3, "{found} {blamed} {asked}");
}

/// Of this one 43 were found and 6 blamed before the rules were mended by what it showed.
#[test]
fn fourth_set() {
    let (found, blamed, asked) = measured(include_str!("unseen/fourth.txt"));
    assert!(found >= 59 && blamed <= 1 && asked <= 3, "{found} {blamed} {asked}");
}

/// Written before the rules were mended by the two above, by somebody who had read them.
#[test]
fn fifth_set() {
    let (found, blamed, asked) = measured(include_str!("unseen/fifth.txt"));
    assert!(found >= 60 && blamed == 0 && asked <= 4, "{found} {blamed} {asked}");
}

/// Of 49 wrong ones 35 were found at first sight, and 5 of 48 right ones called wrong, before the rules
/// were mended by what it showed.
#[test]
fn sixth_set() {
    let (found, blamed, asked) = measured(include_str!("unseen/sixth.txt"));
    assert!(found >= 48 && blamed == 0 && asked <= 2, "{found} {blamed} {asked}");
}

/// Of 50 wrong ones 39 were found at first sight, and 1 of 50 right ones called wrong, before the rules were
/// mended by what it showed.
#[test]
fn seventh_set() {
    let (found, blamed, asked) = measured(include_str!("unseen/seventh.txt"));
    assert!(found >= 49 && blamed == 0 && asked <= 1, "{found} {blamed} {asked}");
}

/// Of 47 wrong ones 36 were found at first sight, and 2 of 45 right ones called wrong, before the rules were
/// mended by what it showed.
#[test]
fn eighth_set() {
    let (found, blamed, asked) = measured(include_str!("unseen/eighth.txt"));
    assert!(found >= 47 && blamed == 0 && asked == 0, "{found} {blamed} {asked}");
}

/// Of 97 wrong ones 61 were found at first sight, and 4 of 97 right ones called wrong, before the vocabulary.
#[test]
fn ninth_set() {
    let (found, blamed, asked) = measured(include_str!("unseen/ninth.txt"));
    assert!(found >= 94 && blamed <= 1 && asked <= 3, "{found} {blamed} {asked}");
}

/// A page of two machines, by somebody who had not seen the rules: at first sight 36 of 50 wrong ones were
/// found, and 18 of 50 right ones called wrong, most of them for the block of the other machine.
#[test]
fn tenth_set() {
    let (found, blamed, asked) = measured(include_str!("unseen/tenth.txt"));
    assert!(found >= 50 && blamed == 0 && asked <= 8, "{found} {blamed} {asked}");
}

/// A page of "Machine A" and "Machine B" with 59 wrong and 61 right sentences, by somebody who had not seen the
/// rules: at first sight 39 were found and 13 called wrong, most of them for the blocks of the other machine.
#[test]
fn eleventh_page() {
    let (found, blamed, asked, _) = told_of(include_str!("unseen/eleventh.txt"));
    assert!(found >= 59 && blamed == 0 && asked <= 10, "{found} {blamed} {asked}");
}

/// A page of one machine with two firewalls, sixty wrong and sixty right sentences, by somebody who had not seen the
/// rules: at first sight 39 were found and 16 called wrong.
#[test]
fn twelfth_page() {
    let (found, blamed, asked, _) = told_of(include_str!("unseen/twelfth.txt"));
    assert!(found >= 58 && blamed == 0 && asked <= 11, "{found} {blamed} {asked}");
}

/// A page of two cards, told apart by headings and by the names of files, by another: at first sight 9 were found and
/// 2 called wrong, since nothing said that "the Chelsio" was `cxl4`. How pages are read, and how severe a finding is, were
/// mended by it.
#[test]
fn thirteenth_page() {
    let (found, blamed, asked, _) = told_of(include_str!("unseen/thirteenth.txt"));
    assert!(found >= 44 && blamed <= 1 && asked <= 14, "{found} {blamed} {asked}");
}

/// A page of two things by another, read once after all that the twelfth and the thirteenth had taught: 44 of 50 were
/// found, none of 50 called wrong, 7 asked about. Nothing was mended by it.
#[test]
fn fourteenth_page() {
    let (found, blamed, asked, _) = told_of(include_str!("unseen/fourteenth.txt"));
    assert!(found >= 44 && blamed == 0 && asked <= 8, "{found} {blamed} {asked}");
}

/// A page of a patch and of two firewalls, whose words are a set's here and a block's there: at first sight 15 of 18
/// were found and 5 of 17 called wrong. That blocks may be of several kinds was learned by it. Of the 2 that are called
/// wrong now one is so below its own block only, where it stood.
#[test]
fn fifteenth_page() {
    let (found, blamed, asked, _) = told_of(include_str!("unseen/fifteenth.txt"));
    assert!(found >= 16 && blamed <= 2 && asked <= 3, "{found} {blamed} {asked}");
}

/// A page of queues and of hyper-threading, written after that: at first sight 13 of 17 were found and 2 of 17 called
/// wrong.
#[test]
fn sixteenth_page() {
    let (found, blamed, asked, _) = told_of(include_str!("unseen/sixteenth.txt"));
    assert!(found >= 17 && blamed == 0 && asked <= 5, "{found} {blamed} {asked}");
}

/// A page of a kernel "without IPSEC", written after that: at first sight all 11 were found and 4 of 11 called wrong,
/// since what a label says that a set is without was taken for its name.
#[test]
fn seventeenth_page() {
    let (found, blamed, asked, _) = told_of(include_str!("unseen/seventeenth.txt"));
    assert!(found >= 11 && blamed == 0 && asked <= 5, "{found} {blamed} {asked}");
}

/// A set that somebody wrote without sight of the rules: `FWDLAB_BLIND_SET=FILE`. It fails below 90 % of the
/// wrong ones found, or above 5 % of the right ones called wrong. Without a file it prints the pages that
/// sentences are written about.
#[test]
#[ignore = "needs FWDLAB_BLIND_SET=FILE"]
fn a_set_of_a_stranger() {
    let Ok(path) = std::env::var("FWDLAB_BLIND_SET") else {
        for page in &PAGES {
            println!("##### {}\n{}", page.name, told(page, "", ""));
        }
        return;
    };
    let lines = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = lines.lines().filter(|line| line.contains(" | ")).collect();
    let of = |verdict| lines.iter().filter(|l| l.split(' ').nth(1) == Some(verdict)).count();
    let (found, blamed, _) = measured(&lines.join("\n"));
    assert!(10 * found >= 9 * of("wrong"), "{found} of {} found", of("wrong"));
    assert!(20 * blamed <= of("right"), "{blamed} of {} called wrong", of("right"));
}

/// A page that somebody wrote with sentences about it, without sight of the rules: `FWDLAB_BLIND_PAGE=FILE`, which
/// holds the page, a line `=== Sentences ===`, and a sentence a line behind `W` (wrong) or `R` (right) and a
/// tab. Each stands at the end of the page by itself. It fails as the set of a stranger does.
#[test]
#[ignore = "needs FWDLAB_BLIND_PAGE=FILE"]
fn a_page_of_a_stranger() {
    let path = std::env::var("FWDLAB_BLIND_PAGE").expect("FWDLAB_BLIND_PAGE=FILE");
    let (found, blamed, asked, [wrong, right]) = told_of(&std::fs::read_to_string(path).unwrap());
    println!("{found} of {wrong} found, {blamed} of {right} called wrong, {asked} to be checked");
    assert!(10 * found >= 9 * wrong, "{found} of {wrong} found");
    assert!(20 * blamed <= right, "{blamed} of {right} called wrong");
}

/// What is found, blamed and asked about of a page with its sentences, and how many of each there are.
fn told_of(file: &str) -> (usize, usize, usize, [usize; 2]) {
    let (page, sentences) = file.split_once("=== Sentences ===\n").unwrap();
    let own = said(page);
    let (mut found, mut blamed, mut asked, mut of) = (0, 0, 0, [0, 0]);
    for line in sentences.lines().filter(|line| !line.trim().is_empty()) {
        let (verdict, sentence) = line.split_once('\t').unwrap();
        let mut by = said(&format!("{page}\n{sentence}\n"));
        for known in &own {
            if let Some(at) = by.iter().position(|f| f == known) {
                by.remove(at);
            }
        }
        let is_blamed = by.iter().any(|(_, severity)| *severity == Severity::Wrong);
        if verdict == "W" {
            of[0] += 1;
            found += usize::from(!by.is_empty());
            if by.is_empty() {
                println!("missed: {sentence}");
            } else {
                println!("  FOUND {} {by:?} {sentence}", if is_blamed { "WRONG" } else { "CHECK" });
            }
        } else {
            of[1] += 1;
            blamed += usize::from(is_blamed);
            asked += usize::from(!is_blamed && !by.is_empty());
            if !by.is_empty() {
                println!("blamed {by:?}: {sentence}");
            }
        }
    }
    (found, blamed, asked, of)
}
