//! `fwdlab compare`: verdicts over results directories and files of many formats.

use fwdlab_claims::compare;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use fwdlab_claims::compare::{Compared, Options};
use fwdlab_stats::Verdict;

/// Arguments of `fwdlab compare`.
#[derive(clap::Args)]
pub struct Args {
    /// Results directories and files: numbers one a line (.pps, as for ministat), CSV, JSON, Go
    /// benchmark output; "-" is standard input
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,

    /// Variant or file to compare with [default: the first]
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,

    /// Metric: rate or cost of results directories, or a unit such as ns/op
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,

    /// Column to read, by number from 1 or by its name in the head
    #[arg(short = 'C', long, value_name = "COLUMN")]
    column: Option<String>,

    /// Lower values are better, where the source does not say
    #[arg(long)]
    lower_is_better: bool,

    /// Differences up to this size do not matter
    #[arg(long, default_value = "1%", value_parser = margin)]
    margin: f64,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// End with exit code 1 when any verdict is this; may be repeated
    #[arg(long, value_enum, value_name = "VERDICT")]
    fail_on: Vec<FailOn>,
}

/// Forms of the output.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// 72 columns without colour, fit for a commit message
    Text,
    /// Markdown tables
    Markdown,
    /// Everything, in base units
    Json,
    /// One line per verdict, in base units
    Csv,
    /// Columns like benchstat's
    Benchstat,
    /// ministat's plot and table
    Ministat,
}

/// Verdicts that can fail a run.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// A variant is slower
    Slower,
    /// A comparison is invalid
    Invalid,
    /// A comparison is undecided
    Inconclusive,
}

impl FailOn {
    fn is_met(self, verdict: &Verdict) -> bool {
        match self {
            Self::Slower => matches!(verdict, Verdict::Slower { .. }),
            Self::Invalid => matches!(verdict, Verdict::Invalid { .. }),
            Self::Inconclusive => matches!(verdict, Verdict::Inconclusive { .. }),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// When a source cannot be read or there is nothing to compare.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let options = Options {
        sources: arguments.sources.clone(),
        baseline: arguments.baseline.clone(),
        metric: arguments.metric.clone(),
        column: arguments.column.clone(),
        is_lower_better: arguments.lower_is_better,
        margin: arguments.margin,
    };
    if arguments.sources.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        bail!("\"-\" is given twice, but standard input can be read only once");
    }
    let compared = compare::compare(&options, &mut std::io::stdin().lock())?;
    let bytes = compare::render(&compared, form(arguments.format))?;
    crate::output::print(&String::from_utf8_lossy(&bytes))?;
    Ok(if is_failed(&compared, &arguments.fail_on) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn is_failed(compared: &Compared, fail_on: &[FailOn]) -> bool {
    let mut verdicts =
        compared.groups.iter().flat_map(|group| &group.judgements).map(|own| &own.verdict);
    verdicts.any(|verdict| fail_on.iter().any(|criterion| criterion.is_met(verdict)))
}

fn form(format: Format) -> compare::Format {
    match format {
        Format::Text => compare::Format::Text,
        Format::Markdown => compare::Format::Markdown,
        Format::Json => compare::Format::Json,
        Format::Csv => compare::Format::Csv,
        Format::Benchstat => compare::Format::Benchstat,
        Format::Ministat => compare::Format::Ministat,
    }
}

/// `1%`, `0.5 %` or a ratio such as `0.01`.
pub fn margin(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 0.01),
        None => (text.trim(), 1.0),
    };
    let ratio = number
        .parse::<f64>()
        .map(|number| number * scale)
        .map_err(|_| format!("`{text}` is no percentage"))?;
    if ratio > 0.0 && ratio < 1.0 {
        Ok(ratio)
    } else {
        Err(format!("`{text}` is not between 0 and 100 %"))
    }
}
