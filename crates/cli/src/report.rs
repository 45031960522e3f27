//! `fwdlab report`: makes the derived files of a results directory anew, or checks them.

use crate::{devices, features, output};
use fwdlab_report as report;
use fwdlab_report::Written;
use fwdlab_report::synthesis::Synthesis;
use fwdlab_results::Results;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `fwdlab report`.
#[derive(clap::Args)]
pub struct Args {
    /// Results directory; several make a synthesis of machines side by side
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,

    /// Where the synthesis goes
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Let a synthesis hold different traffic or settings under one name, with a warning
    #[arg(long)]
    mixed: bool,

    /// Change nothing: verify the journal against its experiment, its seed, its raw counts and its
    /// chain of hashes, and the derived files against the journal (exit code 1)
    #[arg(long)]
    check: bool,

    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What `fwdlab report` prints.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Verdicts and tables for a terminal
    Text,
    /// Plain text of 72 columns for a commit message
    Commit,
    /// Markdown for a CI step summary
    Github,
    /// Every statement as data (schema: docs/report.md)
    Json,
}

impl Format {
    /// Results in this form.
    ///
    /// # Errors
    /// When a claim does not resolve.
    pub fn of(self, results: &Results, written: &Written) -> anyhow::Result<String> {
        Ok(match self {
            Self::Text => report::terminal(results, output::width(), output::is_coloured()),
            Self::Commit => report::commit(results)?,
            Self::Github => report::github(results)?,
            Self::Json => report::json(&written.claims)?,
        })
    }
}

/// Runs the command.
///
/// # Errors
/// When the results cannot be read, a claim does not resolve, or a file cannot be written.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let [dir] = arguments.dirs.as_slice() else { return synthesis(arguments) };
    if arguments.check {
        return check(dir);
    }
    let results = read(dir)?;
    let written = report::write(dir, &results)?;
    output::print(&arguments.format.of(&results, &written)?)?;
    fwdlab_guard::say!("{} files written to {}", written.files.len(), dir.display());
    features::say_what_reports_lack();
    Ok(ExitCode::SUCCESS)
}

/// Several directories: one page with all machines.
fn read(dir: &Path) -> anyhow::Result<Results> {
    Ok(Results::read(dir)?.knowing(&devices::known()))
}

fn synthesis(arguments: &Args) -> anyhow::Result<ExitCode> {
    let Some(output) = &arguments.output else {
        anyhow::bail!("a synthesis of several directories needs a place: add -o DIR");
    };
    anyhow::ensure!(
        !arguments.dirs.contains(output),
        "{} holds results; choose another place for the synthesis with -o DIR",
        output.display()
    );
    let all: Result<Vec<Results>, _> = arguments.dirs.iter().map(|dir| read(dir)).collect();
    let synthesis = Synthesis::of(all?, arguments.mixed)?;
    for warning in &synthesis.warnings {
        fwdlab_guard::say!("warning: {warning}");
    }
    let files = report::synthesis::write(&synthesis, output)?;
    fwdlab_guard::say!("{} files written to {}", files.len(), output.display());
    Ok(ExitCode::SUCCESS)
}

fn check(dir: &Path) -> anyhow::Result<ExitCode> {
    let results = read(dir)?;
    let differences = report::check(&results)?;
    let mut text = String::new();
    for difference in &differences {
        let _ = writeln!(text, "{difference}");
    }
    for what in report::unchecked(&results)? {
        let _ = writeln!(text, "not checked: {what}");
    }
    if differences.is_empty() {
        let _ = writeln!(text, "{}: the report agrees with its journal", dir.display());
    }
    output::print(&text)?;
    Ok(if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
