//! The clauses of a sentence, each with what a grid says of it.

use crate::model::Grid;
use crate::verdict::CellVerdict;
use crate::{every, level, order, piece, place, ratio, token};
use fwdlab_sentence::doubt::Doubt;

/// Holds the clauses of a sentence against a grid: each that claims something, with where it begins. What stands before it
/// in its paragraph is what it may refer to.
pub fn judge(grid: &Grid, before: &str, sentence: &str) -> Vec<(usize, CellVerdict)> {
    let tokens = placed(grid, sentence);
    let doubt = Doubt::of(sentence, "");
    if sentence.trim_end().ends_with('?') {
        return Vec::new();
    }
    let is_of_quotients = is_of_quotients(grid, &tokens);
    let mut found = Vec::new();
    for piece in piece::pieces(grid, &tokens, &said_before(grid, before)) {
        let verdict = of_piece(grid, &piece, is_of_quotients);
        let is_unsure = doubt == Some(Doubt::Unsure) || piece.is_referring;
        let verdict = if is_unsure { verdict.doubted() } else { verdict };
        if verdict != CellVerdict::Open
            && let Some(first) = piece.tokens.first()
        {
            found.push((first.at, verdict));
        }
    }
    found
}

/// What a grid says of one clause.
pub(crate) fn of_piece(grid: &Grid, piece: &piece::Piece, is_of_quotients: bool) -> CellVerdict {
    // what is said of all rows is not of any
    if let Some(verdict) = every::check(grid, piece) {
        return verdict;
    }
    let mut all = level::check(grid, piece);
    all.extend(level::none(grid, piece));
    if !is_of_quotients {
        all.extend(ratio::check(grid, piece));
    }
    all.extend(order::extreme(grid, piece));
    all.extend(order::compared(grid, piece));
    all.extend(order::level_with(grid, piece));
    all.extend(order::steadier(grid, piece));
    all.extend(order::monotonic(grid, piece));
    CellVerdict::of_all(all)
}

fn placed(grid: &Grid, sentence: &str) -> Vec<token::Token> {
    let mut tokens = token::tokens(sentence);
    place::mark(grid, &mut tokens);
    tokens
}

/// The clauses of the last sentences of a text, the last of which takes from the one before it.
pub(crate) fn said_before(grid: &Grid, text: &str) -> Vec<piece::Piece> {
    const SENTENCES: usize = 2;
    let all: Vec<&str> = text.split_inclusive(". ").filter(|own| !own.trim().is_empty()).collect();
    let last = all[all.len().saturating_sub(SENTENCES)..].iter();
    last.fold(Vec::new(), |said, own| piece::pieces(grid, &placed(grid, own), &said))
}

/// "Per packet it takes seven times the energy": what no column is divided by.
fn is_of_quotients(grid: &Grid, tokens: &[token::Token]) -> bool {
    let is_divided = grid.columns.iter().any(|own| own.name.words.contains("per"));
    let is_quotient =
        |two: &[token::Token]| two[0].is("per") && two[1].is("packet frame byte bit watt");
    !grid.is_block && !is_divided && tokens.windows(2).any(is_quotient)
}

/// "From 947 to 745 kpps it is a step back of 21 %": the percentage is that of the rates that the sentence states.
pub fn explains_itself(sentence: &str) -> bool {
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
