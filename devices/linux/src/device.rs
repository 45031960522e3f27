//! The device: namespaces, programs and counters around each trial.

use std::sync::Arc;

use fwdlab_device::{
    Device, DeviceError, Facts, Proof, Request, Watch, host, moment, whole_machine,
    without_whole_machine,
};
use fwdlab_experiment::{Traffic, Variant};
use fwdlab_results::profile::Profiled;
use fwdlab_results::{Measure, Measured};

pub(crate) use self::namespaces::Namespaces;
use self::stand::shared_map;
use crate::LinuxError;
use crate::settings::TesterKind;
use crate::tester;

impl Device for Namespaces {
    fn facts(&self) -> Facts {
        let cores = match self.core {
            Some(core) => format!("tester and device share core {core}"),
            None => "tester and device are not pinned".to_owned(),
        };
        let topology = match self.usual {
            TesterKind::Inject => "sender - device's stack - veth - receiver, one queue each way",
            _ => "sender - veth - device - veth - receiver, one queue each way",
        };
        let own = [
            ("cores", cores),
            ("tester", tester::title(self.usual).to_owned()),
            ("topology", topology.to_owned()),
        ];
        Facts::of_device(own.into_iter().chain(host::settings()).chain(self.powercap.fact()))
    }

    /// What the variant wants of the topology; what can be read back is read while a trial runs,
    /// when its programs are attached.
    fn apply(&mut self, variant: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        self.set_up(variant)?;
        Ok(Proof::new())
    }

    /// Makes what runs in a trial, too: programs and sockets are refused only then. And sends a few
    /// frames: where none comes back, none would in any block.
    fn preflight(
        &mut self,
        variant: &Variant,
        watch: &mut Watch<'_>,
    ) -> Result<Proof, DeviceError> {
        self.set_up(variant)?;
        let mut answers = Proof::new();
        let experiment = Arc::clone(&self.experiment);
        for traffic in &experiment.traffics {
            let (settings, wanted) = self.applied.clone().unwrap_or_default();
            let request = Request { experiment: &experiment, variant, traffic };
            if traffic.streams.is_some() {
                answers.extend(self.proof(&request, &settings, &wanted, None)?);
                continue;
            }
            let kind = self.kind(traffic, &settings);
            let shared = shared_map()?;
            answers.extend(self.stand(&request, kind, &shared, (&settings, &wanted))?.proof);
            if traffic.sessions.is_none() {
                let stop = watch.stop;
                let fault = moment::a_few(&request, |short| {
                    self.trial(short, &mut Watch { on_interval: &mut |_| {}, stop })
                })?;
                if let Some(what) = fault {
                    return Err(LinuxError::Setup { what }.into());
                }
            }
        }
        Ok(answers)
    }

    fn measure(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        Ok(self.trial(request, watch)?)
    }

    /// As of any device, but for sessions and streams: they are warmed up by what is measured of them. A round of sessions
    /// that come and go takes longer, and does other work.
    fn warm_up(&mut self, trial: &Request<'_>, watch: &mut Watch<'_>) -> Result<(), DeviceError> {
        let experiment = trial.experiment.of_warm_up();
        let has_own = trial.traffic.sessions.is_some() || trial.traffic.streams.is_some();
        let measure = if has_own { trial.traffic.measure } else { Measure::Rate };
        let traffic = Traffic { measure, ..trial.traffic.clone() };
        let alone = Request { experiment: &experiment, variant: trial.variant, traffic: &traffic };
        let mut silent = Watch { on_interval: &mut |_| {}, stop: watch.stop };
        self.measure(&alone, &mut silent).map(drop)
    }

    fn without_profiles(&self) -> Option<&'static str> {
        without_whole_machine()
    }

    /// Device and tester are this machine.
    fn profile(
        &mut self,
        request: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        whole_machine(frequency_hz, || self.measure(request, watch))
    }
}

mod figures;
mod namespaces;
mod proof;
mod running;
mod stand;
mod trial;

#[cfg(test)]
mod convergence_tests;
#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod mesh_tests;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod stop_tests;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;
