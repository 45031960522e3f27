//! `fwdlab import`: published result directories as fwdlab results.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Parser, ValueEnum};
use fwdlab_netbenches::import::{Imported, import};
use fwdlab_netbenches::reproduction::{Row, reproduce};
use fwdlab_results::units::plural;

use crate::output;

/// Arguments of `fwdlab import`.
#[derive(Parser)]
#[command(
    after_help = "Exit status: 0 done, 1 a published median is not reproduced (with --pipeline), \
                        2 an error.\nLayout of the directories: docs/netbenches.md"
)]
pub struct Args {
    /// A directory of results, or a tree of them
    directory: PathBuf,

    /// Where the results go; must be absent or empty
    #[arg(short, long, value_name = "RESULTS", required_unless_present = "pipeline",
          value_parser = crate::own::directory())]
    output: Option<PathBuf>,

    /// Compare the published medians with those of this pipeline and of the steady window
    #[arg(long, value_enum)]
    pipeline: Option<Pipeline>,

    /// How the comparison is written to stdout
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Published ways to get a figure from a log.
#[derive(Clone, Copy, ValueEnum)]
enum Pipeline {
    /// Drop 15 and 10 text lines, take ministat's median
    Netbenches,
}

/// Formats of the comparison.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// A table for people
    Text,
    /// An array of runs
    Json,
    /// One run a line
    Csv,
}

/// Runs the command.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    if let Some(to) = &arguments.output {
        let imported = import(&arguments.directory, to)?;
        for skipped in &imported.skipped {
            fwdlab_guard::say!("left out: {skipped}");
        }
        if imported.directories == 0 {
            bail!(
                "there is nothing to import in {}: wanted logs, RAW/bench.*.receiver, as docs/netbenches.md \
                 has them; nothing was written",
                arguments.directory.display()
            );
        }
        if arguments.pipeline.is_none() {
            output::print(&summary(&imported))?;
        }
    }
    if arguments.pipeline.is_none() {
        return Ok(ExitCode::SUCCESS);
    }
    let rows = reproduce(&arguments.directory)?;
    let text = match arguments.format {
        Format::Text => table(&rows),
        Format::Json => output::json(&rows)?,
        Format::Csv => csv(&rows),
    };
    output::print(&text)?;
    let is_missed = rows.iter().any(|row| row.published.is_some() && !row.is_reproduced());
    Ok(if is_missed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Baselines that are printed with their reasons.
const BASELINES: usize = 20;

fn summary(imported: &Imported) -> String {
    let mut text = format!(
        "{}: {} in {}, {} failed, {}\n",
        plural(imported.logs, "log"),
        plural(imported.trials, "trial"),
        match imported.directories {
            1 => "1 directory".to_owned(),
            many => format!("{many} directories"),
        },
        imported.failed,
        plural(imported.profiles, "profile")
    );
    for (reason, count) in &imported.reasons {
        let _ = writeln!(text, "  {count:5} failed: {reason}");
    }
    for (directory, baseline) in imported.baselines.iter().take(BASELINES) {
        let place = if directory.is_empty() { "." } else { directory };
        let _ = writeln!(text, "  baseline {}: {} ({place})", baseline.name, baseline.why);
    }
    if imported.baselines.len() > BASELINES {
        let more = imported.baselines.len() - BASELINES;
        let _ = writeln!(text, "  and {more} more: \"baseline\" in each import.json");
    }
    text
}

fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut directory = None;
    for row in rows {
        if directory != Some(&row.directory) {
            directory = Some(&row.directory);
            let _ = writeln!(text, "\n{}", row.directory);
            let _ = writeln!(
                text,
                "{:40} {:>4} {:>14} {:>14} {:>14} {:>8} {:>14} {:>8}  ",
                "series",
                "run",
                "published/s",
                "mean of two/s",
                "upper/s",
                "dropped",
                "steady/s",
                "trimmed"
            );
        }
        let _ = writeln!(text, "{}", table_line(row));
    }
    let published = rows.iter().filter(|r| r.published.is_some()).count();
    let reproduced = rows.iter().filter(|r| r.is_reproduced()).count();
    let _ = writeln!(
        text,
        "\n{}, {}, {reproduced} reproduced",
        plural(rows.len(), "run"),
        plural(published, "published median")
    );
    text
}

fn table_line(row: &Row) -> String {
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v}"));
    let printed = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let trimmed = |t: [usize; 2]| format!("{}+{}", t[0], t[1]);
    let mark = match (&row.reason, row.published.is_some() && !row.is_reproduced()) {
        (Some(reason), _) => format!("FAILED: {reason}"),
        (None, true) => "NOT REPRODUCED".to_owned(),
        (None, false) => String::new(),
    };
    let line = format!(
        "{:40} {:>4} {:>14} {:>14} {:>14} {:>8} {:>14} {:>8}  {mark}",
        row.prefix,
        row.iteration,
        number(row.published),
        printed(&row.mean_of_two),
        printed(&row.upper),
        trimmed(row.dropped),
        number(row.steady),
        trimmed(row.trimmed),
    );
    line.trim_end().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "directory,prefix,run,published_pps,mean_of_two_pps,upper_pps,dropped_head,dropped_tail,steady_pps,trimmed_head,trimmed_tail,reason\n",
    );
    let number = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    for row in rows {
        let fields = [
            row.directory.clone(),
            row.prefix.clone(),
            row.iteration.to_string(),
            number(row.published),
            row.mean_of_two.clone().unwrap_or_default(),
            row.upper.clone().unwrap_or_default(),
            row.dropped[0].to_string(),
            row.dropped[1].to_string(),
            number(row.steady),
            row.trimmed[0].to_string(),
            row.trimmed[1].to_string(),
            row.reason.clone().unwrap_or_default(),
        ];
        let fields: Vec<String> = fields.iter().map(|f| csv_field(f)).collect();
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

/// A field by RFC 4180.
fn csv_field(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
