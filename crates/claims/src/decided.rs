//! When a campaign with `blocks = "until-decided"` is over: as soon as every comparison is decided, which
//! is when its report would give a verdict on all that ran.
//!
//! The statistics are those of [`fwdlab_stats::sequential`], which may be looked at after every block
//! without calling more false differences. Who runs a campaign and who verifies its journal use this
//! one rule.

use fwdlab_stats::lost::Lost;
use fwdlab_stats::paired::{self, Block};
use fwdlab_stats::sequential::{self, Decision, Rule};

use crate::blocks::{self, Blocks};
use fwdlab_results::units;
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

/// What a look at a campaign says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// It may stop, and why, in words.
    Settled(String),
    /// It goes on; the comparisons whose typical runs are equal while what their rare runs cost is not
    /// known, in words.
    Open(Vec<Open>),
}

/// A comparison that rare runs keep open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// Which one.
    pub subject: String,
    /// Why, in words.
    pub why: String,
}

/// A comparison after some block: decided or hopeless, or still open, by rare runs or otherwise.
enum Standing {
    Settled(String),
    Open(Option<Open>),
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
    /// The blocks that lost a trial of one of the two.
    pub lost: Vec<Lost>,
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
        let lost = column.map_or_else(Vec::new, |column| common.lost[column - 1].clone());
        let metric = Metric::deciding(sides.iter().flatten().copied());
        let blocks: Vec<Block> = sides[0]
            .iter()
            .zip(&sides[1])
            .filter_map(|(b, v)| Some(Block::new(metric.of(b)?, metric.of(v)?)))
            .collect();
        let values = paired::log_gains(&blocks, metric.direction()).unwrap_or_default();
        Gains { metric, values, blocks, lost }
    }

    /// Whether the baseline or the variant never kept a trial.
    fn is_hopeless(&self, trials: &[Trial]) -> bool {
        [&self.baseline, &self.variant].into_iter().any(|name| {
            !trials.iter().any(|t| t.is_ok() && t.variant == *name && t.traffic == self.traffic)
        })
    }

    /// Where it stands after all blocks of `trials`.
    fn standing(&self, trials: &[Trial], rule: &Rule) -> Standing {
        let Self { variant, baseline, traffic, .. } = self;
        let gains = self.gains(trials);
        let subject = format!("{variant} and {baseline} with {traffic}");
        if gains.values.is_empty() {
            // More blocks of trials that always fail would tell nothing either.
            let settled =
                || Standing::Settled(format!("{subject}: no block in which both trials succeeded"));
            return if self.is_hopeless(trials) { settled() } else { Standing::Open(None) };
        }
        let direction = gains.metric.direction();
        let Ok(state) = sequential::look_beside(&gains.blocks, &gains.lost, direction, rule) else {
            return Standing::Open(None);
        };
        let why = format!("{} ({})", state.reason(rule, (baseline, variant)), gains.metric.name());
        match state.decision {
            Decision::Continue => Standing::Open(state.rare.map(|_| Open { subject, why })),
            _ => Standing::Settled(format!("{subject} {why}")),
        }
    }

    /// Whether it was decided before anybody asked what rare runs cost.
    fn was_settled(&self, trials: &[Trial], rule: &Rule) -> bool {
        let gains = self.gains(trials);
        match gains.values.is_empty() {
            true => self.is_hopeless(trials),
            false => sequential::first_decision(&gains.values, rule).decision != Decision::Continue,
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

    /// Whether the campaign may stop after the last whole block of `trials`.
    pub fn look(&self, trials: &[Trial]) -> Look {
        let blocks = trials.iter().map(|trial| trial.block).max().unwrap_or(0);
        if blocks < blocks::LEAST_BLOCKS {
            return Look::Open(Vec::new());
        }
        let mut reasons = Vec::new();
        let mut open = Vec::new();
        for pairing in &self.pairings {
            match pairing.standing(trials, &self.rule) {
                Standing::Settled(reason) => reasons.push(reason),
                Standing::Open(why) => open.extend(why),
            }
        }
        if reasons.len() < self.pairings.len() {
            return Look::Open(open);
        }
        let reasons = reasons.join("; ");
        let blocks = units::plural(blocks, "block");
        Look::Settled(format!("every comparison is settled after {blocks}: {reasons}"))
    }

    /// Whether an earlier version, which asked nothing of rare runs, stopped after the last whole block of
    /// `trials`.
    pub fn stopped_earlier(&self, trials: &[Trial]) -> bool {
        let blocks = trials.iter().map(|trial| trial.block).max().unwrap_or(0);
        blocks >= blocks::LEAST_BLOCKS
            && self.pairings.iter().all(|pairing| pairing.was_settled(trials, &self.rule))
    }
}
