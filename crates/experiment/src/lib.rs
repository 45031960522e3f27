//! The experiment: what a person asks to be measured.
//!
//! An experiment file is TOML (docs/experiment-file.md lists every key). It is
//! validated in full before anything is made: [`Experiment::parse`] reports
//! every problem that it finds, each with its line and column, what was
//! wanted, and a remedy. A parsed [`Experiment`] therefore needs no further
//! checks: its ranges run forwards, its destinations are reachable, its
//! control words exist.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod able;
mod addresses;
mod attach;
mod capture;
mod check;
mod churn;
mod convergence;
mod dealt;
mod error;
mod groups;
mod head;
pub mod inputs;
mod kind;
mod load;
mod measures;
mod mesh;
mod model;
mod pairs;
mod parts;
mod pointing;
pub mod quantity;
mod reach;
mod read;
pub mod schema;
mod sessions;
mod streams;

#[cfg(test)]
mod attach_tests;
#[cfg(test)]
mod mesh_tests;
#[cfg(test)]
mod remedy_tests;
#[cfg(test)]
mod tests;

pub use addresses::Endpoint;
pub use attach::{with_file, with_generated};
pub use convergence::Converging;
pub use error::Error;
pub use fwdlab_keys::{fields, problem};
pub use fwdlab_traffic::Load;
pub use head::Head;
pub use model::{
    Allowance, Benchmarks, Blocks, CaptureOf, Churn, ChurnSource, Direction, Experiment,
    ListedChange, Route, RouteSource, Routes, SessionProtocol, SessionsOf, StreamsOf, Traffic,
    Variant,
};
pub use parts::MOST_GENERATED;
pub use problem::{Problem, Problems};
pub use reach::network_length;
pub use read::Recorded;
pub use schema::{Abilities, Anything, DeviceTables, MOST_PORTS, Schema, TrafficPlace};
pub use sessions::untranslatable;

#[cfg(test)]
use fwdlab_keys::elsewhere;
use fwdlab_keys::syntax;

/// The result of a fallible operation on experiments.
pub type Result<T, E = Error> = std::result::Result<T, E>;
