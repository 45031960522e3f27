//! What a sentence about measurements says: percentages, factors, rates, counts, faster or slower.
//!
//! Only words are read here. Whether they are true is for whoever knows the data: the rules of the
//! audit, and the report, which holds the notes of its reader against its claims.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod agreement;
pub mod clause;
pub mod derived;
pub mod doubt;
pub mod families;
pub mod figure;
pub mod interval;
pub mod label;
pub mod levels;
pub mod machines;
pub mod quantity;
pub mod scaling;
pub mod subject;
pub mod vocabulary;
