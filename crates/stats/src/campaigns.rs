//! Several campaigns of one experiment: what its next run will say.
//!
//! Blocks within one campaign share what a process is dealt when it starts: the layout of its
//! memory, the colours of its pages, its neighbours on the machine. The same experiment run four times gave
//! +196, +229, +106 and +58 %, each with an interval of a few points: those intervals speak for the
//! process at hand, not for the next run (Kalibera and Jones, "Rigorous benchmarking in reasonable
//! time", ISMM 2013; Curtsinger and Berger, "STABILIZER", ASPLOS 2013). Only several campaigns tell how
//! much campaigns differ.
//!
//! Blocks lie within processes, processes within campaigns. Variances of blocks and processes are
//! those of the nested analysis of variance (Searle, Casella and McCulloch, "Variance Components",
//! 1992, chapter 3); what lies between campaigns is a random effect, see [`crate::random_effects`]. The
//! interval for the next campaign is the
//! prediction interval of Higgins, Thompson and Spiegelhalter (J. Roy. Stat. Soc. A 172 (2009)),
//! with the next campaign's own error and k - 1 degrees of freedom, which is exact for normal
//! campaigns of one size.

use serde::{Deserialize, Serialize};

use crate::comparison::{
    Comparison, Confidence, ConfidenceInterval, Counts, Direction, Estimand, Method,
};
use crate::distribution::{t_critical, t_two_sided};
use crate::effect::Effect;
use crate::paired::{self, Block};
use crate::random_effects::{RandomEffects, same_p};
use crate::resolution::Resolution;
use crate::{Error, dataset, lost};

/// Campaigns of each side from which a winner is named.
pub const LEAST_CAMPAIGNS: usize = 3;

/// A standard error below this share of the mean is none: what is left is the arithmetic's own.
const NO_SPREAD: f64 = 1e-9;

/// One campaign: the log speed ratios of its blocks, by process.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Campaign {
    processes: Vec<Vec<f64>>,
}

impl Campaign {
    /// A campaign whose blocks ran in one process; see [`paired::log_gains`].
    pub fn of_one_process(gains: Vec<f64>) -> Self {
        Self::of_processes(vec![gains])
    }

    /// A campaign whose blocks ran in several processes; those without a block are left out.
    pub fn of_processes(processes: Vec<Vec<f64>>) -> Self {
        Self { processes: processes.into_iter().filter(|gains| !gains.is_empty()).collect() }
    }

    /// A campaign of one process from the figures of its blocks.
    ///
    /// # Errors
    /// As [`paired::log_gains`].
    pub fn of_blocks(blocks: &[Block], direction: Direction) -> Result<Self, Error> {
        Ok(Self::of_one_process(paired::log_gains(blocks, direction)?))
    }

    /// The mean of the means of its processes.
    fn mean(&self) -> f64 {
        let means: Vec<f64> = self.processes.iter().map(|gains| dataset::mean(gains)).collect();
        dataset::mean(&means)
    }

    fn is_usable(&self) -> bool {
        self.processes.iter().flatten().all(|gain| gain.is_finite()) && !self.processes.is_empty()
    }
}

/// What an analysis of campaigns goes by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// How sure it has to be.
    pub confidence: Confidence,
    /// Campaigns of each side below which nothing is said; never fewer than two.
    pub least_campaigns: usize,
    /// How finely the figures are known: that all campaigns say the same is no proof beyond it.
    pub resolution: Resolution,
}

impl Default for Terms {
    fn default() -> Self {
        let resolution = Resolution::FINE;
        Self { confidence: Confidence::USUAL, least_campaigns: LEAST_CAMPAIGNS, resolution }
    }
}

/// Standard deviations of log ratios at each level of chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Deviations {
    /// Of blocks within a process.
    pub block: f64,
    /// Of processes within a campaign; `None` when no campaign had two.
    pub process: Option<f64>,
    /// Of campaigns.
    pub campaign: f64,
}

/// Several campaigns of one experiment together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Together {
    /// The experiment's effect over all campaigns, past and future; `n` and `sd_of_difference` are
    /// those of campaigns.
    pub comparison: Comparison,
    /// Where the figure of the next campaign of the same size lies, at the same confidence.
    pub next: ConfidenceInterval,
    /// Standard deviations at each level.
    pub spread: Deviations,
    /// p of "all campaigns have the same effect" (Cochran's Q, Biometrics 10 (1954)).
    pub same_p: f64,
    /// The figure of each campaign.
    pub figures: Vec<Effect>,
}

/// Combines campaigns of one experiment.
///
/// # Errors
/// [`Error::TooFewCampaigns`] below what the terms ask for, [`Error::NotFinite`] for a campaign with
/// a ratio that is not a number, or without any.
pub fn together(campaigns: &[Campaign], terms: Terms) -> Result<Together, Error> {
    check("this experiment", campaigns, terms)?;
    let levels = Levels::of(campaigns);
    let figures: Vec<f64> = campaigns.iter().map(Campaign::mean).collect();
    let errors: Vec<f64> = campaigns.iter().map(|campaign| levels.error(campaign)).collect();
    let effects = RandomEffects::of(&figures, &errors);
    let degrees = (figures.len() - 1) as f64;
    let sd = (effects.between + dataset::mean(&errors)).sqrt();
    let least = terms.resolution.least_sd_of_difference();
    let error = effects.error.max(least / (figures.len() as f64).sqrt());
    let next_error = (sd.max(least).powi(2) + error.powi(2)).sqrt();
    let next = ConfidenceInterval::around_ln(
        effects.mean,
        t_critical(terms.confidence.share(), degrees) * next_error,
    )
    .widened(terms.resolution.allowance(sd));
    let comparison = comparison(
        terms,
        Counts { baseline: figures.len(), variant: figures.len() },
        Difference { mean: effects.mean, error, degrees },
        (dataset::median(&figures), sd),
    );
    Ok(Together {
        next: next.with(comparison.estimate),
        comparison,
        spread: Deviations {
            block: levels.block.sqrt(),
            process: levels.process.map(f64::sqrt),
            campaign: effects.between.sqrt(),
        },
        same_p: same_p(&figures, &errors),
        figures: figures.into_iter().map(Effect::from_ln).collect(),
    })
}

impl Together {
    /// What it and all campaigns with the worst in the place of trials that FAILED both say; so many of the
    /// baseline and of the variant did ([`crate::lost`]).
    #[must_use]
    pub fn beside(self, all: &Self, failed: [usize; 2]) -> Self {
        let next = self.next.hull(all.next);
        Self { comparison: lost::of_both(self.comparison, &all.comparison, failed), next, ..self }
    }
}

/// Compares the campaigns of two sides, e.g. before and after a change, that did not share blocks:
/// Welch's t with the campaign as the unit. The ratios of both sides must be to the same thing: to a
/// variant that both have, or plain log speeds.
///
/// # Errors
/// As [`together`], for either side.
pub fn compare(
    baseline: &[Campaign],
    variant: &[Campaign],
    terms: Terms,
) -> Result<Comparison, Error> {
    check("the baseline", baseline, terms)?;
    check("the variant", variant, terms)?;
    let [b, v] =
        [baseline, variant].map(|side| side.iter().map(Campaign::mean).collect::<Vec<f64>>());
    let least = terms.resolution.least_sd().powi(2);
    let errors = [&b, &v].map(|side| dataset::variance(side).max(least) / side.len() as f64);
    let all: f64 = errors.iter().sum();
    let share = |i: usize, n: usize| (errors[i] / all).powi(2) / (n - 1) as f64;
    let spread = share(0, b.len()) + share(1, v.len());
    let degrees = if spread > 0.0 { 1.0 / spread } else { (b.len() + v.len() - 2) as f64 };
    let mean = dataset::mean(&v) - dataset::mean(&b);
    let sd = (dataset::variance(&b) + dataset::variance(&v)).sqrt();
    Ok(comparison(
        terms,
        Counts { baseline: b.len(), variant: v.len() },
        Difference { mean, error: all.sqrt(), degrees },
        (dataset::median(&v) - dataset::median(&b), sd),
    ))
}

fn check(side: &'static str, campaigns: &[Campaign], terms: Terms) -> Result<(), Error> {
    if let Some(index) = campaigns.iter().position(|campaign| !campaign.is_usable()) {
        return Err(Error::NotFinite { index, value: f64::NAN });
    }
    let need = terms.least_campaigns.max(2);
    if campaigns.len() < need {
        return Err(Error::TooFewCampaigns { side, got: campaigns.len(), need });
    }
    Ok(())
}

/// A mean with its standard error.
struct Difference {
    mean: f64,
    error: f64,
    degrees: f64,
}

fn comparison(
    terms: Terms,
    n: Counts,
    difference: Difference,
    (median, sd_of_difference): (f64, f64),
) -> Comparison {
    let Difference { mean, error, degrees } = difference;
    let confidence = terms.confidence;
    let estimate = Effect::from_ln(mean);
    let allowance = terms.resolution.allowance(sd_of_difference);
    let interval = |level| {
        let half = t_critical(level, degrees) * error + allowance;
        ConfidenceInterval::around_ln(mean, half).with(estimate)
    };
    // what rounding may have moved for good proves nothing; campaigns that all say the same to the last
    // digit, and whose figures show no rounding, are copies
    let beyond = paired::beyond(mean, allowance);
    let has_spread = error > NO_SPREAD * mean.abs();
    let p = if has_spread { t_two_sided(beyond / error, degrees) } else { 1.0 };
    paired::settled(Comparison {
        method: Method::Campaigns,
        n,
        estimand: Estimand::MeanOfCampaigns,
        estimate,
        median: Effect::from_ln(median),
        mean: estimate,
        confidence,
        interval95: interval(confidence.share()),
        interval90: interval(confidence.of_equivalence()),
        p,
        sd_of_difference,
        correction: None,
        rare: None,
        agreement: None,
        rounding: allowance,
    })
}

/// Variances within campaigns.
pub(crate) struct Levels {
    pub(crate) block: f64,
    pub(crate) process: Option<f64>,
}

impl Levels {
    /// Sums of squares over all campaigns, expected values solved for the variances; a negative one
    /// is 0.
    pub(crate) fn of(campaigns: &[Campaign]) -> Self {
        let (mut in_blocks, mut in_processes) = (Squares::default(), Squares::default());
        let mut weight = 0.0;
        for campaign in campaigns {
            let gains: Vec<f64> = campaign.processes.iter().flatten().copied().collect();
            let (all, mean) = (gains.len() as f64, dataset::mean(&gains));
            let mut squares_of_sizes = 0.0;
            for process in &campaign.processes {
                let (n, own) = (process.len() as f64, dataset::mean(process));
                in_blocks.add(process.iter().map(|gain| (gain - own).powi(2)).sum(), n - 1.0);
                in_processes.sum += n * (own - mean).powi(2);
                squares_of_sizes += n * n;
            }
            in_processes.degrees += campaign.processes.len() as f64 - 1.0;
            weight += all - squares_of_sizes / all;
        }
        let block = in_blocks.mean();
        let has_processes = in_processes.degrees > 0.0 && weight > 0.0;
        let process = has_processes
            .then(|| ((in_processes.sum - in_processes.degrees * block) / weight).max(0.0));
        Self { block, process }
    }

    /// Squared standard error of a campaign's mean of means.
    fn error(&self, campaign: &Campaign) -> f64 {
        let processes = campaign.processes.len() as f64;
        let of_blocks: f64 = campaign.processes.iter().map(|own| 1.0 / own.len() as f64).sum();
        self.process.unwrap_or(0.0) / processes + self.block * of_blocks / (processes * processes)
    }
}

#[derive(Default)]
struct Squares {
    sum: f64,
    degrees: f64,
}

impl Squares {
    fn add(&mut self, sum: f64, degrees: f64) {
        self.sum += sum;
        self.degrees += degrees;
    }

    fn mean(&self) -> f64 {
        if self.degrees > 0.0 { self.sum / self.degrees } else { 0.0 }
    }
}

#[cfg(test)]
mod tests;
