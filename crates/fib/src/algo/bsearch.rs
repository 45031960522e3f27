//! `bsearch4`, `bsearch6`: binary search in the sorted ranges of a table, as FreeBSD does for a
//! handful of routes. Two cache lines hold the usual table of a host.

use super::anew::{self, OfDump};
use super::{Algorithm, AlgorithmError, Dump, Module, TableFacts};
use crate::algo::ranges::ranges;
use crate::family::Family;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;

/// Binary search over ranges; for tables of a few routes.
#[derive(Debug, Clone, Copy)]
pub struct BinarySearch(pub(crate) &'static str);

struct RangeTable<F: Family> {
    /// Start of each range; the first is 0.
    starts: Box<[F::Addr]>,
    nexthops: Box<[NexthopId]>,
}

impl<F: Family> Algorithm<F> for BinarySearch {
    fn name(&self) -> &'static str {
        self.0
    }

    /// FreeBSD's, which is ideal below 10 routes and drops by 8 with each more; here below 16: up
    /// to 33 ranges, whose five steps stay within a few cache lines. For large tables it comes last
    /// of those that make sense, but before the trees: it has no limits, so that tables with more
    /// nexthops than the fast ones can number are its own.
    fn preference(&self, facts: &TableFacts) -> u8 {
        match facts.prefixes {
            0..16 => 253,
            n @ 16..24 => 255 - 8 * n as u8,
            _ => 60,
        }
    }

    fn build(&self, dump: &Dump<F>) -> Result<Box<dyn Module<F>>, AlgorithmError> {
        anew::build::<F, RangeTable<F>>(dump)
    }
}

impl<F: Family> OfDump<F> for RangeTable<F> {
    fn of_dump(dump: &Dump<F>) -> Result<Self, AlgorithmError> {
        let (starts, nexthops): (Vec<_>, Vec<_>) = ranges(dump).into_iter().unzip();
        Ok(Self { starts: starts.into(), nexthops: nexthops.into() })
    }
}

impl<F: Family> Lookup<F> for RangeTable<F> {
    #[inline]
    fn lookup(&self, addr: F::Addr) -> NexthopId {
        // The range of `addr` is the last one that starts at or before it; the first starts at 0.
        // `partition_point(|start| *start <= addr) - 1`, which is a call in a build without
        // link-time optimisation.
        let (mut at, mut left) = (0, self.starts.len());
        while left > 1 {
            let half = left / 2;
            if self.starts[at + half] <= addr {
                at += half;
            }
            left -= half;
        }
        self.nexthops[at]
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.starts) + size_of_val(&*self.nexthops)
    }
}
