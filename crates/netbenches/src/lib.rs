//! Netbenches-style results: a published layout of directories with pkt-gen
//! logs, medians, gnuplot data, call graphs and a README.
//!
//! Everything here reads what strangers wrote: on bytes, in bounded memory,
//! nothing is executed, and a file that is broken is a value that says so.
//! docs/netbenches.md describes the layout.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod archive;
pub mod axes;
pub mod block;
pub mod built;
pub mod callgraph;
pub mod command;
pub mod data;
pub mod equilibrium;
pub mod export;
pub mod hardware;
pub mod import;
pub mod info;
pub mod lines;
pub mod name;
pub mod number;
pub mod page;
pub mod pipeline;
pub mod pktgen;
pub mod reproduction;
pub mod revision;
pub mod runs;
pub mod series;
pub mod trial;
pub mod words;

#[cfg(test)]
pub(crate) mod tests;
