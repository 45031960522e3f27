//! `fwdlab export`: fwdlab results for other people's tools.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use fwdlab_netbenches::export::export;
use fwdlab_results::Results;

use crate::output;

/// Arguments of `fwdlab export`.
#[derive(Parser)]
pub struct Args {
    /// A results directory
    results: PathBuf,

    /// Write a netbenches-style directory: RAW logs, .pps files, gnuplot.data
    #[arg(long, required = true)]
    netbenches: bool,

    /// Where it goes; must be absent or empty
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Runs the command.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let results = Results::read(&arguments.results)?;
    let exported = export(&results, &arguments.output)?;
    output::print(&format!(
        "{} series, {} runs, {} failed: {}\n",
        exported.series,
        exported.runs,
        exported.failed,
        arguments.output.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}
