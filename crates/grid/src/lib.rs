//! Sentences held against rows and columns by what these are called: a number with a unit is of the cell, or of the
//! two cells, that a clause names. What is bound to one cell, or to one pair, and is not so, is wrong; where rows are
//! taken from the clause before, or stand for what is not named, it is to be looked at.

#![forbid(unsafe_code)]

mod bound;
mod clause;
mod drawn;
mod every;
mod ground;
mod joined;
mod judge;
mod level;
mod listed;
mod model;
mod names;
mod order;
mod piece;
mod place;
mod ratio;
mod refer;
mod token;
mod verdict;

pub use drawn::drawn;
pub use ground::{Sentence, Ungrounded, ungrounded};
pub use joined::{Shown, across, joined, judge_across, with_tables_named};
pub use judge::{explains_itself, judge};
pub use level::agrees;
pub use listed::listed;
pub use model::{Column, Grid, Measure, Name, Place, unit_above};
pub use token::{Number, Token, Unit, tokens};
pub use verdict::CellVerdict;

#[cfg(test)]
mod tests;
