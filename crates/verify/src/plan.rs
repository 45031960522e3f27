//! The plan of a journal, and the order in which its trials stand.

use std::collections::HashMap;

use crate::fault::Fault;
use fwdlab_claims::order;
use fwdlab_experiment::Experiment;
use fwdlab_results::journal::seconds_of_stamp;
use fwdlab_results::{Campaign, ORDER_VERSION, Results, Trial, TruthKind};

/// How a fixed number of blocks ends.
pub(crate) const ALL_RUN: &str = "all blocks run";

/// What the campaign's record and the experiment file say differently.
pub(crate) fn campaign(campaign: &Campaign, experiment: &Experiment) -> Vec<Fault> {
    let Experiment { blocks, .. } = experiment;
    let names = |list: Vec<&str>| list.join(", ");
    let variants = experiment.variants.iter().map(|variant| variant.name.as_str()).collect();
    let traffics = experiment.traffics.iter().map(|traffic| traffic.name.as_str()).collect();
    let recorded = |list: &[String]| list.join(", ");
    let pairs = [
        ("title", campaign.title.clone(), experiment.title.clone()),
        ("baseline", campaign.baseline.clone(), experiment.baseline.clone()),
        ("margin", campaign.margin.to_string(), experiment.margin.to_string()),
        ("blocks", campaign.blocks.to_string(), blocks.planned().to_string()),
        (
            "until_decided",
            campaign.until_decided.to_string(),
            blocks.is_until_decided().to_string(),
        ),
        ("measure", campaign.measure.to_string(), experiment.measure.to_string()),
        ("variants", recorded(&campaign.variants), names(variants)),
        ("traffics", recorded(&campaign.traffics), names(traffics)),
        ("seed", campaign.seed.to_string(), experiment.seed.unwrap_or(campaign.seed).to_string()),
    ];
    let differ = pairs.into_iter().filter(|(_, recorded, wanted)| recorded != wanted);
    let differ = differ.chain(unproven(campaign));
    differ.map(|(field, recorded, wanted)| Fault::Campaign { field, recorded, wanted }).collect()
}

/// What the campaign says it proves less of itself, where the truths that it ran say something else.
fn unproven(campaign: &Campaign) -> Option<(&'static str, String, String)> {
    let recorded = campaign.unproven.clone()?;
    let truths = campaign.calibration.as_ref().map_or(&[][..], |own| &own.truths);
    let is_slowed = truths.iter().any(|truth| truth.kind == TruthKind::Slower);
    let wanted = match truths.first() {
        None => "none in this campaign: ...",
        Some(_) if is_slowed => "none: its truths prove all",
        Some(_) => "only the baseline beside itself: ...",
    };
    let is_so = wanted.strip_suffix("...").is_some_and(|begin| recorded.starts_with(begin));
    (!is_so).then(|| ("unproven", recorded, wanted.to_owned()))
}

/// Whether the plan is that of the seed, the trials stand in its order, and none is missing.
pub(crate) fn order(results: &Results) -> Vec<Fault> {
    let campaign = &results.campaign;
    let per_block = campaign.variants.len() * campaign.traffics.len();
    let mut faults: Vec<Fault> = Vec::new();
    let planned = per_block.saturating_mul(campaign.blocks as usize);
    // Drawing it is for nothing, and takes long, when it claims to be of another size.
    let known = campaign.calibration.iter().flat_map(|own| &own.truths).count();
    let most = planned + known.saturating_mul(campaign.blocks as usize);
    if !(planned..=most).contains(&campaign.trials.len()) {
        faults.push(Fault::Campaign {
            field: "planned trials",
            recorded: campaign.trials.len().to_string(),
            wanted: planned.to_string(),
        });
    } else if campaign.order_version > ORDER_VERSION {
        faults.push(Fault::Campaign {
            field: "order_version",
            recorded: campaign.order_version.to_string(),
            wanted: format!("{ORDER_VERSION} at most"),
        });
    } else {
        faults.extend(drawn(campaign));
    }
    let mut every: Vec<&Trial> = results.every().collect();
    let places: HashMap<&String, usize> =
        results.sequence.iter().enumerate().map(|(at, id)| (id, at)).collect();
    every.sort_by_key(|trial| places.get(&trial.id));
    faults.extend(every.into_iter().enumerate().flat_map(|(at, t)| place(results, at, t)));
    let known = |trial: &&Trial| !campaign.trials.contains(&trial.id);
    faults.extend(results.repeated.iter().filter(known).map(|trial| Fault::Place {
        trial: trial.id.clone(),
        place: 0,
        planned: None,
    }));
    faults.extend(complete(results));
    faults.extend(processes(results));
    faults
}

/// Whether each trial names its process, and none holds more blocks than the plan gives it.
fn processes(results: &Results) -> Vec<Fault> {
    let number = |trial: &Trial| trial.measured.environment.process;
    let fault = |trial: &Trial, wanted: String| Fault::Trial {
        trial: trial.id.clone(),
        field: "process",
        recorded: number(trial).map_or("none".to_owned(), |number| number.to_string()),
        computed: wanted,
    };
    let mut counted: Vec<&Trial> =
        results.every().filter(|trial| !trial.measured.intervals.is_empty()).collect();
    counted.sort_by_key(|trial| trial.order);
    let Some(blocks) = results.campaign.blocks_per_process else {
        let named = counted.into_iter().filter(|trial| number(trial).is_some());
        return named.map(|trial| fault(trial, "none, as planned".to_owned())).collect();
    };
    let turn = |trial: &Trial| trial.block.saturating_sub(1) / blocks.max(1);
    let mut turns: HashMap<u32, u32> = HashMap::new();
    let mut faults = Vec::new();
    for trial in counted {
        let own = turn(trial);
        let is_of_turn = number(trial).map(|process| *turns.entry(process).or_insert(own) == own);
        if is_of_turn != Some(true) {
            faults.push(fault(trial, format!("one of its own for block {} on", own * blocks + 1)));
        }
    }
    faults
}

/// The first place at which the recorded plan is not the one that the seed gives.
fn drawn(campaign: &Campaign) -> Option<Fault> {
    let drawn = order::ids(campaign);
    let at = (0..drawn.len().max(campaign.trials.len()))
        .find(|at| drawn.get(*at) != campaign.trials.get(*at))?;
    let [recorded, drawn] = [&campaign.trials, &drawn].map(|ids| ids.get(at).cloned());
    Some(Fault::Drawn { place: at + 1, recorded, drawn })
}

/// Whether the trial that stands at `at` belongs there and is labelled as its id says.
fn place(results: &Results, at: usize, trial: &Trial) -> Vec<Fault> {
    let campaign = &results.campaign;
    let planned = campaign.trials.get(at);
    let mut faults = Vec::new();
    if planned != Some(&trial.id) {
        let (place, planned) = (at + 1, planned.cloned());
        faults.push(Fault::Place { trial: trial.id.clone(), place, planned });
    }
    let mut differ = |field, recorded: String, computed: String| {
        if recorded != computed {
            faults.push(Fault::Trial { trial: trial.id.clone(), field, recorded, computed });
        }
    };
    let labels = order::id(trial.block, &trial.traffic, &trial.variant);
    differ("block, traffic and variant", labels, trial.id.clone());
    let order = campaign.trials.iter().position(|id| *id == trial.id).map(|place| place + 1);
    let order = order.map_or_else(|| "none".to_owned(), |order| order.to_string());
    differ("order", trial.order.to_string(), order);
    let began = seconds_of_stamp(&campaign.started);
    let ended = results.finished.as_ref().map(|end| seconds_of_stamp(&end.at));
    let is_within = trial.started.as_deref().and_then(seconds_of_stamp).is_some_and(|at| {
        began.is_none_or(|began| began <= at)
            && ended.is_none_or(|ended| ended.is_some_and(|ended| at <= ended))
    });
    if !is_within {
        let span = match &results.finished {
            Some(end) => format!("a time from {} to {}", campaign.started, end.at),
            None => format!("a time from {} on", campaign.started),
        };
        differ("started", trial.started.clone().unwrap_or("none".to_owned()), span);
    }
    faults
}

/// A campaign that is finished has all its trials, or one that was decided all of its last block.
fn complete(results: &Results) -> Option<Fault> {
    let campaign = &results.campaign;
    let end = results.finished.as_ref()?;
    let recorded = results.every().count();
    let wanted = match campaign.until_decided && end.stopped != ALL_RUN {
        true => {
            let last = results.every().map(|trial| trial.block).max().unwrap_or(1);
            let block = |id: &String| id.strip_prefix('b')?.split('-').next()?.parse::<u32>().ok();
            let is_due = |id: &&String| block(id).is_none_or(|block| block <= last);
            campaign.trials.iter().filter(is_due).count()
        }
        false => campaign.trials.len(),
    };
    let first = results.missing().first().map(|id| (*id).to_owned());
    (recorded != wanted).then_some(Fault::Incomplete { recorded, wanted, first })
}
