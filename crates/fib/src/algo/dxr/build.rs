//! The control side of `dxr`: pages and chunks from spans.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::pieces::Pieces;
use super::{CHUNK_SHIFT, ENTRIES, LEAF, PAGE_SHIFT, PAGES, START_SHIFT, Tables, shared};
use crate::algo::ahead::fetched;
use crate::algo::slab::{Full, Offset, Slab};
use crate::algo::spans::{self, MAX_NEXTHOP, Span};
use crate::algo::{
    Algorithm, AlgorithmError, Auxiliary, Change, Dump, Limits, Module, Response, TableFacts,
};
use crate::epoch::Grace;
use crate::family::Inet;
use crate::lookup::Lookup;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::simd::records::Records;

/// Words that no piece begins at, so that an offset is never 0: the entry of a /16 before its first
/// page.
const FIRST_WORD: usize = 8;
/// Room beyond what a build needs, for updates: 16 MiB, which cost nothing until used.
const SPARE_WORDS: usize = 2 << 20;

/// DXR with 16 bits in the first stage, 4 in the second.
#[derive(Debug, Clone, Copy)]
pub struct Dxr;

/// Owner of the tables.
struct Builder {
    tables: Arc<Tables>,
    slab: Slab,
    pages: Pieces,
    chunks: Pieces,
    is_full: bool,
}

/// Words of memory, handed from a module to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Room(usize);

impl Algorithm<Inet> for Dxr {
    fn name(&self) -> &'static str {
        "dxr"
    }

    fn leaves_default(&self) -> bool {
        true
    }

    fn limits(&self) -> Limits {
        Limits { nexthops: MAX_NEXTHOP, ..Limits::NONE }
    }

    /// FreeBSD's first choice for large tables; here others are faster.
    fn preference(&self, facts: &TableFacts) -> u8 {
        if facts.prefixes < 32 { 1 } else { 160 }
    }

    fn build(&self, dump: &Dump<Inet>) -> Result<Box<dyn Module<Inet>>, AlgorithmError> {
        Self::build_with(dump, Room(0))
    }

    fn rebuild(
        &self,
        dump: &Dump<Inet>,
        auxiliary: Auxiliary,
    ) -> Result<Box<dyn Module<Inet>>, AlgorithmError> {
        Self::build_with(dump, auxiliary.downcast::<Room>().map_or(Room(0), |room| *room))
    }
}

impl Dxr {
    /// With at least so much room.
    fn build_with(dump: &Dump<Inet>, least: Room) -> Result<Box<dyn Module<Inet>>, AlgorithmError> {
        let spans = spans::of_dump(dump)?;
        // Pages that are all different, chunks likewise, and each rounded up to a power of two.
        let pages = spans.len().min(PAGES) * 2 * ENTRIES / 2;
        let words = (FIRST_WORD + pages + 4 * spans.len() + SPARE_WORDS).max(least.0);
        let out_of_memory = AlgorithmError::OutOfMemory { bytes: PAGES * 4 + words * 8 };
        let mut builder = Builder::new(words).ok_or(out_of_memory)?;
        let full = AlgorithmError::Full { what: "chunk memory", limit: words };
        builder.write(&spans, 0..=PAGES as u64 - 1).map_err(|Full| full)?;
        Ok(Box::new(builder))
    }
}

impl Module<Inet> for Builder {
    fn lookup(&self) -> Arc<dyn Lookup<Inet>> {
        shared(&self.tables)
    }

    fn apply(
        &mut self,
        changes: &[Change<Inet>],
        rib: &Rib<Inet>,
        grace: &Grace<'_>,
    ) -> Response<Inet> {
        self.slab.reclaim(grace);
        for change in fetched(changes, rib) {
            let len = change.prefix.len().min((32 - PAGE_SHIFT) as u8);
            let within = Prefix::covering(change.prefix.addr(), len);
            let Some(spans) = spans::of_rib(rib, within) else {
                return Response::Rebuild { reason: "nexthop number above 65,535" };
            };
            let page = |addr: u32| u64::from(addr >> PAGE_SHIFT);
            if self.write(&spans, page(within.addr())..=page(within.last_addr())) == Err(Full) {
                self.is_full = true;
                return Response::Rebuild { reason: "chunk memory is full" };
            }
        }
        self.slab.stamp(grace);
        Response::Applied
    }

    /// A region that changes have filled was too small for how this table changes: the next one gets
    /// twice the room.
    fn auxiliary(&mut self) -> Option<Auxiliary> {
        let room = if self.is_full { self.tables.records.words() * 2 } else { 0 };
        Some(Box::new(Room(room)))
    }

    fn builder_bytes(&self) -> usize {
        self.slab.builder_bytes() + self.pages.builder_bytes() + self.chunks.builder_bytes()
    }
}

impl Builder {
    fn new(words: usize) -> Option<Self> {
        let (first, records) = (Records::zeroed(PAGES / 2)?, Records::zeroed(words)?);
        let slab = Slab::new(records.words(), FIRST_WORD);
        let tables = Arc::new(Tables { first, records, used_words: AtomicUsize::new(0) });
        let (pages, chunks) = (Pieces::default(), Pieces::default());
        Some(Self { tables, slab, pages, chunks, is_full: false })
    }

    /// Writes the pages of some /16.
    fn write(&mut self, spans: &[Span<u32>], pages: RangeInclusive<u64>) -> Result<(), Full> {
        let mut result = Ok(());
        spans::by_block(spans, PAGE_SHIFT, pages, |page, part| {
            if result.is_ok() {
                result = self.write_page(page, part);
            }
        });
        self.tables.used_words.store(self.slab.used_words(), Relaxed);
        result
    }

    fn write_page(&mut self, page: u64, part: &[Span<u32>]) -> Result<(), Full> {
        let mut entries = [0; ENTRIES];
        let first = page * ENTRIES as u64;
        let mut result = Ok(());
        spans::by_block(part, CHUNK_SHIFT, first..=first + ENTRIES as u64 - 1, |block, spans| {
            if result.is_ok() {
                let entry = self.entry(block as u32, spans);
                result = entry.map(|entry| entries[block as usize % ENTRIES] = entry);
            }
        });
        let taken =
            result.and_then(|()| self.pages.take(&entries, &self.tables.records, &mut self.slab));
        // Chunks belong to pages: one that was there has its own already, one that could not be had
        // needs none. An entry that was never reached is 0, and no chunk.
        if !matches!(taken, Ok((_, true))) {
            self.release_chunks(&entries);
        }
        let (offset, _) = taken?;
        let slot = &self.tables.first.region().halves()[page as usize];
        let old = slot.swap(offset, Release);
        self.release_page(old);
        Ok(())
    }

    /// A nexthop, or a chunk with one user more.
    fn entry(&mut self, block: u32, spans: &[Span<u32>]) -> Result<u32, Full> {
        if let [(_, nexthop)] = spans {
            return Ok(LEAF | u32::from(*nexthop));
        }
        let from = block << CHUNK_SHIFT;
        let mut numbers = Vec::with_capacity(1 + spans.len());
        numbers.push(spans.len() as u32);
        for &(start, nexthop) in spans {
            // The first one may start before the block.
            numbers.push((start.max(from) - from) << START_SHIFT | u32::from(nexthop));
        }
        Ok(self.chunks.take(&numbers, &self.tables.records, &mut self.slab)?.0)
    }

    fn release_page(&mut self, page: Offset) {
        let Some(entries) = self.pages.release(page, &self.tables.records, &mut self.slab) else {
            return;
        };
        self.release_chunks(&entries);
    }

    fn release_chunks(&mut self, entries: &[u32]) {
        for entry in entries.iter().filter(|entry| **entry & LEAF == 0) {
            self.chunks.release(*entry, &self.tables.records, &mut self.slab);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nexthop::NexthopId;

    fn built(routes: &[(&str, u32)]) -> (Rib<Inet>, Builder) {
        let mut rib = Rib::new();
        for (prefix, nexthop) in routes {
            rib.set(prefix.parse().unwrap(), NexthopId(*nexthop));
        }
        let spans = spans::of_dump(&rib.dump()).unwrap();
        let mut builder = Builder::new(1 << 16).unwrap();
        builder.write(&spans, 0..=PAGES as u64 - 1).unwrap();
        (rib, builder)
    }

    fn change(rib: &mut Rib<Inet>, builder: &mut Builder, prefix: &str, new: u32) {
        let prefix = prefix.parse().unwrap();
        let old = rib.set(prefix, NexthopId(new));
        let change = Change { prefix, old, new: NexthopId(new) };
        let outcome = builder.apply(&[change], rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Applied));
    }

    #[test]
    fn equal_chunks_and_pages_are_kept_once() {
        let hosts =
            [("10.0.0.1/32", 2), ("10.0.16.1/32", 2), ("10.1.0.1/32", 2), ("10.1.16.1/32", 2)];
        let (mut rib, mut builder) = built(&[&[("0.0.0.0/0", 1)][..], &hosts].concat());
        // The page without a host, and that of the two equal ones; one chunk for four /20.
        assert_eq!((builder.pages.len(), builder.chunks.len()), (2, 1));
        change(&mut rib, &mut builder, "10.1.16.1/32", 3);
        assert_eq!((builder.pages.len(), builder.chunks.len()), (3, 2));
        change(&mut rib, &mut builder, "10.1.16.1/32", 2);
        assert_eq!((builder.pages.len(), builder.chunks.len()), (2, 1));
        for (host, _) in hosts {
            change(&mut rib, &mut builder, host, 0);
        }
        assert_eq!((builder.pages.len(), builder.chunks.len()), (1, 0));
        assert_eq!(builder.tables.find(0x0a01_1001), 1);
    }

    #[test]
    fn a_chunk_of_a_route_for_each_address_is_searched_whole() {
        let (mut rib, mut builder) = built(&[]);
        for low in 0..4096_u32 {
            let prefix = Prefix::covering(0xc000_0000 | low, 32);
            rib.set(prefix, NexthopId(1 + low));
        }
        let spans: Vec<Span<u32>> = spans::of_dump(&rib.dump()).unwrap();
        builder.write(&spans, 0..=PAGES as u64 - 1).unwrap();
        for low in 0..4096 {
            assert_eq!(builder.tables.find(0xc000_0000 | low), 1 + low);
        }
        assert_eq!(builder.tables.find(0xc000_1000), 0);
        assert_eq!(builder.tables.find(0xbfff_ffff), 0);
    }

    #[test]
    fn churn_leaves_nothing_behind() {
        let (mut rib, mut builder) = built(&[("0.0.0.0/0", 1)]);
        let mut random = crate::random::Random::new(5);
        let mut words = 0;
        for round in 0..6 {
            let mut there = Vec::new();
            for _ in 0..300 {
                let addr = 0x0a00_0000 | random.next_u64() as u32 & 0x3_ffff;
                let prefix =
                    Prefix::<Inet>::covering(addr, 12 + random.below(21) as u8).to_string();
                change(&mut rib, &mut builder, &prefix, 1 + random.below(5) as u32);
                there.push(prefix);
            }
            for prefix in there {
                change(&mut rib, &mut builder, &prefix, 0);
            }
            assert_eq!((builder.pages.len(), builder.chunks.len()), (1, 0), "round {round}");
            if round == 2 {
                words = builder.slab.used_words();
            }
        }
        let grown = builder.slab.used_words() - words;
        assert!(grown < words / 2, "{grown} words beyond {words}");
    }

    #[test]
    fn a_region_that_is_full_asks_for_a_rebuild_and_keeps_its_answers() {
        let (mut rib, mut builder) = built(&[("0.0.0.0/0", 1)]);
        builder.slab = Slab::new(0, 0);
        let prefix = "10.0.0.1/32".parse().unwrap();
        rib.set(prefix, NexthopId(2));
        let change = Change { prefix, old: NexthopId::NONE, new: NexthopId(2) };
        let outcome = builder.apply(&[change], &rib, &Grace::without_readers());
        assert!(matches!(outcome, Response::Rebuild { .. }));
        assert_eq!(builder.tables.find(0x0a00_0001), 1);
        // The next one is told.
        let words = builder.tables.records.words();
        let room = builder.auxiliary().unwrap().downcast::<Room>().unwrap();
        assert_eq!(*room, Room(2 * words));
        let next = Dxr.rebuild(&rib.dump(), Box::new(Room(8 << 20))).unwrap();
        assert_eq!(next.lookup().lookup(0x0a00_0001), NexthopId(2));
        assert!(Dxr.rebuild(&rib.dump(), Box::new("of somebody else")).is_ok());
    }
}
