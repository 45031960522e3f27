//! `fwdlab history`: series over revisions or dates, and what changed.

mod confirm;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Parser, Subcommand, ValueEnum};
use fwdlab_guard::Folder;
use fwdlab_history::store::{Store, torn_file};
use fwdlab_history::{Error, History, Options, find, read, render};
use fwdlab_stats::change::Settings;
use fwdlab_stats::plural;

use crate::{output, own};

/// Arguments of `fwdlab history`.
#[derive(Parser)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Exit status: 0 done, 1 a criterion of --fail-on is met, 2 an error.\n\
                  The method, its false alarms and its power: docs/history.md"
)]
pub struct Args {
    /// Results directories, imported or published ones, or trees of them
    #[arg(value_name = "DIR", required_unless_present = "store")]
    directories: Vec<PathBuf>,

    /// Keep the points in this file too (text, only ever added to), and look at all that it holds
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    #[command(flatten)]
    finding: Finding,

    /// Before a change is reported, have it measured again: sh runs this with FWDLAB_BEFORE and
    /// FWDLAB_AFTER (revisions) and FWDLAB_SERIES, and it leaves results that compare both in
    /// FWDLAB_RESULTS, by variants called as the revisions. What they do not show at 99 % is not reported
    #[arg(long, value_name = "COMMAND", requires = "store")]
    confirm: Option<String>,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Also write history.html, and README.md with its figures, into this directory
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// End with exit code 1 when there is one that is neither acknowledged nor taken back
    #[arg(long, value_enum, value_name = "WHAT")]
    fail_on: Option<FailOn>,

    #[command(subcommand)]
    action: Option<Action>,
}

/// What decides which changes are found, and whose they are.
#[derive(clap::Args)]
struct Finding {
    /// Changes smaller than this do not matter
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = margin)]
    margin: f64,

    /// Series whose names hold this text are of software that never changes: what moves as one of them does,
    /// on the same machine, is the machine's
    #[arg(long, value_name = "TEXT", value_parser = part_of_a_name)]
    control: Option<String>,

    /// Only series whose names hold this text; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = part_of_a_name)]
    only: Vec<String>,
}

impl Finding {
    fn options(&self) -> Options {
        Options {
            settings: Settings { margin: self.margin, ..Settings::default() },
            control: self.control.clone(),
            only: self.only.clone(),
        }
    }

    /// What is found in the series that were asked for.
    fn find(&self, store: &Store) -> anyhow::Result<History> {
        let history = find(store.points.clone(), &store.acknowledged, &self.options());
        if history.series.is_empty() && !self.only.is_empty() {
            bail!(
                "no series is called '{}'; leave --only out to see all",
                self.only.join("' or '")
            );
        }
        self.check_control(&history)?;
        Ok(history)
    }

    /// A control that is all series leaves nothing that could be the software's, and `--fail-on regression` with
    /// nothing to fail on.
    fn check_control(&self, history: &History) -> anyhow::Result<()> {
        let Some(control) = &self.control else { return Ok(()) };
        let is_it = |own: &&fwdlab_history::Series| own.key.name().contains(control);
        match history.series.iter().filter(is_it).count() {
            0 => fwdlab_guard::say!(
                "no series is called '{control}': without a control nothing tells the machine from the software"
            ),
            all if all == history.series.len() => bail!(
                "--control '{control}' names every series, so that no change would be the software's; name those of \
                 the image that never changes, or leave it out"
            ),
            _ => {}
        }
        Ok(())
    }
}

/// What else can be done.
#[derive(Subcommand)]
enum Action {
    /// Say that an alert is known: it passes --fail-on from now on
    Ack {
        /// Its id
        id: String,
        /// Why it is fine
        #[arg(long)]
        reason: String,
        /// The store
        #[arg(long, value_name = "FILE")]
        store: PathBuf,
        #[command(flatten)]
        finding: Finding,
    },
}

/// Forms of the output.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// What changed, then a line for each series
    Text,
    /// Everything, in base units
    Json,
    /// What changed as a table, fit for $GITHUB_STEP_SUMMARY
    Markdown,
    /// A page with figures, in one file
    Html,
    /// The last points, for github-action-benchmark
    GithubActionBenchmark,
    /// The last points, for Bencher
    Bencher,
    /// All points as the CSV of Apache Otava
    Otava,
}

/// Criteria that can fail a run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A change for the worse that the machine does not explain
    Regression,
    /// Any change
    Change,
}

/// Runs the command.
///
/// # Errors
/// When nothing can be read, or the store cannot be used.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    if let Some(Action::Ack { id, reason, store, finding }) = &arguments.action {
        return acknowledge(id, reason, store, finding);
    }
    let mut store = Store::default();
    if let Some(path) = &arguments.store {
        store = Store::read(path)?;
        say_torn(&store, path);
    }
    if !arguments.directories.is_empty() {
        let found = read::read(&arguments.directories)?;
        for skipped in &found.skipped {
            fwdlab_guard::say!("left out: {skipped}");
        }
        match &arguments.store {
            Some(path) => {
                let added = store.add(path, found.points)?;
                fwdlab_guard::say!("{} in {}", plural(added, "new point"), path.display());
            }
            None => store.points = found.points,
        }
    }
    if let Some(path) = arguments.store.as_ref().filter(|_| arguments.directories.is_empty()) {
        is_there(path)?;
    }
    if store.points.is_empty() {
        bail!("there are no points: every run was left out, or the store is empty");
    }
    let mut history = arguments.finding.find(&store)?;
    if let (Some(command), Some(path)) = (&arguments.confirm, &arguments.store)
        && confirm::confirm(command, &history, &mut store, path)? > 0
    {
        history = arguments.finding.find(&store)?;
    }
    for warning in &history.warnings {
        fwdlab_guard::say!("{warning}");
    }
    output::print(&rendered(&history, arguments.format)?)?;
    if let Some(to) = &arguments.output {
        write_pages(&history, to)?;
    }
    let is_failed = arguments.fail_on.is_some_and(|criterion| is_met(&history, criterion));
    Ok(if is_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn rendered(history: &History, format: Format) -> Result<String, Error> {
    Ok(match format {
        Format::Text => render::text(history),
        Format::Markdown => render::markdown(history),
        Format::Json => render::json(history)?,
        Format::Html => render::html(history, Path::new("."))?,
        Format::GithubActionBenchmark => render::github_action_benchmark(history)?,
        Format::Bencher => render::bencher(history)?,
        Format::Otava => render::otava(history),
    })
}

fn write_pages(history: &History, to: &Path) -> anyhow::Result<()> {
    own::keep_foreign_pages(to, "history.html")?;
    let failed = |what: &str, path: &Path| {
        format!("cannot {what} {}; name another directory with -o", path.display())
    };
    std::fs::create_dir_all(to).with_context(|| failed("create", to))?;
    let page = ("history.html".to_owned(), render::html(history, to)?);
    let folder = Folder::open(to).with_context(|| failed("open", to))?;
    for (name, text) in render::readme(history).into_iter().chain([page]) {
        let put = match name.split_once('/') {
            None => folder.put(name.as_ref(), text.as_bytes()),
            Some((below, own)) => {
                let below = folder.sub(below.as_ref());
                below.and_then(|below| below.put(own.as_ref(), text.as_bytes()))
            }
        };
        put.with_context(|| failed("write", &to.join(&name)))?;
    }
    fwdlab_guard::say!("history.html and README.md are in {}", to.display());
    Ok(())
}

fn is_met(history: &History, criterion: FailOn) -> bool {
    history.alerts.iter().any(|alert| match criterion {
        FailOn::Change => alert.is_open(),
        FailOn::Regression => alert.is_open_regression(),
    })
}

/// A store that is only looked at has to be there: one that is named wrong is as an empty one.
fn is_there(store: &Path) -> anyhow::Result<()> {
    if !store.exists() {
        bail!(
            "there is no store {0}; `fwdlab history DIR... --store {0}` makes it",
            fwdlab_guard::words::pasted(store)
        );
    }
    Ok(())
}

/// Says which line of a store does not count.
fn say_torn(store: &Store, path: &Path) {
    let Some(line) = store.torn() else { return };
    let start: String = line.chars().take(60).collect();
    fwdlab_guard::say!(
        "left out: the last line of {} was cut short: {start}…; what is added next moves it to {}",
        path.display(),
        torn_file(path).display()
    );
}

fn acknowledge(id: &str, reason: &str, path: &Path, finding: &Finding) -> anyhow::Result<ExitCode> {
    if reason.trim().is_empty() {
        bail!("--reason is empty: say why the change is fine");
    }
    is_there(path)?;
    let mut store = Store::read(path)?;
    say_torn(&store, path);
    let history = finding.find(&store)?;
    let Some(alert) = history.called(id) else {
        return Err(Error::NoAlert { id: id.to_owned(), store: path.to_owned() }.into());
    };
    let acknowledged = history.acknowledgement(alert, reason.to_owned(), None);
    store.acknowledge(path, acknowledged)?;
    fwdlab_guard::say!("{id} is acknowledged in {}", path.display());
    Ok(ExitCode::SUCCESS)
}

/// `1%` or `0.01`.
fn margin(text: &str) -> Result<f64, String> {
    let wrong = || format!("'{text}' is no share: write it as 1% or 0.01");
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (text, 1.0),
    };
    let value: f64 = number.parse().map_err(|_| wrong())?;
    let share = value / scale;
    if (0.0..1.0).contains(&share) { Ok(share) } else { Err(wrong()) }
}

/// What is looked for in names: a text without a letter, such as of a variable that is not set, is in all of them.
fn part_of_a_name(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        true => Err("it is empty, and every series has that in its name: write a part of the names, or leave it out"
            .to_owned()),
        false => Ok(text.to_owned()),
    }
}
