//! The control side of `bitruns6`: builds pages, records and trees from spans, replaces those that
//! a change touches.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicUsize};

use foldhash::{HashMap, HashMapExt};

use super::Shared;
use super::layout::{
    BLOCK_PAGES, BLOCK_WORDS, CELL_SHIFT, CELLS, LINE_WORDS, LIST, MAX_LINE_WORDS,
    MAX_RECORD_WORDS, MORE, PAGE_RECORDS, PAGE_SHIFT, PAGE_WORDS, PLACE_SHIFT, RECORD_SHIFT,
    TO_ONE, TO_RECORD, TOP_BITS, TOP_SHIFT, TOPS,
};
use super::reader::Tables;
use super::tree::{Shape, head, list_of, words_of};
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

    fn leaves_default(&self) -> bool {
        true
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
        // At most a record of three values for a span, half of it in vain, a page for each first 16 bits,
        // and blocks; and a leaf with a list.
        let mut pages: Vec<u16> = spans.iter().map(|span| (span.0 >> PAGE_SHIFT) as u16).collect();
        pages.dedup();
        let blocks = TOPS * BLOCK_WORDS;
        let words = spans.len() * 8 + pages.len() * PAGE_WORDS * 2 + blocks + SPARE_WORDS;
        let line_words = (spans.len() * 40 + SPARE_WORDS).min(MAX_LINE_WORDS);
        let out_of_memory = AlgorithmError::OutOfMemory { bytes: (words + line_words) * 8 };
        let mut builder = Builder::new(words, line_words).ok_or(out_of_memory)?;
        let full = AlgorithmError::Full { what: "record memory", limit: words + line_words };
        builder.write(Prefix::DEFAULT, &spans).map_err(|Full| full)?;
        builder.note_use();
        Ok(Box::new(builder))
    }
}

/// Owner of the tables.
struct Builder {
    tables: Arc<Tables>,
    /// Of blocks, pages and records.
    slab: Slab,
    /// Of trees and lists.
    lines: Slab,
    /// The nexthop of each /8 that has no block of its own.
    whole_tops: Box<[Option<u16>; TOPS]>,
    /// The blocks of one nexthop.
    uniform_blocks: HashMap<u16, Uniform>,
    /// The values of whole /32, shared leaves, and the offsets of the shared records of one run, by nexthop.
    leaves: HashMap<u16, u32>,
    uniform_records: HashMap<u32, u32>,
    /// Size of each tree and list, by offset.
    tree_words: HashMap<u32, usize>,
}

/// A block that several /8 share.
struct Uniform {
    block: u32,
    /// How many.
    users: usize,
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
        self.lines.reclaim(grace);
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
        self.lines.stamp(grace);
        self.note_use();
        Response::Applied
    }

    fn builder_bytes(&self) -> usize {
        self.slab.builder_bytes() + self.lines.builder_bytes() + self.uniform_records.capacity() * 8
    }
}

impl Builder {
    fn new(words: usize, line_words: usize) -> Option<Self> {
        let (records, lines) = (Records::zeroed(words)?, Records::zeroed(line_words)?);
        // What leads there has room for so many words.
        let slab = Slab::tight(records.words().min(MAX_RECORD_WORDS), FIRST_WORD);
        let line_slab = Slab::tight(lines.words().min(MAX_LINE_WORDS), FIRST_WORD);
        let top = Box::new([const { AtomicU32::new(0) }; TOPS]);
        let used_words = AtomicUsize::new(0);
        let mut builder = Self {
            tables: Arc::new(Tables { top, records, lines, used_words }),
            slab,
            lines: line_slab,
            whole_tops: Box::new([None; TOPS]),
            uniform_blocks: HashMap::new(),
            leaves: HashMap::new(),
            uniform_records: HashMap::new(),
            tree_words: HashMap::new(),
        };
        // No routes yet.
        (0..TOPS).try_for_each(|top| builder.set_whole_top(top, 0)).ok()?;
        Some(builder)
    }

    fn note_use(&self) {
        let words = self.slab.used_words() + self.lines.used_words();
        self.tables.used_words.store(words, Relaxed);
    }

    fn half(&self, index: usize) -> u32 {
        self.tables.records.region().halves()[index].load(Relaxed)
    }

    fn set_half(&self, index: usize, half: u32) {
        self.tables.records.region().halves()[index].store(half, Release);
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

    /// Writes the parts of a /8 that lie within a prefix, and keeps the others.
    fn write_top(
        &mut self,
        top: usize,
        within: Prefix<Inet6>,
        part: &[Span<u128>],
    ) -> Result<(), Full> {
        let before = self.whole_tops[top];
        if let ([(_, nexthop)], true, Some(_)) = (part, within.len() <= TOP_BITS, before) {
            return self.set_whole_top(top, *nexthop);
        }
        let block = match before {
            Some(nexthop) => self.new_block(nexthop)?,
            None => (self.tables.top[top].load(Relaxed) - BLOCK_PAGES) / 2,
        };
        let start = (top as u128) << TOP_SHIFT;
        let first = within.addr().max(start);
        let last = within.last_addr().min(start | !(u128::MAX << TOP_SHIFT));
        let pages = (first >> PAGE_SHIFT) as u64..=(last >> PAGE_SHIFT) as u64;
        let mut result = Ok(());
        spans::by_block(part, PAGE_SHIFT, pages, |page, part| {
            if result.is_ok() {
                result = self.write_page(page, block, within, part);
            }
        });
        result?;
        // A block of its own is linked once it is filled.
        self.tables.top[top].store(block * 2 + BLOCK_PAGES, Release);
        self.leave_whole_top(top);
        Ok(())
    }

    /// Has a /8 share the block of a nexthop.
    fn set_whole_top(&mut self, top: usize, nexthop: u16) -> Result<(), Full> {
        if self.whole_tops[top] == Some(nexthop) {
            return Ok(());
        }
        let block = match self.uniform_blocks.get(&nexthop) {
            Some(uniform) => uniform.block,
            None => self.new_block(nexthop)?,
        };
        let uniform = self.uniform_blocks.entry(nexthop).or_insert(Uniform { block, users: 0 });
        uniform.users += 1;
        self.tables.top[top].store(block * 2 + BLOCK_PAGES, Release);
        self.leave_whole_top(top);
        self.whole_tops[top] = Some(nexthop);
        Ok(())
    }

    /// Notes that a /8 does not use the shared block any more that it may have used.
    fn leave_whole_top(&mut self, top: usize) {
        let Some(nexthop) = self.whole_tops[top].take() else { return };
        let Some(uniform) = self.uniform_blocks.get_mut(&nexthop) else { return };
        uniform.users -= 1;
        if uniform.users == 0 {
            self.slab.retire(uniform.block, BLOCK_WORDS);
            self.uniform_blocks.remove(&nexthop);
        }
    }

    /// A block that says the same nexthop everywhere.
    fn new_block(&mut self, nexthop: u16) -> Result<u32, Full> {
        let block = self.slab.take(BLOCK_WORDS)?;
        for page in 0..u64::from(BLOCK_PAGES) {
            self.set_whole_page(block, page, nexthop)?;
        }
        Ok(block)
    }

    /// Has one nexthop for a whole /16.
    fn set_whole_page(&mut self, block: u32, page: u64, nexthop: u16) -> Result<(), Full> {
        // The fourth of its numbers is its own offset.
        let leaf = self.leaf(nexthop)?;
        let place = self.uniform_record(leaf)? * 2 + 3;
        self.link_page(block, page, u32::from(nexthop), place << PLACE_SHIFT | TO_ONE);
        Ok(())
    }

    /// What a block says of a /16. Readers may see one of both numbers before the other: either is right by
    /// itself.
    fn link_page(&self, block: u32, page: u64, whole: u32, place: u32) {
        let entry = block as usize * 2 + page as usize % BLOCK_PAGES as usize;
        self.set_half(entry + BLOCK_PAGES as usize, place);
        self.set_half(entry, whole);
    }

    /// Writes the records of a /16, or one nexthop for the whole of it as long as it has no page.
    fn write_page(
        &mut self,
        page: u64,
        block: u32,
        within: Prefix<Inet6>,
        part: &[Span<u128>],
    ) -> Result<(), Full> {
        let entry = block as usize * 2 + page as usize % BLOCK_PAGES as usize;
        let known = self.half(entry);
        let is_whole = within.len() <= 16;
        if let ([(_, nexthop)], true, true) = (part, is_whole, known & MORE == 0) {
            return self.set_whole_page(block, page, *nexthop);
        }
        let offset = match known {
            MORE => self.half(entry + BLOCK_PAGES as usize) >> PLACE_SHIFT,
            nexthop => self.new_page(nexthop as u16)? * 2,
        };
        let area = match is_whole {
            true => Prefix::covering(u128::from(page) << PAGE_SHIFT, 16),
            false => within,
        };
        let record = |addr: u128| (addr >> RECORD_SHIFT) as u64;
        let mut result = Ok(());
        let records = record(area.addr())..=record(area.last_addr());
        spans::by_block(part, RECORD_SHIFT, records, |record, spans| {
            if result.is_ok() {
                result = self.write_record(offset, record, area, spans);
            }
        });
        result?;
        // A page of its own is linked once it is filled.
        self.link_page(block, page, MORE, offset << PLACE_SHIFT | TO_RECORD);
        Ok(())
    }

    /// A page that says the same nexthop everywhere.
    fn new_page(&mut self, nexthop: u16) -> Result<u32, Full> {
        let leaf = self.leaf(nexthop)?;
        let record = self.uniform_record(leaf)?;
        let offset = self.slab.take(PAGE_WORDS)?;
        let halves = &self.tables.records.region().halves()[offset as usize * 2..];
        halves[..PAGE_RECORDS as usize].iter().for_each(|half| half.store(record, Relaxed));
        Ok(offset)
    }

    /// The shared record of one run, which is followed by its own offset.
    fn uniform_record(&mut self, leaf: u32) -> Result<u32, Full> {
        if let Some(record) = self.uniform_records.get(&leaf) {
            return Ok(*record);
        }
        let record = self.new_record(&[leaf; CELLS])?;
        self.set_half(record as usize * 2 + 3, record);
        self.uniform_records.insert(leaf, record);
        Ok(record)
    }

    /// The shared leaf of a nexthop.
    fn leaf(&mut self, nexthop: u16) -> Result<u32, Full> {
        if let Some(leaf) = self.leaves.get(&nexthop) {
            return Ok(*leaf);
        }
        let leaf = Shape::of_nexthop(nexthop);
        let offset = self.lines.take(leaf.words())?;
        let leaf = leaf.write(self.tables.lines.region(), offset);
        self.leaves.insert(nexthop, leaf);
        Ok(leaf)
    }

    /// Writes the cells of a record that lie within `area`, and keeps the others.
    fn write_record(
        &mut self,
        page: u32,
        record: u64,
        area: Prefix<Inet6>,
        spans: &[Span<u128>],
    ) -> Result<(), Full> {
        let entry = page as usize + (record as usize & (PAGE_RECORDS as usize - 1));
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
                [(_, nexthop)] => self.leaf(*nexthop),
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
        // A leaf of its own has one cell.
        let new = match values.iter().all(|value| *value == first) {
            true => self.uniform_record(first)?,
            false => self.new_record(&values)?,
        };
        self.set_half(entry, new);
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

    /// Writes what is below a /32; returns the value that leads to it.
    fn new_tree(&mut self, spans: &[Span<u128>]) -> Result<u32, Full> {
        let (tree, list) = Shape::of(spans);
        let Some(list) = list else {
            let offset = self.new_lines(tree.words())?;
            return Ok(tree.write(self.tables.lines.region(), offset));
        };
        let blocks = self.lines.take(list.len())?;
        self.write_words(blocks, &list);
        // Whole lines: the first of the tree comes after one that leads to the list.
        let line = LINE_WORDS as usize;
        let offset = self.new_lines(line + tree.words().next_multiple_of(line))?;
        self.write_words(offset, &head(blocks, list.len()));
        Ok(LIST | tree.write(self.tables.lines.region(), offset + LINE_WORDS))
    }

    fn write_words(&self, offset: u32, words: &[u64]) {
        let memory = &self.tables.lines.region().words()[offset as usize..];
        for (slot, word) in memory.iter().zip(words) {
            slot.store(*word, Relaxed);
        }
    }

    fn new_lines(&mut self, words: usize) -> Result<u32, Full> {
        let offset = self.lines.take(words)?;
        self.tree_words.insert(offset, words);
        Ok(offset)
    }

    /// Gives back a record and the trees that its successor has no more.
    fn retire(&mut self, record: u32, trees: &[u32]) {
        for &value in trees {
            let mut offset = words_of(value);
            if value & LIST != 0 {
                let (blocks, words) = list_of(self.tables.lines.view(), value);
                self.lines.retire(blocks, words);
                offset -= LINE_WORDS;
            }
            // Shared leaves are kept.
            if let Some(words) = self.tree_words.remove(&offset) {
                self.lines.retire(offset, words);
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
