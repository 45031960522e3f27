//! Published results become fwdlab results: one results directory for each
//! directory of the archive that holds logs.
//!
//! `trials.jsonl` is written whole; the archive stays beside it, so a crash
//! loses nothing and no record is synced by itself. `import.json` tells where
//! everything comes from. Published runs are numbered but not blocked: their
//! order is unknown, which `device = "imported"` says to every reader.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use fwdlab_guard::input;
use fwdlab_guard::words::{is_hidden, one_line};
use rayon::prelude::*;
use serde::Serialize;

use super::archive::{Archive, ResultsDir};
use super::callgraph::Folded;
use super::hardware::Hardware;
use super::runs::{ReadConfiguration, read_configurations};
use super::trial::{Place, trial};
use fwdlab_results::profile::Taken;
use fwdlab_results::{
    About, Campaign, Finished, Grouping, Record, SCHEMA, Status, Trial, TrialOrder,
};
use fwdlab_results::{Error, Result, Tick};
use fwdlab_results::{MOST_TITLE, is_published_name};

pub mod baseline;
mod placing;
mod provenance;
pub mod published;

use baseline::{Baseline, baseline};
use placing::Placing;
use provenance::{Origin, write_provenance};
use published::MOST_PROFILE_BYTES;

/// The outcome of an import.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Imported {
    /// Results directories written.
    pub directories: usize,
    /// Trials in them.
    pub trials: usize,
    /// Trials that failed.
    pub failed: usize,
    /// Logs read.
    pub logs: usize,
    /// Profiles written.
    pub profiles: usize,
    /// What was left out, with the reason.
    pub skipped: Vec<String>,
    /// Failed trials by reason.
    pub reasons: BTreeMap<String, usize>,
    /// The baseline of each directory with several variants, by directory.
    pub baselines: BTreeMap<String, Baseline>,
}

/// Imports the tree below `from` into `to`, which must be absent or empty.
///
/// # Errors
/// When `from` cannot be read, `to` holds something, or cannot be written.
pub fn import(from: &Path, to: &Path) -> Result<Imported> {
    let archive = Archive::scan(from)?;
    if fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::Occupied { dir: to.to_owned(), state: "other" });
    }
    let logged: Vec<&ResultsDir> =
        archive.dirs.iter().filter(|d| !d.configurations.is_empty()).collect();
    if !logged.is_empty() {
        fs::create_dir_all(to).map_err(Error::io("create", to))?;
    }
    let places = places(&logged);
    let root = from.canonicalize().map_err(Error::io("find", from))?;
    let imported: Vec<Result<Imported>> = logged
        .par_iter()
        .zip(&places)
        .map(|(dir, place)| import_dir(dir, &root, &to.join(place)))
        .collect();
    let mut total = Imported::default();
    for outcome in imported {
        total.add(outcome?);
    }
    let skipped = archive.skipped.iter().map(|s| format!("{}: {}", s.path.display(), s.why));
    total.skipped.extend(skipped);
    Ok(total)
}

impl Imported {
    fn add(&mut self, other: Self) {
        self.directories += other.directories;
        self.trials += other.trials;
        self.failed += other.failed;
        self.logs += other.logs;
        self.profiles += other.profiles;
        self.skipped.extend(other.skipped);
        self.baselines.extend(other.baselines);
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_insert(0) += count;
        }
    }
}

/// Where each directory goes; two whose names differ only in characters that
/// are not taken over get places of their own.
fn places(dirs: &[&ResultsDir]) -> Vec<PathBuf> {
    let mut taken = HashSet::new();
    let place = |dir: &&ResultsDir| {
        let wanted = safe_path(&dir.relative);
        let numbered = |n: u32| PathBuf::from(format!("{}-{n}", wanted.display()));
        let free = std::iter::once(wanted.clone()).chain((2..).map(numbered));
        free.into_iter().find(|path| taken.insert(path.clone())).unwrap_or(wanted.clone())
    };
    dirs.iter().map(place).collect()
}

/// A path below the output directory: no part of it leads upwards.
fn safe_path(relative: &str) -> PathBuf {
    relative.split('/').filter(|part| !part.is_empty()).map(safe_name).collect()
}

/// A file name without separators, control characters and leading dots.
pub(super) fn safe_name(name: &str) -> String {
    let plain = |c: char| if c.is_control() || matches!(c, '/' | '\\' | '\0') { '_' } else { c };
    let mut safe: String = name.chars().take(200).map(plain).collect();
    if safe.is_empty() || safe.starts_with('.') {
        safe.insert(0, '_');
    }
    safe
}

/// Imports one directory.
fn import_dir(dir: &ResultsDir, root: &Path, to: &Path) -> Result<Imported> {
    let configurations = read_configurations(dir);
    let placing = Placing::of(&configurations);
    let mut trials = trials(&configurations, placing);
    fail_copies(&configurations, &mut trials);
    let (mut trials, mut skipped) = named(dir, trials);
    if trials.is_empty() {
        return Ok(Imported { skipped, logs: dir.logs(), ..Imported::default() });
    }
    number(&mut trials);
    let campaign = campaign(dir, &trials);
    let chosen = baseline(&campaign.variants);
    let has_choice = campaign.variants.len() > 1;
    fs::create_dir_all(to).map_err(Error::io("create", to))?;
    write_journal(to, campaign, &trials)?;
    let profiles = write_profiles(dir, &configurations, placing, to)?;
    let place = Origin { dir, hardware: Hardware::of(&root.join(&dir.relative).to_string_lossy()) };
    write_provenance(&place, &configurations, placing, &chosen, to)?;
    skipped.extend(published::keep(dir, to)?);
    let failed: Vec<&Trial> = trials.iter().filter(|t| t.status == Status::Failed).collect();
    let mut reasons = BTreeMap::new();
    for trial in &failed {
        *reasons.entry(trial.reason.clone().unwrap_or_default()).or_insert(0) += 1;
    }
    Ok(Imported {
        directories: 1,
        trials: trials.len(),
        failed: failed.len(),
        logs: dir.logs(),
        profiles,
        skipped,
        reasons,
        baselines: has_choice.then(|| (dir.relative.clone(), chosen)).into_iter().collect(),
    })
}

/// The trials whose names results can have, and what is said of the others.
fn named(dir: &ResultsDir, trials: Vec<(String, Trial)>) -> (Vec<Trial>, Vec<String>) {
    let is_good =
        |trial: &Trial| [&trial.variant, &trial.traffic].into_iter().all(|n| is_published_name(n));
    let (good, odd): (Vec<_>, Vec<_>) = trials.into_iter().partition(|(_, trial)| is_good(trial));
    let mut skipped: Vec<String> = odd
        .into_iter()
        .map(|(prefix, _)| {
            let shown = dir.path.join(one_line(&prefix).as_ref()).display().to_string();
            format!("{shown}: no name of at most 200 bytes that can be seen, with no '.' in front")
        })
        .collect();
    skipped.dedup();
    (good.into_iter().map(|(_, trial)| trial).collect(), skipped)
}

/// The trials of a directory with the prefix that each comes from.
fn trials(
    configurations: &BTreeMap<String, ReadConfiguration>,
    placing: Placing,
) -> Vec<(String, Trial)> {
    let mut trials = Vec::new();
    for (prefix, configuration) in configurations {
        for (&iteration, run) in &configuration.runs {
            let place = Place { iteration, ..placing.place(prefix, &configuration.info) };
            trials.push((prefix.clone(), trial(run, &configuration.info, &place)));
        }
    }
    trials
}

/// Two runs with the same readings are one run that was copied.
fn fail_copies(
    configurations: &BTreeMap<String, ReadConfiguration>,
    trials: &mut [(String, Trial)],
) {
    let mut seen: HashMap<u64, String> = HashMap::new();
    for (prefix, trial) in trials {
        let run = configurations.get(prefix).and_then(|g| g.runs.get(&trial.block));
        let Some(log) = run.and_then(|r| r.good_receiver()).filter(|l| l.readings.len() > 3) else {
            continue;
        };
        let mut hasher = DefaultHasher::new();
        for reading in &log.readings {
            (reading.end_us, reading.pps, reading.packets).hash(&mut hasher);
        }
        match seen.get(&hasher.finish()) {
            Some(first) if trial.status == Status::Ok => {
                trial.status = Status::Failed;
                trial.rate_pps = None;
                trial.reason = Some(format!("the receiver log is a copy of that of {first}"));
            }
            Some(_) => {}
            None => {
                seen.insert(hasher.finish(), trial.id.clone());
            }
        }
    }
}

/// Gives each trial its place in the order and an id of its own.
fn number(trials: &mut [Trial]) {
    let mut ids: HashMap<String, u32> = HashMap::new();
    for (order, trial) in (1..).zip(trials) {
        trial.order = order;
        let count = ids.entry(trial.id.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            trial.id = format!("{}-{count}", trial.id);
        }
    }
}

/// What stands in the place of a device's name in imported campaigns.
pub const DEVICE: &str = fwdlab_results::IMPORTED;

/// What imported campaigns say of their device.
pub fn about() -> About {
    About {
        line: "Published results, imported: the order of their runs and what the device answered \
               are unknown"
            .to_owned(),
        fact: None,
        link: fwdlab_results::Link::Wire,
        command: Some("fwdlab import PUBLISHED-DIRECTORY -o DIR".to_owned()),
        tick: Tick::default(),
    }
}

fn campaign(dir: &ResultsDir, trials: &[Trial]) -> Campaign {
    let unique = |of: fn(&Trial) -> &String| {
        let mut names: Vec<String> = Vec::new();
        for trial in trials {
            if !names.contains(of(trial)) {
                names.push(of(trial).clone());
            }
        }
        names
    };
    let variants = unique(|t| &t.variant);
    Campaign {
        schema: SCHEMA,
        experiment_sha256: String::new(),
        inputs: Default::default(),
        title: title(dir),
        device: DEVICE.to_owned(),
        about: Some(about()),
        testbed: None,
        order: TrialOrder::Published,
        grouping: Grouping::Traffic,
        seed: 0,
        order_version: 1,
        blocks: trials.iter().map(|t| t.block).max().unwrap_or(0),
        until_decided: false,
        blocks_per_process: None,
        calibration: None,
        unproven: None,
        measure: fwdlab_results::Measure::Rate,
        margin: 0.01,
        baseline: baseline(&variants).name,
        traffics: unique(|t| &t.traffic),
        variants,
        trials: trials.iter().map(|t| t.id.clone()).collect(),
        // No log holds a date, and a file's own is of its copy. When each kernel was built is in the proof.
        started: String::new(),
        environment_sha256: None,
    }
}

/// The page's first line, or the directory's name.
fn title(dir: &ResultsDir) -> String {
    let first_line = |path: &PathBuf| {
        let bytes = super::runs::read_bounded(path, 64 * 1024).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let line = text.split(['\n', '\r']).map(seen).find(|line| !line.is_empty())?;
        // A line that leads to what follows is no title with a colon.
        let title = line.trim_start_matches(['#', ' ']).trim_end_matches([':', ' ']);
        let is_title = !title.is_empty() && !title.starts_with("```");
        is_title.then(|| title.to_owned())
    };
    dir.readmes.iter().find_map(first_line).unwrap_or_else(|| seen(&dir.relative))
}

/// What can be seen of a line, as long as a title may be: the mark that some editors begin a file with is no
/// part of one, and a tab is a blank.
fn seen(line: &str) -> String {
    let plain = |c: char| if c == '\t' || is_hidden(c) { ' ' } else { c };
    let line: String = line.chars().map(plain).collect();
    let line = line.trim();
    let ends = line.char_indices().map(|(at, c)| at + c.len_utf8()).take(200);
    let end = ends.take_while(|end| *end <= MOST_TITLE).last().unwrap_or(0);
    line[..end].trim_end().to_owned()
}

fn write_journal(to: &Path, campaign: Campaign, trials: &[Trial]) -> Result<()> {
    let path = to.join("trials.jsonl");
    let mut file = BufWriter::new(File::create_new(&path).map_err(Error::io("create", &path))?);
    let finished = Finished {
        at: campaign.started.clone(),
        stopped: "imported".to_owned(),
        earlier_truths: String::new(),
    };
    let records = std::iter::once(Record::Campaign(Box::new(campaign)))
        .chain(trials.iter().map(|t| Record::Trial(Box::new(t.clone()))))
        .chain([Record::Finished(finished)]);
    for record in records {
        let encode = |source| Error::Encode { what: "a record", source };
        serde_json::to_writer(&mut file, &record).map_err(encode)?;
        file.write_all(b"\n").map_err(Error::io("write", &path))?;
    }
    file.flush().map_err(Error::io("write", &path))
}

/// Folded stacks as `profiles/VARIANT.TRAFFIC.folded`.
fn write_profiles(
    dir: &ResultsDir,
    configurations: &BTreeMap<String, ReadConfiguration>,
    placing: Placing,
    to: &Path,
) -> Result<usize> {
    let mut written: BTreeMap<String, bool> = BTreeMap::new();
    let profiles = to.join("profiles");
    for path in &dir.call_graphs {
        let Some(name) = path.file_name().map(|n| n.to_string_lossy().into_owned()) else {
            continue;
        };
        let is_graph = name.ends_with(".graph");
        let Some(prefix) = profile_prefix(&name, configurations) else { continue };
        let place = placing.place(&prefix, &configurations[&prefix].info);
        let target = safe_name(&format!("{}.{}.folded", place.variant, place.traffic));
        // A graph is the original; a stack file was made from it.
        if written.get(&target).is_some_and(|had_graph| *had_graph || !is_graph) {
            continue;
        }
        let Ok(file) = input::found(path, MOST_PROFILE_BYTES) else { continue };
        let read = if is_graph { Folded::from_graph(file) } else { Folded::from_stacks(file) };
        let Ok(folded) = read else { continue };
        if folded.stacks.is_empty() {
            continue;
        }
        fs::create_dir_all(&profiles).map_err(Error::io("create", &profiles))?;
        let target_path = profiles.join(&target);
        fs::write(&target_path, folded.to_text()).map_err(Error::io("write", &target_path))?;
        let event = folded.event.map(|event| format!(", event {event}")).unwrap_or_default();
        let taken = Taken { profiler: Some(format!("pmcstat{event}")), ..Taken::default() };
        let encode = |source| Error::Encode { what: "a profile's description", source };
        let text = serde_json::to_string_pretty(&taken).map_err(encode)? + "\n";
        let about = target_path.with_extension("json");
        fs::write(&about, text).map_err(Error::io("write", &about))?;
        written.insert(target, is_graph);
    }
    Ok(written.len())
}

/// The prefix of the logs that a call graph belongs to: its name is
/// `bench.PREFIX[.ITERATION].pmc.graph`.
fn profile_prefix(
    name: &str,
    configurations: &BTreeMap<String, ReadConfiguration>,
) -> Option<String> {
    let stem = name.strip_prefix("bench.").unwrap_or(name);
    let stem = stem.strip_suffix(".pmc.graph").or_else(|| stem.strip_suffix(".pmc.stack"))?;
    let without_iteration = stem.rsplit_once('.').map(|(prefix, _)| prefix);
    let known = |prefix: &&str| configurations.contains_key(*prefix);
    [Some(stem), without_iteration].into_iter().flatten().find(known).map(str::to_owned)
}

#[cfg(test)]
mod tests;
