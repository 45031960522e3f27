//! Writes a results directory so that a kill at any moment loses at most the
//! trial that was running.
//!
//! The journal `trials.jsonl` only ever grows: one record a line, written in
//! one piece and synced to the disk before the next trial starts. Whole files
//! are written beside their place, synced, and renamed into it. An advisory
//! lock (flock) on the journal keeps a second run out; the system drops it
//! when its holder dies, so nothing has to be cleaned up after a crash. Each record carries the hash
//! of the one before it ([`Chain`]).

pub(crate) mod chain;
mod clock;
mod reserved;
mod writer;

#[cfg(test)]
mod tests;

pub use chain::{Chain, Noted, Seal};
pub use clock::{seconds_of_stamp, utc_stamp};
pub use reserved::Reserved;
pub use writer::{Journal, write_whole};
