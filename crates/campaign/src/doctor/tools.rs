//! Programs of other people that the lab itself calls; devices name theirs.

use fwdlab_device::Finding;

pub(super) fn findings() -> Vec<Finding> {
    vec![Finding::program(
        "ministat",
        "the differential tests of `fwdlab ministat`",
        "apt-get install ministat",
    )]
}
