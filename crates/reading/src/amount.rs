//! Amounts in a sentence: numbers and number words with what they are of, and how exactly they are meant.

mod figure;
mod number;
mod shared;
mod unit;
mod words;

pub(crate) use figure::{Amount, Unit};
pub(crate) use number::number_word;

use crate::softness::{Soft, softness};
use crate::token::Token;
use number::plain;
use shared::{share_nouns, share_units};
use unit::unit;
use words::{multiplied, share, worded};

/// All amounts of a sentence, in order.
pub(crate) fn amounts(tokens: &[Token]) -> Vec<Amount> {
    let mut found: Vec<Amount> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match amount(tokens, at) {
            Some(own) => {
                at = own.end.max(at + 1);
                found.push(own);
            }
            None => at += 1,
        }
    }
    share_units(&mut found, tokens);
    share_nouns(&mut found, tokens);
    for own in &mut found {
        own.soft = softness(tokens, own.first, own.end);
        let next = tokens.get(own.end);
        own.is_of = next.is_some_and(|token| token.is_in("of what"));
    }
    found
}

/// "[16.9, 18.2] %".
fn bracketed(tokens: &[Token], at: usize) -> Option<Amount> {
    if !tokens[at].is_mark(&['[']) {
        return None;
    }
    let first = plain(tokens, at + 1)?;
    let joint = tokens.get(first.end)?;
    if !joint.is_mark(&[',', ';', '…', '-']) && !joint.is("to") {
        return None;
    }
    let last = plain(tokens, first.end + 1)?;
    let is_inside = !tokens.get(last.end)?.is_mark(&[']']);
    let (unit, scale, end) = unit(tokens, last.end + usize::from(!is_inside), last.value)?;
    let (a, b) = (first.value * scale, last.value * scale);
    Some(Amount {
        low: a.min(b),
        high: a.max(b),
        step: first.step.min(last.step) * scale,
        unit,
        sign: None,
        soft: Soft::Exact,
        first: at,
        end: end + usize::from(is_inside),
        is_worded: false,
        is_of: false,
    })
}

fn amount(tokens: &[Token], at: usize) -> Option<Amount> {
    if let Some(own) = bracketed(tokens, at) {
        return Some(own);
    }
    if tokens[at].is("factor") {
        let next = at + 1 + usize::from(tokens.get(at + 1).is_some_and(|token| token.is("of")));
        let own = plain(tokens, next)?;
        let (low, high) = (own.value, own.value);
        return Some(Amount {
            low,
            high,
            step: own.step,
            is_worded: own.is_worded,
            ..worded(low, Unit::Factor, at, own.end)
        });
    }
    if let Some(own) = multiplied(tokens, at).or_else(|| share(tokens, at)) {
        return Some(own);
    }
    let is_times_before = tokens[at].is_mark(&['×']);
    let first = plain(tokens, at + usize::from(is_times_before))?;
    // a range
    let second = tokens
        .get(first.end)
        .filter(|token| token.is_mark(&['-', '–', '…', '~']) || token.is_in("to and or"));
    let is_between = at > 0 && tokens[at - 1].is_in("between from");
    let second = second.and_then(|token| {
        let other = plain(tokens, first.end + 1)?;
        let is_dash = !token.is_word();
        let unit_behind = unit(tokens, other.end, other.value)?.0;
        let is_from = at > 0 && tokens[at - 1].is("from");
        let is_known = !matches!(unit_behind, Unit::Count(_));
        let is_range = is_dash && other.value > first.value
            || token.is("to") && is_known && (!is_from || unit_behind == Unit::Percent)
            || token.is("or") && is_known
            || token.is("and") && is_between && is_known;
        is_range.then_some(other)
    });
    let last = second.as_ref().unwrap_or(&first);
    let (unit, scale, end) = if is_times_before {
        (Unit::Factor, 1.0, last.end)
    } else {
        unit(tokens, last.end, last.value)?
    };
    let is_share = matches!(unit, Unit::Count(_))
        && last.value < 1.5
        && last.step < 1.0
        && tokens.get(end).is_some_and(|next| next.is("of"));
    let unit = if is_share { Unit::Fraction } else { unit };
    let (a, b) = (first.value * scale, last.value * scale);
    Some(Amount {
        low: a.min(b),
        high: a.max(b),
        step: first.step.min(last.step) * scale,
        unit,
        sign: first.sign,
        soft: Soft::Exact,
        first: at,
        end,
        is_worded: first.is_worded,
        is_of: false,
    })
}
