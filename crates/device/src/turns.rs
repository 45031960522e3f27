//! Whether tester and device had their processors while a load was offered: what is lost or late while others
//! have them is no loss of the device's.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fwdlab_results::TrialEnvironment;

/// A load is offered so many times in all until tester and device had their processors.
const ATTEMPTS: u32 = 4;
/// So many loads of a trial are offered again, all together.
const AGAIN: u32 = 24;
/// What takes longer is not offered again.
const LONGEST: Duration = Duration::from_secs(10);
/// A load that lost frames says so of the device only when others had less than the rest of its time: a few
/// milliseconds are enough for a loss.
const LEAST_OF_LOSS: f64 = 0.97;

/// How long a thread ran, and how long it waited for a processor, in ns: proc(5), `schedstat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    ran_ns: u64,
    waited_ns: u64,
}

impl Turns {
    /// Of the calling thread, so far; nothing where the kernel does not say.
    pub fn own() -> Option<Self> {
        Self::read(Path::new("/proc/thread-self/schedstat"))
    }

    fn read(file: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(file).ok()?)
    }

    /// From what the kernel writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().map(|word| word.parse().ok());
        Some(Self { ran_ns: numbers.next()??, waited_ns: numbers.next()?? })
    }

    /// How long it waited for a processor since then.
    pub fn waited_since(&self, before: &Self) -> Duration {
        Duration::from_nanos(self.waited_ns.saturating_sub(before.waited_ns))
    }

    /// The share of the time since then in which it ran, of that in which it could have run.
    pub fn share_since(&self, before: &Self) -> Option<f64> {
        let ran = self.ran_ns.checked_sub(before.ran_ns)?;
        let wanted = ran + self.waited_ns.checked_sub(before.waited_ns)?;
        (wanted > 0).then(|| ran as f64 / wanted as f64)
    }
}

/// The processors that this machine may have, as the kernel says it: `0-1`.
pub fn possible_cores() -> String {
    let text = fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    text.trim().to_owned()
}

/// Whether a mask has processors beyond the last one that is possible.
pub fn names_absent(mask: u64, possible: &str) -> bool {
    let last = possible.rsplit(['-', ',']).next().and_then(|last| last.parse::<u32>().ok());
    last.is_some_and(|last| last < u64::BITS - 1 && mask >> (last + 1) != 0)
}

/// The calling thread's share of the time since then in which it could run.
pub fn own_share_since(before: Option<Turns>) -> Option<f64> {
    before.and_then(|before| Turns::own()?.share_since(&before))
}

/// The smaller of two shares; the one that is known.
pub fn least(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::min)
}

/// The kernel's threads that do the device's work when it is more than an interrupt may do, of some processors.
#[derive(Clone, Debug, Default)]
pub struct Workers(Vec<PathBuf>);

impl Workers {
    /// Of the processors of a mask; none where they cannot be seen (another process namespace).
    pub fn of(mask: u64) -> Self {
        let is_wanted = |name: &str| {
            let number = name.trim().strip_prefix("ksoftirqd/").and_then(|n| n.parse::<u32>().ok());
            number.is_some_and(|cpu| cpu < u64::BITS && mask & 1 << cpu != 0)
        };
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let found = processes.map(|entry| entry.path()).filter(|path| {
            fs::read_to_string(path.join("comm")).is_ok_and(|name| is_wanted(&name))
        });
        Self(found.map(|path| path.join("schedstat")).collect())
    }

    /// How long they waited for a processor so far, in ns, each.
    pub fn waited_ns(&self) -> Vec<u64> {
        self.0.iter().map(|file| Turns::read(file).map_or(0, |turns| turns.waited_ns)).collect()
    }

    /// The share of `passed` in which none of them waited for a processor, since they had waited for `before`.
    pub fn share_since(&self, before: &[u64], passed: Duration) -> Option<f64> {
        let waited = self
            .waited_ns()
            .iter()
            .zip(before)
            .map(|(now, then)| now.saturating_sub(*then))
            .max()?;
        let passed = passed.as_nanos() as f64;
        (passed > 0.0).then(|| (1.0 - waited as f64 / passed).max(0.0))
    }
}

/// Which loads of a trial have to be offered again, and the least share that those had which count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Again {
    attempts: u32,
    all: u32,
    least: Option<f64>,
}

/// What is to be done with what came of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Use {
    /// It counts.
    Counts,
    /// It says nothing about the device; once more.
    Again,
    /// It never said anything about the device.
    Crowded(f64),
}

impl Again {
    /// The least share of the loads that count.
    pub const fn least(&self) -> Option<f64> {
        self.least
    }

    /// What becomes of a load that took so long, in which tester and device had this share of their
    /// processors, and whether it lost frames.
    pub fn judge(&mut self, share: Option<f64>, took: Duration, has_lost: bool) -> Use {
        let least_share = TrialEnvironment::LEAST_CORE_SHARE;
        let wanted = if has_lost { LEAST_OF_LOSS } else { least_share };
        let is_short = took <= LONGEST;
        self.attempts += 1;
        let Some(low) = share.filter(|share| *share < wanted) else { return self.counts(share) };
        if is_short && self.attempts < ATTEMPTS && self.all < AGAIN {
            self.all += 1;
            return Use::Again;
        }
        if is_short && low < least_share {
            return Use::Crowded(low);
        }
        self.counts(share)
    }

    /// Takes note of the share of something that counts.
    pub fn note(&mut self, share: Option<f64>) {
        self.attempts = 0;
        self.least = least(self.least, share);
    }

    fn counts(&mut self, share: Option<f64>) -> Use {
        self.note(share);
        Use::Counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(100);

    #[test]
    fn a_thread_that_waits_for_its_processor_has_a_share_of_it() {
        let before = Turns::parse("1000 500 7\n").expect("times");
        let after = Turns::parse("4000 1500 9\n").expect("times");
        assert_eq!(after.share_since(&before), Some(0.75));
        assert_eq!(before.share_since(&before), None);
        assert_eq!(Turns::parse("1000"), None);
        assert_eq!(least(None, Some(0.5)), Some(0.5));
        assert_eq!(least(Some(0.25), Some(0.5)), Some(0.25));
    }

    #[test]
    fn a_load_without_a_processor_is_offered_again_and_never_counts() {
        let mut again = Again::default();
        for _ in 1..ATTEMPTS {
            assert_eq!(again.judge(Some(0.3), SHORT, true), Use::Again);
        }
        assert_eq!(again.judge(Some(0.3), SHORT, true), Use::Crowded(0.3));
        assert_eq!(again.least(), None);
    }

    #[test]
    fn a_load_with_its_processor_counts_with_its_share() {
        let mut again = Again::default();
        assert_eq!(again.judge(Some(0.3), SHORT, false), Use::Again);
        assert_eq!(again.judge(Some(0.95), SHORT, false), Use::Counts);
        // With a loss it is the machine's perhaps; if it is lost each time, it is the device's.
        for _ in 1..ATTEMPTS {
            assert_eq!(again.judge(Some(0.95), SHORT, true), Use::Again);
        }
        assert_eq!(again.judge(Some(0.94), SHORT, true), Use::Counts);
        assert_eq!(again.judge(None, SHORT, true), Use::Counts);
        assert_eq!(again.least(), Some(0.94));
    }

    #[test]
    fn what_takes_long_is_not_offered_again_and_its_share_is_told() {
        let mut again = Again::default();
        assert_eq!(again.judge(Some(0.3), 2 * LONGEST, true), Use::Counts);
        assert_eq!(again.least(), Some(0.3));
    }

    #[test]
    fn processors_that_are_not_there_take_no_frames_over() {
        assert!(names_absent(0xf, "0-1") && !names_absent(3, "0-1"));
        assert!(!names_absent(1, "0") && !names_absent(u64::MAX, "0-63"));
        assert!(!names_absent(0xf, ""));
    }
}
