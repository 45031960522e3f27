//! The kernel's own generator as the tester (Documentation/networking/pktgen.rst).
//!
//! Each interval is a run of its own, whose length in frames was measured first: pktgen counts
//! frames, not time, and says itself how long they took. Nobody receives: frames that come back
//! are counted and dropped by the kernel, because they are for another host. In the device's place
//! stands its own input: frames for another host are dropped there, so that the tester's cost is
//! that of sending, of one cable, and of a drop, and the same stands on both sides of the device.

use std::collections::HashSet;
use std::fs;
use std::ops::Range;

use fwdlab_port::packet::PacketPort;
use fwdlab_port::{Batch, Pool, Port};
use fwdlab_traffic::Family;
use fwdlab_wire::MacAddr;

use super::Result;
use super::network::{BY_DEVICE, DEVICE_INPUT, Network, added};
use crate::channel::{Pass, Reading};
use crate::pktgen_file::{FILES, command, flows, result, settings};
use crate::task::Task;
use fwdlab_results::Checks;
use fwdlab_traffic::{DEVICE_MACS, TESTER_MACS};

/// Frames that show how long a frame takes.
const PROBE_FRAMES: u64 = 1_000;

/// How often each flow is sent, on average, where the receiver looks at frames to count flows:
/// twice where they come in turn, and where they are drawn, so often that none of 2,048 is missed
/// (2048 e^-16 is 0.0002).
const TURNS: u64 = 2;
const DRAWS: u64 = 16;

/// Room for all frames that are looked at, in one packet socket: a small frame takes 768 bytes.
const SOCKET_BUFFER_BYTES: &str = "67108864";

/// From source address to destination port, in IPv4 and IPv6 frames.
const FLOW_INET: Range<usize> = 26..38;
const FLOW_INET6: Range<usize> = 22..58;

/// A destination that no interface has.
const NOBODY: MacAddr = MacAddr::numbered(0xff);

/// The tester alone.
pub(super) fn null(task: &Task, network: &Network) -> Result<Pass> {
    Generator::new(task, network, NOBODY, DEVICE_INPUT).pass(task.cable_ns)
}

/// The tester with the device, without a look at the flows.
pub(super) fn warm_up(task: &Task, network: &Network) -> Result<Pass> {
    Generator::new(task, network, DEVICE_MACS[0], BY_DEVICE[1]).pass(task.duration_ns)
}

/// The tester with the device.
pub(super) fn device(task: &Task, network: &Network) -> Result<Pass> {
    let generator = Generator::new(task, network, DEVICE_MACS[0], BY_DEVICE[1]);
    let counted = generator.count_flows()?;
    let mut pass = generator.pass(task.duration_ns)?;
    pass.sent += counted.sent;
    pass.received += counted.received;
    pass.flows_seen = counted.flows_seen;
    pass.checks.lost = pass.sent.saturating_sub(pass.received);
    Ok(pass)
}

/// pktgen with its settings, and where its frames are counted.
struct Generator<'a> {
    task: &'a Task,
    network: &'a Network,
    to: MacAddr,
    /// Namespace and interface.
    counted_at: (&'static str, &'static str),
}

impl<'a> Generator<'a> {
    fn new(
        task: &'a Task,
        network: &'a Network,
        to: MacAddr,
        counted_at: (&'static str, &'static str),
    ) -> Self {
        Self { task, network, to, counted_at }
    }

    /// Runs of an interval each, for `duration_ns` together.
    fn pass(&self, duration_ns: u64) -> Result<Pass> {
        self.set_up()?;
        let first = self.run(PROBE_FRAMES)?;
        let frame_ns = (first.ns / PROBE_FRAMES).max(1);
        let frames = (self.task.interval_ns / frame_ns).max(1);
        let intervals = (duration_ns / self.task.interval_ns).max(1);
        let runs = (0..intervals).map(|_| self.run(frames));
        let intervals: Vec<Reading> = runs.collect::<Result<_>>()?;
        let all = || intervals.iter().chain([&first]);
        Ok(Pass {
            sent: all().map(|run| run.sent).sum(),
            received: all().map(|run| run.received).sum(),
            flows_seen: 0,
            checks: Checks::default(),
            intervals,
            ..Pass::default()
        })
    }

    /// Sends `frames` frames, and waits until they have gone.
    fn run(&self, frames: u64) -> Result<Reading> {
        let before = self.network.received(self.counted_at)?;
        let (role, interface) = BY_DEVICE[0];
        let report = self.network.within(role, || {
            command(interface, &format!("count {frames}"))?;
            // Returns when the last frame has gone.
            command("pgctrl", "start")?;
            let path = format!("{FILES}/{interface}");
            fs::read_to_string(&path).map_err(|error| format!("cannot read {path}: {error}"))
        })?;
        let (ns, sent) =
            result(&report).ok_or_else(|| format!("pktgen has no result: {report:?}"))?;
        let after = self.network.received(self.counted_at)?;
        let received = added("of frames received", before, after)?;
        Ok(Reading { ns, sent, received })
    }

    fn set_up(&self) -> Result<()> {
        let settings = settings(&self.task.traffic, [TESTER_MACS[0], self.to])?;
        let (role, interface) = BY_DEVICE[0];
        self.network.within(role, || {
            command("kpktgend_0", "rem_device_all")?;
            command("kpktgend_0", &format!("add_device {interface}"))?;
            settings.iter().try_for_each(|setting| command(interface, setting))
        })
    }

    /// Sends every flow, and looks at what comes back.
    fn count_flows(&self) -> Result<Pass> {
        let words = |error: &dyn std::fmt::Display| format!("cannot count flows: {error}");
        let flows = flows(&self.task.traffic)?;
        let (turns, field) = match flows.family() {
            Family::Inet => (TURNS, FLOW_INET),
            Family::Inet6 => (DRAWS, FLOW_INET6),
        };
        fs::write("/proc/sys/net/core/rmem_default", SOCKET_BUFFER_BYTES)
            .map_err(|error| words(&error))?;
        let pool = Pool::with_frames(1_024).map_err(|error| words(&error))?;
        let (role, interface) = BY_DEVICE[1];
        let open = || PacketPort::open(interface, pool.clone()).map_err(|error| words(&error));
        let mut port = self.network.within(role, open)?;
        self.set_up()?;
        let Reading { sent, received, .. } = self.run(u64::from(flows.count()) * turns)?;
        let mut seen = HashSet::new();
        let mut batch = Batch::new();
        while port.receive(&mut batch) > 0 {
            let ours = batch.iter().filter(|frame| frame.starts_with(&TESTER_MACS[1].0));
            seen.extend(ours.filter_map(|frame| frame.get(field.clone()).map(<[u8]>::to_vec)));
            pool.put(&mut batch);
        }
        Ok(Pass { sent, received, flows_seen: seen.len() as u64, ..Pass::default() })
    }
}
