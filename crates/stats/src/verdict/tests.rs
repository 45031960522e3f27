use super::*;
use crate::comparison::{Confidence, Direction};
use crate::effect::Effect;
use crate::paired::{self, Block};
use crate::shared;
use crate::validity::Limit;

const SUBJECT: Subject<'static> =
    Subject { variant: "modular", baseline: "radix", metric: "forwarding rate" };

/// Blocks whose log ratios are `effect` plus a fixed zigzag of amplitude `noise`.
fn comparison(effect: f64, noise: f64, blocks: usize) -> Comparison {
    let blocks: Vec<Block> = (0..blocks)
        .map(|i| {
            let zigzag = if i % 2 == 0 { noise } else { -noise };
            // no two figures equal: these are not rounded
            let baseline = 1000.0 + i as f64;
            Block::new(baseline, baseline * (effect + zigzag).exp())
        })
        .collect();
    paired::compare(&blocks, Direction::HigherIsBetter).unwrap()
}

fn sentence(comparison: &Comparison) -> String {
    Verdict::judge(comparison, 0.01, &[]).sentence(Some(comparison), 0.01, SUBJECT)
}

#[test]
fn a_validity_finding_comes_before_everything() {
    let finding = Finding::Saturated {
        limit: Limit::LineRate,
        limit_pps: 1_488_095.0,
        forwarded_pps: 1_488_000.0,
    };
    let c = comparison(0.1, 0.001, 8);
    let verdict = Verdict::judge(&c, 0.01, &[Finding::NotBlocked, finding]);
    assert_eq!(verdict.word(), "invalid");
    let text = verdict.sentence(Some(&c), 0.01, SUBJECT);
    assert!(text.contains("saturated: 1488000 frames/s are 100.0 % of the line rate"), "{text}");
    assert!(!text.contains("not in randomised blocks"), "a warning is no reason: {text}");
}

#[test]
fn a_difference_that_is_proven_alone_may_not_be_among_several() {
    // negative ranks 1 and 2: 5 of the 128 ways to sign eight ranks give as little on one side
    let gains = [0.021, -0.001, 0.022, 0.025, -0.0105, 0.023, 0.024, 0.026];
    let blocks: Vec<Block> = (1000..)
        .zip(gains)
        .map(|(base, gain)| Block::new(f64::from(base), f64::from(base) * f64::exp(gain)))
        .collect();
    let c = paired::compare(&blocks, Direction::HigherIsBetter).unwrap();
    assert!(c.interval95.excludes_no_change() && c.p == 5.0 / 128.0, "{c:?}");
    assert_eq!(Verdict::judge(&c, 0.01, &[]).word(), "faster");
    let among = |questions: usize| {
        let at = |level| {
            paired::compare_at(&blocks, Direction::HigherIsBetter, level).map(|own| vec![own])
        };
        shared::compare(questions, Confidence::USUAL, at).unwrap().remove(0)
    };
    assert_eq!(among(1), c);
    let own = among(2);
    assert!(own.interval95.covers(Effect::from_ln(0.0)) && own.p == 10.0 / 128.0, "{own:?}");
    assert_eq!(Verdict::judge(&own, 0.01, &[]).word(), "inconclusive");
    assert!(sentence(&own).contains("(97.5 % interval ["), "{}", sentence(&own));
}

#[test]
fn equivalence_comes_before_a_tiny_difference() {
    let c = comparison(0.001, 0.0001, 8);
    assert!(c.interval95.excludes_no_change());
    assert_eq!(Verdict::judge(&c, 0.01, &[]), Verdict::Equivalent);
    assert_eq!(
        sentence(&c),
        "modular is equivalent to radix in forwarding rate within ±1.00 % (90 % interval [+0.09 %, +0.11 %])"
    );
}

/// Boots of a kernel that counts its instructions differ by less than any digit shows.
#[test]
fn an_interval_without_width_is_called_exact() {
    let blocks: Vec<Block> =
        (0..8).map(|i| Block::new(2506.7, 2972.3 + 1e-4 * f64::from(i * 3 % 8))).collect();
    let c = paired::compare(&blocks, Direction::LowerIsBetter).unwrap();
    let text = sentence(&c);
    assert!(text.starts_with("modular is slower than radix by exactly 15.7 % in "), "{text}");
}

/// "By exactly 0.86 %" was said where the blocks differ by nothing or by twice as much, without a word of it.
#[test]
fn a_difference_of_half_of_the_blocks_says_so() {
    let blocks: Vec<Block> =
        (0..40).map(|i| Block::new(2508.37, if i % 2 == 0 { 2508.37 } else { 2552.02 })).collect();
    let text = sentence(&paired::compare(&blocks, Direction::LowerIsBetter).unwrap());
    assert!(text.starts_with("modular is slower than radix by "), "{text}");
    let wanted = "; both read the same in 20 of 40 blocks, and modular was worse in 20";
    assert!(text.ends_with(wanted), "{text}");
}

#[test]
fn faster_and_slower_name_estimate_interval_and_margin() {
    assert_eq!(
        sentence(&comparison(0.05, 0.001, 8)),
        "modular is faster than radix by 5.13 % [5.02 %, 5.23 %] in forwarding rate (margin 1.00 %)"
    );
    assert_eq!(
        sentence(&comparison(-0.05, 0.001, 8)),
        "modular is slower than radix by 4.88 % [4.78 %, 4.97 %] in forwarding rate (margin 1.00 %)"
    );
}

#[test]
fn a_difference_below_the_margin_says_so() {
    let c = comparison(0.0085, 0.006, 8);
    assert_eq!(Verdict::judge(&c, 0.01, &[]), Verdict::Faster { below_margin: true });
    assert!(sentence(&c).ends_with(", below the margin of 1.00 %"), "{}", sentence(&c));
}

#[test]
fn inconclusive_forecasts_the_blocks_that_are_missing() {
    let c = comparison(0.0, 0.03, 8);
    let Verdict::Inconclusive { more_blocks } = Verdict::judge(&c, 0.01, &[]) else {
        panic!("{c:?}")
    };
    assert!((50..120).contains(&more_blocks), "{more_blocks}");
    let text = sentence(&c);
    assert!(text.starts_with("inconclusive: modular is proven neither different"), "{text}");
}

#[test]
fn wild_noise_forecasts_no_absurd_number() {
    let c = comparison(0.0, 3.0, 8);
    let told = sentence(&c);
    assert!(
        told.ends_with(
            "more blocks like these would not decide it: find out what differs between them"
        ),
        "{told}"
    );
}

#[test]
fn verdicts_survive_json() {
    for verdict in [
        Verdict::Invalid { why: vec!["flows: 2000 planned, 200 seen".to_owned()] },
        Verdict::Equivalent,
        Verdict::Slower { below_margin: true },
        Verdict::Inconclusive { more_blocks: 12 },
    ] {
        let json = serde_json::to_string(&verdict).unwrap();
        assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict, "{json}");
    }
}

/// One trial in ten is 58 % slower with the change: the typical run is as before, the device is not.
#[test]
fn a_rare_slow_state_of_one_side_is_not_called_equivalent() {
    let run = |i: u32, slow: f64| 4.8 * (1.0 + 1e-4 * f64::from(i * 7 % 11)) * slow;
    let blocks = |of_baseline: f64| -> Vec<Block> {
        (0..20)
            .map(|i| match i {
                3 | 12 => Block::new(run(i, of_baseline), run(i + 1, 1.58)),
                _ => Block::new(run(i, 1.0), run(i + 1, 1.0)),
            })
            .collect()
    };
    let judge = |blocks: &[Block]| {
        let c = paired::compare(blocks, Direction::LowerIsBetter).unwrap();
        assert!(c.interval90.is_within(0.01), "{c:?}");
        let verdict = Verdict::judge(&c, 0.01, &[]);
        verdict.sentence(Some(&c), 0.01, SUBJECT)
    };
    let text = judge(&blocks(1.0));
    assert!(
        text.starts_with("inconclusive: typical runs of modular and radix are equal"),
        "{text}"
    );
    assert!(
        text.ends_with(
            "2 of 20 runs of modular are worse by about 36.7 %, none of radix: on average over all runs that is \
             -4.47 % [-13.4 %, +3.30 %] for modular"
        ),
        "{text}"
    );
    assert!(judge(&blocks(1.58)).starts_with("modular is equivalent"), "both sides have it");
}

#[test]
fn one_more_is_no_plural() {
    let c = comparison(0.0, 0.03, 8);
    let say = |more_blocks| Verdict::Inconclusive { more_blocks }.sentence(Some(&c), 0.01, SUBJECT);
    assert!(say(1).contains("about 1 more block needed"), "{}", say(1));
    assert!(say(2).contains("about 2 more blocks needed"), "{}", say(2));
}

#[test]
fn an_interval_that_leaves_out_no_change_does_not_begin_with_0() {
    let mut c = comparison(0.05, 0.001, 8);
    c.interval95.low = Effect::from_ratio(1.000_01);
    let text = Verdict::Faster { below_margin: false }.sentence(Some(&c), 0.01, SUBJECT);
    assert!(text.contains("[above 0 %, 5.23 %]"), "{text}");
}

#[test]
fn no_interval_is_of_100_per_cent() {
    assert_eq!([level(0.95), level(0.999), level(0.9998)], ["95 %", "99.9 %", "99.98 %"]);
    assert_eq!(level(0.999_999_9), "99.99999 %");
    assert!(level(1.0 - 1e-16).starts_with("more than 99.9"));
}

/// Instructions per frame: so many blocks in which both sides count the same, and so many in which the variant
/// takes 1.74 % more.
fn counted(same: usize, worse: usize) -> Comparison {
    let base = 2_508.327_123;
    let blocks = [vec![Block::new(base, base); same], vec![Block::new(base, base * 1.0174); worse]];
    paired::compare(&blocks.concat(), Direction::LowerIsBetter).unwrap()
}

/// What is said of them at a margin of 0.2 %.
fn said(comparison: &Comparison) -> (Verdict, String) {
    let verdict = Verdict::judge(comparison, 0.002, &[]);
    let text = verdict.sentence(Some(comparison), 0.002, SUBJECT);
    (verdict, text)
}

/// An interval without width from two blocks looked like a proof.
#[test]
fn blocks_that_all_agree_are_equivalent_once_there_are_enough_of_them() {
    for blocks in 2..LEAST_NAMED {
        let (verdict, text) = said(&counted(blocks, 0));
        let missing = (LEAST_NAMED - blocks) as u32;
        assert_eq!(verdict, Verdict::Inconclusive { more_blocks: missing }, "{text}");
        assert!(
            text.contains(&format!("; both read the same in all {blocks} blocks; fewer than 4 blocks prove nothing); about ")),
            "{text}"
        );
    }
    // "-3.77 %, 0.00 %" of two blocks that say -3.77 % both.
    let (verdict, text) = said(&counted(0, 2));
    assert_eq!(verdict, Verdict::Inconclusive { more_blocks: 2 });
    assert!(
        text.contains(", 0.00 %]; fewer than 4 blocks prove nothing); about 2 more blocks needed"),
        "{text}"
    );
    let (verdict, text) = said(&counted(LEAST_NAMED, 0));
    assert_eq!(verdict, Verdict::Equivalent);
    assert!(
        text.ends_with("(90 % interval [0.00 %, 0.00 %]; both read the same in all 4 blocks)"),
        "{text}"
    );
    // Figures that are rounded to a digit agree, too, and prove nothing, however many they are.
    let coarse = paired::compare(&[Block::new(5.0, 5.0); 8], Direction::LowerIsBetter).unwrap();
    let (verdict, text) = said(&coarse);
    assert_eq!(verdict.word(), "inconclusive");
    assert!(
        text.ends_with("more blocks would not decide it: the figures are too coarse"),
        "{text}"
    );
}

/// Normal theory named 44 blocks, and after 600 nothing was decided.
#[test]
fn one_boot_that_counts_otherwise_is_no_matter_of_the_number_of_blocks() {
    let (verdict, text) = said(&counted(5, 1));
    assert!(
        matches!(verdict, Verdict::Inconclusive { more_blocks } if more_blocks > MOST_FORECAST)
    );
    assert!(
        text.contains("both read the same in 5 of 6 blocks, and modular was worse in 1"),
        "{text}"
    );
    assert!(
        text.ends_with(
            "more blocks like these would not decide it: find out what differs between them"
        ),
        "{text}"
    );
    let (later, text) = said(&counted(500, 100));
    assert_eq!(later.word(), "inconclusive", "{text}");
    // Just over half of them differ: two more were named, which decide nothing.
    let (verdict, text) = said(&counted(3, 4));
    let Verdict::Inconclusive { more_blocks } = verdict else { panic!("{verdict:?}") };
    assert!((12..30).contains(&more_blocks) && !text.contains("both read"), "{text}");
    // Half of them: that takes many, and it is found then. Three were named.
    let (verdict, _) = said(&counted(4, 4));
    let Verdict::Inconclusive { more_blocks } = verdict else { panic!("{verdict:?}") };
    let half = (8 + more_blocks as usize).div_ceil(2);
    assert!(more_blocks > 10 && said(&counted(half, half)).0.word() == "slower", "{more_blocks}");
}

/// "About 1 more block needed" stood beside 10 blocks of 5000 and 6000, beside 11 of them, and beside 100: all are
/// known to half a thousand, and 5490 and 5510 look like that, too. 300 of them were a proof.
#[test]
fn what_rounding_hides_no_number_of_blocks_finds() {
    for blocks in [4, 10, 11, 100, 400] {
        let same = vec![Block::new(5_000.0, 6_000.0); blocks];
        let coarse = paired::compare(&same, Direction::HigherIsBetter).unwrap();
        let text = sentence(&coarse);
        assert!(
            text.ends_with("more blocks would not decide it: the figures are too coarse"),
            "{text}"
        );
        let sides = [vec![5.0; blocks], vec![6.0; blocks]];
        let runs = crate::unpaired::compare(&sides[0], &sides[1], Direction::HigherIsBetter);
        let text = sentence(&runs.unwrap().comparison);
        assert!(text.contains("would not decide it: the figures are too coarse"), "{text}");
    }
    // Three steps apart they are told apart.
    let far = vec![Block::new(5_000.0, 8_000.0); 10];
    let far = paired::compare(&far, Direction::HigherIsBetter).unwrap();
    assert!(sentence(&far).contains("is faster"), "{}", sentence(&far));
}
