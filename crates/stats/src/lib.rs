//! From datasets to verdicts: the statistics of forwarding measurements.
//!
//! This crate knows numbers, not where they come from: it reads no files (except for the
//! [`ministat`] command, whose arguments name them), knows no packets and prints nothing by
//! itself. The road through it:
//!
//! 1. [`steady::window`] finds the steady part of a trial's intervals; its median is the trial's
//!    figure.
//! 2. [`paired::compare`] compares two variants block by block, [`unpaired::compare`] does so when
//!    there were no blocks; both give a [`Comparison`].
//! 3. [`Verdict::judge`] turns a comparison, a margin and the [`validity`] findings into a verdict,
//!    and [`Verdict::sentence`] says it in words.
//!
//! [`ministat`] reproduces ministat(1) byte for byte beside it.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod agreement;
pub mod bisect;
pub mod campaigns;
pub mod change;
mod comparison;
pub mod coverage;
mod dataset;
mod decimal;
pub mod distribution;
pub mod dunnett;
mod effect;
mod error;
pub mod hodges_lehmann;
pub mod lost;
pub mod machines;
pub mod mann_whitney;
pub mod ministat;
pub mod model;
pub mod multiple;
pub mod paired;
mod pairs;
pub mod plan;
mod plural;
mod power;
pub mod processes;
mod random_effects;
pub mod rare;
mod resolution;
pub mod search;
pub mod sequential;
pub mod shared;
pub mod signed_rank;
pub mod steady;
pub mod unpaired;
pub mod validity;
mod verdict;

pub use agreement::Agreement;
pub use comparison::{
    Comparison, Confidence, ConfidenceInterval, Counts, Direction, Estimand, Method,
};
pub use dataset::{Dataset, median};
pub use decimal::decimal;
pub use effect::{
    Effect, far_change, percent_interval, plain_percent, signed_change, signed_percent,
};
pub use error::Error;
pub use plural::plural;
pub use resolution::Resolution;
pub use verdict::{Subject, Verdict};
