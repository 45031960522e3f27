//! What the rate of a trial is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the rate of a trial is: what the device forwards of a given load, or the highest load
/// that it forwards well enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Forwarding rate at the load asked for.
    #[default]
    Rate,
    /// Maximum receive rate (MRR): what is forwarded of all that the tester can send.
    Mrr,
    /// Non-drop rate (NDR): the highest load without loss.
    Ndr,
    /// Partial drop rate (PDR): the highest load with a loss of at most 0.5 %.
    Pdr,
    /// Throughput by RFC 2544, section 26.1: the highest load without loss, by plain binary search.
    Throughput,
}

impl Measure {
    /// Every measure.
    pub const ALL: [Self; 5] = [Self::Rate, Self::Mrr, Self::Ndr, Self::Pdr, Self::Throughput];

    /// The name in experiment files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Mrr => "mrr",
            Self::Ndr => "ndr",
            Self::Pdr => "pdr",
            Self::Throughput => "throughput",
        }
    }

    /// What the rate is called in reports.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Rate => "forwarding rate",
            Self::Mrr => "maximum receive rate",
            Self::Ndr => "non-drop rate",
            Self::Pdr => "partial drop rate",
            Self::Throughput => "throughput",
        }
    }

    /// The share of the frames that may be lost where a rate is searched for, 0 to 1.
    pub const fn loss_ratio(self) -> Option<f64> {
        match self {
            Self::Rate | Self::Mrr => None,
            Self::Ndr | Self::Throughput => Some(0.0),
            Self::Pdr => Some(0.005),
        }
    }

    /// Whether this is what trials of a fixed load yield; for serde.
    pub(crate) fn is_rate(&self) -> bool {
        *self == Self::Rate
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
