//! Stop when it is decided: an e-process and a confidence sequence over blocks.
//!
//! Looking at a t test after every block and stopping at the first p < 5 % calls a difference in
//! 29 % of A/A campaigns. An e-process may be looked at after every block: its chance of ever
//! reaching 1/alpha is at most alpha (Ville's inequality).
//!
//! The estimand is the centre of symmetry of the log ratios within blocks: in random order a ratio
//! is as likely above as below it when the noise of both sides is the same. Against a centre c,
//! e(c) = (e_t + e_sign) / 2 of the ratios less c, where e_t is the right-Haar Bayes factor of the t
//! test with a normal prior of variance g on the standardised effect (Perez-Ortiz, Lardy, de Heide
//! and Grunwald, "E-statistics, group invariance and anytime-valid testing", Ann. Stat. 52 (2024)),
//! strong against normal noise, and e_sign = 2^n B(k+1, n-k+1) counts k positive differences, safe
//! under any noise that is symmetric about the centre.
//!
//! Verdict, interval and e are one thing. Either half speaks for a centre *above* c or *below* it,
//! so that the evidence falls into up(c), which falls as c rises, and down(c), which rises; their
//! sum is at most e(c). Skewed noise can make one half speak up where the other speaks down, and a
//! search for the c with e(c) below the threshold may then find nothing at all. So each is divided
//! by the other where that is above 1: up / max(1, down) and down / max(1, up). They are no larger
//! than e, hence as safe; they rise and fall as before; and they are never both above 1. The
//! centres that neither rejects thus are an interval, always with something in it: the point where
//! both are equal, which is the estimate. "No change" lies outside exactly when one of the two
//! reached the threshold against it.
//!
//! "Equivalent" asks for more than the centre: the mean of typical ratios and what rare runs cost have to
//! be known to lie within the margin, too ([`crate::rare`]), at every look. Looks that are close to each other see the same runs;
//! what is new grows with the logarithm of their number, so that each look takes
//! 1 / (1 + ln(last / first)) of the chance of error: [`Rule::alpha_of_rare_runs`].
//!
//! Ratios that scatter by less than the rounding of their figures may hide (5 against 6, every time)
//! say nothing by their signs, have the spread that may be hidden, and are no difference within what
//! the rounding may have moved all of them: as with a planned number of blocks.

use serde::{Deserialize, Serialize};

use crate::comparison::{
    Comparison, Confidence, ConfidenceInterval, Counts, Direction, Estimand, Method,
};
use crate::effect::Effect;
use crate::lost::{self, Lost};
use crate::multiple::{Correction, Kind};
use crate::paired::{self, Block};
use crate::rare::{self, Rare};
use crate::verdict::Proven;
use crate::{Error, dataset, plural};

mod evidence;

pub use evidence::e_value;
pub(crate) use evidence::t_for;
use evidence::{Against, Evidence, Rounding};

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
        Self { alpha: 0.05, margin: 0.01, least_blocks: 4, most_blocks: 40, comparisons: 1 }
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

    /// Chance with which each end of what rare runs cost is missed at a look, so that all looks
    /// together miss it with the chance of a single comparison.
    pub fn alpha_of_rare_runs(&self) -> f64 {
        let least = self.least_blocks.max(LEAST_BLOCKS) as f64;
        self.single_alpha() / (1.0 + (self.most_blocks as f64 / least).max(1.0).ln())
    }

    /// The e-value against either end of the margin that decides "equivalent". By symmetry half of
    /// the chance of reaching 10 lies on either side, so that each of the two one-sided tests has
    /// the level of the difference.
    fn threshold_of_equivalence(&self) -> f64 {
        self.threshold() / 2.0
    }
}

/// Whether to go on, and why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Run another block.
    Continue,
    /// The evidence reached its threshold: there is a difference.
    Different,
    /// The confidence sequence of equivalence lies within the margin, and so does what rare runs cost.
    Equivalent,
    /// The largest number of blocks is reached undecided.
    Exhausted,
}

/// One comparison after some block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Blocks so far.
    pub blocks: usize,
    /// The evidence against "no change": an e-value.
    pub e: f64,
    /// The confidence sequence, where it is finite yet.
    pub interval: Option<ConfidenceInterval>,
    /// What follows.
    pub decision: Decision,
    /// The rare runs that keep sides whose typical runs are equal from being called so.
    pub rare: Option<Rare>,
}

impl State {
    /// Why a campaign of these two stopped (or goes on), in words.
    pub fn reason(&self, rule: &Rule, (baseline, variant): (&str, &str)) -> String {
        let blocks = plural(self.blocks, "block");
        let margin = crate::effect::percent(rule.margin * 100.0);
        let rare = self.rare.as_ref();
        let rare = rare.and_then(|own| rare::in_words(own, rule.margin, (baseline, variant)));
        let but = rare.map_or_else(String::new, |rare| {
            format!(": typical runs are equal within ±{margin}, but {rare}")
        });
        match self.decision {
            Decision::Continue => format!("undecided after {blocks}{but}"),
            Decision::Different => {
                format!(
                    "different: e-value {:.0} reached {:.0} after {blocks}",
                    self.e,
                    rule.threshold()
                )
            }
            Decision::Equivalent => {
                format!("equivalent: the confidence sequence lies within ±{margin} after {blocks}")
            }
            Decision::Exhausted => {
                format!("undecided after the largest number of blocks, {}{but}", self.blocks)
            }
        }
    }
}

/// Looks at the log speed ratios of all blocks so far (see [`paired::log_gains`]) and decides.
///
/// What was called different at an earlier look stays so: evidence is the largest of all looks
/// from the rule's first. Ratios show neither how coarsely their figures are rounded nor the rare runs
/// of either side: where the figures are at hand, [`look_at`] decides as the verdict will.
pub fn look(gains: &[f64], rule: &Rule) -> State {
    look_with(gains, Rounding::default(), rule, Beside::default)
}

/// As [`look`], at the figures of all blocks so far: the decision is that of [`crate::Verdict::judge`] on
/// [`compare`] of the same blocks.
///
/// # Errors
/// [`Error::NotPositive`] for a figure without a logarithm.
pub fn look_at(blocks: &[Block], direction: Direction, rule: &Rule) -> Result<State, Error> {
    let gains = paired::log_gains(blocks, direction)?;
    let rounding = Rounding::of(&gains, paired::resolution(blocks));
    Ok(look_with(&gains, rounding, rule, || Beside::of(blocks, direction, rule)))
}

/// As [`look_at`], beside blocks that lost a trial, which count against whatever is decided.
///
/// # Errors
/// As [`look_at`].
pub fn look_beside(
    blocks: &[Block],
    lost: &[Lost],
    direction: Direction,
    rule: &Rule,
) -> Result<State, Error> {
    let state = look_at(blocks, direction, rule)?;
    if lost.is_empty() || matches!(state.decision, Decision::Continue | Decision::Exhausted) {
        return Ok(state);
    }
    let own = compare_beside(blocks, lost, direction, rule)?;
    let is_within = own.interval90.is_within(rule.margin);
    let is_rare_clear = own.rare.is_none_or(|rare| !rare.is_unclear(rule.margin));
    let excludes_no_change = own.interval95.excludes_no_change();
    let decision =
        decision(Proven::of(is_within, is_rare_clear, excludes_no_change), blocks.len(), rule);
    Ok(State { decision, rare: own.rare.filter(|_| is_within && !is_rare_clear), ..state })
}

fn look_with(gains: &[f64], rounding: Rounding, rule: &Rule, beside: impl Fn() -> Beside) -> State {
    let evidence = Evidence::new(gains, rule.least_blocks, rounding);
    let interval = evidence.interval(rule.threshold());
    let interval = interval
        .map(|(low, high)| ConfidenceInterval::of_ln(low, high).widened(rounding.allowance));
    let blocks = gains.len();
    let against = evidence.last(rule.margin);
    let (decision, rare) = decide(blocks, against, rule, beside);
    State { blocks, e: against.no_change, interval, decision, rare }
}

/// What keeps sides from being equivalent whose ratios have their centre within the margin.
#[derive(Default)]
struct Beside {
    /// The mean of typical ratios may lie beyond the margin.
    is_skewed: bool,
    /// The rare runs whose cost may exceed it.
    rare: Option<Rare>,
}

impl Beside {
    fn of(blocks: &[Block], direction: Direction, rule: &Rule) -> Self {
        let rare = paired::rare(blocks, direction, rule.alpha_of_rare_runs());
        Self {
            is_skewed: rare.typical.is_some_and(|mean| !mean.is_within(rule.margin)),
            rare: Some(rare).filter(|rare| rare.is_unclear(rule.margin)),
        }
    }
}

/// What the evidence against "no change" and both ends of the margin says, and the rare runs that keep
/// it from saying "equivalent"; what stands beside it is asked for only where the centre is equal.
fn decide(
    blocks: usize,
    against: Against,
    rule: &Rule,
    beside: impl Fn() -> Beside,
) -> (Decision, Option<Rare>) {
    if blocks < rule.least_blocks {
        return (Decision::Continue, None);
    }
    let is_centred = against.beyond_margin >= rule.threshold_of_equivalence();
    let Beside { is_skewed, rare } = if is_centred { beside() } else { Beside::default() };
    let is_within = is_centred && !is_skewed;
    let excludes_no_change = against.no_change >= rule.threshold();
    let proven = Proven::of(is_within, rare.is_none(), excludes_no_change);
    (decision(proven, blocks, rule), rare.filter(|_| is_within))
}

fn decision(proven: Proven, blocks: usize, rule: &Rule) -> Decision {
    match proven {
        Proven::Equivalence => Decision::Equivalent,
        Proven::Difference => Decision::Different,
        Proven::Nothing if blocks >= rule.most_blocks => Decision::Exhausted,
        Proven::Nothing => Decision::Continue,
    }
}

/// The first state, block by block, that is decided, or the last one.
pub fn first_decision(gains: &[f64], rule: &Rule) -> State {
    let evidence = Evidence::new(gains, rule.least_blocks, Rounding::default());
    let decided = evidence.after_each(rule.margin).into_iter().find(|(blocks, against)| {
        decide(*blocks, *against, rule, Beside::default).0 != Decision::Continue
    });
    look(&gains[..decided.map_or(gains.len(), |(blocks, _)| blocks)], rule)
}

/// As [`first_decision`], of the figures themselves: the first state that [`look_at`] decides.
///
/// # Errors
/// [`Error::NotPositive`] for a figure without a logarithm.
pub fn first_decision_at(
    blocks: &[Block],
    direction: Direction,
    rule: &Rule,
) -> Result<State, Error> {
    let gains = paired::log_gains(blocks, direction)?;
    for n in rule.least_blocks..gains.len() {
        let rounding = Rounding::of(&gains[..n], paired::resolution(&blocks[..n]));
        let evidence = Evidence::new(&gains[..n], rule.least_blocks, rounding);
        let beside = || Beside::of(&blocks[..n], direction, rule);
        if decide(n, evidence.last(rule.margin), rule, beside).0 != Decision::Continue {
            return look_at(&blocks[..n], direction, rule);
        }
    }
    look_at(blocks, direction, rule)
}

/// The fewest blocks that a sequential comparison takes, and the most that one looks at to say how
/// many are needed.
const LEAST_BLOCKS: usize = 3;
const MOST_BLOCKS: usize = 1000;

/// The comparison of a campaign that stopped by this rule. Its intervals are confidence sequences:
/// they hold whenever one looks, and they leave out "no change" exactly when the evidence reached
/// the threshold, so that they are wider than those of a planned number of blocks.
///
/// # Errors
/// As [`paired::compare`], with three blocks at least.
pub fn compare(blocks: &[Block], direction: Direction, rule: &Rule) -> Result<Comparison, Error> {
    let gains = paired::log_gains(blocks, direction)?;
    let n = gains.len();
    let rounding = Rounding::of(&gains, paired::resolution(blocks));
    let evidence = Evidence::new(&gains, rule.least_blocks.max(LEAST_BLOCKS), rounding);
    let threshold = rule.threshold();
    let wide = evidence.interval(threshold);
    let narrow = evidence.interval(rule.threshold_of_equivalence());
    let Some((wide, narrow)) = wide.zip(narrow).filter(|_| n >= LEAST_BLOCKS) else {
        let is_enough = |n: &usize| evidence::most(*n) >= threshold.ln();
        let least = LEAST_BLOCKS.max(n + 1);
        let need = (least..=MOST_BLOCKS).find(is_enough).unwrap_or(MOST_BLOCKS);
        return Err(Error::TooFew { what: "a sequential comparison", got: n, need });
    };
    let estimate = Effect::from_ln(evidence.centre());
    let interval = |(low, high)| {
        ConfidenceInterval::of_ln(low, high).with(estimate).widened(rounding.allowance)
    };
    let comparison = paired::settled(Comparison {
        method: Method::Sequential,
        n: Counts { baseline: n, variant: n },
        estimand: Estimand::BalancedCentre,
        estimate,
        median: Effect::from_ln(dataset::median(&gains)),
        mean: Effect::from_ln(dataset::mean(&gains)),
        confidence: Confidence::with_alpha(rule.alpha),
        interval95: interval(wide),
        interval90: interval(narrow),
        p: (rule.comparisons.max(1) as f64 / evidence.last(rule.margin).no_change).min(1.0),
        sd_of_difference: dataset::sd(&gains),
        correction: (rule.comparisons > 1)
            .then_some(Correction { kind: Kind::Bonferroni, among: rule.comparisons }),
        rare: None,
        agreement: None,
        rounding: rounding.allowance,
    });
    let rare = paired::rare(blocks, direction, rule.alpha_of_rare_runs());
    Ok(paired::with_runs(comparison, &gains, rare))
}

/// As [`compare`], beside blocks that lost a trial, which count against whatever it says.
///
/// # Errors
/// As [`compare`].
pub fn compare_beside(
    blocks: &[Block],
    lost: &[Lost],
    direction: Direction,
    rule: &Rule,
) -> Result<Comparison, Error> {
    let own = compare(blocks, direction, rule)?;
    if lost.is_empty() {
        return Ok(own);
    }
    let all = compare(&lost::filled_blocks(blocks, lost, direction)?, direction, rule)?;
    Ok(lost::of_both(own, &all, lost::counts(lost)))
}

#[cfg(test)]
mod tests;
