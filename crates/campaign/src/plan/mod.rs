//! The plan: every trial of a campaign with a stable id, in running order.
//!
//! Trials run in randomised complete blocks: each block runs every variant
//! with every traffic once, in an order drawn from the seed, the variants of
//! one traffic after each other. (All runs of one
//! variant before all runs of the other would take a drift of the machine for
//! a difference.) The order is drawn by [`fwdlab_claims::order`], so that whoever
//! checks a journal draws it by the same rule.

mod draw;
mod earlier;
mod forecast;
mod grouping;
mod place;
mod stop;

#[cfg(test)]
mod tests;

pub use draw::{Plan, PlannedTrial, draw_seed};
pub use earlier::Earlier;
pub use forecast::{Need, Needs, USUAL_POWER, Wanted};
pub use grouping::{Terms, own_truths, unproven};
pub use place::{Opened, Place};
pub use stop::UntilDecided;
