//! Text to numbers as C's strtod and strtol read it.

/// The whole token as a number, as strtod reads it: white space before it, a sign, decimal or
/// hexadecimal, `inf`, `nan`. `None` when anything is left over.
pub(super) fn parse_float(token: &[u8]) -> Option<f64> {
    if let Some(value) = parse_plain(token) {
        return Some(value);
    }
    let token = skip_space(token);
    let (is_negative, digits) = split_sign(token);
    let value = match digits.get(..2) {
        Some(b"0x" | b"0X") => parse_hex(&digits[2..])?,
        _ => parse_decimal(digits)?,
    };
    Some(if is_negative { -value } else { value })
}

/// Whole numbers and decimals without exponent, up to 2^53 and 22 decimals: both the digits and the
/// power of ten are exact doubles, so that one division rounds correctly (Clinger 1990).
///
/// Equal to `std::str::from_utf8(token)?.parse::<f64>().ok()` on the tokens that it accepts.
fn parse_plain(token: &[u8]) -> Option<f64> {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    if token.is_empty() || token.len() > 17 {
        return None;
    }
    let mut digits = 0u64;
    let mut decimals = None;
    for (at, byte) in token.iter().enumerate() {
        match byte {
            b'0'..=b'9' => digits = digits * 10 + u64::from(byte - b'0'),
            b'.' if decimals.is_none() => decimals = Some(token.len() - at - 1),
            _ => return None,
        }
    }
    if digits >= 1 << 53 || (decimals.is_some() && token.len() == 1) {
        return None;
    }
    Some(digits as f64 / POWERS[decimals.unwrap_or(0)])
}

fn parse_decimal(digits: &[u8]) -> Option<f64> {
    let lower = digits.to_ascii_lowercase();
    match lower.as_slice() {
        b"inf" | b"infinity" => return Some(f64::INFINITY),
        b"nan" => return Some(f64::NAN),
        _ => {}
    }
    if lower.starts_with(b"nan(") && lower.ends_with(b")") {
        let tag = &lower[4..lower.len() - 1];
        return tag.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_').then_some(f64::NAN);
    }
    // Rust takes the same decimals as C but for a second sign and its own words
    if !digits.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-')) {
        return None;
    }
    if matches!(digits.first(), Some(b'+' | b'-') | None) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The part behind `0x`: hexadecimal digits with a point, and a binary exponent behind `p`.
fn parse_hex(text: &[u8]) -> Option<f64> {
    let end = text.iter().position(|b| matches!(b, b'p' | b'P')).unwrap_or(text.len());
    let (digits, exponent) = text.split_at(end);
    let mut exponent = match exponent {
        [] => 0,
        [_, rest @ ..] => parse_exponent(rest)?,
    };
    let (mut mantissa, mut sticky, mut seen, mut behind_point) = (0u64, false, false, false);
    for byte in digits {
        if *byte == b'.' && !behind_point {
            behind_point = true;
            continue;
        }
        let digit = u64::from((*byte as char).to_digit(16)?);
        seen = true;
        if mantissa >> 60 == 0 {
            mantissa = mantissa << 4 | digit;
            exponent -= if behind_point { 4 } else { 0 };
        } else {
            sticky |= digit != 0;
            exponent += if behind_point { 0 } else { 4 };
        }
    }
    // the sticky bit keeps "more than half" distinct from "half" when 61 bits or more are rounded
    seen.then(|| scale(mantissa | u64::from(sticky), exponent))
}

fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = split_sign(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value =
        digits.iter().fold(0i64, |value, b| (value * 10 + i64::from(b - b'0')).min(100_000));
    Some(if is_negative { -value } else { value })
}

/// `mantissa` times 2^`exponent`, in steps that neither overflow nor lose bits early.
fn scale(mantissa: u64, exponent: i64) -> f64 {
    let mut value = mantissa as f64;
    let mut exponent = exponent.clamp(-2200, 2200);
    while exponent > 0 {
        let step = exponent.min(1000);
        value *= 2f64.powi(step as i32);
        exponent -= step;
    }
    while exponent < 0 {
        let step = exponent.max(-1000);
        value *= 2f64.powi(step as i32);
        exponent -= step;
    }
    value
}

/// The whole text as strtol reads it in base 10; empty is 0, out of range saturates.
pub(super) fn parse_long(text: &[u8]) -> Option<i64> {
    if text.is_empty() {
        return Some(0);
    }
    let (is_negative, digits) = split_sign(skip_space(text));
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value =
        digits.iter().fold(0i128, |value, b| (value * 10 + i128::from(b - b'0')).min(1 << 70));
    let value = if is_negative { -value } else { value };
    Some(value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
}

fn skip_space(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|b| !is_space(*b)).unwrap_or(text.len());
    &text[start..]
}

fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

/// C's isspace in the C locale.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_strtod_reads() {
        let table: [(&[u8], f64); 12] = [
            (b"5", 5.0),
            (b" +5.", 5.0),
            (b"-.5", -0.5),
            (b"1e3", 1000.0),
            (b"0x10", 16.0),
            (b"0x1p3", 8.0),
            (b"0x1.8", 1.5),
            (b"-0X.8p1", -1.0),
            (b"818114.5", 818_114.5),
            (b"0x1.fffffffffffff8p0", 2.0),
            (b"0x123456789abcdef01", 20_988_295_479_420_645_121.0),
            (b"1e-400", 0.0),
        ];
        for (text, want) in table {
            assert_eq!(parse_float(text), Some(want), "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(parse_float(b"1e400"), Some(f64::INFINITY));
        assert!(parse_float(b"nan").is_some_and(f64::is_nan));
    }

    #[test]
    fn refuses_what_strtod_leaves_over() {
        for text in [
            "", ".", "5x", "5 ", "--5", "+-5", "3e", "0x", "0x1p", "e5", "1.2.3", "infinite",
            "1_000",
        ] {
            assert_eq!(parse_float(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_fast_way_agrees_with_the_slow_one() {
        for i in 0..20_000u64 {
            let digits = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (11 + i % 40);
            let text = format!("{}.{:03}", digits % 10_000_000_000, digits % 1000);
            assert_eq!(parse_plain(text.as_bytes()), text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn reads_what_strtol_reads() {
        assert_eq!(parse_long(b""), Some(0));
        assert_eq!(parse_long(b" +5"), Some(5));
        assert_eq!(parse_long(b"5 "), None);
        assert_eq!(parse_long(b"0x1"), None);
        assert_eq!(parse_long(b"99999999999999999999"), Some(i64::MAX));
    }
}
