//! What all tables share of a nexthop, by its number.

use foldhash::HashMap;

use crate::algo::spans::MAX_NEXTHOP;

/// A word of each nexthop, never 0. Numbers are given away densely, so the lower ones are an array.
#[derive(Default)]
pub(super) struct ByNexthop {
    low: Vec<u32>,
    high: HashMap<u32, u32>,
}

impl ByNexthop {
    #[inline]
    pub(super) fn get(&self, nexthop: u32) -> Option<u32> {
        match self.low.get(nexthop as usize) {
            Some(word) => Some(*word).filter(|word| *word != 0),
            None if nexthop > MAX_NEXTHOP => self.high.get(&nexthop).copied(),
            None => None,
        }
    }

    pub(super) fn insert(&mut self, nexthop: u32, word: u32) {
        if nexthop > MAX_NEXTHOP {
            self.high.insert(nexthop, word);
            return;
        }
        let at = nexthop as usize;
        if at >= self.low.len() {
            self.low.resize(at + 1, 0);
        }
        self.low[at] = word;
    }

    /// Whose word it is.
    pub(super) fn nexthop(&self, word: u32) -> Option<u32> {
        let low = self.low.iter().position(|own| *own == word).map(|at| at as u32);
        low.or_else(|| self.high.iter().find(|(_, own)| **own == word).map(|found| *found.0))
    }

    pub(super) fn bytes(&self) -> usize {
        self.low.capacity() * 4 + self.high.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_by_its_number_and_a_number_by_its_word() {
        let numbers = [0, 1, 7, MAX_NEXTHOP - 1, MAX_NEXTHOP, MAX_NEXTHOP + 1, u32::MAX >> 1];
        let mut words = ByNexthop::default();
        assert_eq!((words.get(0), words.nexthop(1), words.bytes()), (None, None, 0));
        for (at, number) in numbers.into_iter().enumerate().rev() {
            assert_eq!(words.get(number), None);
            words.insert(number, 2 * at as u32 + 1);
        }
        for (at, number) in numbers.into_iter().enumerate() {
            let word = 2 * at as u32 + 1;
            assert_eq!((words.get(number), words.nexthop(word)), (Some(word), Some(number)));
        }
        assert_eq!(
            (words.get(2), words.get(MAX_NEXTHOP + 2), words.nexthop(2)),
            (None, None, None)
        );
    }
}
