//! The result of comparing a variant with its baseline, whatever the test behind it.

use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
pub use crate::agreement::LEAST_NAMED;
use crate::effect::Effect;
use crate::multiple::{Correction, Kind};
use crate::rare::Rare;

/// Whether more or less of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// A rate: frames per second.
    HigherIsBetter,
    /// A cost: nanoseconds per frame. Its effect is shown as the change in frames per busy second,
    /// baseline / variant - 1, so that a positive effect always means "faster".
    LowerIsBetter,
}

impl Direction {
    /// The natural logarithm of the speed ratio: positive when the variant is faster.
    pub fn log_gain(self, baseline: f64, variant: f64) -> f64 {
        let (over, under) = match self {
            Self::HigherIsBetter => (variant, baseline),
            Self::LowerIsBetter => (baseline, variant),
        };
        let ratio = over / under;
        // a quotient that overflows or loses digits still has a logarithm
        if ratio.is_normal() { ratio.ln() } else { over.ln() - under.ln() }
    }

    /// The logarithm of one side's speed, of which [`Self::log_gain`] is the difference.
    pub(crate) fn log_speed(self, value: f64) -> f64 {
        match self {
            Self::HigherIsBetter => value.ln(),
            Self::LowerIsBetter => -value.ln(),
        }
    }
}

/// A confidence interval of an [`Effect`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceInterval {
    /// Lower end.
    pub low: Effect,
    /// Upper end.
    pub high: Effect,
}

impl ConfidenceInterval {
    /// From a centre and a half-width on the log scale.
    pub fn around_ln(centre: f64, half_width: f64) -> Self {
        Self {
            low: Effect::from_ln(centre - half_width),
            high: Effect::from_ln(centre + half_width),
        }
    }

    /// From its two ends on the log scale, in any order.
    pub(crate) fn of_ln(a: f64, b: f64) -> Self {
        Self { low: Effect::from_ln(a.min(b)), high: Effect::from_ln(a.max(b)) }
    }

    /// The smallest interval that holds both.
    pub(crate) fn hull(self, other: Self) -> Self {
        let low = if other.low < self.low { other.low } else { self.low };
        let high = if other.high > self.high { other.high } else { self.high };
        Self { low, high }
    }

    /// The smallest interval that holds this one and an effect.
    pub(crate) fn with(self, effect: Effect) -> Self {
        self.hull(Self { low: effect, high: effect })
    }

    /// This interval, with "no change" inside if it was left out.
    pub(crate) fn with_no_change(self) -> Self {
        self.with(Effect(1.0))
    }

    /// This interval with `allowance` more at either end on the log scale. An end that left out
    /// "no change" goes on doing so: what widens it says nothing about the sign.
    pub(crate) fn widened(self, allowance: f64) -> Self {
        if allowance <= 0.0 {
            return self;
        }
        let wide = self.hull(Self::of_ln(self.low.ln() - allowance, self.high.ln() + allowance));
        Self {
            low: if self.low.0 > 1.0 { Effect(wide.low.0.max(LEAST_ABOVE)) } else { wide.low },
            high: if self.high.0 < 1.0 { Effect(wide.high.0.min(MOST_BELOW)) } else { wide.high },
        }
    }

    /// This interval, with "no change" moved just outside its nearer end: for a test that rejects
    /// it by less than the ends can tell.
    pub(crate) fn without_no_change(self, estimate: Effect) -> Self {
        if estimate.0 > 1.0 {
            Self { low: Effect(self.low.0.max(LEAST_ABOVE)), ..self }
        } else if estimate.0 < 1.0 {
            Self { high: Effect(self.high.0.min(MOST_BELOW)), ..self }
        } else {
            self
        }
    }

    /// Whether the interval leaves out "no change".
    pub fn excludes_no_change(&self) -> bool {
        self.low.ratio() > 1.0 || self.high.ratio() < 1.0
    }

    /// Whether the whole interval lies strictly within +-`margin` (a fraction: 0.01 for 1 %).
    pub fn is_within(&self, margin: f64) -> bool {
        self.low.ratio() > 1.0 - margin && self.high.ratio() < 1.0 + margin
    }

    /// Whether the interval covers an effect.
    pub fn covers(&self, effect: Effect) -> bool {
        self.low <= effect && effect <= self.high
    }
}

/// The neighbours of "no change" among the ratios.
const LEAST_ABOVE: f64 = 1.0 + f64::EPSILON;
const MOST_BELOW: f64 = 1.0 - f64::EPSILON / 2.0;

/// How sure a verdict has to be: the chance that a difference is not called where none is.
///
/// An error rate of 5 % is usual for a person who looks at one result. A gate that looks at every
/// change cries wolf with it; 99.9 % suits those.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Confidence(f64);

impl Confidence {
    /// 95 %.
    pub const USUAL: Self = Self(0.95);

    /// From a share: 0.999 for 99.9 %.
    ///
    /// # Errors
    /// [`Error::BadConfidence`](crate::Error::BadConfidence) for anything but a number from 0.8 to
    /// below 1: the interval of equivalence has twice the error, and less than 60 % is no proof.
    pub fn new(share: f64) -> Result<Self, crate::Error> {
        if (0.8..1.0).contains(&share) {
            Ok(Self(share))
        } else {
            Err(crate::Error::BadConfidence { share })
        }
    }

    /// As a share: 0.95.
    pub fn share(self) -> f64 {
        self.0
    }

    /// In per cent: 95.0.
    pub fn percent(self) -> f64 {
        self.0 * 100.0
    }

    /// The chance of a false difference: 0.05.
    pub fn alpha(self) -> f64 {
        // rounded, so that 1 - 0.95 is 0.05 and p = 0.05 counts as reaching it
        ((1.0 - self.0) * 1e12).round() / 1e12
    }

    /// The confidence of the interval for "equivalent", two one-sided tests at [`Self::alpha`]:
    /// 90 % for 95 %.
    pub fn of_equivalence(self) -> f64 {
        1.0 - 2.0 * self.alpha()
    }

    /// That of each of several questions that share this one (Bonferroni): the chance of any false
    /// difference stays as asked for.
    #[must_use]
    pub fn among(self, questions: usize) -> Self {
        Self::with_alpha(self.alpha() / questions.max(1) as f64)
    }

    /// The confidence with this chance of error.
    pub(crate) fn with_alpha(alpha: f64) -> Self {
        Self(1.0 - alpha)
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self::USUAL
    }
}

impl TryFrom<f64> for Confidence {
    type Error = crate::Error;

    fn try_from(share: f64) -> Result<Self, Self::Error> {
        Self::new(share)
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> Self {
        confidence.0
    }
}

/// What the quoted figure and its interval are estimates of. A sentence quotes one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimand {
    /// The centre of symmetry of the log ratios within blocks, estimated by Hodges and Lehmann's
    /// median of all means of two.
    #[default]
    CentreOfRatios,
    /// The geometric mean of the ratios within blocks.
    MeanOfRatios,
    /// The centre of symmetry of the log ratios within blocks, estimated by the shift at which the
    /// evidence for more and for less is the same.
    BalancedCentre,
    /// The shift between two groups of log values, estimated by Hodges and Lehmann's median of all
    /// differences.
    ShiftOfValues,
    /// The geometric mean of the campaigns' ratios.
    MeanOfCampaigns,
}

impl Estimand {
    /// The quoted figure in a few words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::CentreOfRatios => "Hodges-Lehmann centre of the ratios within blocks",
            Self::MeanOfRatios => "geometric mean of the ratios within blocks",
            Self::BalancedCentre => {
                "centre of the ratios within blocks, with equal evidence on either side"
            }
            Self::ShiftOfValues => "Hodges-Lehmann ratio of the two groups",
            Self::MeanOfCampaigns => "geometric mean of the campaigns' ratios",
        }
    }
}

/// How a comparison was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Paired t on log ratios within randomised blocks.
    Paired,
    /// Two-way model (variant + block) with Dunnett's correction for several variants.
    Dunnett,
    /// Paired t with Holm's correction for several variants whose variances differ.
    HolmPaired,
    /// Signed ranks of log ratios within randomised blocks.
    SignedRank,
    /// Signed ranks with Holm's correction for several variants.
    HolmSignedRank,
    /// Confidence sequence and e-process over blocks, valid at every look.
    Sequential,
    /// Welch's t on log values and Mann-Whitney, without blocks: a difference must pass both.
    Welch,
    /// The campaigns' means by t, with the variance between campaigns.
    Campaigns,
}

impl Method {
    /// The method in a few words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Paired => "paired t on log ratios within blocks",
            Self::Dunnett => "variant + block model on log values, Dunnett",
            Self::HolmPaired => "paired t on log ratios within blocks, Holm",
            Self::SignedRank => "signed ranks of log ratios within blocks",
            Self::HolmSignedRank => "signed ranks of log ratios within blocks, Holm",
            Self::Sequential => "e-process and confidence sequence over blocks",
            Self::Welch => "Welch's t on log values and Mann-Whitney, both, without blocks",
            Self::Campaigns => "means of campaigns, with the variance between campaigns",
        }
    }

    /// What more of would make it firmer, for so many of it.
    pub(crate) fn unit(self, count: u32) -> &'static str {
        match (self, count) {
            (Self::Welch, 1) => "run of each",
            (Self::Welch, _) => "runs of each",
            (Self::Campaigns, 1) => "campaign",
            (Self::Campaigns, _) => "campaigns",
            (_, 1) => "block",
            _ => "blocks",
        }
    }

    /// Whether the comparison rests on blocks.
    pub fn is_blocked(self) -> bool {
        self != Self::Welch
    }
}

/// How many values entered a comparison. Equal numbers, the number of blocks, when it is paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Values of the baseline.
    pub baseline: usize,
    /// Values of the variant.
    pub variant: usize,
}

/// A variant against its baseline: estimates, intervals and p, all of the speed ratio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// How it was made.
    pub method: Method,
    /// How many values entered.
    pub n: Counts,
    /// What `estimate` and both intervals are about.
    #[serde(default)]
    pub estimand: Estimand,
    /// The figure to quote; both intervals hold it.
    pub estimate: Effect,
    /// The median of the ratios within blocks (without blocks: the ratio of the medians).
    pub median: Effect,
    /// The geometric mean ratio.
    pub mean: Effect,
    /// How sure the verdict has to be: 95 % unless asked otherwise.
    #[serde(default)]
    pub confidence: Confidence,
    /// The interval at [`Self::level`], 95 % unless asked otherwise: it decides "faster" and "slower",
    /// and leaves out "no change" exactly when p is at most 1 - `confidence`.
    pub interval95: ConfidenceInterval,
    /// The interval at 1 - 2 (1 - `confidence`), 90 % unless asked otherwise: it decides
    /// "equivalent" (two one-sided tests). Wider than that where rare runs or lost trials leave more open,
    /// so that it may reach beyond [`Self::interval95`].
    pub interval90: ConfidenceInterval,
    /// Two-sided p of "no change", corrected where the method or `correction` says so.
    pub p: f64,
    /// Standard deviation of the log differences within blocks; without blocks, sqrt(s_b^2 + s_v^2).
    /// About 1.4 times the coefficient of variation of a single trial.
    pub sd_of_difference: f64,
    /// The correction for several comparisons, when one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<Correction>,
    /// Runs far from the typical one on either side; `None` when single runs were not handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rare: Option<Rare>,
    /// How far blocks agree, where their ratios take few values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
    /// How far the rounding of the figures may have moved the log difference for good: more of them do not make the
    /// intervals narrower than that on either side. 0 where they show none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub rounding: f64,
}

/// Whether there is no rounding to tell of.
#[allow(clippy::trivially_copy_pass_by_ref)] // what serde hands over
fn is_none(rounding: &f64) -> bool {
    *rounding == 0.0
}

impl Comparison {
    /// The confidence of `interval95`: that asked for, or the share of it where several questions
    /// divide it equally. (Holm's steps and Dunnett's intervals hold together at that asked for.)
    pub fn level(&self) -> Confidence {
        self.confidence.among(self.equal_shares())
    }

    /// The confidence of `interval90`. Traffics ask for equivalence one by one; a campaign that stops
    /// when decided shares its level for that, too.
    pub fn level_of_equivalence(&self) -> f64 {
        let among = if self.method == Method::Sequential { self.equal_shares() } else { 1 };
        self.confidence.among(among).of_equivalence()
    }

    /// Whether `interval95` is of another level than the usual one, which must then be named.
    pub fn is_unusual(&self) -> bool {
        (self.level().share() - Confidence::USUAL.share()).abs() > 1e-12
    }

    fn equal_shares(&self) -> usize {
        let equal = self.correction.filter(|own| own.kind == Kind::Bonferroni);
        equal.map_or(1, |own| own.among)
    }
}
