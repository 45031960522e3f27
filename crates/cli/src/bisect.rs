//! `fwdlab bisect`: which step of a chain of variants, images or commits changed the figure.

mod arguments;
mod derived;
mod probe;
mod repository;
mod words;

pub use arguments::Args;
use arguments::Format;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, bail};
use fwdlab_campaign::bisect::{BisectError, Header, Journal, bisect, margin, traffics, variants};
use fwdlab_stats::bisect::Terms;
use fwdlab_stats::{far_change, plural};

use crate::{interrupt, output};
use probe::{Lab, Probe, Stopped};
use repository::Repository;

/// Longest experiment, and longest list of states.
const MOST_BYTES: u64 = 16 * fwdlab_guard::MIB;
/// Longest name of a state: a version, a commit, a file's path.
const MOST_STATE: usize = 4_096;
/// So many states are named in a message.
const MOST_NAMED: usize = 20;

/// Runs the command.
///
/// # Errors
/// When a comparison cannot be made; what was measured stays.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let path = &arguments.experiment;
    let text = fwdlab_guard::input::named_text(path, MOST_BYTES)
        .with_context(|| format!("cannot read the experiment {}", path.display()))?;
    let labs = labs(&arguments.lab)?;
    check_traffic(arguments, &text)?;
    derived::tidy(path);
    let repository = arguments.git.as_deref().map(Repository::open).transpose()?;
    let chain = match &labs {
        Some([old, new]) => vec![old.name.clone(), new.name.clone()],
        None => chain(arguments, &text, repository.as_ref())?,
    };
    let pointer = repository.as_ref().map(derived::Derived::pointer).transpose();
    let _pointer = pointer.unwrap_or_else(|error| {
        fwdlab_guard::say!("warning: {error:#}: what a kill leaves checked out is not found again");
        None
    });
    let stop = interrupt::stop_on_interrupt()?;
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let dir = arguments
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from("results").join(format!("bisect-{stem}")));
    let header = Header {
        chain: chain.clone(),
        blocks: arguments.blocks,
        experiment: text.clone(),
        asked: asked(arguments, labs.as_ref()),
    };
    let mut journal = Journal::open(&dir, header)?;
    let earlier = journal.measured().len();
    if earlier > 0 {
        let recorded = plural(earlier, "recorded comparison");
        fwdlab_guard::say!("going on in {} with {recorded}", dir.display());
    }
    leave_out(&mut journal, &arguments.skip, repository.as_ref())?;
    let mut probe = Probe {
        arguments,
        text: &text,
        dir: &dir,
        repository: repository.as_ref(),
        stop,
        number: probe::highest(&dir),
        compared: earlier,
        disturbed: 0,
    };
    let margin = margin(path, &text)?;
    let terms = Terms { most: arguments.most, margin, ..Terms::default() };
    let measure = |state: usize| match &labs {
        Some(both) => probe.compare_labs(both),
        None => probe.compare(&chain[0], &chain[state]),
    };
    let names: Vec<String> = match &repository {
        Some(repository) => chain.iter().map(|commit| repository.name(commit)).collect(),
        None => chain.clone(),
    };
    let start = Instant::now();
    let mut is_told = false;
    let found = bisect(&mut journal, terms, measure, |own| {
        let name = &names[own.state];
        let percent = (own.ratio - 1.0) * 100.0;
        let change = far_change(percent).unwrap_or_else(|| format!("{percent:+.2} %"));
        fwdlab_guard::say!("{name}: {change} beside {}", names[0]);
        if !std::mem::replace(&mut is_told, true) {
            fwdlab_guard::say!("{}", words::time(start.elapsed(), names.len(), arguments.most));
        }
    });
    let found = match found {
        Err(error) if error.is::<Stopped>() => {
            fwdlab_guard::say!("{error}");
            return Ok(ExitCode::from(interrupt::STOPPED));
        }
        found => found?,
    };
    let count = journal.measured().len();
    if probe.disturbed > 0 {
        fwdlab_guard::say!("{}", words::disturbed(probe.disturbed, count - earlier));
    }
    let told = words::Told {
        count,
        most: arguments.most,
        is_of_labs: labs.is_some(),
        left_out: journal.left_out(),
    };
    output::print(&match arguments.format {
        Format::Text => words::words(&found, &names, &told),
        Format::Json => words::json(&found, &chain, &told)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Leaves out the states that somebody named, in the words that they were named by.
fn leave_out(
    journal: &mut Journal,
    skip: &[String],
    repository: Option<&Repository>,
) -> anyhow::Result<()> {
    for name in skip {
        let chain = &journal.header().chain;
        let is_it = |own: &String| match repository {
            // as git takes them: so many letters of a hash
            Some(_) => !name.is_empty() && own.starts_with(name.as_str()),
            None => own == name,
        };
        let mut found = chain.iter().enumerate().filter(|(_, own)| is_it(own));
        match (found.next(), found.next()) {
            (Some((state, _)), None) => journal.leave_out(state, "--skip")?,
            (Some(_), Some(_)) => bail!("--skip {name}: more than one state begins so"),
            (None, _) => bail!("--skip {name}: no state between the ends is called so"),
        }
    }
    Ok(())
}

/// A traffic that is not there has no good trial, however often it is asked for.
fn check_traffic(arguments: &Args, text: &str) -> Result<(), BisectError> {
    let Some(name) = &arguments.traffic else { return Ok(()) };
    let path = &arguments.experiment;
    let all = traffics(path, text)?;
    if all.contains(name) {
        return Ok(());
    }
    let (path, name) = (path.clone(), name.clone());
    Err(BisectError::NoTraffic { path, name, known: all.join(", ") })
}

/// What makes a comparison another one, beside the states, the blocks and the experiment.
fn asked(arguments: &Args, labs: Option<&[Lab; 2]>) -> Vec<String> {
    let traffic = arguments.traffic.iter().map(|name| format!("traffic {name}"));
    let lab = |lab: &Lab| format!("lab {}={}", lab.name, lab.program.display());
    let ends = [&arguments.good, &arguments.bad].into_iter().flatten();
    let ends = ends.filter(|_| labs.is_some()).map(|name| format!("variant {name}"));
    traffic.chain(labs.into_iter().flatten().map(lab)).chain(ends).collect()
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
        let text = fwdlab_guard::input::named_text(list, MOST_BYTES)
            .with_context(|| format!("cannot read the list {}", list.display()))?;
        let lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        if let Some(long) = lines.iter().find(|line| line.len() > MOST_STATE) {
            bail!(
                "the list {}: a line of {} bytes is no state; write one name a line, of at most {MOST_STATE} bytes",
                list.display(),
                long.len()
            );
        }
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = lines.iter().find(|line| !seen.insert(line.as_str())) {
            bail!(
                "the list {}: '{twice}' stands there twice; a chain has each state once",
                list.display()
            );
        }
        lines
    } else {
        variants(&arguments.experiment, text)?
    };
    let known = || match all.split_at_checked(MOST_NAMED) {
        Some((some, more @ [_, ..])) => format!("{} and {} more", some.join(", "), more.len()),
        _ => all.join(", "),
    };
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
        [old, new] => {
            let both = [read(old)?, read(new)?];
            if both[0].name == both[1].name {
                bail!(
                    "both builds of --lab are called '{}': give each a name of its own",
                    both[0].name
                );
            }
            Ok(Some(both))
        }
        _ => bail!(
            "--lab is given {}: name two builds, the older first",
            plural(given.len(), "time")
        ),
    }
}
