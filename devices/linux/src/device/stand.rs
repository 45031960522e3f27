//! What runs while frames are sent: tester, router, and the program on the device's input.

use fwdlab_device::Request;
use fwdlab_experiment::Experiment;
use fwdlab_port::{SocketKind, affinity};
use fwdlab_topology::{Topology, TopologyError, port_name};
use fwdlab_xdp::Shared;
use fwdlab_xdp::device::{self, Input};

use super::namespaces::Namespaces;
use super::running::{Guard, Running, Standing};
use crate::LinuxError;
use crate::embedded::Embedded;
use crate::object::Object;
use crate::settings::{LinuxSettings, TesterKind, Xdp};
use crate::setup::{self, DEVICE};
use crate::tester::{self, Tester};

impl Namespaces {
    /// Makes all that runs while frames are sent, in the topology of a variant that was applied, and
    /// asks it what is set.
    pub(super) fn stand<'a>(
        &mut self,
        request: &Request<'_>,
        kind: TesterKind,
        shared: &'a Shared,
        (settings, wanted): (&LinuxSettings, &Topology),
    ) -> Result<Standing<'a>, LinuxError> {
        let tester = Tester::new(kind, &mut self.testbed, shared, request)?;
        let embedded = match settings.is_embedded {
            true => Some(self.start_router(request, settings)?),
            false => None,
        };
        let has_ports = embedded.as_ref().is_some_and(|router| router.sockets == SocketKind::Xdp);
        let input = match !has_ports && needs_program(kind, settings) {
            true => Some(self.attach_input(request.experiment, settings, shared)?),
            false => None,
        };
        self.tuning.place(&self.testbed, settings)?;
        let running =
            Running { tester: &tester, embedded: embedded.as_ref(), input: input.as_ref() };
        let proof = self.proof(request, settings, wanted, Some(&running))?;
        Ok(Standing { tester, embedded, input, proof })
    }

    /// Starts fwdlab's router in the device's namespace, on another core than the tester's.
    fn start_router(
        &self,
        request: &Request<'_>,
        settings: &LinuxSettings,
    ) -> Result<Embedded, LinuxError> {
        let core = affinity::beside(self.core, "the built-in router")?;
        Embedded::start(&self.testbed, request, settings, core)
    }

    /// Puts a program on the device's input; it stays as long as the result lives.
    pub(super) fn attach_input(
        &mut self,
        experiment: &Experiment,
        settings: &LinuxSettings,
        shared: &Shared,
    ) -> Result<Guard, LinuxError> {
        let interface = self.testbed.interface_index(DEVICE, &port_name(0))?;
        let object = match &settings.xdp {
            Xdp::File(file) => {
                let path = setup::beside(&experiment.path, file);
                Some(Object::load(&mut self.testbed, &path)?)
            }
            Xdp::None | Xdp::Forward => None,
        };
        let (input, work) = match (&object, &settings.xdp) {
            (Some(object), Xdp::File(file)) => {
                (Input::Program(&object.table), file.display().to_string())
            }
            (_, Xdp::Forward) => (Input::Forward, "forward".to_owned()),
            _ => (Input::Stack, "none".to_owned()),
        };
        let program = device::load(shared, input)
            .map_err(TopologyError::kernel("load the XDP program of the device's input"))?;
        let link = tester::attach(&self.testbed, DEVICE, interface, &program)?;
        Ok(Guard { _link: link, _program: program, object, work })
    }
}

/// The map by which the programs of a trial tell each other what they saw.
pub(super) fn shared_map() -> Result<Shared, LinuxError> {
    Ok(Shared::new().map_err(TopologyError::kernel("make a map that programs share"))?)
}

/// Whether a program stands on the device's input. Frames of sockets have too little room in front
/// for one, so that the kernel copies each of them before it runs: only where it is asked for.
fn needs_program(kind: TesterKind, settings: &LinuxSettings) -> bool {
    match kind {
        TesterKind::Inject | TesterKind::Live => true,
        TesterKind::AfXdp | TesterKind::AfPacket => settings.xdp != Xdp::None || settings.threaded,
        TesterKind::Naive => false,
    }
}
