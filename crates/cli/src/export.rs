//! `fwdlab export`: fwdlab results for other people's tools.

mod long;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use fwdlab_netbenches::export::export;
use fwdlab_results::Results;

use crate::output;

/// Arguments of `fwdlab export`.
#[derive(Parser)]
#[command(group(clap::ArgGroup::new("form").required(true)))]
pub struct Args {
    /// A results directory
    results: PathBuf,

    /// Write a netbenches-style directory: RAW logs, .pps files, gnuplot.data
    #[arg(long, group = "form", requires = "output")]
    netbenches: bool,

    /// Write every interval of every trial as CSV, a row each (docs/export.md)
    #[arg(long, group = "form")]
    csv: bool,

    /// The same as JSON, an object a line
    #[arg(long, group = "form")]
    jsonl: bool,

    /// Where it goes: a directory, which must be absent or empty, or a file [default: stdout]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// When the results cannot be read, or the output not be written.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let results = Results::read(&arguments.results)?;
    match (&arguments.output, arguments.netbenches) {
        (Some(dir), true) => netbenches(&results, dir)?,
        (output, _) => {
            let bytes = if arguments.csv { csv(&results)? } else { jsonl(&results)? };
            match output {
                None => output::print_raw(&bytes)?,
                Some(file) => fwdlab_guard::write_whole(file, &bytes)
                    .with_context(|| format!("cannot write {}", file.display()))?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn netbenches(results: &Results, dir: &Path) -> anyhow::Result<()> {
    let exported = export(results, dir)?;
    output::print(&format!(
        "{} series, {} runs, {} failed: {}\n",
        exported.series,
        exported.runs,
        exported.failed,
        dir.display()
    ))
}

fn csv(results: &Results) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in long::rows(results) {
        writer.serialize(row).context("cannot encode a trial as CSV")?;
    }
    writer.into_inner().context("cannot encode the trials as CSV")
}

fn jsonl(results: &Results) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for row in long::rows(results) {
        serde_json::to_writer(&mut bytes, &row).context("cannot encode a trial as JSON")?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}
