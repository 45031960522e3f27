//! Numbers with what they are of: in digits, in words, and as fractions.

use crate::words::{Amount, Unit};

/// "More than two", "by three".
pub(crate) fn worded(raw: &[String], at: usize) -> Option<f64> {
    let before = at.checked_sub(1).map_or("", |at| raw[at].as_str());
    let value = match raw[at].as_str() {
        "two" => 2.0,
        "three" => 3.0,
        "four" => 4.0,
        "five" => 5.0,
        "ten" => 10.0,
        _ => return None,
    };
    matches!(before, "than" | "by").then_some(value)
}

/// "One third", "two thirds", "a quarter", and of how many words it is.
pub(crate) fn fraction(text: &str, next: &str) -> Option<(f64, usize)> {
    let part = |word: &str| match word {
        "third" | "thirds" => Some(3.0),
        "quarter" | "quarters" => Some(4.0),
        _ => None,
    };
    let many = match text {
        "one" | "a" => 1.0,
        "two" => 2.0,
        "three" => 3.0,
        _ => return Some((1.0 / part(text)?, 1)),
    };
    Some((many / part(next)?, 2))
}

/// A number with what it is of.
pub(crate) fn amount(raw: &[String], at: usize) -> Option<(Amount, usize)> {
    let text = raw[at].trim_start_matches('+');
    let digits = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let value: f64 = text.get(..digits)?.parse().ok()?;
    let decimals = text[..digits].split_once('.').map_or(0, |(_, own)| own.len());
    let behind = &text[digits..];
    let next = raw.get(at + 1).map_or("", String::as_str);
    let (unit, is_next) = if behind.is_empty() { (next, true) } else { (behind, false) };
    let (unit, scale) = match unit {
        "mpps" | "m" => (Unit::Rate, 1e6),
        "kpps" | "k" => (Unit::Rate, 1e3),
        "pps" => (Unit::Rate, 1.0),
        "%" | "percent" => (Unit::Percent, 1.0),
        "times" | "x" => (Unit::Times, 1.0),
        _ if behind.is_empty() => (Unit::Plain, 1.0),
        _ => return None,
    };
    let step = scale * 0.1_f64.powi(i32::try_from(decimals).unwrap_or(0));
    let end = at + 1 + usize::from(is_next && unit != Unit::Plain);
    Some((Amount { value: value * scale, step, unit }, end))
}
