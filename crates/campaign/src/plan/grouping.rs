//! Which trials of a block follow each other.

use std::time::Duration;

use fwdlab_experiment::Experiment;
use fwdlab_results::{About, Grouping};

/// What the device asks of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// What it is, for the campaign's record.
    pub about: About,
    /// How long it takes to go from one variant to another.
    pub switch_cost: Duration,
    /// Whether it lives in the memory of a process, so that a fresh one is another draw.
    pub lives_in_process: bool,
}

impl Terms {
    /// Trials that are compared stand next to each other, as long as setting a variant up takes less
    /// time than a trial. Where it takes longer, as a reboot does, each block sets every variant up
    /// once, in random order, and sends all traffics, in random order again.
    pub fn grouping(&self, experiment: &Experiment) -> Grouping {
        let trial = experiment.warmup + experiment.duration;
        if self.switch_cost > trial { Grouping::Variant } else { Grouping::Traffic }
    }

    /// So many blocks run in each process; `None` when all run in this one.
    pub fn blocks_per_process(&self, experiment: &Experiment) -> Option<u32> {
        let blocks = experiment.blocks_per_process;
        (self.lives_in_process && blocks > 0).then_some(blocks)
    }
}
