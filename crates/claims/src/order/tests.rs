use proptest::prelude::*;

use super::*;

fn draw(key: Key, grouping: Grouping, [traffics, variants]: [usize; 2], blocks: u32) -> Draw {
    let (baseline, share) = (0, 0.0);
    Draw { key, grouping, blocks, traffics, variants, baseline, share, truths: Vec::new() }
}

/// With truths for every traffic in turn.
fn with_truths(draw: Draw) -> Draw {
    Draw { share: 0.4, truths: (0..draw.traffics).chain(0..draw.traffics).collect(), ..draw }
}

fn grouping() -> impl Strategy<Value = Grouping> {
    prop_oneof![Just(Grouping::Traffic), Just(Grouping::Variant)]
}

/// Places in `turns` of what runs with `traffic`.
fn place(turns: &[Turn], traffic: usize, who: Who) -> Option<usize> {
    turns.iter().position(|turn| turn.traffic == traffic && turn.who == who)
}

proptest! {
    /// Of two variants each runs first in two of four blocks, with every traffic.
    #[test]
    fn after_four_blocks_each_of_two_ran_first_equally_often(
        key: u128, grouping in grouping(), traffics in 1usize..4, variants in 2usize..5,
    ) {
        let turns = draw(Key::Fours(key), grouping, [traffics, variants], 12).turns();
        let blocks: Vec<&[Turn]> = turns.chunk_by(|a, b| a.block == b.block).collect();
        for four in blocks.chunks(4) {
            for traffic in 0..traffics {
                for (a, b) in (0..variants).flat_map(|a| (0..a).map(move |b| (a, b))) {
                    let is_first = |block: &&&[Turn]| {
                        place(block, traffic, Who::Variant(a)) < place(block, traffic, Who::Variant(b))
                    };
                    prop_assert_eq!(four.iter().filter(is_first).count(), 2);
                }
            }
        }
    }

    /// What the first place of a block costs falls on two variants equally.
    #[test]
    fn of_two_variants_each_opens_two_of_four_blocks(
        key: u128, grouping in grouping(), traffics in 1usize..4,
    ) {
        let turns = draw(Key::Fours(key), grouping, [traffics, 2], 8).turns();
        let blocks: Vec<&[Turn]> = turns.chunk_by(|a, b| a.block == b.block).collect();
        for four in blocks.chunks(4) {
            for traffic in 0..traffics {
                let opens = |variant| {
                    let own = Turn { block: 0, traffic, who: Who::Variant(variant) };
                    four.iter().filter(|block| Turn { block: 0, ..block[0] } == own).count()
                };
                prop_assert_eq!(opens(0), opens(1));
            }
        }
    }

    /// Where so few blocks may decide that the order matters, no variant runs before the baseline in all of four.
    #[test]
    fn of_the_first_four_blocks_no_variant_is_always_first_where_few_decide(
        key: u128, grouping in grouping(), traffics in 1usize..3, variants in 2usize..5,
    ) {
        let coins = Key::Coins { key, guarded: 4 };
        let turns = draw(coins, grouping, [traffics, variants], 5).turns();
        let blocks: Vec<&[Turn]> = turns.chunk_by(|a, b| a.block == b.block).take(4).collect();
        for traffic in 0..traffics {
            for variant in 1..variants {
                let of = |block: &[Turn], own| place(block, traffic, Who::Variant(own));
                let first = blocks.iter().filter(|own| of(own, variant) < of(own, 0)).count();
                prop_assert!((1..=3).contains(&first), "{first}");
            }
        }
    }

    #[test]
    fn a_truth_stands_on_either_side_of_its_baseline_in_turn(
        key: u128, grouping in grouping(), traffics in 1usize..3, variants in 2usize..4,
    ) {
        let draw = with_truths(draw(Key::Fours(key), grouping, [traffics, variants], 40));
        let turns = draw.turns();
        for (truth, traffic) in draw.truths.iter().enumerate() {
            let blocks = turns.chunk_by(|a, b| a.block == b.block);
            let sides: Vec<bool> = blocks
                .filter_map(|block| {
                    let baseline = place(block, *traffic, Who::Variant(0));
                    place(block, *traffic, Who::Known(truth)).map(|own| Some(own) < baseline)
                })
                .collect();
            prop_assert!(sides.len() >= 4, "{sides:?}");
            let are_other = sides.chunks_exact(2).all(|two| two[0] != two[1]);
            prop_assert!(are_other, "{sides:?}");
        }
    }
}

/// The order of seed 1 by the first rule: whoever checks or resumes a campaign of an earlier version
/// draws it again.
#[test]
fn the_first_rule_never_changes() {
    let of = |draw: Draw| -> Vec<(usize, Who)> {
        draw.turns().iter().map(|turn| (turn.traffic, turn.who)).collect()
    };
    let first = draw(Key::Free(1), Grouping::Traffic, [2, 2], 2);
    let variants = [(1, 0), (1, 1), (0, 0), (0, 1), (1, 0), (1, 1), (0, 1), (0, 0)];
    assert_eq!(of(first.clone()), variants.map(|(traffic, own)| (traffic, Who::Variant(own))));
    let hidden = of(with_truths(first));
    let known = hidden.iter().enumerate().filter(|(_, (_, who))| matches!(who, Who::Known(_)));
    let known: Vec<(usize, usize)> = known.map(|(at, (traffic, _))| (at, *traffic)).collect();
    assert_eq!(known, [(2, 1), (4, 0), (7, 1), (9, 0), (12, 0)]);
}

/// In how many of so many campaigns of six blocks, in which nothing differs, all differences have one sign,
/// while the machine is slow for two trials and fast for two, and so on.
fn one_sided(key: impl Fn(u128) -> Key, campaigns: u128) -> usize {
    let is_one_sided = |number: u128| {
        let turns = draw(key(number), Grouping::Traffic, [1, 2], 6).turns();
        let phase = (number % 4) as usize;
        let speed = |at: usize| if (at + phase) % 4 < 2 { 1 } else { 0 };
        let of = |variant| {
            move |(at, turn): (usize, &Turn)| (turn.who == Who::Variant(variant)).then(|| speed(at))
        };
        let side = |variant| turns.iter().enumerate().filter_map(of(variant)).collect::<Vec<i32>>();
        let differences: Vec<i32> = side(0).iter().zip(side(1)).map(|(a, b)| a - b).collect();
        differences.iter().all(|own| *own > 0) || differences.iter().all(|own| *own < 0)
    };
    (0..campaigns).filter(|number| is_one_sided(*number)).count()
}

/// A test by signs promises 1 of 32 whatever the machine does, if orders fall like coins.
#[test]
fn a_machine_that_takes_turns_with_the_trials_makes_no_winner() {
    let mixed = |number: u128| number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let fours = one_sided(|number| Key::Fours(mixed(number)), 8_000);
    let coins =
        one_sided(|number| Key::Coins { key: mixed(number), guarded: guarded(6, false) }, 8_000);
    // In every second campaign the turns fall together with the blocks, and nothing differs within one.
    assert!((360..520).contains(&fours), "{fours}: one in nine of 4000");
    assert!((90..160).contains(&coins), "{coins}: one in 32 of 4000");
}

#[test]
fn the_experiment_and_the_number_of_blocks_change_the_order() {
    let campaign = fwdlab_results::examples::campaign();
    let eight = Campaign { order_version: 2, blocks: 8, ..campaign };
    let other = Campaign { experiment_sha256: "11".repeat(32), ..eight.clone() };
    let longer = Campaign { blocks: 9, ..eight.clone() };
    let keys = [&eight, &other, &longer].map(Key::of);
    assert!(keys[0] != keys[1] && keys[0] != keys[2] && keys[1] != keys[2]);
    assert_ne!(ids(&eight), ids(&other));
    assert_ne!(ids(&eight), ids(&longer)[..16]);
}
