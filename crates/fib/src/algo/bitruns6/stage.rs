//! The levels of `bitruns6` for many addresses together.
//!
//! One walk over all of them for each level: no branch depends on where an address goes, and all wait for
//! memory together. Inner lines and lists are for those that have a
//! bit in a mask: each such loop ends in one wrongly predicted branch. (A loop over an address's own levels
//! costs one for nearly every address: half the rate.)

use super::layout::{CHUNK, DEEP, DEEPER, DEEPEST, FEW, FEW_OF_PROBES, LIST, MORE, PROBES, STAGE};
use super::{Reader, tree};
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::lanes::{self, Groups};

/// Any number of lookups.
#[inline(always)]
pub(super) fn batch<C: Count>(reader: Reader<'_>, addrs: &[u128], answers: &mut [NexthopId]) {
    let Groups { addrs, answers, rest, rest_answers } =
        lanes::groups::<_, _, CHUNK>(addrs, answers);
    // Not zipped: what is left as a call is no code for vector units.
    for i in 0..addrs.len().min(answers.len()) {
        chunk::<C, CHUNK>(reader, &addrs[i], &mut answers[i]);
    }
    let Groups { addrs, answers, rest, rest_answers } =
        lanes::groups::<_, _, STAGE>(rest, rest_answers);
    for i in 0..addrs.len().min(answers.len()) {
        chunk::<C, STAGE>(reader, &addrs[i], &mut answers[i]);
    }
    lanes::fill(rest, rest_answers, |addr| NexthopId(reader.lookup::<C>(addr)));
}

/// A bit for each of up to [`CHUNK`] numbers that have this flag.
#[inline(always)]
fn flagged<C: Count>(numbers: &[u32], flag: u32) -> u64 {
    let mut bits = 0;
    for part in numbers.as_chunks::<32>().0.iter().rev() {
        let highest = lanes::map(part, |number| number << flag.leading_zeros());
        bits = bits << 32 | u64::from(C::high_bits(&highest));
    }
    bits
}

/// Calls `each` with the number of every bit, from the lowest.
#[inline(always)]
fn for_each_bit(mut bits: u64, mut each: impl FnMut(usize)) {
    while bits != 0 {
        each(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

/// `N` lookups. Random addresses mostly fall into whole /16 without routes of their own.
#[inline(always)]
fn chunk<C: Count, const N: usize>(
    reader: Reader<'_>,
    addrs: &[u128; N],
    answers: &mut [NexthopId; N],
) {
    let mut below = 0;
    for probe in 0..PROBES {
        below += (reader.whole(addrs[probe * (N / PROBES)]) >> 31) as usize;
    }
    if below > FEW_OF_PROBES || !few_below::<C, N>(reader, addrs, answers) {
        through_records::<C, N>(reader, addrs, answers);
    }
}

/// Whether all but a few addresses are answered by their whole /16; then all are answered.
#[inline(always)]
fn few_below<C: Count, const N: usize>(
    reader: Reader<'_>,
    addrs: &[u128; N],
    answers: &mut [NexthopId; N],
) -> bool {
    let mut below = 0;
    for_each_lane::<N>(|i| {
        let whole = reader.whole(addrs[i]);
        answers[i] = NexthopId(whole);
        below += (whole >> 31) as usize;
    });
    if below == 0 {
        return true;
    }
    if below > FEW {
        return false;
    }
    for_each_bit(flagged::<C>(&lanes::map(answers, |answer| answer.0), MORE), |i| {
        answers[i % N] = NexthopId(reader.lookup_below::<C>(addrs[i % N]));
    });
    true
}

/// Lookups of which most go through records. Those of a whole /16 with one nexthop do as well.
#[inline(always)]
fn through_records<C: Count, const N: usize>(
    reader: Reader<'_>,
    addrs: &[u128; N],
    answers: &mut [NexthopId; N],
) {
    let mut at = [0; N];
    // With AVX-512 processors have room for so many instructions that wait that they fetch ahead by
    // themselves: 3 % faster on 2000 destinations, 1 to 3 % slower on random ones.
    for_each_lane::<N>(|i| {
        at[i] = reader.record(addrs[i]);
        if !C::HAS_AVX512 {
            reader.records.prefetch(at[i]);
        }
    });
    for_each_lane::<N>(|i| {
        at[i] = reader.value(at[i], addrs[i]);
        if !C::HAS_AVX512 {
            reader.lines.prefetch(tree::line(at[i]));
        }
    });
    let lists = flagged::<C>(&at, LIST);
    let heads = at;
    down::<C, N>(reader, &mut at, addrs);
    for_each_lane::<N>(|i| {
        answers[i] = NexthopId(tree::answer::<C>(reader.lines, at[i], addrs[i]));
    });
    // Hardly any, but whether there are lists at all nobody can predict.
    let is_escape = |answer: NexthopId| u32::from(answer.0 == tree::ESCAPE) << 31;
    let escapes = lists & flagged::<C>(&lanes::map(answers, is_escape), MORE);
    for_each_bit(escapes, |i| {
        answers[i % N] = NexthopId(tree::in_list(reader.lines, heads[i % N], addrs[i % N]));
    });
}

/// Leads all that are at an inner line to their leaves.
#[inline(always)]
fn down<C: Count, const N: usize>(reader: Reader<'_>, at: &mut [u32; N], addrs: &[u128; N]) {
    let deep = flagged::<C>(at, DEEP);
    let deeper = flagged::<C>(at, DEEPER);
    let deepest = flagged::<C>(at, DEEPEST);
    let masks = match N {
        // In one loop.
        ..=32 => [deep | (deeper << 32), 0, deepest],
        _ => [deep, deeper, deepest],
    };
    for mask in masks {
        for_each_bit(mask, |i| {
            at[i % N] = tree::below::<C>(reader.lines, at[i % N], addrs[i % N]);
        });
    }
}

/// Calls `each` with all numbers below `N`; four at a time, so that the compiler unrolls it.
#[inline(always)]
fn for_each_lane<const N: usize>(mut each: impl FnMut(usize)) {
    for four in 0..N / 4 {
        for i in 0..4 {
            each(four * 4 + i);
        }
    }
}
