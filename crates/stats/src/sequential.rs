//! Stop when it is decided: an e-process and a confidence sequence over blocks.
//!
//! Looking at a t test after every block and stopping at the first p < 5 % calls a difference in
//! 29 % of A/A campaigns. An e-process may be looked at after every block: its chance of ever
//! reaching 1/alpha is at most alpha (Ville's inequality).
//!
//! e = (e_t + e_sign) / 2, where e_t is the right-Haar Bayes factor of the t test with a normal
//! prior of variance g on the standardised effect (Perez-Ortiz, Lardy, de Heide and Grunwald,
//! "E-statistics, group invariance and anytime-valid testing", Ann. Stat. 52 (2024)), strong
//! against normal noise, and e_sign = 2^n B(k+1, n-k+1) counts k positive differences, safe under
//! any noise that is symmetric about the median.

use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use crate::comparison::{Comparison, Direction, Effect, Interval, Method};
use crate::paired::{self, Block};
use crate::{Error, sample};

/// Variance of the prior on the standardised effect.
const G: f64 = 16.0;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Chance of ever calling a difference where there is none, over all comparisons together.
    pub alpha: f64,
    /// The margin within which variants count as equivalent, a fraction.
    pub margin: f64,
    /// Fewest blocks before the first look.
    pub least_blocks: usize,
    /// Blocks after which to stop undecided.
    pub most_blocks: usize,
    /// Number of comparisons (variants x traffics) that share alpha.
    pub comparisons: usize,
}

impl Default for Rule {
    fn default() -> Self {
        Self { alpha: 0.05, margin: 0.01, least_blocks: 3, most_blocks: 40, comparisons: 1 }
    }
}

impl Rule {
    /// alpha of a single comparison.
    fn single_alpha(&self) -> f64 {
        self.alpha / self.comparisons.max(1) as f64
    }

    /// The e-value that decides one comparison: 20 for a single one at 5 %.
    pub fn threshold(&self) -> f64 {
        1.0 / self.single_alpha()
    }
}

/// Whether to go on, and why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Run another block.
    Continue,
    /// The e-value reached its threshold: there is a difference.
    Different,
    /// The confidence sequence lies within the margin.
    Equivalent,
    /// The largest number of blocks is reached undecided.
    Exhausted,
}

/// One comparison after some block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Blocks so far.
    pub blocks: usize,
    /// The combined e-value.
    pub e: f64,
    /// The confidence sequence, where it is finite yet.
    pub interval: Option<Interval>,
    /// What follows.
    pub decision: Decision,
}

impl State {
    /// Why a campaign stopped (or goes on), in words.
    pub fn reason(&self, rule: &Rule) -> String {
        let blocks = self.blocks;
        match self.decision {
            Decision::Continue => format!("undecided after {blocks} blocks"),
            Decision::Different => {
                format!(
                    "different: e-value {:.0} reached {:.0} after {blocks} blocks",
                    self.e,
                    rule.threshold()
                )
            }
            Decision::Equivalent => {
                let margin = crate::verdict::percent(rule.margin * 100.0);
                format!(
                    "equivalent: the confidence sequence lies within ±{margin} after {blocks} blocks"
                )
            }
            Decision::Exhausted => {
                format!("undecided after the largest number of blocks, {blocks}")
            }
        }
    }
}

/// Looks at the log speed ratios of all blocks so far (see [`paired::log_gains`]) and decides.
///
/// Once decided, a comparison stays decided: callers with several comparisons keep the first
/// decision of each, or use [`first_decision`].
pub fn look(gains: &[f64], rule: &Rule) -> State {
    let e = e_value(gains);
    let interval = half_width(gains, rule.single_alpha())
        .map(|half| Interval::around_ln(sample::mean(gains), half));
    let blocks = gains.len();
    let decision = if blocks < rule.least_blocks {
        Decision::Continue
    } else if interval.is_some_and(|interval| interval.is_within(rule.margin)) {
        Decision::Equivalent
    } else if e >= rule.threshold() {
        Decision::Different
    } else if blocks >= rule.most_blocks {
        Decision::Exhausted
    } else {
        Decision::Continue
    };
    State { blocks, e, interval, decision }
}

/// The first state, block by block, that is decided, or the last one.
pub fn first_decision(gains: &[f64], rule: &Rule) -> State {
    for blocks in rule.least_blocks..=gains.len() {
        let state = look(&gains[..blocks], rule);
        if state.decision != Decision::Continue {
            return state;
        }
    }
    look(gains, rule)
}

/// The fewest blocks that a sequential comparison takes, and the most that one looks at to say how
/// many are needed.
const LEAST_BLOCKS: usize = 3;
const MOST_BLOCKS: usize = 1000;

/// The comparison of a campaign that stopped by this rule. Its intervals are confidence sequences:
/// they hold whenever one looks, and they leave out "no change" exactly when e reaches the
/// threshold, so that they are wider than those of a planned number of blocks.
///
/// # Errors
/// As [`paired::compare`], with three blocks at least.
pub fn compare(blocks: &[Block], direction: Direction, rule: &Rule) -> Result<Comparison, Error> {
    let gains = paired::log_gains(blocks, direction)?;
    let half = half_width(&gains, rule.single_alpha());
    let Some(half) = half.filter(|_| gains.len() >= LEAST_BLOCKS) else {
        let finite = |n: &usize| ratio(*n, rule.single_alpha()).is_some();
        let need = (LEAST_BLOCKS..=MOST_BLOCKS).find(finite).unwrap_or(MOST_BLOCKS);
        return Err(Error::TooFew { what: "a sequential comparison", got: gains.len(), need });
    };
    let fixed = paired::from_log_gains(&gains);
    let combined = Interval {
        low: Effect::from_ln(end_of_sequence(&gains, rule.threshold(), -1.0)),
        high: Effect::from_ln(end_of_sequence(&gains, rule.threshold(), 1.0)),
    };
    Ok(Comparison {
        method: Method::Sequential,
        interval95: combined,
        interval90: Interval::around_ln(fixed.mean.ln(), half),
        p: (rule.comparisons.max(1) as f64 / e_value(&gains)).min(1.0),
        ..fixed
    })
}

/// The combined e-value against "no change": (e_t + e_sign) / 2.
pub fn e_value(gains: &[f64]) -> f64 {
    if gains.len() < 2 { 1.0 } else { f64::midpoint(e_t(gains), e_sign(gains)) }
}

/// e_t = (1+n g)^(-1/2) [(1+t^2/v) / (1+t^2/(v(1+n g)))]^((v+1)/2), v = n-1.
fn e_t(gains: &[f64]) -> f64 {
    let n = gains.len() as f64;
    let (degrees, a) = (n - 1.0, 1.0 + n * G);
    let (mean, variance) = (sample::mean(gains), sample::variance(gains));
    if mean == 0.0 {
        return a.powf(-0.5);
    }
    // t^2 / v as a quotient whose limit for variance 0 is infinity: the bracket is then a
    let ratio = n * mean * mean / (degrees * variance);
    let bracket = if ratio.is_finite() { (1.0 + ratio) / (1.0 + ratio / a) } else { a };
    ((degrees + 1.0) / 2.0 * bracket.ln() - 0.5 * a.ln()).exp()
}

/// e_sign = 2^n B(k+1, n-k+1) with k positive among n differences that are not zero.
fn e_sign(gains: &[f64]) -> f64 {
    let positive = gains.iter().filter(|gain| **gain > 0.0).count() as f64;
    let n = gains.iter().filter(|gain| **gain != 0.0).count() as f64;
    let ln_beta = ln_gamma(positive + 1.0) + ln_gamma(n - positive + 1.0) - ln_gamma(n + 2.0);
    (n * std::f64::consts::LN_2 + ln_beta).exp()
}

/// Half-width of the confidence sequence of e_t: t* s / sqrt(n) with t* = sqrt(v(R-1)/(1-R/A)),
/// A = 1+n g; `None` while it is infinite.
fn half_width(gains: &[f64], alpha: f64) -> Option<f64> {
    let r = ratio(gains.len(), alpha)?;
    let n = gains.len() as f64;
    let a = 1.0 + n * G;
    Some(((n - 1.0) * (r - 1.0) / (1.0 - r / a)).sqrt() * sample::sd(gains) / n.sqrt())
}

/// R = (sqrt(A)/alpha)^(2/n); `None` while the sequence is infinite (fewer than two values, or
/// R >= A).
fn ratio(n: usize, alpha: f64) -> Option<f64> {
    let a = 1.0 + n as f64 * G;
    let r = (a.sqrt() / alpha).powf(2.0 / n as f64);
    (n >= 2 && r < a).then_some(r)
}

/// How far from the mean, in direction `sign`, an effect has to lie for the combined e-value
/// against it to reach the threshold: the end of the set of effects that are not rejected.
fn end_of_sequence(gains: &[f64], threshold: f64, sign: f64) -> f64 {
    let centre = sample::mean(gains);
    let spread = sample::sd(gains).max(1e-12);
    let mut shifted = gains.to_vec();
    let mut is_rejected = |distance: f64| {
        for (to, from) in shifted.iter_mut().zip(gains) {
            *to = from - centre - sign * distance;
        }
        e_value(&shifted) >= threshold
    };
    let mut far = spread / 4.0;
    while !is_rejected(far) && far < 50.0 {
        far *= 2.0;
    }
    let mut near = 0.0;
    for _ in 0..60 {
        let middle = f64::midpoint(near, far);
        if is_rejected(middle) {
            far = middle;
        } else {
            near = middle;
        }
    }
    centre + sign * far
}

#[cfg(test)]
mod tests;
