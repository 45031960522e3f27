//! The levels of `bitruns6` for many addresses together.
//!
//! One walk over all of them for each level, which fetches what the next one needs: no branch depends on
//! where an address goes, and all wait for memory together. What has a tree below it goes through
//! lists of those that need more, whose loops end in one wrongly predicted branch each. (A loop over an
//! address's own levels costs one for nearly every address: half the rate.)

use super::layout::{CHUNK, DIRECT, FEW, KIND_SHIFT, OFFSET, STAGE};
use super::{Reader, tree};
use crate::algo::pending::Pending;
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

/// A bit for each of up to [`CHUNK`] numbers whose highest bit is set.
#[inline(always)]
fn flagged<C: Count>(numbers: &[u32]) -> u64 {
    let mut bits = 0;
    for part in numbers.as_chunks().0.iter().rev() {
        bits = bits << 32 | u64::from(C::high_bits(part));
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

/// `N` lookups.
#[inline(always)]
fn chunk<C: Count, const N: usize>(
    reader: Reader<'_>,
    addrs: &[u128; N],
    answers: &mut [NexthopId; N],
) {
    let mut pages = [0; N];
    let mut direct = 0;
    for i in 0..N {
        pages[i] = reader.page(addrs[i]);
        answers[i] = NexthopId(pages[i] & !DIRECT);
        direct += (pages[i] >> 31) as usize;
    }
    match N - direct {
        0 => {}
        1..=FEW => {
            for_each_bit(!flagged::<C>(&pages) & (u64::MAX >> (64 - N)), |i| {
                answers[i % N] = NexthopId(reader.lookup_in::<C>(pages[i % N], addrs[i % N]));
            });
        }
        _ => in_pages::<C, N>(reader, &pages, addrs, answers),
    }
}

/// Lookups of which most go to a page.
#[inline(always)]
fn in_pages<C: Count, const N: usize>(
    reader: Reader<'_>,
    pages: &[u32; N],
    addrs: &[u128; N],
    answers: &mut [NexthopId; N],
) {
    let mut at = [0; N];
    // Where there is no page, any record.
    for i in 0..N {
        at[i] = reader.record(pages[i], addrs[i]);
        reader.records.prefetch_second(at[i]);
    }
    for i in 0..N {
        let direct = (pages[i] as i32 >> 31) as u32;
        at[i] = reader.value(at[i], addrs[i]) & !direct | pages[i] & direct & !DIRECT;
        answers[i] = NexthopId(at[i]);
        // A nexthop fetches what nobody asks for, but always the same.
        let tree = (at[i] as i32 >> 31) as u32;
        reader.records.prefetch(at[i] & tree & OFFSET);
    }
    let trees = flagged::<C>(&at);
    if trees != 0 {
        in_trees::<C, N>(reader, (trees, &at), addrs, answers);
    }
}

/// The nexthops of the addresses that have a bit, below their values.
#[inline(always)]
fn in_trees<C: Count, const N: usize>(
    reader: Reader<'_>,
    (trees, values): (u64, &[u32; N]),
    addrs: &[u128; N],
    answers: &mut [NexthopId; N],
) {
    let records = reader.records;
    let (mut inner, mut leaves) = (Pending::<N>::new(), Pending::<N>::new());
    let mut lists = 0u64;
    for_each_bit(trees, |i| {
        let value = values[i % N];
        let kind = value >> KIND_SHIFT & 7;
        inner.push(i, value & OFFSET, kind, tree::has_levels(kind));
        leaves.push(i, value & OFFSET, tree::leaf_runs(kind), tree::is_leaf(kind));
        lists |= u64::from(tree::is_list(kind)) << i;
    });
    for level in 0..tree::LEVELS {
        let mut deeper = Pending::<N>::new();
        for n in 0..inner.count {
            let (i, line, levels) = inner.get(n);
            let root = values[i % N] & OFFSET;
            let below = tree::below::<C>(records, (root, line), level, addrs[i % N]);
            records.prefetch(below);
            deeper.push(i, below, levels, levels > level as u32 + 1);
            leaves.push(i, below, tree::leaf_runs(0), levels == level as u32 + 1);
        }
        if deeper.count == 0 {
            break;
        }
        inner = deeper;
    }
    for n in 0..leaves.count {
        let (i, line, runs) = leaves.get(n);
        let found = tree::leaf_nexthop::<C>(records, line, runs, addrs[i % N]);
        answers[i % N] = NexthopId(found);
    }
    for_each_bit(lists, |i| {
        answers[i % N] = NexthopId(tree::in_list(records, values[i % N], addrs[i % N]));
    });
}
