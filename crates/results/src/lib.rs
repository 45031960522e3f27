//! What was counted: a results directory, written trial by trial and read back as values.
//!
//! [`journal`] writes it so that a kill loses nothing, [`environment`] says on what it was counted,
//! [`profile`] where the device's time went. What counts mean is said elsewhere.
//!
//! The journal (`trials.jsonl`) holds one JSON object a line. The first is the
//! [`Campaign`], then one [`Trial`] each, at the end [`Finished`]. Raw interval
//! counts are kept beside every figure derived from them. docs/results.md
//! describes every field.
//!
//! Readers take unknown fields in silence (a newer minor version may add
//! some); an unknown kind of record is an error that names its line.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod about;
mod benchmark;
mod calibration;
mod checks;
mod churned;
mod convergence;
pub mod counter;
pub mod environment;
mod error;
mod failure;
mod family;
mod figures;
mod files;
pub mod functions;
mod imported;
mod inputs;
mod interval;
pub mod journal;
mod measure;
mod measured;
mod metric;
pub mod profile;
mod queue;
mod read;
mod record;
mod sane;
mod sessions;
mod streams;
pub mod units;
mod way;

#[cfg(test)]
mod documented_tests;
#[cfg(any(test, feature = "examples"))]
pub mod examples;
#[cfg(test)]
mod tests;

pub use about::{About, Link, TestbedMark, Tick};
pub use benchmark::{BackToBack, Benchmark, Burst, Loss, LossCurve, Recovery, Reset, Soak};
pub use calibration::{Calibration, KNOWN_MARK, Truth, TruthKind};
pub use checks::Checks;
pub use churned::Churned;
pub use convergence::{Convergence, PrefixEvent, RouteEvent};
pub use error::Error;
pub use failure::{Blame, CONSOLE_LINES, Failure, FailureKind};
pub use family::Family;
pub use figures::{LatencyAt, LatencyFigures, RateSearch, SearchTrial, StampFigures};
pub use files::{
    CONSOLE_DIR, ENVIRONMENT_FILE, EXPERIMENT_FILE, JOURNAL_FILE, SIGNATURE_FILE, TORN_FILE,
};
pub use imported::Imported;
pub use inputs::{INPUTS_DIR, kept_input};
pub use interval::{Busy, Interval};
pub use journal::Journal;
pub use measure::Measure;
pub use measured::{BusyBy, Ledger, Measured, TrialEnvironment};
pub use metric::Metric;
pub use queue::Queue;
pub use read::Results;
pub use record::{
    Campaign, Finished, Grouping, IMPORTED, LimitedBy, ORDER_VERSION, Record, Resumed, SCHEMA,
    Status, Steady, Trial, TrialOrder,
};
pub use sane::{MOST_NAMES, MOST_TITLE, is_name, is_published_name, is_title};
pub use sessions::{SessionRound, Sessions};
pub use streams::{Stream, StreamSlice, Streams};
pub use way::Way;

/// Most bytes of a journal, of one of its experiment files, and of an environment.
pub(crate) const MOST_JOURNAL_BYTES: u64 = 4 << 30;
const MOST_TEXT_BYTES: u64 = 16 << 20;

/// The result of a fallible operation on results.
pub type Result<T, E = Error> = std::result::Result<T, E>;
