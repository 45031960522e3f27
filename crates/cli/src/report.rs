//! `fwdlab report`: makes the derived files of a results directory anew, or checks them.

use crate::output;
use fwdlab_lab::report;
use fwdlab_lab::results::Results;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `fwdlab report`.
#[derive(clap::Args)]
pub struct Args {
    /// Results directory
    dir: PathBuf,

    /// Change nothing: say which derived files no longer agree with the journal (exit code 1)
    #[arg(long)]
    check: bool,

    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What `fwdlab report` prints.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Verdicts and tables for a terminal
    Text,
    /// Plain text of 72 columns for a commit message
    Commit,
    /// Markdown for a CI step summary
    Github,
    /// Every statement as data (schema: docs/report.md)
    Json,
}

/// Runs the command.
///
/// # Errors
/// When the results cannot be read, a claim does not resolve, or a file cannot be written.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    if arguments.check {
        return check(arguments);
    }
    let results = Results::read(&arguments.dir)?;
    let written = report::write(&arguments.dir, &results)?;
    let text = match arguments.format {
        Format::Text => {
            let stdout = std::io::stdout();
            let colour = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none();
            report::terminal(&results, width(), colour)
        }
        Format::Commit => report::commit(&results)?,
        Format::Github => report::github(&results)?,
        Format::Json => report::json(&written.claims)?,
    };
    output::print(&text)?;
    eprintln!("{} files written to {}", written.files.len(), arguments.dir.display());
    Ok(ExitCode::SUCCESS)
}

fn check(arguments: &Args) -> anyhow::Result<ExitCode> {
    let differences = report::check(&arguments.dir)?;
    let mut text = String::new();
    for difference in &differences {
        let _ = writeln!(text, "{difference}");
    }
    if differences.is_empty() {
        let _ = writeln!(text, "{}: the report agrees with its journal", arguments.dir.display());
    }
    output::print(&text)?;
    Ok(if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Columns of the terminal, 100 where there is none.
fn width() -> usize {
    std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).unwrap_or(100)
}
