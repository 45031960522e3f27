//! C's `%g`: the shortest of fixed and exponential notation at a number of significant digits.

/// `value` as C's `%.{digits}g` prints it (ISO C 7.21.6.1): correctly rounded, trailing zeros
/// removed, exponent of at least two digits. NaN carries a sign as glibc prints the one that
/// x86 arithmetic makes.
pub(super) fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "-nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    // Rust rounds `{:e}` correctly, ties to even, as glibc does
    let scientific = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_trailing_zeros(mantissa), exponent.abs());
    }
    let decimals = (digits as i32 - 1 - exponent) as usize;
    without_trailing_zeros(&format!("{value:.decimals$}")).to_owned()
}

/// `text` right-aligned in `width` columns.
pub(super) fn pad_left(text: &str, width: usize) -> String {
    format!("{text:>width$}")
}

fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Captured from printf(1) of glibc: `printf '%.8g\n' ...`.
    #[test]
    fn prints_as_glibc_does() {
        let table = [
            (0.0, "0"),
            (1.0, "1"),
            (148_809_524.0, "1.4880952e+08"),
            (12_345_678.5, "12345678"),
            (12_345_679.5, "12345680"),
            (99_999_999.5, "1e+08"),
            (0.0001, "0.0001"),
            (0.000_012_345, "1.2345e-05"),
            (1e100, "1e+100"),
            (1e-300, "1e-300"),
            (-2.5, "-2.5"),
            (100_000.0, "100000"),
            (696_971.6, "696971.6"),
        ];
        for (value, want) in table {
            assert_eq!(general(value, 8), want);
        }
        assert_eq!(general(121_712.6, 6), "121713");
        assert_eq!(general(1_000_000.0, 6), "1e+06");
        assert_eq!(general(0.5, 6), "0.5");
    }
}
