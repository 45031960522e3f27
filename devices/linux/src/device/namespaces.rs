//! The namespaces in which kernel and tester run, as a variant wants them.

use std::sync::Arc;

use fwdlab_device::energy::Powercap;
use fwdlab_device::pulse::Pulse;
use fwdlab_device::quietest;
use fwdlab_device::turns::{names_absent, possible_cores};
use fwdlab_experiment::{Experiment, Traffic, Variant};
use fwdlab_topology::{Testbed, Topology, tracking};

use crate::LinuxError;
use crate::loads;
use crate::probe::{try_af_xdp, try_live_frames};
use crate::settings::{LinuxSettings, RPS, TesterKind};
use crate::setup::{self, DEVICE, RouteTables};
use crate::streams;
use crate::tester;
use crate::tuning::Tuning;

/// The Linux kernel with its tester.
#[derive(Debug)]
pub(crate) struct Namespaces {
    pub(super) experiment: Arc<Experiment>,
    /// fwdlab's own router forwards in every variant.
    pub(super) is_veth: bool,
    pub(super) testbed: Testbed,
    pub(super) tables: RouteTables,
    pub(super) tuning: Tuning,
    pub(super) core: Option<usize>,
    /// The tester of variants that name none.
    pub(super) usual: TesterKind,
    /// Beats that the tester's program takes, and those of its thread.
    pub(super) pulses: [Pulse; 2],
    /// What the variant that was applied last set, and the topology that it wanted.
    pub(super) applied: Option<(LinuxSettings, Topology)>,
    pub(crate) powercap: Powercap,
}

impl Namespaces {
    /// Removes what earlier runs left and looks whether this machine can make namespaces.
    ///
    /// # Errors
    /// Without the privileges; the message names `fwdlab doctor`.
    pub(crate) fn new(experiment: Arc<Experiment>, is_veth: bool) -> Result<Self, LinuxError> {
        let concerns_input = is_input_measured(&experiment, is_veth)?;
        streams::check(&experiment)?;
        tester::check_latency(&experiment)?;
        let mut testbed = Testbed::new()?;
        check_rooms(&experiment, &mut testbed)?;
        tester::check_sessions(&experiment)?;
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
        let (core, pulses) = (quietest(), Default::default());
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

impl Namespaces {
    pub(super) fn set_up(&mut self, variant: &Variant) -> Result<(), LinuxError> {
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
    pub(super) fn kind(&self, traffic: &Traffic, settings: &LinuxSettings) -> TesterKind {
        match traffic.sessions {
            Some(_) => TesterKind::Inject,
            None if loads::needs_overload(traffic) => TesterKind::Live,
            None => settings.tester.unwrap_or(self.usual),
        }
    }
}

/// Sets the room for sessions of each variant that has one. Where a namespace cannot, that is why the sessions do not
/// fill its table, and it is said before.
fn check_rooms(experiment: &Experiment, testbed: &mut Testbed) -> Result<(), LinuxError> {
    // A kernel without a table yet has no such words.
    if tracking::room().is_err() {
        return Ok(());
    }
    for variant in &experiment.variants {
        let mut sysctls = LinuxSettings::of(variant).sysctls;
        sysctls.retain(|word, _| tracking::is_room(word));
        if sysctls.is_empty() {
            continue;
        }
        let mut probe = Topology::default();
        probe.namespace(DEVICE).sysctls = sysctls;
        testbed.change_to(&probe).map_err(|error| LinuxError::Setup {
            what: experiment.blame(&variant.name, &error.to_string()),
        })?;
    }
    Ok(())
}

/// Whether a variant changes how frames come in by the device's port.
fn is_input_measured(experiment: &Experiment, is_veth: bool) -> Result<bool, LinuxError> {
    let mut is_measured = is_veth;
    for variant in &experiment.variants {
        let settings = LinuxSettings::of(variant);
        let concerns_input = is_veth || settings.concerns_input();
        if concerns_input && settings.tester == Some(TesterKind::Inject) {
            let why = "tester = \"inject\" puts frames past the device's port, whose input this variant changes; write \
                       tester = \"live\"";
            return Err(LinuxError::Setup { what: experiment.blame(&variant.name, why) });
        }
        if let Some(text) = variant.set.get(RPS)
            && names_absent(settings.rps, &possible_cores())
        {
            let place = setup::place_of(experiment, RPS, text);
            let what = format!(
                "{place}: variant {}: rps = {text:?} names processors that are not there; this machine has {}, each a bit \
                 from the lowest on: \"1\" is the first alone",
                variant.name,
                possible_cores()
            );
            return Err(LinuxError::Setup { what });
        }
        is_measured |= concerns_input;
    }
    Ok(is_measured)
}
