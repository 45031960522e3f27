//! `dxr`: direct lookup, then a search in a short range table, as FreeBSD has it.
//!
//! After Zec, Rizzo and Mikuc, "DXR: towards a billion routing lookups per second in software"
//! (ACM CCR 42(5), 2012), variant D16R: the first 16 bits lead to a chunk of the sorted ranges of
//! the table, cut at multiples of 2^16; a chunk of one range is the answer itself, another one is
//! searched by halving for the last 16 bits. 4 bytes for a range. Small enough for a second-level
//! cache; its limit is the search, whose branches or dependent loads cost 5 to 10 steps in the
//! dense parts of a BGP table.

use std::sync::Arc;

use super::spans::{self, MAX_NEXTHOP, Span};
use super::{
    Algorithm, AlgorithmError, Change, Dump, Limits, Module, Outcome, SMALL_TABLE, TableFacts,
};
use crate::epoch::Grace;
use crate::family::Inet;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::rib::Rib;

const CHUNK_SHIFT: u32 = 16;
const CHUNKS: usize = 1 << CHUNK_SHIFT;
/// Ranges at most, so that their positions fit 32 bits.
const MAX_RANGES: usize = u32::MAX as usize;

/// DXR with 16 direct bits.
#[derive(Debug, Clone, Copy)]
pub struct Dxr;

/// Where a chunk's ranges lie: `first` and how many follow it in `starts`.
#[derive(Clone, Copy)]
struct Chunk {
    first: u32,
    count: u32,
}

struct DxrTable {
    chunks: Box<[Chunk]>,
    /// Last 16 bits of each range's start.
    starts: Box<[u16]>,
    nexthops: Box<[u16]>,
}

struct DxrModule(Arc<DxrTable>);

impl Algorithm<Inet> for Dxr {
    fn name(&self) -> &'static str {
        "dxr"
    }

    fn limits(&self) -> Limits {
        Limits { nexthops: MAX_NEXTHOP, prefixes: MAX_RANGES / 4 }
    }

    /// FreeBSD's first choice for large tables; here others are faster.
    fn preference(&self, facts: &TableFacts) -> u8 {
        if facts.prefixes < 32 { 1 } else { 160 }
    }

    fn build(&self, dump: &Dump<Inet>) -> Result<Box<dyn Module<Inet>>, AlgorithmError> {
        Ok(Box::new(DxrModule(Arc::new(DxrTable::new(&spans::of_dump(dump)?)))))
    }
}

impl Module<Inet> for DxrModule {
    fn lookup(&self) -> Arc<dyn Lookup<Inet>> {
        self.0.clone()
    }

    fn apply(
        &mut self,
        _changes: &[Change<Inet>],
        rib: &Rib<Inet>,
        _grace: &Grace<'_>,
    ) -> Outcome<Inet> {
        if rib.len() > SMALL_TABLE {
            return Outcome::Rebuild { reason: "ranges move" };
        }
        match spans::of_dump(&rib.dump()) {
            Ok(spans) => {
                self.0 = Arc::new(DxrTable::new(&spans));
                Outcome::Replaced(self.0.clone())
            }
            Err(error) => Outcome::Failed(error),
        }
    }
}

impl DxrTable {
    fn new(spans: &[Span<u32>]) -> Self {
        let mut chunks = Vec::with_capacity(CHUNKS);
        let (mut starts, mut nexthops) = (Vec::new(), Vec::new());
        spans::by_block(spans, CHUNK_SHIFT, 0..=CHUNKS as u64 - 1, |_, part| {
            chunks.push(Chunk { first: starts.len() as u32, count: part.len() as u32 });
            for (i, &(start, nexthop)) in part.iter().enumerate() {
                starts.push(if i == 0 { 0 } else { start as u16 });
                nexthops.push(nexthop);
            }
        });
        Self { chunks: chunks.into(), starts: starts.into(), nexthops: nexthops.into() }
    }
}

impl Lookup<Inet> for DxrTable {
    fn lookup(&self, addr: u32) -> NexthopId {
        let Some(&Chunk { first, count }) = self.chunks.get((addr >> CHUNK_SHIFT) as usize) else {
            return NexthopId::NONE;
        };
        // The last range that starts at or before the address; the first starts at 0. Halving
        // without branches: the number of steps depends on the chunk only.
        let (mut base, mut len) = (first as usize, count as usize);
        while len > 1 {
            let half = len / 2;
            let after = self.starts.get(base + half).is_some_and(|start| *start <= addr as u16);
            base += if after { half } else { 0 };
            len -= half;
        }
        NexthopId(self.nexthops.get(base).map_or(0, |nexthop| u32::from(*nexthop)))
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.chunks) + size_of_val(&*self.starts) + size_of_val(&*self.nexthops)
    }
}
