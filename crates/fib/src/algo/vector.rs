//! `vector4`, `vector6`: tables of a handful of routes, compared with many addresses at a time.
//!
//! The table is its disjoint ranges, as in `bsearch4`. A lookup goes through all of them: where an
//! address is at or after a range's start, the answer becomes the range's nexthop. That is two
//! vector instructions for a range and 16 IPv4 addresses, without a branch or a load that waits
//! for another: for up to some 30 ranges nothing that looks at memory is faster.
//!
//! The loops are plain: the compiler turns each copy that [`level`] asks for into vector code.

use super::anew::{self, OfDump};
use super::{Algorithm, AlgorithmError, Dump, Module, TableFacts};
use crate::algo::ranges::ranges;
use crate::family::{Address, Family, Inet, Inet6};
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::lanes::{self, Groups};
use crate::simd::level::{self, Kernel};
use std::any::Any;
use std::hint::select_unpredictable;

/// Above this many routes (2n + 1 ranges) it is never chosen, and changes wait for a rebuild.
const MAX_ROUTES: usize = 64;
/// Addresses compared at a time.
const LANES: usize = 16;

/// Linear comparison with vector instructions; for tables of a few routes.
#[derive(Debug, Clone, Copy)]
pub struct Vector(pub(crate) &'static str);

/// The start of a range as a number to compare with: one for IPv4, two for IPv6.
trait Split: Address {
    /// High half (0 for IPv4) and low half.
    fn split(self) -> (u64, u64);
}

impl Split for u32 {
    #[inline(always)]
    fn split(self) -> (u64, u64) {
        (0, u64::from(self))
    }
}

impl Split for u128 {
    #[inline(always)]
    fn split(self) -> (u64, u64) {
        ((self >> 64) as u64, self as u64)
    }
}

/// The ranges after the first, which starts at 0.
pub(crate) struct RangeList<A> {
    first: NexthopId,
    rest: Vec<(A, NexthopId)>,
}

impl<A: Address> RangeList<A> {
    fn new<F: Family<Addr = A>>(dump: &Dump<F>) -> Self {
        let all = ranges(dump);
        let first = all.first().map_or(NexthopId::NONE, |range| range.1);
        Self { first, rest: all.into_iter().skip(1).collect() }
    }

    /// The nexthop of the last range that starts at or before the address: for a single lookup a
    /// binary search of a few steps is quicker than all comparisons.
    #[inline(always)]
    fn find(&self, addr: A) -> NexthopId {
        // Note: `partition_point` is a call where nothing is optimised across crates.
        let rest = self.rest.as_slice();
        let (mut at, mut left) = (0, rest.len());
        while left > 1 {
            let middle = at + left / 2;
            at = select_unpredictable(rest[middle].0 <= addr, middle, at);
            left -= left / 2;
        }
        rest.get(at).filter(|range| range.0 <= addr).map_or(self.first, |range| range.1)
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.rest.as_slice())
    }
}

impl<F: Family> Algorithm<F> for Vector
where
    RangeList<F::Addr>: Lookup<F>,
{
    fn name(&self) -> &'static str {
        self.0
    }

    /// Best of all for a handful of routes; each costs as much as the one before.
    fn preference(&self, facts: &TableFacts) -> u8 {
        match facts.prefixes {
            0..16 => 255,
            n @ 16..=MAX_ROUTES => 255 - 2 * n as u8,
            _ => 0,
        }
    }

    fn build(&self, dump: &Dump<F>) -> Result<Box<dyn Module<F>>, AlgorithmError> {
        anew::build::<F, RangeList<F::Addr>>(dump)
    }
}

impl<F: Family> OfDump<F> for RangeList<F::Addr>
where
    Self: Lookup<F>,
{
    const MOST: usize = MAX_ROUTES;

    fn of_dump(dump: &Dump<F>) -> Result<Self, AlgorithmError> {
        Ok(Self::new(dump))
    }
}

impl RangeList<u128> {
    /// The nexthop numbers of some addresses, by all 128 bits.
    #[inline(always)]
    fn compare_whole(&self, addrs: &[u128; LANES], found: &mut [u64; LANES]) {
        let high = lanes::map(addrs, |addr| addr.split().0);
        let low = lanes::map(addrs, |addr| addr.split().1);
        *found = [u64::from(self.first.0); LANES];
        for &(start, nexthop) in &self.rest {
            let (start_high, start_low) = start.split();
            for lane in 0..LANES {
                let after = (high[lane] > start_high)
                    | ((high[lane] == start_high) & (low[lane] >= start_low));
                found[lane] = if after { u64::from(nexthop.0) } else { found[lane] };
            }
        }
    }
}

struct Batch<'a, A>(&'a RangeList<A>, &'a [A], &'a mut [NexthopId]);

impl Kernel for Batch<'_, u32> {
    type Output = ();

    #[inline(always)]
    fn run<C: Count>(self) {
        let Self(table, addrs, answers) = self;
        let Groups { addrs, answers, rest, rest_answers } =
            lanes::groups::<_, _, LANES>(addrs, answers);
        for i in 0..addrs.len().min(answers.len()) {
            let addrs = &addrs[i];
            let mut found = [table.first.0; LANES];
            for &(start, nexthop) in &table.rest {
                for lane in 0..LANES {
                    found[lane] = if addrs[lane] >= start { nexthop.0 } else { found[lane] };
                }
            }
            answers[i] = lanes::map(&found, NexthopId);
        }
        lanes::fill(rest, rest_answers, |addr| table.find(addr));
    }
}

impl Kernel for Batch<'_, u128> {
    type Output = ();

    #[inline(always)]
    fn run<C: Count>(self) {
        let Self(table, addrs, answers) = self;
        let Groups { addrs, answers, rest, rest_answers } =
            lanes::groups::<_, _, LANES>(addrs, answers);
        for i in 0..addrs.len().min(answers.len()) {
            let addrs = &addrs[i];
            let high = lanes::map(addrs, |addr| addr.split().0);
            let mut found = [u64::from(table.first.0); LANES];
            let mut equal = [0u64; LANES];
            for &(start, nexthop) in &table.rest {
                let (start_high, start_low) = start.split();
                // Most ranges begin with a prefix of up to 64 bits: one comparison does. With the
                // others it does, too, unless the first 64 bits are equal.
                for lane in 0..LANES {
                    let after = match start_low {
                        0 => high[lane] >= start_high,
                        _ => high[lane] > start_high,
                    };
                    found[lane] = if after { u64::from(nexthop.0) } else { found[lane] };
                }
                if start_low != 0 {
                    for lane in 0..LANES {
                        equal[lane] |= u64::from(high[lane] == start_high);
                    }
                }
            }
            if equal.iter().fold(0, |any, equal| any | equal) != 0 {
                table.compare_whole(addrs, &mut found);
            }
            answers[i] = lanes::map(&found, |nexthop| NexthopId(nexthop as u32));
        }
        lanes::fill(rest, rest_answers, |addr| table.find(addr));
    }
}

impl Lookup<Inet> for RangeList<u32> {
    #[inline]
    fn lookup(&self, addr: u32) -> NexthopId {
        self.find(addr)
    }
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
    fn lookup_batch(&self, addrs: &[u32], answers: &mut [NexthopId]) {
        level::run(Batch(self, addrs, answers));
    }
    fn memory_bytes(&self) -> usize {
        self.bytes()
    }
}

impl Lookup<Inet6> for RangeList<u128> {
    #[inline]
    fn lookup(&self, addr: u128) -> NexthopId {
        self.find(addr)
    }
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
    fn lookup_batch(&self, addrs: &[u128], answers: &mut [NexthopId]) {
        level::run(Batch(self, addrs, answers));
    }
    fn memory_bytes(&self) -> usize {
        self.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prefix::Prefix;
    use crate::random::Random;

    #[test]
    fn batches_of_every_length_equal_single_lookups() {
        let mut random = Random::new(45);
        let prefix = |random: &mut Random| {
            let addr = (u128::from(random.next_u64()) << 64) | u128::from(random.next_u64());
            Prefix::<Inet6>::covering(addr & (7 << 125 | 7 << 62), random.below(129) as u8)
        };
        let routes = (0..20).map(|i| (prefix(&mut random), NexthopId(i + 1))).collect();
        let table = RangeList::new(&Dump::new(routes));
        let addrs: Vec<u128> = table.rest.iter().flat_map(|r| [r.0, r.0 - 1, r.0 + 1]).collect();
        for len in 0..addrs.len() {
            let mut answers = vec![NexthopId::NONE; len];
            table.lookup_batch(&addrs[..len], &mut answers);
            let singles: Vec<_> = addrs[..len].iter().map(|addr| table.find(*addr)).collect();
            assert_eq!(answers, singles);
        }
    }
}
