//! The verdict on a comparison against a stated margin, and its sentence.

use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
use crate::comparison::{Comparison, ConfidenceInterval, Counts, Method};
use crate::distribution::normal_quantile;
use crate::effect::{Effect, ends, factor, percent, percent_interval};
use crate::paired::LEAST_NAMED;
use crate::rare;
use crate::validity::{Finding, Severity};

/// Most blocks that a forecast names; beyond it only "more than" is said.
const MOST_FORECAST: u32 = 9999;

/// What a comparison says, in the order in which it is decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// A validity check fails: nothing can be concluded.
    Invalid {
        /// The checks that failed, in words.
        why: Vec<String>,
    },
    /// The 90 % interval lies within the margin, and so does that of what rare runs cost: proven
    /// equal for all practical purposes.
    Equivalent,
    /// The 95 % interval lies above "no change".
    Faster {
        /// Whether the estimate is smaller than the margin.
        below_margin: bool,
    },
    /// The 95 % interval lies below "no change".
    Slower {
        /// Whether the estimate is smaller than the margin.
        below_margin: bool,
    },
    /// Neither a difference nor equivalence is proven.
    Inconclusive {
        /// About how many more blocks (without blocks: runs of each) would decide it.
        more_blocks: u32,
    },
}

/// What is proven, whoever asks: the verdict, or the rule that stops a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proven {
    Equivalence,
    Difference,
    Nothing,
}

impl Proven {
    /// Whether the narrow interval lies within the margin, what rare runs cost is known to do so, and
    /// the wide interval leaves out "no change": looked at in this order.
    pub fn of(is_within: bool, is_rare_clear: bool, excludes_no_change: bool) -> Self {
        match (is_within && is_rare_clear, excludes_no_change) {
            (true, _) => Self::Equivalence,
            (false, true) => Self::Difference,
            (false, false) => Self::Nothing,
        }
    }
}

/// What a sentence speaks about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Name of the variant.
    pub variant: &'a str,
    /// Name of the baseline.
    pub baseline: &'a str,
    /// The metric in words, e.g. `forwarding rate` or `device cost`.
    pub metric: &'a str,
}

impl Verdict {
    /// Judges a comparison against `margin` (a fraction: 0.01 for 1 %). `findings` may hold
    /// warnings too; only those of [`Severity::Invalid`] count, and [`Finding::FewCampaigns`], which
    /// leaves everything unproven.
    pub fn judge(comparison: &Comparison, margin: f64, findings: &[Finding]) -> Self {
        if let Some(invalid) = Self::invalid(findings) {
            return invalid;
        }
        let interval = &comparison.interval95;
        if findings.iter().any(|finding| matches!(finding, Finding::FewCampaigns { .. })) {
            return Self::Inconclusive { more_blocks: forecast(comparison, margin) };
        }
        let below_margin = (comparison.estimate.ratio() - 1.0).abs() < margin;
        let is_within = is_enough(comparison) && comparison.interval90.is_within(margin);
        let is_rare_clear = comparison.rare.is_none_or(|rare| !rare.is_unclear(margin));
        match Proven::of(is_within, is_rare_clear, interval.excludes_no_change()) {
            Proven::Equivalence => Self::Equivalent,
            Proven::Difference if interval.low.ratio() > 1.0 => Self::Faster { below_margin },
            Proven::Difference => Self::Slower { below_margin },
            Proven::Nothing => Self::Inconclusive { more_blocks: forecast(comparison, margin) },
        }
    }

    /// The invalid verdict when any finding demands it.
    pub fn invalid(findings: &[Finding]) -> Option<Self> {
        let why: Vec<String> = findings
            .iter()
            .filter(|f| f.severity() == Severity::Invalid)
            .map(Finding::to_string)
            .collect();
        (!why.is_empty()).then_some(Self::Invalid { why })
    }

    /// One word for tables: `invalid`, `equivalent`, `faster`, `slower` or `inconclusive`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid",
            Self::Equivalent => "equivalent",
            Self::Faster { .. } => "faster",
            Self::Slower { .. } => "slower",
            Self::Inconclusive { .. } => "inconclusive",
        }
    }

    /// The verdict as a sentence, every figure of which comes from `comparison` and `margin`.
    /// `comparison` may be absent only for an invalid verdict. No full stop at the end.
    pub fn sentence(
        &self,
        comparison: Option<&Comparison>,
        margin: f64,
        subject: Subject<'_>,
    ) -> String {
        let Subject { variant, baseline, metric } = subject;
        let margin_text = percent(margin * 100.0);
        match (self, comparison) {
            (Self::Invalid { why }, _) => {
                format!(
                    "invalid: {metric} of {variant} and {baseline} cannot be compared: {}",
                    why.join("; ")
                )
            }
            (Self::Equivalent, Some(c)) => format!(
                "{variant} is equivalent to {baseline} in {metric} within ±{margin_text} ({} interval {}{})",
                level(c.level_of_equivalence()),
                signed_interval(&c.interval90),
                agreeing(c, variant)
            ),
            (Self::Faster { below_margin }, Some(c)) => {
                let tail = margin_tail(*below_margin, &margin_text);
                let effect = effect_text(c, 1.0);
                let agreed = agreed(c, variant);
                format!("{variant} is faster than {baseline} by {effect} in {metric}{tail}{agreed}")
            }
            (Self::Slower { below_margin }, Some(c)) => {
                let tail = margin_tail(*below_margin, &margin_text);
                let effect = effect_text(c, -1.0);
                let agreed = agreed(c, variant);
                format!("{variant} is slower than {baseline} by {effect} in {metric}{tail}{agreed}")
            }
            (Self::Inconclusive { more_blocks }, Some(c)) => {
                if let Some(rare) = rare_part(c, margin, (baseline, variant)) {
                    return format!(
                        "inconclusive: typical runs of {variant} and {baseline} are equal within ±{margin_text} in \
                         {metric} ({} interval {}), but {rare}",
                        level(c.level_of_equivalence()),
                        signed_interval(&c.interval90)
                    );
                }
                let more = more(*more_blocks, c);
                let is_filled = c.rare.is_some_and(|rare| rare.failed() > 0);
                let filled =
                    if is_filled { ", FAILED trials taken for their side's worst" } else { "" };
                format!(
                    "inconclusive: {variant} is proven neither different from {baseline} nor equal within \
                     ±{margin_text} in {metric} ({} interval {}{filled}{}); {more}",
                    level(c.level().share()),
                    signed_interval(&c.interval95),
                    agreeing(c, variant)
                )
            }
            (verdict, None) => {
                format!(
                    "{} of {variant} against {baseline} in {metric}, margin {margin_text}",
                    verdict.word()
                )
            }
        }
    }
}

/// Whether there are as many blocks, or runs of a side, as prove anything: fewer name no winner, and two that
/// agree are no equality either.
fn is_enough(comparison: &Comparison) -> bool {
    let Counts { baseline, variant } = comparison.n;
    comparison.method == Method::Campaigns || baseline.min(variant) >= LEAST_NAMED
}

/// What keeps typical runs that are equal from being the whole.
fn rare_part(comparison: &Comparison, margin: f64, names: (&str, &str)) -> Option<String> {
    let rare = comparison.rare.filter(|_| comparison.interval90.is_within(margin))?;
    rare::in_words(&rare, margin, names)
}

/// How far blocks agree, where at least half of them do.
fn agreed(comparison: &Comparison, variant: &str) -> String {
    let said = comparison.agreement.filter(Agreement::is_said);
    let agreement = said.map(|own| own.in_words(variant));
    agreement.into_iter().map(|words| format!("; {words}")).collect()
}

/// How far blocks agree, where at least half of them do, and that they are too few: their interval holds "no
/// change" then, whatever they say.
fn agreeing(comparison: &Comparison, variant: &str) -> String {
    let few = (!is_enough(comparison)).then(|| {
        let least = LEAST_NAMED as u32;
        format!("fewer than {least} {} prove nothing", comparison.method.unit(least))
    });
    agreed(comparison, variant) + &few.map(|words| format!("; {words}")).unwrap_or_default()
}

/// `about 12 more blocks needed`.
fn more(blocks: u32, comparison: &Comparison) -> String {
    let unit = |count| comparison.method.unit(count);
    let agreement = comparison.agreement.filter(|_| blocks > MOST_FORECAST);
    // What half a step of the figures may hide, it hides from any number of them.
    let is_hidden = comparison.rounding > 0.0 && comparison.mean.ln().abs() <= comparison.rounding;
    match blocks {
        1 => format!("about 1 more {} needed", unit(1)),
        more if more > MOST_FORECAST && is_hidden => {
            format!("more {} would not decide it: the figures are too coarse", unit(more))
        }
        // It is no matter of their number.
        more if agreement.is_some() => match agreement.is_some_and(|own| own.is_complete()) {
            true => format!("more {} would not decide it: the figures are too coarse", unit(more)),
            false => format!(
                "more {} like these would not decide it: find out what differs between them",
                unit(more)
            ),
        },
        more if more > MOST_FORECAST => {
            format!("more than {MOST_FORECAST} more {} needed", unit(more))
        }
        more => format!("about {more} more {} needed", unit(more)),
    }
}

/// `95 %`, `99.9 %`; never 100 %, which no interval has.
fn level(share: f64) -> String {
    let wanted = (4..=12).map(|digits| format!("{:.digits$}", share * 100.0));
    let text = wanted.into_iter().find(|text| !text.starts_with("100"));
    let text = text.unwrap_or_else(|| "more than 99.999999999".to_owned());
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// How many more blocks (or runs of each) to detect a difference of `margin` with 80 % power, or
/// to prove equivalence of equal variants with 80 % power, whichever needs fewer; at least 1.
///
/// Normal theory with Guenther's correction for t: see `plan`.
fn forecast(comparison: &Comparison, margin: f64) -> u32 {
    let relative = comparison.sd_of_difference / margin.max(1e-9);
    let effect = comparison.mean.ln();
    let have = comparison.n.baseline.min(comparison.n.variant) as f64;
    let power = normal_quantile(0.80);
    // two or three that agree need not be rounded
    let is_few = have < LEAST_NAMED as f64;
    let rounding = if is_few { 0.0 } else { comparison.rounding };
    // the difference, at the size seen so far or at the margin, whichever is larger, less what rounding may have made
    // of it for good
    let size = (effect.abs().max(margin) - rounding) / margin;
    let difference = match size > 0.0 {
        true => ((normal_quantile(0.975) + power) * relative / size).powi(2) + 1.92,
        false => f64::INFINITY,
    };
    // what t finds in ratios that take few values, ranks may never find
    let difference =
        comparison.agreement.map_or(difference, |own| own.blocks_for_difference().max(difference));
    // equivalence, if the truth is where the estimate is
    let room = 1.0 - (effect.abs() + rounding) / margin;
    let equivalence = if room > 0.0 {
        ((normal_quantile(0.95) + power) * relative / room).powi(2) + 1.35
    } else {
        f64::INFINITY
    };
    // figures that are the same in all of them are known no better by more of them
    let is_coarse = !is_few
        && comparison.agreement.is_some_and(|own| own.is_complete())
        && !comparison.interval90.is_within(margin);
    if is_coarse {
        return MOST_FORECAST + 1;
    }
    let more = (difference.min(equivalence).max(LEAST_NAMED as f64) - have).ceil();
    more.clamp(1.0, f64::from(MOST_FORECAST) + 1.0) as u32
}

fn margin_tail(below_margin: bool, margin: &str) -> String {
    if below_margin {
        format!(", below the margin of {margin}")
    } else {
        format!(" (margin {margin})")
    }
}

/// `0.44 % [0.31 %, 0.57 %]`, turned round for `sign` -1 so that "slower by" has its interval positive;
/// with its level where that is not 95 %. Where no digit shown leaves anything open, as of instructions
/// that were counted: `exactly 0.44 %`. Beyond ten times: `a factor of 790 [650, 900]`.
fn effect_text(comparison: &Comparison, sign: f64) -> String {
    let interval = comparison.interval95;
    let named = match comparison.is_unusual() {
        true => format!(" ({} interval)", level(comparison.level().share())),
        false => String::new(),
    };
    if [comparison.estimate, interval.low, interval.high].into_iter().any(Effect::is_far) {
        return match sign < 0.0 {
            true => {
                let turned = [interval.high, interval.low].map(Effect::turned);
                factor(comparison.estimate.turned(), turned, &named)
            }
            false => factor(comparison.estimate, [interval.low, interval.high], &named),
        };
    }
    let effect = percent(comparison.estimate.percent().abs());
    let (a, b) = (sign * interval.low.percent(), sign * interval.high.percent());
    let [low, high] = ends([a.min(b), a.max(b)], false);
    if low == effect && high == effect {
        return format!("exactly {effect}");
    }
    format!("{effect} [{low}, {high}]{named}")
}

fn signed_interval(interval: &ConfidenceInterval) -> String {
    percent_interval(interval.low.percent(), interval.high.percent())
}

#[cfg(test)]
mod tests;
