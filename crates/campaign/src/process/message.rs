//! What parent and process say to each other.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use fwdlab_device::{DeviceError, Facts, Fault, Proof};
use fwdlab_experiment::Variant;
use fwdlab_results::{Interval, Measured};

/// To the process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Ask {
    /// The first message: what to open.
    Open {
        /// The experiment file, for messages and for the files that it names.
        path: PathBuf,
        /// Its text.
        text: String,
        /// Its SHA-256, with that of its routes.
        sha256: String,
        /// From what the place of its memory is drawn.
        layout: u64,
        /// The fastest beat of the device's processor in earlier processes.
        fastest_beat_ns: Option<f64>,
        /// Whether somebody looks at the intervals.
        is_watched: bool,
    },
    /// Set the variant up.
    Apply(Variant),
    /// Send the traffic of that index to the variant, which was applied last.
    Measure(Variant, usize),
}

/// From the process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The device is open.
    Open {
        facts: Facts,
        switch_cost: Duration,
    },
    Applied(Proof),
    Interval(Interval),
    Measured(Box<Measured>),
    Failed(Failure),
}

/// A [`DeviceError`] on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Failure {
    Stopped,
    Lost(Fault),
    Setup(Fault),
    Trial(Fault),
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::Stopped => Self::Stopped,
            DeviceError::Lost(fault) => Self::Lost(fault),
            DeviceError::Setup(fault) => Self::Setup(fault),
            DeviceError::Trial(fault) => Self::Trial(fault),
            other => Self::Trial(Fault::new(other)),
        }
    }
}

impl From<Failure> for DeviceError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Stopped => Self::Stopped,
            Failure::Lost(fault) => Self::Lost(fault),
            Failure::Setup(fault) => Self::Setup(fault),
            Failure::Trial(fault) => Self::Trial(fault),
        }
    }
}
