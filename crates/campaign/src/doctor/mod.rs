//! What this machine can do, what each ability enables, and how to get what is missing.
//!
//! A check that can be tried is tried: a file that says what the kernel was built with proves
//! less than a namespace that was made.

mod machine;

use fwdlab_device::{DoctorFinding, Place};

/// Looks at this machine. What single devices need they say themselves
/// ([`fwdlab_device::Kind::examine`]).
pub fn examine(place: &Place) -> Vec<DoctorFinding> {
    machine::findings(&place.powercap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_says_what_it_enables_and_how_to_get_it() {
        for finding in examine(&Place::default()) {
            assert!(!finding.enables.is_empty() && !finding.remedy.is_empty(), "{}", finding.what);
            assert!(!finding.detail.is_empty(), "{}", finding.what);
        }
    }
}
