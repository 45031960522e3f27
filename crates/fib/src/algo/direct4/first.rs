//! The first look of small tables: at the first 16 bits of an address.

use std::ops::RangeInclusive;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::family::Inet;
use crate::prefix::Prefix;
use crate::simd::cells::{CELL_SHIFT, CELLS, Cells, Width};

/// Bits of an address below its /16.
const PAGE_SHIFT: u32 = 16;
/// Number of /16.
pub(super) const PAGES: usize = 1 << (u32::BITS - PAGE_SHIFT);
/// Cells of a /16.
const PAGE_CELLS: usize = 1 << (PAGE_SHIFT - CELL_SHIFT);
/// Addresses of a batch that tell what its traffic is.
const SOME: usize = 4;
/// Pages that have their bits in one word.
const WORD_PAGES: usize = u64::BITS as usize;

/// What is known of whole /16, *pages*. A random address, of which most meet no route, then touches 64 or
/// 128 KiB instead of the cells, and a single one mostly the 8 KiB of `is_usual`.
#[derive(Debug)]
pub(super) struct First<W> {
    /// The code of all cells of a page; the highest where they differ.
    codes: Cells<W, PAGES>,
    /// The code that most pages have.
    usual: u32,
    /// A bit for each page with that code.
    is_usual: Box<[AtomicU64; PAGES / WORD_PAGES]>,
}

impl<W: Width> First<W> {
    /// Of a table in which nothing is known yet, where most pages will have the code `usual`; `None`
    /// without memory.
    pub(super) fn unknown(usual: u32) -> Option<Self> {
        let is_usual = Box::new([const { AtomicU64::new(0) }; PAGES / WORD_PAGES]);
        let first = Self { codes: Cells::zeroed()?, usual, is_usual };
        first.forget(Prefix::DEFAULT);
        Some(first)
    }

    /// The codes of all pages.
    #[inline(always)]
    pub(super) fn codes(&self) -> &[W::Atomic; PAGES] {
        self.codes.as_array()
    }

    /// The code of an address, or the highest.
    #[inline(always)]
    pub(super) fn look(&self, addr: u32) -> u32 {
        let page = (addr >> PAGE_SHIFT) as usize;
        match self.is_usual[page / WORD_PAGES].load(Acquire) >> (page % WORD_PAGES) & 1 {
            0 => W::load(&self.codes()[page]).into(),
            _ => self.usual,
        }
    }

    /// Whether a batch is of traffic for a first look: of some of its addresses most lie in usual pages.
    #[inline(always)]
    pub(super) fn is_for(&self, addrs: &[u32]) -> bool {
        let some = addrs.len().min(SOME);
        let usual = |addr: &u32| {
            let page = (addr >> PAGE_SHIFT) as usize;
            self.is_usual[page / WORD_PAGES].load(Relaxed) >> (page % WORD_PAGES) & 1
        };
        2 * addrs[..some].iter().map(usual).sum::<u64>() > some as u64
    }

    /// Sends lookups in the pages that lie in or around a prefix to their cells, before those change.
    pub(super) fn forget(&self, within: Prefix<Inet>) {
        for page in pages(within) {
            self.write(page, W::MAX);
        }
    }

    /// Notes the codes of the pages that lie in or around a prefix, after their cells.
    pub(super) fn note(&self, within: Prefix<Inet>, cells: &[W::Atomic; CELLS]) {
        let (cells, _) = cells.as_chunks::<PAGE_CELLS>();
        for page in pages(within) {
            let cells = &cells[page];
            let code = W::load(&cells[0]).into();
            let is_whole = code < W::MAX && cells.iter().all(|cell| W::load(cell).into() == code);
            self.write(page, if is_whole { code } else { W::MAX });
        }
    }

    /// Writes the code of a page. There is one writer.
    fn write(&self, page: usize, code: u32) {
        let (word, bit) = (&self.is_usual[page / WORD_PAGES], 1 << (page % WORD_PAGES));
        let others = word.load(Relaxed) & !bit;
        // Who looks at both must not meet an old code after a new bit, or the other way round.
        if code != self.usual {
            word.store(others, Release);
        }
        W::store(&self.codes()[page], code);
        if code == self.usual {
            word.store(others | bit, Release);
        }
    }

    /// Bytes that lookups may touch.
    pub(super) const BYTES: usize = PAGES * W::BYTES + PAGES / 8;
}

/// The pages that lie in or around a prefix.
fn pages(within: Prefix<Inet>) -> RangeInclusive<usize> {
    let page = |addr: u32| (addr >> PAGE_SHIFT) as usize;
    page(within.addr())..=page(within.last_addr())
}

/// The code that would be that of most pages if each had but the span at its first address.
pub(super) fn usual_code(spans: &[(u32, u16)]) -> u16 {
    let mut pages_of = vec![0u32; usize::from(u16::MAX) + 1];
    let ends = spans.iter().skip(1).map(|span| span.0 >> PAGE_SHIFT).chain([PAGES as u32]);
    for (span, end) in spans.iter().zip(ends) {
        pages_of[usize::from(span.1)] += end.saturating_sub((span.0 >> PAGE_SHIFT) + 1);
    }
    let usual = (0..=u16::MAX).zip(&pages_of).max_by_key(|(_, pages)| **pages);
    usual.map_or(0, |(code, _)| code)
}
