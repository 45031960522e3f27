//! Measuring lookup algorithms: streams of addresses, interleaved rounds, and what changes cost.
//!
//! It takes time from the system clock, and starts threads for [`Benched::updates`]. Others join a comparison as [`Contender`]s: `cargo xtask bench fib` adds the peers,
//! `fwdlab fib bench` measures this project's algorithms on a user's table.
//!
//! In each round every contender runs once, so that what changes on the machine meanwhile hits all
//! of them; ratios are taken within a round.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod automatic;
mod compare;
mod contender;
mod families;
mod keys;
mod rounds;
mod text;
mod updates;

pub use compare::{BenchPlan, Figure, Recipe};
pub use contender::{Contender, Nothing, Origin, Ours, depend};
pub use families::Benched;
pub use keys::{BenchFamily, Keys, Stream, spread_nexthop};
pub use rounds::{Effort, Mode, Ratio, Run, median, rate};
pub use text::{lookup_section, update_section};
pub use updates::{Part, UpdateFigure, UpdatePlan};
