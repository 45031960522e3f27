//! The levels of `bitruns6` for a batch of addresses.
//!
//! Each level is a loop over the addresses that reach it, given as the bits of a mask: no branch
//! depends on where an address goes, apart from the end of each loop. (A loop over an address's own
//! levels costs a wrongly predicted branch for nearly every address: half the rate.)

use super::{DIRECT, KIND_SHIFT, LINE_OFFSET, LINE_WORDS, Reader, STAGE, TREE, tree};
use crate::nexthop::NexthopId;
use crate::simd::count::Count;

/// The addresses that still need something, a bit for each.
#[derive(Default)]
struct Masks {
    /// In a tree, in one of at least one, two, three levels above its leaves, in a list.
    leaf: u64,
    inner: [u64; 3],
    list: u64,
}

/// Calls `each` with the number of every bit, from the lowest.
#[inline(always)]
fn for_each_bit(mut mask: u64, mut each: impl FnMut(usize)) {
    while mask != 0 {
        each(mask.trailing_zeros() as usize % STAGE);
        mask &= mask - 1;
    }
}

/// [`STAGE`] lookups.
#[inline(always)]
pub(super) fn stage<C: Count>(
    reader: Reader<'_>,
    addrs: &[u128; STAGE],
    answers: &mut [NexthopId; STAGE],
) {
    let mut below = 0u64;
    for (i, (answer, &addr)) in answers.iter_mut().zip(addrs).enumerate() {
        let page = reader.page(addr);
        *answer = NexthopId(page & !DIRECT);
        below |= u64::from(page & DIRECT == 0) << i;
    }
    if below == 0 {
        return;
    }
    let mut lines = [0; STAGE];
    let masks = records(reader, below, (addrs, answers), &mut lines);
    trees::<C>(reader, masks, (addrs, answers), &mut lines);
}

/// Values of the records; for trees and lists, where they begin.
#[inline(always)]
fn records(
    reader: Reader<'_>,
    below: u64,
    (addrs, answers): (&[u128; STAGE], &mut [NexthopId; STAGE]),
    lines: &mut [u32; STAGE],
) -> Masks {
    let mut masks = Masks::default();
    for_each_bit(below, |i| {
        let value = reader.value(reader.record(answers[i].0, addrs[i]), addrs[i]);
        answers[i] = NexthopId(value);
        lines[i] = (value & LINE_OFFSET) * LINE_WORDS;
        // Nexthops have 16 bits, so what is above counts as kind only together with TREE.
        let kind = value >> KIND_SHIFT;
        let flag = |is: bool| u64::from(is) << i;
        masks.leaf |= flag(value & TREE != 0);
        masks.list |= flag(kind >= 8 + tree::LIST);
        masks.inner[0] |= flag(kind > 8);
        masks.inner[1] |= flag(kind > 9);
        masks.inner[2] |= flag(kind > 10);
    });
    masks.leaf &= !masks.list;
    masks.inner = masks.inner.map(|mask| mask & !masks.list);
    masks
}

/// Nexthops in trees and lists.
#[inline(always)]
fn trees<C: Count>(
    reader: Reader<'_>,
    masks: Masks,
    (addrs, answers): (&[u128; STAGE], &mut [NexthopId; STAGE]),
    lines: &mut [u32; STAGE],
) {
    for_each_bit(masks.leaf | masks.list, |i| reader.records.prefetch(lines[i]));
    let roots = *lines;
    let mut positions = [0; STAGE];
    for (depth, mask) in masks.inner.into_iter().enumerate() {
        for_each_bit(mask, |i| {
            let child = tree::child::<C>(reader.records, lines[i], addrs[i]);
            positions[i] = positions[i] * tree::FAN_OUT + child;
            lines[i] = roots[i] + (tree::LEVEL_STARTS[depth] + positions[i]) * LINE_WORDS;
            reader.records.prefetch(lines[i]);
        });
    }
    for_each_bit(masks.leaf, |i| {
        answers[i] = NexthopId(tree::leaf_nexthop::<C>(reader.records, lines[i], addrs[i]));
    });
    for_each_bit(masks.list, |i| {
        answers[i] = NexthopId(tree::in_list(reader.records, answers[i].0, addrs[i]));
    });
}
