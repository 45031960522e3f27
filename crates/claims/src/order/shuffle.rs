//! Shuffling, spelled out: a library may choose another way in its next version.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// The numbers below `count`, in any order.
pub(super) fn shuffled(count: usize, generator: &mut Pcg64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    shuffle(&mut order, generator);
    order
}

/// Fisher-Yates: every order is equally likely.
fn shuffle<T>(items: &mut [T], generator: &mut Pcg64) {
    for last in (1..items.len()).rev() {
        let other = below(last as u64 + 1, generator) as usize;
        items.swap(last, other);
    }
}

/// A number from 0 to `bound - 1`, each equally likely: draws from the
/// incomplete last multiple of `bound` below 2^64 are thrown away.
pub(super) fn below(bound: u64, generator: &mut Pcg64) -> u64 {
    let incomplete = (u64::MAX % bound + 1) % bound;
    loop {
        let drawn = generator.next_u64();
        if drawn <= u64::MAX - incomplete {
            return drawn % bound;
        }
    }
}
