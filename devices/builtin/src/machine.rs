//! Time that a hypervisor took away from this machine (`steal` in /proc/stat, see proc(5)).

use std::fs;

/// Ticks of all processors so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessorTime {
    stolen: u64,
    total: u64,
}

impl ProcessorTime {
    /// Now; `None` where the system does not say.
    pub(super) fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Share of all processor time since then that was taken away, 0 to 1.
    pub(super) fn stolen_since(self) -> Option<f64> {
        Self::now()?.stolen_after(self)
    }

    fn stolen_after(self, before: Self) -> Option<f64> {
        let total = self.total.checked_sub(before.total).filter(|&ticks| ticks > 0)?;
        Some(self.stolen.checked_sub(before.stolen)? as f64 / total as f64)
    }

    /// The line `cpu user nice system idle iowait irq softirq steal guest guest_nice`; guest time
    /// is counted in user time already.
    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> =
            line.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
        Some(Self { stolen: *ticks.get(7)?, total: ticks.iter().sum() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_the_eighth_number_of_the_first_line() {
        let before = ProcessorTime::parse("cpu  10 0 10 70 0 0 0 10 5 0\ncpu0 1\n").expect("times");
        let after = ProcessorTime::parse("cpu  30 0 30 110 0 0 0 30 5 0\n").expect("times");
        assert_eq!(after.stolen_after(before), Some(0.2));
        assert_eq!(before.stolen_after(before), None);
        assert_eq!(ProcessorTime::parse("intr 1 2 3"), None);
    }
}
