//! `bitruns6`: IPv6 tables of any size in a few MB, three to five memory accesses for a lookup.
//!
//! The levels look at 10, 6, 10 and 6 bits; what is left of the few networks of /32 that hold longer
//! routes goes to small search trees of 16-bit keys:
//!
//! ```text
//! page   = top[addr >> 118].find(addr >> 112 & 63)    or the nexthop of the whole /16
//! record = page[addr >> 102 & 1023]
//! value  = record.find(addr >> 96 & 63)
//! value has TREE ? tree.find(addr >> 80 & 65535) : value
//! record.find(cell) = record.values[popcount(record.bitmap >> cell) - 1]
//! ```
//!
//! A record is that of [`bitruns4`](super::bitruns4): a bitmap with a bit for each cell in which a
//! run of equal values ends, followed by the runs' values, last run first. A tree is the runs of
//! one /32 by the next 16 bits: leaves of 16 keys and 16 nexthops in one cache line, inner lines of
//! 32 keys, laid out level by level without pointers, each searched with one vector comparison
//! (PlanB, NSDI 2026, does this with the whole table). Most have a few runs: up to 4 take a fourth of a
//! line, up to 8 half of it. A /32 with routes longer than /48 is a sorted list instead.
//!
//! Nothing is changed once readers can find it: an update writes new records and trees and stores
//! their number into the page; old ones are reused after a grace period.

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
use crate::simd::level::{self, Kernel};

struct Single<'a>(&'a Tables, u128);

impl Kernel for Single<'_> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        let Self(tables, addr) = self;
        NexthopId(tables.reader().lookup::<C>(addr))
    }
}

struct Batch<'a>(&'a Tables, &'a [u128], &'a mut [NexthopId]);

impl Kernel for Batch<'_> {
    type Output = ();

    #[inline(always)]
    fn run<C: Count>(self) {
        let Self(tables, addrs, answers) = self;
        stage::batch::<C>(tables.reader(), addrs, answers);
    }
}

struct Shared(Arc<Tables>);

impl Lookup<Inet6> for Shared {
    fn lookup(&self, addr: u128) -> NexthopId {
        level::run_one(Single(&self.0, addr))
    }

    fn lookup_batch(&self, addrs: &[u128], answers: &mut [NexthopId]) {
        level::run(Batch(&self.0, addrs, answers));
    }

    fn memory_bytes(&self) -> usize {
        layout::TOPS * 4 + self.0.used_words.load(Relaxed) * 8
    }
}
