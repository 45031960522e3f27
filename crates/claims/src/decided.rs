//! When a campaign with `blocks = "until-decided"` is over: as soon as every comparison is decided.
//!
//! The statistics are those of [`fwdlab_stats::sequential`], which may be looked at after every block
//! without calling more false differences. Who runs a campaign and who verifies its journal use this
//! one rule.

use fwdlab_stats::paired::{self, Block};
use fwdlab_stats::sequential::{self, Decision, Rule};

use crate::blocks::{self, Blocks};
use fwdlab_results::{Campaign, Metric, Trial};

/// A variant beside the baseline with one traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// Name of the variant.
    pub variant: String,
    /// Name of the baseline.
    pub baseline: String,
    /// Name of the traffic.
    pub traffic: String,
    /// Every variant but the baseline: they share the blocks in which all kept their trial.
    pub beside: Vec<String>,
}

/// What the blocks so far say about one pairing.
#[derive(Clone, Debug, PartialEq)]
pub struct Gains {
    /// The figure that decides.
    pub metric: Metric,
    /// ln(variant / baseline) of speed, one for each block that the report compares.
    pub values: Vec<f64>,
    /// The figures they come from.
    pub blocks: Vec<Block>,
}

/// Every variant but the baseline with every traffic.
pub fn pairings(baseline: &str, variants: &[String], traffics: &[String]) -> Vec<Pairing> {
    let beside: Vec<String> = variants.iter().filter(|name| *name != baseline).cloned().collect();
    let pairing = |traffic: &String, variant: &String| Pairing {
        variant: variant.clone(),
        baseline: baseline.to_owned(),
        traffic: traffic.clone(),
        beside: beside.clone(),
    };
    let of = |traffic| beside.iter().map(move |variant| pairing(traffic, variant));
    traffics.iter().flat_map(of).collect()
}

impl Pairing {
    /// The gains in `trials`, over the blocks of their report.
    pub fn gains(&self, trials: &[Trial]) -> Gains {
        let Self { variant, baseline, traffic, beside } = self;
        let names: Vec<&str> = beside.iter().map(String::as_str).collect();
        let common = Blocks::of(trials, baseline, &names, traffic);
        let place = names.iter().position(|name| name == variant);
        let column = place.and_then(|place| common.columns[place].ok());
        let sides = column.map_or([Vec::new(), Vec::new()], |column| common.sides(column));
        let metric = Metric::deciding(sides.iter().flatten().copied());
        let blocks: Vec<Block> = sides[0]
            .iter()
            .zip(&sides[1])
            .filter_map(|(b, v)| Some(Block::new(metric.of(b)?, metric.of(v)?)))
            .collect();
        let values = paired::log_gains(&blocks, metric.direction()).unwrap_or_default();
        Gains { metric, values, blocks }
    }

    /// Whether the baseline or the variant never kept a trial.
    fn is_hopeless(&self, trials: &[Trial]) -> bool {
        [&self.baseline, &self.variant].into_iter().any(|name| {
            !trials.iter().any(|t| t.is_ok() && t.variant == *name && t.traffic == self.traffic)
        })
    }

    /// Why no further block is needed; `None` when one is.
    fn reason(&self, trials: &[Trial], rule: &Rule) -> Option<String> {
        let Self { variant, baseline, traffic, .. } = self;
        let gains = self.gains(trials);
        let subject = format!("{variant} and {baseline} with {traffic}");
        if gains.values.is_empty() {
            // More blocks of trials that always fail would tell nothing either.
            return self
                .is_hopeless(trials)
                .then(|| format!("{subject}: no block in which both trials succeeded"));
        }
        let direction = gains.metric.direction();
        let state = sequential::first_decision_at(&gains.blocks, direction, rule).ok()?;
        match state.decision {
            Decision::Continue => None,
            _ => Some(format!("{subject} {} ({})", state.reason(rule), gains.metric.name())),
        }
    }
}

/// The rule of one campaign.
#[derive(Clone, Debug)]
pub struct UntilDecided {
    rule: Rule,
    pairings: Vec<Pairing>,
}

impl UntilDecided {
    /// For these comparisons, at most `cap` blocks of them.
    pub fn new(pairings: Vec<Pairing>, margin: f64, cap: u32) -> Self {
        Self { rule: blocks::rule(margin, cap, pairings.len()), pairings }
    }

    /// That of a campaign; `None` when it runs a fixed number of blocks.
    pub fn of(campaign: &Campaign) -> Option<Self> {
        let Campaign { baseline, variants, traffics, margin, blocks, .. } = campaign;
        let pairings = pairings(baseline, variants, traffics);
        campaign.until_decided.then(|| Self::new(pairings, *margin, *blocks))
    }

    /// Why the campaign may stop after the last whole block of `trials`, in words; `None` when it must
    /// go on.
    pub fn settled(&self, trials: &[Trial]) -> Option<String> {
        let blocks = trials.iter().map(|trial| trial.block).max()?;
        if blocks < blocks::LEAST_BLOCKS {
            return None;
        }
        let reasons: Option<Vec<String>> =
            self.pairings.iter().map(|pairing| pairing.reason(trials, &self.rule)).collect();
        let reasons = reasons?.join("; ");
        Some(format!("every comparison is settled after {blocks} blocks: {reasons}"))
    }
}
