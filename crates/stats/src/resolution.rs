//! The step in which figures are rounded, seen in the figures themselves.
//!
//! Five runs of exactly 5 beside five of exactly 6 have no spread, but that is the rounding's
//! doing: each may be anything within half a step. Zero spread is no proof. Rounding a value that
//! scatters by half a step or more adds no bias, only step^2 / 12 to the variance (Sheppard 1898;
//! Widrow and Kollar, "Quantization Noise", 2008); a value that scatters less keeps its rounding
//! error however often it is measured.

/// The rounding step of values, as a fraction of the least of them that stands there twice; 0 when they show none.
///
/// The least, as a step is most of it: half a step on either side of 5 and of 6 is a ratio of 5.5 to 5.5, which is
/// ln 1.2 from 6 to 5, and no number of runs may make that a difference. (A stray run stands alone.)
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolution(f64);

/// Share of values that equal another one from which they count as rounded.
const TIED_SHARE: f64 = 0.25;

/// Chance of a common divisor up to which it is taken for the step of rounding.
const MOST_CHANCE: f64 = 0.05;

impl Resolution {
    /// No rounding to be seen.
    pub const FINE: Self = Self(0.0);

    /// Of positive values, of both sides together, when many are equal: the place of the last digit that is
    /// not 0 in all of them, or a larger step of which they are multiples where that is no chance; the last
    /// decimal place when there is but one value.
    ///
    /// Rounding makes multiples of its step. Boots that count the same instructions to the last one,
    /// 2480.37 a frame beside 2570.11, are equal too, but no step of 89.74 made 2480.37; and 6, 9 and 12 are
    /// multiples of 3 as one in sixteen of three numbers are of 3 or more.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().copied().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let count = sorted.len();
        let Some(least) = sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
        else {
            return Self::FINE;
        };
        sorted.dedup();
        if ((count - sorted.len()) as f64) < TIED_SHARE * count as f64 {
            return Self::FINE;
        }
        let step = if sorted.len() == 1 { place(decimals(least)) } else { common_step(&sorted) };
        Self((step / least).min(1.0))
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

/// The largest step that all values show, in the decimals that they are written with: 0 beyond what whole
/// numbers hold.
fn common_step(values: &[f64]) -> f64 {
    let places = values.iter().map(|value| decimals(*value)).max().unwrap_or(0);
    let units = values.iter().map(|value| units(*value, places));
    let common = units.reduce(|a, b| Some(greatest_divisor(a?, b?))).flatten();
    common.map_or(0.0, |common| {
        let written = written(common);
        let rest = common / written;
        let factor = if chance(rest, values.len()) <= MOST_CHANCE { rest } else { 1 };
        (written * factor) as f64 * place(places)
    })
}

/// The largest power of ten that divides a number: so much of it is how figures are written.
fn written(number: u128) -> u128 {
    let powers = std::iter::successors(Some(1u128), |power| power.checked_mul(10));
    powers.take_while(|power| *power <= number && number.is_multiple_of(*power)).last().unwrap_or(1)
}

/// The chance that the greatest common divisor of so many numbers, whatever they are, is this one or a larger
/// one: it is d with a chance of d^-count, divided by the sum of all these (Cesaro 1885).
fn chance(divisor: u128, count: usize) -> f64 {
    /// What lies beyond is an integral.
    const SUMMED: u32 = 1_000;
    let power = i32::try_from(count).unwrap_or(i32::MAX).max(2);
    let from = |least: u32| -> f64 {
        let end = least.max(SUMMED);
        let near: f64 = (least..end).map(|d| f64::from(d).powi(-power)).sum();
        near + (f64::from(end) - 0.5).powi(1 - power) / f64::from(power - 1)
    };
    u32::try_from(divisor).map_or(0.0, |divisor| from(divisor.max(1)) / from(1))
}

/// A value in units of its last decimal place.
fn units(value: f64, places: usize) -> Option<u128> {
    format!("{value:.places$}").replace('.', "").parse().ok()
}

/// Euclid's algorithm.
fn greatest_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

/// Decimal places of a value: 0 for whole numbers, 2 for 5.25.
fn decimals(value: f64) -> usize {
    format!("{value}").split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// The unit of a decimal place.
fn place(decimals: usize) -> f64 {
    10f64.powi(-(decimals.min(300) as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_show_their_step() {
        assert_eq!(Resolution::of(&[5.0, 5.0, 6.0, 6.0]), Resolution(0.2));
        assert_eq!(Resolution::of(&[1.0, 5.0, 5.0, 6.0, 6.0, 6.0, 6.0]), Resolution(0.2));
        assert_eq!(Resolution::of(&[5.0; 4]), Resolution(0.2));
        assert_eq!(Resolution::of(&[0.25; 4]), Resolution(0.04));
    }

    #[test]
    fn a_step_is_one_of_which_all_values_are_multiples() {
        let near = |values: &[f64], step: f64| {
            let Resolution(found) = Resolution::of(values);
            let least = values[0];
            assert!((found * least / step - 1.0).abs() < 1e-6, "{values:?}: {}", found * least);
        };
        near(&[5.0, 5.0, 9.0, 9.0], 1.0);
        near(&[50.0, 50.0, 90.0, 90.0], 10.0);
        near(&[0.3, 0.3, 0.9, 0.9], 0.1);
        near(&[1_488_095.2, 1_488_095.2, 1_488_095.5, 1_488_095.5], 0.1);
        // Counts to the last instruction, the same in every boot.
        let Resolution(fine) = Resolution::of(&[[2_480.370_123; 4], [2_570.112_457; 4]].concat());
        assert!(fine < 1e-6, "{fine}");
        // The ends of what a double holds.
        for value in [f64::MAX, f64::MIN_POSITIVE, 5e-324] {
            let Resolution(step) = Resolution::of(&[value, value, 5.0, 5.0]);
            assert!((0.0..=1.0).contains(&step), "{value}: {step}");
        }
    }

    /// Counts of 6, 9 and 12 were rounded to 3, those of two kernels to the half million by which they differ.
    #[test]
    fn a_divisor_that_chance_explains_is_no_step() {
        let step = |values: &[f64]| {
            let twice: Vec<f64> = values.iter().flat_map(|value| [*value; 2]).collect();
            let Resolution(found) = Resolution::of(&twice);
            (found * values.iter().copied().fold(f64::INFINITY, f64::min)).round()
        };
        assert_eq!(step(&[6.0, 9.0, 12.0]), 1.0);
        assert_eq!(step(&[2e6, 2.5e6]), 1e5);
        assert_eq!(step(&[5_000.0, 6_000.0]), 1_000.0);
        // Ticks of 40 ns are one: two figures may share that by chance, and five do not.
        assert_eq!(step(&[40.0, 80.0]), 10.0);
        assert_eq!(step(&[360.0, 400.0, 440.0, 480.0, 520.0]), 40.0);
        assert_eq!(step(&[360.0, 400.0, 440.0]), 40.0);
        assert_eq!(step(&[125.0, 250.0]), 125.0);
        assert_eq!(step(&[1.0, 1e15]), 1.0);
        assert_eq!([written(0), written(250), written(10u128.pow(38))], [1, 10, 10u128.pow(38)]);
        // 1 - 6 / pi^2 of two numbers have a common divisor.
        assert!((chance(2, 2) - 0.3921).abs() < 1e-4 && (chance(3, 3) - 0.0641).abs() < 1e-4);
        assert!(chance(12, 2) > MOST_CHANCE && chance(13, 2) < MOST_CHANCE);
        assert!(chance(1, 2) == 1.0 && chance(u128::MAX, 9) == 0.0);
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
