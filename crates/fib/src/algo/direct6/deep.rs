//! The addresses of a batch whose lines are deep: finished together, level by level.

use super::line;
use super::{DEEP, LINE_OFFSET, Reader, key};
use crate::algo::pending::Pending;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;

impl<const WIDE: bool> Reader<'_, WIDE> {
    /// Answers the lookups whose line is deep, level by level.
    #[inline(always)]
    pub(super) fn finish<C: Count, const N: usize>(
        self,
        mut deep: Pending<N>,
        addrs: &[u128; N],
        answers: &mut [NexthopId; N],
    ) {
        let (mut below, mut lists) = (Pending::<N>::new(), Pending::<N>::new());
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
