//! The control side of `bitruns4`: builds records from spans, replaces those that a change touches.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::{
    ALL_ONES, BLOCK, BLOCK_LEN, CELL_SHIFT, DEEP, OFFSET, PLAIN, RECORD_SHIFT, RECORDS, Shared,
    Tables,
};
use crate::algo::slab::{Full, Slab};
use crate::algo::spans::{self, MAX_NEXTHOP, Span};
use crate::algo::{Algorithm, AlgorithmError, Change, Dump, Limits, Module, Response, TableFacts};
use crate::epoch::Grace;
use crate::family::Inet;
use crate::lookup::Lookup;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::simd::records::Records;

const CELLS: usize = 64;
/// Words of a record with at most this many runs: a bitmap and the nexthops, four to a word.
const MAX_RUNS: usize = 28;
const PLAIN_WORDS: usize = CELLS / 4;
const DEEP_WORDS: usize = CELLS / 2;
const BLOCK_WORDS: usize = 256 / 4;
/// First word handed out: word 0 is the constant of all ones.
const FIRST_WORD: usize = 64;
/// Room beyond what a build may need, for updates: 16 MiB, which cost nothing until used.
const SPARE_WORDS: usize = 2 << 20;

/// The algorithm; for tables above a handful of routes.
#[derive(Debug, Clone, Copy)]
pub struct BitRuns4;

impl Algorithm<Inet> for BitRuns4 {
    fn name(&self) -> &'static str {
        "bitruns4"
    }

    fn limits(&self) -> Limits {
        Limits { nexthops: MAX_NEXTHOP, ..Limits::NONE }
    }

    /// Better than any other that it knows, except linear comparison of a handful of routes. Its
    /// direct table alone takes 1 MiB.
    fn preference(&self, facts: &TableFacts) -> u8 {
        if facts.prefixes < 32 { 150 } else { 254 }
    }

    fn build(&self, dump: &Dump<Inet>) -> Result<Box<dyn Module<Inet>>, AlgorithmError> {
        Ok(Box::new(Builder::of_spans(&spans::of_dump(dump)?)?))
    }
}

/// An upper bound of the words for the records of some spans.
fn words_needed(spans: &[Span<u32>]) -> usize {
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
    let uniform = spans.len().min(MAX_NEXTHOP as usize + 1) * 2;
    FIRST_WORD + records * PLAIN_WORDS + blocks * (BLOCK_WORDS + DEEP_WORDS) + uniform + 1024
}

/// Owner of the tables.
pub(in crate::algo) struct Builder {
    tables: Arc<Tables>,
    slab: Slab,
    /// Offsets of the records of one run, by nexthop; 0 where there is none yet.
    uniform: Vec<u32>,
}

impl Module<Inet> for Builder {
    fn lookup(&self) -> Arc<dyn Lookup<Inet>> {
        Arc::new(Shared(self.tables.clone()))
    }

    fn apply(
        &mut self,
        changes: &[Change<Inet>],
        rib: &Rib<Inet>,
        grace: &Grace<'_>,
    ) -> Response<Inet> {
        self.slab.reclaim(grace);
        for change in changes {
            let within = Prefix::covering(change.prefix.addr(), change.prefix.len().min(BLOCK_LEN));
            let Some(spans) = spans::of_rib(rib, within) else {
                return Response::Rebuild { reason: "nexthop number above 65,535" };
            };
            let block = |addr: u32| u64::from(addr >> RECORD_SHIFT);
            let blocks = block(within.addr())..=block(within.last_addr());
            if self.write(&spans, blocks) == Err(Full) {
                return Response::Rebuild { reason: "record memory is full" };
            }
        }
        self.slab.stamp(grace);
        self.note_use();
        Response::Applied
    }

    fn builder_bytes(&self) -> usize {
        self.slab.builder_bytes() + self.uniform.capacity() * 4
    }
}

impl Builder {
    /// Builds the tables of all spans of a routing table.
    pub(in crate::algo) fn of_spans(spans: &[Span<u32>]) -> Result<Self, AlgorithmError> {
        let words = words_needed(spans) + SPARE_WORDS;
        let out_of_memory = AlgorithmError::OutOfMemory { bytes: words * 8 };
        let mut builder = Self::new(words).ok_or(out_of_memory)?;
        let full = AlgorithmError::Full { what: "record memory", limit: words };
        builder.write(spans, 0..=RECORDS as u64 - 1).map_err(|Full| full)?;
        builder.note_use();
        Ok(builder)
    }

    /// What readers use.
    pub(in crate::algo) fn tables(&self) -> Arc<Tables> {
        self.tables.clone()
    }

    fn new(words: usize) -> Option<Self> {
        let records = Records::zeroed(words)?;
        let top = Records::zeroed(RECORDS / 2)?;
        records.region().words()[ALL_ONES as usize].store(u64::MAX, Relaxed);
        let slab = Slab::tight(records.words(), FIRST_WORD);
        let tables = Arc::new(Tables { top, records, used_words: AtomicUsize::new(0) });
        Some(Self { tables, slab, uniform: Vec::new() })
    }

    fn note_use(&self) {
        self.tables.used_words.store(self.slab.used_words(), Relaxed);
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
            [(_, nexthop)] => self.uniform(*nexthop)?,
            _ if part[1..].iter().any(|span| span.0 & 0xff != 0) => self.deep(index, part)?,
            _ if part.len() > MAX_RUNS => self.plain(part)?,
            _ => self.runs(part)?,
        };
        let old = self.tables.top.region().halves()[index].swap(entry, Release);
        if old != entry {
            self.retire(old);
        }
        Ok(())
    }

    fn retire(&mut self, entry: u32) {
        let offset = entry & OFFSET;
        if entry & PLAIN != 0 {
            self.slab.retire(offset + 1, PLAIN_WORDS);
        } else if entry & DEEP != 0 {
            for cell in 0..CELLS {
                let value =
                    self.tables.records.region().halves()[offset as usize * 2 + cell].load(Relaxed);
                if value & BLOCK != 0 {
                    self.slab.retire(value & !BLOCK, BLOCK_WORDS);
                }
            }
            self.slab.retire(offset, DEEP_WORDS);
        } else if offset != 0 {
            let bitmap = self.tables.records.region().words()[offset as usize].load(Relaxed);
            // Records of one run are shared, and kept.
            if bitmap.count_ones() > 1 {
                self.slab.retire(offset, run_words(bitmap.count_ones() as usize));
            }
        }
    }

    /// The shared record of one run.
    fn uniform(&mut self, nexthop: u16) -> Result<u32, Full> {
        let index = usize::from(nexthop);
        if self.uniform.len() <= index {
            self.uniform.resize(index + 1, 0);
        }
        if self.uniform[index] == 0 {
            self.uniform[index] = self.runs(&[(0, nexthop)])?;
        }
        Ok(self.uniform[index])
    }

    fn runs(&mut self, part: &[Span<u32>]) -> Result<u32, Full> {
        let offset = self.slab.take(run_words(part.len()))?;
        let records = self.tables.records.region();
        let mut bitmap = 1 << (CELLS - 1);
        for (start, _) in &part[1..] {
            // A run ends in the cell before the next one starts.
            bitmap |= 1u64 << ((start >> CELL_SHIFT & 63) - 1);
        }
        records.words()[offset as usize].store(bitmap, Relaxed);
        let nexthops = &records.quarters()[offset as usize * 4 + 4..];
        for (slot, span) in nexthops.iter().zip(part.iter().rev()) {
            slot.store(span.1, Relaxed);
        }
        Ok(offset)
    }

    /// All 64 nexthops, the last cell's first, so that the index is again a number of ends.
    fn plain(&mut self, part: &[Span<u32>]) -> Result<u32, Full> {
        let block = self.slab.take(PLAIN_WORDS)?;
        let nexthops = &self.tables.records.region().quarters()[block as usize * 4..][..CELLS];
        each_cell(part, |cell, nexthop| nexthops[CELLS - 1 - cell].store(nexthop, Relaxed));
        // Readers add a word for the bitmap that is not there.
        Ok((block - 1) | PLAIN)
    }

    fn deep(&mut self, index: usize, part: &[Span<u32>]) -> Result<u32, Full> {
        let offset = self.slab.take(DEEP_WORDS)?;
        let first = (index as u64) << (RECORD_SHIFT - CELL_SHIFT);
        let mut result = Ok(());
        spans::by_block(part, CELL_SHIFT, first..=first + CELLS as u64 - 1, |block, spans| {
            let value = match spans {
                [(_, nexthop)] => Ok(u32::from(*nexthop)),
                _ => self.block(block as u32, spans),
            };
            match value {
                Ok(value) => {
                    let cell = offset as usize * 2 + (block as usize & 63);
                    self.tables.records.region().halves()[cell].store(value, Relaxed);
                }
                Err(full) => result = Err(full),
            }
        });
        result.map(|()| offset | DEEP)
    }

    fn block(&mut self, number: u32, spans: &[Span<u32>]) -> Result<u32, Full> {
        let offset = self.slab.take(BLOCK_WORDS)?;
        let nexthops = &self.tables.records.region().quarters()[offset as usize * 4..][..256];
        let first = number << CELL_SHIFT;
        for (position, span) in spans.iter().enumerate() {
            let from = span.0.max(first) & 0xff;
            let to = spans.get(position + 1).map_or(256, |next| next.0 & 0xff);
            nexthops[from as usize..to as usize].iter().for_each(|n| n.store(span.1, Relaxed));
        }
        Ok(offset | BLOCK)
    }
}

/// Words of a record of runs.
fn run_words(runs: usize) -> usize {
    1 + runs.div_ceil(4)
}

/// Calls `each` with every cell of a record and its nexthop.
fn each_cell(part: &[Span<u32>], mut each: impl FnMut(usize, u16)) {
    let mut cell = 0;
    for (position, span) in part.iter().enumerate() {
        let next =
            part.get(position + 1).map_or(CELLS, |next| (next.0 >> CELL_SHIFT & 63) as usize);
        (cell..next).for_each(|cell| each(cell, span.1));
        cell = next;
    }
}
