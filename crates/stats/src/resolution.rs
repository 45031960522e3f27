//! The step in which figures are rounded, seen in the figures themselves.
//!
//! Five runs of exactly 5 beside five of exactly 6 have no spread, but that is the rounding's
//! doing: each may be anything within half a step. Zero spread is no proof. Rounding a value that
//! scatters by half a step or more adds no bias, only step^2 / 12 to the variance (Sheppard 1898;
//! Widrow and Kollar, "Quantization Noise", 2008); a value that scatters less keeps its rounding
//! error however often it is measured.

/// The rounding step of values, as a fraction of them; 0 when they show none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolution(f64);

/// Share of values that equal another one from which they count as rounded.
const TIED_SHARE: f64 = 0.25;

impl Resolution {
    /// No rounding to be seen.
    pub const FINE: Self = Self(0.0);

    /// Of positive values, of both sides together: the smallest gap between two values when many
    /// are equal; the last decimal place when there is but one value.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().copied().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (count, middle) = (sorted.len(), sorted.get(sorted.len() / 2).copied().unwrap_or(1.0));
        sorted.dedup();
        if sorted.is_empty() || ((count - sorted.len()) as f64) < TIED_SHARE * count as f64 {
            return Self::FINE;
        }
        let step = sorted
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .reduce(f64::min)
            .unwrap_or_else(|| last_place(middle));
        Self((step / middle).min(1.0))
    }

    /// Least standard deviation of one side's log values: that of a value between two steps.
    pub fn least_sd(self) -> f64 {
        self.0 / 2.0
    }

    /// Least standard deviation of log differences within blocks.
    pub fn least_sd_of_difference(self) -> f64 {
        self.0 / std::f64::consts::SQRT_2
    }

    /// Whether log differences scatter by less than rounding alone may hide: that all of them have the
    /// same sign is no evidence then, however many there are.
    pub fn hides(self, sd: f64) -> bool {
        sd < self.least_sd_of_difference()
    }

    /// How far rounding may have moved a log difference for good, when its values scatter by `sd`:
    /// half a step on either side when they scatter less than that, half of it otherwise (a median
    /// of rounded values lies on the grid).
    pub fn allowance(self, sd: f64) -> f64 {
        if self.hides(sd) { self.0 } else { self.0 / 2.0 }
    }
}

/// The place of the last decimal digit of a value: 1 for whole numbers, 0.01 for 5.25.
fn last_place(value: f64) -> f64 {
    let text = format!("{value}");
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    10f64.powi(-(decimals.min(300) as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_show_their_step() {
        assert_eq!(Resolution::of(&[5.0, 5.0, 6.0, 6.0]), Resolution(1.0 / 6.0));
        assert_eq!(Resolution::of(&[5.0; 4]), Resolution(0.2));
        assert_eq!(Resolution::of(&[0.25; 4]), Resolution(0.04));
    }

    #[test]
    fn values_that_all_differ_show_none() {
        assert_eq!(Resolution::of(&[4.8, 4.81, 4.83, 7.6]), Resolution::FINE);
        assert_eq!(Resolution::of(&[]), Resolution::FINE);
        assert_eq!(
            Resolution::of(&[1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
            Resolution::FINE
        );
    }
}
