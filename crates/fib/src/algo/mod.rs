//! Lookup algorithms and the interface between them and the framework.
//!
//! An [`Algorithm`] is a static object with a name; it builds a [`Module`] from a [`Dump`] of the
//! routing table. The module owns what is needed for updates and hands out the [`Lookup`] that
//! readers use. To add an algorithm to this crate, write its file, name it in this one, append one line
//! to the lists in `registry.rs`, and a table to those of `bench/cost`; to add one from outside, [attach](crate::Fib::attach) it.

mod ahead;
mod anew;
mod bitruns4;
mod bitruns6;
mod bsearch;
mod direct4;
mod direct6;
mod dpdk_lpm;
mod dump;
mod dxr;
mod levels;
mod linear;
mod pending;
mod planb6;
mod poptrie;
mod radix;
mod ranges;
mod slab;
mod spans;
#[cfg(test)]
mod tests;
mod tree6;
mod vector;

use std::fmt::Debug;
use std::sync::Arc;

pub use dump::Dump;
pub use linear::Linear;
pub use ranges::ranges;

pub(crate) use bitruns4::BitRuns4;
pub(crate) use bitruns6::BitRuns6;
pub(crate) use bsearch::BinarySearch;
pub(crate) use direct4::{Coded, Direct4, Shared as Direct4Shared};
pub(crate) use direct6::{Direct6, Shared as Direct6Shared};
pub(crate) use dpdk_lpm::DpdkLpm;
pub(crate) use dxr::Dxr;
pub(crate) use planb6::PlanB6;
pub(crate) use poptrie::Poptrie;
pub(crate) use radix::{Radix, RadixLockless};
pub(crate) use tree6::Tree6;
pub(crate) use vector::{RangeList, Vector};

use crate::epoch::Grace;
use crate::family::Family;
use crate::lookup::Lookup;
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// Up to this many routes, an algorithm without updates of its own replaces its structure at each
/// change (a few us) instead of asking for a rebuild, which waits for the sync policy.
pub(crate) const SMALL_TABLE: usize = 64;

/// Largest table that an algorithm can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Highest nexthop number ([`NexthopId`]).
    pub nexthops: u32,
    /// Number of prefixes.
    pub prefixes: usize,
}

impl Limits {
    /// No limit of its own.
    pub const NONE: Self = Self { nexthops: u32::MAX, prefixes: usize::MAX };
}

/// What an algorithm may base its preference on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableFacts {
    /// Number of prefixes.
    pub prefixes: usize,
    /// Highest nexthop number in use.
    pub nexthops: u32,
    /// Longest prefix length in the table.
    pub longest: u8,
    /// Size of the second-level cache of one core; 0 when unknown.
    pub l2_cache_bytes: usize,
    /// Size of the last-level cache; 0 when unknown.
    pub last_cache_bytes: usize,
}

/// One change of a route, relative to the table before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<F: Family> {
    /// The route's prefix.
    pub prefix: Prefix<F>,
    /// Its nexthop before the change, [`NexthopId::NONE`] when it is new.
    pub old: NexthopId,
    /// Its nexthop after the change, [`NexthopId::NONE`] when it is deleted.
    pub new: NexthopId,
}

/// Why an algorithm cannot serve a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AlgorithmError {
    /// Too many prefixes.
    #[error("{got} prefixes are more than its limit of {limit}")]
    TooManyPrefixes {
        /// Prefixes in the table.
        got: usize,
        /// What it can hold.
        limit: usize,
    },
    /// A nexthop number is too high.
    #[error("nexthop number {got} is above its limit of {limit}")]
    TooManyNexthops {
        /// The number.
        got: u32,
        /// What it can hold.
        limit: u32,
    },
    /// An internal structure is full.
    #[error("its {what} is full ({limit} entries)")]
    Full {
        /// Which structure.
        what: &'static str,
        /// How many entries it holds.
        limit: usize,
    },
    /// Memory could not be had.
    #[error("cannot allocate {bytes} bytes")]
    OutOfMemory {
        /// How many were asked for.
        bytes: usize,
    },
}

/// What came of [`Module::apply`].
pub enum Response<F: Family> {
    /// The lookup structure that readers hold has been updated in place.
    Applied,
    /// Readers are to be moved to this structure.
    Replaced(Arc<dyn Lookup<F>>),
    /// The module cannot apply this; build anew from a dump.
    Rebuild {
        /// Why, for the log.
        reason: &'static str,
    },
    /// The algorithm cannot serve the table any more; another one must take over.
    Failed(AlgorithmError),
}

/// What one module of an algorithm hands to the next: the algorithm alone knows what it is.
pub type Auxiliary = Box<dyn std::any::Any + Send>;

/// A lookup algorithm: builds modules, and says which tables it likes.
pub trait Algorithm<F: Family>: Debug + Sync {
    /// Its name in control words and logs, for example `bsearch4`.
    fn name(&self) -> &'static str;

    /// The largest table that it can hold.
    fn limits(&self) -> Limits {
        Limits::NONE
    }

    /// How well it would serve a table, from 0 (never choose it) to 255 (nothing is better). A pure
    /// function of `facts`. The framework has checked the limits before.
    ///
    /// A table is moved to another algorithm only when that is better by 5 % of the scale (13
    /// points): where a shrinking table shall go back, leave such a gap.
    fn preference(&self, facts: &TableFacts) -> u8;

    /// Whether the framework answers for the default route by itself, so that a change of it writes one number:
    /// for structures that spread a route over all addresses that it covers. Its modules never meet that route,
    /// neither in a dump nor as a change nor in [`Rib::part`]; [`NexthopId::NONE`] says that there is no other.
    fn leaves_default(&self) -> bool {
        false
    }

    /// Builds the structure for the routes of `dump`.
    ///
    /// # Errors
    /// When the table is beyond what the algorithm can hold.
    fn build(&self, dump: &Dump<F>) -> Result<Box<dyn Module<F>>, AlgorithmError>;

    /// Bits of the nexthop numbers in the structure for such a table.
    fn nexthop_bits(&self, facts: &TableFacts) -> u32 {
        let _ = facts;
        u32::BITS - self.limits().nexthops.leading_zeros()
    }

    /// Builds the form for a table with higher nexthop numbers; `None` where that is no other. For comparisons.
    ///
    /// # Errors
    /// As [`Algorithm::build`].
    fn build_wide(&self, dump: &Dump<F>) -> Option<Result<Box<dyn Module<F>>, AlgorithmError>> {
        let _ = dump;
        None
    }

    /// As [`Algorithm::build`], in place of a module of this algorithm that has handed over
    /// [`Module::auxiliary`] data. By default they are of no use.
    ///
    /// # Errors
    /// As [`Algorithm::build`].
    fn rebuild(
        &self,
        dump: &Dump<F>,
        auxiliary: Auxiliary,
    ) -> Result<Box<dyn Module<F>>, AlgorithmError> {
        drop(auxiliary);
        self.build(dump)
    }
}

/// An attached instance of an algorithm.
pub trait Module<F: Family>: Send {
    /// The structure that readers use now.
    fn lookup(&self) -> Arc<dyn Lookup<F>>;

    /// Brings the structure up to date with `rib`, which already holds **all** of `changes`:
    /// recomputing the range of each changed prefix from `rib` is right, in any order.
    ///
    /// Memory that readers may still look at must not be reused at once: unlink it, take a stamp
    /// with [`Grace::stamp`], and reuse it when [`Grace::has_passed`] says so. A structure handed
    /// over with [`Response::Replaced`] needs no such care: the framework frees the old one.
    ///
    /// The word of a [`Grace`] holds for lookups through [`Reader`](crate::Reader)s. Anybody can build
    /// a module and keep its [`Module::lookup`], so what such a lookup reads while it is reused must
    /// be atomic: a wrong answer there, never undefined behaviour. The modules of this crate cannot
    /// be had but through a [`Fib`](crate::Fib).
    fn apply(&mut self, changes: &[Change<F>], rib: &Rib<F>, grace: &Grace<'_>) -> Response<F>;

    /// Whether something is left for [`Module::do_some`].
    fn has_left_some(&self) -> bool {
        false
    }

    /// Does a part of what changes have left for a quiet moment, some 100 us of it: answers are right
    /// without, if slower. Not asked while `rib` holds changes that were not applied.
    fn do_some(&mut self, rib: &Rib<F>, grace: &Grace<'_>) {
        let _ = (rib, grace);
    }

    /// What the module that is built in place of this one can use of it, see [`Algorithm::rebuild`].
    /// This one is asked to apply nothing afterwards; its lookups go on until readers have left.
    fn auxiliary(&mut self) -> Option<Auxiliary> {
        None
    }

    /// Bytes that the module keeps beside the lookup structure, for updates.
    fn builder_bytes(&self) -> usize {
        0
    }
}
