//! Samples of the kernel by itself.

use std::collections::BTreeMap;

use fwdlab_port::profile::Profiler;

use super::Result;
use crate::channel::ProfileCounts;
use crate::symbols::Symbols;

/// A profile while it is taken.
pub(super) struct Profile {
    profiler: Profiler,
    symbols: Symbols,
}

impl Profile {
    /// Samples the only processor every `period_ns` from now on.
    pub(super) fn start(period_ns: u64) -> Result<Self> {
        samples_between_ticks(&std::fs::read_to_string(TIMERS).unwrap_or_default())?;
        let symbols = Symbols::read()?;
        let profiler = Profiler::start(0, period_ns).map_err(words)?;
        Ok(Self { profiler, symbols })
    }

    /// Ends sampling and counts the device's samples by stack.
    pub(super) fn finish(self) -> Result<ProfileCounts> {
        let samples = self.profiler.stop().map_err(words)?;
        let mut counts = ProfileCounts {
            samples: samples.chains.len() as u64,
            lost: samples.lost,
            stacks: BTreeMap::new(),
        };
        for stack in samples.chains.iter().filter_map(|chain| self.symbols.stack(chain)) {
            *counts.stacks.entry(stack).or_default() += 1;
        }
        Ok(counts)
    }
}

/// What a kernel says of its timers.
const TIMERS: &str = "/proc/timer_list";

/// Refuses a kernel whose clocks all strike at its ticks: the same few moments are sampled again and again.
fn samples_between_ticks(timers: &str) -> Result<()> {
    let mut lines = timers.lines().filter_map(|line| line.split_once(':'));
    match lines.any(|(name, value)| name.trim() == ".hres_active" && value.trim() == "0") {
        true => Err("cannot sample the kernel between its ticks: it needs CONFIG_HIGH_RES_TIMERS"
            .to_owned()),
        false => Ok(()),
    }
}

fn words(error: std::io::Error) -> String {
    format!("cannot sample the kernel: {error}; it needs CONFIG_PERF_EVENTS")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16 functions "differed" where one had changed: of 352 samples 330 were the same moments again.
    #[test]
    fn a_kernel_that_samples_at_its_ticks_alone_is_refused() {
        let said =
            |active| format!("cpu: 0\n  .expires_next   : 9 nsecs\n  .hres_active    : {active}\n");
        assert!(samples_between_ticks(&said(1)).is_ok());
        let why = samples_between_ticks(&said(0)).expect_err("at ticks alone");
        assert!(why.contains("CONFIG_HIGH_RES_TIMERS"), "{why}");
        assert!(samples_between_ticks("").is_ok(), "nothing is known");
    }
}
