//! A device for tests that need one to read an experiment.

use crate::problem::Complaint;
use crate::{Abilities, Schema};

/// A device that takes every control word and can do everything.
#[derive(Clone, Copy, Debug)]
pub struct Anything;

impl Schema for Anything {
    fn name(&self) -> &'static str {
        "anything"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            searches_rates: true,
            measures_latency: true,
            mixes_families: true,
            mixes_lengths: true,
            longest_frame_bytes: u16::MAX,
        }
    }

    fn check_word(&self, _: &str) -> Result<(), Complaint> {
        Ok(())
    }

    fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
        Ok(())
    }
}
