//! Puts the derived files into the results directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{ReportError, render};
use fwdlab_claims::Claims;
use fwdlab_results::Results;

/// What [`write()`] did.
#[derive(Debug)]
pub struct Written {
    /// The files, by their paths, in the order of their names.
    pub files: Vec<PathBuf>,
    /// What they state.
    pub claims: Claims,
}

/// Makes every derived file of `results` in `dir` anew. Everything is
/// rendered and checked before the first file is touched, and each file
/// appears whole under its name.
///
/// # Errors
/// When a claim does not resolve, a figure does not show what it says, or a
/// file cannot be written.
pub fn write(dir: &Path, results: &Results) -> Result<Written, ReportError> {
    let claims = render::claims(results)?;
    let files = render::files(results, &claims)?;
    Ok(Written { files: put(dir, &files)?, claims })
}

/// Writes the files into `dir` under their names.
///
/// # Errors
/// When the system refuses.
pub(super) fn put(
    dir: &Path,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<Vec<PathBuf>, ReportError> {
    let mut written = Vec::with_capacity(files.len());
    for (name, bytes) in files {
        let path = dir.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(ReportError::io("create", parent))?;
        }
        replace(&path, bytes)?;
        written.push(path);
    }
    Ok(written)
}

/// Writes beside the file, then renames: readers see the old or the new.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let written = fs::write(&beside, bytes).map_err(ReportError::io("write", &beside));
    let done =
        written.and_then(|()| fs::rename(&beside, path).map_err(ReportError::io("replace", path)));
    if done.is_err() {
        // Nothing half-written may stay; that it is absent already is fine.
        let _ = fs::remove_file(&beside);
    }
    done
}
