//! The experiment: what a person asks to be measured, validated in full
//! before anything is made.

mod family;

pub use family::Family;
