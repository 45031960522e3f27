//! From values to places on the page, and where the ticks go.

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
    fn decimals_follow_the_step() {
        assert_eq!(decimals(0.5), 1);
        assert_eq!(decimals(0.02), 2);
        assert_eq!(decimals(20.0), 0);
    }
}
