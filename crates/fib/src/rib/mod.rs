//! The routing table (RIB): every prefix with its nexthop, held in a path-compressed trie.

mod trie;

#[cfg(test)]
pub(crate) use trie::DUMPS;
pub(crate) use trie::WALKS;
pub use trie::{Covered, Rib};

#[cfg(test)]
mod tests;
