//! A part of a routing table as disjoint spans: what an update writes into a structure.

use super::ranges::ranges;
use super::{AlgorithmError, Dump};
use crate::family::{Address, Family};
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// A span of addresses from `start` to before the next span's start, and its nexthop as the large
/// tables hold it: 16 bits in most of them, 0 for none.
pub(crate) type Span<A, C = u16> = (A, C);

/// Highest nexthop number of the structures with 16-bit nexthops.
pub(crate) const MAX_NEXTHOP: u32 = u16::MAX as u32;

/// Spans of most changes.
const FEW: usize = 16;

/// A nexthop number as a structure holds it.
pub(crate) trait Code: Copy + PartialEq {
    /// Highest number that it can say.
    const LIMIT: u32;

    /// The code of a number up to [`Code::LIMIT`].
    fn of(nexthop: NexthopId) -> Option<Self>;
}

impl Code for u16 {
    const LIMIT: u32 = MAX_NEXTHOP;

    fn of(nexthop: NexthopId) -> Option<Self> {
        Self::try_from(nexthop.0).ok()
    }
}

/// Structures need the highest bit for themselves.
impl Code for u32 {
    const LIMIT: u32 = u32::MAX >> 1;

    fn of(nexthop: NexthopId) -> Option<Self> {
        (nexthop.0 <= Self::LIMIT).then_some(nexthop.0)
    }
}

/// All spans of a table.
///
/// # Errors
/// When a nexthop number does not fit.
pub(crate) fn of_dump<F: Family, C: Code>(
    dump: &Dump<F>,
) -> Result<Vec<Span<F::Addr, C>>, AlgorithmError> {
    let coded = |(start, nexthop): (F::Addr, NexthopId)| {
        let too_many = AlgorithmError::TooManyNexthops { got: nexthop.0, limit: C::LIMIT };
        Ok((start, C::of(nexthop).ok_or(too_many)?))
    };
    ranges(dump).into_iter().map(coded).collect()
}

/// The spans of `within`, the first of which starts at its first address. Costs one walk
/// and a step for each route inside. `None` when a nexthop number does not fit.
pub(crate) fn of_rib<F: Family, C: Code>(
    rib: &Rib<F>,
    within: Prefix<F>,
) -> Option<Vec<Span<F::Addr, C>>> {
    let (outer, covered) = rib.part(within);
    let (spans, open) = (Vec::with_capacity(FEW), Vec::with_capacity(FEW));
    let mut sweep = Sweep::<F, C> { spans, open, outer: C::of(outer)? };
    sweep.start(within.addr(), sweep.outer);
    for (prefix, nexthop) in covered {
        sweep.close_before(prefix.addr(), within.last_addr());
        let nexthop = C::of(nexthop)?;
        sweep.start(prefix.addr(), nexthop);
        sweep.open.push((prefix, nexthop));
    }
    sweep.close_all(within.last_addr());
    Some(sweep.spans)
}

struct Sweep<F: Family, C> {
    spans: Vec<Span<F::Addr, C>>,
    /// The prefixes around the current address, outermost first.
    open: Vec<(Prefix<F>, C)>,
    outer: C,
}

impl<F: Family, C: Code> Sweep<F, C> {
    fn close_before(&mut self, addr: F::Addr, last: F::Addr) {
        while let Some((prefix, _)) = self.open.pop_if(|(prefix, _)| !prefix.contains(addr)) {
            self.resume_after(prefix, last);
        }
    }

    fn close_all(&mut self, last: F::Addr) {
        while let Some((prefix, _)) = self.open.pop() {
            self.resume_after(prefix, last);
        }
    }

    /// After `prefix`, the one around it shines through again.
    fn resume_after(&mut self, prefix: Prefix<F>, last: F::Addr) {
        if let Some(next) = prefix.last_addr().successor().filter(|next| *next <= last) {
            let outer = self.open.last().map_or(self.outer, |route| route.1);
            self.start(next, outer);
        }
    }

    fn start(&mut self, addr: F::Addr, nexthop: C) {
        // A span of no length: something else starts at the same address.
        self.spans.pop_if(|span| span.0 == addr);
        if self.spans.last().is_none_or(|last| last.1 != nexthop) {
            self.spans.push((addr, nexthop));
        }
    }
}

/// Splits spans at the blocks of `1 << shift` addresses from `first` to `last` block: calls `each`
/// with a block's number and its spans; the first of them may start before the block. Blocks without
/// a start of their own get a slice of one span.
pub(crate) fn by_block<A: Address, C>(
    spans: &[Span<A, C>],
    shift: u32,
    blocks: std::ops::RangeInclusive<u64>,
    mut each: impl FnMut(u64, &[Span<A, C>]),
) {
    let mut from = 0;
    for block in blocks {
        let start = A::truncate(u128::from(block)) << shift;
        let last = start | !(A::MAX << shift);
        while from + 1 < spans.len() && spans[from + 1].0 <= start {
            from += 1;
        }
        let mut to = from + 1;
        while to < spans.len() && spans[to].0 <= last {
            to += 1;
        }
        each(block, &spans[from..to]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inet;
    use crate::random::Random;

    #[test]
    fn spans_of_a_part_are_a_part_of_all_spans() {
        let mut random = Random::new(3);
        for _ in 0..300 {
            let mut rib = Rib::<Inet>::new();
            for _ in 0..40 {
                let prefix = Prefix::covering(
                    random.next_u64() as u32 & 0xf0f0_00ff,
                    random.below(33) as u8,
                );
                rib.set(prefix, NexthopId(1 + random.below(3) as u32));
            }
            let all: Vec<Span<u32>> = of_dump(&rib.dump()).unwrap();
            let at = |spans: &[Span<u32>], addr| {
                spans[spans.partition_point(|span| span.0 <= addr) - 1].1
            };
            let within =
                Prefix::covering(random.next_u64() as u32 & 0xf0f0_00ff, random.below(33) as u8);
            let part: Vec<Span<u32>> = of_rib(&rib, within).unwrap();
            assert_eq!(part[0].0, within.addr());
            assert!(part.iter().all(|span| within.contains(span.0)));
            for start in part.iter().map(|s| s.0).chain(all.iter().map(|s| s.0)) {
                if within.contains(start) {
                    assert_eq!(at(&part, start), at(&all, start));
                }
            }
        }
    }

    #[test]
    fn blocks_get_their_spans_and_the_one_before() {
        let spans = [(0u32, 1), (0x1_8000, 2), (0x3_0000, 3)];
        let mut seen = Vec::new();
        by_block(&spans, 16, 0..=4, |block, part| seen.push((block, part.to_vec())));
        assert_eq!(seen[0], (0, vec![spans[0]]));
        assert_eq!(seen[1], (1, vec![spans[0], spans[1]]));
        assert_eq!(seen[2], (2, vec![spans[1]]));
        assert_eq!(seen[3], (3, vec![spans[2]]));
        assert_eq!(seen[4], (4, vec![spans[2]]));
    }
}
