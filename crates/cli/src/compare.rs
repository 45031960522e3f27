//! `fwdlab compare`: verdicts over results directories and files of many formats.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use fwdlab_compare::{self as compare, Options};
use fwdlab_stats::Confidence;

use crate::gate::{self, FailOn, Gated};
use crate::output;
use crate::trees::{self, Place, Trees};

/// Arguments of `fwdlab compare`.
#[derive(clap::Args)]
pub struct Args {
    /// Results directories and files: numbers one a line (.pps, as for ministat), CSV, JSON, Go
    /// benchmark output; "-" is standard input. One results directory: what its report says; two:
    /// before and after a change; three or more: campaigns of one experiment. A tree of results
    /// directories: a line for each, what changed first
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,

    /// Results directories of after a change; those given first are of before it
    #[arg(long, value_name = "DIR", num_args = 1..)]
    after: Vec<PathBuf>,

    /// Name a winner from fewer than three campaigns a side, although they may differ by chance
    #[arg(long)]
    single_campaign: bool,

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

    /// Differences up to this size do not matter [default: the experiment's own, else 1%]
    #[arg(long, value_parser = margin)]
    margin: Option<f64>,

    /// How sure a verdict has to be, in per cent [default: 95; with --fail-on slower 99.9]
    #[arg(long, value_name = "PERCENT", value_parser = confidence)]
    confidence: Option<Confidence>,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// As text: every variant, where there are so many that else the largest differences are shown
    #[arg(long)]
    all: bool,

    /// End with exit code 1 when any verdict is this, and with 4 when a comparison could not tell;
    /// may be repeated. A gate that looks at every change cries wolf at 95 %: "slower" asks for
    /// 99.9 % unless --confidence is given
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
        after: arguments.after.clone(),
        confidence: arguments.confidence.unwrap_or_else(|| gate::usual(&arguments.fail_on)),
        is_single_campaign: arguments.single_campaign,
    };
    if arguments.sources.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        bail!("\"-\" is given twice, but standard input can be read only once");
    }
    if let Some(places) = trees::of(&arguments.sources)? {
        return each(arguments, &places, options);
    }
    let compared = compare::compare(&options, &mut std::io::stdin().lock())?;
    let form = match form(arguments.format) {
        compare::Format::Text if !arguments.all => compare::Format::Brief,
        other => other,
    };
    let bytes = compare::render(&compared, form)?;
    output::print(&String::from_utf8_lossy(&bytes))?;
    for left_out in &compared.left_out {
        fwdlab_guard::say!("warning: {left_out}");
    }
    if arguments.lower_is_better && !compared.is_direction_asked() {
        fwdlab_guard::say!(
            "warning: --lower-is-better changes nothing here: the sources say themselves which way is better"
        );
    }
    // those for people have it themselves
    if !matches!(arguments.format, Format::Text | Format::Markdown) {
        compared.warnings().for_each(|own| fwdlab_guard::say!("warning: {own}"));
    }
    Ok(gate::outcome(&compared, &options, &arguments.fail_on).code())
}

/// The directories of a tree, each by itself.
fn each(arguments: &Args, places: &[Place], options: Options) -> anyhow::Result<ExitCode> {
    if !arguments.after.is_empty() {
        bail!("--after takes the results directories themselves, and so do the sources beside it");
    }
    let trees = Trees::compare(places, &options);
    let Some(text) = trees.render(form(arguments.format))? else {
        bail!(
            "this format shows one results directory at a time; name one of the {} below",
            places.len()
        );
    };
    output::print(&text)?;
    let outcomes = trees.compared().map(|(dir, own)| {
        let options = Options { sources: vec![dir.to_owned()], ..options.clone() };
        gate::outcome(own, &options, &arguments.fail_on)
    });
    let has_gate = !arguments.fail_on.is_empty();
    let unread = (has_gate && trees.has_unread()).then_some(Gated::Untold);
    Ok(outcomes.chain(unread).max().unwrap_or(Gated::Passed).code())
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
        .map_err(|_| format!("`{text}` is no percentage; write 1% or 0.01"))?;
    if ratio > 0.0 && ratio < 1.0 {
        Ok(ratio)
    } else {
        // Who writes 5 means 5%.
        let meant = match (1.0..100.0).contains(&ratio) {
            true => format!("write {}%", number.trim()),
            false => "write 1% or 0.01".to_owned(),
        };
        Err(format!("`{text}` is not between 0 and 100 %; {meant}"))
    }
}

/// `99.9` or `99.9%`.
fn confidence(text: &str) -> Result<Confidence, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    let percent: f64 = number.parse().map_err(|_| format!("`{text}` is no percentage"))?;
    let usual = "wanted are 80 to below 100, for example 99.9";
    // rounded, so that 99.9 is 0.999 to the last digit
    Confidence::new((percent * 1e10).round() / 1e12)
        .map_err(|_| format!("`{text}` is too little or too much; {usual}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confidence_is_a_percentage() {
        assert_eq!(confidence("99.9").map(Confidence::share), Ok(0.999));
        assert_eq!(confidence("95 %").map(Confidence::share), Ok(0.95));
        for wrong in ["0.999", "100", "high", "nan"] {
            assert!(confidence(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_margin_that_is_none_is_told_how_one_is_written() {
        for (wrong, meant) in [("1", "1%"), ("5", "5%"), ("0", "1% or 0.01"), ("x", "1% or 0.01")] {
            let said = margin(wrong).expect_err("it is none");
            assert!(said.ends_with(&format!("write {meant}")), "{said}");
        }
        assert!(margin("nan").is_err());
        assert_eq!(margin("1%"), margin("0.01"));
    }
}
