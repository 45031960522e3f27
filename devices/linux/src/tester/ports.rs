//! A tester on sockets: the tester of `fwdlab-traffic`, which checks every frame, with a socket on
//! each of the tester's interfaces.

use std::sync::{Arc, atomic::AtomicBool, mpsc};
use std::time::Duration;

use fwdlab_port::{Batch, Pool, Port, PortError, SocketKind, affinity};
use fwdlab_traffic::{AnyDuplex, AnyTester, Came, Fans, Outcome, TrafficPlan};

use super::super::setup::tester_end;
use super::sent::Sent;
use crate::LinuxError;
use crate::settings::TesterKind;
use fwdlab_device::pulse::{self, Pulse};
use fwdlab_device::{Request, Watch};
use fwdlab_results::Interval;
use fwdlab_topology::{Testbed, TopologyError};

/// Frames between sender and receiver: the sockets have room for all of them.
const FRAMES_IN_FLIGHT: usize = 1024;

/// Frames that are sent at once: what a packet socket sends in one system call.
const BATCH: usize = 64;

/// Beats of the processor between two intervals.
const BEATS: usize = 16;

/// How long the last frames may take.
const PATIENCE: Duration = Duration::from_millis(100);

/// One way, or both at once.
enum Lanes {
    One(Box<AnyTester>),
    Both(Box<AnyDuplex>),
}

/// A tester that is ready to send.
pub(in super::super) struct PortTester {
    lanes: Lanes,
    /// What came by each of more than two ports.
    came: Arc<Came>,
    /// By the sockets that were opened; the naive one differs only in what is set around them.
    kind: TesterKind,
}

impl PortTester {
    /// Makes the frames and opens the interfaces.
    ///
    /// # Errors
    /// The kernel has no such sockets, or the traffic cannot be sent.
    pub(super) fn new(
        kind: TesterKind,
        testbed: &Testbed,
        request: &Request<'_>,
    ) -> Result<Self, LinuxError> {
        let plan = plan(request)?;
        let pool = Pool::with_frames(4 * FRAMES_IN_FLIGHT)?;
        let (sockets, socket) = open_all(kind, testbed, &pool, request.experiment.ports())?;
        let Fans { near, far, came } = match (request.experiment.ports(), plan.is_mesh) {
            (0..=2, _) => two(sockets)?,
            (_, false) => Fans::sides(sockets, fwdlab_builtin::behind(request.experiment)?),
            (_, true) => Fans::mesh(sockets, fwdlab_builtin::behind(request.experiment)?),
        };
        let kind = match (socket, kind) {
            (SocketKind::Xdp, _) => TesterKind::AfXdp,
            (SocketKind::Packet, TesterKind::Naive) => TesterKind::Naive,
            (SocketKind::Packet, _) => TesterKind::AfPacket,
        };
        let lanes = match plan.way_back {
            None => Lanes::One(Box::new(AnyTester::new(&plan, &pool, near, far)?)),
            Some(_) => Lanes::Both(Box::new(AnyDuplex::new(&plan, &pool, near, far)?)),
        };
        Ok(Self { lanes, kind, came })
    }

    /// Which it is.
    pub(super) fn kind(&self) -> TesterKind {
        self.kind
    }

    /// Sends to the plan's end.
    ///
    /// # Errors
    /// The sender's thread could not be started or broke, or the campaign was stopped.
    pub(super) fn run(
        self,
        core: Option<usize>,
        pulse: &mut Pulse,
        watch: &mut Watch<'_>,
    ) -> Result<Sent, LinuxError> {
        let (report, reports) = mpsc::channel();
        let (stop, came) = (watch.stop, self.came.clone());
        let mut intervals = Vec::new();
        let outcome = std::thread::scope(|scope| {
            let sender = std::thread::Builder::new().name("tester".to_owned());
            let sender = sender.spawn_scoped(scope, move || {
                let pinned = core.is_some_and(|c| affinity::pin_current_thread(c).is_ok());
                let mut on_interval = |interval: &fwdlab_traffic::IntervalCounts| {
                    // Nobody listens any more only when the campaign ends.
                    let _ = report.send((*interval, pulse::beats(BEATS)));
                };
                let (outcome, unread) = self.lanes.run(stop, &mut on_interval);
                (outcome, pinned, unread)
            });

            let sender = sender.map_err(|source| PortError::Thread { source })?;
            let mut before = Vec::new();
            for (interval, beats) in reports {
                // What was so at its beginning and at its end was so in between.
                let around = [before, beats.clone()].concat();
                before = beats;
                let mut seen = seen(&interval);
                pulse.note(&around, &mut seen);
                (watch.on_interval)(&seen);
                intervals.push(seen);
            }
            let what = || LinuxError::Thread { what: "the tester panicked".to_owned() };
            sender.join().map_err(|_| what())
        });
        let (outcome, pinned, unread) = outcome?;
        let outcome = outcome.with(&came);
        if watch.is_stopped() {
            return Err(LinuxError::Stopped);
        }
        Ok(sent(&outcome, intervals, pinned, unread))
    }
}

impl Lanes {
    /// Sends to the plan's end; with what came of it, frames that the kernel dropped because a
    /// receiving socket had no room for them.
    fn run(
        self,
        stop: &AtomicBool,
        on_interval: &mut dyn FnMut(&fwdlab_traffic::IntervalCounts),
    ) -> (Outcome, u64) {
        match self {
            Self::One(mut tester) => {
                let outcome = tester.run_any(stop, on_interval);
                (outcome, tester.into_ports().1.counters().rx_dropped)
            }
            Self::Both(mut tester) => {
                let outcome = tester.run_any(stop, on_interval);
                let (near, far) = tester.into_ports();
                (outcome, near.counters().rx_dropped + far.counters().rx_dropped)
            }
        }
    }
}

fn seen(interval: &fwdlab_traffic::IntervalCounts) -> Interval {
    Interval {
        ms: interval.length_ns as f64 / 1e6,
        tx: Some(interval.sent),
        rx: interval.received,
        ..Interval::default()
    }
}

fn sent(outcome: &Outcome, intervals: Vec<Interval>, pinned: bool, unread: u64) -> Sent {
    let pacing = outcome.pacing.as_ref().map(|pacing| {
        format!(
            "{:.0} ns late on average, {:.0} ns at most, jitter {:.0} ns",
            pacing.mean_lateness_ns, pacing.max_lateness_ns, pacing.mean_jitter_ns
        )
    });
    Sent {
        intervals,
        pinned,
        sent: outcome.sent(),
        received: outcome.received(),
        strays: outcome.checks.foreign,
        flows_seen: outcome.flows_seen(),
        checks: fwdlab_builtin::checks(outcome),
        ways: fwdlab_builtin::ways(outcome, None),
        waiting_share: outcome.waiting_share(),
        core_share: None,
        pacing,
        unread,
        by_pair: outcome.by_pair.clone(),
        tracking: None,
        latency: None,
    }
}

/// A socket where frames are sent, and one where they come back.
type Sockets = (Box<dyn Port>, Box<dyn Port>);

/// Opens a socket on each of the tester's interfaces: where it sends, where it receives, and of which kind.
///
/// # Errors
/// The kernel has no such sockets.
pub(in super::super) fn open(
    kind: TesterKind,
    testbed: &Testbed,
    pool: &Pool,
) -> Result<(Sockets, SocketKind), LinuxError> {
    let (all, socket) = open_all(kind, testbed, pool, 2)?;
    let Fans { near, far, .. } = two(all)?;
    Ok(((near, far), socket))
}

/// The first two of some sockets, of which each is a side of its own.
fn two(sockets: Vec<Box<dyn Port>>) -> Result<Fans, LinuxError> {
    let [near, far]: [Box<dyn Port>; 2] = sockets
        .try_into()
        .map_err(|_| LinuxError::Setup { what: "the tester has two ports at least".to_owned() })?;
    Ok(Fans { near, far, came: Arc::default() })
}

/// Opens a socket on each of the tester's interfaces, in the order of the device's ports.
fn open_all(
    kind: TesterKind,
    testbed: &Testbed,
    pool: &Pool,
    ports: u16,
) -> Result<(Vec<Box<dyn Port>>, SocketKind), LinuxError> {
    let socket = if kind == TesterKind::AfXdp { SocketKind::Xdp } else { SocketKind::Packet };
    let open = |port| {
        let (role, interface) = tester_end(port);
        let opened = testbed.namespace(role)?.run(|| socket.open(&interface, pool.clone()));
        let failed = TopologyError::kernel(format!("enter namespace {role}"));
        let mut opened: Box<dyn Port> = opened.map_err(failed)??;
        // At its first look it takes the frames that it receives into. Taken later they would be missing to the
        // lanes, which take others from the pool only beyond what is there when they are made.
        opened.receive(&mut Batch::new());
        Ok::<_, LinuxError>(opened)
    };
    let all: Result<Vec<_>, _> = (0..ports).map(open).collect();
    Ok((all?, socket))
}

/// What the tester is to send.
///
/// # Errors
/// A traffic that cannot be sent.
pub(in super::super) fn plan(request: &Request<'_>) -> Result<TrafficPlan, LinuxError> {
    let mut plan = fwdlab_builtin::plan(request)?;
    plan.drain_ns = PATIENCE.as_nanos() as u64;
    plan.frames_in_flight = FRAMES_IN_FLIGHT;
    plan.batch = BATCH;
    Ok(plan)
}
