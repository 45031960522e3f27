//! The control side of `direct6`: builds pages, nodes and lines from spans.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use super::by_nexthop::ByNexthop;
use super::layout::GAP_WORDS;
use super::line::{self, Below};
use super::{KEY_BITS, LARGE_BYTES, PAGES, SHARED, SHIFT_BITS, SHIFT_MASK, Tables};
use crate::algo::slab::{Full, Slab};
use crate::algo::spans::{self, MAX_NEXTHOP, Span};
use crate::family::Inet6;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::simd::records::Records;

pub(super) const PAGE_SHIFT: u32 = 112;
/// First word handed out: offset 0 stands for nothing, and what lies there are the bits of pages without gaps.
const FIRST_WORD: usize = GAP_WORDS;
/// What entries can reach: 512 MiB.
pub(super) const MAX_WORDS: usize = 1 << 26;

/// Owner of the tables.
pub(super) struct Builder {
    pub(super) tables: Arc<Tables>,
    pub(super) slab: Slab,
    /// As [`Tables::is_wide`].
    pub(super) is_wide: bool,
    /// By nexthop number, the word with the entries of its shared node and page.
    pub(super) shared: ByNexthop,
    /// Entries of all pages.
    pub(super) page_entries: usize,
}

impl Builder {
    pub(super) fn new(words: usize, is_wide: bool) -> Option<Self> {
        let records = Records::zeroed(words)?;
        let top = Records::zeroed(PAGES / 2)?;
        let slab = Slab::new(records.words().min(MAX_WORDS), FIRST_WORD);
        let whole = Records::zeroed(PAGES / 2)?;
        let (used_words, is_large) = (AtomicUsize::new(0), AtomicBool::new(false));
        let tables = Arc::new(Tables { whole, top, records, is_wide, is_large, used_words });
        Some(Self { tables, slab, is_wide, shared: ByNexthop::default(), page_entries: 0 })
    }

    /// No routes yet.
    pub(super) fn start(&mut self) -> Result<(), Full> {
        let page = self.shared_page(0)?;
        let entries = &self.tables.top.region().halves()[..PAGES];
        entries.iter().for_each(|entry| entry.store(page, Relaxed));
        Ok(())
    }

    pub(super) fn note_use(&self) {
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

    /// A page with an entry for each block that its spans tell apart.
    pub(super) fn direct_page(
        &mut self,
        page: usize,
        spans: &[Span<u128, u32>],
    ) -> Result<u32, Full> {
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
    pub(super) fn sparse_page(&mut self, spans: &[Span<u128, u32>]) -> Result<u32, Full> {
        let below = self.node(spans, 1)?;
        let line = self.line(&[(0, Below::Table(below))], 1)?;
        let node = self.table(&[line])?;
        self.table(&[node])
    }

    /// A node for key `i` of the addresses of some spans, the first of which may start before.
    pub(super) fn node(&mut self, spans: &[Span<u128, u32>], i: u32) -> Result<u32, Full> {
        if let [(_, nexthop)] = spans {
            return self.shared_node(*nexthop);
        }
        let runs = self.runs(spans, i)?;
        let bits = node_bits(&runs, line::runs(self.is_wide));
        if bits == 0 {
            let line = self.line(&runs, (i + 1) & 3)?;
            return self.table(&[line]);
        }
        let mut lines = Vec::with_capacity(1 << bits);
        let mut from = 0;
        while lines.len() < 1 << bits {
            let first = (lines.len() as u32) << (KEY_BITS - bits);
            let last = first + ((1 << (KEY_BITS - bits)) - 1);
            while runs.get(from + 1).is_some_and(|run| u32::from(run.0) <= first) {
                from += 1;
            }
            let count = runs[from..].iter().take_while(|run| u32::from(run.0) <= last).count();
            // The first may start before the block.
            let inside = &runs[from..from + count.max(1)];
            lines.push(self.line(inside, (i + 1) & 3)?);
            if let [(_, Below::Nexthop(_))] = inside {
                // All blocks until the next run have the same line.
                let next = runs.get(from + 1).map_or(1 << KEY_BITS, |run| usize::from(run.0));
                lines.resize(next >> (KEY_BITS - bits), lines[lines.len() - 1]);
            }
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
        let mut runs = Vec::with_capacity(spans.len() + 1);
        runs.push((0, Below::Nexthop(spans[0].1)));
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
        let (words, used) = line::words(runs, self.is_wide);
        let offset = self.store(&words[..used])?;
        Ok(offset | if used == line::DEEP_WORDS { line::deep_flags(next) } else { 0 })
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
        if let Some(first) = self.shared.get(nexthop) {
            return Ok(first);
        }
        let (words, used) = line::words(&[(0, Below::Nexthop(nexthop))], self.is_wide);
        let line = self.store(&words[..used])? | SHARED;
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

    pub(super) fn shared_node(&mut self, nexthop: u32) -> Result<u32, Full> {
        Ok(self.shared(nexthop)? << SHIFT_BITS | KEY_BITS)
    }

    pub(super) fn shared_page(&mut self, nexthop: u32) -> Result<u32, Full> {
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
pub(super) fn page_bits(spans: &[Span<u128, u32>]) -> u32 {
    let bits =
        |span: &Span<u128, u32>| (PAGE_SHIFT - span.0.trailing_zeros().min(PAGE_SHIFT)).min(16);
    spans[1..].iter().map(bits).max().unwrap_or(0)
}

/// Bits of a node so that none of its lines has more runs than `room`, a power of two: with a line for as
/// many keys it has room for anything.
fn node_bits(runs: &[(u16, Below)], room: usize) -> u32 {
    if runs.len() <= room {
        return 0;
    }
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
