//! Runs of which only figures are known: published ones, files, tables. What they say without blocks.
//!
//! A [`Series`] has the values of one variant. Several variants beside one baseline share a level by
//! Holm's correction, a list of benchmarks shares a false discovery rate. What lies beside the values
//! is read for what makes a comparison meaningless: saturation, other flows, another tester.

mod context;
mod doubts;
mod judge;
mod recorded;
mod series;

pub use context::Context;
pub use series::{SaidBy, Series, direction_of};

pub use judge::{Judged, Terms, compared, finish, not_computable, without_blocks};
pub use recorded::{all, series};
