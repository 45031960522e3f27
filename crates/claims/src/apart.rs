//! How far two figures lie apart in their unit: what a percentage of next to nothing, or of a time, cannot say.
//!
//! A device that recovers in 10 us where the other needs 4 ms is better by 39900 %, and one that loses
//! nothing by any percentage. The rule, for figures that may be next to nothing (bursts, times without loss,
//! sessions through a full table, what a byte costs beside what it costs past the device): where the estimate, or an end of its interval, is more than
//! ten times as much or as little ([`Effect::is_far`]), the difference is said in the figure's unit, from the baseline's
//! median. So is every difference of times that are better when they are shorter: effects are ratios of
//! speeds, and 13 ms against 64 ms, which is 384 % longer, is a speed less by 79 %. Rates and costs, which are
//! never next to nothing, stay percentages, and ratios (`x12.0`) beyond ten times.

use fwdlab_results::{Measure, Metric, units};
use fwdlab_stats::{Comparison, Direction, Effect};
use serde::Serialize;

/// A difference of more than so many times the baseline is of no figures, but of an interval that hardly has an end.
const MOST_READ: f64 = 1e6;

/// A difference in the unit of its figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Apart {
    /// The unit of the other values.
    pub unit: &'static str,
    /// The median of the baseline's runs.
    pub baseline: f64,
    /// What the variant has more; negative where it has less. At most a million times the baseline.
    pub change: f64,
    /// The interval of that, at the comparison's confidence.
    pub interval: [f64; 2],
    #[serde(skip)]
    direction: Direction,
    /// More than this the figure cannot be.
    #[serde(skip)]
    most: f64,
}

impl Apart {
    /// Of a comparison, from the figures of the baseline's runs; `None` where a percentage says it.
    pub fn of(comparison: &Comparison, baseline: &[f64], metric: Metric) -> Option<Self> {
        let interval = comparison.interval95;
        let all = [comparison.estimate, interval.low, interval.high];
        let may_be_nothing = matches!(
            metric,
            Metric::Own(
                Measure::Recovery
                    | Measure::Reset
                    | Measure::Convergence
                    | Measure::Soak
                    | Measure::BackToBack
                    | Measure::FullTable
                    | Measure::ByteCost
            )
        );
        let is_far = || all.into_iter().any(Effect::is_far);
        if baseline.is_empty() || !(is_time(metric) || (may_be_nothing && is_far())) {
            return None;
        }
        let baseline = fwdlab_stats::median(baseline);
        let (unit, direction) = (metric.unit(), metric.direction());
        let none = Self {
            unit,
            baseline,
            change: 0.0,
            interval: [0.0; 2],
            direction,
            most: f64::INFINITY,
        };
        Some(none.with(comparison))
    }

    /// Of a figure that can be no more than this: nothing is without loss for longer than it lasted.
    pub fn at_most(self, most: f64, comparison: &Comparison) -> Self {
        Self { most, ..self }.with(comparison)
    }

    fn with(self, comparison: &Comparison) -> Self {
        let interval = comparison.interval95;
        let change = self.more(comparison.estimate);
        Self { change, interval: self.between([interval.low, interval.high]), ..self }
    }

    /// What a ratio of speeds is more than the baseline.
    fn more(&self, effect: Effect) -> f64 {
        let times = match self.direction {
            Direction::HigherIsBetter => effect.ratio(),
            Direction::LowerIsBetter => 1.0 / effect.ratio(),
        };
        let more = self.baseline * (times.min(MOST_READ) - 1.0);
        more.min((self.most - self.baseline).max(0.0))
    }

    fn between(&self, ends: [Effect; 2]) -> [f64; 2] {
        let [low, high] = ends.map(|end| self.more(end));
        [low.min(high), low.max(high)]
    }

    /// What the variant has more or less: `-3.99 ms`.
    pub fn change(&self) -> String {
        self.signed(self.change)
    }

    /// Its interval: `[-3.99 ms, -3.98 ms]`.
    pub fn interval(&self) -> String {
        self.shown_between(self.interval)
    }

    /// Another interval of the same, of ratios of speeds.
    pub fn interval_of(&self, ends: [Effect; 2]) -> String {
        self.shown_between(self.between(ends))
    }

    fn shown_between(&self, ends: [f64; 2]) -> String {
        let [low, high] = ends.map(|end| self.signed(end));
        format!("[{low}, {high}]")
    }

    /// The same without signs, for a sentence that names the direction: `3.99 ms [3.98 ms, 3.99 ms] of
    /// 4.00 ms`.
    pub(crate) fn in_words(&self, level: &str) -> String {
        let [low, high] = self.interval;
        let [low, high] = if self.change < 0.0 { [-high, -low] } else { [low, high] };
        // An end on the other side of 0 keeps its sign.
        let show = |value: f64| if value < 0.0 { self.signed(value) } else { self.plain(value) };
        let (change, baseline) = (self.plain(self.change), self.plain(self.baseline));
        format!("{change} [{}, {}]{level} of {baseline}", show(low), show(high))
    }

    fn signed(&self, value: f64) -> String {
        let sign = if value < 0.0 { "-" } else { "+" };
        self.beyond(value).unwrap_or_else(|| format!("{sign}{}", self.shown(value)))
    }

    fn plain(&self, value: f64) -> String {
        self.beyond(value).unwrap_or_else(|| self.shown(value))
    }

    /// Where it was cut, so many times as much and not a difference, which would be read as the effect.
    fn beyond(&self, value: f64) -> Option<String> {
        let is_beyond = value >= self.baseline * (MOST_READ - 1.0);
        is_beyond.then(|| format!("above x{MOST_READ}"))
    }

    fn shown(&self, value: f64) -> String {
        units::figure(value.abs(), self.unit)
    }
}

/// Whether the figure is a time that is better when it is shorter.
pub const fn is_time(metric: Metric) -> bool {
    matches!(metric, Metric::Own(Measure::Recovery | Measure::Reset | Measure::Convergence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_stats::paired::{self, Block};

    const RECOVERY: Metric = Metric::Own(Measure::Recovery);
    const SOAK: Metric = Metric::Own(Measure::Soak);

    fn apart(metric: Metric, baseline: f64, variant: f64) -> Option<Apart> {
        let noise = |i: i32| 1.0 + 1e-3 * f64::from(i * 5 % 8);
        let blocks: Vec<Block> =
            (0..8).map(|i| Block::new(baseline * noise(i), variant * noise(i + 3))).collect();
        let comparison = paired::compare(&blocks, metric.direction()).unwrap();
        let base: Vec<f64> = blocks.iter().map(|block| block.baseline).collect();
        Apart::of(&comparison, &base, metric)
    }

    #[test]
    fn next_to_nothing_is_said_in_the_unit_and_all_else_in_per_cent() {
        let less = apart(RECOVERY, 4e-3, 1e-5).unwrap();
        assert_eq!(less.change(), "-4.00 ms");
        let said = less.in_words(", at 99 %");
        assert!(said.starts_with("4.00 ms [4.00 ms, ") && said.ends_with("], at 99 % of 4.01 ms"));
        let more = apart(RECOVERY, 1e-5, 4e-3).unwrap();
        assert!(more.change() == "+4.00 ms", "{more:?}");
        assert!(
            more.in_words("").starts_with("4.00 ms [4.00 ms, 4.02 ms] of "),
            "{}",
            more.in_words("")
        );
        assert_eq!(more.unit, "s");
        let longer = apart(SOAK, 0.5, 10.0).unwrap();
        assert!((longer.change - 9.5).abs() < 0.1 && longer.interval[0] > 9.0, "{longer:?}");
        // 13.25 ms against 64.14 ms were once "worse by 78.9 %": a time that is 4.8 times as long.
        let late = apart(Metric::Own(Measure::Convergence), 13.25e-3, 64.14e-3).unwrap();
        assert!(late.in_words("").starts_with("51.00 ms ["), "{}", late.in_words(""));
        assert!(late.change() == "+51.00 ms" && late.interval[0] > 50e-3, "{late:?}");
        let shorter = apart(RECOVERY, 4e-3, 3e-3).unwrap().change();
        assert!(shorter.starts_with("-1.0") || shorter.starts_with("-99"), "{shorter}");
        // A soak of a second is not without loss for a minute.
        let blocks = [Block::new(1.0, 1.0), Block::new(0.5, 1.0)];
        let few = paired::compare(&blocks, SOAK.direction()).unwrap();
        let wide = Apart::of(&few, &[1.0, 0.5], SOAK).unwrap();
        let cut = wide.clone().at_most(1.0, &few);
        assert!(wide.interval[1] > 1.0 && cut.interval[1] == 0.25, "{wide:?} {cut:?}");
        assert_eq!(apart(SOAK, 10.0, 2.0), None);
        // Frames and sessions cost something always.
        assert_eq!(apart(Metric::Own(Measure::Insertion), 10.0, 1000.0), None);
        assert_eq!(apart(Metric::Cost, 10.0, 1000.0), None);
        assert_eq!(apart(Metric::Rate, 1e5, 1e7), None);
    }

    /// 3.00 s against 971.6 us were once "worse by above 970.58 ms", which was a thousand times the baseline.
    #[test]
    fn a_difference_is_said_as_it_is_and_never_where_it_was_cut() {
        let own = apart(Metric::Own(Measure::Convergence), 971.6e-6, 3.0).unwrap();
        assert!(own.change() == "+3.00 s" || own.change() == "+3.01 s", "{own:?}");
        assert!(own.in_words("").starts_with("3.0"), "{}", own.in_words(""));
        let own = apart(RECOVERY, 1e-5, 100.0).unwrap();
        assert_eq!(own.change(), "above x1000000", "{own:?}");
        assert_eq!(own.interval(), "[above x1000000, above x1000000]");
    }
}
