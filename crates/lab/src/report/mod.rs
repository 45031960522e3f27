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
mod error;
pub mod figure;
mod judge;
mod ministat_block;
mod netbenches;
mod notes;
mod readme;
mod render;
pub mod setting;
mod table;
mod terminal;
pub(crate) mod text_table;
pub mod units;
mod write;

#[cfg(test)]
mod tests;

pub use check::{Difference, check};
pub use claim::Claims;
pub use error::ReportError;
pub use render::{claims, json, terminal};
pub use write::{Written, write};
