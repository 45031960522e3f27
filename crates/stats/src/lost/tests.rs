use proptest::prelude::*;

use super::*;
use crate::sequential::{self, Decision, Rule};
use crate::unpaired::{self, Pair};
use crate::{Confidence, Subject, Verdict};

const HIGHER: Direction = Direction::HigherIsBetter;

/// The variant faster by `shift` on average, with a spread of 0.5 %.
fn blocks(count: usize, shift: f64) -> Vec<Block> {
    let noise = |i: usize| 0.005 * ((i * 7 % 11) as f64 / 5.0 - 1.0);
    let block = |i: usize| {
        let base = 1e6 + i as f64;
        Block::new(base * noise(i).exp(), base * (shift + noise(3 * i + 5)).exp())
    };
    (0..count).map(block).collect()
}

fn judged(blocks: &[Block], lost: &[Lost], margin: f64) -> (Verdict, String) {
    let own = paired::compare_at(blocks, HIGHER, Confidence::USUAL).unwrap();
    let own = beside(own, blocks, lost, HIGHER).unwrap();
    let verdict = Verdict::judge(&own, margin, &[]);
    let subject = Subject { variant: "new", baseline: "old", metric: "rate" };
    let text = verdict.sentence(Some(&own), margin, subject);
    (verdict, text)
}

fn of(side: Side, count: usize) -> Vec<Lost> {
    (0..count).map(|i| Lost { after: 2 * i, side }).collect()
}

#[test]
fn nothing_is_equivalent_to_what_alone_failed() {
    let blocks = blocks(40, 0.0);
    assert_eq!(judged(&blocks, &[], 0.01).0, Verdict::Equivalent);
    for side in [Side::Baseline, Side::Variant] {
        let (verdict, text) = judged(&blocks, &of(side, 1), 0.01);
        assert_eq!(verdict.word(), "inconclusive", "{text}");
        let name = if side == Side::Variant { "new" } else { "old" };
        let why = format!("but 1 of 41 trials of {name} FAILED, and may have been slow");
        assert!(text.ends_with(&why), "{text}");
    }
}

/// With the worst block in the place of those in which the faster side FAILED little is left of it.
#[test]
fn a_winner_whose_trials_failed_wins_with_its_worst_in_their_place() {
    let blocks = blocks(12, 0.003);
    let word = |lost: &[Lost]| judged(&blocks, lost, 0.001).0.word();
    assert_eq!(word(&[]), "faster");
    assert_eq!(word(&of(Side::Variant, 5)), "inconclusive");
    assert_eq!(word(&of(Side::Baseline, 5)), "faster");
    let (_, text) = judged(&blocks, &of(Side::Variant, 5), 0.001);
    assert!(text.contains("FAILED trials taken for their side's worst"), "{text}");
}

/// The same values without blocks, of which so many of either side FAILED.
fn judged_apart(blocks: &[Block], failed: [usize; 2], margin: f64) -> (Verdict, String) {
    let side = |of: fn(&Block) -> f64| blocks.iter().map(of).collect::<Vec<f64>>();
    let (baseline, variant) = (&side(|own| own.baseline)[..], &side(|own| own.variant)[..]);
    let pair = Pair { baseline, variant, direction: HIGHER, failed };
    let own = unpaired::compare_pair(&pair, Confidence::USUAL).unwrap().comparison;
    let verdict = Verdict::judge(&own, margin, &[]);
    let subject = Subject { variant: "new", baseline: "old", metric: "rate" };
    let text = verdict.sentence(Some(&own), margin, subject);
    (verdict, text)
}

/// A single FAILED trial used to leave the verdict as it was.
#[test]
fn without_blocks_nothing_is_equivalent_to_what_failed() {
    let blocks = blocks(40, 0.0);
    assert_eq!(judged_apart(&blocks, [0, 0], 0.01).0, Verdict::Equivalent);
    for (failed, why) in [
        ([0, 1], "but 1 of 41 trials of new FAILED, and may have been slow"),
        ([2, 0], "but 2 of 42 trials of old FAILED, and may have been slow"),
        (
            [1, 1],
            "but 1 of 41 trials of new and 1 of 41 trials of old FAILED, and may have been slow",
        ),
    ] {
        let (verdict, text) = judged_apart(&blocks, failed, 0.01);
        assert_eq!(verdict.word(), "inconclusive", "{text}");
        assert!(text.ends_with(why), "{text}");
    }
}

#[test]
fn without_blocks_a_winner_wins_with_its_worst_in_the_place_of_what_failed() {
    let blocks = blocks(12, 0.004);
    let word = |failed| judged_apart(&blocks, failed, 0.001).0.word();
    assert_eq!(word([0, 0]), "faster");
    assert_eq!(word([0, 5]), "inconclusive");
    assert_eq!(word([5, 0]), "faster");
    let (_, text) = judged_apart(&blocks, [0, 5], 0.001);
    assert!(text.contains("FAILED trials taken for their side's worst"), "{text}");
}

proptest! {
    #[test]
    fn what_was_lost_proves_nothing_and_stops_no_campaign(
        noise in prop::collection::vec((0.99..1.01f64, 0.99..1.01f64), 4..24),
        shift in 0.97..1.03f64,
        lost in prop::collection::vec((0usize..24, any::<bool>()), 0..6),
    ) {
        let blocks: Vec<Block> =
            noise.iter().map(|(b, v)| Block::new(1e6 * b, 1e6 * shift * v)).collect();
        let side = |is_variant| if is_variant { Side::Variant } else { Side::Baseline };
        let lost: Vec<Lost> = lost
            .into_iter()
            .map(|(after, own)| Lost { after: after.min(blocks.len()), side: side(own) })
            .collect();
        let whole = paired::compare_at(&blocks, HIGHER, Confidence::USUAL).unwrap();
        let own = beside(whole.clone(), &blocks, &lost, HIGHER).unwrap();
        prop_assert!(own.p >= whole.p && own.interval95.covers(own.estimate), "{own:?}");
        prop_assert_eq!(own.p <= 0.05, own.interval95.excludes_no_change(), "{:?}", own);
        prop_assert!(lost.is_empty() || own.rare.unwrap().is_unclear(0.01));
        if lost.is_empty() {
            prop_assert_eq!(&own, &whole);
        }
        let rule = Rule { most_blocks: 24, ..Rule::default() };
        let state = sequential::look_beside(&blocks, &lost, HIGHER, &rule).unwrap();
        if let Ok(own) = sequential::compare_beside(&blocks, &lost, HIGHER, &rule) {
            let wanted = match Verdict::judge(&own, 0.01, &[]) {
                Verdict::Equivalent => Decision::Equivalent,
                Verdict::Faster { .. } | Verdict::Slower { .. } => Decision::Different,
                _ if blocks.len() >= rule.most_blocks => Decision::Exhausted,
                _ => Decision::Continue,
            };
            prop_assert_eq!(state.decision, wanted, "{:?} {:?}", own, state);
        }
    }
}
