//! What can go wrong with machines, and what kind of failure it is.

use std::io;
use std::path::PathBuf;

use fwdlab_device::{Breakdown, DeviceError, Fault};
use fwdlab_results::{Blame, FailureKind};

/// Why something on the testbed did not work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The campaign was stopped meanwhile.
    #[error("stopped")]
    Stopped,
    /// A file of the controller.
    #[error("cannot read {path}: {source}; check the path")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The testbed file is wrong.
    #[error(transparent)]
    Testbed(#[from] fwdlab_experiment::Problems),
    /// A program of the controller that could not be started.
    #[error("cannot start {program}: {source}; {remedy}")]
    Program {
        /// Its name.
        program: &'static str,
        /// What the system said.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// Something failed on a host or on the way to it.
    #[error("{role}: {what}; {remedy}")]
    Failed {
        /// What kind of failure it is.
        kind: FailureKind,
        /// The host, by its role.
        role: &'static str,
        /// What failed.
        what: String,
        /// What to try next.
        remedy: String,
    },
    /// The variant cannot be set up, on whatever testbed.
    #[error("{role}: {what}; {remedy}")]
    Variant {
        /// The host, by its role.
        role: &'static str,
        /// What failed.
        what: String,
        /// What to try next.
        remedy: String,
    },
}

/// What was done about a failure, and what the machines said of it.
#[derive(Clone, Debug, Default)]
pub struct Aftermath {
    /// What was done, in this order.
    pub remedies: Vec<String>,
    /// The last lines of the device's console.
    pub console: Vec<String>,
    /// What else was said, with the host's role before each line.
    pub logs: Vec<String>,
}

/// The result of something on the testbed.
pub type Result<T, E = RemoteError> = std::result::Result<T, E>;

impl RemoteError {
    /// A failure of this kind.
    pub fn failed(
        kind: FailureKind,
        role: &'static str,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Failed { kind, role, what: what.into(), remedy: remedy.into() }
    }

    /// The kind of failure, where it is one.
    pub const fn kind(&self) -> Option<FailureKind> {
        match self {
            Self::Failed { kind, .. } => Some(*kind),
            _ => None,
        }
    }

    /// The same for the campaign, with what was done about it.
    pub fn with(self, after: Aftermath) -> DeviceError {
        let (role, what, remedy) = match self {
            Self::Stopped => return DeviceError::Stopped,
            Self::Failed { kind, role, what, remedy } => {
                let Aftermath { remedies, console, logs } = after;
                let breakdown = Some(Box::new(Breakdown { kind, remedies, console, logs }));
                let fault = Fault { what, on: role.to_owned(), try_next: remedy, breakdown };
                return match kind.blame() {
                    Blame::Configuration => DeviceError::Configuration(fault),
                    Blame::Device | Blame::Testbed => DeviceError::Lost(fault),
                };
            }
            Self::Variant { role, what, remedy } => (role, what, remedy),
            other => return DeviceError::setup(other),
        };
        let on = role.to_owned();
        DeviceError::Setup(Fault { what, on, try_next: remedy, breakdown: None })
    }
}

impl From<RemoteError> for DeviceError {
    fn from(error: RemoteError) -> Self {
        error.with(Aftermath::default())
    }
}
