//! The device: namespaces, programs and counters around each trial.

use std::sync::Arc;

use fwdlab_device::energy::Powercap;
use fwdlab_device::pulse::Pulse;
use fwdlab_device::turns::{names_absent, possible_cores};
use fwdlab_device::{
    Device, DeviceError, Facts, Proof, Request, Watch, whole_machine, without_whole_machine,
};
use fwdlab_experiment::{Experiment, Traffic, Variant};
use fwdlab_results::profile::Profiled;
use fwdlab_results::{Measure, Measured};
use fwdlab_topology::{Testbed, Topology};

use self::stand::shared_map;
use crate::LinuxError;
use crate::attempt;
use crate::core;
use crate::host;
use crate::loads;
use crate::probe::{try_af_xdp, try_live_frames};
use crate::settings::{LinuxSettings, RPS, TesterKind};
use crate::setup::{self, DEVICE, RouteTables};
use crate::streams;
use crate::tester;
use crate::tuning::Tuning;

/// The Linux kernel with its tester.
#[derive(Debug)]
pub(super) struct Namespaces {
    experiment: Arc<Experiment>,
    /// fwdlab's own router forwards in every variant.
    is_veth: bool,
    testbed: Testbed,
    tables: RouteTables,
    tuning: Tuning,
    core: Option<usize>,
    /// The tester of variants that name none.
    usual: TesterKind,
    /// Beats that the tester's program takes, and those of its thread.
    pulses: [Pulse; 2],
    /// What the variant that was applied last set, and the topology that it wanted.
    applied: Option<(LinuxSettings, Topology)>,
    powercap: Powercap,
}

impl Namespaces {
    /// Removes what earlier runs left and looks whether this machine can make namespaces.
    ///
    /// # Errors
    /// Without the privileges; the message names `fwdlab doctor`.
    pub(super) fn new(experiment: Arc<Experiment>, is_veth: bool) -> Result<Self, LinuxError> {
        let concerns_input = is_input_measured(&experiment, is_veth)?;
        tester::check_sessions(&experiment)?;
        streams::check(&experiment)?;
        let mut testbed = Testbed::new()?;
        let mut probe = Topology::default();
        probe.namespace(DEVICE);
        testbed.change_to(&probe)?;
        // Kernels before 5.18 have no live frames, and those before 4.18 no AF_XDP.
        let needs_sockets = |traffic: &Traffic| {
            let is_both = traffic.direction.is_both() && traffic.sessions.is_none();
            traffic.capture.is_some() || is_both || traffic.ports > 2
        };
        let are_sockets = experiment.traffics.iter().any(needs_sockets);
        let usual = if !are_sockets && try_live_frames().is_ok() {
            if concerns_input { TesterKind::Live } else { TesterKind::Inject }
        } else if try_af_xdp().is_ok() {
            TesterKind::AfXdp
        } else {
            TesterKind::AfPacket
        };
        let (tables, tuning) = (RouteTables::default(), Tuning::default());
        let (core, pulses) = (core::quietest(), Default::default());
        let applied = None;
        let powercap = Powercap::default();
        Ok(Self {
            experiment,
            is_veth,
            testbed,
            tables,
            tuning,
            core,
            usual,
            pulses,
            applied,
            powercap,
        })
    }
}

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
        Facts::of_device(own.into_iter().chain(host::settings()))
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
                attempt::a_few(&request, |short| {
                    self.trial(short, &mut Watch { on_interval: &mut |_| {}, stop })
                })?;
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

impl Namespaces {
    fn set_up(&mut self, variant: &Variant) -> Result<(), LinuxError> {
        self.applied = None;
        let mut settings = LinuxSettings::of(variant);
        settings.is_embedded |= self.is_veth;
        let mut wanted = setup::topology(&self.experiment, variant, &settings, &mut self.tables)?;
        let has_streams = streams::has_streams(&self.experiment);
        streams::furnish(&mut wanted, &self.experiment);
        self.testbed.change_to(&wanted)?;
        self.tuning.change_to(&mut self.testbed, &settings, has_streams)?;
        self.applied = Some((settings, wanted));
        Ok(())
    }

    /// The tester of a traffic.
    fn kind(&self, traffic: &Traffic, settings: &LinuxSettings) -> TesterKind {
        match traffic.sessions {
            Some(_) => TesterKind::Inject,
            None if loads::needs_overload(traffic) => TesterKind::Live,
            None => settings.tester.unwrap_or(self.usual),
        }
    }
}

/// Whether a variant changes how frames come in by the device's port.
fn is_input_measured(experiment: &Experiment, is_veth: bool) -> Result<bool, LinuxError> {
    let mut is_measured = is_veth;
    for variant in &experiment.variants {
        let settings = LinuxSettings::of(variant);
        let concerns_input = is_veth || settings.concerns_input();
        if concerns_input && settings.tester == Some(TesterKind::Inject) {
            let what = format!(
                "{}: variant {}: tester = \"inject\" puts frames past the device's port, whose input \
                 this variant changes; write tester = \"live\"",
                experiment.path.display(),
                variant.name
            );
            return Err(LinuxError::Setup { what });
        }
        if let Some(text) = variant.set.get(RPS)
            && names_absent(settings.rps, &possible_cores())
        {
            let place = setup::place_of(experiment, RPS, text);
            let what = format!(
                "{place}: variant {}: rps = {text:?} names processors that are not there; this machine has {}",
                variant.name,
                possible_cores()
            );
            return Err(LinuxError::Setup { what });
        }
        is_measured |= concerns_input;
    }
    Ok(is_measured)
}

mod figures;
mod proof;
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
