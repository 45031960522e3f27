//! When pending changes are brought to readers by a rebuild, and when another algorithm is looked
//! for. Pure functions of the times and counts that are passed in.
//!
//! The rules and defaults are those of FreeBSD's `net.route.algo`: changes are collected for a
//! bucket of time; when more come in during the bucket than the threshold rate, the rebuild waits for
//! the next bucket, but never longer than the largest delay.

use std::time::Duration;

/// Changes after which another algorithm is looked for at once.
const EVALUATE_AFTER_CHANGES: u64 = 100;
/// Time after a change after which another algorithm is looked for.
const EVALUATE_AFTER: Duration = Duration::from_secs(30);

/// When pending changes lead to a rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncPolicy {
    /// `bucket_time_ms`: how long changes are collected.
    pub bucket_time: Duration,
    /// `bucket_change_threshold_rate`, in routes per second: at this rate and above the rebuild
    /// waits for another bucket.
    pub bucket_change_threshold_rate: u32,
    /// `fib_max_sync_delay_ms`: how long a change may wait at most.
    pub fib_max_sync_delay: Duration,
}

impl Default for SyncPolicy {
    fn default() -> Self {
        Self {
            bucket_time: Duration::from_millis(50),
            bucket_change_threshold_rate: 500,
            fib_max_sync_delay: Duration::from_millis(1000),
        }
    }
}

/// Changes that readers do not see yet.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pending {
    is_pending: bool,
    /// Changes since the last tick.
    fresh: u64,
    times: Option<Times>,
}

#[derive(Debug, Clone, Copy)]
struct Times {
    /// When the first pending change was noticed.
    since: Duration,
    bucket_start: Duration,
    bucket_changes: u64,
    due: Duration,
}

impl Pending {
    pub(super) fn is_pending(&self) -> bool {
        self.is_pending
    }

    /// Notes changes that wait for a rebuild.
    pub(super) fn note(&mut self, changes: u64) {
        self.is_pending = true;
        self.fresh += changes;
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Moves the due time, after a failure.
    pub(super) fn postpone(&mut self, now: Duration, until: Duration) {
        let times = Times { since: now, bucket_start: now, bucket_changes: 0, due: until };
        *self = Self { is_pending: true, fresh: 0, times: Some(times) };
    }

    /// When the rebuild is due, if a tick has set it.
    pub(super) fn due(&self) -> Option<Duration> {
        self.times.map(|times| times.due)
    }

    /// Tells the time; returns whether the rebuild is due.
    pub(super) fn tick(&mut self, now: Duration, policy: &SyncPolicy) -> bool {
        if !self.is_pending {
            return false;
        }
        let fresh = std::mem::take(&mut self.fresh);
        let times = self.times.get_or_insert(Times {
            since: now,
            bucket_start: now,
            bucket_changes: 0,
            due: now + policy.bucket_time,
        });
        times.bucket_changes += fresh;
        let elapsed = now.saturating_sub(times.bucket_start);
        if elapsed >= policy.bucket_time && !elapsed.is_zero() {
            let rate = times.bucket_changes as f64 / elapsed.as_secs_f64();
            if rate >= f64::from(policy.bucket_change_threshold_rate) {
                let latest = times.since + policy.fib_max_sync_delay;
                times.due = times.due.max((now + policy.bucket_time).min(latest));
            }
            times.bucket_start = now;
            times.bucket_changes = 0;
        }
        now >= times.due
    }
}

/// Changes since another algorithm was looked for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evaluation {
    changes: u64,
    since: Option<Duration>,
}

impl Evaluation {
    pub(super) fn note(&mut self, changes: u64) {
        self.changes += changes;
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Tells the time; returns whether it is time to look for another algorithm.
    pub(super) fn tick(&mut self, now: Duration) -> bool {
        if self.changes == 0 {
            return false;
        }
        let since = *self.since.get_or_insert(now);
        self.changes >= EVALUATE_AFTER_CHANGES || now.saturating_sub(since) >= EVALUATE_AFTER
    }

    pub(super) fn due(&self) -> Option<Duration> {
        self.since.map(|since| since + EVALUATE_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: SyncPolicy = SyncPolicy {
        bucket_time: ms(50),
        bucket_change_threshold_rate: 500,
        fib_max_sync_delay: ms(1000),
    };

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Time at which the rebuild is due when `per_ms` changes arrive in each millisecond.
    fn due_at(per_ms: u64) -> u64 {
        let mut pending = Pending::default();
        pending.note(1);
        (0..5000)
            .find(|&now| {
                pending.note(per_ms);
                pending.tick(ms(now), &POLICY)
            })
            .unwrap()
    }

    #[test]
    fn a_single_change_waits_for_one_bucket() {
        assert_eq!(due_at(0), 50);
    }

    #[test]
    fn a_flood_waits_until_the_largest_delay() {
        assert_eq!(due_at(1), 1000);
        assert_eq!(due_at(100), 1000);
    }

    #[test]
    fn a_burst_waits_until_its_bucket_is_over() {
        let mut pending = Pending::default();
        pending.note(10_000);
        assert!(!pending.tick(ms(0), &POLICY));
        assert!(!pending.tick(ms(50), &POLICY));
        assert!(!pending.tick(ms(99), &POLICY));
        assert!(pending.tick(ms(100), &POLICY));
    }

    #[test]
    fn nothing_is_due_without_changes() {
        let mut pending = Pending::default();
        assert!(!pending.tick(ms(100_000), &POLICY));
        let mut evaluation = Evaluation::default();
        assert!(!evaluation.tick(ms(100_000)));
    }

    #[test]
    fn evaluation_comes_after_a_hundred_changes_or_thirty_seconds() {
        let mut evaluation = Evaluation::default();
        evaluation.note(99);
        assert!(!evaluation.tick(ms(0)));
        assert!(!evaluation.tick(ms(29_999)));
        assert!(evaluation.tick(ms(30_000)));
        evaluation.clear();
        evaluation.note(100);
        assert!(evaluation.tick(ms(30_001)));
    }

    #[test]
    fn a_clock_that_goes_backwards_does_no_harm() {
        let mut pending = Pending::default();
        pending.note(1);
        assert!(!pending.tick(ms(1000), &POLICY));
        assert!(!pending.tick(ms(10), &POLICY));
        assert!(pending.tick(ms(1050), &POLICY));
    }
}
