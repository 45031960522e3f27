//! From directories to points: results of ours, imported ones, and published ones.

mod found;
mod published;
mod recorded;

pub use found::Read;
use found::patched;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use fwdlab_netbenches::archive::{Archive, ResultsDir};
use fwdlab_results::JOURNAL_FILE;

use crate::{Error, Result};

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 48;

/// Reads every results directory below `roots`.
///
/// # Errors
/// When a root cannot be read, or nothing is found below any.
pub fn read(roots: &[PathBuf]) -> Result<Read> {
    let mut total = Read::default();
    let (mut places, mut campaigns) = (HashSet::new(), HashMap::new());
    for root in roots {
        let archive = Archive::scan(root)?;
        let full = root.canonicalize().map_err(Error::io("find", root))?;
        // what an import kept beside its journal, and what a report wrote of one (`netbenches/`), is in
        // the journal
        let is_told = |dir: &&ResultsDir| {
            let places = [Some(&*dir.path), dir.path.parent()];
            places.into_iter().flatten().any(|place| place.join(JOURNAL_FILE).is_file())
        };
        // the same tree twice, or one within another
        let mut is_new = |dir: &Path| dir.canonicalize().is_ok_and(|full| places.insert(full));
        let dirs = archive.dirs.iter().filter(|dir| !is_told(dir) && is_new(&dir.path));
        let dirs: Vec<&ResultsDir> = dirs.collect();
        let published: Vec<Read> = dirs.par_iter().map(|dir| published::read(dir, &full)).collect();
        let mut dirs = journals(root, 0);
        dirs.retain(|dir| is_new(dir));
        let journals: Vec<Read> = dirs.par_iter().map(|dir| recorded::read(dir)).collect();
        for own in published {
            total.points.extend(own.points);
            total.skipped.extend(own.skipped);
        }
        for (dir, own) in dirs.into_iter().zip(journals) {
            if let Some(campaign) = own.campaign
                && let Some(first) = campaigns.insert(campaign, dir.clone())
            {
                let (copy, first) = (dir.display(), first.display());
                total
                    .skipped
                    .push(format!("{copy}: it holds the campaign of {first}, which counts once"));
                continue;
            }
            total.points.extend(own.points);
            total.skipped.extend(own.skipped);
        }
    }
    if total.points.is_empty() && total.skipped.is_empty() {
        let places: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
        return Err(Error::Nothing { places: places.join(", ") });
    }
    Ok(total)
}

/// Directories with a journal, in the order of their names; links are not followed.
fn journals(dir: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // also one that cannot be read: its reader says why
    if dir.join(JOURNAL_FILE).symlink_metadata().is_ok() {
        found.push(dir.to_owned());
    }
    let Ok(entries) = std::fs::read_dir(dir) else { return found };
    let mut below: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .collect();
    below.sort();
    if depth < MAX_DEPTH {
        found.extend(below.iter().flat_map(|path| journals(path, depth + 1)));
    }
    found
}
