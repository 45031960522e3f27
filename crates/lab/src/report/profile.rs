//! Profiles: folded stacks of separate trials, never of measured ones.
//!
//! `profiles/<variant>.<traffic>.folded` holds one stack a line (`a;b;c 12`);
//! `profiles/<variant>.<traffic>.json` beside it says how it was taken. Both
//! are described in docs/report.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;

use super::ReportError;
use super::claim::Cell;
use super::setting::read_if_present;
use super::units;

/// A profiled trial must forward at least this share of the measured median;
/// below it, it shows another situation than the trials do.
const LEAST_LOAD_SHARE: f64 = 0.9;

/// Folded stacks of one variant with one traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Name of the variant.
    pub variant: String,
    /// Name of the traffic.
    pub traffic: String,
    /// Samples by stack, root first, frames joined by `;`.
    pub stacks: BTreeMap<String, u64>,
    /// How it was taken, in words.
    pub note: String,
}

/// How a profile was taken.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Taken {
    profiler: Option<String>,
    rate_pps: Option<f64>,
    idle_share: Option<f64>,
}

/// The profiles of a results directory and those that were refused, with why.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profiles {
    /// Usable profiles, in the order of the cells.
    pub usable: Vec<Profile>,
    /// Why others are not shown.
    pub refusals: Vec<String>,
}

impl Profiles {
    /// Reads the profiles in `dir` that belong to `cells`.
    ///
    /// # Errors
    /// When a file exists and cannot be read, or its description is no JSON.
    pub fn read(dir: &Path, cells: &[Cell]) -> Result<Self, ReportError> {
        let place = dir.join("profiles");
        let mut files = folded_files(&place)?;
        let mut profiles = Self::default();
        for cell in cells {
            let name = format!("{}.{}", cell.variant, cell.traffic);
            if !files.remove(&name) {
                continue;
            }
            match read(&place, &name, cell)? {
                Ok(profile) => profiles.usable.push(profile),
                Err(why) => profiles.refusals.push(format!("profiles/{name}.folded: {why}")),
            }
        }
        for name in files {
            profiles.refusals.push(format!(
                "profiles/{name}.folded belongs to no variant and traffic of this experiment; \
                 its name must be VARIANT.TRAFFIC.folded"
            ));
        }
        Ok(profiles)
    }

    /// The profile of one variant with one traffic.
    pub fn find(&self, variant: &str, traffic: &str) -> Option<&Profile> {
        self.usable.iter().find(|p| p.variant == variant && p.traffic == traffic)
    }
}

impl Profile {
    /// Samples over all stacks; at least one in a usable profile.
    pub fn samples(&self) -> u64 {
        self.stacks.values().sum()
    }

    /// The stacks as lines of a `.folded` file.
    pub fn lines(&self) -> Vec<String> {
        self.stacks.iter().map(|(stack, n)| format!("{stack} {n}")).collect()
    }

    /// Share of the samples by the function on top of the stack.
    pub fn self_shares(&self) -> BTreeMap<&str, f64> {
        let total = self.samples() as f64;
        let mut shares = BTreeMap::new();
        for (stack, n) in &self.stacks {
            let leaf = stack.rsplit(';').next().unwrap_or(stack);
            *shares.entry(leaf).or_insert(0.0) += *n as f64 / total;
        }
        shares
    }
}

/// Names, without their ending, of the `.folded` files.
fn folded_files(place: &Path) -> Result<BTreeSet<String>, ReportError> {
    let entries = match fs::read_dir(place) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(e) => return Err(ReportError::io("read", place)(e)),
    };
    let mut found = BTreeSet::new();
    for entry in entries {
        let name = entry.map_err(ReportError::io("read", place))?.file_name();
        if let Some(name) = name.to_str().and_then(|n| n.strip_suffix(".folded")) {
            found.insert(name.to_owned());
        }
    }
    Ok(found)
}

fn read(place: &Path, name: &str, cell: &Cell) -> Result<Result<Profile, String>, ReportError> {
    let path = place.join(format!("{name}.folded"));
    let text = fs::read_to_string(&path).map_err(ReportError::io("read", &path))?;
    let path = place.join(format!("{name}.json"));
    let taken: Taken = match read_if_present(&path)? {
        Some(json) => serde_json::from_str(&json)
            .map_err(|e| ReportError::Damaged { path, detail: e.to_string() })?,
        None => Taken::default(),
    };
    let stacks = match stacks(&text) {
        Ok(stacks) if stacks.is_empty() => return Ok(Err("it holds no sample".to_owned())),
        Ok(stacks) => stacks,
        Err(why) => return Ok(Err(why)),
    };
    if let (Some(rate), Some(measured)) = (taken.rate_pps, cell.rate)
        && rate < LEAST_LOAD_SHARE * measured.median
    {
        return Ok(Err(format!(
            "refused: the profiled trial forwarded {}, the measured ones {}; profile again with \
             a lower sampling rate",
            units::rate(rate),
            units::rate(measured.median)
        )));
    }
    let mut profile = Profile {
        variant: cell.variant.clone(),
        traffic: cell.traffic.clone(),
        stacks,
        note: String::new(),
    };
    profile.note = note(&taken, profile.samples());
    Ok(Ok(profile))
}

fn note(taken: &Taken, samples: u64) -> String {
    let profiler = taken.profiler.as_deref().unwrap_or("a profiler that is not named");
    let rate = taken.rate_pps.map_or("an unknown rate".to_owned(), units::rate);
    let idle = taken.idle_share.map_or("unknown".to_owned(), units::share);
    format!(
        "{} samples by {profiler}, in a trial of its own at {rate}, idle share {idle}.",
        units::count(samples)
    )
}

fn stacks(text: &str) -> Result<BTreeMap<String, u64>, String> {
    let mut stacks = BTreeMap::new();
    for (k, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let parsed =
            line.rsplit_once(' ').and_then(|(s, n)| Some((s, n.trim().parse::<u64>().ok()?)));
        let Some((stack, n)) = parsed else {
            return Err(format!("line {} is no `frame;frame count`", k + 1));
        };
        *stacks.entry(stack.to_owned()).or_insert(0) += n;
    }
    stacks.retain(|_, n| *n > 0);
    Ok(stacks)
}
