//! The control side of `direct4`: writes cells from spans, after the table behind them.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use super::first::{First, usual_code};
use super::{BLOCK_WORDS, Coded, Shared, Tables, block_of, blocks};
use crate::algo::ahead::fetched;
use crate::algo::bitruns4;
use crate::algo::slab::Slab;
use crate::algo::spans::{self, MAX_NEXTHOP, Span};
use crate::algo::{Algorithm, AlgorithmError, Change, Dump, Limits, Module, Response, TableFacts};
use crate::epoch::Grace;
use crate::family::Inet;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::simd::cells::{CELL_SHIFT, CELLS, Cells, Narrow, Wide, Width, cell_of};
use crate::simd::prefetch::prefetch;
use crate::simd::records::Records;

/// Cells of 8 bits are used while at most one route in this many has a nexthop number beyond them.
const RARE: usize = 50;
/// Records written anew in a quiet moment: some 100 us.
const SOME_RECORDS: usize = 64;
/// Tables of fewer spans get a first look.
const SMALL_SPANS: usize = 20_000;
/// Tables of fewer routes have cells of 16 bits for their blocks, if some need one.
const SMALL: usize = 10_000;

/// The algorithm; for tables above a handful of routes, where the last-level cache holds it.
#[derive(Debug, Clone, Copy)]
pub struct Direct4;

/// Whether cells of 8 bits do for so many routes, the longest of this length.
fn may_be_narrow(prefixes: usize, longest: u8) -> bool {
    prefixes >= SMALL || u32::from(longest) <= u32::BITS - CELL_SHIFT
}

/// Whether such a table has cells of 8 bits.
fn is_narrow_for(facts: &TableFacts) -> bool {
    may_be_narrow(facts.prefixes, facts.longest) && facts.nexthops < Narrow::MAX
}

fn longest(dump: &Dump<Inet>) -> u8 {
    dump.routes().iter().map(|route| route.0.len()).max().unwrap_or(0)
}

impl Algorithm<Inet> for Direct4 {
    fn name(&self) -> &'static str {
        "direct4"
    }

    fn leaves_default(&self) -> bool {
        true
    }

    fn limits(&self) -> Limits {
        Limits { nexthops: MAX_NEXTHOP, ..Limits::NONE }
    }

    /// The fastest of the large tables as long as the last-level cache has room for the cells; with
    /// a smaller cache `bitruns4`, which takes a fourth, comes first. Smaller tables only touch the
    /// cells that they need.
    fn preference(&self, facts: &TableFacts) -> u8 {
        let is_narrow = is_narrow_for(facts);
        let cell_bytes = if is_narrow { Narrow::BYTES } else { Wide::BYTES };
        let fits = facts.last_cache_bytes == 0 || facts.last_cache_bytes >= CELLS * cell_bytes;
        match facts.prefixes {
            0..32 => 140,
            32..50_000 => 255,
            _ if fits => 255,
            _ => 240,
        }
    }

    fn nexthop_bits(&self, facts: &TableFacts) -> u32 {
        if is_narrow_for(facts) { 8 } else { 16 }
    }

    fn build_wide(
        &self,
        dump: &Dump<Inet>,
    ) -> Option<Result<Box<dyn Module<Inet>>, AlgorithmError>> {
        let build = || {
            let spans = spans::of_dump(dump)?;
            Builder::<Coded>::build(bitruns4::Builder::<Wide>::of_spans(&spans)?, &spans, 0)
        };
        (may_be_narrow(dump.len(), longest(dump)) && dump.highest_nexthop() < Narrow::MAX)
            .then(build)
    }

    fn build(&self, dump: &Dump<Inet>) -> Result<Box<dyn Module<Inet>>, AlgorithmError> {
        let spans = spans::of_dump(dump)?;
        let behind = bitruns4::Builder::<Wide>::of_spans(&spans)?;
        let beyond = dump.routes().iter().filter(|route| route.1.0 >= Narrow::MAX).count();
        if may_be_narrow(dump.len(), longest(dump)) && is_rare(beyond, dump.len()) {
            Builder::<Narrow>::build(behind, &spans, beyond)
        } else {
            Builder::<Coded>::build(behind, &spans, beyond)
        }
    }
}

/// Whether so many routes of all are few enough to be left to the table behind.
fn is_rare(beyond: usize, routes: usize) -> bool {
    beyond * RARE <= routes
}

/// Owner of the tables.
pub(super) struct Builder<W> {
    tables: Arc<Tables<W>>,
    /// Who has which block.
    blocks: Slab,
    behind: bitruns4::Builder<Wide>,
    /// Routes with nexthop numbers that cells of 8 bits cannot say.
    beyond: usize,
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
        let is_beyond = |id: NexthopId| usize::from(id.0 >= Narrow::MAX);
        for change in changes {
            // It is written further below.
            prefetch(self.tables.cells.as_array(), cell_of(change.prefix.addr()));
            self.beyond =
                (self.beyond + is_beyond(change.new)).saturating_sub(is_beyond(change.old));
        }
        if W::BYTES < Wide::BYTES && !is_rare(self.beyond, rib.len()) {
            return Response::Rebuild { reason: "nexthop numbers outgrow the cells" };
        }
        self.blocks.reclaim(grace);
        for change in fetched(changes, rib) {
            let within = within_cells(change.prefix);
            let Some(spans) = spans::of_rib(rib, within) else {
                return Response::Rebuild { reason: "nexthop number above 65,535" };
            };
            // No answer for whole /16, nor one from the table behind, while cells differ: a reader that has
            // met a new cell must not meet the old answer afterwards, nor the other way round.
            if let Some(first) = &self.tables.first {
                first.forget(within);
            }
            let aside = self.begins_behind().then(|| self.behind.set_aside(change.prefix));
            // The table behind before the cells: one that says "look there" must find the answer there.
            let concerns_behind = self.concerns_behind(change.prefix, &spans);
            if concerns_behind {
                match self.behind.apply(std::slice::from_ref(change), rib, grace) {
                    Response::Applied => {}
                    other => return other,
                }
            }
            self.write(&spans, within.last_addr());
            self.note_first(within);
            if let Some(aside) = aside
                && concerns_behind
            {
                self.behind.take_back(aside);
            }
        }
        self.blocks.stamp(grace);
        Response::Applied
    }

    fn has_left_some(&self) -> bool {
        self.behind.has_aside()
    }

    fn do_some(&mut self, rib: &Rib<Inet>, grace: &Grace<'_>) {
        self.behind.write_aside(SOME_RECORDS, rib, grace);
    }

    fn builder_bytes(&self) -> usize {
        self.blocks.builder_bytes() + self.behind.builder_bytes()
    }
}

impl<W: Width> Builder<W> {
    pub(super) fn build(
        behind: bitruns4::Builder<Wide>,
        spans: &[Span<u32>],
        beyond: usize,
    ) -> Result<Box<dyn Module<Inet>>, AlgorithmError> {
        let bytes = CELLS * W::BYTES;
        let cells = Cells::zeroed().ok_or(AlgorithmError::OutOfMemory { bytes })?;
        let words = blocks::<W>() as usize * BLOCK_WORDS;
        let out_of_memory = AlgorithmError::OutOfMemory { bytes: words * 8 };
        let blocks = Records::zeroed(words).ok_or(out_of_memory)?;
        // Where there is no memory for it, there is none for the cells.
        let first = match spans.len() < SMALL_SPANS {
            true => First::unknown(u32::from(usual_code(spans)).min(W::MAX)),
            false => None,
        };
        let (block_words, shown) = (AtomicUsize::new(0), behind.tables());
        let tables = Arc::new(Tables { first, cells, blocks, block_words, behind: shown });
        let mut builder = Self { tables, blocks: Slab::new(words, 0), behind, beyond };
        builder.write(spans, u32::MAX);
        builder.note_first(Prefix::DEFAULT);
        Ok(Box::new(builder))
    }

    /// Whether single lookups begin at the table behind.
    fn begins_behind(&self) -> bool {
        self.tables.first.is_none()
    }

    /// Whether the table behind must learn of a change, which leads to these spans. Records of it
    /// that no cell leads to may be out of date: the change that makes the first of their cells
    /// lead there rewrites them whole. So most changes of a full table cost no record.
    fn concerns_behind(&self, prefix: Prefix<Inet>, spans: &[Span<u32>]) -> bool {
        let leads_there = |span: &Span<u32>| span.0 & 0xff != 0 || u32::from(span.1) >= W::MAX;
        if spans.iter().any(leads_there) {
            return true;
        }
        let record = Prefix::<Inet>::covering(prefix.addr(), prefix.len().min(bitruns4::BLOCK_LEN));
        let cells = cell_of(record.addr())..=cell_of(record.last_addr());
        self.tables.cells.as_array()[cells].iter().any(|cell| W::load(cell).into() >= W::MAX)
    }

    /// Writes the cells from the first span's start to `last`; both are ends of cells.
    fn write(&mut self, spans: &[Span<u32>], last: u32) {
        let tables = self.tables.clone();
        let cells = tables.cells.as_array();
        let ends = spans.iter().skip(1).map(|span| u64::from(span.0)).chain([u64::from(last) + 1]);
        for (i, (span, end)) in spans.iter().zip(ends).enumerate() {
            let start = u64::from(span.0);
            // Cells that lie whole within the span take its nexthop, the one at a ragged end
            // leaves it to others. Ragged starts are the ragged ends of other spans.
            let (first, whole) = (start.div_ceil(256), end >> CELL_SHIFT);
            let code = u32::from(span.1).min(W::MAX);
            for cell in cells.get(first as usize..whole as usize).unwrap_or_default() {
                write_cell::<W>(cell, code, &mut self.blocks);
            }
            if end & 0xff != 0 && start <= whole << CELL_SHIFT {
                self.write_parts(&spans[i..], whole as u32, &cells[whole as usize]);
            }
        }
        self.tables.block_words.store(self.blocks.used_words(), Relaxed);
    }

    /// Writes the cell in which the first of these spans ends: its block, of which each address turns from
    /// the answer before to the one after by itself; without one it is left to the table behind.
    fn write_parts(&mut self, parts: &[Span<u32>], cell: u32, slot: &W::Atomic) {
        let old = W::load(slot).into();
        let block = block_of::<W>(old).or_else(|| self.blocks.take(BLOCK_WORDS).ok());
        let Some(block) = block else {
            return write_cell::<W>(slot, W::MAX, &mut self.blocks);
        };
        let numbers = &self.tables.blocks.numbers::<Wide>()[4 * block as usize..];
        let from = |part: &Span<u32>| part.0.saturating_sub(cell << CELL_SHIFT).min(256) as usize;
        for (i, part) in parts.iter().take_while(|part| part.0 >> CELL_SHIFT <= cell).enumerate() {
            let end = parts.get(i + 1).map_or(256, from);
            for number in &numbers[from(part)..end] {
                Wide::store(number, u32::from(part.1));
            }
        }
        if block_of::<W>(old).is_none() {
            W::store(slot, W::MAX + 1 + block / BLOCK_WORDS as u32);
        }
    }

    /// Tells the first look of the cells in and around a prefix.
    fn note_first(&self, within: Prefix<Inet>) {
        if let Some(first) = &self.tables.first {
            first.note(within, self.tables.cells.as_array());
        }
    }
}

/// Writes a cell, and gives the block back that it led to. One without route that was never written stays
/// untouched memory.
#[inline(always)]
fn write_cell<W: Width>(cell: &W::Atomic, code: u32, blocks: &mut Slab) {
    let old = W::load(cell).into();
    if old != code {
        W::store(cell, code);
        if let Some(block) = block_of::<W>(old) {
            blocks.retire(block, BLOCK_WORDS);
        }
    }
}

/// What a change rewrites: whole cells.
fn within_cells(prefix: Prefix<Inet>) -> Prefix<Inet> {
    Prefix::covering(prefix.addr(), prefix.len().min((u32::BITS - CELL_SHIFT) as u8))
}
