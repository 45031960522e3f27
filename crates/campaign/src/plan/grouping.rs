//! Which trials of a block follow each other.

use std::time::Duration;

use fwdlab_experiment::Experiment;
use fwdlab_results::{About, Grouping, TestbedMark};

/// What the device asks of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// What it is, for the campaign's record.
    pub about: About,
    /// How long it takes to go from one variant to another.
    pub switch_cost: Duration,
    /// The machines that it stands on, where a file names them.
    pub testbed: Option<TestbedMark>,
}

impl Terms {
    /// Trials that are compared stand next to each other, as long as setting a variant up takes less
    /// time than a trial. Where it takes longer, as a reboot does, each block sets every variant up
    /// once, in random order, and sends all traffics, in random order again.
    pub fn grouping(&self, experiment: &Experiment) -> Grouping {
        let trial = experiment.warmup + experiment.duration;
        if self.switch_cost > trial { Grouping::Variant } else { Grouping::Traffic }
    }
}
