//! Loops over the addresses of a batch.

use super::{FEW, STAGE};
use crate::nexthop::NexthopId;

/// The stages of a chunk of which more than a [`FEW`] addresses go the fixed path.
pub(super) struct Stages<'a, const STAGES: usize> {
    pub(super) more: &'a [u32; STAGES],
    pub(super) addrs: &'a [[u128; STAGE]; STAGES],
    pub(super) answers: &'a mut [[NexthopId; STAGE]; STAGES],
}

impl<const STAGES: usize> Stages<'_, STAGES> {
    /// Calls `each` with every address, its number in `at` and its answer.
    #[inline(always)]
    pub(super) fn for_each(
        &mut self,
        at: &mut [[u32; STAGE]; STAGES],
        mut each: impl FnMut(u128, &mut u32, &mut NexthopId),
    ) {
        let stages = self.addrs.iter().zip(self.answers.iter_mut());
        for ((addrs, answers), (at, more)) in stages.zip(at.iter_mut().zip(self.more)) {
            if more.count_ones() > FEW {
                for_each_lane(|i| each(addrs[i], &mut at[i], &mut answers[i]));
            }
        }
    }
}

/// Calls `each` with all numbers below [`STAGE`]; four at a time, so that the compiler unrolls it.
#[inline(always)]
pub(super) fn for_each_lane(mut each: impl FnMut(usize)) {
    for four in 0..STAGE / 4 {
        for i in 0..4 {
            each(four * 4 + i);
        }
    }
}

/// Calls `each` with the number of every bit, from the lowest.
#[inline(always)]
pub(super) fn for_each_bit(mut mask: u32, mut each: impl FnMut(usize)) {
    while mask != 0 {
        each(mask.trailing_zeros() as usize % STAGE);
        mask &= mask - 1;
    }
}
