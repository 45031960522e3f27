//! Years of results in one view: series over revisions or dates, where their level changed, and
//! which series moved together.
//!
//! [`read`] makes points of results directories, imported and published ones alike; [`store`] keeps
//! them as text; [`find`] says what changed; [`render`] writes it down. The statistics are those of
//! [`fwdlab_stats::change`]. docs/history.md has the method with its figures.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod error;
pub mod find;
mod machines;
pub mod point;
pub mod read;
pub mod render;
pub mod series;
pub mod store;

pub use error::Error;
pub use find::{History, Options, find};
pub use point::{Key, Point};
pub use series::Series;

/// The result of a fallible operation on a history.
pub type Result<T, E = Error> = std::result::Result<T, E>;
