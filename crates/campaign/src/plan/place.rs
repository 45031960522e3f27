//! Decides where the results of a run go, and whether it goes on with an
//! earlier one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::draw::{Plan, draw_seed};
use super::grouping::Terms;
use crate::{Error, Result};
use fwdlab_experiment::{Experiment, inputs};
use fwdlab_guard::{Folder, input};
use fwdlab_results::environment::{self, ENVIRONMENT_FILE, Environment};
use fwdlab_results::journal::{Journal, utc_stamp};
use fwdlab_results::{CONSOLE_DIR, Campaign, EXPERIMENT_FILE, JOURNAL_FILE, Results, kept_input};

/// Where results may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// This directory.
    Named(PathBuf),
    /// Under this directory, by the experiment file's name: `modular-fib`,
    /// then `modular-fib-2`, ...
    Under(PathBuf),
}

/// A campaign that is ready to run: new, or going on where it stopped.
#[derive(Debug)]
pub struct Opened {
    /// The locked journal.
    pub journal: Journal,
    /// What to run.
    pub plan: Plan,
    /// What is already recorded; `None` for a new campaign.
    pub earlier: Option<Results>,
}

impl Opened {
    /// Trials still to run, in running order.
    pub fn missing(&self) -> Vec<&super::draw::PlannedTrial> {
        self.plan.missing(self.earlier.as_ref())
    }
}

/// What stands in a directory.
enum State {
    /// Nothing, or nothing in the way.
    Free,
    /// An unfinished campaign of the same experiment file.
    Unfinished,
    /// Something else.
    Taken(&'static str),
    /// A journal with a line that says nothing.
    Damaged(Error),
}

impl Place {
    /// Opens the results of `experiment` at this place. An unfinished campaign
    /// of the same experiment file goes on, with its recorded seed; otherwise
    /// a new one begins, with the experiment's seed or a drawn one.
    ///
    /// # Errors
    /// When the named directory holds other results, another run is writing
    /// there, or it cannot be written. Nothing is left half-made.
    pub fn open(&self, experiment: &Experiment, terms: &Terms) -> Result<Opened> {
        match self.find(experiment, terms)? {
            (dir, State::Unfinished) => resume(&dir, experiment),
            (dir, State::Free) => begin(&dir, experiment, terms),
            (dir, State::Taken(state)) => Err(Error::Occupied { dir, state }),
            (_, State::Damaged(error)) => Err(error),
        }
    }

    /// The directory that [`Place::open`] takes.
    ///
    /// # Errors
    /// When the named directory holds other results or cannot be read.
    pub fn dir(&self, experiment: &Experiment, terms: &Terms) -> Result<PathBuf> {
        match self.find(experiment, terms)? {
            (dir, State::Taken(state)) => Err(Error::Occupied { dir, state }),
            (_, State::Damaged(error)) => Err(error),
            (dir, _) => Ok(dir),
        }
    }

    fn find(&self, experiment: &Experiment, terms: &Terms) -> Result<(PathBuf, State)> {
        match self {
            Self::Named(dir) => Ok((dir.clone(), state_of(dir, experiment, terms)?)),
            Self::Under(root) => first_fit(root, experiment, terms),
        }
    }
}

impl Place {
    /// Finished results of `experiment` at this place, the latest last.
    ///
    /// # Errors
    /// When a directory cannot be read.
    pub fn finished(&self, experiment: &Experiment) -> Result<Vec<Results>> {
        let mut found = Vec::new();
        for dir in self.taken(experiment) {
            match Results::read(&dir) {
                Ok(results)
                    if results.finished.is_some() && is_of(&results.campaign, experiment) =>
                {
                    found.push(results);
                }
                Ok(_) | Err(Error::NoResults { .. } | Error::JournalLine { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Campaigns at this place that were stopped, and that `experiment` does not go on with: its file, or one that it
    /// names, was another.
    pub fn left_behind(&self, experiment: &Experiment) -> Vec<Results> {
        let is_left = |own: &Results| {
            own.finished.is_none() && own.campaign.is_blocked() && !is_of(&own.campaign, experiment)
        };
        self.taken(experiment).filter_map(|dir| Results::read(&dir).ok()).filter(is_left).collect()
    }

    /// What is wrong with journals at this place that nobody can go on with.
    pub fn damaged(&self, experiment: &Experiment) -> Vec<Error> {
        let is_line = |error: &Error| matches!(error, Error::JournalLine { .. });
        self.taken(experiment).filter_map(|dir| Results::read(&dir).err()).filter(is_line).collect()
    }

    /// The directories at this place that are there.
    fn taken(&self, experiment: &Experiment) -> Box<dyn Iterator<Item = PathBuf>> {
        match self {
            Self::Named(dir) => Box::new(std::iter::once(dir.clone())),
            Self::Under(root) => {
                let (root, stem) = (root.clone(), experiment.stem().to_owned());
                let dirs = (1..).map(move |number| root.join(numbered(&stem, number)));
                Box::new(dirs.take_while(|dir| dir.exists()))
            }
        }
    }

    /// Opens results of `experiment` in `dir`, finished or not, to run their FAILED trials again.
    ///
    /// # Errors
    /// As [`Place::open`].
    pub fn retry(dir: &Path, experiment: &Experiment) -> Result<Opened> {
        going_on(dir, experiment, Journal::reopen(dir)?)
    }
}

/// `stem`, `stem-2`, ...
fn numbered(stem: &str, number: u32) -> String {
    if number == 1 { stem.to_owned() } else { format!("{stem}-{number}") }
}

/// The first of `stem`, `stem-2`, ... that is free or can go on.
fn first_fit(root: &Path, experiment: &Experiment, terms: &Terms) -> Result<(PathBuf, State)> {
    let mut number = 1;
    loop {
        let dir = root.join(numbered(experiment.stem(), number));
        match state_of(&dir, experiment, terms)? {
            State::Taken(_) | State::Damaged(_) => number += 1,
            state => return Ok((dir, state)),
        }
    }
}

fn state_of(dir: &Path, experiment: &Experiment, terms: &Terms) -> Result<State> {
    match Results::read(dir) {
        Ok(results) if results.finished.is_some() => Ok(State::Taken("finished")),
        Ok(results) if !is_of(&results.campaign, experiment) => {
            Ok(State::Taken("another experiment's"))
        }
        // What other machines have measured is never gone on with.
        Ok(results) if results.campaign.testbed != terms.testbed => {
            Ok(State::Taken("another testbed's"))
        }
        Ok(_) => Ok(State::Unfinished),
        Err(Error::NoResults { .. }) => Ok(state_without_results(dir)),
        Err(error @ Error::JournalLine { .. }) => Ok(State::Damaged(error)),
        Err(error) => Err(error),
    }
}

/// Whether a campaign is one of this experiment: the same text, naming files with the same bytes.
fn is_of(campaign: &Campaign, experiment: &Experiment) -> bool {
    let is_same = |(name, sum): (&String, &String)| experiment.inputs.get(name) == Some(sum);
    campaign.experiment_sha256 == experiment.sha256 && campaign.inputs.iter().all(is_same)
}

/// A directory without results is free when it is empty, absent, or holds only what a start leaves
/// behind that was killed before its first record, or whose device could not be set up.
fn state_without_results(dir: &Path) -> State {
    let Ok(entries) = fs::read_dir(dir) else {
        // Absent, or a file, or unreadable: creating it will tell.
        return State::Free;
    };
    let names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    let was_started = names.iter().any(|name| name == JOURNAL_FILE);
    let is_told = |name: &String| name == CONSOLE_DIR;
    let is_left_behind = |name: &String| {
        is_told(name)
            || name.starts_with(JOURNAL_FILE)
            || name == EXPERIMENT_FILE
            || name == ENVIRONMENT_FILE
            || (name.starts_with('.') && name.ends_with(".new"))
    };
    if names.iter().all(is_told) || (was_started && names.iter().all(is_left_behind)) {
        State::Free
    } else {
        State::Taken("other files, not")
    }
}

fn begin(dir: &Path, experiment: &Experiment, terms: &Terms) -> Result<Opened> {
    let seed = experiment.seed.unwrap_or_else(draw_seed);
    let plan = Plan {
        blocks_per_process: terms.blocks_per_process(experiment),
        ..Plan::draw_with(
            experiment,
            (seed, terms.grouping(experiment)),
            terms.calibration(experiment),
        )
    };
    let about = Some(terms.about.clone());
    let testbed = terms.testbed.clone();
    let unproven = terms.unproven(experiment);
    let campaign = Campaign {
        about,
        testbed,
        unproven,
        ..plan.campaign(experiment, utc_stamp(SystemTime::now()))
    };
    let environment = terms.environment.clone().map(|own| Environment { seed, ..own });
    let environment = environment.map(|own| own.bytes()).transpose()?;
    let journal = Journal::create(dir, &campaign, &experiment.text, environment.as_deref())?;
    keep_inputs(dir, experiment)?;
    Ok(Opened { journal, plan, earlier: None })
}

fn resume(dir: &Path, experiment: &Experiment) -> Result<Opened> {
    going_on(dir, experiment, Journal::resume(dir)?)
}

fn going_on(
    dir: &Path,
    experiment: &Experiment,
    (journal, results): (Journal, Results),
) -> Result<Opened> {
    if let Some(recorded) = &results.campaign.environment_sha256
        && environment::sha256(dir)?.as_ref() != Some(recorded)
    {
        return Err(Error::OtherEnvironment { path: dir.join(ENVIRONMENT_FILE) });
    }
    let plan = Plan::recorded(experiment, &results.campaign)
        .ok_or_else(|| Error::Occupied { dir: dir.to_owned(), state: "another version's" })?;
    // A run that was killed may have kept some of them.
    keep_inputs(dir, experiment)?;
    Ok(Opened { journal, plan, earlier: Some(results) })
}

/// Copies the files that the experiment names to its results, so that they can be measured again
/// wherever they are.
fn keep_inputs(dir: &Path, experiment: &Experiment) -> Result<()> {
    for (named, sum) in &experiment.inputs {
        let (from, to) =
            (inputs::place(&experiment.path, Path::new(named)), dir.join(kept_input(named)));
        if inputs::digest(&to).is_ok_and(|is| is == *sum) {
            continue;
        }
        let (Some(folder), Some(name)) = (to.parent().and_then(Path::file_name), to.file_name())
        else {
            continue;
        };
        let mut source = input::found(&from, u64::MAX).map_err(Error::io("open", &from))?;
        let folder = Folder::open(dir).and_then(|dir| dir.sub(folder));
        folder.and_then(|it| it.put_all(name, &mut source)).map_err(Error::io("write", &to))?;
    }
    Ok(())
}
