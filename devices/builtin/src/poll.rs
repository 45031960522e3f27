//! The device's thread.

use std::sync::atomic::{AtomicBool, Ordering};

use fwdlab_device::pulse::Diary;
use fwdlab_port::Clock;
use fwdlab_port::pingpong::Rally;
use fwdlab_port::ring::RingPort;
use fwdlab_router::Worker;

/// From one beat of the device's processor to the next: beats take two thousandths of its time,
/// between two polls, so that none of it counts as busy.
const BEAT_NS: u64 = 1_500_000;

/// Polls with frames between two looks at the clock.
const POLLS: u32 = 16;

/// Takes a beat now and then, if there is a diary to write it into.
pub(super) struct Metronome<'a> {
    diary: Option<&'a Diary>,
    clock: Clock,
    polls: u32,
    last: u64,
}

impl<'a> Metronome<'a> {
    pub(super) fn of(diary: Option<&'a Diary>) -> Self {
        let clock = Clock::new();
        Self { diary, polls: 0, last: clock.ticks(), clock }
    }

    /// After a poll that brought frames.
    #[inline]
    fn step(&mut self) {
        self.polls += 1;
        if self.polls == POLLS {
            self.polls = 0;
            self.look();
        }
    }

    fn look(&mut self) {
        let Some(diary) = self.diary else { return };
        let now = self.clock.ticks();
        if self.clock.ticks_to_ns(now.saturating_sub(self.last)) >= BEAT_NS {
            diary.write();
            self.last = now;
        }
    }
}

/// The device's main loop. It looks at the flag only between polls without a frame, so that
/// everything that was sent is forwarded before it ends.
pub(super) fn poll_until(
    mut worker: Worker<RingPort>,
    is_over: &AtomicBool,
    rally: &Rally,
    mut metronome: Metronome<'_>,
) {
    loop {
        rally.answer();
        if worker.poll() > 0 {
            metronome.step();
        } else {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            std::hint::spin_loop();
        }
    }
}

/// Ends the device's loop when it is dropped: also when the tester panics, for the device's thread
/// is waited for then, too.
pub(crate) struct Over<'a>(pub(crate) &'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_is_told_to_end_when_the_tester_panics() {
        let is_over = AtomicBool::new(false);
        let tester = std::panic::AssertUnwindSafe(|| {
            let _over = Over(&is_over);
            panic!("the tester");
        });
        assert!(std::panic::catch_unwind(tester).is_err() && is_over.load(Ordering::Relaxed));
    }
}
