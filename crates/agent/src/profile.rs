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

fn words(error: std::io::Error) -> String {
    format!("cannot sample the kernel: {error}; it needs CONFIG_PERF_EVENTS")
}
