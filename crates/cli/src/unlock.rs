//! `fwdlab unlock`: frees a testbed that somebody left locked.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::{devices, output};

/// Arguments of `fwdlab unlock`.
#[derive(clap::Args)]
pub struct Args {
    /// The file that names the machines
    #[arg(long, value_name = "FILE")]
    testbed: PathBuf,
    /// Free it although its owner is still there
    #[arg(long)]
    force: bool,
}

/// Frees the testbed and says who had it.
///
/// # Errors
/// When its tester cannot be reached, or its owner is still there.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let text = match devices::unlock(&arguments.testbed, arguments.force)? {
        Some(who) => format!("freed; it was locked by {who}\n"),
        None => "it is not locked\n".to_owned(),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
