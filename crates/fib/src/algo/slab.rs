//! Blocks of words for structures that are updated while readers run: power-of-two sizes, each
//! block aligned to its size, and reuse only after a grace period.
//!
//! Blocks are split in halves and never merged (the buddy system of K. Knowlton, CACM 8(10), 1965,
//! without its second half): sizes of a routing table's records hardly move.

use std::collections::VecDeque;

use crate::epoch::{Grace, Stamp};

/// Number of block sizes: 1 word to 2^20 words.
const CLASSES: usize = 21;
/// Retired blocks and words from which on it is asked whether they are free: that may cost a fence on all
/// threads of the process.
const SEVERAL_BLOCKS: usize = 64;
const SEVERAL_WORDS: usize = 1024;

/// Offset of a block in words.
pub(crate) type Offset = u32;

/// The allocation side of a region.
#[derive(Debug)]
pub(crate) struct Slab {
    limit: usize,
    /// First word that was never part of a block.
    end: usize,
    free: [Vec<Offset>; CLASSES],
    /// Blocks that readers may still see: unlinked since the last stamp.
    unlinked: Vec<(Offset, u8)>,
    retired: VecDeque<(Stamp, Vec<(Offset, u8)>)>,
    /// In `retired`.
    retired_blocks: usize,
    retired_words: usize,
}

/// The region is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

impl Slab {
    /// Hands out the words from `first` to `limit`, of a region of at least that length.
    pub(crate) fn new(limit: usize, first: usize) -> Self {
        Self {
            limit: limit.min(1 << 30),
            end: first,
            free: [const { Vec::new() }; CLASSES],
            unlinked: Vec::new(),
            retired: VecDeque::new(),
            retired_blocks: 0,
            retired_words: 0,
        }
    }

    /// A block of at least `words` words.
    pub(crate) fn take(&mut self, words: usize) -> Result<Offset, Full> {
        self.take_class(class_of(words))
    }

    fn take_class(&mut self, class: usize) -> Result<Offset, Full> {
        if class >= CLASSES {
            return Err(Full);
        }
        if let Some(offset) = self.free[class].pop() {
            return Ok(offset);
        }
        // Small blocks are cut from blocks of 64 words, so that the end stays aligned to lines.
        if class < 6 {
            let offset = self.take_class(class + 1)?;
            self.free[class].push(offset + (1 << class));
            return Ok(offset);
        }
        let size = 1 << class;
        let offset = self.end.next_multiple_of(size.min(512));
        if offset + size > self.limit {
            return Err(Full);
        }
        self.end = offset + size;
        Ok(offset as Offset)
    }

    /// Notes a block that was just unlinked; readers may still look at it.
    pub(crate) fn retire(&mut self, offset: Offset, words: usize) {
        self.unlinked.push((offset, class_of(words) as u8));
    }

    /// Call it before changes: takes back what no reader can see any more, if that is much.
    pub(crate) fn reclaim(&mut self, grace: &Grace<'_>) {
        if self.retired_blocks < SEVERAL_BLOCKS && self.retired_words < SEVERAL_WORDS {
            return;
        }
        self.reclaim_all(grace);
    }

    /// The same, be it ever so little.
    pub(crate) fn reclaim_all(&mut self, grace: &Grace<'_>) {
        while let Some((stamp, _)) = self.retired.front() {
            if !grace.has_passed(*stamp) {
                return;
            }
            for (offset, class) in self.retired.pop_front().map(|r| r.1).into_iter().flatten() {
                self.free[usize::from(class)].push(offset);
                self.retired_blocks -= 1;
                self.retired_words -= 1 << class;
            }
        }
    }

    /// Call it after changes: what was retired may be reused after a grace period.
    pub(crate) fn stamp(&mut self, grace: &Grace<'_>) {
        if !self.unlinked.is_empty() {
            self.retired_blocks += self.unlinked.len();
            self.retired_words += self.unlinked.iter().map(|(_, class)| 1 << class).sum::<usize>();
            self.retired.push_back((grace.stamp(), std::mem::take(&mut self.unlinked)));
        }
    }

    /// Words in use, or once in use.
    pub(crate) fn used_words(&self) -> usize {
        self.end
    }

    /// Bytes of the lists kept here.
    pub(crate) fn builder_bytes(&self) -> usize {
        self.free.iter().map(|list| list.capacity() * 4).sum()
    }
}

fn class_of(words: usize) -> usize {
    words.next_power_of_two().trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_disjoint_and_aligned() {
        let mut slab = Slab::new(1 << 14, 8);
        let mut taken = vec![false; 1 << 14];
        for words in (0..400).map(|i| 1 + i * 7 % 33) {
            let offset = slab.take(words).unwrap() as usize;
            assert_eq!(offset % words.next_power_of_two(), 0);
            for word in &mut taken[offset..offset + words.next_power_of_two()] {
                assert!(!std::mem::replace(word, true));
            }
        }
        assert!(!taken[..8].contains(&true));
    }

    #[test]
    fn a_full_slab_says_so_and_retired_blocks_come_back() {
        let mut slab = Slab::new(2048, 0);
        let first = slab.take(1024).unwrap();
        slab.take(1024).unwrap();
        assert_eq!(slab.take(64), Err(Full));
        slab.retire(first, 1024);
        assert_eq!(slab.take(64), Err(Full));
        let grace = Grace::without_readers();
        slab.stamp(&grace);
        slab.reclaim(&grace);
        assert_eq!(slab.take(1024), Ok(first));
    }

    #[test]
    fn a_few_retired_blocks_are_asked_about_together() {
        let mut slab = Slab::new(1 << 14, 0);
        let grace = Grace::without_readers();
        let mut before = Vec::new();
        for block in 0..SEVERAL_BLOCKS {
            slab.reclaim(&grace);
            let offset = slab.take(8).unwrap();
            assert!(!before.contains(&offset), "reused after {block} blocks");
            slab.retire(offset, 8);
            slab.stamp(&grace);
            before.push(offset);
        }
        slab.reclaim(&grace);
        assert!(before.contains(&slab.take(8).unwrap()));
        assert_eq!((slab.retired_blocks, slab.retired_words), (0, 0));
    }
}
