//! The procedures of RFC 2544 and RFC 9004, and soaks: which loads are offered for how long, and what
//! follows from what came of them. Whoever can offer a load ([`Offers`]) has all of them; this crate knows
//! no device.
//!
//! A frame is lost when it did not come back, or when it fell due and was given up: what does not fit
//! where frames wait for the device would have been dropped in front of it.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod curve;
mod offer;
mod recovery;
mod search;
mod soak;

pub use curve::curve;
pub use offer::{Offered, Offers, Order, Unfound};
pub use recovery::recovery;
pub use search::{Asked, mrr, search, try_load};
pub use soak::soak;

/// Searches for the longest burst in one trial: RFC 2544, section 26.4, asks for 50 at the least.
pub const BURST_SEARCHES: usize = 50;
