//! The control side of `bitruns6`: builds pages, records and trees from spans, replaces those that
//! a change touches.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, Release};

use foldhash::{HashMap, HashMapExt};

use super::Shared;
use super::layout::{
    CELL_SHIFT, CELLS, DIRECT, OFFSET, PAGE_RECORDS, PAGE_SHIFT, PAGE_WORDS, RECORD_SHIFT,
    TOP_SHIFT, TOPS, TREE,
};
use super::reader::{Tables, Top};
use super::tree::{Shape, write};
use crate::algo::ahead::fetched;
use crate::algo::slab::{Full, Slab};
use crate::algo::spans::{self, MAX_NEXTHOP, Span};
use crate::algo::{Algorithm, AlgorithmError, Change, Dump, Limits, Module, Response, TableFacts};
use crate::epoch::Grace;
use crate::family::Inet6;
use crate::lookup::Lookup;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::simd::records::Records;

/// First word handed out: offset 0 stands for nothing.
const FIRST_WORD: usize = 64;
/// Room beyond what a build may need, for updates: 16 MiB, which cost nothing until used.
const SPARE_WORDS: usize = 2 << 20;

/// The algorithm; for tables above a handful of routes.
#[derive(Debug, Clone, Copy)]
pub struct BitRuns6;

impl Algorithm<Inet6> for BitRuns6 {
    fn name(&self) -> &'static str {
        "bitruns6"
    }

    fn limits(&self) -> Limits {
        Limits { nexthops: MAX_NEXTHOP, ..Limits::NONE }
    }

    /// Better than any other that it knows, except linear comparison of a handful of routes.
    fn preference(&self, facts: &TableFacts) -> u8 {
        if facts.prefixes < 32 { 150 } else { 254 }
    }

    fn build(&self, dump: &Dump<Inet6>) -> Result<Box<dyn Module<Inet6>>, AlgorithmError> {
        let spans = spans::of_dump(dump)?;
        // At most a record of 64 values and 4 words of tree for a span, half of it in vain, a page
        // for each first 16 bits with a record for its first 10, and reserves of tree levels.
        let mut pages: Vec<u16> = spans.iter().map(|span| (span.0 >> PAGE_SHIFT) as u16).collect();
        pages.dedup();
        let words = spans.len() * 48 + pages.len() * PAGE_WORDS * 2 + TOPS * CELLS + SPARE_WORDS;
        let out_of_memory = AlgorithmError::OutOfMemory { bytes: words * 8 };
        let mut builder = Builder::new(words).ok_or(out_of_memory)?;
        let full = AlgorithmError::Full { what: "record memory", limit: words };
        builder.write(Prefix::DEFAULT, &spans).map_err(|Full| full)?;
        builder.note_use();
        Ok(Box::new(builder))
    }
}

/// Owner of the tables.
struct Builder {
    tables: Arc<Tables>,
    slab: Slab,
    /// Offsets of the shared records of one run, by its value.
    uniform_records: HashMap<u32, u32>,
    /// Size of each tree and list, by offset.
    tree_words: HashMap<u32, usize>,
}

impl Module<Inet6> for Builder {
    fn lookup(&self) -> Arc<dyn Lookup<Inet6>> {
        Arc::new(Shared(self.tables.clone()))
    }

    fn apply(
        &mut self,
        changes: &[Change<Inet6>],
        rib: &Rib<Inet6>,
        grace: &Grace<'_>,
    ) -> Response<Inet6> {
        self.slab.reclaim(grace);
        for change in fetched(changes, rib) {
            let within = Prefix::covering(change.prefix.addr(), change.prefix.len().min(32));
            let Some(spans) = spans::of_rib(rib, within) else {
                return Response::Rebuild { reason: "nexthop number above 65,535" };
            };
            if self.write(within, &spans) == Err(Full) {
                return Response::Rebuild { reason: "record memory is full" };
            }
        }
        self.slab.stamp(grace);
        self.note_use();
        Response::Applied
    }

    fn builder_bytes(&self) -> usize {
        self.slab.builder_bytes() + self.uniform_records.capacity() * 8
    }
}

impl Builder {
    fn new(words: usize) -> Option<Self> {
        let records = Records::zeroed(words)?;
        // Values have room for so many words.
        let slab = Slab::tight(records.words().min(OFFSET as usize + 1), FIRST_WORD);
        let tables =
            Arc::new(Tables { top: Top::zeroed()?, records, used_words: AtomicUsize::new(0) });
        let (uniform_records, tree_words) = (HashMap::new(), HashMap::new());
        let mut builder = Self { tables, slab, uniform_records, tree_words };
        // No routes yet.
        let none = builder.uniform_record(DIRECT).ok()?;
        builder.tables.top.as_array().iter().for_each(|top| top.store(none, Relaxed));
        Some(builder)
    }

    fn note_use(&self) {
        self.tables.used_words.store(self.slab.used_words(), Relaxed);
    }

    fn half(&self, index: usize) -> u32 {
        self.tables.records.region().halves()[index].load(Relaxed)
    }

    /// Writes all that lies within a prefix of at most 32 bits from its spans.
    fn write(&mut self, within: Prefix<Inet6>, spans: &[Span<u128>]) -> Result<(), Full> {
        let top = |addr: u128| (addr >> TOP_SHIFT) as u64;
        let mut result = Ok(());
        let tops = top(within.addr())..=top(within.last_addr());
        spans::by_block(spans, TOP_SHIFT, tops, |top, part| {
            if result.is_ok() {
                result = self.write_top(top as usize, within, part);
            }
        });
        result
    }

    /// Writes the pages of a /10 that lie within a prefix, and keeps the others.
    fn write_top(
        &mut self,
        top: usize,
        within: Prefix<Inet6>,
        part: &[Span<u128>],
    ) -> Result<(), Full> {
        let old = self.tables.top.as_array()[top].load(Relaxed);
        let before = self.values(old);
        let mut pages = before;
        let start = (top as u128) << TOP_SHIFT;
        let first = within.addr().max(start);
        let last = within.last_addr().min(start | !(u128::MAX << TOP_SHIFT));
        let blocks = (first >> PAGE_SHIFT) as u64..=(last >> PAGE_SHIFT) as u64;
        let mut result = Ok(());
        spans::by_block(part, PAGE_SHIFT, blocks, |page, part| {
            let entry = &mut pages[page as usize % CELLS];
            if result.is_ok() {
                match self.write_page(page, *entry, within, part) {
                    Ok(new) => *entry = new,
                    Err(full) => result = Err(full),
                }
            }
        });
        result?;
        if pages == before {
            return Ok(());
        }
        let new = match pages.iter().all(|page| *page == pages[0]) {
            true => self.uniform_record(pages[0])?,
            false => self.new_record(&pages)?,
        };
        // A page of its own is linked once it is filled.
        self.tables.top.as_array()[top].store(new, Release);
        self.retire(old, &[]);
        Ok(())
    }

    /// Writes a page, or what its /16 has in place of one; returns which.
    fn write_page(
        &mut self,
        page: u64,
        entry: u32,
        within: Prefix<Inet6>,
        part: &[Span<u128>],
    ) -> Result<u32, Full> {
        let start = u128::from(page) << PAGE_SHIFT;
        let whole = within.len() <= 16;
        let is_direct = entry & DIRECT != 0;
        if let ([(_, nexthop)], true, true) = (part, whole, is_direct) {
            return Ok(DIRECT | u32::from(*nexthop));
        }
        let offset = if is_direct { self.new_page(entry & !DIRECT)? } else { entry };
        let area = if whole { Prefix::covering(start, 16) } else { within };
        let record = |addr: u128| (addr >> RECORD_SHIFT) as u64;
        let mut result = Ok(());
        let records = record(area.addr())..=record(area.last_addr());
        spans::by_block(part, RECORD_SHIFT, records, |record, spans| {
            if result.is_ok() {
                result = self.write_record(offset, record, area, spans);
            }
        });
        result.map(|()| offset)
    }

    /// A page that says the same nexthop everywhere.
    fn new_page(&mut self, nexthop: u32) -> Result<u32, Full> {
        let record = self.uniform_record(nexthop)?;
        let offset = self.slab.take(PAGE_WORDS)?;
        let halves = &self.tables.records.region().halves()[offset as usize * 2..];
        halves[..PAGE_RECORDS as usize].iter().for_each(|half| half.store(record, Relaxed));
        Ok(offset)
    }

    /// The shared record of one run.
    fn uniform_record(&mut self, value: u32) -> Result<u32, Full> {
        if let Some(record) = self.uniform_records.get(&value) {
            return Ok(*record);
        }
        let record = self.new_record(&[value; CELLS])?;
        self.uniform_records.insert(value, record);
        Ok(record)
    }

    /// Writes the cells of a record that lie within `area`, and keeps the others.
    fn write_record(
        &mut self,
        page: u32,
        record: u64,
        area: Prefix<Inet6>,
        spans: &[Span<u128>],
    ) -> Result<(), Full> {
        let entry = page as usize * 2 + (record as usize & (PAGE_RECORDS as usize - 1));
        let old = self.half(entry);
        let mut values = self.values(old);
        let mut replaced = Vec::new();
        let start = u128::from(record) << RECORD_SHIFT;
        let first = area.addr().max(start);
        let last = area.last_addr().min(start | !(u128::MAX << RECORD_SHIFT));
        let cells = (first >> CELL_SHIFT) as u64..=(last >> CELL_SHIFT) as u64;
        let mut result = Ok(());
        spans::by_block(spans, CELL_SHIFT, cells, |cell, part| {
            let value = match part {
                [(_, nexthop)] => Ok(u32::from(*nexthop)),
                _ => self.new_tree(part),
            };
            let slot = &mut values[cell as usize & (CELLS - 1)];
            match value {
                Ok(value) => replaced.push(std::mem::replace(slot, value)),
                Err(full) => result = Err(full),
            }
        });
        result?;
        let first = values[0];
        let new = match values.iter().all(|value| *value == first) && first & TREE == 0 {
            true => self.uniform_record(first)?,
            false => self.new_record(&values)?,
        };
        self.tables.records.region().halves()[entry].store(new, Release);
        self.retire(old, &replaced);
        Ok(())
    }

    /// The 64 values of a record; all 0 for none.
    fn values(&self, record: u32) -> [u32; CELLS] {
        if record == 0 {
            return [0; CELLS];
        }
        let bitmap = self.tables.records.region().words()[record as usize].load(Relaxed);
        std::array::from_fn(|cell| {
            let rank = (bitmap >> cell).count_ones() as usize;
            self.half(record as usize * 2 + 1 + rank)
        })
    }

    fn new_record(&mut self, values: &[u32; CELLS]) -> Result<u32, Full> {
        let ends = |cell: usize| cell == CELLS - 1 || values[cell] != values[cell + 1];
        let bitmap = (0..CELLS).fold(0u64, |bitmap, cell| bitmap | u64::from(ends(cell)) << cell);
        let offset = self.slab.take(record_words(bitmap))?;
        let region = self.tables.records.region();
        region.words()[offset as usize].store(bitmap, Relaxed);
        let runs = (0..CELLS).rev().filter(|&cell| ends(cell));
        for (slot, cell) in region.halves()[offset as usize * 2 + 2..].iter().zip(runs) {
            slot.store(values[cell], Relaxed);
        }
        Ok(offset)
    }

    fn new_tree(&mut self, spans: &[Span<u128>]) -> Result<u32, Full> {
        let plan = Shape::of(spans);
        let words = plan.words();
        let offset = self.slab.take(words)?;
        let region = self.tables.records.region();
        match &plan {
            Shape::Small(numbers) => write(&region.quarters()[offset as usize * 4..], numbers),
            Shape::Lines(lines, _) => {
                write(&region.quarters()[offset as usize * 4..], lines.as_flattened());
            }
            Shape::List(words) => {
                for (slot, word) in region.words()[offset as usize..].iter().zip(words) {
                    slot.store(*word, Relaxed);
                }
            }
        }
        self.tree_words.insert(offset, words);
        Ok(plan.value(offset))
    }

    /// Gives back a record and the trees that its successor has no more.
    fn retire(&mut self, record: u32, trees: &[u32]) {
        for &value in trees.iter().filter(|value| **value & TREE != 0) {
            let offset = value & OFFSET;
            if let Some(words) = self.tree_words.remove(&offset) {
                self.slab.retire(offset, words);
            }
        }
        let bitmap = self.tables.records.region().words()[record as usize].load(Relaxed);
        // Records of one run are shared, and kept; record 0 has none.
        if bitmap.count_ones() > 1 {
            self.slab.retire(record, record_words(bitmap));
        }
    }
}

/// Words of a record with this bitmap.
fn record_words(bitmap: u64) -> usize {
    1 + (bitmap.count_ones() as usize).div_ceil(2)
}
