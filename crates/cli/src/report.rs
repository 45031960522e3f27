//! `fwdlab report`: makes the derived files of a results directory anew, or checks them.

use crate::trees::{self, Place, Trees};
use crate::{devices, features, output, own};
use fwdlab_claims::Claims;
use fwdlab_compare::Options;
use fwdlab_guard::words::one_line;
use fwdlab_report as report;
use fwdlab_report::synthesis::Synthesis;
use fwdlab_results::journal::{Chain, Noted, Seal};
use fwdlab_results::units;
use fwdlab_results::{Results, SIGNATURE_FILE};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `fwdlab report`.
#[derive(clap::Args)]
pub struct Args {
    /// Results directory; several with -o make a synthesis of machines side by side. A tree of
    /// results directories: a report in each, and a line for each here
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,

    /// Where the synthesis goes
    #[arg(short, long, value_name = "DIR", value_parser = crate::own::directory())]
    output: Option<PathBuf>,

    /// Let a synthesis hold different traffic or settings under one name, with a warning
    #[arg(long)]
    mixed: bool,

    /// Change nothing: verify the journal against its experiment, its seed, its raw counts and its
    /// chain of hashes, and the derived files against the journal (exit code 1)
    #[arg(long)]
    check: bool,

    /// With --check: the SHA-256 of the journal's last line as it was noted elsewhere (its README.md ends
    /// with it); exit code 1 when the journal is another one, written anew or cut back
    #[arg(long, value_name = "SHA256", requires = "check", value_parser = sha256)]
    last_line: Option<String>,

    /// Only print, in this form, and write nothing [default: write the files, and print text]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// As text: every variant, where there are so many that else the largest differences are shown
    #[arg(long)]
    all: bool,
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
    /// Results in this form, with what a terminal would act on written out, but for its own colours.
    ///
    /// # Errors
    /// When a claim does not resolve.
    pub fn of(self, results: &Results, claims: &Claims) -> anyhow::Result<String> {
        Ok(match self {
            Self::Text => report::terminal(results, output::width(), output::is_coloured()),
            Self::Commit => report::commit(results)?,
            Self::Github => report::github(results)?,
            Self::Json => report::json(claims)?,
        })
    }
}

/// Runs the command.
///
/// # Errors
/// When the results cannot be read, a claim does not resolve, or a file cannot be written.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    if let Some(places) = trees::of(&arguments.dirs)? {
        anyhow::ensure!(
            arguments.last_line.is_none(),
            "--last-line is of one journal, and {} are here; name its directory",
            places.len()
        );
        let dirs: Vec<PathBuf> = places.iter().map(|place| place.dir.clone()).collect();
        return match &arguments.output {
            Some(output) => synthesis(&dirs, output, arguments.mixed),
            None => each(arguments, &places),
        };
    }
    let [dir] = arguments.dirs.as_slice() else {
        let Some(output) = &arguments.output else {
            anyhow::bail!("a synthesis of several directories needs a place: add -o DIR");
        };
        return synthesis(&arguments.dirs, output, arguments.mixed);
    };
    if arguments.check {
        return check(dir, arguments.last_line.as_deref());
    }
    let results = read(dir)?;
    if let Some(format) = arguments.format.filter(|format| *format != Format::Text) {
        output::print_raw(format.of(&results, &fwdlab_claims::claims(&results)?)?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = || terminal(dir, &results, arguments.all);
    if arguments.format.is_some() {
        output::print_raw(text().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    match report::write(dir, &results) {
        Ok(written) => {
            output::print_raw(text().as_bytes())?;
            fwdlab_guard::say!(
                "{} written to {}",
                units::plural(written.files.len(), "file"),
                dir.display()
            );
        }
        // A directory that nobody may write to has its report all the same, on the terminal.
        Err(error) if error.is_read_only() => {
            output::print_raw(text().as_bytes())?;
            fwdlab_guard::say!("nothing written: {error}");
        }
        Err(error) => return Err(error.into()),
    }
    features::say_what_reports_lack();
    Ok(ExitCode::SUCCESS)
}

/// Most lines for a terminal: what is longer, as of the many images of a year, is shown as `compare` does.
const MOST_LINES: usize = 200;

fn terminal(dir: &Path, results: &Results, is_all: bool) -> String {
    let text = report::terminal(results, output::width(), output::is_coloured());
    if is_all || text.lines().count() <= MOST_LINES {
        return text;
    }
    let options = Options { sources: vec![dir.to_owned()], ..Options::default() };
    let brief = fwdlab_compare::compare(&options, &mut std::io::empty())
        .and_then(|compared| fwdlab_compare::render(&compared, fwdlab_compare::Format::Brief));
    brief.map_or(text, |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn read(dir: &Path) -> anyhow::Result<Results> {
    let results = Results::read(dir)?.knowing(&devices::known());
    if let Some(line) = results.changed {
        fwdlab_guard::say!(
            "warning: {}: line {line} of the journal, or what it follows from, is not as it was written",
            dir.display()
        );
    }
    Ok(results)
}

/// The directories of a tree, each by itself: their reports, and a line for each.
fn each(arguments: &Args, places: &[Place]) -> anyhow::Result<ExitCode> {
    let mut is_good = true;
    let (mut files, mut all) = (0, Vec::new());
    for place in places {
        if arguments.check {
            is_good &= check(&place.dir, None)? == ExitCode::SUCCESS;
            continue;
        }
        let results = read(&place.dir)?;
        let claims = if arguments.format.is_some() {
            fwdlab_claims::claims(&results)?
        } else {
            let written = report::write(&place.dir, &results)?;
            files += written.files.len();
            written.claims
        };
        if arguments.format == Some(Format::Json) {
            all.push(json!({ "directory": place.name, "claims": claims }));
        }
    }
    if arguments.check {
        for dir in arguments.dirs.iter().flat_map(|root| trees::lost(root)) {
            is_good = false;
            output::print(&format!(
                "{}: files of results without their journal, trials.jsonl: nothing here can be checked\n",
                dir.display()
            ))?;
        }
        return Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let overview = || Trees::compare(places, &Options::default()).overview();
    output::print(&match arguments.format.unwrap_or(Format::Text) {
        Format::Text | Format::Commit => overview().text(),
        Format::Github => overview().markdown(),
        Format::Json => output::json(&all)?,
    })?;
    fwdlab_guard::say!("{} written to {} directories", units::plural(files, "file"), places.len());
    features::say_what_reports_lack();
    Ok(ExitCode::SUCCESS)
}

/// Several directories: one page with all machines.
fn synthesis(dirs: &[PathBuf], output: &Path, is_mixed: bool) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        !dirs.iter().any(|dir| dir == output),
        "{} holds results; choose another place for the synthesis with -o DIR",
        output.display()
    );
    own::keep_foreign_pages(output, "index.html")?;
    let all: Result<Vec<Results>, _> = dirs.iter().map(|dir| read(dir)).collect();
    let synthesis = Synthesis::of(all?, is_mixed)?;
    for warning in &synthesis.warnings {
        fwdlab_guard::say!("warning: {warning}");
    }
    output::print(&report::synthesis::text(&synthesis))?;
    let files = report::synthesis::write(&synthesis, output)?;
    fwdlab_guard::say!("{} written to {}", units::plural(files.len(), "file"), output.display());
    Ok(ExitCode::SUCCESS)
}

/// Why the journal is not the one noted.
fn other_than(noted: Noted) -> Option<String> {
    match noted {
        Noted::Last => None,
        Noted::Earlier { line, lines } => Some(format!(
            "trials.jsonl: the line noted is line {line} of {lines}: the journal went on after it was noted"
        )),
        Noted::Nowhere => Some(
            "trials.jsonl: no line has the SHA-256 noted: the journal was written anew, or its end was cut \
             off"
            .to_owned(),
        ),
    }
}

/// Who vouches for a journal that agrees with itself: nobody, unless it was noted or signed.
fn vouched(results: &Results, last: &str, is_noted: bool) -> anyhow::Result<String> {
    let ends = Seal::read(&results.dir)?.len();
    let again = if ends > 1 { ", trials of which ran again" } else { "" };
    let mut text =
        format!("journal: {}{again}; last line SHA-256 {last}\n", units::plural(ends, "end"));
    let is_signed = results.dir.join(SIGNATURE_FILE).exists();
    text.push_str(match (is_signed, is_noted) {
        (true, _) => {
            "a signature lies beside the journal, not looked at here: `fwdlab verify` says whether it \
             holds and whose it is; without one, that all of it was written anew cannot be told\n"
        }
        (false, true) => "",
        (false, false) => {
            "not signed, and compared with no hash noted elsewhere (--last-line): that all of it was \
             written anew, or cut back to an earlier end, cannot be told\n"
        }
    });
    Ok(text)
}

/// 64 hexadecimal digits.
fn sha256(text: &str) -> Result<String, String> {
    let is_hash = text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let wanted = "64 hexadecimal digits, as README.md ends with";
    if is_hash {
        Ok(text.to_owned())
    } else {
        Err(format!("this is no SHA-256; wanted are {wanted}"))
    }
}

fn check(dir: &Path, noted: Option<&str>) -> anyhow::Result<ExitCode> {
    let results = read(dir)?;
    let mut differences: Vec<String> =
        report::check(&results)?.iter().map(ToString::to_string).collect();
    if let Some(hash) = noted {
        differences.extend(other_than(Noted::read(dir, hash)?));
    }
    let mut text = String::new();
    // A line each: one of a stranger's could read as a verdict on the whole.
    for difference in &differences {
        let _ = writeln!(text, "{}", one_line(difference));
    }
    for what in report::unchecked(&results)? {
        let _ = writeln!(text, "not checked: {}", one_line(&what.to_string()));
    }
    if differences.is_empty() {
        let _ = writeln!(text, "{}: the report agrees with its journal", dir.display());
    }
    if let Chain::Whole { last } = Chain::read(dir)? {
        text.push_str(&vouched(&results, &last, noted.is_some())?);
    }
    output::print(&text)?;
    Ok(if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
