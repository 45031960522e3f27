//! What can be wrong with the numbers that callers hand in.

use crate::decimal::exact;
use crate::plural;

/// Why a statistic cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are fewer blocks or values than the statistic needs.
    #[error("{what}: {} where at least {need} are needed", plural(*.got, "value"))]
    TooFew {
        /// What was to be computed.
        what: &'static str,
        /// How many values there are.
        got: usize,
        /// How many there must be.
        need: usize,
    },
    /// A value is zero, negative, infinite or not a number, so that it has no logarithm.
    #[error(
        "{side}: value number {} is {}, and only values above 0 can be compared by ratios",
        index + 1,
        exact(*value)
    )]
    NotPositive {
        /// `baseline` or `variant`.
        side: &'static str,
        /// Position in the sequence handed in, from 0.
        index: usize,
        /// The value itself.
        value: f64,
    },
    /// A value is infinite or not a number.
    #[error("value number {} is {value}, which is no finite number", index + 1)]
    NotFinite {
        /// Position in the sequence handed in, from 0.
        index: usize,
        /// The value itself.
        value: f64,
    },
    /// Values are of different quantities.
    #[error("{why}")]
    Unlike {
        /// What makes them so.
        why: &'static str,
    },
    /// A table has rows of different length.
    #[error(
        "block {block} has {} where the first block has {want}; leave out incomplete blocks",
        plural(*.got, "value")
    )]
    Ragged {
        /// Position of the block, from 0.
        block: usize,
        /// Its number of values.
        got: usize,
        /// Number of values in the first block.
        want: usize,
    },
    /// A confidence that is none.
    #[error("confidence {share} is not a share from 0.8 to below 1, e.g. 0.95")]
    BadConfidence {
        /// What was asked for.
        share: f64,
    },
    /// Too few campaigns to speak for the next one.
    #[error(
        "{side}: {} where {need} are needed to know how much they differ; run more campaigns or say that fewer will do",
        plural(*.got, "campaign")
    )]
    TooFewCampaigns {
        /// Which side has too few.
        side: &'static str,
        /// How many there are.
        got: usize,
        /// How many there must be.
        need: usize,
    },
}
