//! Samples the device's thread in trials that are profiled, and does nothing in the others.

use std::collections::BTreeMap;
use std::sync::Mutex;

use fwdlab_port::PortError;
use fwdlab_port::sampler::{Sampler, Samples};

use fwdlab_results::profile::{Stacks, frame_name};

/// Where the part of a stack begins that is the device's: what lies further out is how a thread
/// starts.
const OUTERMOST: &str = "poll_until";

/// Samples, or nothing.
pub(super) struct Probe {
    frequency_hz: Option<u32>,
    found: Mutex<Option<Result<Samples, PortError>>>,
}

impl Probe {
    /// For a measured trial.
    pub(super) const fn none() -> Self {
        Self { frequency_hz: None, found: Mutex::new(None) }
    }

    /// For a profiled trial.
    pub(super) const fn sampling(frequency_hz: u32) -> Self {
        Self { frequency_hz: Some(frequency_hz), found: Mutex::new(None) }
    }

    /// Does `work` on this thread and samples it meanwhile, if this probe samples.
    pub(super) fn around(&self, work: impl FnOnce()) {
        let Some(frequency_hz) = self.frequency_hz else { return work() };
        let sampler = Sampler::start(frequency_hz);
        work();
        let samples = sampler.map(Sampler::stop);
        if let Ok(mut found) = self.found.lock() {
            *found = Some(samples);
        }
    }

    /// The stacks, once the work is done.
    pub(super) fn stacks(self) -> Result<Stacks, PortError> {
        let found = self.found.into_inner().unwrap_or_default();
        let samples = found.transpose()?.unwrap_or_default();
        let mut stacks = BTreeMap::new();
        for (stack, count) in samples.stacks {
            let begin = stack.iter().position(|name| name.contains(OUTERMOST)).unwrap_or(0);
            let names: Vec<String> = stack[begin..].iter().map(|name| frame_name(name)).collect();
            *stacks.entry(names.join(";")).or_insert(0) += count;
        }
        Ok(stacks)
    }
}
