//! Stands where the device's thread is sampled, in a build without a sampler.

/// Samples nothing.
pub(super) struct Probe;

impl Probe {
    /// For a measured trial.
    pub(super) const fn none() -> Self {
        Self
    }

    /// Does the work.
    pub(super) fn around(&self, work: impl FnOnce()) {
        work();
    }
}
