//! Sentences held against rows and columns by what these are called: a number with a unit is of the cell, or of the
//! two cells, that a clause names. What is bound to one cell, or to one pair, and is not so, is wrong; where rows are
//! taken from the clause before, or stand for what is not named, it is to be looked at.

pub(crate) mod level;
pub(crate) mod model;
pub(crate) mod names;
pub(crate) mod order;
pub(crate) mod piece;
pub(crate) mod ratio;
pub(crate) mod token;
pub(crate) mod verdict;

use fwdlab_sentence::doubt::Doubt;
use model::Grid;
use verdict::Verdict;

/// Holds the clauses of a sentence against a grid: each that claims something, with where it begins.
pub(crate) fn judge(grid: &Grid, sentence: &str) -> Vec<(usize, Verdict)> {
    let tokens = token::tokens(sentence);
    let doubt = Doubt::of(sentence, "");
    if sentence.trim_end().ends_with('?') {
        return Vec::new();
    }
    let mut found = Vec::new();
    for piece in piece::pieces(grid, &tokens) {
        let mut all = level::check(grid, &piece);
        all.extend(level::none(grid, &piece));
        all.extend(ratio::check(grid, &piece));
        all.extend(order::extreme(grid, &piece));
        all.extend(order::compared(grid, &piece));
        all.extend(order::steadier(grid, &piece));
        let verdict = Verdict::of_all(all);
        let verdict = if doubt == Some(Doubt::Unsure) { verdict.doubted() } else { verdict };
        if verdict != Verdict::Open
            && let Some(first) = piece.tokens.first()
        {
            found.push((first.at, verdict));
        }
    }
    found
}

/// "From 947 to 745 kpps it is a step back of 21 %": the percentage is that of the rates that the sentence states.
pub(crate) fn explains_itself(sentence: &str) -> bool {
    let numbers: Vec<token::Number> =
        token::tokens(sentence).into_iter().filter_map(|own| own.number).collect();
    let of = |unit: token::Unit| {
        numbers.iter().filter(move |own| own.unit == unit).copied().collect::<Vec<_>>()
    };
    let (rates, percents) = (of(token::Unit::Packets), of(token::Unit::Percent));
    let ([first, second], [percent]) = (rates.as_slice(), percents.as_slice()) else {
        return false;
    };
    if first.value <= 0.0 || second.value <= 0.0 {
        return false;
    }
    let change = 100.0 * (second.value / first.value - 1.0);
    let half = 100.0 * (first.half / first.value + second.half / second.value);
    let is_down =
        ["lose", "loss", "back", "slower", "less", "drop", "down", "fall", "reduc", "decreas"];
    let is_up = ["gain", "win", "faster", "more", "improve", "increas", "better", "up by"];
    let lower = sentence.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let is_contrary = change > 0.0 && has(&is_down) || change < 0.0 && has(&is_up);
    !is_contrary && level::agrees(*percent, change, half, false)
}

#[cfg(test)]
mod tests;
