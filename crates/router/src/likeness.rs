//! What some addresses have in common: a look at a frame's source that takes a few instructions however
//! many they are, never misses one of them, and takes few others for one.
//!
//! A sum over the frames of a chunk, begun with 0, has its highest bit set if one of them may be among
//! the addresses.

/// The bits in which all addresses of a family are alike, as words of a header have them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Likeness<const N: usize> {
    words: [u64; N],
    masks: [u64; N],
}

impl<const N: usize> Likeness<N> {
    fn among(addresses: impl Iterator<Item = [u64; N]>, masks: [u64; N]) -> Self {
        let mut alike = Self { words: [0; N], masks };
        for (i, address) in addresses.enumerate() {
            if i == 0 {
                alike.words = address;
            }
            for (at, &word) in address.iter().enumerate() {
                alike.masks[at] &= !(word ^ alike.words[at]);
            }
        }
        alike
    }

    #[inline(always)]
    fn difference(&self, at: usize, word: u64) -> u64 {
        (word ^ self.words[at]) & self.masks[at]
    }
}

impl Likeness<1> {
    /// Of IPv4 addresses as word 3 of a header has the source.
    pub(crate) fn of(addresses: impl Iterator<Item = [u64; 1]>) -> Self {
        Self::among(addresses, [0xffff_ffff << 16])
    }

    /// Adds a frame with this word of its header to the sum. The difference has less than 64 bits, so
    /// only one of 0 borrows.
    #[inline(always)]
    pub(crate) fn add(&self, sum: &mut u64, w3: u64) {
        *sum |= self.difference(0, w3).wrapping_sub(1);
    }
}

impl Likeness<2> {
    /// Of IPv6 addresses as words 3 and 4 have all but the first 16 bits of the source, which would
    /// take a word of their own and say little.
    pub(crate) fn of(addresses: impl Iterator<Item = [u64; 2]>) -> Self {
        Self::among(addresses, [u64::MAX, u64::MAX >> 16])
    }

    /// Adds a frame with these words of its header to the sum.
    #[inline(always)]
    pub(crate) fn add(&self, sum: &mut u64, w3: u64, w4: u64) {
        let difference = self.difference(0, w3) | self.difference(1, w4);
        *sum |= !difference & difference.wrapping_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(likeness: Likeness<1>, w3: u64) -> bool {
        let mut sum = 0;
        likeness.add(&mut sum, w3);
        sum >> 63 != 0
    }

    fn has6(likeness: Likeness<2>, (w3, w4): (u64, u64)) -> bool {
        let mut sum = 0;
        likeness.add(&mut sum, w3, w4);
        sum >> 63 != 0
    }

    #[test]
    fn addresses_are_never_missed_and_strangers_pass() {
        // 198.18.0.1 and 198.19.0.1 between a checksum and half of a destination.
        let word = |last: u64, second: u64| last << 40 | second << 24 | 198 << 16;
        let likeness = Likeness::<1>::of([[word(1, 18)], [word(1, 19)]].into_iter());
        for around in [0, 0x1234 << 48 | 0xffff, !(0xffff_ffff << 16)] {
            assert!(has(likeness, word(1, 18) | around) && has(likeness, word(1, 19) | around));
            assert!(!has(likeness, word(2, 18) | around) && !has(likeness, word(1, 20) | around));
            assert!(!has(likeness, word(129, 18) | around));
        }
        let none = Likeness::<1>::of([].into_iter());
        assert!(!has(none, word(1, 18)), "without addresses there is nothing to look for");
    }

    #[test]
    fn both_words_of_ipv6_addresses_count() {
        let all = [[1 << 63 | 5, 1 << 40], [1 << 63 | 4, 1 << 40]];
        let likeness = Likeness::<2>::of(all.into_iter());
        for [w3, w4] in all {
            assert!(has6(likeness, (w3, w4)) && has6(likeness, (w3, w4 | 0xffff << 48)));
            assert!(!has6(likeness, (w3 ^ 1 << 63, w4)) && !has6(likeness, (w3, w4 ^ 1 << 47)));
            assert!(!has6(likeness, (w3 | 2, w4)) && !has6(likeness, (w3, w4 | 1)));
        }
    }
}
