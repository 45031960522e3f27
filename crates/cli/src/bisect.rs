//! `fwdlab bisect`: which step of a chain of variants, images or commits changed the figure.

mod derived;
mod probe;
mod repository;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Parser, ValueEnum};
use fwdlab_campaign::bisect::{BisectError, Header, Journal, bisect, variants};
use fwdlab_stats::bisect::Terms;

use crate::{interrupt, output};
use probe::{Lab, Probe, Stopped};
use repository::Repository;

/// Arguments of `fwdlab bisect`.
#[derive(Parser)]
#[command(
    after_help = "Both ends are measured again first. The answers: one culprit, several changes, \
                  changes that take each other back, no single culprit, or a difference that is \
                  gone (the lab or the machine changed).\nThe same command goes on where it was \
                  interrupted. docs/history.md has the method."
)]
pub struct Args {
    /// Experiment file; its variants are the chain, unless --list or --git says another
    experiment: PathBuf,

    /// The state without the change
    #[arg(long, value_name = "STATE", required_unless_present = "lab")]
    good: Option<String>,

    /// The state with it
    #[arg(long, value_name = "STATE", required_unless_present = "lab")]
    bad: Option<String>,

    /// A file with one state a line, oldest first; the variant called "{}" is made of each
    #[arg(long, value_name = "FILE", conflicts_with = "git")]
    list: Option<PathBuf>,

    /// A git repository whose commits between the ends (first parents) are the states; each is
    /// checked out before --command, and what was checked out before comes back
    #[arg(long, value_name = "REPOSITORY", requires = "command")]
    git: Option<PathBuf>,

    /// What makes a state ready (builds a kernel), run once for each by sh with its name in
    /// FWDLAB_STATE. What it writes into the file FWDLAB_VARIANT is added to the state's variant:
    /// kernel = "...", or set = { ... }
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,

    /// Vary fwdlab itself at a fixed device: NAME=PROGRAM, twice, the older first
    #[arg(long, value_name = "NAME=PROGRAM", num_args = 1, conflicts_with_all = ["list", "git"])]
    lab: Vec<String>,

    /// The traffic to look at [default: the first]
    #[arg(long, value_name = "NAME")]
    traffic: Option<String>,

    /// Blocks of each comparison
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    blocks: u32,

    /// Most comparisons
    #[arg(long, default_value_t = 200)]
    most: usize,

    /// Where the comparisons go [default: results/bisect-<name of the experiment file>]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Forms of the output.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The answer in words
    Text,
    /// The answer in base units
    Json,
}

/// Runs the command.
///
/// # Errors
/// When a comparison cannot be made; what was measured stays.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let path = &arguments.experiment;
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the experiment {}", path.display()))?;
    let labs = labs(&arguments.lab)?;
    let repository = arguments.git.as_deref().map(Repository::open).transpose()?;
    let chain = match &labs {
        Some([old, new]) => vec![old.name.clone(), new.name.clone()],
        None => chain(arguments, &text, repository.as_ref())?,
    };
    derived::tidy(path);
    let stop = interrupt::stop_on_interrupt()?;
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let dir = arguments
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from("results").join(format!("bisect-{stem}")));
    let header =
        Header { chain: chain.clone(), blocks: arguments.blocks, experiment: text.clone() };
    let mut journal = Journal::open(&dir, header)?;
    let earlier = journal.measured().len();
    if earlier > 0 {
        fwdlab_guard::say!("going on in {}: {earlier} comparisons are recorded", dir.display());
    }
    let mut probe = Probe {
        arguments,
        text: &text,
        dir: &dir,
        repository: repository.as_ref(),
        stop,
        number: earlier,
    };
    let terms = Terms { most: arguments.most, ..Terms::default() };
    let measure = |state: usize| match &labs {
        Some(both) => probe.compare_labs(both),
        None => probe.compare(&chain[0], &chain[state]),
    };
    let names: Vec<String> = match &repository {
        Some(repository) => chain.iter().map(|commit| repository.name(commit)).collect(),
        None => chain.clone(),
    };
    let answer = bisect(&mut journal, terms, measure, |own| {
        let name = &names[own.state];
        fwdlab_guard::say!("{name}: {:+.2} % beside {}", (own.ratio - 1.0) * 100.0, names[0]);
    });
    let answer = match answer {
        Err(error) if error.is::<Stopped>() => {
            fwdlab_guard::say!("{error}");
            return Ok(ExitCode::from(interrupt::STOPPED));
        }
        answer => answer?,
    };
    let count = journal.measured().len();
    output::print(&match arguments.format {
        Format::Text => words::words(&answer, &names, count),
        Format::Json => words::json(&answer, &chain, count)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The states from the good end to the bad one.
fn chain(
    arguments: &Args,
    text: &str,
    repository: Option<&Repository>,
) -> anyhow::Result<Vec<String>> {
    let (Some(good), Some(bad)) = (&arguments.good, &arguments.bad) else {
        bail!("--good and --bad name the ends of the chain");
    };
    if let Some(repository) = repository {
        return repository.chain(good, bad);
    }
    let all = if let Some(list) = &arguments.list {
        let text = std::fs::read_to_string(list)
            .with_context(|| format!("cannot read the list {}", list.display()))?;
        let lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
        lines.map(str::to_owned).collect()
    } else {
        variants(&arguments.experiment, text)?
    };
    let known = || all.join(", ");
    let place = |name: &String| {
        let found = all.iter().position(|own| own == name);
        found.ok_or_else(|| BisectError::NoState { name: name.clone(), known: known() })
    };
    let (first, last) = (place(good)?, place(bad)?);
    if first >= last {
        return Err(BisectError::Order { good: good.clone(), bad: bad.clone() }.into());
    }
    Ok(all[first..=last].to_vec())
}

fn labs(given: &[String]) -> anyhow::Result<Option<[Lab; 2]>> {
    let read = |text: &String| -> anyhow::Result<Lab> {
        let (name, program) = text
            .split_once('=')
            .with_context(|| format!("--lab {text}: write it as NAME=PROGRAM"))?;
        let program = Path::new(program)
            .canonicalize()
            .with_context(|| format!("--lab {name}: there is no program {program}"))?;
        Ok(Lab { name: name.to_owned(), program })
    };
    match given {
        [] => Ok(None),
        [old, new] => Ok(Some([read(old)?, read(new)?])),
        _ => bail!("--lab is given {} times: name two builds, the older first", given.len()),
    }
}
