//! Switches of an interface that change what a measurement sees (ethtool(8)): with receive offload
//! frames arrive merged, with segmentation offload they are cut by the interface.

pub use crate::sys::offloads::{Offload, read, write};
