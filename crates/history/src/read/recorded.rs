//! Results directories with a journal: of ours, and imported ones.

use std::collections::BTreeMap;
use std::path::Path;

use fwdlab_netbenches::axes::Axes;
use fwdlab_netbenches::built::{KERNEL_BUILT, built};
use fwdlab_netbenches::hardware::Hardware;
use fwdlab_netbenches::info::Info;
use fwdlab_netbenches::name::family_word;
use fwdlab_netbenches::revision::Revision;
use fwdlab_results::environment::Environment;
use fwdlab_results::{Imported, Measure, Metric, Results, Trial, units};

use super::{Read, patched};
use crate::machines::of_uname;
use crate::point::{BUILD, Called, Key, Point, SAMPLED};

/// Reads one directory. What is damaged is left out with the reason.
pub fn read(dir: &Path) -> Read {
    let mut read = Read::default();
    match Results::read(dir) {
        Ok(results) => match results.tampered() {
            Some(why) => read.skipped.push(why),
            None => {
                read.campaign = identity(&results);
                take(&results, &mut read);
            }
        },
        Err(error) => read.skipped.push(error.to_string()),
    }
    read
}

/// The order of a campaign's trials is drawn from a seed of its own, and the first began at some time. Nothing of one
/// that has not ended: its copy may be whole.
fn identity(results: &Results) -> Option<String> {
    let campaign = &results.campaign;
    results.finished.as_ref().filter(|_| campaign.is_blocked())?;
    let first = results.trials.first()?;
    let began = first.started.as_ref()?;
    Some(format!("{} {} {began}", campaign.experiment_sha256, campaign.seed))
}

fn take(results: &Results, read: &mut Read) {
    let campaign = &results.campaign;
    let full = results.dir.canonicalize().unwrap_or_else(|_| results.dir.clone());
    let environment = Environment::read(&results.dir).ok().flatten().unwrap_or_default();
    let hardware = hardware(results, &full, &environment);
    let name = full.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut configurations: BTreeMap<(&str, &str), Vec<&Trial>> = BTreeMap::new();
    for trial in results.trials.iter().filter(|trial| trial.is_ok()) {
        configurations.entry((&trial.variant, &trial.traffic)).or_default().push(trial);
    }
    if campaign.is_blocked() && results.finished.is_none() {
        read.skipped.push(format!(
            "{name}: unfinished after {}: the same `fwdlab run` ends it",
            units::plural(results.trials.len() as u64, "trial")
        ));
        return;
    }
    for ((variant, traffic), trials) in configurations {
        let Some(first) = trials.first() else { continue };
        let source = format!("{name}/{variant}.{traffic}");
        let trials = match undisturbed(&trials) {
            Ok(trials) => trials,
            Err(why) => {
                read.skipped.push(format!("{source}: {why}"));
                continue;
            }
        };
        let metric = Metric::deciding(trials.iter().copied());
        let values: Vec<f64> = trials.iter().filter_map(|trial| metric.of(trial)).collect();
        if !values.is_empty() && fwdlab_stats::median(&values) <= 0.0 {
            let title = metric.title();
            read.skipped.push(format!("{source}: a {title} of 0, and a series is of ratios"));
            continue;
        }
        let axes = match campaign.is_blocked() {
            true => axes(variant),
            false => imported(first),
        };
        let day = || first.started.clone();
        let proof = |name: &str| first.measured.proof.get(name);
        let of_kernel = || proof("uname").and_then(|uname| built(uname));
        let date = proof(KERNEL_BUILT).cloned().or_else(of_kernel).or_else(day);
        let of_directory = Revision::within(&name).map(|own| own.text);
        let revision = if axes.image.is_empty() {
            let day = || Some(campaign.started.clone()).filter(|day| !day.is_empty());
            of_directory.or_else(day).unwrap_or_else(|| name.clone())
        } else {
            axes.image.clone()
        };
        let (traits, host) = match campaign.is_blocked() {
            true => (environment.hardware(), String::new()),
            false => proof("uname").map(|uname| of_uname(uname)).unwrap_or_default(),
        };
        let traffic_name = if campaign.is_blocked() { traffic } else { axes.traffic.as_str() };
        let is_plain =
            family_word(traffic_name).is_some() || matches!(traffic_name, "default" | "");
        read.points.push(Point {
            series: Key {
                machine: hardware.machine.clone(),
                bench: hardware.bench.clone(),
                configuration: patched(&axes.configuration, axes.revision().as_ref()),
                family: first.family.name().to_owned(),
                traffic: if is_plain { String::new() } else { traffic_name.to_owned() },
                frame_bytes: Some(first.frame_bytes),
                flows: first.flows_planned,
                measure: measure(metric, first, campaign.measure),
                unit: metric.unit_in(campaign.tick()).to_owned(),
            },
            revision,
            date,
            values,
            summary: None,
            source,
            hardware: traits,
            host,
            setting: if campaign.is_blocked() {
                setting(results, first, &environment)
            } else {
                BTreeMap::new()
            },
            place: Some(full.clone()),
            called: Some(Called {
                variant: variant.to_owned(),
                traffic: (campaign.traffics.first().map(String::as_str) != Some(traffic))
                    .then(|| traffic.to_owned()),
                variants: campaign.variants.clone(),
            }),
        });
    }
}

/// How a campaign of ours was measured: what may make a difference beside the revision.
fn setting(
    results: &Results,
    trial: &Trial,
    environment: &Environment,
) -> BTreeMap<String, String> {
    let build = &environment.fwdlab;
    let sha = &results.campaign.experiment_sha256;
    let own = [
        (BUILD, format!("{} {} ({})", build.version, build.commit, build.profile)),
        ("compiler", build.rustc.clone()),
        ("kernel", environment.kernel.release.clone()),
        ("governor", environment.machine.governor.clone()),
        ("hypervisor", environment.machine.hypervisor.clone()),
        ("load", trial.load.clone()),
        ("experiment file", sha.get(..8).unwrap_or(sha).to_owned()),
    ];
    let own = own.into_iter().filter(|(_, value)| !value.trim().is_empty());
    let own = own.map(|(name, value)| (name.to_owned(), value));
    let read_back = trial.measured.proof.iter().map(|(name, value)| (name.clone(), value.clone()));
    own.chain(read_back).collect()
}

/// The trials in which tester and device had their processors to themselves. Blocks compare what was disturbed alike;
/// a level beside those of other days is of the machine's state, too.
fn undisturbed<'a>(trials: &[&'a Trial]) -> std::result::Result<Vec<&'a Trial>, String> {
    let fit: Vec<&Trial> =
        trials.iter().copied().filter(|trial| !trial.was_away() && !trial.was_slow()).collect();
    if fit.len() * 2 >= trials.len() {
        return Ok(fit);
    }
    Err(format!(
        "others had the processors in {} of {}, so that its level is not the device's: run it again",
        trials.len() - fit.len(),
        units::plural(trials.len() as u64, "trial")
    ))
}

/// The measure of a figure where it is not the plain forwarding rate or cost; a search's by its goal.
fn measure(metric: Metric, first: &Trial, of_campaign: Measure) -> String {
    let own = match metric {
        // Ticks and readings of a clock are two quantities.
        Metric::Cost if first.measured.busy_by.is_some() => return SAMPLED.to_owned(),
        Metric::Own(own) => own,
        Metric::Rate if first.measure == Measure::Rate => of_campaign,
        Metric::Rate => first.measure,
        Metric::Cost => Measure::Rate,
    };
    if own == Measure::Rate { String::new() } else { own.name().to_owned() }
}

/// The axes of a variant: its image, where it begins with a revision.
fn axes(variant: &str) -> Axes {
    let name = if variant == "default" { "" } else { variant };
    let axes = Axes::of(name, &Info::default());
    // a family in a variant's name is no traffic here
    if axes.traffic.is_empty() {
        axes
    } else {
        Axes { configuration: name.to_owned(), ..Axes::default() }
    }
}

/// The axes of an imported trial, from the name that it had.
fn imported(trial: &Trial) -> Axes {
    let parts = [trial.variant.as_str(), trial.traffic.as_str()];
    let named: Vec<&str> = parts.into_iter().filter(|part| *part != "default").collect();
    let proof = |name: &str| trial.measured.proof.get(name).map(String::as_str);
    Axes::of(&named.join("."), &Info::naming(proof("image"), proof("configuration")))
}

/// The hardware that a campaign ran on: as the environment says it, or as the path of the published
/// directory does.
fn hardware(results: &Results, full: &Path, environment: &Environment) -> Hardware {
    if !results.campaign.is_blocked() {
        return match Imported::read(&results.dir) {
            Some(Imported { machine, bench }) => Hardware { machine, bench },
            None => Hardware::of(&full.to_string_lossy()),
        };
    }
    Hardware { machine: environment.machine.name(), bench: results.campaign.device.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_results::{BusyBy, Finished, LimitedBy, TrialEnvironment, examples};

    fn of(results: &Results) -> Read {
        let mut read = Read::default();
        take(results, &mut read);
        read
    }

    fn whole() -> Results {
        let end = Finished {
            at: String::new(),
            stopped: "all blocks run".into(),
            earlier_truths: String::new(),
        };
        Results { finished: Some(end), ..examples::results() }
    }

    #[test]
    fn a_campaign_that_was_killed_is_no_point_until_it_is_ended() {
        let killed = of(&examples::results());
        assert!(killed.points.is_empty());
        assert!(
            killed.skipped[0].contains("unfinished") && killed.skipped[0].contains("fwdlab run")
        );
        let ended = of(&whole());
        assert!(!ended.points.is_empty() && ended.skipped.is_empty(), "{:?}", ended.skipped);
    }

    #[test]
    fn costs_that_were_taken_in_two_ways_are_two_series() {
        let mut results = whole();
        results.trials.iter_mut().for_each(|trial| trial.limited_by = LimitedBy::Load);
        let timed = of(&results).points[0].series.clone();
        for trial in &mut results.trials {
            trial.measured.busy_by = Some(BusyBy::Ticks);
        }
        let sampled = of(&results).points[0].series.clone();
        assert!(timed.name().ends_with(" device cost") && sampled.is_lower_better());
        assert!(sampled.name().ends_with(" sampled device cost"), "{}", sampled.name());
        assert_ne!(timed, sampled);
    }

    #[test]
    fn trials_that_others_disturbed_say_nothing_of_a_level() {
        let share = |trial: &mut Trial, share| {
            let environment = &mut trial.measured.environment;
            *environment = TrialEnvironment { core_share: Some(share), ..environment.clone() };
        };
        let mut results = whole();
        let all = of(&results).points;
        let variant = results.trials[0].variant.clone();
        let mut own: Vec<usize> =
            (0..results.trials.len()).filter(|i| results.trials[*i].variant == variant).collect();
        share(&mut results.trials[own.remove(0)], 0.5);
        let fewer = of(&results);
        let runs = |points: &[Point]| points.iter().map(|point| point.values.len()).sum::<usize>();
        assert_eq!((fewer.points.len(), runs(&fewer.points)), (all.len(), runs(&all) - 1));
        own.iter().for_each(|i| share(&mut results.trials[*i], 0.5));
        let none = of(&results);
        assert_eq!(none.points.len(), all.len() - 1);
        assert!(none.skipped[0].contains("others had the processors"), "{:?}", none.skipped);
    }
}
