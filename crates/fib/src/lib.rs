//! A modular forwarding information base (FIB): prefixes, a routing table (RIB), nexthops, route
//! lookup algorithms, and the framework that attaches, feeds and replaces them while readers run.
//!
//! The design follows the lookup framework that FreeBSD took in with D27401: routes live in a
//! [`Rib`]; a lookup [`Algorithm`](algo::Algorithm) builds a [`Lookup`] structure from a
//! [`Dump`](algo::Dump) of it and is then told of each change; which algorithm serves a table is
//! chosen by its preference for tables of that size, or fixed by name.
//!
//! The crate knows nothing of packets, devices or files.
#![deny(missing_docs)]

pub mod algo;
mod caches;
pub mod conformance;
pub mod control;
mod epoch;
mod error;
mod family;
mod fib;
mod fibs;
mod log;
mod lookup;
mod nexthop;
mod prefix;
mod publish;
mod random;
mod rib;
mod simd;
mod sync;
pub mod synth;

pub use caches::CacheSizes;
pub use epoch::{Grace, Stamp};
pub use error::FibError;
pub use family::{Address, Family, Inet, Inet6};
pub use fib::{Applied, Choice, Fib, Loaded, Pinned, Reader, Stats, SyncPolicy, Synced, Update};
pub use fibs::Fibs;
pub use log::{Action, Event, Level, LogSink};
pub use lookup::Lookup;
pub use nexthop::{Group, GroupError, Nexthop, NexthopId, NexthopKind, NexthopTable, Target};
pub use prefix::{Prefix, PrefixError};
pub use random::Random;
pub use rib::{Covered, Rib};
