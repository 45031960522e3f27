//! The experiment: what a person asks to be measured.
//!
//! An experiment file is TOML (docs/experiment-file.md lists every key). It is
//! validated in full before anything is made: [`Experiment::parse`] reports
//! every problem that it finds, each with its line and column, what was
//! wanted, and a remedy. A parsed [`Experiment`] therefore needs no further
//! checks: its ranges run forwards, its destinations are reachable, its
//! control words exist.

mod addresses;
mod check;
mod control;
mod family;
mod fields;
mod linux;
mod load;
mod measure;
mod model;
mod parts;
mod pktgen;
mod prefix;
mod problem;
mod quantity;
mod read;
mod vm;

#[cfg(test)]
mod tests;

pub use addresses::Endpoint;
pub use control::EXTRA_NS_PER_FRAME;
pub use family::Family;
pub use linux::{LinuxSettings, MoreRoutes, NFTABLES, TesterKind, Text, Xdp};
pub use load::Load;
pub use measure::Measure;
pub use model::{
    Allowance, Blocks, DeviceKind, Experiment, Route, RouteSource, Routes, Traffic, Variant,
};
pub use prefix::{NotAPrefix, Prefix};
pub use problem::{Problem, Problems};
pub(crate) use read::hexadecimal;
pub use vm::{VmClock, VmMachine, VmTester, VmVariant};
