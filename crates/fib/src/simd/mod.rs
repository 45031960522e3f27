//! The fenced files: huge pages, prefetch, and code compiled for the vector units at hand.
//!
//! Each file is short and exports a safe interface; the algorithms themselves are safe code.

pub(crate) mod cells;
pub(crate) mod count;
pub(crate) mod lanes;
pub(crate) mod level;
pub(crate) mod prefetch;
pub(crate) mod records;
pub(crate) mod region;
