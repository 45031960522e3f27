//! The report: everything that is derived from a results directory.
//!
//! Results become [`Claims`] (statements as data, checked against the trials again), and every
//! rendering is made from them: `README.md`, figures, tables, the terminal. [`write()`] makes the
//! derived files anew from the journal alone, byte for byte the same each time (a build may leave out
//! pictures and flame graphs); [`check`] says which of them no longer agree with it.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod axis;
mod block;
mod build;
mod chart;
mod check;
mod drawings;
mod error;
mod flame;
mod html;
mod kept;
mod links;
mod listing;
mod markdown;
mod netbenches;
mod notes;
mod prose;
mod render;
mod sections;
mod source;
pub mod synthesis;
mod table;
mod terminal;
mod topology;
mod write;

#[cfg(test)]
mod tests;

pub use check::{Difference, check, notes_doubts, unchecked};
pub use error::ReportError;
pub use fwdlab_claims::Claims;
pub use render::{claims, commit, github, json, terminal};
pub use write::{Written, is_current, write};
