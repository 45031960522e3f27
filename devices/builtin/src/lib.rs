//! The built-in device: the router of `fwdlab-router` and the tester of `fwdlab-traffic`, joined
//! by rings in memory, each on a core of its own.
//!
//! The frames live in one pool for the whole campaign, given out in the same order in every trial,
//! so that where they lie in memory is no difference between variants. The router and its tables
//! are made anew for each trial. Counters of both sides are read at the same instants, at the end
//! of each interval, by the tester's thread: a third thread would take time from the two.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod benchmarks;
mod churn;
pub mod control;
pub mod convergence;
mod device;
mod error;
mod figures;
mod idle;
mod intervals;
mod kind;
mod lanes;
mod layout;
mod machine;
mod offering;
mod poll;
#[cfg_attr(not(all(target_os = "linux", feature = "sampler")), path = "probe/left_out.rs")]
mod probe;
mod reset;
mod rings;
mod setup;

pub use device::plan;
pub use error::BuiltinError;
pub use figures::{checks, figures as latency_figures, ways};
pub use idle::differences as idle_differences;
pub use kind::Builtin;
pub use rings::behind;
pub use setup::{answers, router};
