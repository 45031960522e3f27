//! What a tester sent and received, and how programs get onto its interfaces.

use std::collections::BTreeMap;

use fwdlab_port::bpf::{Map, Program, XdpLink, attach_xdp, attach_xdp_generic};
use fwdlab_results::{Benchmark, Busy, Checks, Interval, LatencyFigures, Way};
use fwdlab_topology::{Testbed, TopologyError};
use fwdlab_traffic::{DEVICE_MACS, FlowSet, TESTER_MACS, TTL};
use fwdlab_wire::udp;
use fwdlab_xdp::receiver::{self, Expected};
use fwdlab_xdp::{Latencies, Shared};

/// What a tester sent and received.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) intervals: Vec<Interval>,
    /// Whether the sender ran on the processor that was asked for.
    pub(crate) pinned: bool,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Frames received that are none of the tester's.
    pub(crate) strays: u64,
    pub(crate) flows_seen: u64,
    pub(crate) checks: Checks,
    /// Each way by itself, where frames went both ways.
    pub(crate) ways: Vec<Way>,
    /// Share of its time in which the sender waited, 0 to 1.
    pub(crate) waiting_share: f64,
    /// Share of its time in which the sender, which never sleeps, had its core, 0 to 1; nothing for
    /// a sender that does.
    pub(crate) core_share: Option<f64>,
    /// How evenly a paced load was sent.
    pub(crate) pacing: Option<String>,
    /// Frames that the kernel dropped because the receiver had no room for them.
    pub(crate) unread: u64,
    /// Of more than two ports: frames from behind each, by the port by which they came back.
    pub(crate) by_pair: Vec<Vec<u64>>,
    /// What the device's table of sessions did, where it was asked.
    pub(crate) tracking: Option<Tracking>,
    /// How long frames took, where that is asked for.
    pub(crate) latency: Option<LatencyFigures>,
}

/// What a device's table of sessions did.
#[derive(Debug)]
pub(crate) struct Tracking {
    /// What the counted frames cost the device.
    pub(crate) busy: Busy,
    pub(crate) benchmark: Option<Benchmark>,
    /// Frames dropped for which there was no room.
    pub(crate) refused: u64,
    /// What was read back of it.
    pub(crate) proof: BTreeMap<String, String>,
    pub(crate) warning: Option<String>,
}

/// Puts a program on an interface of a namespace.
pub(crate) fn attach(
    testbed: &Testbed,
    role: &str,
    interface: u32,
    program: &Program,
) -> Result<XdpLink, TopologyError> {
    let link = testbed.namespace(role)?.run(|| attach_xdp(program, interface));
    let doing = format!("attach an XDP program in namespace {role}");
    link.and_then(|attached| attached).map_err(TopologyError::kernel(doing))
}

/// A receiver, which stays in place as long as these live.
pub(super) type Receiving = (Program, Map, XdpLink);

/// The datagrams of these flows as they have to come to the tester's end on the side of the sources (0) or of the
/// destinations (1).
pub(super) fn expected<'a>(
    flows: &'a FlowSet,
    end: usize,
    latencies: Option<&'a Latencies>,
) -> Expected<'a> {
    let (destination, source) = (TESTER_MACS[end], DEVICE_MACS[end]);
    let (ttl, protocol) = (TTL - 1, udp::PROTOCOL);
    Expected { flows, ttl, destination, source, protocol, has_mark: false, latencies }
}

/// Puts a receiver on an interface of a namespace, which counts in `shared`.
pub(super) fn receive(
    testbed: &mut Testbed,
    (role, end): (&str, &str),
    shared: &Shared,
    expected: &Expected<'_>,
) -> Result<Receiving, TopologyError> {
    let interface = testbed.interface_index(role, end)?;
    let seen = receiver::seen_map(expected.flows);
    let loaded = seen.and_then(|seen| Ok((receiver::load(shared, &seen, expected)?, seen)));
    let (program, seen) =
        loaded.map_err(TopologyError::kernel("set up the tester's receiver (XDP)"))?;
    let link = attach(testbed, role, interface, &program)?;
    Ok((program, seen, link))
}

/// Puts a sender also on an interface by which nothing comes: the loopback of `role`. A program that lies
/// nowhere is made known to all processors, and forgotten, each time that it runs: two grace periods (RCU),
/// some 20 ms each, and half a second on a busy machine.
pub(crate) fn lay_down(testbed: &mut Testbed, role: &str, sender: &Program) -> Option<XdpLink> {
    let loopback = testbed.interface_index(role, "lo").ok()?;
    // Without it the sender only waits longer.
    testbed.namespace(role).ok()?.run(|| attach_xdp_generic(sender, loopback).ok()).ok()?
}
