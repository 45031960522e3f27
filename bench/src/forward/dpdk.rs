//! The DPDK forwarder of `shim/forward.c` as a contender.
//!
//! With unsafe code: calls across the language border.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use fwdlab_fib::algo::Dump;
use fwdlab_fib::{Family, NexthopId, Prefix};
use fwdlab_port::{Pool, affinity};

use super::case::{
    BURSTS, Case, Contender, FamilyName, OUTPUT_MAC, PAIR_FRAMES, PLACES, ROUTER_MAC,
};
use super::table::Routes;
use crate::machine;
use crate::peers::dpdk::{self as library, Variant};

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

// SAFETY: the declarations repeat shim/forward.c; the library is linked by build.rs.
unsafe extern "C" {
    fn forward_open(table: *const library::Peer, burst: u32, own_mac: *const u8) -> *mut Forwarder;
    fn forward_close(forwarder: *mut Forwarder);
    fn forward_nexthop(forwarder: *mut Forwarder, id: u32, macs: *const u8, port: u32, mtu: u32);
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
    fn pair_tester(
        pair: *mut Pair,
        macs: *const u8,
        is_inet: c_int,
        burst: u32,
        frames: u64,
    ) -> u64;
}

/// The peers of a case: every library that holds its table, in bursts of both sizes.
///
/// # Errors
/// When DPDK does not start.
pub fn forwarders(case: &Case, routes: &Routes) -> Result<Vec<Box<dyn Contender>>> {
    start()?;
    let mut all: Vec<Box<dyn Contender>> = Vec::new();
    for &variant in variants(case.family) {
        let Some(table) = table(variant, case.family, routes) else { continue };
        for burst in BURSTS {
            all.push(Box::new(Dpdk::new(table.clone(), burst, case, routes)?));
        }
    }
    Ok(all)
}

fn start() -> Result<()> {
    let has_started = library::start(machine::last_cpu());
    ensure!(has_started, "DPDK does not start: are there 2 GB of free memory?");
    Ok(())
}

fn variants(family: FamilyName) -> &'static [Variant] {
    match family {
        FamilyName::Inet => library::INET,
        FamilyName::Inet6 => library::INET6,
    }
}

/// A table of the case's routes; `None` where the library cannot hold them, or takes minutes.
fn table(variant: Variant, family: FamilyName, routes: &Routes) -> Option<Rc<library::Dpdk>> {
    fn dump<F: Family>(prefixes: &[Prefix<F>], routes: &Routes) -> Dump<F> {
        let numbered = |&prefix: &Prefix<F>| (prefix, NexthopId(routes.gateway(prefix)));
        Dump::new(prefixes.iter().map(numbered).collect())
    }
    let table = match family {
        FamilyName::Inet if variant.is_too_slow_for(routes.inet.len()) => None,
        FamilyName::Inet => library::Dpdk::inet(variant, &dump(&routes.inet, routes)),
        FamilyName::Inet6 => library::Dpdk::inet6(variant, &dump(&routes.inet6, routes)),
    };
    table.map(Rc::new)
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

/// Two cores over rings, `burst` frames at a time on both: nanoseconds per frame, with the library of
/// 4-byte entries.
///
/// # Errors
/// When DPDK does not start, or frames are forwarded wrongly.
pub fn pair(case: &Case, burst: usize, cores: (usize, usize)) -> Result<f64> {
    start()?;
    let routes = Routes::two();
    let is_inet = case.family == FamilyName::Inet;
    let widest = variants(case.family).iter().max_by_key(|variant| variant.nexthop_bits());
    let table = widest.and_then(|variant| table(*variant, case.family, &routes));
    let mut dpdk = Dpdk::new(table.context("DPDK refuses two routes")?, burst, case, &routes)?;
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
        unsafe { pair_tester(pair, macs.as_ptr(), c_int::from(is_inet), burst as u32, frames) }
    };
    let (ns, wrong) = std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = affinity::pin_current_thread(cores.1);
            // SAFETY: both stay open until this thread is joined.
            unsafe { pair_device(rings.get(), forwarder.get()) };
        });
        let _ = affinity::pin_current_thread(cores.0);
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
    name: String,
    /// What the forwarder looks up in.
    _table: Rc<library::Dpdk>,
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
    fn new(table: Rc<library::Dpdk>, burst: usize, case: &Case, routes: &Routes) -> Result<Self> {
        let name = format!("DPDK {}, bursts of {burst}", table.variant().name());
        // SAFETY: the table lives as long as the forwarder; six bytes are read during the call.
        let forwarder =
            unsafe { forward_open(table.as_peer(), burst as u32, ROUTER_MAC.0.as_ptr()) };
        ensure!(!forwarder.is_null(), "{name}: no memory");
        let mut macs = [0; 12];
        macs[..6].copy_from_slice(&ROUTER_MAC.0);
        macs[6..].copy_from_slice(&OUTPUT_MAC.0);
        for gateway in routes.gateways() {
            // SAFETY: `forwarder` is open; twelve bytes are read.
            unsafe { forward_nexthop(forwarder, gateway, macs.as_ptr(), 1, 1500) };
        }
        let len = if case.family == FamilyName::Inet { 60 } else { 62 };
        let buffers = Self::buffers(case)?;
        Ok(Self { name, _table: table, forwarder, buffers, stride: case.stride, len })
    }

    fn buffers(case: &Case) -> Result<Buffers> {
        let pool = Pool::new(case.pool())?;
        let frames = (0..case.flows).filter_map(|_| pool.take()).collect();
        Ok(Buffers { frames, _pool: pool })
    }
}

impl Contender for Dpdk {
    fn name(&self) -> &str {
        &self.name
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
