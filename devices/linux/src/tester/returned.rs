//! Frames that come back to their senders: they left the device by the side from which they had come, and nothing else
//! would tell them from frames that rules or programs dropped.

use fwdlab_port::bpf::{Map, Program, XdpLink};
use fwdlab_topology::{Testbed, TopologyError};
use fwdlab_traffic::{DEVICE_MACS, FlowSet, TESTER_MACS, TTL};
use fwdlab_wire::udp;
use fwdlab_xdp::{Shared, receiver, word};

use super::super::setup::{OUT, SENDER};
use super::sent::attach;
use crate::LinuxError;

/// A receiver where the sender is.
#[derive(Debug)]
pub(super) struct Returned {
    shared: Shared,
    /// It stays in place as long as these live.
    _receiver: (Program, Map, XdpLink),
}

impl Returned {
    /// Puts it into place.
    ///
    /// # Errors
    /// The kernel cannot do it.
    pub(super) fn watch(testbed: &mut Testbed, flows: &FlowSet) -> Result<Self, LinuxError> {
        let end = testbed.interface_index(SENDER, OUT)?;
        let load = || {
            let shared = Shared::new()?;
            let seen = receiver::seen_map(flows)?;
            let expected = receiver::Expected {
                flows,
                ttl: TTL - 1,
                destination: TESTER_MACS[0],
                source: DEVICE_MACS[0],
                protocol: udp::PROTOCOL,
                has_mark: false,
                latencies: None,
            };
            let program = receiver::load(&shared, &seen, &expected)?;
            Ok((shared, program, seen))
        };
        let refused =
            TopologyError::kernel("look for frames that come back to their senders (XDP)");
        let (shared, program, seen) = load().map_err(refused)?;
        let link = attach(testbed, SENDER, end, &program)?;
        Ok(Self { shared, _receiver: (program, seen, link) })
    }

    /// How many frames of the flows came back so far.
    pub(super) fn frames(&self) -> u64 {
        let [all, strangers] = [word::RECEIVED, word::UNKNOWN_FLOW].map(|at| self.shared.get(at));
        all.saturating_sub(strangers)
    }
}
