//! What stood beside the logs: medians, data of graphs, scripts and pages, kept as they were, so
//! that an export can give them back.

use std::fs;
use std::path::Path;

use crate::archive::ResultsDir;
use crate::runs::read_bounded;
use crate::series::MAX_TABLE_BYTES;
use fwdlab_results::{Error, Result};

/// The directory in which they are kept.
pub const KEPT: &str = "published";

/// Copies them to `published/` below `to`; files that are too long for what they are stay away.
///
/// # Errors
/// When the copy cannot be written.
pub fn keep(dir: &ResultsDir, to: &Path) -> Result<()> {
    let tables = dir.pps.values().chain(&dir.equilibria).chain(&dir.graph_data);
    let files = tables.chain(&dir.graph_scripts).chain(&dir.readmes);
    let kept = to.join(KEPT);
    for path in files {
        let Some(name) = path.file_name() else { continue };
        let Ok(bytes) = read_bounded(path, MAX_TABLE_BYTES) else { continue };
        if bytes.len() > MAX_TABLE_BYTES {
            continue;
        }
        fs::create_dir_all(&kept).map_err(Error::io("create", &kept))?;
        let target = kept.join(name);
        fs::write(&target, bytes).map_err(Error::io("write", &target))?;
    }
    Ok(())
}
