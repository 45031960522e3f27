//! Counters that somebody else keeps, read before and after.

/// What was added to a counter between two readings. `None` for one that went backwards: it began anew
/// meanwhile, so that nobody knows what it counted, which is not 0.
pub const fn added(before: u64, after: u64) -> Option<u64> {
    after.checked_sub(before)
}

/// The same of a counter that its source says to have 32 bits: past its end it begins at 0 again.
pub const fn added_32(before: u64, after: u64) -> u64 {
    after.wrapping_sub(before) & u32::MAX as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_went_backwards_has_counted_nobody_knows_what() {
        assert_eq!([added(5, 7), added(5, 5), added(5, 4)], [Some(2), Some(0), None]);
        assert_eq!([added_32(5, 7), added_32(0xffff_fffe, 3)], [2, 5]);
    }
}
