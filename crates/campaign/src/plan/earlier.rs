//! Earlier results that a plan learns from: how far they are of the experiment that is planned.

use fwdlab_experiment::Experiment;
use fwdlab_guard::{MIB, input};
use fwdlab_results::{EXPERIMENT_FILE, Results};
use toml::{Table, Value};

/// Keys that change neither how long a trial takes nor how far trials lie apart.
const ELSEWHERE: [&str; 11] = [
    "title",
    "baseline",
    "margin",
    "blocks",
    "cap",
    "blocks_per_process",
    "seed",
    "calibrate",
    "allow",
    "interval",
    "profile",
];

/// Earlier results, and what of their experiment is another one's.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// The results.
    pub results: Results,
    /// What differs from the experiment that is planned and moves times or spreads, in words; empty where
    /// it is the same, whatever its title, margin and number of blocks.
    pub differences: Vec<String>,
    /// Whether they are of another device, whose spread says nothing of this one.
    pub is_of_other_device: bool,
}

impl Earlier {
    /// What `results` say of `experiment`.
    pub fn of(results: Results, experiment: &Experiment) -> Self {
        let is_of_other_device = results.campaign.device != experiment.device;
        let is_same = results.campaign.experiment_sha256 == experiment.sha256;
        let mut differences = match (is_same, tables(&results, experiment)) {
            (true, _) => Vec::new(),
            (false, Some([there, here])) => of_tables(&there, &here),
            (false, None) => vec![format!("its {EXPERIMENT_FILE} cannot be read")],
        };
        differences.extend(other_inputs(&results, experiment));
        Self { results, differences, is_of_other_device }
    }

    /// The results, where they are of the same device.
    pub(super) fn of_device(&self) -> Option<&Results> {
        (!self.is_of_other_device).then_some(&self.results)
    }

    /// The results, where a trial of them takes as long as one that is planned.
    pub(super) fn of_same_time(&self) -> Option<&Results> {
        (self.differences.is_empty() && !self.is_of_other_device).then_some(&self.results)
    }
}

/// The experiment that was run, and the one that is planned.
fn tables(results: &Results, experiment: &Experiment) -> Option<[Table; 2]> {
    let there = input::text(&results.dir.join(EXPERIMENT_FILE), 4 * MIB).ok()?;
    Some([there.parse().ok()?, experiment.text.parse().ok()?])
}

fn of_tables(there: &Table, here: &Table) -> Vec<String> {
    let mut keys: Vec<&String> = there.keys().chain(here.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.retain(|key| !ELSEWHERE.contains(&key.as_str()));
    let mut found = Vec::new();
    for key in keys {
        match (there.get(key), here.get(key)) {
            (a, b) if a == b => {}
            (Some(Value::Array(there)), Some(Value::Array(here)))
                if there.iter().chain(here).all(Value::is_table) =>
            {
                found.extend(of_parts(key, there, here));
            }
            (a, b) if [a, b].into_iter().flatten().all(is_plain) => {
                let shown = |value: Option<&Value>| {
                    value.map_or_else(|| "the default".to_owned(), Value::to_string)
                };
                found.push(format!("{key} {}, here {}", shown(a), shown(b)));
            }
            _ => found.push(format!("another {key}")),
        }
    }
    found
}

fn is_plain(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Table(_))
}

/// Variants or traffics that are planned and were not run like that.
fn of_parts(kind: &str, there: &[Value], here: &[Value]) -> Vec<String> {
    let name = |part: &Value| part.get("name").and_then(Value::as_str).map(str::to_owned);
    let mut found = Vec::new();
    for part in here {
        let (Some(own), other) = (name(part), there.iter().find(|other| name(other) == name(part)))
        else {
            continue;
        };
        match other {
            Some(other) if other == part => {}
            Some(_) => found.push(format!("another {kind} {own}")),
            None => found.push(format!("no {kind} {own}")),
        }
    }
    if found.is_empty() && there.len() > here.len() {
        found.push(format!("{} of [[{kind}]], here {}", there.len(), here.len()));
    }
    found
}

/// Files that both name and that held other bytes.
fn other_inputs(results: &Results, experiment: &Experiment) -> Vec<String> {
    let differs = |(name, sum): &(&String, &String)| {
        experiment.inputs.get(*name).is_some_and(|own| own != *sum)
    };
    let named = |(name, _): (&String, &String)| format!("another {name}");
    results.campaign.inputs.iter().filter(differs).map(named).collect()
}
