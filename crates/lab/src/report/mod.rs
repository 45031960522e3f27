//! The report: everything that is derived from a results directory.
//!
//! Results become [`claim::Claims`] (statements as data), the claims are
//! checked against the trials again, and every rendering is made from them:
//! `README.md`, figures, tables, the terminal. [`write()`] makes the derived
//! files anew from the journal alone, byte for byte the same each time;
//! [`check`] says which of them no longer agree with it.

mod chart;
mod check;
pub mod claim;
mod compare;
mod error;
pub mod figure;
mod flame;
mod html;
mod judge;
mod latency;
mod links;
mod ministat_block;
mod netbenches;
mod notes;
mod profile;
mod prose;
mod readme;
mod render;
pub mod setting;
mod summary;
pub mod synthesis;
mod table;
mod terminal;
pub(crate) mod text_table;
mod topology;
pub mod units;
mod write;

#[cfg(test)]
mod tests;

pub use check::{Difference, check};
pub use claim::Claims;
pub use error::ReportError;
pub use render::{claims, commit, github, json, terminal};
pub use write::{Written, write};
