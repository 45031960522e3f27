//! Blocks of words for structures that are updated while readers run, and reuse only after a grace
//! period: sizes that are powers of two, each block aligned to its size, or *tight* ones, which take
//! as many words as are asked for.
//!
//! Blocks are split and never merged (the buddy system of K. Knowlton, CACM 8(10), 1965, without its
//! second half): sizes of a routing table's records hardly move, and a table whose memory is full is
//! built anew.

mod fresh;
mod tight;

use std::collections::VecDeque;

use crate::epoch::{Grace, Stamp};

use fresh::Fresh;
pub(crate) use fresh::{Full, Offset};
use tight::Tight;

/// Number of block sizes: 1 word to 2^20 words.
const CLASSES: usize = 21;
/// Retired blocks and words from which on it is asked whether they are free: that may cost a fence on all
/// threads of the process.
const SEVERAL_BLOCKS: usize = 64;
const SEVERAL_WORDS: usize = 1024;

/// The allocation side of a region.
#[derive(Debug)]
pub(crate) struct Slab {
    fresh: Fresh,
    free: Free,
    /// Blocks that readers may still see, with their words: unlinked since the last stamp.
    unlinked: Vec<(Offset, usize)>,
    retired: VecDeque<(Stamp, Vec<(Offset, usize)>)>,
    /// In `retired`.
    retired_blocks: usize,
    retired_words: usize,
}

/// Blocks that were given back, or left over when others were cut.
#[derive(Debug)]
enum Free {
    /// By the logarithm of their words.
    Powers(Box<[Vec<Offset>; CLASSES]>),
    Tight(Tight),
}

impl Slab {
    /// Hands out the words from `first` to `limit`, of a region of at least that length, in blocks of
    /// powers of two.
    pub(crate) fn new(limit: usize, first: usize) -> Self {
        Self::of(limit, first, Free::Powers(Box::new([const { Vec::new() }; CLASSES])))
    }

    /// The same in blocks of as many words as are asked for, each of which touches no more cache lines
    /// than it must; `first` is a multiple of their words.
    pub(crate) fn tight(limit: usize, first: usize) -> Self {
        Self::of(limit, first, Free::Tight(Tight::default()))
    }

    fn of(limit: usize, first: usize, free: Free) -> Self {
        Self {
            fresh: Fresh { limit: limit.min(1 << 30), end: first },
            free,
            unlinked: Vec::new(),
            retired: VecDeque::new(),
            retired_blocks: 0,
            retired_words: 0,
        }
    }

    /// A block of at least `words` words.
    pub(crate) fn take(&mut self, words: usize) -> Result<Offset, Full> {
        match &mut self.free {
            Free::Powers(free) => take_class(free, &mut self.fresh, class_of(words)),
            Free::Tight(free) => free.take(words, &mut self.fresh),
        }
    }

    /// Notes a block that was just unlinked; readers may still look at it.
    pub(crate) fn retire(&mut self, offset: Offset, words: usize) {
        self.unlinked.push((offset, words));
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
            for (offset, words) in self.retired.pop_front().map(|r| r.1).into_iter().flatten() {
                match &mut self.free {
                    Free::Powers(free) => free[class_of(words)].push(offset),
                    Free::Tight(free) => free.give(offset, words),
                }
                self.retired_blocks -= 1;
                self.retired_words -= words;
            }
        }
    }

    /// Call it after changes: what was retired may be reused after a grace period.
    pub(crate) fn stamp(&mut self, grace: &Grace<'_>) {
        if !self.unlinked.is_empty() {
            self.retired_blocks += self.unlinked.len();
            self.retired_words += self.unlinked.iter().map(|(_, words)| words).sum::<usize>();
            self.retired.push_back((grace.stamp(), std::mem::take(&mut self.unlinked)));
        }
    }

    /// Words in use, or once in use.
    pub(crate) fn used_words(&self) -> usize {
        self.fresh.end
    }

    /// Bytes of the lists kept here.
    pub(crate) fn builder_bytes(&self) -> usize {
        match &self.free {
            Free::Powers(free) => free.iter().map(|list| list.capacity() * 4).sum(),
            Free::Tight(free) => free.bytes(),
        }
    }
}

fn take_class(
    free: &mut [Vec<Offset>; CLASSES],
    fresh: &mut Fresh,
    class: usize,
) -> Result<Offset, Full> {
    if class >= CLASSES {
        return Err(Full);
    }
    if let Some(offset) = free[class].pop() {
        return Ok(offset);
    }
    // Small blocks are cut from blocks of 64 words, so that the end stays aligned to lines.
    if class < 6 {
        let offset = take_class(free, fresh, class + 1)?;
        free[class].push(offset + (1 << class));
        return Ok(offset);
    }
    let size: usize = 1 << class;
    fresh.take(size, size.min(512))
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
    fn tight_blocks_are_disjoint_and_cross_no_line_that_they_could_leave_out() {
        let (mut slab, mut powers) = (Slab::tight(1 << 14, 8), Slab::new(1 << 14, 8));
        let mut taken = vec![false; 1 << 14];
        let mut random = crate::random::Random::new(8);
        for _ in 0..1000 {
            let most = if random.below(4) == 0 { 33 } else { 8 };
            let words = 1 + random.below(most) as usize;
            let offset = slab.take(words).unwrap() as usize;
            assert_eq!((offset + words - 1) / 8 - offset / 8, (words - 1) / 8);
            for word in &mut taken[offset..offset + words] {
                assert!(!std::mem::replace(word, true));
            }
            powers.take(words).unwrap();
        }
        assert!(!taken[..8].contains(&true));
        let (tight, powers) = (slab.used_words(), powers.used_words());
        assert!(tight * 9 < powers * 8, "{tight} words, {powers} in powers of two");
    }

    #[test]
    fn tight_blocks_come_back_whole_and_are_cut_when_nothing_else_is_left() {
        let grace = Grace::without_readers();
        let mut slab = Slab::tight(256, 0);
        let blocks: Vec<_> = (0..8).map(|_| slab.take(32).unwrap()).collect();
        assert_eq!(slab.take(1), Err(Full));
        for &block in &blocks {
            slab.retire(block, 32);
        }
        slab.stamp(&grace);
        slab.reclaim_all(&grace);
        let again: Vec<_> = (0..7).map(|_| slab.take(32).unwrap()).collect();
        assert!(again.iter().all(|block| blocks.contains(block)));
        // Five lines of four and a half.
        let small: Vec<_> = (0..5).map(|_| slab.take(6)).collect();
        assert_eq!(small.iter().filter(|block| block.is_ok()).count(), 4);
        assert_eq!((0..5).filter(|_| slab.take(2).is_ok()).count(), 4);
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
