//! Tries every variant before anything is measured: what cannot be set up would FAIL in every block.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fwdlab_claims::settle;
use fwdlab_device::{Device, DeviceError, Watch};
use fwdlab_experiment::Experiment;
#[cfg(target_os = "linux")]
use fwdlab_topology::{NFTABLES, RuleSet, rules_in_file};

use crate::devices;

/// What takes longer says how far it is.
const SILENCE: Duration = Duration::from_secs(2);

/// Says what is tried before the first trial, and how long it takes, where that is boots.
pub fn announce(experiment: &Experiment) {
    let Some(kind) = devices::named(&experiment.device) else { return };
    let boots = kind.preflight_boots(experiment);
    let seconds = (boots as f64 * kind.boot_seconds()).ceil();
    match boots {
        0 => {}
        1 => fwdlab_guard::say!("before block 1 each variant is tried: 1 boot, {seconds} s or so"),
        _ => fwdlab_guard::say!(
            "before block 1 each variant is tried: {boots} boots, {seconds} s or so"
        ),
    }
}

/// Says whom one has to trust, where variants load programs into this machine's kernel.
pub fn caution(experiment: &Experiment) {
    let Some(kind) = devices::named(&experiment.device) else { return };
    let set = experiment.variants.iter().flat_map(|variant| &variant.set);
    let is_object = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "o");
    let files = set.filter_map(|(word, value)| kind.names_file(word, value));
    let objects: BTreeSet<PathBuf> = files.filter(is_object).collect();
    for object in objects {
        fwdlab_guard::say!(
            "{} is loaded into this machine's kernel: run only objects that you trust",
            object.display()
        );
    }
}

/// Says in what variants differ to no effect: a verdict on them would be one on nothing.
pub fn say_idle(experiment: &Experiment) {
    let Some(kind) = devices::named(&experiment.device) else { return };
    for own in kind.idle(experiment) {
        fwdlab_guard::say!("warning: {own}");
    }
}

/// What is wrong with a variant's rules names the file that they are in, where they are in one.
#[cfg(target_os = "linux")]
fn named(set: &BTreeMap<String, String>, why: &str) -> String {
    let file = set.get(NFTABLES).and_then(|value| RuleSet::named(value).file());
    file.map_or_else(|| why.to_owned(), |file| rules_in_file(why, &file))
}

/// Rules are nft's, and its kernel's.
#[cfg(not(target_os = "linux"))]
fn named(_: &BTreeMap<String, String>, why: &str) -> String {
    why.to_owned()
}

/// Sets every variant up once; false when it was stopped meanwhile.
///
/// # Errors
/// Names the line of each variant that cannot be set up, and why.
pub fn pass(
    experiment: &Experiment,
    device: &mut dyn Device,
    is_quiet: bool,
    stop: &AtomicBool,
) -> anyhow::Result<bool> {
    let mut watch = Watch { on_interval: &mut |_| {}, stop };
    let mut faults = Vec::new();
    let begin = Instant::now();
    for (number, variant) in (1..).zip(&experiment.variants) {
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        match device.preflight(variant, &mut watch) {
            Ok(answers) => {
                let words = variant.set.iter().filter_map(|(w, to)| Some((w, to, answers.get(w)?)));
                let refuted = words.filter_map(|(word, to, is)| settle::refuted(word, to, is));
                faults.extend(refuted.map(|why| experiment.blame(&variant.name, &why)));
            }
            // One that is lost may be back when its trial comes, which is tried again, too.
            Err(DeviceError::Lost(_)) => {}
            Err(DeviceError::Stopped) => return Ok(false),
            Err(error) => {
                let why = named(&variant.set, &error.to_string());
                faults.push(experiment.blame(&variant.name, &why));
                continue;
            }
        }
        // What is like a variant that failed is not tried again.
        if !is_quiet && faults.is_empty() && begin.elapsed() > SILENCE {
            let (name, count) = (&variant.name, experiment.variants.len());
            fwdlab_guard::say!("tried variant {name}, {number} of {count}: it can be set up");
        }
    }
    if !faults.is_empty() {
        anyhow::bail!(faults.join("\n"));
    }
    Ok(true)
}
