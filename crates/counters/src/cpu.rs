//! Where processor time went, by /proc/stat (proc(5)); in ticks of usually 10 ms.

use std::fs;
use std::io;

/// Ticks of all processors so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    total: u64,
    softirq: u64,
    steal: u64,
}

impl CpuTime {
    /// Nanoseconds of a tick: /proc/stat counts in USER_HZ, which is 100 for every architecture.
    pub const TICK_NS: u64 = 10_000_000;

    /// Those of this machine, now.
    ///
    /// # Errors
    /// /proc/stat cannot be read, or is not of this form.
    pub fn now() -> io::Result<Self> {
        let text = fs::read_to_string("/proc/stat")?;
        Self::parse(&text).ok_or_else(|| io::Error::other("/proc/stat has no line cpu"))
    }

    /// The line `cpu user nice system idle iowait irq softirq steal ...`.
    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> =
            line.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
        Some(Self { total: ticks.iter().sum(), softirq: *ticks.get(6)?, steal: *ticks.get(7)? })
    }

    /// Nanoseconds spent in soft interrupts since then, on all processors.
    pub fn softirq_ns_since(&self, before: &Self) -> u64 {
        self.softirq.saturating_sub(before.softirq) * Self::TICK_NS
    }

    /// Share of all time since then that a hypervisor took away, 0 to 1.
    pub fn steal_since(&self, before: &Self) -> Option<f64> {
        let total = self.total.checked_sub(before.total).filter(|&ticks| ticks > 0)?;
        Some(self.steal.saturating_sub(before.steal) as f64 / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_interrupts_are_the_seventh_number_and_stolen_time_the_eighth() {
        let before = CpuTime::parse("cpu  10 0 10 70 0 0 5 5 0 0\ncpu0 1\n").expect("times");
        let after = CpuTime::parse("cpu  20 0 10 130 0 0 25 15 0 0\n").expect("times");
        assert_eq!(after.softirq_ns_since(&before), 20 * CpuTime::TICK_NS);
        assert_eq!(after.steal_since(&before), Some(0.1));
        assert_eq!(CpuTime::parse("intr 1"), None);
    }
}
