//! What is known of a frame whose passing was timed, and the rule that says which frames are.

use std::time::{Duration, Instant};

/// When a frame passed, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// By the kernel, in ns since 1970.
    pub software_ns: Option<u64>,
    /// By the card, in ns of its own clock.
    pub hardware_ns: Option<u64>,
}

/// One line of a classic BPF program (Documentation/networking/filter.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterLine {
    /// What it does.
    pub code: u16,
    /// Lines to skip where a comparison holds.
    pub if_true: u8,
    /// Lines to skip where it does not.
    pub if_false: u8,
    /// Its operand.
    pub value: u32,
}

/// Which frames are stamped.
pub trait StampRule: Send + Sync {
    /// What a frame that is stamped is known by, on either side of the device; nothing for all others.
    fn key(&self, frame: &[u8]) -> Option<u64>;

    /// The same as a filter of the kernel; it may let others through, too.
    fn filter(&self) -> Vec<FilterLine>;

    /// How many that leave are stamped in a second at most: others of the rule leave as all frames do.
    fn most_per_second(&self) -> u32;
}

/// A rate is held in each stretch of this length.
const STRETCH: Duration = Duration::from_millis(100);
const STRETCHES_PER_SECOND: u32 = 10;

/// What is left of a rate of stamps in the stretch at hand.
#[derive(Debug)]
pub(crate) struct Allowance {
    most: u32,
    taken: u32,
    since: Option<Instant>,
}

impl Allowance {
    pub(crate) fn per_second(most: u32) -> Self {
        Self { most: (most / STRETCHES_PER_SECOND).max(1), taken: 0, since: None }
    }

    /// How many more may be stamped now.
    pub(crate) fn left(&mut self, now: Instant) -> usize {
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= STRETCH) {
            (self.since, self.taken) = (Some(now), 0);
        }
        self.most.saturating_sub(self.taken) as usize
    }

    pub(crate) fn take(&mut self, count: usize) {
        self.taken = self.taken.saturating_add(count as u32);
    }
}

/// A frame's key, and a time at which it passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// As the rule knows it.
    pub key: u64,
    /// When.
    pub stamp: Stamp,
}

/// What an interface can stamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ability {
    /// Its driver tells the kernel when frames leave.
    pub software_send: bool,
    /// The card stamps frames that leave.
    pub hardware_send: bool,
    /// The card stamps all frames that arrive.
    pub hardware_receive: bool,
    /// The number of the card's clock; ports with the same one have one time.
    pub clock: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_stretch_has_more_stamps_than_its_share_of_a_second() {
        let mut allowance = Allowance::per_second(2_000);
        let start = Instant::now();
        assert_eq!(allowance.left(start), 200);
        allowance.take(64);
        assert_eq!(allowance.left(start + Duration::from_millis(1)), 136);
        allowance.take(136);
        assert_eq!(allowance.left(start + Duration::from_millis(99)), 0);
        assert_eq!(allowance.left(start + Duration::from_millis(100)), 200);
        // What was not taken is not saved up.
        assert_eq!(allowance.left(start + Duration::from_secs(5)), 200);
    }
}
