//! What the device is set up with, so that a costly change is made only once, and in which process.

use fwdlab_device::{Device, DeviceError, Proof, Request, Watch};
use fwdlab_results::{Blame, Failure, Results, Trial};

use super::end::{End, MOST_TESTBED_FAILURES};

/// The variant that was applied last, and the process of this campaign that it is in.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    variant: Option<String>,
    proof: Proof,
    /// Blocks in each process, where fresh ones are started.
    blocks_per_process: Option<u32>,
    /// Number of the latest process, from 1.
    process: u32,
    /// The blocks of the running process, as their place among those of all processes.
    turn: Option<u32>,
    /// Failures after each other of which tester or network are to blame.
    pub(super) testbed_failures: u32,
}

impl Applied {
    /// For a campaign with so many blocks in each process, of which `earlier` has run.
    pub(crate) fn new(blocks_per_process: Option<u32>, earlier: Option<&Results>) -> Self {
        let number = |trial: &Trial| trial.measured.environment.process;
        let trials = earlier.into_iter().flat_map(|own| own.trials.iter().chain(&own.repeated));
        let process = trials.filter_map(number).max().unwrap_or(0);
        Self { blocks_per_process, process, ..Self::default() }
    }

    /// Starts the process of that block, unless it is the running one; returns its number where
    /// there are processes.
    pub(crate) fn enter(
        &mut self,
        device: &mut dyn Device,
        block: u32,
    ) -> Result<Option<u32>, DeviceError> {
        let Some(blocks) = self.blocks_per_process else { return Ok(None) };
        let turn = block.saturating_sub(1) / blocks.max(1);
        if self.turn != Some(turn) {
            self.forget();
            self.process += 1;
            device.renew(self.process)?;
            self.turn = Some(turn);
        }
        Ok(Some(self.process))
    }

    /// Applies the variant of `request` for the trial of `name`, unless the device has it and takes long
    /// to set up; returns what it answered to the settings.
    pub(crate) fn apply(
        &mut self,
        device: &mut dyn Device,
        (name, request): (&str, &Request<'_>),
        watch: &mut Watch<'_>,
    ) -> Result<Proof, DeviceError> {
        let is_there = self.variant.as_deref() == Some(name);
        if !is_there || device.switch_cost().is_zero() {
            self.variant = None;
            self.proof = device.apply(request.variant, watch)?;
            self.variant = Some(name.to_owned());
        }
        Ok(self.proof.clone())
    }

    /// Nothing is known of the device any more, and its process may be gone.
    pub(crate) fn forget(&mut self) {
        (self.variant, self.proof, self.turn) = (None, Proof::default(), None);
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
