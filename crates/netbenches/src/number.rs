//! Numbers as ministat and gnuplot files write them.

/// Formats like C's `%.8g`, which is how medians reach a `.pps` file: eight
/// significant digits, rounded half to even, trailing zeros dropped.
pub fn format_g8(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let scientific = format!("{value:.7e}");
    let exponent: i32 =
        scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if !(-4..8).contains(&exponent) {
        let (digits, _) = scientific.split_once('e').unwrap_or((&scientific, ""));
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_trailing_zeros(digits), exponent.abs());
    }
    let decimals = usize::try_from(7 - exponent).unwrap_or(0);
    without_trailing_zeros(&format!("{value:.decimals$}")).to_owned()
}

fn without_trailing_zeros(digits: &str) -> &str {
    if !digits.contains('.') {
        return digits;
    }
    digits.trim_end_matches('0').trim_end_matches('.')
}

/// A finite number of a column; `None` for anything else (also for hexadecimal,
/// infinite and not-a-number, which C's strtod would take).
pub fn parse_finite(token: &[u8]) -> Option<f64> {
    if token.is_empty() || token.len() > 64 {
        return None;
    }
    let text = std::str::from_utf8(token).ok()?;
    let is_plain =
        text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E'));
    text.parse().ok().filter(|value: &f64| is_plain && value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_as_c_does() {
        for (value, text) in [
            (12_320_352.5, "12320352"),
            (10_003_669.5, "10003670"),
            (14_817_397.5, "14817398"),
            (14_817_568.5, "14817568"),
            (14_817_299.5, "14817300"),
            (818_114.5, "818114.5"),
            (0.0, "0"),
            (700_644.0, "700644"),
            (123_456_789.0, "1.2345679e+08"),
            (-0.000_012_5, "-1.25e-05"),
            (1.0, "1"),
        ] {
            assert_eq!(format_g8(value), text);
        }
    }

    #[test]
    fn takes_only_plain_finite_numbers() {
        assert_eq!(parse_finite(b"819142.5"), Some(819_142.5));
        assert_eq!(parse_finite(b"1e3"), Some(1000.0));
        for bad in [&b""[..], b"nan", b"inf", b"0x10", b"1e999", b"12a", b"\xff", b"1_000"] {
            assert_eq!(parse_finite(bad), None);
        }
    }
}
