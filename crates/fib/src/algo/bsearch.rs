//! `bsearch4`, `bsearch6`: binary search in the sorted ranges of a table, as FreeBSD does for a
//! handful of routes. Two cache lines hold the usual table of a host.

use std::sync::Arc;

use super::{Algorithm, AlgorithmError, Change, Dump, Module, Outcome, SMALL_TABLE, TableFacts};
use crate::algo::ranges::ranges;
use crate::epoch::Grace;
use crate::family::Family;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::rib::Rib;

/// Binary search over ranges; for tables of a few routes.
#[derive(Debug, Clone, Copy)]
pub struct BinarySearch(pub(crate) &'static str);

struct RangeTable<F: Family> {
    /// Start of each range; the first is 0.
    starts: Box<[F::Addr]>,
    nexthops: Box<[NexthopId]>,
}

struct RangeModule<F: Family> {
    table: Arc<RangeTable<F>>,
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
        Ok(Box::new(RangeModule { table: Arc::new(RangeTable::new(dump)) }))
    }
}

impl<F: Family> Module<F> for RangeModule<F> {
    fn lookup(&self) -> Arc<dyn Lookup<F>> {
        self.table.clone()
    }

    fn apply(&mut self, _changes: &[Change<F>], rib: &Rib<F>, _grace: &Grace<'_>) -> Outcome<F> {
        if rib.len() > SMALL_TABLE {
            return Outcome::Rebuild { reason: "ranges move" };
        }
        self.table = Arc::new(RangeTable::new(&rib.dump()));
        Outcome::Replaced(self.table.clone())
    }
}

impl<F: Family> RangeTable<F> {
    fn new(dump: &Dump<F>) -> Self {
        let (starts, nexthops): (Vec<_>, Vec<_>) = ranges(dump).into_iter().unzip();
        Self { starts: starts.into(), nexthops: nexthops.into() }
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
