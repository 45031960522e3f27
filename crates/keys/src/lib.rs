//! The keys of TOML files that people write, with their places, and what is wrong with them: each problem with its
//! line and column, what was wanted, and a remedy. Experiment files and testbed files are read so.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod elsewhere;
pub mod fields;
pub mod problem;
pub mod syntax;
