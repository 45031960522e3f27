//! Does a journal say what its experiment, its seed and its raw counts give?
//!
//! Nothing that a journal derives is believed: the running order is drawn again from the seed, each
//! trial is settled again from its intervals, by the code that settled it when it ran. What only the
//! machine knew (a count, a proof, a doubt of the device) cannot be computed again; the chain of
//! hashes says whether it was changed since.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod end;
mod fault;
mod plan;
mod possible;
mod trial;
mod verified;

pub use fault::{Fault, Unchecked};
pub use verified::Verified;

use std::path::Path;

use fwdlab_claims::setting::read_if_present;
use fwdlab_claims::{ClaimsError, comparable};
use fwdlab_experiment::{Experiment, Head, inputs};
use fwdlab_results::environment::{ENVIRONMENT_FILE, Environment};
use fwdlab_results::journal::Chain;
use fwdlab_results::{EXPERIMENT_FILE, Results, Trial, kept_input};

/// Verifies the journal of `results` against itself and the experiment file beside it. Published
/// results have no experiment, no order and no chain: their rates and totals alone are checked.
///
/// # Errors
/// When a file beside the journal cannot be read or understood.
pub fn verify(results: &Results) -> Result<Verified, ClaimsError> {
    let mut verified = Verified::default();
    match Chain::read(&results.dir)? {
        Chain::Whole { .. } => {}
        Chain::Broken { line, .. } => verified.faults.push(Fault::Chain { line }),
        Chain::Absent if !results.campaign.is_blocked() => {}
        Chain::Absent => match results.campaign.key_with_chain() {
            Some(key) => verified.faults.push(Fault::Stripped { key }),
            None => verified.unchecked.push(Unchecked::Chain),
        },
    }
    verified.unchecked.extend(beside(&results.dir));
    if !results.campaign.is_blocked() {
        let there = |file: &&str| results.dir.join(file).exists();
        let ours = [EXPERIMENT_FILE, ENVIRONMENT_FILE].into_iter().filter(there);
        verified.faults.extend(ours.map(|file| Fault::NotPublished { file }));
        verified.faults.extend(results.trials.iter().flat_map(trial::published));
        verified.unchecked.push(Unchecked::Published);
        return Ok(verified);
    }
    end::verify(results, &mut verified)?;
    let experiment = experiment(&results.dir)?;
    match &experiment {
        None => verified.faults.push(Fault::NoExperiment),
        Some(experiment) => {
            hash(experiment, results, &mut verified)?;
            verified.faults.extend(plan::campaign(&results.campaign, experiment));
            verified.faults.extend(device(results)?);
        }
    }
    if let Some(seed) = Environment::read(&results.dir)?.map(|environment| environment.seed)
        && seed != results.campaign.seed
    {
        let [recorded, wanted] = [results.campaign.seed, seed].map(|seed| seed.to_string());
        let field = "seed beside environment.json";
        verified.faults.push(Fault::Campaign { field, recorded, wanted });
    }
    verified.faults.extend(plan::order(results));
    verified.faults.extend(possible::faults(results));
    for trial in results.every() {
        verified.faults.extend(trial::figures(trial, (experiment.as_ref(), &results.campaign)));
        verified.faults.extend(doubts(trial));
    }
    Ok(verified)
}

/// Directories whose files no chain holds, in so far as there are any.
fn beside(dir: &Path) -> impl Iterator<Item = Unchecked> {
    let names = ["profiles", "console", "published"].into_iter();
    let there: Vec<&str> = names.filter(|name| dir.join(name).is_dir()).collect();
    there.into_iter().map(|name| Unchecked::Beside { name })
}

/// The experiment as it ran; `None` when it was not kept.
fn experiment(dir: &Path) -> Result<Option<Experiment>, ClaimsError> {
    let path = dir.join(EXPERIMENT_FILE);
    let Some(text) = read_if_present(&path)? else { return Ok(None) };
    match Experiment::recorded(&path, &text) {
        Ok(experiment) => Ok(Some(experiment)),
        Err(problems) => Err(ClaimsError::Damaged { detail: problems.list[0].what.clone(), path }),
    }
}

/// Whether the device is the one that the experiment names; its text says it, whatever devices are known here.
fn device(results: &Results) -> Result<Option<Fault>, ClaimsError> {
    let text = read_if_present(&results.dir.join(EXPERIMENT_FILE))?;
    let named = text.and_then(|text| Head::of(&text).device);
    let recorded = results.campaign.device.clone();
    let other = named.filter(|wanted| *wanted != recorded);
    Ok(other.map(|wanted| Fault::Campaign { field: "device", recorded, wanted }))
}

fn hash(
    experiment: &Experiment,
    results: &Results,
    verified: &mut Verified,
) -> Result<(), ClaimsError> {
    let found = experiment.recorded_sha256().map_err(|error| ClaimsError::Damaged {
        path: experiment.path.clone(),
        detail: error.to_string(),
    })?;
    match found {
        Some(computed) if computed == results.campaign.experiment_sha256 => {}
        Some(computed) => verified.faults.push(Fault::ExperimentHash {
            recorded: results.campaign.experiment_sha256.clone(),
            computed,
        }),
        None => {
            let file = experiment.missing_file().unwrap_or_default();
            verified.unchecked.push(Unchecked::File { file });
        }
    }
    for (named, recorded) in &results.campaign.inputs {
        let file = results.dir.join(kept_input(named));
        match inputs::kept_digest(&results.dir, named) {
            Ok(computed) if computed == *recorded => {}
            Ok(computed) => {
                let recorded = recorded.clone();
                verified.faults.push(Fault::Input { file, recorded, computed });
            }
            Err(error) => {
                let why = error.to_string();
                verified.faults.push(Fault::InputGone { file, why });
            }
        }
    }
    Ok(())
}

/// Doubts that a trial's own counts give, and that it does not carry. (Whether its cores were as far
/// apart as those of its block depends on which trials ran without a stop between them.)
fn doubts(trial: &Trial) -> Vec<Fault> {
    fault::lacks(trial, comparable::warnings(std::slice::from_ref(trial)).concat())
}
