//! The tester in the guest: the same frames and checks as for every other device, through packet
//! sockets, by one thread on the only processor.

use std::sync::atomic::AtomicBool;

use fwdlab_port::packet::PacketPort;
use fwdlab_port::{Clock, Pool, clock};
use fwdlab_traffic::{Duplex, Outcome, Tester, TimeSource, TrafficPlan, WayBack};

use super::Result;
use super::network::{BY_CABLE, BY_DEVICE, Network};
use crate::capture::Captures;
use crate::channel::{Pass, Reading};
use crate::task::GuestClock;
use crate::task::Task;
use fwdlab_results::Checks;
use fwdlab_traffic::{DEVICE_MACS, TESTER_MACS};

/// Frames between tester and device: few enough to fit the packet socket's default buffer
/// (212,992 bytes, of which a small frame takes 768).
const FRAMES_IN_FLIGHT: usize = 128;

/// Frames that are sent at once, by one system call.
pub(super) const BATCH: usize = 64;

/// Silence after which a frame counts as lost. Nothing takes time in a guest with one processor:
/// a frame is forwarded before the call that sent it returns.
const PATIENCE_NS: u64 = 5_000_000;

/// The tester with a cable in place of the device: what it costs by itself.
pub(super) fn cable(task: &Task, network: &Network, captures: &mut Captures) -> Result<Pass> {
    let mut plan = plan(task, task.cable_ns, captures)?;
    plan.device_mac = TESTER_MACS[1];
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
    let words = |error: &dyn std::fmt::Display| format!("the tester failed: {error}");
    let pool = Pool::with_frames(4 * FRAMES_IN_FLIGHT).map_err(|error| words(&error))?;
    let [out, back] = ports.map(|(role, name)| {
        let pool = pool.clone();
        let open = move || PacketPort::open(name, pool).map_err(|error| error.to_string());
        network.within(role, open)
    });
    let (ports, time) = ((out?, back?), GuestTime::new(task.clock));
    let never = AtomicBool::new(false);
    let outcome =
        match plan.way_back {
            None => Tester::with_time(plan, &pool, ports, time)
                .map(|mut own| own.run(&never, &mut |_| {})),
            Some(_) => Duplex::with_time(plan, &pool, ports, time)
                .map(|mut own| own.run(&never, &mut |_| {})),
        };
    Ok(pass(&outcome.map_err(|error| words(&error))?))
}

fn plan(task: &Task, duration_ns: u64, captures: &mut Captures) -> Result<TrafficPlan> {
    let mut plan = captures.plan(&task.traffic)?;
    plan.source_mac = TESTER_MACS[0];
    plan.device_mac = DEVICE_MACS[0];
    plan.arrival_mac = TESTER_MACS[1];
    plan.duration_ns = duration_ns;
    plan.interval_ns = task.interval_ns;
    plan.drain_ns = PATIENCE_NS;
    plan.frames_in_flight = FRAMES_IN_FLIGHT;
    plan.batch = BATCH;
    plan.way_back = task
        .both_ways
        .then_some(WayBack { device_mac: DEVICE_MACS[1], arrival_mac: TESTER_MACS[0] });
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
        sent: outcome.sent(),
        received: outcome.received(),
        flows_seen: outcome.flows_seen(),
        checks: checks_of(&outcome.checks, outcome.received(), outcome.lost()),
        ways: outcome.ways.iter().map(pass).collect(),
        ..Pass::default()
    }
}

/// What the receiver found, in the words of a journal.
pub(super) fn checks_of(found: &fwdlab_traffic::Checks, checked: u64, lost: u64) -> Checks {
    Checks {
        checked,
        lost,
        duplicated: found.duplicated,
        reordered: found.reordered,
        misrouted: found.misrouted + found.unknown_flow,
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
