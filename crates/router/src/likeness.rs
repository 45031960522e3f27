//! What some addresses have in common: a look at a frame's source that takes a few instructions however
//! many they are, never misses one of them, and takes few others for one.
//!
//! A sum over the frames of a chunk, begun with 0, is not 0 if one of them may be among the addresses.

/// The bits in which all addresses of a family are alike, as words of a header have them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Likeness<const N: usize> {
    words: [u32; N],
    masks: [u32; N],
}

impl<const N: usize> Likeness<N> {
    /// Of addresses as words of a header have them; of IPv6 all but the third, which says little.
    pub(crate) fn of(addresses: impl Iterator<Item = [u32; N]>) -> Self {
        // Without addresses no word is equal in no bits.
        let mut alike = Self { words: [0; N], masks: [u32::MAX; N] };
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

    /// Adds a frame with these words to the sum.
    #[inline(always)]
    pub(crate) fn add(&self, sum: &mut u32, words: [u32; N]) {
        let mut difference = 0;
        for (at, word) in words.iter().enumerate() {
            difference |= (word ^ self.words[at]) & self.masks[at];
        }
        *sum |= u32::from(difference == 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has<const N: usize>(likeness: Likeness<N>, words: [u32; N]) -> bool {
        let mut sum = 0;
        likeness.add(&mut sum, words);
        sum != 0
    }

    #[test]
    fn addresses_are_never_missed_and_strangers_pass() {
        // 198.18.0.1 and 198.19.0.1, as they lie in a frame.
        let word = |last: u32, second: u32| last << 24 | second << 8 | 198;
        let likeness = Likeness::of([[word(1, 18)], [word(1, 19)]].into_iter());
        assert!(has(likeness, [word(1, 18)]) && has(likeness, [word(1, 19)]));
        assert!(!has(likeness, [word(2, 18)]) && !has(likeness, [word(1, 20)]));
        assert!(!has(likeness, [word(129, 18)]));
        let none = Likeness::of([].into_iter());
        assert!(!has(none, [word(1, 18)]), "without addresses there is nothing to look for");
    }

    #[test]
    fn all_words_of_ipv6_addresses_count() {
        let all = [[1 << 31 | 5, 7, 1 << 30], [1 << 31 | 4, 7, 1 << 30]];
        let likeness = Likeness::of(all.into_iter());
        for [a, b, c] in all {
            assert!(has(likeness, [a, b, c]));
            assert!(!has(likeness, [a ^ 1 << 31, b, c]) && !has(likeness, [a | 2, b, c]));
            assert!(!has(likeness, [a, b | 8, c]) && !has(likeness, [a, b, c | 1]));
        }
    }
}
