//! `fwdlab export`: fwdlab results for other people's tools.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use fwdlab_netbenches::export::export;
use fwdlab_results::{JOURNAL_FILE, Results};

use crate::output;

/// Arguments of `fwdlab export`.
#[derive(Parser)]
pub struct Args {
    /// Results directories, or trees of them as `fwdlab import` makes them
    #[arg(required = true)]
    results: Vec<PathBuf>,

    /// Write netbenches-style directories: RAW logs, .pps files, gnuplot.data, a page
    #[arg(long, required = true)]
    netbenches: bool,

    /// Where it goes; must be absent or empty
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Runs the command.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let mut places = Vec::new();
    for root in &arguments.results {
        let found = below(root, root);
        if found.is_empty() {
            // says what is wrong with it
            Results::read(root)?;
        }
        places.extend(found);
    }
    let is_single = places.len() == 1;
    for (dir, relative) in places {
        let results = Results::read(&dir)?;
        let to = match is_single {
            true => arguments.output.clone(),
            false => arguments.output.join(&relative),
        };
        let exported = export(&results, &to)?;
        output::print(&format!(
            "{} series, {} runs, {} failed: {}\n",
            exported.series,
            exported.runs,
            exported.failed,
            to.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Results directories at or below `dir`, each with its place: below the root where that is a tree,
/// else the root's name.
fn below(root: &Path, dir: &Path) -> Vec<(PathBuf, PathBuf)> {
    if dir.join(JOURNAL_FILE).is_file() {
        let relative = dir.strip_prefix(root).unwrap_or(dir);
        let name = || PathBuf::from(root.file_name().unwrap_or_default());
        let place = if relative.as_os_str().is_empty() { name() } else { relative.to_owned() };
        return vec![(dir.to_owned(), place)];
    }
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut dirs: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect();
    dirs.sort();
    dirs.iter().flat_map(|own| below(root, own)).collect()
}
