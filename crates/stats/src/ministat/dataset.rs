//! One data set and its vitals.

use super::cformat::{general, pad_left};
use super::{Error, MIN_VALUES, Version};

/// Values under one legend, in the order of input and sorted.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    legend: Vec<u8>,
    sorted: Vec<f64>,
    sums: Sums,
}

/// Sums in input order, on which the last digits of the vitals depend.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Sums {
    values: f64,
    squares: f64,
}

/// What the table shows of a set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Vitals {
    pub(super) count: usize,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) median: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Dataset {
    /// Takes a legend (a file's name, in bytes as the system gives it) and at least three values.
    ///
    /// # Errors
    /// [`Error::TooFewValues`] and [`Error::NotFinite`].
    pub fn new(legend: impl Into<Vec<u8>>, mut values: Vec<f64>) -> Result<Self, Error> {
        let legend = legend.into();
        let name = || String::from_utf8_lossy(&legend).into_owned();
        if values.len() < MIN_VALUES {
            return Err(Error::TooFewValues { legend: name() });
        }
        let mut sums = Sums::default();
        for value in &values {
            sums.values += value;
            sums.squares += value * value;
        }
        if let Some(i) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::NotFinite { legend: name(), position: i + 1 });
        }
        sort(&mut values);
        Ok(Self { legend, sorted: values, sums })
    }

    pub(super) fn legend(&self) -> &[u8] {
        &self.legend
    }

    /// The values in ascending order.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    pub(super) fn vitals(&self, version: Version) -> Vitals {
        let n = self.sorted.len();
        let mean = self.sums.values / n as f64;
        Vitals {
            count: n,
            min: self.sorted[0],
            max: self.sorted[n - 1],
            median: self.median(version),
            mean,
            variance: self.variance(version, mean),
        }
    }

    fn median(&self, version: Version) -> f64 {
        let n = self.sorted.len();
        let upper = self.sorted[n / 2];
        match version {
            Version::Compat2015 => upper,
            _ if n.is_multiple_of(2) => (self.sorted[n / 2 - 1] + upper) / 2.0,
            _ => upper,
        }
    }

    fn variance(&self, version: Version, mean: f64) -> f64 {
        let n = self.sorted.len() as f64;
        match version {
            Version::Compat2015 => {
                (self.sums.squares - self.sums.values * self.sums.values / n) / (n - 1.0)
            }
            Version::V3 | Version::Compat2016 => {
                self.sorted.iter().fold(0.0, |sum, value| sum + (value - mean) * (value - mean))
                    / (n - 1.0)
            }
        }
    }
}

/// Ascending; zeros of either sign stay in the order of input, as the original's stable sort has it.
fn sort(values: &mut [f64]) {
    if values.iter().any(|value| *value == 0.0 && value.is_sign_negative()) {
        values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    } else {
        values.sort_unstable_by(f64::total_cmp);
    }
}

impl Vitals {
    pub(super) fn sd(&self) -> f64 {
        self.variance.sqrt()
    }

    /// The line of the table behind the symbol, with its line feed.
    pub(super) fn row(&self) -> String {
        let mut row = format!(" {:3}", self.count);
        for value in [self.min, self.max, self.median, self.mean, self.sd()] {
            row.push(' ');
            row.push_str(&pad_left(&general(value, 8), 13));
        }
        row.push('\n');
        row
    }
}
