//! Gaps of pages: most of a /16 with routes has none, and random addresses fall there.
//!
//! A page of 2^16 entries takes 256 KiB, so that the entry of a random address comes from memory. A bit
//! for each group of 8 entries that all have the *usual* nexthop of the page says the same from 1 KiB,
//! which stays in the nearest caches. The entry of `whole` has the place of these bits; those of 0, where
//! nothing is, are of pages without.
//!
//! A bit is taken away before its entries change, and comes back after them: so nobody meets the old
//! answer after the new one, whether it looks at the gaps or not.

use std::ops::RangeInclusive;
use std::sync::atomic::Ordering::{Relaxed, Release};

use foldhash::{HashMap, HashMapExt};

use super::build::{Builder, bits_of, first_of};
use super::layout::{GAP_WORDS, GROUP_BITS, KEY_BITS, MORE, SHIFT_BITS, key};
use super::reader::Reader;
use crate::algo::slab::Full;

/// Where the usual nexthop follows the bits, in 32-bit numbers.
const USUAL: u32 = 2 * GAP_WORDS as u32;
/// Words of the bits and the nexthop.
const WORDS: usize = GAP_WORDS + 1;

impl<const WIDE: bool> Reader<'_, WIDE> {
    /// The usual nexthop of a page, if an address is in one of its gaps; `whole` is what the first look
    /// said, [`MORE`] and the place of the bits.
    #[inline(always)]
    pub(super) fn in_gap(self, whole: u32, addr: u128) -> Option<u32> {
        let first = bits_at(whole);
        let group = key(addr, 1) >> GROUP_BITS;
        let bits = self.entries.half(first + group / 32);
        (bits >> (group % 32) & 1 != 0).then(|| self.entries.half(first + USUAL))
    }
}

/// Where the bits are, in 32-bit numbers.
#[inline(always)]
fn bits_at(whole: u32) -> u32 {
    (whole & !MORE) * 2
}

impl Builder {
    /// Notes the gaps of a page that is not in use yet; returns its entry of `whole`.
    pub(super) fn gaps(&mut self, page: u32) -> Result<u32, Full> {
        let Some(usual) = self.usual(page) else { return Ok(MORE) };
        let whole = MORE | self.slab.take(WORDS)?;
        let halves = self.tables.records.region().halves();
        let first = bits_at(whole);
        (first..first + USUAL).for_each(|i| halves[i as usize].store(0, Relaxed));
        halves[(first + USUAL) as usize].store(usual, Relaxed);
        self.open_gaps(whole, page, 0..=(1 << KEY_BITS) - 1)?;
        Ok(whole)
    }

    /// The nexthop that most entries of a page have, if it is worth a note.
    fn usual(&self, page: u32) -> Option<u32> {
        if bits_of(page) != KEY_BITS {
            return None;
        }
        let mut counts = HashMap::<u32, u32>::new();
        let first = first_of(page);
        for node in (first..first + (1 << KEY_BITS)).map(|i| self.entry(i)) {
            if self.is_shared_node(node) {
                *counts.entry(node).or_default() += 1;
            }
        }
        let usual = counts.into_iter().max_by_key(|(node, count)| (*count, *node))?.0;
        self.shared.nexthop(usual >> SHIFT_BITS)
    }

    /// Takes the bits of some entries of a page away, which are about to change.
    pub(super) fn close_gaps(&self, whole: u32, entries: RangeInclusive<usize>) {
        if bits_at(whole) == 0 {
            return;
        }
        for group in groups(&entries) {
            let half = &self.tables.records.region().halves()[bits_at(whole) as usize + group / 32];
            half.store(half.load(Relaxed) & !(1 << (group % 32)), Release);
        }
    }

    /// Gives those their bits that have the usual nexthop now.
    pub(super) fn open_gaps(
        &mut self,
        whole: u32,
        page: u32,
        entries: RangeInclusive<usize>,
    ) -> Result<(), Full> {
        if bits_at(whole) == 0 {
            return Ok(());
        }
        let usual = self.shared_node(self.entry((bits_at(whole) + USUAL) as usize))?;
        for group in groups(&entries) {
            let first = first_of(page) + (group << GROUP_BITS);
            if (first..first + (1 << GROUP_BITS)).all(|i| self.entry(i) == usual) {
                let halves = self.tables.records.region().halves();
                let half = &halves[bits_at(whole) as usize + group / 32];
                half.store(half.load(Relaxed) | 1 << (group % 32), Release);
            }
        }
        Ok(())
    }

    /// Gives the bits of a page back that is not in use any more.
    pub(super) fn retire_gaps(&mut self, whole: u32) {
        if whole & MORE != 0 && bits_at(whole) != 0 {
            self.slab.retire(whole & !MORE, WORDS);
        }
    }
}

fn groups(entries: &RangeInclusive<usize>) -> RangeInclusive<usize> {
    entries.start() >> GROUP_BITS..=entries.end() >> GROUP_BITS
}
