//! The figures of a trial.

use fwdlab_stats::Direction;

use super::{Measure, Tick, Trial};

/// A figure that a trial yields: all have the first two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Metric {
    /// Forwarding rate in frames/s; the tester can be what limits it.
    Rate,
    /// Device cost in busy nanoseconds per frame, measured by the device.
    Cost,
    /// The figure of a measure that has one of its own.
    Own(Measure),
}

impl Metric {
    /// `rate`, `cost`, or the measure's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Cost => "cost",
            Self::Own(measure) => measure.name(),
        }
    }

    /// The figure in words: `forwarding rate` or `device cost`.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Rate => "forwarding rate",
            Self::Cost => "device cost",
            Self::Own(measure) => measure.title(),
        }
    }

    /// The figure that somebody asks for, by its name, its unit or its words.
    pub fn named(text: &str) -> Option<Self> {
        let own = Measure::ALL.into_iter().filter(|own| own.is_benchmark()).map(Self::Own);
        // Of figures with one unit the first is meant.
        [Self::Rate, Self::Cost]
            .into_iter()
            .chain(own)
            .find(|own| [own.name(), own.unit(), own.title()].contains(&text))
    }

    /// The unit: `frames/s` or `ns/frame`.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Rate => "frames/s",
            Self::Cost => "ns/frame",
            Self::Own(measure) => measure.unit(),
        }
    }

    /// The unit where the device's clock counts in this.
    pub const fn unit_in(self, tick: Tick) -> &'static str {
        match self {
            Self::Cost => tick.each(),
            Self::Own(measure) => measure.unit_in(tick),
            Self::Rate => self.unit(),
        }
    }

    /// Which way the figure is better.
    pub const fn direction(self) -> Direction {
        match self {
            Self::Rate => Direction::HigherIsBetter,
            Self::Cost => Direction::LowerIsBetter,
            Self::Own(measure) => measure.direction(),
        }
    }

    /// The words for better and worse of speeds.
    pub const FASTER: [&'static str; 2] = ["faster", "slower"];
    /// Those of all other figures: a burst, or a time without frames, is not faster.
    pub const BETTER: [&'static str; 2] = ["better", "worse"];

    /// The words for better and worse.
    pub const fn words(self) -> [&'static str; 2] {
        match self {
            Self::Rate | Self::Cost => Self::FASTER,
            Self::Own(
                Measure::LossCurve
                | Measure::Insertion
                | Measure::Lookup
                | Measure::FullTable
                | Measure::Goodput
                | Measure::ByteCost,
            ) => Self::FASTER,
            Self::Own(_) => Self::BETTER,
        }
    }

    /// The figure that `trials` have of their own, if their measure has one.
    pub fn own<'t>(mut trials: impl Iterator<Item = &'t Trial>) -> Option<Self> {
        trials.find_map(|trial| Some(Self::Own(trial.measured.benchmark.as_ref()?.measure())))
    }

    /// The figure that decides between `trials`: that of their own measure, or else the rate when it is the
    /// device's own in all of them; as soon as the tester or the asked load
    /// bounded one, alone or together with the device, a rate cannot show what
    /// the device could do, and its cost decides. A device that reported no
    /// cost, or costs that were taken in different ways, leave only the rate.
    pub fn deciding<'t>(trials: impl Iterator<Item = &'t Trial>) -> Self {
        let (mut is_bounded, mut has_cost, mut all) = (false, true, Vec::new());
        for trial in trials {
            if let Some(benchmark) = &trial.measured.benchmark {
                return Self::Own(benchmark.measure());
            }
            is_bounded |= !trial.limited_by.is_device_alone();
            has_cost &= trial.cost_ns().is_some();
            all.push(trial);
        }
        let is_told = is_bounded && has_cost && Self::Cost.is_one_quantity(all);
        if is_told { Self::Cost } else { Self::Rate }
    }

    /// Whether the figures of these trials may be held against each other: costs that were taken in different ways
    /// are different quantities.
    pub fn is_one_quantity<'t>(self, trials: impl IntoIterator<Item = &'t Trial>) -> bool {
        let mut ways = trials.into_iter().map(|trial| trial.measured.busy_by);
        let first = ways.next();
        self != Self::Cost || ways.all(|way| Some(way) == first)
    }

    /// The figure of `trial`, in [`Metric::unit`]; `None` when the trial
    /// failed or yields none.
    pub fn of(self, trial: &Trial) -> Option<f64> {
        if !trial.is_ok() {
            return None;
        }
        match self {
            Self::Rate => trial.rate_pps,
            Self::Cost => trial.cost_ns(),
            Self::Own(measure) => {
                let own = trial.measured.benchmark.as_ref()?;
                own.figure().filter(|_| own.measure() == measure)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BusyBy, LimitedBy, examples};

    #[test]
    fn the_cost_decides_as_soon_as_the_rate_is_not_the_devices_alone() {
        let trials = |second: LimitedBy| {
            [examples::trial(0), Trial { limited_by: second, ..examples::trial(1) }]
        };
        assert_eq!(Metric::deciding(trials(LimitedBy::Device).iter()), Metric::Rate);
        for second in [LimitedBy::Generator, LimitedBy::Load, LimitedBy::Core] {
            assert_eq!(Metric::deciding(trials(second).iter()), Metric::Cost, "{second:?}");
        }
    }

    /// Time between stamps and ticks of all processors were one quantity, and the one 18 times as slow.
    #[test]
    fn costs_that_were_taken_in_two_ways_decide_nothing() {
        let of = |by: [Option<BusyBy>; 2]| {
            let all = by.map(|busy_by| {
                let mut trial = Trial { limited_by: LimitedBy::Load, ..examples::trial(0) };
                trial.measured.busy_by = busy_by;
                trial
            });
            Metric::deciding(all.iter())
        };
        let ticks = Some(BusyBy::Ticks);
        assert_eq!([of([ticks, ticks]), of([None, None])], [Metric::Cost; 2]);
        assert_eq!([of([ticks, None]), of([None, ticks])], [Metric::Rate; 2]);
        let is_one = |metric: Metric, by: [Option<BusyBy>; 2]| {
            let all = by.map(|busy_by| {
                let mut trial = examples::trial(0);
                trial.measured.busy_by = busy_by;
                trial
            });
            metric.is_one_quantity(&all)
        };
        assert!(is_one(Metric::Rate, [ticks, None]) && is_one(Metric::Cost, [ticks; 2]));
        assert!(!is_one(Metric::Cost, [ticks, None]) && !is_one(Metric::Cost, [None, ticks]));
    }

    #[test]
    fn a_figure_is_called_by_name_unit_or_words() {
        for metric in [Metric::Rate, Metric::Cost] {
            for text in [metric.name(), metric.unit(), metric.title()] {
                assert_eq!(Metric::named(text), Some(metric));
            }
        }
        assert_eq!(Metric::named("ns/op"), None);
    }
}
