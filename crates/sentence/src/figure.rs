//! Numbers in running text that carry a unit: percentages, rates, times per frame.

use crate::quantity::unit_of_rate;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Per cent.
    Percent,
    /// Frames/s.
    Rate,
    /// Nanoseconds, or instructions.
    Nanoseconds,
}

/// A number in the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// What it counts.
    pub kind: Kind,
    /// In per cent, frames/s or ns.
    pub value: f64,
    /// Half of the last digit written, in the same unit.
    pub half_digit: f64,
    /// Whether a sign is written before it.
    pub is_signed: bool,
    /// Where it begins in the text, in bytes.
    pub start: usize,
    /// Where its unit ends.
    pub end: usize,
}

/// Units in the text but those of rates, the longest first.
const UNITS: [(&str, Kind); 7] = [
    ("instructions", Kind::Nanoseconds),
    ("nanoseconds", Kind::Nanoseconds),
    ("ns/frame", Kind::Nanoseconds),
    ("per cent", Kind::Percent),
    ("percent", Kind::Percent),
    ("ns", Kind::Nanoseconds),
    ("%", Kind::Percent),
];

/// The numbers of a text that carry a unit.
pub fn figures(line: &str) -> Vec<Figure> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let is_start = bytes[at].is_ascii_digit()
            && (at == 0
                || !(bytes[at - 1].is_ascii_alphanumeric()
                    || matches!(bytes[at - 1], b'.' | b'_')));
        if !is_start {
            at += 1;
            continue;
        }
        let mut end = at;
        while end < bytes.len()
            && (bytes[end].is_ascii_digit() || matches!(bytes[end], b'.' | b','))
        {
            end += 1;
        }
        let digits = line[at..end].trim_end_matches(['.', ',']);
        if let Some(number) = number(line, at, digits) {
            found.push(number);
        }
        at = end;
    }
    found
}

fn number(line: &str, start: usize, digits: &str) -> Option<Figure> {
    let after = &line[start + digits.len()..];
    let rest = after.trim_start_matches([' ', '\u{a0}']);
    let lower = rest.to_lowercase();
    let of_others = || {
        let (unit, kind) = UNITS.into_iter().find(|(unit, _)| {
            lower.strip_prefix(unit).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        })?;
        Some((unit, kind, 1.0))
    };
    let of_rates = unit_of_rate(&lower).map(|(unit, scale)| (unit, Kind::Rate, scale));
    let (unit, kind, scale) = of_rates.or_else(of_others)?;
    let plain = digits.replace(',', "");
    let value: f64 = plain.parse().ok()?;
    let decimals = plain.split_once('.').map_or(0, |(_, d)| d.len());
    let before = line[..start].chars().next_back();
    let sign = if matches!(before, Some('-' | '\u{2212}')) { -1.0 } else { 1.0 };
    Some(Figure {
        kind,
        value: sign * value * scale,
        half_digit: 0.5 * 10f64.powi(-(i32::try_from(decimals).ok()?)) * scale,
        is_signed: matches!(before, Some('+' | '-' | '\u{2212}')),
        start: if matches!(before, Some('+' | '-')) { start - 1 } else { start },
        end: start + digits.len() + (after.len() - rest.len()) + unit.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_with_unit_sign_and_precision() {
        let found =
            figures("from 1,488,095 pps to 4.83 Mpps, -7.2% and +3 per cent in 2000 flows, v1.2");
        let values: Vec<f64> = found.iter().map(|f| f.value).collect();
        assert_eq!(values, [1_488_095.0, 4.83e6, -7.2, 3.0]);
        assert_eq!(found[1].half_digit, 5e3);
        assert!(found[2].is_signed && !found[1].is_signed);
    }
}
