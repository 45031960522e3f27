//! Puts the derived files into the results directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fwdlab_guard::{Folder, input};

use super::build::Build;
use super::{ReportError, render};
use fwdlab_claims::Claims;
use fwdlab_results::Results;
use fwdlab_results::journal::Chain;

/// What [`write()`] did.
#[derive(Debug)]
pub struct Written {
    /// The files that changed, by their paths, in the order of their names.
    pub files: Vec<PathBuf>,
    /// What they state.
    pub claims: Claims,
}

/// Makes every derived file of `results` in `dir` anew where it changed. Everything is
/// rendered and checked before the first file is touched, and each file
/// appears whole under its name.
///
/// # Errors
/// When a claim does not resolve, a figure does not show what it says, or a
/// file cannot be written.
pub fn write(dir: &Path, results: &Results) -> Result<Written, ReportError> {
    let claims = render::claims(results)?;
    let files = render::files(results, &claims, Build::THIS)?;
    Ok(Written { files: put(dir, &files)?, claims })
}

/// Whether the report beside a journal is of all that the journal holds: it is written when a
/// campaign has ended, and a kill may have come in between.
pub fn is_current(results: &Results) -> bool {
    const MOST_BYTES: u64 = 1 << 30;
    let readme = input::text(&results.dir.join(LAST), MOST_BYTES).unwrap_or_default();
    match Chain::read(&results.dir) {
        Ok(Chain::Whole { last }) => readme.contains(&last),
        // An earlier version wrote it, which did not put the hash there.
        _ => !readme.is_empty(),
    }
}

/// The file that is written last.
const LAST: &str = "README.md";

/// Writes the files into `dir` under their names; those that are there already, byte for byte, stay
/// untouched. Returns those that were written.
///
/// # Errors
/// When the system refuses.
pub(super) fn put(
    dir: &Path,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<Vec<PathBuf>, ReportError> {
    let mut written = Vec::with_capacity(files.len());
    let mut open: Option<(&Path, Folder)> = None;
    let (last, others): (Vec<_>, Vec<_>) = files.iter().partition(|(name, _)| *name == LAST);
    for (name, bytes) in others.into_iter().chain(last) {
        let path = dir.join(name);
        if is_there(&path, bytes) {
            continue;
        }
        let below = Path::new(name).parent().unwrap_or(Path::new(""));
        let folder = match open.take().filter(|(place, _)| *place == below) {
            Some((_, folder)) => folder,
            None => folder(dir, below).map_err(ReportError::io("create", dir.join(below)))?,
        };
        let file = path.file_name().unwrap_or_default();
        folder.put(file, bytes).map_err(ReportError::io("write", &path))?;
        open = Some((below, folder));
        written.push(path);
    }
    Ok(written)
}

/// Whether a file holds these bytes and is no link.
fn is_there(path: &Path, bytes: &[u8]) -> bool {
    let length = bytes.len() as u64;
    let is_long = || fs::symlink_metadata(path).is_ok_and(|about| about.len() == length);
    is_long() && input::bytes(path, length).is_ok_and(|is| is == bytes)
}

/// The directory `below` `dir`, both made if need be.
fn folder(dir: &Path, below: &Path) -> std::io::Result<Folder> {
    fs::create_dir_all(dir)?;
    let mut folder = Folder::open(dir)?;
    folder.tidy()?;
    for name in below {
        folder = folder.sub(name)?;
        folder.tidy()?;
    }
    Ok(folder)
}
