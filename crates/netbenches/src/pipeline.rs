//! From the readings of a run to one figure, as published reports did it.
//!
//! The published pipeline drops the first 15 and the last 10 text lines of a
//! receiver log, keeps readings with a rate above zero and takes ministat's
//! median. Log headers are 9 to 17 lines long, so this trims 0 to 6 readings of
//! the start; [`Published`] repeats it exactly so that published values
//! can be checked, and is no way to measure.

use super::number::format_g8;
use super::pktgen::PktgenLog;

/// Text lines dropped at the start.
const HEAD_LINES: u64 = 15;
/// Text lines dropped at the end.
const TAIL_LINES: u64 = 10;

/// Which median of an even number of values ministat printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MedianRule {
    /// The upper of the two middle values: ministat until 2016/17.
    Upper,
    /// The mean of the two middle values: ministat since.
    MeanOfTwo,
}

impl MedianRule {
    /// Both rules, the newer first.
    pub const ALL: [Self; 2] = [Self::MeanOfTwo, Self::Upper];

    /// `mean of two` or `upper`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Upper => "upper",
            Self::MeanOfTwo => "mean of two",
        }
    }

    /// Median of `values`, which are sorted; `None` of none.
    pub fn of(self, values: &[u64]) -> Option<f64> {
        let upper = *values.get(values.len() / 2)? as f64;
        if self == Self::Upper || values.len() % 2 == 1 {
            return Some(upper);
        }
        Some((values[values.len() / 2 - 1] as f64 + upper) / 2.0)
    }
}

/// What the published pipeline makes of one log.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The kept rates, sorted.
    rates: Vec<u64>,
    /// Readings lost at the start of the log.
    pub trimmed_head: usize,
    /// Readings lost at its end.
    pub trimmed_tail: usize,
    /// Readings lost because their rate is zero.
    pub zeros: usize,
}

impl Published {
    /// Applies the pipeline's trimming to `log`.
    pub fn of(log: &PktgenLog) -> Self {
        let last = log.lines.saturating_sub(TAIL_LINES);
        let mut published = Self { rates: Vec::new(), trimmed_head: 0, trimmed_tail: 0, zeros: 0 };
        for reading in &log.readings {
            if reading.line <= HEAD_LINES {
                published.trimmed_head += 1;
            } else if reading.line > last {
                published.trimmed_tail += 1;
            } else if reading.pps == 0 {
                published.zeros += 1;
            } else {
                published.rates.push(reading.pps);
            }
        }
        published.rates.sort_unstable();
        published
    }

    /// Readings that the median is taken of.
    pub fn kept(&self) -> usize {
        self.rates.len()
    }

    /// The median in packets/s, at full precision; `None` without readings.
    pub fn median(&self, rule: MedianRule) -> Option<f64> {
        rule.of(&self.rates)
    }

    /// The median as it stands in a `.pps` file: ministat prints `%.8g`.
    pub fn printed(&self, rule: MedianRule) -> Option<String> {
        self.median(rule).map(format_g8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pktgen::Reading;

    fn log(lines: u64, readings: &[(u64, u64)]) -> PktgenLog {
        let reading = |&(line, pps)| Reading { line, end_us: 0, pps, packets: 0, length_us: 0 };
        PktgenLog { lines, readings: readings.iter().map(reading).collect(), ..Default::default() }
    }

    #[test]
    fn drops_text_lines_not_readings() {
        let p = Published::of(&log(30, &[(15, 1), (16, 10), (17, 0), (20, 40), (21, 5)]));
        assert_eq!((p.trimmed_head, p.zeros, p.trimmed_tail, p.kept()), (1, 1, 1, 2));
        assert_eq!(p.median(MedianRule::MeanOfTwo), Some(25.0));
        assert_eq!(p.median(MedianRule::Upper), Some(40.0));
    }

    #[test]
    fn a_log_shorter_than_the_trim_has_no_median() {
        let p = Published::of(&log(20, &[(16, 10)]));
        assert_eq!(p.median(MedianRule::Upper), None);
        assert_eq!(p.printed(MedianRule::MeanOfTwo), None);
    }

    #[test]
    fn halves_are_rounded_as_ministat_prints_them() {
        let p = Published::of(&log(100, &[(16, 14_817_397), (17, 14_817_398)]));
        assert_eq!(p.printed(MedianRule::MeanOfTwo).as_deref(), Some("14817398"));
    }
}
