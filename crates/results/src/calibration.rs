//! Trials whose answer the lab knows, among those of a campaign.

use serde::{Deserialize, Serialize};

/// Begins the variant of a trial whose answer is known; no variant of an experiment has it in its name.
pub const KNOWN_MARK: char = '~';

/// What a campaign runs to prove itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Share of all trials, 0 to 0.5.
    pub share: f64,
    /// The control word that slows the device down, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_word: Option<String>,
    /// By so many ns a frame.
    pub slow_ns: f64,
    /// The questions; their trials take turns.
    pub truths: Vec<Truth>,
}

/// A comparison with the baseline whose answer is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truth {
    /// With which traffic.
    pub traffic: String,
    /// What the baseline is compared with.
    pub kind: TruthKind,
}

/// What the baseline is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TruthKind {
    /// Itself.
    Same,
    /// Itself with a slowdown of known size.
    Slower,
}

impl TruthKind {
    /// What stands in the place of a variant's name.
    pub const fn variant(self) -> &'static str {
        match self {
            Self::Same => "~same",
            Self::Slower => "~slower",
        }
    }

    /// The kind of that name.
    pub fn of_variant(name: &str) -> Option<Self> {
        [Self::Same, Self::Slower].into_iter().find(|kind| kind.variant() == name)
    }
}
