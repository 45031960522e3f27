//! What stood beside the logs: medians, data of graphs, scripts, pages and call graphs, kept as they
//! were, so that an export can give them back.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use fwdlab_guard::input;

use crate::archive::ResultsDir;
use crate::runs::read_bounded;
use crate::series::MAX_TABLE_BYTES;
use fwdlab_results::{Error, Result};

/// The directory in which they are kept.
pub const KEPT: &str = "published";
/// The directory in it for what stood beside the logs.
pub const RAW: &str = "RAW";
/// Longest file of a profile.
pub const MOST_PROFILE_BYTES: u64 = 1 << 30;

/// Copies them to `published/` below `to`; files that are too long for what they are stay away, and are said.
///
/// # Errors
/// When the copy cannot be written.
pub fn keep(dir: &ResultsDir, to: &Path) -> Result<Vec<String>> {
    let mut left_out = Vec::new();
    let tables = dir.pps.values().chain(&dir.equilibria).chain(&dir.graph_data);
    let files = tables.chain(&dir.graph_scripts).chain(&dir.readmes);
    let kept = to.join(KEPT);
    for path in files {
        let Some(name) = path.file_name() else { continue };
        let Ok(bytes) = read_bounded(path, MAX_TABLE_BYTES) else { continue };
        if bytes.len() > MAX_TABLE_BYTES {
            let most = MAX_TABLE_BYTES >> 20;
            left_out.push(format!("{}: more than {most} MiB, so no export has it", path.display()));
            continue;
        }
        fs::create_dir_all(&kept).map_err(Error::io("create", &kept))?;
        let target = kept.join(name);
        fs::write(&target, bytes).map_err(Error::io("write", &target))?;
    }
    for path in &dir.call_graphs {
        let is_beside_page = path.parent() == Some(dir.path.as_path());
        let place = if is_beside_page { kept.clone() } else { kept.join(RAW) };
        let Some(name) = path.file_name() else { continue };
        fs::create_dir_all(&place).map_err(Error::io("create", &place))?;
        copy(path, &place.join(name))?;
    }
    Ok(left_out)
}

/// Copies a regular file that is no longer than a call graph can be; false for anything else, and where
/// there is such a file already.
///
/// # Errors
/// When the copy cannot be written.
pub fn copy(from: &Path, to: &Path) -> Result<bool> {
    let Ok(mut file) = input::found(from, MOST_PROFILE_BYTES) else { return Ok(false) };
    let mut copy = match File::create_new(to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        created => created.map_err(Error::io("create", to))?,
    };
    io::copy(&mut file, &mut copy).map_err(Error::io("copy", from))?;
    Ok(true)
}
