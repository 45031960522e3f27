//! What an amount is: a number with its unit, how exactly it is written, and where it stands.

use crate::softness::Soft;
use fwdlab_sentence::clause::Sign;

/// What an amount is of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Unit {
    Percent,
    /// Packets/s.
    Rate,
    /// Seconds.
    Time,
    /// So many times.
    Factor,
    /// A third, 0.93 of.
    Fraction,
    /// Bits/s.
    Bits,
    /// Of something else, named by the word behind it; empty where nothing is.
    Count(String),
}

/// A number in a sentence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Amount {
    /// In per cent, frames/s, seconds, times, or one.
    pub(crate) low: f64,
    /// The other end of a range, else the same.
    pub(crate) high: f64,
    /// One of the last digit as written.
    pub(crate) step: f64,
    pub(crate) unit: Unit,
    pub(crate) sign: Option<Sign>,
    pub(crate) soft: Soft,
    /// Its first token.
    pub(crate) first: usize,
    /// Behind its last token.
    pub(crate) end: usize,
    /// Written in words: a third, twice.
    pub(crate) is_worded: bool,
    /// "Of" follows: a share of something.
    pub(crate) is_of: bool,
}

impl Amount {
    pub(crate) fn is_range(&self) -> bool {
        self.low != self.high
    }

    /// So many times as much, of another unit.
    pub(crate) fn rescale(&mut self, scale: f64, unit: Unit) {
        self.low *= scale;
        self.high *= scale;
        self.step *= scale;
        self.unit = unit;
    }

    pub(crate) fn middle(&self) -> f64 {
        (self.low + self.high) / 2.0
    }

    /// Whether a figure without its sign is what is meant.
    pub(crate) fn fits(&self, figure: f64) -> bool {
        let figure = figure.abs();
        let value = self.middle();
        let loose = match self.unit {
            _ if self.is_worded => 0.16,
            Unit::Percent | Unit::Fraction => 0.15,
            Unit::Factor => 0.1,
            _ => 0.06,
        };
        let exact = match self.unit {
            _ if self.is_worded => 0.12 * value,
            Unit::Percent if value < 5.0 => 0.75 * self.step,
            Unit::Percent => self.step,
            Unit::Factor => self.step.min(0.2 * value),
            // rounded, or cut
            _ => (0.55 * self.step).max(self.step.min(0.05 * value)).max(0.004 * value),
        };
        let rough = exact.max(loose * value).max(match self.unit {
            Unit::Percent => 0.3,
            _ => 0.0,
        });
        if self.is_range() {
            let slack = if self.soft == Soft::Exact { self.step } else { rough };
            return (self.low - slack..=self.high + slack).contains(&figure);
        }
        match self.soft {
            Soft::Exact => (figure - value).abs() <= exact * 1.0001,
            Soft::About => (figure - value).abs() <= rough,
            Soft::Above => figure >= value * 0.999,
            Soft::Below => figure <= value * 1.001,
            Soft::Nearly => {
                let short = if self.unit == Unit::Rate { 0.07 } else { 0.16 };
                figure <= value + exact && figure >= value - exact.max(short * value)
            }
            Soft::Beyond => figure >= value - exact && figure <= value + rough.max(0.16 * value),
        }
    }
}
