//! Two cores: a tester on one, the forwarder on the other, rings between them.
//!
//! The tester receives a frame, looks whether it was forwarded as it must be (addresses, TTL),
//! makes it as it was, and sends it again. It does the same for both forwarders, and both have 16
//! bytes for each frame in their rings, so that what differs is the forwarder and its ring.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use anyhow::{Result, ensure};
use fwdlab_port::{Batch, Frame, Pool, Port, affinity, pingpong, ring};
use fwdlab_router::Overflow;

use super::case::{Case, FamilyName, OUTPUT_MAC, PAIR_FRAMES, PLACES, ROUTER_MAC};
use super::report::{Figure, Report};
use super::table::Routes;
use super::turn::{Turn, beat_on, turn};
use super::{Arguments, dpdk, median, ours};

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
        let case = Case { family, is_full: false, flows: FLOWS, stride: 2112 };
        let name = format!("two cores, {}, 2 routes, {FLOWS} frames over rings", family.name());
        if !arguments.wants(&name) {
            continue;
        }
        let (mut times, mut peers) = (Vec::new(), Vec::new());
        for _ in 0..arguments.rounds {
            trips.push(pingpong::measure(cores[0], cores[1])?.median_ns);
            let beat = || beat_on(cores[1]);
            times.push(turn(beat, || measure_ours(&case, (cores[0], cores[1])))?);
            if cfg!(dpdk) && !arguments.alone {
                peers.push(turn(beat, || dpdk::pair(&case, (cores[0], cores[1])))?);
            }
        }
        let figure = |origin, contender: &str, turns: &[Turn]| Figure {
            case: name.clone(),
            family: family.name(),
            origin,
            name: contender.into(),
            ns_per_frame: Turn::ns_per_frame(turns),
            ratio: Turn::ratio(turns, &times),
            beats_ns: turns.iter().map(|turn| turn.beat_ns).collect(),
        };
        report.figure(figure("fwdlab", "router", &times));
        if !peers.is_empty() {
            report.figure(figure("peer", PEER, &peers));
        }
    }
    report.note(format!(
        "A cache line from one core to the other and back took {:.0} ns (median of the rounds).",
        median(trips)
    ));
    Ok(())
}

const PEER: &str = "DPDK rte_ring, rte_fib";

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

/// The router: nanoseconds per frame.
fn measure_ours(case: &Case, (tester_core, device_core): (usize, usize)) -> Result<f64> {
    let routes = Routes::two();
    let mut router = ours::configured(&routes)?;
    let (mut out, device_0) = ring::pair(PLACES);
    let (device_1, mut back) = ring::pair(PLACES);
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
