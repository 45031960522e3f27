//! Why a trial could not be run to its end.

use std::fmt;

use fwdlab_results::FailureKind;
use serde::{Deserialize, Serialize};

/// Why a variant could not be applied or a trial not be run to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The campaign was stopped meanwhile; the trial does not count.
    #[error("stopped during the trial")]
    Stopped,
    /// The way to the device, or the device itself, went away: the same trial may succeed when it
    /// is tried again. It is tried [a few times](Self::ATTEMPTS) before it counts as FAILED.
    #[error("{0}")]
    Lost(Fault),
    /// Nothing gets better by trying again, and nothing can be measured as it is: the campaign stops,
    /// and the trial counts as not run.
    #[error("{0}")]
    Configuration(Fault),
    /// The device could not be set up.
    #[error("{0}")]
    Setup(Fault),
    /// The trial began and failed.
    #[error("{0}")]
    Trial(Fault),
}

impl DeviceError {
    /// How often a trial is begun whose device was [`Lost`](Self::Lost).
    pub const ATTEMPTS: u32 = 3;

    /// Where something failed, if it is known.
    pub const fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Stopped => None,
            Self::Lost(fault)
            | Self::Configuration(fault)
            | Self::Setup(fault)
            | Self::Trial(fault) => Some(fault),
        }
    }

    /// The device could not be set up, for this reason.
    pub fn setup(why: impl fmt::Display) -> Self {
        Self::Setup(Fault::new(why))
    }

    /// The trial failed, for this reason.
    pub fn trial(why: impl fmt::Display) -> Self {
        Self::Trial(Fault::new(why))
    }
}

/// What failed, on what, and what to try next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What failed, in words.
    pub what: String,
    /// The host or part on which it failed, by its role; empty when `what` says it.
    pub on: String,
    /// What to try next; empty when `what` says it.
    pub try_next: String,
    /// Where machines or the way to them are to blame.
    #[serde(default)]
    pub breakdown: Option<Box<Breakdown>>,
}

/// What is known of a failure of machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakdown {
    /// What kind of failure it was.
    pub kind: FailureKind,
    /// What was done about it.
    pub remedies: Vec<String>,
    /// The last lines of the console.
    pub console: Vec<String>,
    /// What else the machines said, with the host's role before each line.
    pub logs: Vec<String>,
}

impl Fault {
    /// A fault whose text says all.
    pub fn new(what: impl fmt::Display) -> Self {
        Self { what: what.to_string(), ..Self::default() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.on.is_empty() {
            write!(f, "{}: ", self.on)?;
        }
        f.write_str(&self.what)?;
        if !self.try_next.is_empty() {
            write!(f, "; {}", self.try_next)?;
        }
        Ok(())
    }
}
