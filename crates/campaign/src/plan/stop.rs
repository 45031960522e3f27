//! Stops a campaign with `blocks = "until-decided"` as soon as every comparison is decided.

use crate::runner::Stopper;
use fwdlab_claims::decided::{self, Look, Pairing};
use fwdlab_experiment::{Blocks, Experiment};
use fwdlab_results::Trial;

/// Looks at a campaign after each block.
#[derive(Clone, Debug)]
pub struct UntilDecided {
    /// `None` when the campaign runs a fixed number of blocks.
    rule: Option<decided::UntilDecided>,
}

impl UntilDecided {
    /// For the campaigns of `experiment`; with a fixed number of blocks it
    /// never stops one.
    pub fn new(experiment: &Experiment) -> Self {
        let rule = match experiment.blocks {
            Blocks::Fixed(_) => None,
            Blocks::UntilDecided { cap } => {
                let pairings = pairings(experiment);
                Some(decided::UntilDecided::new(pairings, experiment.margin, cap))
            }
        };
        Self { rule }
    }
}

impl Stopper for UntilDecided {
    fn look(&mut self, trials: &[Trial]) -> Look {
        self.rule.as_ref().map_or(Look::Open(Vec::new()), |rule| rule.look(trials))
    }
}

/// Every variant but the baseline with every traffic.
pub(super) fn pairings(experiment: &Experiment) -> Vec<Pairing> {
    let variants: Vec<String> = experiment.variants.iter().map(|own| own.name.clone()).collect();
    let traffics: Vec<String> = experiment.traffics.iter().map(|own| own.name.clone()).collect();
    decided::pairings(&experiment.baseline, &variants, &traffics)
}
