//! DPDK's lookup libraries, called through the C shim in `shim/dpdk.c`.
//!
//! With unsafe code: calls across the language border.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::marker::PhantomData;
use std::sync::OnceLock;

use fwdlab_fib::algo::Dump;
use fwdlab_fib::{Family, Inet, Inet6};
use fwdlab_lookups::{Contender, Keys, Origin};

/// A table on the other side of the language border.
#[repr(C)]
pub struct Peer {
    _opaque: [u8; 0],
    _not_send: PhantomData<*mut u8>,
}

// SAFETY: the declarations repeat shim/dpdk.c; the library is linked by build.rs.
unsafe extern "C" {
    fn shim_start(cpu: u32, megabytes: u32) -> c_int;
    fn shim_open(kind: c_int, bytes_log2: u32, routes: u32, groups: u32, without: u32)
    -> *mut Peer;
    fn shim_close(peer: *mut Peer);
    fn shim_is_vector(peer: *const Peer) -> c_int;
    fn shim_add4(peer: *mut Peer, addr: u32, len: u8, nexthop: u32) -> c_int;
    fn shim_add6(peer: *mut Peer, addr: *const u8, len: u8, nexthop: u32) -> c_int;
    fn shim_batch4(peer: *mut Peer, addrs: *const u32, n: u32, burst: u32) -> u64;
    fn shim_batch6(peer: *mut Peer, addrs: *const [u8; 16], n: u32, burst: u32) -> u64;
    fn shim_single4(peer: *mut Peer, addrs: *const u32, n: u32, dependent: c_int) -> u64;
    fn shim_single6(peer: *mut Peer, addrs: *const [u8; 16], n: u32, dependent: c_int) -> u64;
}

/// The largest burst that the shim has room for.
const BURST_MAX: usize = 1024;
/// Memory for all DPDK tables of one routing table.
const MEGABYTES: u32 = 2048;

/// A DPDK library with one of its entry sizes.
#[derive(Clone, Copy)]
pub struct Variant {
    name: &'static str,
    kind: c_int,
    bytes_log2: u32,
    nexthop_bits: u32,
    /// Bytes of the first-level table, and of one second-level group.
    layout: (usize, usize),
    /// Too slow to build for large tables.
    slow_build: bool,
}

/// The IPv4 peers.
pub const INET: &[Variant] = &[
    variant("rte_fib 1 byte", 0, 0, 7, (1 << 24, 256)),
    variant("rte_fib 2 bytes", 0, 1, 15, (2 << 24, 512)),
    variant("rte_fib 4 bytes", 0, 2, 31, (4 << 24, 1024)),
    Variant { slow_build: true, ..variant("rte_lpm", 1, 2, 24, (4 << 24, 1024)) },
];
/// The IPv6 peers.
pub const INET6: &[Variant] = &[
    variant("rte_fib6 2 bytes", 2, 1, 15, (2 << 24, 512)),
    variant("rte_fib6 4 bytes", 2, 2, 31, (4 << 24, 1024)),
    variant("rte_lpm6", 3, 2, 21, (4 << 24, 1024)),
];

const fn variant(
    name: &'static str,
    kind: c_int,
    bytes_log2: u32,
    nexthop_bits: u32,
    layout: (usize, usize),
) -> Variant {
    Variant { name, kind, bytes_log2, nexthop_bits, layout, slow_build: false }
}

impl Variant {
    /// Name in the results.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Bits of a nexthop.
    pub fn nexthop_bits(&self) -> u32 {
        self.nexthop_bits
    }

    /// Whether a table of that many routes takes minutes to build.
    pub fn is_too_slow_for(&self, routes: usize) -> bool {
        self.slow_build && routes > 20_000
    }
}

/// Starts DPDK once, on the calling thread, which it pins to `cpu`.
pub fn start(cpu: u32) -> bool {
    static STARTED: OnceLock<bool> = OnceLock::new();
    // SAFETY: called once, before any other call of the shim.
    *STARTED.get_or_init(|| unsafe { shim_start(cpu, MEGABYTES) } == 1)
}

/// One DPDK table.
pub struct Dpdk {
    variant: Variant,
    peer: *mut Peer,
    /// Second-level groups that its routes use.
    groups: usize,
}

impl Dpdk {
    fn open<F: Family>(variant: Variant, dump: &Dump<F>, groups: usize) -> Option<Self> {
        let routes = dump.len() as u32 + 16;
        let default = dump.routes().first().filter(|route| route.0.len() == 0);
        let without = default.map_or(0, |route| route.1.0);
        // A few to spare; rte_fib6 reserves a group for each level of each prefix, shared or not. A
        // group number takes the place of a nexthop.
        let room = (6 * groups + 1024).min((1 << variant.nexthop_bits.min(20)) - 1);
        // SAFETY: plain numbers; a null pointer is handled below.
        let peer =
            unsafe { shim_open(variant.kind, variant.bytes_log2, routes, room as u32, without) };
        // SAFETY: `peer` is open.
        if !peer.is_null() && unsafe { shim_is_vector(peer) } == 0 {
            eprintln!("{}: this processor has no AVX-512, so it looks up without", variant.name);
        }
        (!peer.is_null()).then_some(Self { variant, peer, groups })
    }

    /// An IPv4 table, or `None` when DPDK refuses it.
    pub fn inet(variant: Variant, dump: &Dump<Inet>) -> Option<Self> {
        let groups =
            group_count(dump.routes().iter().map(|r| (u128::from(r.0.addr()) << 96, r.0.len())));
        let table = Self::open(variant, dump, groups)?;
        for (prefix, nexthop) in dump.routes().iter().filter(|route| route.0.len() > 0) {
            // SAFETY: `peer` came from shim_open and is not closed yet.
            let failed = unsafe { shim_add4(table.peer, prefix.addr(), prefix.len(), nexthop.0) };
            if failed != 0 {
                return None;
            }
        }
        Some(table)
    }

    /// An IPv6 table, or `None` when DPDK refuses it.
    pub fn inet6(variant: Variant, dump: &Dump<Inet6>) -> Option<Self> {
        let groups = group_count(dump.routes().iter().map(|r| (r.0.addr(), r.0.len())));
        let table = Self::open(variant, dump, groups)?;
        for (prefix, nexthop) in dump.routes().iter().filter(|route| route.0.len() > 0) {
            let addr = prefix.addr().to_be_bytes();
            // SAFETY: `peer` is open, `addr` has 16 bytes.
            let failed = unsafe { shim_add6(table.peer, addr.as_ptr(), prefix.len(), nexthop.0) };
            if failed != 0 {
                return None;
            }
        }
        Some(table)
    }
}

/// Second-level groups that a table uses: one for each different first 24, 32, ... bits of the
/// prefixes that are longer.
fn group_count(prefixes: impl Iterator<Item = (u128, u8)>) -> usize {
    let mut heads: Vec<(u8, u128)> = prefixes
        .filter(|&(_, len)| len > 24)
        .flat_map(|(addr, len)| (24..len).step_by(8).map(move |cut| (cut, addr >> (128 - cut))))
        .collect();
    heads.sort_unstable();
    heads.dedup();
    heads.len()
}

impl Drop for Dpdk {
    fn drop(&mut self) {
        // SAFETY: opened by shim_open, closed only here.
        unsafe { shim_close(self.peer) }
    }
}

impl Dpdk {
    /// The library and its entries.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The table, which lives as long as `self`.
    pub fn as_peer(&self) -> *const Peer {
        self.peer
    }

    fn bytes(&self) -> usize {
        self.variant.layout.0 + self.groups * self.variant.layout.1
    }
}

impl Contender<Inet> for Dpdk {
    fn name(&self) -> &str {
        self.variant.name
    }
    fn origin(&self) -> Origin {
        Origin::Peer
    }
    fn nexthop_bits(&self) -> u32 {
        self.variant.nexthop_bits
    }
    fn memory_bytes(&self) -> usize {
        self.bytes()
    }
    fn batch(&mut self, keys: &Keys<Inet>, burst: usize) -> u64 {
        let addrs = keys.native();
        let burst = burst.clamp(1, BURST_MAX) as u32;
        // SAFETY: `addrs` holds the number of addresses passed, the burst fits the shim's buffers.
        unsafe { shim_batch4(self.peer, addrs.as_ptr(), addrs.len() as u32, burst) }
    }
    fn single(&mut self, keys: &Keys<Inet>, dependent: bool) -> u64 {
        let addrs = keys.native();
        let dependent = c_int::from(dependent);
        // SAFETY: `addrs` holds the number of addresses passed.
        unsafe { shim_single4(self.peer, addrs.as_ptr(), addrs.len() as u32, dependent) }
    }
}

impl Contender<Inet6> for Dpdk {
    fn name(&self) -> &str {
        self.variant.name
    }
    fn origin(&self) -> Origin {
        Origin::Peer
    }
    fn nexthop_bits(&self) -> u32 {
        self.variant.nexthop_bits
    }
    fn memory_bytes(&self) -> usize {
        self.bytes()
    }
    fn batch(&mut self, keys: &Keys<Inet6>, burst: usize) -> u64 {
        let addrs = keys.wire();
        let burst = burst.clamp(1, BURST_MAX) as u32;
        // SAFETY: `addrs` holds the number of addresses passed, the burst fits the shim's buffers.
        unsafe { shim_batch6(self.peer, addrs.as_ptr(), addrs.len() as u32, burst) }
    }
    fn single(&mut self, keys: &Keys<Inet6>, dependent: bool) -> u64 {
        let addrs = keys.wire();
        let dependent = c_int::from(dependent);
        // SAFETY: `addrs` holds the number of addresses passed.
        unsafe { shim_single6(self.peer, addrs.as_ptr(), addrs.len() as u32, dependent) }
    }
}
