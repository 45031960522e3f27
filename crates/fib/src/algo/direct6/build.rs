//! The control side of `direct6`: builds pages, nodes and lines from spans, replaces those that a
//! change touches.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use super::line::{self, Below};
use super::{KEY_BITS, LARGE_BYTES, MORE, PAGES, SHARED, SHIFT_BITS, SHIFT_MASK, Shared, Tables};
use crate::algo::slab::{Full, Slab};
use crate::algo::spans::{self, Code, MAX_NEXTHOP, Span};
use crate::algo::tree6;
use crate::algo::{Algorithm, AlgorithmError, Change, Dump, Limits, Module, Response, TableFacts};
use crate::epoch::Grace;
use crate::family::Inet6;
use crate::lookup::Lookup;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::simd::records::Records;

const PAGE_SHIFT: u32 = 112;
/// First word handed out: offset 0 stands for nothing.
const FIRST_WORD: usize = 64;
/// What entries can reach: 512 MiB.
const MAX_WORDS: usize = 1 << 26;
/// Entries of pages (16 MiB) that small tables may take, too.
const FREE_ENTRIES: usize = 4 << 20;
/// Beyond that, a page must have a span for so many of its entries.
const ENTRIES_PER_SPAN: usize = 64;
/// Up to so many routes, another algorithm is preferred.
const SMALL: usize = tree6::THREE_LEVELS;
const HALF_SMALL: usize = SMALL / 2;
/// The memory of a last-level cache from which on it pays: the hot part of a full table.
const WANTED_CACHE_BYTES: usize = 8 << 20;

/// The algorithm; for tables above a handful of routes.
#[derive(Debug, Clone, Copy)]
pub struct Direct6;

impl Algorithm<Inet6> for Direct6 {
    fn name(&self) -> &'static str {
        "direct6"
    }

    fn limits(&self) -> Limits {
        Limits { nexthops: u32::LIMIT, ..Limits::NONE }
    }

    /// The fastest as long as a last-level cache has room for the part of it that traffic meets;
    /// with a small one `bitruns6`, which takes an eighth of the memory, comes first. Small tables
    /// go to `tree6`, by a gap that lets a table that shrinks a little stay.
    fn preference(&self, facts: &TableFacts) -> u8 {
        let fits = facts.last_cache_bytes == 0 || facts.last_cache_bytes >= WANTED_CACHE_BYTES;
        match facts.prefixes {
            0..32 => 140,
            n @ 32..=SMALL => 240 + if n > HALF_SMALL { 3 } else { 0 },
            n if n < 10_000 => 255,
            _ if fits => 255,
            _ => 240,
        }
    }

    fn build(&self, dump: &Dump<Inet6>) -> Result<Box<dyn Module<Inet6>>, AlgorithmError> {
        let spans: Vec<Span<u128, u32>> = spans::of_dump(dump)?;
        let is_wide = dump.highest_nexthop() > MAX_NEXTHOP;
        // Mapped, but only used where it is written.
        let words = (FREE_ENTRIES + spans.len() * if is_wide { 256 } else { 128 }).min(MAX_WORDS);
        let out_of_memory = AlgorithmError::OutOfMemory { bytes: words * 8 };
        let mut builder = Builder::new(words, is_wide).ok_or(out_of_memory)?;
        let full = |Full| AlgorithmError::Full { what: "table memory", limit: words };
        builder.start().map_err(full)?;
        builder.write_pages(Prefix::DEFAULT, &spans).map_err(full)?;
        builder.note_use();
        Ok(Box::new(builder))
    }
}

/// Owner of the tables.
pub(super) struct Builder {
    pub(super) tables: Arc<Tables>,
    pub(super) slab: Slab,
    /// As [`Tables::is_wide`].
    pub(super) is_wide: bool,
    /// By nexthop number, the word with the entries of its shared node and page.
    shared: HashMap<u32, u32>,
    /// Entries of all pages.
    page_entries: usize,
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
            if let Err(reason) = self.change(change.prefix, rib) {
                return Response::Rebuild { reason };
            }
        }
        self.slab.stamp(grace);
        self.note_use();
        Response::Applied
    }

    fn builder_bytes(&self) -> usize {
        self.slab.builder_bytes() + self.shared.capacity() * 8
    }
}

impl Builder {
    fn new(words: usize, is_wide: bool) -> Option<Self> {
        let records = Records::zeroed(words)?;
        let top = Records::zeroed(PAGES / 2)?;
        let slab = Slab::new(records.words().min(MAX_WORDS), FIRST_WORD);
        let whole = Records::zeroed(PAGES / 2)?;
        let (used_words, is_large) = (AtomicUsize::new(0), AtomicBool::new(false));
        let tables = Arc::new(Tables { whole, top, records, is_wide, is_large, used_words });
        Some(Self { tables, slab, is_wide, shared: HashMap::new(), page_entries: 0 })
    }

    /// No routes yet.
    fn start(&mut self) -> Result<(), Full> {
        let page = self.shared_page(0)?;
        let entries = &self.tables.top.region().halves()[..PAGES];
        entries.iter().for_each(|entry| entry.store(page, Relaxed));
        Ok(())
    }

    fn note_use(&self) {
        let words = self.slab.used_words();
        self.tables.is_large.store(words * 8 >= LARGE_BYTES, Relaxed);
        self.tables.used_words.store(words, Relaxed);
    }

    pub(super) fn entry(&self, index: usize) -> u32 {
        self.tables.records.region().halves()[index].load(Relaxed)
    }

    pub(super) fn page(&self, page: usize) -> u32 {
        self.tables.top.region().halves()[page].load(Relaxed)
    }

    /// The spans of `within`, as [`spans::of_rib`].
    ///
    /// # Errors
    /// Why the structure must be built anew.
    pub(super) fn spans(
        &self,
        rib: &Rib<Inet6>,
        within: Prefix<Inet6>,
    ) -> Result<Vec<Span<u128, u32>>, &'static str> {
        let spans: Vec<Span<u128, u32>> =
            spans::of_rib(rib, within).ok_or("nexthop number above 2^31 - 1")?;
        if !self.is_wide && spans.iter().any(|span| span.1 > MAX_NEXTHOP) {
            return Err("nexthop number above 65,535");
        }
        Ok(spans)
    }

    fn change(&mut self, prefix: Prefix<Inet6>, rib: &Rib<Inet6>) -> Result<(), &'static str> {
        let full = |Full| "table memory is full";
        if prefix.len() <= KEY_BITS as u8 {
            let spans = self.spans(rib, prefix)?;
            return self.write_pages(prefix, &spans).map_err(full);
        }
        if prefix.len() > 32 && self.write_lines(prefix, rib)? {
            return Ok(());
        }
        let within = Prefix::covering(prefix.addr(), prefix.len().min(32));
        let spans = self.spans(rib, within)?;
        let bits = page_bits(&spans).max(u32::from(within.len()) - KEY_BITS);
        let page = (prefix.addr() >> PAGE_SHIFT) as usize;
        if bits <= bits_of(self.page(page)) {
            return self.write_entries(page, within, &spans).map_err(full);
        }
        // A page that is shared, has too few entries, or none of its own.
        let whole = Prefix::covering(prefix.addr(), KEY_BITS as u8);
        let spans = self.spans(rib, whole)?;
        self.write_pages(whole, &spans).map_err(full)
    }

    /// Replaces all pages of a prefix of at most 16 bits.
    fn write_pages(
        &mut self,
        within: Prefix<Inet6>,
        spans: &[Span<u128, u32>],
    ) -> Result<(), Full> {
        let page = |addr: u128| (addr >> PAGE_SHIFT) as u64;
        let mut result = Ok(());
        let pages = page(within.addr())..=page(within.last_addr());
        spans::by_block(spans, PAGE_SHIFT, pages, |page, part| {
            if result.is_ok() {
                result = self.write_page(page as usize, part);
            }
        });
        result
    }

    fn write_page(&mut self, page: usize, spans: &[Span<u128, u32>]) -> Result<(), Full> {
        let old = self.page(page);
        let entries_of = |table: u32| (1usize << bits_of(table)) - 1;
        self.page_entries -= entries_of(old);
        let entries = 1 << page_bits(spans);
        let pays = self.page_entries + entries <= FREE_ENTRIES
            || spans.len() * ENTRIES_PER_SPAN >= entries;
        let new = match spans {
            [(_, nexthop)] => self.shared_page(*nexthop)?,
            _ if pays => self.direct_page(page, spans)?,
            _ => self.sparse_page(spans)?,
        };
        self.page_entries += entries_of(new);
        if new != old {
            // Some lookups take the first look, others do not. It is taken away before the page
            // changes, and comes back after it: so nobody meets the old answer after the new one.
            let whole = &self.tables.whole.region().halves()[page];
            whole.store(MORE, Release);
            self.tables.top.region().halves()[page].store(new, Release);
            #[cfg(test)]
            super::tests::a_page_has_changed();
            if let [(_, nexthop)] = spans {
                whole.store(*nexthop, Release);
            }
            self.retire_page(old);
        }
        Ok(())
    }

    /// A page with an entry for each block that its spans tell apart.
    fn direct_page(&mut self, page: usize, spans: &[Span<u128, u32>]) -> Result<u32, Full> {
        let bits = page_bits(spans);
        let first = (page as u64) << bits;
        let mut nodes = Vec::with_capacity(1 << bits);
        let mut result = Ok(());
        let blocks = first..=first + (1 << bits) - 1;
        spans::by_block(spans, PAGE_SHIFT - bits, blocks, |_, part| match self.node(part, 2) {
            Ok(node) => nodes.push(node),
            Err(full) => result = Err(full),
        });
        result?;
        self.table(&nodes)
    }

    /// A page that leaves all to nodes for its keys: few routes, and long ones.
    fn sparse_page(&mut self, spans: &[Span<u128, u32>]) -> Result<u32, Full> {
        let below = self.node(spans, 1)?;
        let line = self.line(&[(0, Below::Table(below))], 1)?;
        let node = self.table(&[line])?;
        self.table(&[node])
    }

    /// Replaces the entries of a page that lie within a prefix.
    fn write_entries(
        &mut self,
        page: usize,
        within: Prefix<Inet6>,
        spans: &[Span<u128, u32>],
    ) -> Result<(), Full> {
        let table = self.page(page);
        let bits = bits_of(table);
        let block = |addr: u128| (addr >> (PAGE_SHIFT - bits)) as u64;
        let blocks = block(within.addr())..=block(within.last_addr());
        let mut result = Ok(());
        spans::by_block(spans, PAGE_SHIFT - bits, blocks, |block, part| {
            let index = first_of(table) + (block as usize & ((1 << bits) - 1));
            match self.node(part, 2) {
                Ok(node) => {
                    let slot = &self.tables.records.region().halves()[index];
                    let old = slot.swap(node, Release);
                    if old != node {
                        self.retire_node(old);
                    }
                }
                Err(full) => result = Err(full),
            }
        });
        result
    }

    /// A node for key `i` of the addresses of some spans, the first of which may start before.
    fn node(&mut self, spans: &[Span<u128, u32>], i: u32) -> Result<u32, Full> {
        if let [(_, nexthop)] = spans {
            return self.shared_node(*nexthop);
        }
        let runs = self.runs(spans, i)?;
        let bits = node_bits(&runs, line::runs(self.is_wide));
        let mut lines = Vec::with_capacity(1 << bits);
        let mut from = 0;
        for block in 0..1u32 << bits {
            let first = block << (KEY_BITS - bits);
            let last = first + ((1 << (KEY_BITS - bits)) - 1);
            while runs.get(from + 1).is_some_and(|run| u32::from(run.0) <= first) {
                from += 1;
            }
            let count = runs[from..].iter().take_while(|run| u32::from(run.0) <= last).count();
            // The first may start before the block.
            lines.push(self.line(&runs[from..from + count.max(1)], (i + 1) & 3)?);
        }
        self.table(&lines)
    }

    /// The runs of key `i`; what its spans do not fill whole is below a run of one key.
    pub(super) fn runs(
        &mut self,
        spans: &[Span<u128, u32>],
        i: u32,
    ) -> Result<Vec<(u16, Below)>, Full> {
        let shift = PAGE_SHIFT - 16 * i;
        let key = |span: &Span<u128, u32>| (span.0 >> shift) as u16;
        let is_ragged = |span: &Span<u128, u32>| span.0.trailing_zeros() < shift;
        let mut runs = vec![(0, Below::Nexthop(spans[0].1))];
        let mut start = |key, below| {
            runs.pop_if(|run| run.0 == key);
            runs.push((key, below));
        };
        let mut at = 1;
        while let Some(span) = spans.get(at) {
            if !is_ragged(span) {
                start(key(span), Below::Nexthop(span.1));
                at += 1;
                continue;
            }
            let count = spans[at..].iter().take_while(|other| key(other) == key(span)).count();
            let inside = &spans[at - 1..at + count];
            let table = match i {
                3 => self.list(inside)?,
                _ => self.node(inside, i + 1)?,
            };
            start(key(span), Below::Table(table));
            at += count;
            if let Some(after) = key(span).checked_add(1) {
                start(after, Below::Nexthop(spans[at - 1].1));
            }
        }
        Ok(runs)
    }

    pub(super) fn line(&mut self, runs: &[(u16, Below)], next: u32) -> Result<u32, Full> {
        if let [(_, Below::Nexthop(nexthop))] = runs {
            return self.shared_line(*nexthop);
        }
        let offset = self.store(&line::words(runs, self.is_wide))?;
        Ok(offset | if line::is_deep(runs) { line::deep_flags(next) } else { 0 })
    }

    fn list(&mut self, spans: &[Span<u128, u32>]) -> Result<u32, Full> {
        let (words, long) = line::list(spans, self.is_wide);
        Ok(self.store(&words)? | long)
    }

    /// A table of a power of two of entries.
    fn table(&mut self, entries: &[u32]) -> Result<u32, Full> {
        let first = self.slab.take(entries.len().div_ceil(2))? * 2;
        let slots = &self.tables.records.region().halves()[first as usize..];
        slots.iter().zip(entries).for_each(|(slot, entry)| slot.store(*entry, Relaxed));
        Ok(first << SHIFT_BITS | (KEY_BITS - entries.len().trailing_zeros()))
    }

    fn store(&mut self, words: &[u64]) -> Result<u32, Full> {
        let offset = self.slab.take(words.len())?;
        let slots = &self.tables.records.region().words()[offset as usize..];
        slots.iter().zip(words).for_each(|(slot, word)| slot.store(*word, Relaxed));
        Ok(offset)
    }

    /// The first of two entries: a shared line, and the node that leads to it.
    fn shared(&mut self, nexthop: u32) -> Result<u32, Full> {
        if let Some(&first) = self.shared.get(&nexthop) {
            return Ok(first);
        }
        let words = line::words(&[(0, Below::Nexthop(nexthop))], self.is_wide);
        let line = self.store(&words)? | SHARED;
        let first = self.slab.take(1)? * 2;
        let slots = &self.tables.records.region().halves()[first as usize..];
        slots[0].store(line, Relaxed);
        slots[1].store(first << SHIFT_BITS | KEY_BITS, Relaxed);
        self.shared.insert(nexthop, first);
        Ok(first)
    }

    fn shared_line(&mut self, nexthop: u32) -> Result<u32, Full> {
        let first = self.shared(nexthop)?;
        Ok(self.entry(first as usize))
    }

    fn shared_node(&mut self, nexthop: u32) -> Result<u32, Full> {
        Ok(self.shared(nexthop)? << SHIFT_BITS | KEY_BITS)
    }

    fn shared_page(&mut self, nexthop: u32) -> Result<u32, Full> {
        Ok((self.shared(nexthop)? + 1) << SHIFT_BITS | KEY_BITS)
    }
}

/// The index of a table's first entry.
pub(super) fn first_of(table: u32) -> usize {
    (table >> SHIFT_BITS) as usize
}

/// Bits of a key that a table looks at.
pub(super) fn bits_of(table: u32) -> u32 {
    KEY_BITS - (table & SHIFT_MASK)
}

/// Bits after the first 16 that tell the spans of a page apart, up to 16.
fn page_bits(spans: &[Span<u128, u32>]) -> u32 {
    let bits =
        |span: &Span<u128, u32>| (PAGE_SHIFT - span.0.trailing_zeros().min(PAGE_SHIFT)).min(16);
    spans[1..].iter().map(bits).max().unwrap_or(0)
}

/// Bits of a node so that none of its lines has more runs than `room`, a power of two: with a line for as
/// many keys it has room for anything.
fn node_bits(runs: &[(u16, Below)], room: usize) -> u32 {
    let fits = |bits: &u32| {
        let block = |run: &(u16, Below)| u32::from(run.0) >> (KEY_BITS - bits);
        // The run at a block's first key takes the place of the one that reaches into it.
        let starts = |run: &&(u16, Below)| u32::from(run.0) & ((1 << (KEY_BITS - bits)) - 1) != 0;
        let inner: Vec<u32> = runs.iter().filter(starts).map(block).collect();
        inner.windows(room).all(|window| window[0] != window[room - 1])
    };
    let most = KEY_BITS - room.trailing_zeros();
    (0..most).find(fits).unwrap_or(most)
}
