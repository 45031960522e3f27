//! The addresses of a batch that need more than the others.

/// Those of `N` addresses that need more: their places, a line or table, and a number that goes with it.
pub(super) struct Pending<const N: usize> {
    at: [u8; N],
    entry: [u32; N],
    level: [u8; N],
    pub(super) count: usize,
}

impl<const N: usize> Pending<N> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { at: [0; N], entry: [0; N], level: [0; N], count: 0 }
    }

    /// Adds an address if `counts`; without a branch, as nobody can predict that.
    #[inline(always)]
    pub(super) fn push(&mut self, at: usize, entry: u32, level: u32, counts: bool) {
        let i = self.count % N;
        (self.at[i], self.entry[i], self.level[i]) = (at as u8, entry, level as u8);
        self.count += usize::from(counts);
    }

    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> (usize, u32, u32) {
        let i = i % N;
        (usize::from(self.at[i]), self.entry[i], u32::from(self.level[i]))
    }

    #[inline(always)]
    pub(super) fn set(&mut self, i: usize, entry: u32) {
        self.entry[i % N] = entry;
    }

    #[inline(always)]
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, u32, u32)> {
        (0..self.count).map(|i| self.get(i))
    }
}
