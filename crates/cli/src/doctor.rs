//! `fwdlab doctor`: what this machine can do, what that enables, and how to get what is missing.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Context;
use fwdlab_lab::doctor::{self, Finding};

use crate::output;

/// Arguments of `fwdlab doctor`.
#[derive(clap::Args)]
pub struct Args {
    /// The device that the exit code is about: builtin, linux, vm
    #[arg(long, default_value = "builtin", value_name = "DEVICE")]
    device: String,
    /// How to print the findings
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// One line for each finding
    Text,
    /// The same as JSON
    Json,
}

/// Runs the checks and prints them; exit code 1 when the device cannot be measured here.
///
/// # Errors
/// Only when stdout cannot be written.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let findings = doctor::examine(std::env::current_exe().ok().as_deref());
    let text = match arguments.format {
        Format::Text => findings.iter().map(line).collect(),
        Format::Json => {
            serde_json::to_string_pretty(&findings).context("cannot encode as JSON")? + "\n"
        }
    };
    output::print(&text)?;
    let suffices = doctor::suffices(&findings, &arguments.device);
    Ok(if suffices { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn line(finding: &Finding) -> String {
    let Finding { what, present, detail, enables, remedy, .. } = finding;
    let mut text = String::new();
    let written = match present {
        true => writeln!(text, "yes  {what:<18} {detail}: {enables}"),
        false => writeln!(text, "no   {what:<18} {detail}; needed for {enables}; {remedy}"),
    };
    written.map_or_else(|_| String::new(), |()| text)
}
