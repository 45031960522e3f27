//! What can go wrong on the built-in device.

use fwdlab_device::{DeviceError, Fault};

/// An error of the built-in device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuiltinError {
    /// The campaign was stopped during the trial, which does not count.
    #[error("stopped during the trial")]
    Stopped,
    /// The router refused its configuration.
    #[error("the built-in device refused its configuration: {0}")]
    Router(#[from] fwdlab_router::RouterError),
    /// The tester refused its traffic.
    #[error("the tester refused its traffic: {0}")]
    Traffic(#[from] fwdlab_traffic::TrafficError),
    /// The file of updates cannot be read.
    #[error("{0}")]
    Updates(#[from] fwdlab_routes::RoutesError),
    /// Frame memory or threads could not be had.
    #[error("{0}")]
    Port(#[from] fwdlab_port::PortError),
    /// Tester and device would take turns on one core, and measure each other.
    #[error(
        "this process may use one core, and the built-in device needs two, one for the tester and \
         one for itself; give the machine, the container or taskset a second core"
    )]
    OneCore,
    /// A rate search came to no result.
    #[error("the rate search found nothing: {0}")]
    Search(#[from] fwdlab_procedures::Unfound),
    /// A part of the device's thread ended early.
    #[error("the device's thread ended early: {what}")]
    Thread {
        /// What is known about it.
        what: String,
    },
}

impl From<BuiltinError> for DeviceError {
    fn from(error: BuiltinError) -> Self {
        match error {
            BuiltinError::Stopped => Self::Stopped,
            BuiltinError::Router(_)
            | BuiltinError::Updates(_)
            | BuiltinError::Port(_)
            | BuiltinError::OneCore => Self::Setup(Fault::new(error)),
            BuiltinError::Traffic(_) | BuiltinError::Search(_) | BuiltinError::Thread { .. } => {
                Self::Trial(Fault::new(error))
            }
        }
    }
}
