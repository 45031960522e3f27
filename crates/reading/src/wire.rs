//! "The line rate is reached": of a link, without a number.

use crate::cue::is_negated;
use crate::facts::{Cell, Facts};
use crate::piece::Piece;
use crate::truth::{Is, Truth, judge};

/// So near to the line rate it is reached.
const REACHED: f64 = 0.97;
/// And so far from it it is not.
const MISSED: f64 = 0.93;

/// Whether sets reach the rate of the link that the page names.
pub(crate) fn check(facts: &Facts, piece: &Piece) -> Option<Truth> {
    const REACH: &str = "reach reaches reached reaching hit hits attain attains attained saturate saturates \
    saturated fill fills filled at achieve achieves achieved obtained obtain obtains get gets got";
    const NEARLY: &str = "near nearly close closer almost below under far half without";
    let is_named = piece.has("line-rate linerate wire-speed wirespeed")
        || piece.has_turn(&["line", "rate"])
        || piece.has_turn(&["line", "-", "rate"])
        || piece.has_turn(&["wire", "speed"]);
    if !is_named || piece.is_silent || piece.measured().next().is_some() || piece.has(NEARLY) {
        return None;
    }
    let verb = piece.tokens.iter().position(|token| token.is_in(REACH))?;
    let is_denied = is_negated(&piece.tokens, verb);
    let rates: Vec<f64> = facts.parts.iter().flat_map(|part| part.line_rates.clone()).collect();
    if rates.is_empty() {
        return None;
    }
    let cells = piece.scope.cells(facts);
    let share = |cell: &Cell| {
        let shares = rates.iter().map(|rate| cell.max() / rate);
        shares.filter(|share| *share < 2.0 - REACHED).fold(0.0, f64::max)
    };
    let is: Vec<Is> = cells
        .iter()
        .map(|cell| match share(cell) {
            share if share >= REACHED => Is::from(!is_denied),
            share if share < MISSED => Is::from(is_denied),
            _ => Is::Open,
        })
        .collect();
    Some(judge(piece.quantity, false, &is, || {
        let own =
            cells.iter().take(4).map(|cell| format!("'{}' has {:.0}", cell.legend, cell.mean()));
        format!("{} packets/s", own.collect::<Vec<_>>().join("; "))
    }))
}
