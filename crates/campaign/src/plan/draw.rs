//! Draws the running order.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};

use fwdlab_claims::known;
use fwdlab_claims::order::{self, Turn, Who};
use fwdlab_experiment::{Experiment, Variant};
use fwdlab_results::{
    Calibration, Campaign, Grouping, ORDER_VERSION, Results, SCHEMA, TrialOrder, TruthKind,
};

/// What a campaign runs, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The seed of the order.
    pub seed: u64,
    /// The rule by which it is drawn.
    pub order_version: u32,
    /// Which trials of a block follow each other.
    pub grouping: Grouping,
    /// So many blocks run in each process; `None` when all run in this one.
    pub blocks_per_process: Option<u32>,
    /// What it runs to prove itself.
    pub calibration: Option<Calibration>,
    /// Every trial; those of a block stand together.
    pub trials: Vec<PlannedTrial>,
}

/// One trial to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTrial {
    /// Stable id: block, traffic, variant (`b01-inet-radix`).
    pub id: String,
    /// Block, from 1.
    pub block: u32,
    /// Place in the running order, from 1.
    pub order: u32,
    /// Index of the variant in the experiment; the baseline's where the answer is known.
    pub variant: usize,
    /// What is compared with the baseline where the answer is known, and what that sets.
    pub known: Option<(TruthKind, BTreeMap<String, String>)>,
    /// Index of the traffic in the experiment.
    pub traffic: usize,
}

impl PlannedTrial {
    /// The name of what runs.
    pub fn name<'a>(&self, experiment: &'a Experiment) -> &'a str {
        match &self.known {
            Some((kind, _)) => kind.variant(),
            None => &experiment.variants[self.variant].name,
        }
    }

    /// How the device is set up for it: as the variant of its name, which is all that a device knows,
    /// also where the answer is known.
    pub fn setting(&self, experiment: &Experiment) -> Variant {
        let Variant { name, set, own } = experiment.variants[self.variant].clone();
        let extra = self.known.iter().flat_map(|(_, extra)| extra.clone());
        Variant { name, set: set.into_iter().chain(extra).collect(), own }
    }

    /// Whether the two are compared with each other: same block, same traffic.
    pub fn is_compared_with(&self, other: &Self) -> bool {
        (self.block, self.traffic) == (other.block, other.traffic)
    }
}

impl Plan {
    /// Draws the plan of `experiment` from `seed`: in each block the order of
    /// the traffics, and within each the order of the variants, so that those
    /// which are compared follow each other.
    pub fn draw(experiment: &Experiment, seed: u64, grouping: Grouping) -> Self {
        Self::draw_with(experiment, (seed, grouping), None)
    }

    /// As [`Plan::draw`], with trials whose answer is known among the others.
    pub fn draw_with(
        experiment: &Experiment,
        (seed, grouping): (u64, Grouping),
        calibration: Option<Calibration>,
    ) -> Self {
        Self::draw_by(ORDER_VERSION, experiment, (seed, grouping), calibration)
    }

    fn draw_by(
        order_version: u32,
        experiment: &Experiment,
        (seed, grouping): (u64, Grouping),
        calibration: Option<Calibration>,
    ) -> Self {
        let (blocks_per_process, trials) = (None, Vec::new());
        let mut plan =
            Self { seed, order_version, grouping, blocks_per_process, calibration, trials };
        let campaign = plan.campaign(experiment, String::new());
        let turns = order::drawn(&campaign).turns();
        let ids = order::ids(&campaign);
        let baseline = experiment.variants.iter().position(|own| own.name == experiment.baseline);
        let truths = plan.calibration.as_ref().map_or(&[][..], |own| &own.truths);
        let trial = |(at, (turn, id)): (usize, (Turn, String))| {
            let (variant, known) = match turn.who {
                Who::Variant(variant) => (variant, None),
                Who::Known(truth) => {
                    let own = plan.calibration.as_ref().zip(truths.get(truth));
                    let known = own.map(|(own, truth)| (truth.kind, known::extra(own, truth.kind)));
                    (baseline.unwrap_or(0), known)
                }
            };
            let Turn { block, traffic, .. } = turn;
            PlannedTrial { id, block, order: at as u32 + 1, variant, known, traffic }
        };
        plan.trials = turns.into_iter().zip(ids).enumerate().map(trial).collect();
        plan
    }

    /// The plan that `campaign` recorded, in its order; `None` when it does
    /// not belong to `experiment`.
    pub fn recorded(experiment: &Experiment, campaign: &Campaign) -> Option<Self> {
        let terms = (campaign.seed, campaign.grouping);
        let version = campaign.order_version;
        let drawn = Self::draw_by(version, experiment, terms, campaign.calibration.clone());
        if version > ORDER_VERSION || drawn.trials.len() != campaign.trials.len() {
            return None;
        }
        let mut by_id: HashMap<String, PlannedTrial> =
            drawn.trials.iter().cloned().map(|trial| (trial.id.clone(), trial)).collect();
        let mut trials = Vec::with_capacity(campaign.trials.len());
        for id in &campaign.trials {
            let order = trials.len() as u32 + 1;
            trials.push(PlannedTrial { order, ..by_id.remove(id)? });
        }
        let blocks_per_process = campaign.blocks_per_process;
        Some(Self { blocks_per_process, trials, ..drawn })
    }

    /// The record with which a campaign of this plan begins.
    pub fn campaign(&self, experiment: &Experiment, started: String) -> Campaign {
        Campaign {
            schema: SCHEMA,
            experiment_sha256: experiment.sha256.clone(),
            inputs: experiment.inputs.clone(),
            title: experiment.title.clone(),
            device: experiment.device.clone(),
            about: None,
            testbed: None,
            order: TrialOrder::Blocks,
            grouping: self.grouping,
            seed: self.seed,
            order_version: self.order_version,
            blocks: experiment.blocks.planned(),
            until_decided: experiment.blocks.is_until_decided(),
            blocks_per_process: self.blocks_per_process,
            calibration: self.calibration.clone(),
            unproven: None,
            measure: experiment.measure,
            margin: experiment.margin,
            baseline: experiment.baseline.clone(),
            variants: experiment.variants.iter().map(|v| v.name.clone()).collect(),
            traffics: experiment.traffics.iter().map(|t| t.name.clone()).collect(),
            trials: self.trials.iter().map(|trial| trial.id.clone()).collect(),
            started,
            environment_sha256: None,
        }
    }

    /// The trials that `results` lack, in running order; all of them when
    /// there are no results yet.
    pub fn missing(&self, results: Option<&Results>) -> Vec<&PlannedTrial> {
        let Some(results) = results else { return self.trials.iter().collect() };
        let missing: std::collections::HashSet<&str> = results.missing().into_iter().collect();
        self.trials.iter().filter(|trial| missing.contains(trial.id.as_str())).collect()
    }
}

/// A seed that nobody chose.
pub fn draw_seed() -> u64 {
    // The standard library keys its hash maps from the system's randomness;
    // hashing nothing yields it without another dependency. 32 bits are plenty
    // and can be typed again.
    RandomState::new().hash_one(()) >> 32
}
