//! The control side of `bitruns6`: builds pages, records and trees from spans, replaces those that
//! a change touches.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::tree::{Shape, write_lines};
use super::{
    CELL_SHIFT, CELLS, DIRECT, LINE_OFFSET, LINE_WORDS, PAGE_RECORDS, PAGE_WORDS, PAGES,
    RECORD_SHIFT, Shared, TOP_SHIFT, TREE, Tables,
};
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
        // for each first 16 bits, and reserves of tree levels.
        let mut pages: Vec<u16> = spans.iter().map(|span| (span.0 >> TOP_SHIFT) as u16).collect();
        pages.dedup();
        let words = spans.len() * 48 + pages.len() * PAGE_WORDS * 2 + SPARE_WORDS;
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
    /// Offsets of the shared records of one run, by nexthop; 0 where there is none yet.
    uniform_records: Vec<u32>,
    /// Whether entry i of `top` leads to a page of its own.
    owned: Vec<bool>,
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
        for change in changes {
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
        self.slab.builder_bytes() + PAGES
    }
}

impl Builder {
    fn new(words: usize) -> Option<Self> {
        let records = Records::zeroed(words)?;
        let top = Records::zeroed(PAGES / 2)?;
        let slab = Slab::tight(records.words(), FIRST_WORD);
        let owned = vec![false; PAGES];
        // No routes yet.
        let entries = &top.region().halves()[..PAGES];
        entries.iter().for_each(|entry| entry.store(DIRECT, Relaxed));
        let tables = Arc::new(Tables { top, records, used_words: AtomicUsize::new(0) });
        let tree_words = HashMap::new();
        Some(Self { tables, slab, uniform_records: Vec::new(), owned, tree_words })
    }

    fn note_use(&self) {
        self.tables.used_words.store(self.slab.used_words(), Relaxed);
    }

    fn half(&self, index: usize) -> u32 {
        self.tables.records.region().halves()[index].load(Relaxed)
    }

    /// Writes all that lies within a prefix of at most 32 bits from its spans.
    fn write(&mut self, within: Prefix<Inet6>, spans: &[Span<u128>]) -> Result<(), Full> {
        let page = |addr: u128| (addr >> TOP_SHIFT) as u64;
        let mut result = Ok(());
        let pages = page(within.addr())..=page(within.last_addr());
        spans::by_block(spans, TOP_SHIFT, pages, |page, part| {
            if result.is_ok() {
                result = self.write_page(page as usize, within, part);
            }
        });
        result
    }

    fn write_page(
        &mut self,
        page: usize,
        within: Prefix<Inet6>,
        part: &[Span<u128>],
    ) -> Result<(), Full> {
        let start = (page as u128) << TOP_SHIFT;
        let whole = within.len() <= 16;
        if let ([(_, nexthop)], true, false) = (part, whole, self.owned[page]) {
            let entry = DIRECT | u32::from(*nexthop);
            self.tables.top.region().halves()[page].store(entry, Release);
            return Ok(());
        }
        let offset = match self.owned[page] {
            true => self.tables.top.region().halves()[page].load(Relaxed),
            false => self.own_page(page)?,
        };
        let area = if whole { Prefix::covering(start, 16) } else { within };
        let record = |addr: u128| (addr >> RECORD_SHIFT) as u64;
        let mut result = Ok(());
        let records = record(area.addr())..=record(area.last_addr());
        spans::by_block(part, RECORD_SHIFT, records, |record, spans| {
            if result.is_ok() {
                result = self.write_record(offset, record, area, spans);
            }
        });
        // A page of its own is linked once it is filled.
        self.tables.top.region().halves()[page].store(offset, Release);
        self.owned[page] = true;
        result
    }

    /// A page of its own that says what the entry says.
    fn own_page(&mut self, page: usize) -> Result<u32, Full> {
        let nexthop = self.tables.top.region().halves()[page].load(Relaxed) & !DIRECT;
        let record = self.uniform_record(nexthop as u16)?;
        let offset = self.slab.take(PAGE_WORDS)?;
        let halves = &self.tables.records.region().halves()[offset as usize * 2..];
        halves[..PAGE_RECORDS as usize].iter().for_each(|half| half.store(record, Relaxed));
        Ok(offset)
    }

    fn uniform_record(&mut self, nexthop: u16) -> Result<u32, Full> {
        let index = usize::from(nexthop);
        if self.uniform_records.len() <= index {
            self.uniform_records.resize(index + 1, 0);
        }
        if self.uniform_records[index] == 0 {
            self.uniform_records[index] = self.new_record(&[u32::from(nexthop); CELLS])?;
        }
        Ok(self.uniform_records[index])
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
            true => self.uniform_record(first as u16)?,
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
        let words = plan.words().max(LINE_WORDS as usize);
        let offset = self.slab.take(words)?;
        let region = self.tables.records.region();
        match &plan {
            Shape::Lines(lines, _) => write_lines(&region.quarters()[offset as usize * 4..], lines),
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
            let offset = (value & LINE_OFFSET) * LINE_WORDS;
            let words = self.tree_words.remove(&offset).unwrap_or(LINE_WORDS as usize);
            self.slab.retire(offset, words);
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
