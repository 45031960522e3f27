//! From values to places on the page, and where the ticks go.

use fwdlab_stats::Effect;

/// A linear map from a range of values to a range of px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// Maps `low` to `start` and `high` to `end`. A range without extent is
    /// widened, so that a single value still has a place.
    pub fn new((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let widened = if high > low { high } else { low + low.abs().max(1.0) };
        Self { low, high: widened, start, end }
    }

    /// The place of a value in px.
    pub fn place(&self, value: f64) -> f64 {
        self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)
    }

    /// The values shown, lowest and highest.
    pub const fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

/// Changes in per cent on a scale of ratios: twice as much and half as much are equally far from no
/// change. What lies beyond the ends stands at the ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratios {
    scale: Scale,
}

impl Ratios {
    /// Maps logarithms of ratios to px.
    pub fn new(logarithms: (f64, f64), px: (f64, f64)) -> Self {
        Self { scale: Scale::new(logarithms, px) }
    }

    /// The logarithm of the ratio that a change in per cent is; a loss of everything is a small one.
    pub fn logarithm(percent: f64) -> f64 {
        const SMALLEST: f64 = 1e-9;
        (1.0 + percent / 100.0).max(SMALLEST).ln().min(-SMALLEST.ln())
    }

    /// The place of a change in px.
    pub fn place(&self, percent: f64) -> f64 {
        let (low, high) = self.scale.range();
        self.scale.place(Self::logarithm(percent).clamp(low, high))
    }

    /// Whether a change lies beyond one of the ends.
    pub fn is_beyond(&self, percent: f64) -> bool {
        let (low, high) = self.scale.range();
        !(low..=high).contains(&Self::logarithm(percent))
    }

    /// Changes to mark, no change first and then outwards, with their labels: evenly spread, where that
    /// leaves so many px between them.
    pub fn ticks(&self, apart: f64) -> Vec<(f64, String)> {
        const FACTORS: [f64; 3] = [1.0, 2.0, 5.0];
        /// Where the ends are farther apart than by this factor, ticks are factors themselves.
        const FAR: f64 = 4.0;
        let (low, high) = self.scale.range();
        let [from, to] = [low, high].map(|end| (end.exp() - 1.0) * 100.0);
        let mut values: Vec<f64> = if high - low > FAR.ln() {
            let powers = (-9..=9).map(|power| 10f64.powi(power));
            let ratios = powers.flat_map(|power| FACTORS.map(|factor| factor * power));
            ratios.map(|ratio| (ratio - 1.0) * 100.0).collect()
        } else {
            ticks(from, to, self.step(from, to, apart))
        };
        values.retain(|&value| !self.is_beyond(value));
        values.sort_by(|a, b| Self::logarithm(*a).abs().total_cmp(&Self::logarithm(*b).abs()));
        let digits = decimals(self.step(from, to, apart)).min(3);
        let label = |value: f64| {
            let ratio = 1.0 + value / 100.0;
            // As in sentences: beyond ten times it is a ratio. Marks are 1, 2 or 5 times a power of ten there.
            if Effect::from_ratio(ratio).is_far() {
                let digits = (-ratio.log10() - 1e-9).ceil().max(0.0) as usize;
                return format!("x{ratio:.digits$}");
            }
            let sign = if value > 0.0 { "+" } else { "" };
            format!("{sign}{:.digits$} %", value + 0.0)
        };
        values.into_iter().map(|value| (value, label(value))).collect()
    }

    /// The smallest round step between changes that keep `apart`.
    fn step(&self, from: f64, to: f64, apart: f64) -> f64 {
        let steps = (2..=6).rev().map(|count| step(to - from, count));
        let fits = |step: &f64| {
            let places: Vec<f64> = ticks(from, to, *step).iter().map(|v| self.place(*v)).collect();
            places.windows(2).all(|pair| pair[1] - pair[0] >= apart)
        };
        steps.clone().find(fits).unwrap_or_else(|| step(to - from, 6))
    }
}

/// Those of some labels that keep `apart` px from all before them.
pub fn thinned<T>(labels: Vec<T>, apart: f64, place: impl Fn(&T) -> f64) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for label in labels {
        if kept.iter().all(|other| (place(other) - place(&label)).abs() >= apart) {
            kept.push(label);
        }
    }
    kept
}

/// A round step of 1, 2 or 5 times a power of ten that divides `span` into
/// about `count` parts.
pub fn step(span: f64, count: usize) -> f64 {
    if span <= 0.0 || !span.is_finite() {
        return 1.0;
    }
    let rough = span / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let factor = match rough / power {
        f if f <= 1.0 => 1.0,
        f if f <= 2.0 => 2.0,
        f if f <= 5.0 => 5.0,
        _ => 10.0,
    };
    factor * power
}

/// The multiples of `step` from `low` to `high`, both included.
pub fn ticks(low: f64, high: f64, step: f64) -> Vec<f64> {
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|k| k as f64 * step).collect()
}

/// The decimals that tell two neighbouring ticks apart.
pub fn decimals(step: f64) -> usize {
    let digits = -step.log10().floor();
    if digits > 0.0 { digits as usize } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_numbers() {
        assert_eq!(step(10.0, 5), 2.0);
        assert_eq!(step(1.0, 6), 0.2);
        assert_eq!(step(7.3e6, 5), 2e6);
        assert_eq!(step(0.0, 5), 1.0);
    }

    #[test]
    fn ticks_include_both_ends() {
        assert_eq!(ticks(0.0, 1.0, 0.5), vec![0.0, 0.5, 1.0]);
        assert_eq!(ticks(-0.3, 0.3, 0.2), vec![-0.2, 0.0, 0.2]);
    }

    #[test]
    fn single_value_has_a_finite_place() {
        let scale = Scale::new((5.0, 5.0), (0.0, 100.0));
        assert!(scale.place(5.0).is_finite());
    }

    #[test]
    fn labels_of_ratios_keep_apart_and_begin_at_no_change() {
        for reach in [0.001, 0.02, 0.3, 1.0, 5.0, 15.0] {
            let x = Ratios::new((-reach, reach), (0.0, 360.0));
            assert!(x.ticks(0.0).iter().all(|(_, text)| text.len() < 12), "{:?}", x.ticks(0.0));
            let labels = thinned(x.ticks(62.0), 62.0, |(value, _)| x.place(*value));
            assert!(labels.len() >= 3, "{reach}: {labels:?}");
            assert!(
                labels[0].0.abs() < 1e-9 && labels[0].1.starts_with('0'),
                "{reach}: {labels:?}"
            );
            let mut texts: Vec<&String> = labels.iter().map(|(_, text)| text).collect();
            texts.sort();
            texts.dedup();
            assert_eq!(texts.len(), labels.len(), "{reach}: {labels:?}");
        }
    }

    /// -5, 0, +5 and +15 % stood there.
    #[test]
    fn small_changes_are_marked_evenly() {
        let x = Ratios::new(((0.92f64).ln(), (1.2f64).ln()), (190.0, 560.0));
        let labels = thinned(x.ticks(62.0), 62.0, |(value, _)| x.place(*value));
        let mut values: Vec<f64> = labels.iter().map(|(value, _)| *value).collect();
        values.sort_by(f64::total_cmp);
        assert_eq!(values, [0.0, 10.0, 20.0]);
    }

    #[test]
    fn decimals_follow_the_step() {
        assert_eq!(decimals(0.5), 1);
        assert_eq!(decimals(0.02), 2);
        assert_eq!(decimals(20.0), 0);
    }
}
