//! What can go wrong in this crate.

use crate::algo::AlgorithmError;
use crate::nexthop::NexthopGroupError;
use crate::prefix::PrefixError;

/// An error of a FIB.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FibError {
    /// A text is no prefix.
    #[error(transparent)]
    Prefix(#[from] PrefixError),
    /// The route to add is there already.
    #[error("route {prefix} exists already, change or delete it instead")]
    Exists {
        /// The prefix.
        prefix: String,
    },
    /// The route to change or delete is not there.
    #[error("no route {prefix}")]
    Missing {
        /// The prefix.
        prefix: String,
    },
    /// A nexthop group cannot be made.
    #[error(transparent)]
    Group(#[from] NexthopGroupError),
    /// No nexthop or group of that number.
    #[error("no nexthop or group of number {number} in this table")]
    UnknownNexthop {
        /// The number.
        number: u32,
    },
    /// No algorithm of that name.
    #[error("no {family} lookup algorithm `{name}`, choose one of: {known}")]
    UnknownAlgorithm {
        /// What was asked for.
        name: String,
        /// `inet` or `inet6`.
        family: &'static str,
        /// The names that exist.
        known: String,
    },
    /// An algorithm of that name is there already.
    #[error("there is an {family} lookup algorithm `{name}` already")]
    AlgorithmExists {
        /// Its name.
        name: &'static str,
        /// `inet` or `inet6`.
        family: &'static str,
    },
    /// The algorithm to take out serves the table, or was chosen for it by name.
    #[error("algorithm {name} is in use, choose another one for the table first")]
    AlgorithmBusy {
        /// Its name.
        name: &'static str,
    },
    /// A table needs one algorithm at least.
    #[error("no {family} lookup algorithm to serve the table, attach one to the registry")]
    NoAlgorithm {
        /// `inet` or `inet6`.
        family: &'static str,
    },
    /// An algorithm failed to build its structure.
    #[error("algorithm {name}: {error}")]
    Algorithm {
        /// Its name.
        name: &'static str,
        /// What went wrong.
        error: AlgorithmError,
    },
    /// Two that must give the same answers do not.
    #[error("{one} and {other} disagree")]
    Disagree {
        /// One of them.
        one: String,
        /// The other.
        other: String,
    },
}
