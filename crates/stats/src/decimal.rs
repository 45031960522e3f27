//! A figure with so many decimals, and as a power of ten where decimals would not be read.

/// Sizes from this on are written out.
const LEAST: f64 = 1e-4;
/// Sizes below this are.
const MOST: f64 = 1e15;
/// Decimals of a figure as a power of ten: six digits.
const OF_POWER: usize = 5;

/// A figure for people, with so many decimals: `1234.5`. What has more than 15 digits, or none among the first
/// decimals, is a power of ten: `1.23450e307`, `1.00000e-317`; 0 stays `0.0`.
pub fn decimal(value: f64, decimals: usize) -> String {
    match value.abs() {
        size if size == 0.0 || (LEAST..MOST).contains(&size) => format!("{value:.decimals$}"),
        _ => format!("{value:.OF_POWER$e}"),
    }
}

/// A figure with all its digits: `1234.5`, `0`; as a power of ten where [`decimal`] has it so.
pub(crate) fn exact(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (LEAST..MOST).contains(&size) => value.to_string(),
        _ => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 1e307 stood 308 digits, of 1e-317 nothing but zeros.
    #[test]
    fn figures_of_hundreds_of_digits_are_powers_of_ten() {
        assert_eq!(decimal(1234.56, 1), "1234.6");
        assert_eq!(decimal(0.0, 2), "0.00");
        assert_eq!(decimal(-1e14, 0), "-100000000000000");
        assert_eq!(decimal(1e-4, 6), "0.000100");
        assert_eq!(decimal(1.2345e307, 0), "1.23450e307");
        assert_eq!(decimal(-1e15, 0), "-1.00000e15");
        assert_eq!(decimal(1e-317, 6), "1.00000e-317");
        assert_eq!(decimal(f64::INFINITY, 2), "inf");
        assert_eq!(["0", "-12.5", "1e300"], [0.0, -12.5, 1e300].map(exact));
        assert_eq!(exact(f64::NAN), "NaN");
    }
}
