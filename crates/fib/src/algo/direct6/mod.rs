//! `direct6`: IPv6 tables at four memory accesses and no branch for routes of up to /48.
//!
//! A first look at a table of the first 16 bits answers what has one nexthop for its whole /16. All
//! other lookups go the same way, whatever they meet: through a table of the first 16 bits, a *page*
//! for the next 16, a *node* for the 16 after them, and a *line* with up to 16 runs of equal
//! nexthops, which one vector comparison searches:
//!
//! ```text
//! page    = top[addr >> 112]
//! node    = page.entries[key(1) >> page.shift]        key(i) = addr >> 112 - 16 i & 65535
//! line    = node.entries[key(2) >> node.shift]
//! nexthop = line.nexthops[number of line.keys <= key(2), less 1]
//! ```
//!
//! Beside each page lies which of it are *gaps*, entries with its usual nexthop, in a few cache lines; batches
//! of mostly random addresses ask there before they fetch an entry from memory.
//!
//! Pages and nodes are as wide as they must be: a page has 2^16 entries only where routes are that
//! long, a node has one as long as its /32 has at most 16 runs. What is shorter, an empty /16 for
//! example, is a shared page of one entry, a shared node and a shared line. So there is nothing to
//! decide on the way, and the processor works on some twenty lookups at a time; a wrongly predicted
//! branch would cost as much as a whole lookup.
//!
//! Lines with routes longer than /48 have a flag and a second line with the nodes for the next 16
//! bits; what is longer than /64 ends in a sorted list. A /16 with few routes that would need a
//! large page takes this way from its first 16 bits on. Batches note the flagged lines in a mask
//! and finish them level by level. With large tables they go the fixed path in two walks, first to all
//! lines, which are fetched, then to what they say: a few instructions more, and nearly twice the rate
//! of random lookups that miss the nearest caches.
//!
//! Tables of direct entries with run-time shifts are those of LC-tries (Nilsson and Karlsson, "IP
//! address lookup using LC-tries", IEEE JSAC 1999); cache lines of keys searched at once are those
//! of PlanB (NSDI 2026). What is different: one path of fixed length, in which short answers go
//! through shared one-entry tables in place of tests.
//!
//! Nexthops have 16 bits. Tables with higher numbers have wide lines, see [`line`].
//!
//! Entries are single atomic numbers; nodes and lines are never changed once readers can find them.

mod build;
mod by_nexthop;
mod change;
mod chunk;
mod deep;
mod gaps;
mod layout;
mod line;
mod lines;
mod reader;
mod retire;
mod stages;
#[cfg(test)]
mod tests;

use layout::{
    DEEP, FEW, KEY_BITS, LARGE_BYTES, LINE_OFFSET, MORE, NEXT_SHIFT, PAGES, SHARED, SHIFT_BITS,
    SHIFT_MASK, STAGE, key,
};
use reader::{Reader, Tables};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

pub use change::Direct6;

use crate::family::Inet6;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::lanes::{self, Groups};
use crate::simd::level::{self, Batched, Kernel};

/// A single lookup beyond the first look.
struct Below<'a, const WIDE: bool>(&'a Tables, u128);

impl<const WIDE: bool> Kernel for Below<'_, WIDE> {
    type Output = NexthopId;

    #[inline(always)]
    fn run<C: Count>(self) -> NexthopId {
        let Self(tables, addr) = self;
        NexthopId(tables.reader::<WIDE>().lookup_below::<C>(addr))
    }
}

/// The same for all addresses with the same first 64 bits.
struct Upper<'a, const WIDE: bool>(&'a Tables, u128);

impl<const WIDE: bool> Kernel for Upper<'_, WIDE> {
    type Output = Option<NexthopId>;

    #[inline(always)]
    fn run<C: Count>(self) -> Option<NexthopId> {
        let Self(tables, addr) = self;
        tables.reader::<WIDE>().lookup_upper::<C>(addr).ok().map(NexthopId)
    }
}

/// Lookups of many addresses.
struct Batch<'a, const WIDE: bool>(&'a Tables);

impl<const WIDE: bool> Batched<u128> for Batch<'_, WIDE> {
    #[inline(always)]
    fn batch<C: Count>(self, addrs: &[u128], answers: &mut [NexthopId]) {
        let Self(tables) = self;
        let reader = tables.reader::<WIDE>();
        let Groups { addrs, answers, rest, rest_answers } =
            lanes::groups::<_, _, STAGE>(addrs, answers);
        if tables.is_large.load(Relaxed) {
            reader.stages::<C, true>(addrs, answers);
        } else {
            reader.stages::<C, false>(addrs, answers);
        }
        lanes::fill(rest, rest_answers, |addr| NexthopId(reader.lookup::<C>(addr)));
    }
}

/// The tables for readers.
pub(crate) struct Shared(Arc<Tables>);

impl Lookup<Inet6> for Shared {
    #[inline(always)]
    fn lookup(&self, addr: u128) -> NexthopId {
        let tables = &*self.0;
        match tables.reader::<false>().whole(addr) {
            nexthop if nexthop & MORE == 0 => NexthopId(nexthop),
            _ if tables.is_wide => level::run_one(Below::<true>(tables, addr)),
            _ => level::run_one(Below::<false>(tables, addr)),
        }
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn lookup_batch(&self, addrs: &[u128], answers: &mut [NexthopId]) {
        match self.0.is_wide {
            true => level::run_batch(Batch::<true>(&self.0), addrs, answers),
            false => level::run_batch(Batch::<false>(&self.0), addrs, answers),
        }
    }

    fn lookup_half(&self, addr: u128) -> Option<NexthopId> {
        let tables = &*self.0;
        match tables.reader::<false>().whole(addr) {
            nexthop if nexthop & MORE == 0 => Some(NexthopId(nexthop)),
            _ if tables.is_wide => level::run_one(Upper::<true>(tables, addr)),
            _ => level::run_one(Upper::<false>(tables, addr)),
        }
    }

    fn memory_bytes(&self) -> usize {
        2 * PAGES * 4 + self.0.used_words.load(Relaxed) * 8
    }
}
