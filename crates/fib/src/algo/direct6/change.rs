//! `direct6` as an algorithm: serves a table, and replaces the pages, nodes and lines that a change
//! touches.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::build::{Builder, MAX_WORDS, PAGE_SHIFT, bits_of, first_of, page_bits};
use super::{KEY_BITS, MORE, Shared};
use crate::algo::ahead::fetched;
use crate::algo::slab::Full;
use crate::algo::spans::{self, Code, MAX_NEXTHOP, Span};
use crate::algo::tree6;
use crate::algo::{Algorithm, AlgorithmError, Change, Dump, Limits, Module, Response, TableFacts};
use crate::epoch::Grace;
use crate::family::Inet6;
use crate::lookup::Lookup;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// Up to so many routes, another algorithm is preferred.
const SMALL: usize = tree6::THREE_LEVELS;
const HALF_SMALL: usize = SMALL / 2;
/// The memory of a last-level cache from which on it pays: the hot part of a full table.
const WANTED_CACHE_BYTES: usize = 8 << 20;
/// Beyond that, a page must have a span for so many of its entries.
const ENTRIES_PER_SPAN: usize = 64;
/// Entries of pages (16 MiB) that small tables may take, too.
const FREE_ENTRIES: usize = 4 << 20;

/// The algorithm; for tables above a handful of routes.
#[derive(Debug, Clone, Copy)]
pub struct Direct6;

impl Algorithm<Inet6> for Direct6 {
    fn name(&self) -> &'static str {
        "direct6"
    }

    fn leaves_default(&self) -> bool {
        true
    }

    fn limits(&self) -> Limits {
        Limits { nexthops: u32::LIMIT, ..Limits::NONE }
    }

    /// The fastest as long as a last-level cache has room for the part of it that traffic meets;
    /// with a small one `bitruns6`, which takes a sixteenth of the memory, comes first. Small tables
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

    fn nexthop_bits(&self, facts: &TableFacts) -> u32 {
        if facts.nexthops <= MAX_NEXTHOP { 16 } else { 31 }
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
            if let Err(reason) = self.change(change.prefix, rib) {
                return Response::Rebuild { reason };
            }
        }
        self.slab.stamp(grace);
        self.note_use();
        Response::Applied
    }

    fn builder_bytes(&self) -> usize {
        self.slab.builder_bytes() + self.shared.bytes()
    }
}

impl Builder {
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
        let first_look = match spans {
            [(_, nexthop)] => *nexthop,
            _ => self.gaps(new)?,
        };
        if new != old {
            // Some lookups take the first look, others do not. It is taken away before the page
            // changes, and comes back after it: so nobody meets the old answer after the new one.
            let whole = &self.tables.whole.region().halves()[page];
            let old_whole = whole.swap(MORE, Release);
            self.tables.top.region().halves()[page].store(new, Release);
            #[cfg(test)]
            super::tests::a_page_has_changed();
            whole.store(first_look, Release);
            self.retire_gaps(old_whole);
            self.retire_page(old);
        }
        Ok(())
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
        let in_page = |block: u64| block as usize & ((1 << bits) - 1);
        let changed = in_page(*blocks.start())..=in_page(*blocks.end());
        let whole = self.tables.whole.region().halves()[page].load(Relaxed);
        self.close_gaps(whole, changed.clone());
        let mut result = Ok(());
        // A short prefix fills many entries with one nexthop.
        let mut last = None;
        spans::by_block(spans, PAGE_SHIFT - bits, blocks, |block, part| {
            let index = first_of(table) + in_page(block);
            let nexthop = (part.len() == 1).then_some(part[0].1);
            let node = match last {
                Some((of, node)) if nexthop == Some(of) => Ok(node),
                _ => self.node(part, 2),
            };
            last = nexthop.zip(node.ok());
            match node {
                Ok(node) => {
                    let slot = &self.tables.records.region().halves()[index];
                    // Not at once: nobody else writes, and a locked instruction takes as long as all of this.
                    let old = slot.load(Relaxed);
                    if old != node {
                        slot.store(node, Release);
                        #[cfg(test)]
                        super::tests::a_page_has_changed();
                        self.retire_node(old);
                    }
                }
                Err(full) => result = Err(full),
            }
        });
        result?;
        self.open_gaps(whole, table, changed)
    }
}
