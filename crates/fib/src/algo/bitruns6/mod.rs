//! `bitruns6`: IPv6 tables of any size in a few MB, on one path for nearly all addresses.
//!
//! Through a table of 8 bits a *block* for the next 8, a *page* for the 10 after them, and a *record* of
//! 64 cells, each a /32; what a /32 has is in a *leaf* of 16-bit keys:
//!
//! ```text
//! block   = top[addr >> 120]
//! page    = block.places[addr >> 112 & 255]
//! record  = page[(addr >> 96 & 65535) >> page.shift]
//! leaf    = record.values[popcount(record.bitmap >> (addr >> 96 & 63)) - 1]
//! nexthop = leaf.nexthops[first of leaf.keys >= addr >> 80 & 65535]
//! ```
//!
//! A record is that of [`bitruns4`](super::bitruns4): a bitmap with a bit for each cell in which a
//! run of equal values ends, followed by the runs' values, last run first. A leaf is the runs of one /32
//! by the next 16 bits, in as many slots of a cache line as it has runs: see `tree.rs`. More than 16
//! runs have inner lines above their leaves (PlanB, NSDI 2026, does this with the whole table), routes longer
//! than /48 a list beside them.
//!
//! All addresses of a batch go this way together, a level at a time, and all take the same steps: a
//! /16 with one nexthop has a page of one entry and a record of one run, a /32 with one nexthop a leaf of
//! one run, which are shared, as in [`direct6`](super::direct6). A first look at the blocks, which say for
//! each /16 whether it has one nexthop, answers batches of mostly random addresses.
//!
//! Nothing but entries of blocks and pages is changed once readers can find it: an update writes new records
//! and trees and stores their number into the page; old ones are reused after a grace period.

mod build;
mod layout;
mod reader;
mod stage;
#[cfg(test)]
mod tests;
mod tree;

use reader::{Reader, Tables};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

pub use build::BitRuns6;

use crate::family::Inet6;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::level::{self, Batched, Kernel};

struct Single<'a>(&'a Tables, u128);

impl Kernel for Single<'_> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        let Self(tables, addr) = self;
        NexthopId(tables.reader().lookup::<C>(addr))
    }
}

impl Batched<u128> for &Tables {
    #[inline(always)]
    fn batch<C: Count>(self, addrs: &[u128], answers: &mut [NexthopId]) {
        stage::batch::<C>(self.reader(), addrs, answers);
    }
}

struct Shared(Arc<Tables>);

impl Lookup<Inet6> for Shared {
    fn lookup(&self, addr: u128) -> NexthopId {
        level::run_one(Single(&self.0, addr))
    }

    fn lookup_batch(&self, addrs: &[u128], answers: &mut [NexthopId]) {
        level::run_batch(&*self.0, addrs, answers);
    }

    fn memory_bytes(&self) -> usize {
        layout::TOPS * 4 + self.0.used_words.load(Relaxed) * 8
    }
}
