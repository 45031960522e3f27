//! Draws the running order.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use fwdlab_claims::order::{self, Draw};
use fwdlab_experiment::Experiment;
use fwdlab_results::{Campaign, Grouping, Results, SCHEMA, TrialOrder};

/// What a campaign runs, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The seed of the order.
    pub seed: u64,
    /// Which trials of a block follow each other.
    pub grouping: Grouping,
    /// So many blocks run in each process; `None` when all run in this one.
    pub blocks_per_process: Option<u32>,
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
    /// Index of the variant in the experiment.
    pub variant: usize,
    /// Index of the traffic in the experiment.
    pub traffic: usize,
}

impl PlannedTrial {
    /// Whether the two are compared with each other: same block, same traffic.
    pub fn is_compared_with(&self, other: &Self) -> bool {
        (self.block, self.traffic) == (other.block, other.traffic)
    }
}

impl Plan {
    /// Draws the plan of `experiment` from `seed`: in each block the order of
    /// the traffics, and within each the order of the variants, so that those
    /// which are compared follow each other. The order of a block does not
    /// depend on how many blocks follow it.
    pub fn draw(experiment: &Experiment, seed: u64, grouping: Grouping) -> Self {
        let draw = Draw {
            seed,
            grouping,
            blocks: experiment.blocks.planned(),
            traffics: experiment.traffics.len(),
            variants: experiment.variants.len(),
        };
        let mut trials = Vec::new();
        for turn in draw.turns() {
            let order::Turn { block, traffic, variant } = turn;
            let [traffic_name, variant_name] =
                [&experiment.traffics[traffic].name, &experiment.variants[variant].name];
            let id = order::id(block, traffic_name, variant_name);
            let order = trials.len() as u32 + 1;
            trials.push(PlannedTrial { id, block, order, variant, traffic });
        }
        Self { seed, grouping, blocks_per_process: None, trials }
    }

    /// The plan that `campaign` recorded, in its order; `None` when it does
    /// not belong to `experiment`.
    pub fn recorded(experiment: &Experiment, campaign: &Campaign) -> Option<Self> {
        let drawn = Self::draw(experiment, campaign.seed, campaign.grouping);
        if drawn.trials.len() != campaign.trials.len() {
            return None;
        }
        let mut by_id: HashMap<String, PlannedTrial> =
            drawn.trials.into_iter().map(|trial| (trial.id.clone(), trial)).collect();
        let mut trials = Vec::with_capacity(campaign.trials.len());
        for id in &campaign.trials {
            let order = trials.len() as u32 + 1;
            trials.push(PlannedTrial { order, ..by_id.remove(id)? });
        }
        let Campaign { seed, grouping, blocks_per_process, .. } = *campaign;
        Some(Self { seed, grouping, blocks_per_process, trials })
    }

    /// The record with which a campaign of this plan begins.
    pub fn campaign(&self, experiment: &Experiment, started: String) -> Campaign {
        Campaign {
            schema: SCHEMA,
            experiment_sha256: experiment.sha256.clone(),
            title: experiment.title.clone(),
            device: experiment.device.clone(),
            about: None,
            order: TrialOrder::Blocks,
            grouping: self.grouping,
            seed: self.seed,
            blocks: experiment.blocks.planned(),
            until_decided: experiment.blocks.is_until_decided(),
            blocks_per_process: self.blocks_per_process,
            measure: experiment.measure,
            margin: experiment.margin,
            baseline: experiment.baseline.clone(),
            variants: experiment.variants.iter().map(|v| v.name.clone()).collect(),
            traffics: experiment.traffics.iter().map(|t| t.name.clone()).collect(),
            trials: self.trials.iter().map(|trial| trial.id.clone()).collect(),
            started,
        }
    }

    /// The trials that `results` lack, in running order; all of them when
    /// there are no results yet.
    pub fn missing(&self, results: Option<&Results>) -> Vec<&PlannedTrial> {
        let Some(results) = results else { return self.trials.iter().collect() };
        let missing: std::collections::HashSet<&str> = results.missing().into_iter().collect();
        self.trials.iter().filter(|trial| missing.contains(trial.id.as_str())).collect()
    }

    /// The least time that all trials take: traffic alone, without setting up.
    pub fn traffic_time(&self, experiment: &Experiment) -> Duration {
        // A search decides some eight loads, each in the counted part's time.
        let searches = if experiment.measure.loss_ratio().is_some() { 8 } else { 0 };
        // Latency is measured at three shares of the rate found, too.
        let shares = if searches > 0 && experiment.latency { 3 } else { 0 };
        let parts = 1 + searches + shares;
        (experiment.warmup + experiment.duration * parts) * self.trials.len() as u32
    }
}

/// A seed that nobody chose.
pub fn draw_seed() -> u64 {
    // The standard library keys its hash maps from the system's randomness;
    // hashing nothing yields it without another dependency. 32 bits are plenty
    // and can be typed again.
    RandomState::new().hash_one(()) >> 32
}
