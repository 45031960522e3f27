//! The control side of `bitruns4`: builds records from spans, replaces those that a change touches.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

use super::{
    ALL_ONES, ASIDE, BLOCK_LEN, BLOCKS, CELL_SHIFT, CELLS, CELLS_WORDS, OFFSET, PLAIN,
    RECORD_SHIFT, RECORDS, Shared, Tables,
};
use crate::algo::ahead::fetched;
use crate::algo::slab::{Full, Slab};
use crate::algo::spans::{self, MAX_NEXTHOP, Span};
use crate::algo::{Algorithm, AlgorithmError, Change, Dump, Limits, Module, Response, TableFacts};
use crate::epoch::Grace;
use crate::family::Inet;
use crate::lookup::Lookup;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::simd::cells::{Cells, Narrow, Wide, Width};
use crate::simd::records::Records;

/// Words that a record of runs may have: less than a plain one of 8 bits, a cache line of 16 bits.
const MAX_WORDS_NARROW: usize = 7;
const MAX_WORDS_WIDE: usize = 8;
/// First word handed out: word 0 is the constant of all ones.
const FIRST_WORD: usize = 64;
/// Room beyond what a build may need, for updates: 16 MiB, which cost nothing until used.
const SPARE_WORDS: usize = 2 << 20;

/// The algorithm; for tables above a handful of routes.
#[derive(Debug, Clone, Copy)]
pub struct BitRuns4;

/// Whether nexthops take 8 bits in a table with nexthop numbers up to this.
fn is_narrow_for(highest: u32) -> bool {
    highest < Narrow::MAX
}

impl Algorithm<Inet> for BitRuns4 {
    fn name(&self) -> &'static str {
        "bitruns4"
    }

    fn leaves_default(&self) -> bool {
        true
    }

    fn limits(&self) -> Limits {
        Limits { nexthops: MAX_NEXTHOP, ..Limits::NONE }
    }

    /// Better than any other that it knows, except linear comparison of a handful of routes. Its
    /// direct table alone takes 1 MiB.
    fn preference(&self, facts: &TableFacts) -> u8 {
        if facts.prefixes < 32 { 150 } else { 254 }
    }

    fn nexthop_bits(&self, facts: &TableFacts) -> u32 {
        if is_narrow_for(facts.nexthops) { 8 } else { 16 }
    }

    fn build_wide(
        &self,
        dump: &Dump<Inet>,
    ) -> Option<Result<Box<dyn Module<Inet>>, AlgorithmError>> {
        let build = || -> Result<Box<dyn Module<Inet>>, AlgorithmError> {
            Ok(Box::new(Builder::<Wide>::of_spans(&spans::of_dump(dump)?)?))
        };
        is_narrow_for(dump.highest_nexthop()).then(build)
    }

    fn build(&self, dump: &Dump<Inet>) -> Result<Box<dyn Module<Inet>>, AlgorithmError> {
        let spans = spans::of_dump(dump)?;
        match is_narrow_for(dump.highest_nexthop()) {
            true => Ok(Box::new(Builder::<Narrow>::of_spans(&spans)?)),
            false => Ok(Box::new(Builder::<Wide>::of_spans(&spans)?)),
        }
    }
}

/// What a change rewrites: whole records.
fn within_records(prefix: Prefix<Inet>) -> Prefix<Inet> {
    Prefix::covering(prefix.addr(), prefix.len().min(BLOCK_LEN))
}

/// The numbers of the records of a prefix.
fn records_of(within: Prefix<Inet>) -> std::ops::RangeInclusive<u64> {
    let record = |addr: u32| u64::from(addr >> RECORD_SHIFT);
    record(within.addr())..=record(within.last_addr())
}

fn clear_aside(slot: &AtomicU32) {
    slot.store(slot.load(Relaxed) & !ASIDE, Release);
}

/// Words for so many nexthops of a width.
const fn nexthop_words<W: Width>(count: usize) -> usize {
    (count * W::BYTES).div_ceil(8)
}

/// Words of a plain record: nobody reads the first, where others have their bitmap.
const fn plain_words<W: Width>() -> usize {
    1 + nexthop_words::<W>(CELLS)
}

/// Words of a block.
const fn block_words<W: Width>() -> usize {
    nexthop_words::<W>(1 << CELL_SHIFT)
}

/// An upper bound of the words for the records of some spans.
fn words_needed<W: Width>(spans: &[Span<u32>]) -> usize {
    let (mut records, mut blocks) = (0, 0);
    let (mut last_record, mut last_block) = (u32::MAX, u32::MAX);
    for &(start, _) in spans {
        if start >> RECORD_SHIFT != last_record {
            last_record = start >> RECORD_SHIFT;
            records += 1;
        }
        if start & 0xff != 0 && start >> CELL_SHIFT != last_block {
            last_block = start >> CELL_SHIFT;
            blocks += 1;
        }
    }
    // The first block of a record comes with the offsets of all.
    let uniform = spans.len().min(MAX_NEXTHOP as usize + 1) * 2;
    let record_words = plain_words::<W>().next_multiple_of(8);
    let block_words = block_words::<W>() + CELLS_WORDS as usize;
    FIRST_WORD + records * record_words + blocks * block_words + uniform + 1024
}

/// Owner of the tables.
pub(in crate::algo) struct Builder<W> {
    tables: Arc<Tables<W>>,
    slab: Slab,
    /// Offsets of the records of one run, by nexthop; 0 where there is none yet.
    uniform: Vec<u32>,
    /// Numbers of the records that were set aside, each once.
    aside: Vec<u32>,
}

impl<W: Width> Module<Inet> for Builder<W> {
    fn lookup(&self) -> Arc<dyn Lookup<Inet>> {
        Arc::new(Shared(self.tables.clone()))
    }

    fn apply(
        &mut self,
        changes: &[Change<Inet>],
        rib: &Rib<Inet>,
        grace: &Grace<'_>,
    ) -> Response<Inet> {
        let outgrows = |change: &Change<Inet>| change.new.0 >= W::MAX;
        if W::MAX < Wide::MAX && changes.iter().any(outgrows) {
            return Response::Rebuild { reason: "nexthop number above 254" };
        }
        self.slab.reclaim(grace);
        for change in fetched(changes, rib) {
            let within = within_records(change.prefix);
            let Some(spans) = spans::of_rib(rib, within) else {
                return Response::Rebuild { reason: "nexthop number above 65,535" };
            };
            if self.write(&spans, records_of(within)) == Err(Full) {
                return Response::Rebuild { reason: "record memory is full" };
            }
        }
        self.slab.stamp(grace);
        self.note_use();
        Response::Applied
    }

    fn builder_bytes(&self) -> usize {
        self.slab.builder_bytes() + (self.uniform.capacity() + self.aside.capacity()) * 4
    }
}

impl<W: Width> Builder<W> {
    /// Builds the tables of all spans of a routing table, whose nexthops fit the width.
    pub(in crate::algo) fn of_spans(spans: &[Span<u32>]) -> Result<Self, AlgorithmError> {
        let words = words_needed::<W>(spans) + SPARE_WORDS;
        let out_of_memory = AlgorithmError::OutOfMemory { bytes: words * 8 };
        let mut builder = Self::new(words).ok_or(out_of_memory)?;
        let full = AlgorithmError::Full { what: "record memory", limit: words };
        builder.write(spans, 0..=RECORDS as u64 - 1).map_err(|Full| full)?;
        builder.note_use();
        Ok(builder)
    }

    /// What readers use.
    pub(in crate::algo) fn tables(&self) -> Arc<Tables<W>> {
        self.tables.clone()
    }

    /// Sets the records aside that lie in or around a prefix; returns which of those aside are the first
    /// that were not before. Offsets are as right as ever for who comes from elsewhere.
    pub(in crate::algo) fn set_aside(&mut self, prefix: Prefix<Inet>) -> usize {
        let first = self.aside.len();
        for index in records_of(within_records(prefix)) {
            let slot = &self.tables.top.as_array()[index as usize];
            let entry = slot.load(Relaxed);
            if entry & ASIDE == 0 {
                slot.store(entry | ASIDE, Release);
                self.aside.push(index as u32);
            }
        }
        first
    }

    /// Takes records back, from a first one of those aside, that were written since.
    pub(in crate::algo) fn take_back(&mut self, first: usize) {
        for index in self.aside.drain(first..) {
            clear_aside(&self.tables.top.as_array()[index as usize]);
        }
    }

    /// Whether records are aside.
    pub(in crate::algo) fn has_aside(&self) -> bool {
        !self.aside.is_empty()
    }

    /// Writes up to so many of the records anew that are aside, and takes them back. Where there is no more
    /// memory for them, they are aside for good.
    pub(in crate::algo) fn write_aside(&mut self, most: usize, rib: &Rib<Inet>, grace: &Grace<'_>) {
        self.slab.reclaim(grace);
        for _ in 0..most {
            let Some(index) = self.aside.pop() else { break };
            let within = Prefix::covering(index << RECORD_SHIFT, BLOCK_LEN);
            let written = spans::of_rib(rib, within)
                .is_some_and(|spans| self.write(&spans, records_of(within)).is_ok());
            if !written {
                self.aside.clear();
                break;
            }
            clear_aside(&self.tables.top.as_array()[index as usize]);
        }
        self.slab.stamp(grace);
        self.note_use();
    }

    fn new(words: usize) -> Option<Self> {
        let words = words.min(OFFSET as usize + 1);
        let records = Records::zeroed(words)?;
        let top = Cells::zeroed()?;
        records.region().words()[ALL_ONES as usize].store(u64::MAX, Relaxed);
        let slab = Slab::tight(records.words(), FIRST_WORD);
        let used_words = AtomicUsize::new(0);
        let tables = Arc::new(Tables { top, records, used_words, width: PhantomData });
        Some(Self { tables, slab, uniform: Vec::new(), aside: Vec::new() })
    }

    fn note_use(&self) {
        self.tables.used_words.store(self.slab.used_words(), Relaxed);
    }

    fn word(&self, offset: u32) -> &AtomicU64 {
        &self.tables.records.region().words()[offset as usize]
    }

    /// Writes the records of some blocks of 2^14 addresses.
    fn write(
        &mut self,
        spans: &[Span<u32>],
        blocks: std::ops::RangeInclusive<u64>,
    ) -> Result<(), Full> {
        let mut result = Ok(());
        spans::by_block(spans, RECORD_SHIFT, blocks, |block, part| {
            if result.is_ok() {
                result = self.write_record(block as usize, part);
            }
        });
        result
    }

    fn write_record(&mut self, index: usize, part: &[Span<u32>]) -> Result<(), Full> {
        let entry = match part {
            [(_, nexthop)] => self.uniform(u32::from(*nexthop))?,
            _ => self.record(index, part)?,
        };
        // Nobody else writes; a locked instruction for each record would take longer than most of them.
        let slot = &self.tables.top.as_array()[index];
        let old = slot.load(Relaxed);
        if old & !ASIDE != entry {
            slot.store(entry | old & ASIDE, Release);
            self.retire(old);
        }
        Ok(())
    }

    /// The shared record of one run.
    fn uniform(&mut self, nexthop: u32) -> Result<u32, Full> {
        let index = nexthop as usize;
        if self.uniform.len() <= index {
            self.uniform.resize(index + 1, 0);
        }
        if self.uniform[index] == 0 {
            self.uniform[index] = self.runs(&[nexthop; CELLS], false)?;
        }
        Ok(self.uniform[index])
    }

    /// A record of its own, for spans that differ.
    fn record(&mut self, index: usize, part: &[Span<u32>]) -> Result<u32, Full> {
        let (mut codes, mut blocks) = ([0; CELLS], [0; CELLS]);
        let mut result = Ok(());
        let first = (index as u64) << (RECORD_SHIFT - CELL_SHIFT);
        spans::by_block(part, CELL_SHIFT, first..=first + CELLS as u64 - 1, |cell, spans| {
            let at = cell as usize % CELLS;
            codes[at] = match spans {
                [(_, nexthop)] => u32::from(*nexthop),
                _ => match self.block(cell as u32, spans) {
                    Ok(block) => {
                        blocks[at] = block;
                        W::MAX
                    }
                    Err(full) => {
                        result = Err(full);
                        0
                    }
                },
            };
        });
        result?;
        let has_blocks = blocks != [0; CELLS];
        if !has_blocks && codes.iter().all(|code| *code == codes[0]) {
            return self.uniform(codes[0]);
        }
        let entry = self.runs_or_plain(&codes, has_blocks)?;
        if has_blocks {
            for (slot, block) in self.offsets(entry & OFFSET).iter().zip(blocks) {
                slot.store(block, Relaxed);
            }
        }
        Ok(entry)
    }

    /// The offsets of the blocks of a record that has some.
    fn offsets(&self, record: u32) -> &[AtomicU32] {
        let first = (record - CELLS_WORDS) as usize * 2;
        &self.tables.records.region().halves()[first..][..CELLS]
    }

    fn runs_or_plain(&mut self, codes: &[u32; CELLS], has_blocks: bool) -> Result<u32, Full> {
        let most = if W::BYTES == 1 { MAX_WORDS_NARROW } else { MAX_WORDS_WIDE };
        match run_words::<W>(ends(codes)) > most {
            true => self.plain(codes, has_blocks),
            false => self.runs(codes, has_blocks),
        }
    }

    /// Writes a nexthop after the word at an offset.
    fn store(&self, offset: u32, rank: usize, code: u32) {
        let first = (offset as usize + 1) * (8 / W::BYTES);
        W::store(&self.tables.records.numbers::<W>()[first + rank], code);
    }

    /// The runs of a record; with blocks after room for their offsets.
    fn runs(&mut self, codes: &[u32; CELLS], has_blocks: bool) -> Result<u32, Full> {
        let ends = ends(codes);
        let offset = match has_blocks {
            true => self.slab.take(CELLS_WORDS as usize + run_words::<W>(ends))? + CELLS_WORDS,
            false => self.slab.take(run_words::<W>(ends))?,
        };
        self.word(offset).store(ends, Relaxed);
        let last_first = (0..CELLS).rev().filter(|cell| ends >> cell & 1 == 1);
        for (rank, cell) in last_first.enumerate() {
            self.store(offset, rank, codes[cell]);
        }
        Ok(if has_blocks { offset | BLOCKS } else { offset })
    }

    /// All 64 nexthops, the last cell's first, so that the index is again a number of ends.
    fn plain(&mut self, codes: &[u32; CELLS], has_blocks: bool) -> Result<u32, Full> {
        // Readers add a word for the bitmap that is not there.
        let offset = match has_blocks {
            true => self.slab.take(CELLS_WORDS as usize + plain_words::<W>())? + CELLS_WORDS,
            false => self.slab.take(plain_words::<W>() - 1)? - 1,
        };
        for (rank, code) in codes.iter().rev().enumerate() {
            self.store(offset, rank, *code);
        }
        Ok(PLAIN | if has_blocks { offset | BLOCKS } else { offset })
    }

    /// The 256 nexthops of a cell.
    fn block(&mut self, number: u32, spans: &[Span<u32>]) -> Result<u32, Full> {
        let offset = self.slab.take(block_words::<W>())?;
        let first = offset as usize * (8 / W::BYTES);
        let nexthops = &self.tables.records.numbers::<W>()[first..][..1 << CELL_SHIFT];
        let first = number << CELL_SHIFT;
        for (position, span) in spans.iter().enumerate() {
            let from = span.0.max(first) & 0xff;
            let to = spans.get(position + 1).map_or(256, |next| next.0 & 0xff);
            let code = u32::from(span.1);
            nexthops[from as usize..to as usize].iter().for_each(|n| W::store(n, code));
        }
        Ok(offset)
    }

    fn retire(&mut self, entry: u32) {
        let offset = entry & OFFSET;
        let has_blocks = entry & BLOCKS != 0;
        // Records of one run are shared, and kept; there is none before the first.
        let words = match entry & PLAIN != 0 {
            true => plain_words::<W>(),
            false if offset == 0 => return,
            false => match self.word(offset).load(Relaxed) {
                bitmap if bitmap.count_ones() > 1 || has_blocks => run_words::<W>(bitmap),
                _ => return,
            },
        };
        if has_blocks {
            let blocks: Vec<u32> =
                self.offsets(offset).iter().map(|block| block.load(Relaxed)).collect();
            for block in blocks.into_iter().filter(|block| *block != 0) {
                self.slab.retire(block, block_words::<W>());
            }
            self.slab.retire(offset - CELLS_WORDS, CELLS_WORDS as usize + words);
        } else if entry & PLAIN != 0 {
            self.slab.retire(offset + 1, words - 1);
        } else {
            self.slab.retire(offset, words);
        }
    }
}

/// A bit for each cell in which a run ends.
fn ends(codes: &[u32; CELLS]) -> u64 {
    let last = 1 << (CELLS - 1);
    codes
        .windows(2)
        .enumerate()
        .fold(last, |bits, (cell, pair)| bits | u64::from(pair[0] != pair[1]) << cell)
}

/// Words of a record of runs with this bitmap.
fn run_words<W: Width>(ends: u64) -> usize {
    1 + nexthop_words::<W>(ends.count_ones() as usize)
}
