//! A modular forwarding information base (FIB): prefixes, a routing table (RIB), nexthops, route
//! lookup algorithms, and the framework that attaches, feeds and replaces them while readers run.
//!
//! The design follows the lookup framework that FreeBSD took in with D27401: routes live in a
//! [`Rib`]; a lookup [`Algorithm`](algo::Algorithm) builds a [`Lookup`] structure from a
//! [`Dump`](algo::Dump) of it and is then told of each change; which algorithm serves a table is
//! chosen by its preference for tables of that size, or fixed by name.
//!
//! The crate knows nothing of packets, devices or files.
//!
//! ```
//! use fwdlab_fib::{Fib, Inet, Nexthop, NexthopId};
//!
//! let mut fib = Fib::<Inet>::new(0)?;
//! let uplink = fib.add("0.0.0.0/0".parse()?, Nexthop::via(0xc612_0001, 0))?;
//! let lan = fib.add("198.19.0.0/16".parse()?, Nexthop::connected(1))?;
//!
//! // Each worker thread owns a reader.
//! let mut reader = fib.reader();
//! let mut answers = [NexthopId::NONE; 2];
//! reader.lookup_batch(&[0xc613_0102, 0x0808_0808], &mut answers);
//! assert_eq!(answers, [lan, uplink]);
//! assert_eq!(fib.nexthop(lan).map(|nexthop| nexthop.port), Some(1));
//!
//! // Changes are visible to readers at return, or after the next `sync` that finds them due.
//! fib.delete("198.19.0.0/16".parse()?)?;
//! assert_eq!(reader.lookup(0xc613_0102), uplink);
//! # Ok::<(), fwdlab_fib::FibError>(())
//! ```
#![deny(missing_docs)]

pub mod algo;
mod barrier;
mod caches;
pub mod control;
mod epoch;
mod error;
mod family;
mod fib;
mod fibs;
mod inlined;
mod log;
mod lookup;
mod nexthop;
mod prefix;
mod publish;
mod random;
mod registry;
mod rib;
mod rmlock;
mod simd;
mod sync;

pub use caches::CacheSizes;
pub use epoch::{Grace, Stamp};
pub use error::FibError;
pub use family::{Address, Family, Inet, Inet6, PerFamily};
pub use fib::{
    Applied, Choice, Fib, Loaded, Pinned, Reader, RouteCache, Stats, SyncPolicy, Synced, Update,
};
pub use fibs::Fibs;
pub use inlined::{Inlined, Singly};
pub use log::{Action, Event, Level, LogSink};
pub use lookup::Lookup;
pub use nexthop::{
    Nexthop, NexthopGroup, NexthopGroupError, NexthopId, NexthopKind, NexthopTable, NumberSink,
    Numbered, Target,
};
pub use prefix::{Prefix, PrefixError};
pub use random::Random;
pub use registry::{Listed, Registry};
pub use rib::{Covered, Rib};
pub use simd::level::Vectors;

/// The examples of the README, run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
