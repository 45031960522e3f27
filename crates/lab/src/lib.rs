//! The laboratory of fwdlab: from an experiment file to a results directory.
//!
//! One road for the data, each step reading only what the step before wrote:
//! [`experiment`] (a TOML file, validated) -> [`plan`] (every trial with a
//! stable id) -> trials (a device, the tester) -> [`journal`] (append-only,
//! synced after each trial) -> [`results`] (the directory read back) ->
//! comparison -> report.
//!
//! The lab knows no terminal: progress and verdicts leave it as values.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod audit;
pub mod compare;
pub mod device;
pub mod doctor;
pub mod environment;
pub mod error;
pub mod experiment;
pub mod journal;
pub mod netbenches;
pub mod plan;
pub mod profile;
pub mod report;
pub mod results;
pub mod routes;
pub mod runner;

pub use error::Error;

/// The result of a fallible operation of the lab.
pub type Result<T, E = Error> = std::result::Result<T, E>;
