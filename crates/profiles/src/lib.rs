//! What the profiles of a campaign say: how much time each function took, and which functions carry
//! the difference between a variant and its baseline.
//!
//! Nothing here draws a flame graph or judges a comparison: the cost of a frame comes from the claims.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod changes;
mod profile;

pub use changes::{Changes, changes, note};
pub use profile::{Profile, Profiles};
