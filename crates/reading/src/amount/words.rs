//! Amounts that are written in words: twice, a third, one in five, half a million packets/s.

use super::figure::{Amount, Unit};
use super::number::{Plain, magnitude, number_word, part_word, plain};
use super::unit::{is_counted, is_noun_of_settings, unit};
use crate::softness::Soft;
use crate::token::{Kind, Token};

/// "Twice", "doubled", "sixfold", "half again as many", "cut in half".
pub(super) fn multiplied(tokens: &[Token], at: usize) -> Option<Amount> {
    let text = |k: usize| tokens.get(at + k).map_or("", |token| token.text.as_str());
    let own = text(0);
    let fold = own.strip_suffix("fold").and_then(number_word);
    if own.starts_with("doubl") && text(1).starts_with("digit") {
        return Some(Amount { low: 10.0, high: 99.9, ..worded(10.0, Unit::Percent, at, at + 2) });
    }
    let begins = |root: &str| own.starts_with(root);
    let (value, length) = match own {
        _ if fold.is_some() => (fold?, 1),
        "twice" => (2.0, 1),
        "thrice" => (3.0, 1),
        "half" if text(1) == "again" && text(2) == "as" => (1.5, 3),
        "half" if text(1) == "as" => (0.5, 2),
        "in" if text(1) == "half" => (0.5, 2),
        _ if begins("doubl") => (2.0, 1),
        _ if begins("tripl") || begins("trebl") => (3.0, 1),
        _ if begins("quadrupl") => (4.0, 1),
        _ if begins("halv") => (0.5, 1),
        _ => return None,
    };
    Some(worded(value, Unit::Factor, at, at + length))
}

pub(super) fn worded(value: f64, unit: Unit, first: usize, end: usize) -> Amount {
    let (low, high, step, soft) = (value, value, 0.0, Soft::Exact);
    Amount { low, high, step, unit, sign: None, soft, first, end, is_worded: true, is_of: false }
}

/// "A third", "two thirds", "half", "one in five", "seven of every hundred", "half a million pps".
pub(super) fn share(tokens: &[Token], at: usize) -> Option<Amount> {
    let text = |k: usize| tokens.get(at + k).map_or("", |token| token.text.as_str());
    let many = match text(0) {
        "a" | "an" => Some(1.0),
        word => number_word(word).or(match tokens.get(at)?.kind {
            Kind::Number(value, ..) => Some(value),
            _ => None,
        }),
    };
    if let Some((many, part)) = many.zip(part_word(text(1)))
        && text(2) != "run"
        && many < part
    {
        return scaled(tokens, many / part, at, at + 2);
    }
    if let Some((many, all)) = many.and_then(|many| {
        let (skip, is_packet) = match (text(1), text(2), text(3)) {
            ("of", "every" | "each", _) => (3, true),
            ("out", "of", "every" | "each" | "a") => (4, true),
            ("packet" | "packets" | "frame" | "frames", "out", "of") => (4, true),
            ("packet" | "packets", "in" | "of", _) => (3, true),
            ("in", "every", _) => (3, true),
            ("in", _, _) => (2, false),
            ("out", "of", _) => (3, false),
            _ => return None,
        };
        let all = plain(tokens, at + skip).or_else(|| {
            magnitude(text(skip)).map(|value| Plain {
                value,
                step: 1.0,
                sign: None,
                end: at + skip + 1,
                is_worded: true,
            })
        })?;
        let noun = tokens.get(all.end).map_or("", |token| token.text.as_str());
        let is_of_sets = is_counted(noun) && !noun.starts_with("packet");
        (many < all.value && !is_of_sets && (is_packet || !is_noun_of_settings(noun)))
            .then_some((many, all))
    }) {
        return Some(worded(many / all.value, Unit::Fraction, at, all.end));
    }
    if text(0) == "half" && !tokens.get(at.wrapping_sub(1)).is_some_and(|t| t.is_in("first second"))
    {
        return scaled(tokens, 0.5, at, at + 1);
    }
    None
}

/// A share of one, or of a million packets.
fn scaled(tokens: &[Token], value: f64, first: usize, mut end: usize) -> Option<Amount> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut next = end;
    while matches!(text(next), "a" | "an" | "of") {
        next += 1;
    }
    let scale = match text(next) {
        "million" => Some(1e6),
        "thousand" => Some(1e3),
        _ => None,
    };
    if matches!(text(next), "percent" | "%") && next > end {
        return Some(worded(value, Unit::Percent, first, next + 1));
    }
    if scale.is_some() || matches!(text(next), "mpps" | "kpps") && next > end {
        let scale = scale.inspect(|_| next += 1).unwrap_or(1.0);
        let (unit, more, stop) = unit(tokens, next, value * scale)?;
        let unit = if matches!(unit, Unit::Count(_)) { Unit::Rate } else { unit };
        end = stop;
        return Some(Amount {
            soft: Soft::Exact,
            ..worded(value * scale * more, unit, first, end)
        });
    }
    Some(worded(value, Unit::Fraction, first, end))
}
