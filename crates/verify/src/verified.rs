//! What came of a verification.

use crate::fault::{Fault, Unchecked};

/// What came of a verification.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verified {
    /// What does not agree, in the order of the journal.
    pub faults: Vec<Fault>,
    /// What could not be looked at.
    pub unchecked: Vec<Unchecked>,
}
