//! The tester in the guest: the same frames and checks as for every other device, through packet
//! sockets, by one thread on the only processor.

use std::sync::atomic::AtomicBool;

use fwdlab_port::packet::PacketPort;
use fwdlab_port::{Batch, Clock, Pool, Port, clock};
use fwdlab_traffic::{
    Behind, Duplex, Fans, Outcome, Tester, TimeSource, TrafficPlan, WayBack, mac_of,
};

use super::network::{BY_CABLE, BY_DEVICE, Network, ends};
use super::{Result, words};
use crate::capture::Captures;
use crate::channel::{Pass, Reading};
use crate::task::GuestClock;
use crate::task::Task;
use fwdlab_results::Checks;
use fwdlab_traffic::{DEVICE_MACS, TESTER_MACS};

/// Frames between tester and device: few enough to fit the packet socket's default buffer
/// (212,992 bytes, of which a small frame takes 768).
const FRAMES_IN_FLIGHT: usize = 128;

/// Polls without a frame after which those on their way are lost. Each is instructions that count as the
/// device's: with 64 of them, which others need, a tenth lost made a frame dearer by some per cent.
const POLLS: u32 = 8;

/// Frames that are sent at once, by one system call.
pub(super) const BATCH: usize = 64;

/// Silence after which a frame counts as lost. Nothing takes time in a guest with one processor:
/// a frame is forwarded before the call that sent it returns.
const PATIENCE_NS: u64 = 5_000_000;

/// The tester with a cable in place of the device: what it costs by itself.
pub(super) fn cable(task: &Task, network: &Network, captures: &mut Captures) -> Result<Pass> {
    let mut plan = plan(task, task.cable_ns, captures)?;
    plan.device_mac = plan.arrival_mac;
    plan.way_back.iter_mut().for_each(|back| back.device_mac = TESTER_MACS[0]);
    plan.hops = 0;
    run(task, network, BY_CABLE, &plan)
}

/// The tester with the device.
pub(super) fn device(task: &Task, network: &Network, captures: &mut Captures) -> Result<Pass> {
    run(task, network, BY_DEVICE, &plan(task, task.duration_ns, captures)?)
}

fn run(
    task: &Task,
    network: &Network,
    ports: [(&str, &str); 2],
    plan: &TrafficPlan,
) -> Result<Pass> {
    // Each port keeps frames of its own to receive into.
    let frames = 2 * FRAMES_IN_FLIGHT * usize::from(task.ports());
    let pool = Pool::with_frames(frames).map_err(failed)?;
    let open = |(role, name): (&str, &str)| {
        let pool = pool.clone();
        network.within(role, move || PacketPort::open(name, pool).map_err(words))
    };
    let open = |end: (&str, &str)| {
        let mut port = open(end)?;
        // At its first look it takes the frames that it receives into. Later, they would be some of those that
        // the tester takes back for the ones that were lost: it would be left without any.
        port.receive(&mut Batch::new());
        Ok::<_, String>(port)
    };
    let Some(mesh) = &task.mesh else {
        let [out, back] = ports.map(open);
        return Ok(pass(&forwarded(task, plan, &pool, (out?, back?))?));
    };
    let opened = ends(ports, mesh.ports)
        .into_iter()
        .map(|(role, name)| open((role, &name)).map(|port| Box::new(port) as Box<dyn Port>));
    let opened: Vec<_> = opened.collect::<Result<_>>()?;
    let behind = Behind::of(mesh.behind.iter().cloned()).map_err(failed)?;
    let Fans { near, far, came } = Fans::sides(opened, behind);
    Ok(pass(&forwarded(task, plan, &pool, (near, far))?.with(&came)))
}

fn failed(error: impl std::fmt::Display) -> String {
    format!("the tester failed: {error}")
}

/// What the tester yields between two ports.
fn forwarded<A: Port, B: Port>(
    task: &Task,
    plan: &TrafficPlan,
    pool: &Pool,
    ports: (A, B),
) -> Result<Outcome> {
    let (time, never) = (GuestTime::new(task.clock), AtomicBool::new(false));
    let outcome =
        match plan.way_back {
            None => Tester::with_time(plan, pool, ports, time)
                .map(|mut own| own.run(&never, &mut |_| {})),
            Some(_) => Duplex::with_time(plan, pool, ports, time)
                .map(|mut own| own.run(&never, &mut |_| {})),
        };
    outcome.map_err(failed)
}

fn plan(task: &Task, duration_ns: u64, captures: &mut Captures) -> Result<TrafficPlan> {
    let mut plan = captures.plan(&task.traffic)?;
    let far = mac_of(task.ports(), 1);
    plan.source_mac = TESTER_MACS[0];
    plan.device_mac = DEVICE_MACS[0];
    plan.arrival_mac = TESTER_MACS[far];
    plan.duration_ns = duration_ns;
    plan.interval_ns = task.interval_ns;
    plan.drain_ns = PATIENCE_NS;
    plan.frames_in_flight = FRAMES_IN_FLIGHT;
    plan.patience = POLLS;
    plan.batch = BATCH;
    plan.way_back = task
        .both_ways
        .then_some(WayBack { device_mac: DEVICE_MACS[far], arrival_mac: TESTER_MACS[0] });
    Ok(plan)
}

fn pass(outcome: &Outcome) -> Pass {
    let sample = |interval: &fwdlab_traffic::IntervalCounts| Reading {
        ns: interval.length_ns,
        sent: interval.sent,
        received: interval.received,
    };
    Pass {
        intervals: outcome.intervals.iter().map(sample).collect(),
        waits: true,
        sent: outcome.sent(),
        received: outcome.received(),
        flows_seen: outcome.flows_seen(),
        checks: checks_of(&outcome.checks, outcome.received(), outcome.dropped()),
        ways: outcome.ways.iter().map(pass).collect(),
        by_pair: outcome.by_pair.clone(),
        ..Pass::default()
    }
}

/// What the receiver found, in the words of a journal.
pub(super) fn checks_of(found: &fwdlab_traffic::Checks, checked: u64, lost: u64) -> Checks {
    Checks {
        checked: checked + found.misrouted,
        lost,
        duplicated: found.duplicated,
        reordered: found.reordered,
        misrouted: found.misrouted + found.unknown_flow,
        astray: found.misrouted,
        returned: found.returned,
        bad_ttl: found.wrong_ttl,
        bad_checksum: found.bad_checksum + found.wrong_header,
        bad_mac: found.wrong_mac,
        bad_payload: found.bad_payload,
    }
}

/// The guest's time. With the clock of instructions, the time stamp counter counts them.
#[derive(Clone, Copy)]
pub(super) enum GuestTime {
    Instructions,
    Wall(Clock),
}

impl GuestTime {
    pub(super) fn new(clock: GuestClock) -> Self {
        match clock {
            GuestClock::Instructions => Self::Instructions,
            GuestClock::Wall => Self::Wall(Clock::new()),
        }
    }
}

impl TimeSource for GuestTime {
    fn ticks(&mut self) -> u64 {
        match self {
            Self::Instructions => clock::time_stamp(),
            Self::Wall(clock) => clock.ticks(),
        }
    }

    fn ns_per_tick(&self) -> f64 {
        match self {
            Self::Instructions => 1.0,
            Self::Wall(clock) => clock.ns_per_tick(),
        }
    }
}
