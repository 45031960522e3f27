//! The addresses of a batch whose lines are deep: finished together, level by level.

use super::line;
use super::{DEEP, LINE_OFFSET, Reader, key};
use crate::nexthop::NexthopId;
use crate::simd::count::Count;

impl<const WIDE: bool> Reader<'_, WIDE> {
    /// Answers the lookups whose line is deep, level by level.
    #[inline(always)]
    pub(super) fn finish<C: Count, const N: usize>(
        self,
        mut deep: Lanes<N>,
        addrs: &[u128; N],
        answers: &mut [NexthopId; N],
    ) {
        let (mut below, mut lists) = (Lanes::<N>::new(), Lanes::<N>::new());
        while deep.count > 0 {
            (below.count, lists.count) = (0, 0);
            for (at, line, level) in deep.iter() {
                let addr = addrs[at % N];
                let count = line::count::<C>(self.records, line, key(addr, level));
                let table = line::below::<WIDE>(self.records, line, count);
                let next = line::next_key(line);
                below.push(at, table, next, (table != 0) & (next != 0));
                lists.push(at, table, next, (table != 0) & (next == 0));
            }
            for i in 0..below.count {
                let (at, table, level) = below.get(i);
                let addr = addrs[at % N];
                let line = self.entry(table, key(addr, level));
                self.records.prefetch(line & LINE_OFFSET);
                below.set(i, line);
            }
            for (at, list, _) in lists.iter() {
                let addr = addrs[at % N];
                answers[at % N] =
                    NexthopId(line::in_list::<C, WIDE>(self.records, list, addr as u64));
            }
            deep.count = 0;
            for (at, line, level) in below.iter() {
                let addr = addrs[at % N];
                let count = line::count::<C>(self.records, line, key(addr, level));
                answers[at % N] = NexthopId(line::nexthop::<WIDE>(self.records, line, count));
                deep.push(at, line, level, line & DEEP != 0);
            }
        }
    }
}

/// Those of `N` addresses that need more: their places, a line or table, and the level of its key.
pub(super) struct Lanes<const N: usize> {
    at: [u8; N],
    entry: [u32; N],
    level: [u8; N],
    pub(super) count: usize,
}

impl<const N: usize> Lanes<N> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { at: [0; N], entry: [0; N], level: [0; N], count: 0 }
    }

    /// Adds an address if `counts`; without a branch, as nobody can predict that.
    #[inline(always)]
    pub(super) fn push(&mut self, at: usize, entry: u32, level: u32, counts: bool) {
        let i = self.count % N;
        (self.at[i], self.entry[i], self.level[i]) = (at as u8, entry, level as u8);
        self.count += usize::from(counts);
    }

    #[inline(always)]
    fn get(&self, i: usize) -> (usize, u32, u32) {
        let i = i % N;
        (usize::from(self.at[i]), self.entry[i], u32::from(self.level[i]))
    }

    #[inline(always)]
    fn set(&mut self, i: usize, entry: u32) {
        self.entry[i % N] = entry;
    }

    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = (usize, u32, u32)> {
        (0..self.count).map(|i| self.get(i))
    }
}
