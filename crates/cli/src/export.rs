//! `fwdlab export`: fwdlab results for other people's tools.

mod long;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use fwdlab_guard::words;
use fwdlab_netbenches::export::export;
use fwdlab_results::Results;
use fwdlab_stats::plural;

use crate::trees::{self, Place};
use crate::{output, own};

/// Arguments of `fwdlab export`.
#[derive(Parser)]
#[command(group(clap::ArgGroup::new("form").required(true)))]
pub struct Args {
    /// Results directories, or trees of them as `fwdlab import` makes them
    #[arg(required = true)]
    results: Vec<PathBuf>,

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
    // "-" is standard output, as without a name.
    let output = arguments.output.as_ref().filter(|file| file.as_os_str() != "-");
    if arguments.netbenches {
        anyhow::ensure!(output.is_some(), "netbenches results are a directory: name one with -o");
    } else if let Some(file) = output {
        own::need_place(file)?;
    }
    let places = places(&arguments.results)?;
    match (output, arguments.netbenches) {
        (Some(dir), true) => netbenches(&places, dir)?,
        (output, _) => {
            let all = read_all(&places)?;
            let bytes = if arguments.csv { csv(&all)? } else { jsonl(&all)? };
            match output {
                None => output::print_raw(&bytes)?,
                Some(file) => {
                    let begin = beginning(&bytes, arguments.csv);
                    own::keep_foreign(file, |text| text.is_empty() || text.starts_with(begin))?;
                    fwdlab_guard::write_whole(file, &bytes).with_context(|| {
                        format!("cannot write {}; name another place with -o", file.display())
                    })?;
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Columns by which a file is known for one of this form, also of a version with fewer of them.
const KNOWN_COLUMNS: usize = 8;

/// What every file of this form begins with: the first columns of a header, or the first key.
fn beginning(bytes: &[u8], is_csv: bool) -> &str {
    let end = if is_csv { b'\n' } else { b':' };
    let whole = bytes.split(|byte| *byte == end).next().unwrap_or_default();
    let whole = std::str::from_utf8(whole).unwrap_or_default();
    let columns = whole.match_indices(',').map(|(at, _)| at).nth(KNOWN_COLUMNS - 1);
    columns.filter(|_| is_csv).map_or(whole, |at| &whole[..at])
}

/// The results directories that are meant, each with its place in the output.
fn places(roots: &[PathBuf]) -> anyhow::Result<Vec<Place>> {
    let mut places = Vec::new();
    for root in roots {
        let found = trees::below(root);
        if found.is_empty() {
            // says what is wrong with it
            Results::read(root)?;
        }
        places.extend(found);
    }
    Ok(places)
}

/// Reads the results in `dir`, and says on stderr when somebody changed them.
fn read(dir: &Path) -> anyhow::Result<Results> {
    let results = Results::read(dir)?;
    if let Some(why) = results.tampered() {
        fwdlab_guard::say!("warning: {why}; it is exported as it stands");
    }
    Ok(results)
}

fn read_all(places: &[Place]) -> anyhow::Result<Vec<Results>> {
    places.iter().map(|own| read(&own.dir)).collect()
}

fn netbenches(places: &[Place], output: &Path) -> anyhow::Result<()> {
    for place in places {
        let results = read(&place.dir)?;
        let to = if places.len() == 1 { output.to_owned() } else { output.join(&place.name) };
        let exported = export(&results, &to)?;
        output::print(&format!(
            "{} series, {}, {} failed: {}\n",
            exported.series,
            plural(exported.runs, "run"),
            exported.failed,
            to.display()
        ))?;
        if exported.profiles_left_out > 0 {
            let profiles = plural(exported.profiles_left_out, "profile");
            fwdlab_guard::say!(
                "{}: {profiles} not written: these results do not keep the call graphs that they were made \
                 of (profiles/ has them folded)",
                place.name.display()
            );
        }
    }
    Ok(())
}

fn csv(all: &[Results]) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in all.iter().flat_map(long::rows) {
        writer.serialize(row.on_one_line()).context("cannot encode a trial as CSV")?;
    }
    let bytes = writer.into_inner().context("cannot encode the trials as CSV")?;
    // A terminal acts on what it is shown of a stranger's journal.
    Ok(words::visible(&String::from_utf8_lossy(&bytes)).into_owned().into_bytes())
}

fn jsonl(all: &[Results]) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for row in all.iter().flat_map(long::rows) {
        let text = serde_json::to_string(&row).context("cannot encode a trial as JSON")?;
        bytes.extend_from_slice(words::in_json(&text).as_bytes());
        bytes.push(b'\n');
    }
    Ok(bytes)
}
