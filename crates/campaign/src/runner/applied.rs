//! Which variant the device is set up with, so that a costly change is made only once.

use fwdlab_device::{Device, DeviceError, Proof, Request, Watch};

/// The variant that was applied last.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    variant: Option<String>,
    proof: Proof,
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
        *self = Self::default();
    }
}
