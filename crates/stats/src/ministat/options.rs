//! What to print and how, and why it cannot be.

use super::student::Confidence;

/// Fewest values in a data set.
pub const MIN_VALUES: usize = 3;

/// Width of the plot between its bars when nothing else is asked for.
pub const DEFAULT_WIDTH: usize = 74;

/// Symbols by the bitwise OR of the numbers of the sets in a cell.
pub(super) const SYMBOLS: &[u8; 8] = b" x+*%#@O";

/// Which ministat is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Version {
    /// FreeBSD's current one: mean of the two middle values, two-pass variance, ratio error.
    #[default]
    V3,
    /// Between the two, in 2016: mean of the two middle values, error of the baseline.
    Compat2016,
    /// Debian's 20150715: upper median, one-pass variance (loses precision), error of the baseline.
    Compat2015,
}

/// What to print and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Which arithmetic and option parsing.
    pub version: Version,
    /// Column to read, from 1 (`-C`).
    pub column: usize,
    /// Confidence of the test (`-c`).
    pub confidence: Confidence,
    /// Bytes that separate columns (`-d`).
    pub delimiters: Vec<u8>,
    /// Whether to draw the plot (not with `-A`).
    pub has_plot: bool,
    /// Only the table of vitals, neither plot nor test (`-n`).
    pub is_vitals_only: bool,
    /// One bar line per data set (`-s`).
    pub has_separate_bars: bool,
    /// Neither legends nor header (`-q`, V3 only).
    pub is_quiet: bool,
    /// Columns between the plot's borders (`-w`); not 1.
    pub width: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            version: Version::default(),
            column: 1,
            confidence: Confidence::default(),
            delimiters: b" \t".to_vec(),
            has_plot: true,
            is_vitals_only: false,
            has_separate_bars: false,
            is_quiet: false,
            width: DEFAULT_WIDTH,
        }
    }
}

/// Why data sets cannot be rendered or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Fewer than three values.
    #[error("Dataset {legend} must contain at least 3 data points")]
    TooFewValues {
        /// The set's legend.
        legend: String,
    },
    /// A value is infinite or not a number.
    #[error(
        "dataset {legend}: value {position} is infinite or not a number; remove it or mark its line with #"
    )]
    NotFinite {
        /// The set's legend.
        legend: String,
        /// Which value, from 1.
        position: usize,
    },
}
