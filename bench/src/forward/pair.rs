//! Two cores: a tester on one, the forwarder on the other, rings between them.
//!
//! The tester receives a frame, looks whether it was forwarded as it must be (addresses, TTL),
//! makes it as it was, and sends it again. It does the same for both forwarders, and both have 16
//! bytes for each frame in their rings, so that what differs is the forwarder and its ring.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use anyhow::{Result, ensure};
use fwdlab_lookups::{Ratio, Run, median};
use fwdlab_port::ring::RingPort;
use fwdlab_port::{Batch, Counters, Frame, Pool, Port, affinity, pingpong, ring};
use fwdlab_router::Overflow;
use fwdlab_wire::MacAddr;

use super::case::{BURSTS, Case, FamilyName, OUTPUT_MAC, PAIR_FRAMES, PLACES, ROUTER_MAC, Table};
use super::report::{Figure, Report};
use super::table::Routes;
use super::turn::{beat_on, ns_per_frame, turn};
use super::{Arguments, dpdk, ours};

/// Frames that circulate; the rings hold all of them.
const FLOWS: usize = 2000;
/// Bytes of a frame that the tester writes and looks at.
const HEAD: usize = 56;

/// Runs both families.
///
/// # Errors
/// Fewer than two cores, or a forwarder that forwards wrongly.
pub fn run(arguments: &Arguments, cores: &[usize], report: &mut Report) -> Result<()> {
    ensure!(cores.len() >= 2, "two cores are needed, there are {}", cores.len());
    let mut trips = Vec::new();
    for family in [FamilyName::Inet, FamilyName::Inet6] {
        let case = Case { family, table: Table::Two, flows: FLOWS, stride: 2112 };
        let name = format!("two cores, {}, 2 routes, {FLOWS} frames over rings", family.name());
        if !arguments.wants(&name) {
            continue;
        }
        let ends = (cores[0], cores[1]);
        let (mut ours, mut peers) = (BURSTS.map(|_| Vec::new()), BURSTS.map(|_| Vec::new()));
        for _ in 0..arguments.rounds {
            trips.push(pingpong::measure(cores[0], cores[1])?.median_ns);
            let beat = || beat_on(cores[1]);
            for (which, burst) in BURSTS.into_iter().enumerate() {
                ours[which].push(turn(beat, || measure_ours(&case, burst, ends))?);
                if cfg!(dpdk) && !arguments.alone {
                    peers[which].push(turn(beat, || dpdk::pair(&case, burst, ends))?);
                }
            }
        }
        for (which, burst) in BURSTS.into_iter().enumerate() {
            let figure = |origin, contender: &str, turns: &[Run]| Figure {
                case: format!("{name}, bursts of {burst}"),
                family: family.name(),
                origin,
                name: contender.to_owned(),
                ns_per_frame: ns_per_frame(turns),
                ratio: Ratio::of(&ours[which], turns),
                beats_ns: turns.iter().map(|turn| turn.beat_ns).collect(),
            };
            report.figure(figure("fwdlab", "router", &ours[which]));
            if !peers[which].is_empty() {
                report.figure(figure("peer", PEER, &peers[which]));
            }
        }
    }
    report.note(format!(
        "A cache line from one core to the other and back took {:.0} ns (median of the rounds).",
        median(&trips)
    ));
    Ok(())
}

const PEER: &str = "DPDK rte_ring, rte_fib 4 bytes";

/// What the tester does to frames.
struct Restorer {
    is_inet: bool,
    /// What a forwarded frame begins with, and what a fresh one does.
    forwarded: [u8; 12],
    fresh: [u8; 12],
}

impl Restorer {
    fn new(family: FamilyName) -> Self {
        let (mut forwarded, mut fresh) = ([0; 12], [0; 12]);
        forwarded[..6].copy_from_slice(&ROUTER_MAC.0);
        forwarded[6..].copy_from_slice(&OUTPUT_MAC.0);
        fresh[..6].copy_from_slice(&ROUTER_MAC.0);
        fresh[6..].copy_from_slice(&ROUTER_MAC.0);
        Self { is_inet: family == FamilyName::Inet, forwarded, fresh }
    }

    /// Makes a frame as it was; 1 when it was not forwarded right.
    #[inline(always)]
    fn restore(&self, frame: &mut Frame) -> u64 {
        let head = frame.head_mut::<HEAD>();
        let hops = if self.is_inet { 22 } else { 21 };
        let wrong = u64::from(head[..12] != self.forwarded) | u64::from(head[hops] != 254);
        head[..12].copy_from_slice(&self.fresh);
        head[hops] = 255;
        if self.is_inet {
            // RFC 1624 with the TTL one up: 0x0100 is taken off in one's complement.
            let sum = u32::from(u16::from_be_bytes([head[24], head[25]])) + 0xfeff;
            let sum = (sum & 0xffff) + (sum >> 16);
            head[24..26].copy_from_slice(&(sum as u16).to_be_bytes());
        }
        wrong
    }
}

/// A port that takes no more than so many frames at a time, as a peer does.
struct Bursts {
    port: RingPort,
    most: usize,
}

impl Port for Bursts {
    #[inline]
    fn receive(&mut self, batch: &mut Batch) -> usize {
        self.port.receive_most(batch, self.most)
    }

    #[inline]
    fn send(&mut self, batch: &mut Batch) -> usize {
        self.port.send(batch)
    }

    fn mac(&self) -> MacAddr {
        self.port.mac()
    }

    fn mtu(&self) -> usize {
        self.port.mtu()
    }

    fn counters(&self) -> Counters {
        self.port.counters()
    }
}

/// The router, `burst` frames at a time on both cores: nanoseconds per frame.
fn measure_ours(
    case: &Case,
    burst: usize,
    (tester_core, device_core): (usize, usize),
) -> Result<f64> {
    let routes = Routes::two();
    let mut router = ours::configured(&routes)?;
    let (mut out, device_0) = ring::pair(PLACES);
    let (device_1, back) = ring::pair(PLACES);
    let [device_0, device_1, mut back] =
        [device_0, device_1, back].map(|port| Bursts { port, most: burst });
    let worker = router.worker([(0, device_0), (1, device_1)])?;
    let mut worker = worker.with_overflow(Overflow::Wait);
    let pool = Pool::new(case.pool())?;
    let restorer = Restorer::new(case.family);
    let mut batch = Batch::new();
    for bytes in case.frames(&routes) {
        let mut frame = pool.take().expect("invariant: a frame for each flow");
        frame.set_len(bytes.len());
        frame.copy_from_slice(&bytes);
        frame[..12].copy_from_slice(&restorer.fresh);
        batch.push(frame).expect("invariant: sent at once");
        out.send(&mut batch);
    }
    let is_over = AtomicBool::new(false);
    let (ns, wrong) = std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ = affinity::pin_current_thread(device_core);
            while !is_over.load(Relaxed) {
                worker.poll();
            }
        });
        let _ = affinity::pin_current_thread(tester_core);
        let (mut moved, mut wrong, mut start) = (0_u64, 0, Instant::now());
        let mut is_warm = false;
        while moved < PAIR_FRAMES {
            let count = back.receive(&mut batch);
            batch.iter().for_each(Frame::prefetch_write);
            for frame in batch.iter_mut() {
                wrong += restorer.restore(frame);
            }
            out.send(&mut batch);
            moved += count as u64;
            if !is_warm && moved > PAIR_FRAMES / 10 {
                (is_warm, moved, start) = (true, 0, Instant::now());
            }
        }
        let ns = start.elapsed().as_nanos() as f64 / moved as f64;
        is_over.store(true, Relaxed);
        (ns, wrong)
    });
    ensure!(wrong == 0, "the router forwarded {wrong} frames wrongly");
    Ok(ns)
}
