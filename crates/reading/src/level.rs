//! Levels: whether a rate, or the time of a packet, is a figure of a set.

use std::collections::BTreeSet;

use crate::amount::Amount;
use crate::cue::{Say, is_negated};
use crate::facts::{Cell, Facts};
use crate::piece::Piece;
use crate::role::{around, near};
use crate::scope::Scope;
use crate::softness::Soft;

/// The figures of a set that a level can be.
fn levels(cell: &Cell) -> Vec<f64> {
    vec![cell.mean(), cell.median(), cell.min(), cell.max()]
}

/// The end of the runs that a piece speaks of, next to an amount.
fn ends_at(piece: &Piece, place: (usize, usize)) -> Option<fn(&Cell) -> f64> {
    const LOW: &str = "worst lowest slowest minimum min bottom weakest";
    const HIGH: &str = "best highest fastest maximum max peak peaked peaks";
    // "the best choice" is a set, and none of its runs
    const SETS: &str =
        "choice option setting configuration compromise candidate solution variant case";
    let is_of_sets = piece.tokens[place.0..place.1]
        .windows(2)
        .any(|two| (two[0].is_in(LOW) || two[0].is_in(HIGH)) && two[1].is_in(SETS));
    match () {
        () if is_of_sets => None,
        () if near(piece, place, LOW) => Some(Cell::min),
        () if near(piece, place, HIGH) => Some(Cell::max),
        () if near(piece, place, "median medians") => Some(Cell::median),
        _ => None,
    }
}

/// Whether a level of a set is what an amount says.
pub(crate) fn is_level(piece: &Piece, own: &Amount, cell: &Cell, of: impl Fn(f64) -> f64) -> bool {
    /// Words of runs, and of ends that are nothing else.
    const RUNS: &str = "run runs sample samples bench benches measurement measurements iteration trial trials value values min \
    minimum max maximum median medians peak peaks peaked bottom";
    let place = around(piece, own);
    if let Some(end) = ends_at(piece, place) {
        // "the slowest of the three, with 691 kpps" ranks sets
        let of_set = [of(cell.mean()), of(cell.median())];
        return own.fits(of(end(cell)))
            || !piece.has(RUNS) && of_set.into_iter().any(|value| own.fits(value));
    }
    match own.soft {
        Soft::Above | Soft::Below => own.fits(of(cell.mean())) || own.fits(of(cell.median())),
        _ => {
            let (low, high) = (of(cell.min()), of(cell.max()));
            let is_within = (low.min(high) - 0.5 * own.step..=low.max(high) + 0.5 * own.step)
                .contains(&own.middle());
            is_within || levels(cell).into_iter().any(|value| own.fits(of(value)))
        }
    }
}

/// "Fails to reach 6 Mpps", "breaks 6 Mpps": verbs that make a bound of a level.
pub(crate) fn reach(piece: &Piece, own: &mut Amount) {
    const REACH: &str = "reach reaches reached exceed exceeds top tops break breaks pass passes cross crosses \
    crossed attain attains surpass surpasses achieve achieves hit make";
    let from = own.first.saturating_sub(6);
    let verb = (from..own.first).rev().find(|at| piece.tokens[*at].is_in(REACH));
    let Some(verb) = verb else {
        if is_negated(&piece.tokens, own.first)
            && matches!(own.soft, Soft::Above | Soft::Below)
            && piece.has("not never no")
            && !piece.has("even quite")
        {
            own.soft = if own.soft == Soft::Above { Soft::Below } else { Soft::Above };
        }
        return;
    };
    let is_denied = is_negated(&piece.tokens, verb);
    match (is_denied, own.soft) {
        (true, _) => own.soft = Soft::Below,
        // what is reached is the figure; what is passed lies above the number
        (false, Soft::Exact)
            if piece.tokens[verb].is_in(
                "exceed exceeds break breaks pass passes cross crosses crossed surpass surpasses",
            ) || piece.tokens[verb].is_in("top tops") && !piece.tokens[verb + 1].is("out") =>
        {
            own.soft = Soft::Above;
        }
        _ => {}
    }
    // "reaches 6.43 Mpps" may be the figure itself: above it by little
    if own.soft == Soft::Above {
        own.low *= 0.995;
        own.high = own.low;
    }
}

/// What is reached by what moves is of the variant, and what it moves from of the base.
pub(crate) fn of_the_variant(
    piece: &Piece,
    own: &Amount,
    mut scope: Scope,
    facts: &Facts,
) -> Scope {
    if facts.widest() != 2 {
        return scope;
    }
    let before = |k: usize| own.first.checked_sub(k).map_or("", |at| piece.text(at));
    let is_moving = piece
        .cues
        .iter()
        .any(|cue| matches!(cue.say, Say::Moves(_)) && !cue.is_noun && !cue.is_denied);
    let lead: Vec<&str> = (1..=3).map(before).collect();
    // "6.4 Mpps (was 6.3 Mpps)"
    let is_later =
        piece.amounts.iter().any(|other| other.unit == own.unit && other.first < own.first);
    if is_later && matches!(lead[0], "was" | "were" | "previously" | "formerly" | "before") {
        scope.roles = Some(BTreeSet::from([0]));
    }
    if scope.roles.is_some() {
        return scope;
    }
    if is_moving && lead.contains(&"to") {
        scope.roles = Some(BTreeSet::from([1]));
    } else if is_moving && lead.contains(&"from") {
        scope.roles = Some(BTreeSet::from([0]));
    }
    scope
}
