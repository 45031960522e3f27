//! Stops a campaign with `blocks = "until-decided"` as soon as every
//! comparison is decided.
//!
//! The statistics are those of [`fwdlab_stats::sequential`], which may be
//! looked at after every block without calling more false differences.

use fwdlab_stats::sequential::{self, Decision, Rule};

use super::gains::{Pairing, gains, is_hopeless, pairings};
use crate::runner::Stopper;
use fwdlab_claims::blocks;
use fwdlab_experiment::{Blocks, Experiment};
use fwdlab_results::Trial;

/// Looks at a campaign after each block.
#[derive(Clone, Debug)]
pub struct UntilDecided {
    /// `None` when the campaign runs a fixed number of blocks.
    rule: Option<Rule>,
    pairings: Vec<Pairing>,
}

impl UntilDecided {
    /// For the campaigns of `experiment`; with a fixed number of blocks it
    /// never stops one.
    pub fn new(experiment: &Experiment) -> Self {
        let pairings = pairings(experiment);
        let rule = match experiment.blocks {
            Blocks::Fixed(_) => None,
            Blocks::UntilDecided { cap } => {
                Some(blocks::rule(experiment.margin, cap, pairings.len()))
            }
        };
        Self { rule, pairings }
    }

    /// Why the campaign may stop after the last whole block of `trials`, in
    /// words; `None` when it must go on.
    fn settled(&self, trials: &[Trial]) -> Option<String> {
        let rule = self.rule.as_ref()?;
        let blocks = trials.iter().map(|trial| trial.block).max()?;
        if blocks < blocks::LEAST_BLOCKS {
            return None;
        }
        let reasons: Option<Vec<String>> =
            self.pairings.iter().map(|pairing| reason(pairing, trials, rule)).collect();
        let reasons = reasons?.join("; ");
        Some(format!("every comparison is settled after {blocks} blocks: {reasons}"))
    }
}

impl Stopper for UntilDecided {
    fn decided(&mut self, trials: &[Trial]) -> Option<String> {
        self.settled(trials)
    }
}

/// Why one comparison needs no further block; `None` when it does.
fn reason(pairing: &Pairing, trials: &[Trial], rule: &Rule) -> Option<String> {
    let Pairing { variant, baseline, traffic, .. } = pairing;
    let gains = gains(trials, pairing);
    let subject = format!("{variant} and {baseline} with {traffic}");
    if gains.values.is_empty() {
        // More blocks of trials that always fail would tell nothing either.
        return is_hopeless(trials, pairing)
            .then(|| format!("{subject}: no block in which both trials succeeded"));
    }
    let direction = gains.metric.direction();
    let state = sequential::first_decision_at(&gains.blocks, direction, rule).ok()?;
    match state.decision {
        Decision::Continue => None,
        _ => Some(format!("{subject} {} ({})", state.reason(rule), gains.metric.name())),
    }
}
