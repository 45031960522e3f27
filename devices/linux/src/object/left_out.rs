//! Stands where XDP programs out of object files are loaded, in a build without them.

use std::path::Path;

use fwdlab_port::bpf::Table;
use fwdlab_topology::Testbed;

use crate::LinuxError;

/// A loaded program.
#[derive(Debug)]
pub(super) struct Object {
    /// The program is the table's first.
    pub(super) table: Table,
    /// Its name.
    pub(super) name: String,
}

impl Object {
    /// Loads nothing.
    ///
    /// # Errors
    /// Always: this build has no reader of object files.
    pub(super) fn load(_: &mut Testbed, path: &Path) -> Result<Self, LinuxError> {
        let what = format!(
            "cannot load {}: object files were left out of this build; build with --features \
             xdp-object",
            path.display()
        );
        Err(LinuxError::Setup { what })
    }
}
