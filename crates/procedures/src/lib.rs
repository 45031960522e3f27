//! The procedures of RFC 2544 and RFC 9004, and soaks: which loads are offered for how long, and what
//! follows from what came of them. Whoever can offer a load ([`Offers`]) has all of them; this crate knows
//! no device.
//!
//! A frame is lost when it did not come back, or when it fell due and was given up: what does not fit
//! where frames wait for the device would have been dropped in front of it.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod bursts;
mod counts;
mod curve;
mod offer;
mod recovery;
mod search;
mod soak;

/// The shares of the rate found at which latency is measured, beside that rate itself (RFC 2544, 26.2, asks for the
/// throughput alone).
pub const LATENCY_SHARES: [f64; 3] = [0.1, 0.5, 0.9];

pub use bursts::{BURST_SEARCHES, Bursts, Most, bursts};
pub use counts::{CountsAt, offered};
pub use curve::curve;
pub use offer::{Offered, Offers, Order, Unfound};
pub use recovery::recovery;
pub use search::{Asked, mrr, search, try_load};
pub use soak::soak;
