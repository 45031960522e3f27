//! Settings that the control side may change while workers run: one relaxed load each per poll.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Control word of the injected slowdown.
pub(crate) const EXTRA_NS_WORD: &str = "fwdlab.device.extra_ns_per_frame";

/// The settings.
#[derive(Debug, Default)]
pub(crate) struct Knobs {
    extra_ns_per_frame: AtomicU64,
}

impl Knobs {
    /// Nanoseconds that a worker burns for each frame on top of its work; 0 is off.
    pub(crate) fn extra_ns_per_frame(&self) -> u64 {
        self.extra_ns_per_frame.load(Relaxed)
    }

    pub(crate) fn set_extra_ns_per_frame(&self, ns: u64) {
        self.extra_ns_per_frame.store(ns, Relaxed);
    }
}
