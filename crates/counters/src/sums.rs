//! Sums of counters of which some may not be known.

/// The sum of two counters; `None` without one of them.
pub(crate) fn both(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.zip(b).map(|(a, b)| a.saturating_add(b))
}
