//! A campaign: the plan of an experiment, the trials in its order, each judged and recorded, and the
//! rule that says when it is enough.
//!
//! It knows no device but by the seam ([`fwdlab_device`]): it asks for a variant to be applied and a
//! traffic to be measured, and judges the counts of all devices alike.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod bisect;
pub mod doctor;
pub mod plan;
pub mod process;
pub mod profiling;
pub mod runner;

use fwdlab_results::{Error, Result};
