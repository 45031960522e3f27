//! Two cores: a tester on one, the forwarder on the other, rings between them.
//!
//! The tester receives a frame, looks whether it was forwarded as it must be (addresses, TTL),
//! makes it as it was, and sends it again. It does the same for both forwarders, and both have 16
//! bytes for each frame in their rings, so that what differs is the forwarder and its ring.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use anyhow::{Result, ensure};
use fwdlab_fib::{Inet, Inet6, Nexthop};
use fwdlab_port::{Batch, Frame, Pool, Port, affinity, pingpong, ring};
use fwdlab_router::{Overflow, PortConfig};

use super::case::{Case, FamilyName, OUTPUT_MAC, ROUTER_MAC};
use super::table::Routes;
use super::{Arguments, dpdk, median};
use crate::Format;

/// Frames that circulate; the rings hold all of them.
const FLOWS: usize = 2000;
/// Places in a ring.
pub const PLACES: usize = 4096;
/// Frames of one measurement: some 100 ms.
pub const FRAMES: u64 = 4_000_000;
/// Bytes of a frame that the tester writes and looks at.
const HEAD: usize = 56;

/// Runs both families and prints the results.
///
/// # Errors
/// Fewer than two cores, or a forwarder that forwards wrongly.
pub fn run(arguments: &Arguments) -> Result<()> {
    let cores = affinity::allowed_cores();
    ensure!(cores.len() >= 2, "two cores are needed, there are {}", cores.len());
    for family in [FamilyName::Inet, FamilyName::Inet6] {
        let case = Case { family, is_full: false, flows: FLOWS, stride: 2112 };
        let name = format!("two cores, {}, 2 routes, {FLOWS} frames over rings", family.name());
        if !arguments.only.iter().all(|part| name.contains(part.as_str())) {
            continue;
        }
        let (mut times, mut peers) = (Vec::new(), Vec::new());
        let mut trips = Vec::new();
        for _ in 0..arguments.rounds {
            trips.push(pingpong::measure(cores[0], cores[1])?.median_ns);
            times.push(ours(&case, (cores[0], cores[1]))?);
            if cfg!(dpdk) && !arguments.alone {
                peers.push(dpdk::pair(&case, (cores[0], cores[1]))?);
            }
        }
        let ratios = peers.iter().zip(&times).map(|(peer, ours)| peer / ours).collect();
        let trip = median(trips);
        report(&name, family, ("fwdlab", "router"), (median(times), 1.0, trip), arguments.format);
        if !peers.is_empty() {
            let figures = (median(peers), median(ratios), trip);
            report(&name, family, ("peer", "DPDK rte_ring, rte_fib"), figures, arguments.format);
        }
    }
    Ok(())
}

fn report(
    case: &str,
    family: FamilyName,
    (origin, name): (&str, &str),
    (ns, ratio, roundtrip_ns): (f64, f64, f64),
    format: Format,
) {
    let mpps = 1000.0 / ns;
    if format == Format::Json {
        let line = serde_json::json!({
            "case": case, "family": family.name(), "origin": origin, "name": name, "mpps": mpps,
            "ns_per_frame": ns, "router_is_faster_by": ratio, "roundtrip_ns": roundtrip_ns,
        });
        println!("{line}");
    } else {
        println!(
            "{case:<46} {name:<22} {mpps:>9.1} {ns:>9.2} {ratio:>7.2}  (round trip of a cache line {roundtrip_ns:.0} ns)"
        );
    }
}

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
fn ours(case: &Case, (tester_core, device_core): (usize, usize)) -> Result<f64> {
    let routes = Routes::two();
    let mut router = fwdlab_router::Router::new()?;
    router.add_port(PortConfig::new(ROUTER_MAC))?;
    router.add_port(PortConfig::new(OUTPUT_MAC))?;
    let via = Nexthop::via(1, 1);
    router.edit_fib::<Inet>(0, |fib| {
        Ok(fib.load(routes.inet.iter().map(|&prefix| (prefix, via))).map(drop)?)
    })?;
    let via = Nexthop::via(1, 1);
    router.edit_fib::<Inet6>(0, |fib| {
        Ok(fib.load(routes.inet6.iter().map(|&prefix| (prefix, via))).map(drop)?)
    })?;
    router.flush();
    router.add_neighbour::<Inet>(1, 1, ROUTER_MAC)?;
    router.add_neighbour::<Inet6>(1, 1, ROUTER_MAC)?;
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
        while moved < FRAMES {
            let count = back.receive(&mut batch);
            for frame in batch.iter_mut() {
                wrong += restorer.restore(frame);
            }
            out.send(&mut batch);
            moved += count as u64;
            if !is_warm && moved > FRAMES / 10 {
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
