//! Which variant the device is set up with, so that a costly change is made only once.

use fwdlab_device::{Device, DeviceError, Proof, Request, Watch};
use fwdlab_results::{Blame, Failure};

use super::end::{End, MOST_TESTBED_FAILURES};

/// The variant that was applied last.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    variant: Option<String>,
    proof: Proof,
    /// Failures after each other of which tester or network are to blame.
    pub(super) testbed_failures: u32,
}

impl Applied {
    /// Applies the variant of `request`, unless the device has it and takes long to set up; returns
    /// what it answered to the settings.
    pub(crate) fn apply(
        &mut self,
        device: &mut dyn Device,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Proof, DeviceError> {
        let wanted = &request.variant.name;
        let is_there = self.variant.as_ref() == Some(wanted);
        if !is_there || device.switch_cost().is_zero() {
            self.forget();
            self.proof = device.apply(request.variant, watch)?;
            self.variant = Some(wanted.clone());
        }
        Ok(self.proof.clone())
    }

    /// Nothing is known of the device any more.
    pub(crate) fn forget(&mut self) {
        self.variant = None;
        self.proof = Proof::new();
    }

    /// Notes a failure; says how the campaign ends when it makes no sense to go on.
    pub(crate) fn end_after(
        &mut self,
        error: &DeviceError,
        failure: Option<&Failure>,
    ) -> Option<End> {
        let why = error.to_string();
        if matches!(error, DeviceError::Configuration(_)) {
            return Some(End::Misconfigured { why });
        }
        let is_testbed = failure.is_some_and(|failure| failure.kind.blame() == Blame::Testbed);
        self.testbed_failures = if is_testbed { self.testbed_failures + 1 } else { 0 };
        let is_broken = self.testbed_failures >= MOST_TESTBED_FAILURES;
        is_broken.then_some(End::TestbedBroken { why })
    }
}
