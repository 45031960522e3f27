//! What a sentence claims of measured sets, and whether any of its readings is true.
//!
//! A sentence is cut into pieces, each with what it names (a part of the page, a family, sets of a block), its
//! numbers, and the words by which something moves or is proven. Every claim of a piece is held against all that
//! the piece may mean: it fails where each of these contradicts it, and holds where each, or one whose figure it
//! is, bears it out. It knows no page: where sets come from is for whoever reads one.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod amount;
mod change;
mod counts;
mod cue;
mod cuts;
mod facts;
mod level;
mod mention;
mod piece;
mod quantity;
mod rank;
mod read;
mod role;
mod runs;
mod scope;
mod share;
mod size;
mod softness;
mod token;
mod truth;
mod wire;

pub use facts::{Cell, Change, Facts, Part};
pub use mention::label_words;
pub use read::{Judged, names, read};

#[cfg(test)]
mod tests;
