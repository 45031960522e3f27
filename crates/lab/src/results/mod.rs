//! A results directory read back: the records of its journal as values.
//!
//! The journal (`trials.jsonl`) holds one JSON object a line. The first is the
//! [`Campaign`], then one [`Trial`] each, at the end [`Finished`]. Raw interval
//! counts are kept beside every figure derived from them. docs/results.md
//! describes every field.
//!
//! Readers take unknown fields in silence (a newer minor version may add
//! some); an unknown kind of record is an error that names its line.

mod metric;
mod read;
mod record;

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;

pub use crate::journal::Journal;
pub use metric::Metric;
pub(crate) use read::{JOURNAL_FILE, JournalText};
pub use read::{Results, TORN_FILE};
pub use record::{
    Campaign, Checks, Finished, IMPORTED, Interval, LatencyAt, LatencyFigures, LimitedBy,
    RateSearch, Record, SCHEMA, SearchTrial, Status, Steady, Trial, TrialEnvironment,
};
