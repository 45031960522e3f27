//! What can go wrong on the linux device.

use fwdlab_builtin::BuiltinError;
use fwdlab_device::{DeviceError, Fault};

/// An error of the linux device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinuxError {
    /// The campaign was stopped during the trial, which does not count.
    #[error("stopped during the trial")]
    Stopped,
    /// Namespaces, interfaces, routes or programs could not be set up.
    #[error(transparent)]
    Topology(#[from] fwdlab_topology::TopologyError),
    /// The embedded router or the tester failed.
    #[error(transparent)]
    Builtin(#[from] BuiltinError),
    /// Frame memory, sockets or threads could not be had.
    #[error("{0}")]
    Port(#[from] fwdlab_port::PortError),
    /// Routes of a variant could not be read.
    #[error(transparent)]
    Routes(#[from] fwdlab_experiment::Error),
    /// The device could not be set up.
    #[error("{what}")]
    Setup {
        /// What failed, on what, and what to do.
        what: String,
    },
    /// Streams did not come about.
    #[error("{what}")]
    Streams {
        /// What failed, and what to do.
        what: String,
    },
    /// What was counted in the trial is not known.
    #[error(transparent)]
    Counter(#[from] WentBack),
    /// Other programs had the processors of tester or device, again and again.
    #[error(
        "tester or device had their processors for {:.0} % of the time only while {what}, each time that it was \
         tried: nothing was learned about the device; stop what else runs on this machine, `fwdlab doctor` \
         watches each core",
        100.0 * share
    )]
    Crowded {
        /// What was going on.
        what: String,
        /// Their share, 0 to 1, the last time.
        share: f64,
    },
    /// The router's thread ended early.
    #[error("the device's thread ended early: {what}")]
    Thread {
        /// What is known about it.
        what: String,
    },
}

/// A counter that went backwards in a trial.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the counter {name} went back from {before} to {after} in the trial: what it counts was made anew; \
     look whether something else changes the device's namespace"
)]
pub struct WentBack {
    /// Its name.
    pub(crate) name: String,
    /// What it said before.
    pub(crate) before: u64,
    /// What it says now.
    pub(crate) after: u64,
}

impl From<LinuxError> for DeviceError {
    fn from(error: LinuxError) -> Self {
        match error {
            LinuxError::Stopped => Self::Stopped,
            LinuxError::Builtin(error) => error.into(),
            LinuxError::Thread { .. }
            | LinuxError::Counter(_)
            | LinuxError::Streams { .. }
            | LinuxError::Crowded { .. } => Self::Trial(Fault::new(error)),
            _ => Self::Setup(Fault::new(error)),
        }
    }
}

impl From<fwdlab_procedures::Unfound> for LinuxError {
    fn from(error: fwdlab_procedures::Unfound) -> Self {
        Self::Builtin(error.into())
    }
}

impl From<fwdlab_router::RouterError> for LinuxError {
    fn from(error: fwdlab_router::RouterError) -> Self {
        Self::Builtin(error.into())
    }
}

impl From<fwdlab_traffic::TrafficError> for LinuxError {
    fn from(error: fwdlab_traffic::TrafficError) -> Self {
        Self::Builtin(error.into())
    }
}
