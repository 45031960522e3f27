//! The DPDK forwarder of `shim/forward.c` as a contender.
//!
//! With unsafe code: calls across the language border.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Result, ensure};
use fwdlab_port::{Pool, affinity};

use super::case::{Case, Contender, FamilyName, OUTPUT_MAC, PAIR_FRAMES, PLACES, ROUTER_MAC};
use super::table::Routes;

#[repr(C)]
struct Forwarder {
    _opaque: [u8; 0],
    _not_send: PhantomData<*mut u8>,
}

#[repr(C)]
struct Pair {
    _opaque: [u8; 0],
    _not_send: PhantomData<*mut u8>,
}

// SAFETY: the declarations repeat shim/forward.c and shim/dpdk.c; the library is linked by build.rs.
unsafe extern "C" {
    fn shim_start(cpu: u32, megabytes: u32) -> c_int;
    fn forward_open(kind: c_int, routes: u32, own_mac: *const u8) -> *mut Forwarder;
    fn forward_close(forwarder: *mut Forwarder);
    fn forward_nexthop(forwarder: *mut Forwarder, id: u32, macs: *const u8, port: u32, mtu: u32);
    fn forward_route(forwarder: *mut Forwarder, addr: *const u8, len: u8, nexthop: u32) -> c_int;
    fn forward_frames(
        forwarder: *mut Forwarder,
        base: *mut u8,
        frames: u32,
        stride: u32,
        len: u32,
    ) -> c_int;
    fn forward_laps(forwarder: *mut Forwarder, laps: u32) -> u64;
    fn pair_open(places: u32) -> *mut Pair;
    fn pair_close(pair: *mut Pair);
    fn pair_device(pair: *mut Pair, forwarder: *mut Forwarder);
    fn pair_stop(pair: *mut Pair);
    fn pair_fill(pair: *mut Pair, forwarder: *mut Forwarder);
    fn pair_tester(pair: *mut Pair, macs: *const u8, is_inet: c_int, frames: u64) -> u64;
}

/// Memory for the tables of one case.
const MEGABYTES: u32 = 1536;
static STARTED: OnceLock<bool> = OnceLock::new();

/// The peers of a case. LPM is left out with a full table, which takes it minutes to build.
///
/// # Errors
/// When DPDK does not start or refuses a route.
pub fn forwarders(case: &Case, routes: &Routes) -> Result<Vec<Box<dyn Contender>>> {
    start()?;
    let kinds: &[(c_int, &'static str)] = match (case.family, case.is_full) {
        (FamilyName::Inet, false) => &[(0, "DPDK rte_fib"), (1, "DPDK rte_lpm")],
        (FamilyName::Inet, true) => &[(0, "DPDK rte_fib")],
        (FamilyName::Inet6, false) => &[(2, "DPDK rte_fib6"), (3, "DPDK rte_lpm6")],
        (FamilyName::Inet6, true) => &[(2, "DPDK rte_fib6")],
    };
    let mut all: Vec<Box<dyn Contender>> = Vec::new();
    for &(kind, name) in kinds {
        all.push(Box::new(Dpdk::new(kind, name, case, routes)?));
    }
    Ok(all)
}

fn start() -> Result<()> {
    let cpu = std::thread::available_parallelism().map_or(0, |cpus| cpus.get() as u32 - 1);
    // SAFETY: called once, on the thread that measures.
    let started = *STARTED.get_or_init(|| unsafe { shim_start(cpu, MEGABYTES) } == 1);
    ensure!(started, "DPDK does not start: is there {MEGABYTES} MB of free memory?");
    Ok(())
}

/// A pointer that goes to the device's thread.
struct Shared<T>(*mut T);

// SAFETY: the device's thread alone uses the forwarder until it is joined; of the pair, each
// thread uses its own ends of the rings, and the flag is volatile.
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

/// Two cores over rings: nanoseconds per frame.
///
/// # Errors
/// When DPDK does not start, or frames are forwarded wrongly.
pub fn pair(case: &Case, (tester_core, device_core): (usize, usize)) -> Result<f64> {
    start()?;
    let routes = Routes::two();
    let is_inet = case.family == FamilyName::Inet;
    let mut dpdk = Dpdk::new(if is_inet { 0 } else { 2 }, "DPDK", case, &routes)?;
    let mut frames = case.frames(&routes);
    frames.iter_mut().for_each(|bytes| bytes[6..12].copy_from_slice(&ROUTER_MAC.0));
    dpdk.fill(&frames);
    let macs = [ROUTER_MAC.0, OUTPUT_MAC.0, ROUTER_MAC.0, ROUTER_MAC.0].concat();
    // SAFETY: makes two rings that hold all frames.
    let pair = unsafe { pair_open(PLACES as u32) };
    ensure!(!pair.is_null(), "no memory for the rings");
    // SAFETY: both are open, and no other thread has them yet.
    unsafe { pair_fill(pair, dpdk.forwarder) };
    let (rings, forwarder) = (Shared(pair), Shared(dpdk.forwarder));
    let test = |frames: u64| {
        // SAFETY: the pair is open; this thread alone is the tester; 24 bytes are read.
        unsafe { pair_tester(pair, macs.as_ptr(), c_int::from(is_inet), frames) }
    };
    let (ns, wrong) = std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = affinity::pin_current_thread(device_core);
            // SAFETY: both stay open until this thread is joined.
            unsafe { pair_device(rings.get(), forwarder.get()) };
        });
        let _ = affinity::pin_current_thread(tester_core);
        let mut wrong = test(PAIR_FRAMES / 10);
        let start = Instant::now();
        wrong += test(PAIR_FRAMES);
        let ns = start.elapsed().as_nanos() as f64 / PAIR_FRAMES as f64;
        // SAFETY: the pair is open.
        unsafe { pair_stop(pair) };
        (ns, wrong)
    });
    // SAFETY: opened above, closed once; the device's thread has ended.
    unsafe { pair_close(pair) };
    ensure!(wrong == 0, "DPDK forwarded {wrong} frames wrongly");
    Ok(ns)
}

struct Dpdk {
    name: &'static str,
    forwarder: *mut Forwarder,
    /// The frames' memory comes from the same pool as the router's, for equal pages.
    buffers: Buffers,
    stride: usize,
    len: usize,
}

/// All slots of a pool, in order; they are one stretch of memory.
struct Buffers {
    frames: Vec<fwdlab_port::Frame>,
    _pool: Pool,
}

impl Dpdk {
    fn new(kind: c_int, name: &'static str, case: &Case, routes: &Routes) -> Result<Self> {
        let len = if case.family == FamilyName::Inet { 60 } else { 62 };
        let count =
            if case.family == FamilyName::Inet { routes.inet.len() } else { routes.inet6.len() };
        // SAFETY: the pointer is read for six bytes during the call.
        let forwarder = unsafe { forward_open(kind, count as u32, ROUTER_MAC.0.as_ptr()) };
        ensure!(!forwarder.is_null(), "{name}: no memory for its table");
        let mut macs = [0; 12];
        macs[..6].copy_from_slice(&ROUTER_MAC.0);
        macs[6..].copy_from_slice(&OUTPUT_MAC.0);
        for gateway in routes.gateways() {
            // SAFETY: `forwarder` is open; twelve bytes are read.
            unsafe { forward_nexthop(forwarder, gateway, macs.as_ptr(), 1, 1500) };
        }
        let buffers = Self::buffers(case)?;
        let dpdk = Self { name, forwarder, buffers, stride: case.stride, len };
        match case.family {
            FamilyName::Inet => {
                let wide = |addr: u32| {
                    let mut bytes = [0; 16];
                    bytes[..4].copy_from_slice(&addr.to_be_bytes());
                    bytes
                };
                routes.inet.iter().try_for_each(|&prefix| {
                    dpdk.add((wide(prefix.addr()), prefix.len()), routes.gateway(prefix))
                })?;
            }
            FamilyName::Inet6 => {
                routes.inet6.iter().try_for_each(|&prefix| {
                    let addr = prefix.addr().to_be_bytes();
                    dpdk.add((addr, prefix.len()), routes.gateway(prefix))
                })?;
            }
        }
        Ok(dpdk)
    }

    fn add(&self, (addr, len): ([u8; 16], u8), nexthop: u32) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        // SAFETY: `forwarder` is open; 16 bytes are read.
        let failed = unsafe { forward_route(self.forwarder, addr.as_ptr(), len, nexthop) };
        ensure!(failed >= 0, "{}: route refused ({failed})", self.name);
        Ok(())
    }

    fn buffers(case: &Case) -> Result<Buffers> {
        let pool = Pool::new(case.pool())?;
        let frames = (0..case.flows).filter_map(|_| pool.take()).collect();
        Ok(Buffers { frames, _pool: pool })
    }
}

impl Contender for Dpdk {
    fn name(&self) -> &str {
        self.name
    }

    fn origin(&self) -> &'static str {
        "peer"
    }

    fn fill(&mut self, frames: &[Vec<u8>]) {
        for (slot, bytes) in self.buffers.frames.iter_mut().zip(frames) {
            slot.set_len(bytes.len());
            slot.copy_from_slice(bytes);
        }
        let base = self.buffers.frames[0].as_mut_ptr();
        // SAFETY: the slots of a fresh pool follow each other at `stride`; they live as long as
        // `self`, and nothing else touches them while the forwarder runs.
        let done = unsafe {
            forward_frames(
                self.forwarder,
                base,
                frames.len() as u32,
                self.stride as u32,
                self.len as u32,
            )
        };
        assert_eq!(done, 1, "no memory for the queues");
    }

    fn laps(&mut self, laps: usize) -> u64 {
        let start = Instant::now();
        // SAFETY: the forwarder is open and filled.
        let drops = unsafe { forward_laps(self.forwarder, laps as u32) };
        let ns = start.elapsed().as_nanos() as u64;
        assert_eq!(drops, 0, "{} dropped frames", self.name);
        ns
    }

    fn frames(&mut self) -> Vec<Vec<u8>> {
        self.buffers.frames.iter().map(|frame| frame.to_vec()).collect()
    }
}

impl Drop for Dpdk {
    fn drop(&mut self) {
        // SAFETY: opened in `new`, closed once.
        unsafe { forward_close(self.forwarder) };
    }
}
