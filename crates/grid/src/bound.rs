//! Numbers that bound cells: "more than 9 Mpps", "never exceeds 100 us".

use crate::model::{Grid, Measure, Place};
use crate::piece::{Claimed, Piece};
use crate::token::Unit;
use crate::verdict::CellVerdict;

/// The value of a cell as a number is written: the time of a packet for a rate.
pub(crate) fn value(grid: &Grid, place: Place, unit: Unit) -> Option<(f64, f64)> {
    let own = grid.at(place)?;
    if unit == Unit::Seconds && grid.columns[place.1].unit == Unit::Packets {
        return (own.value > 0.0).then(|| (1.0 / own.value, own.half / own.value / own.value));
    }
    Some((own.value, own.half))
}

/// What stands before a number and bounds it: above (`true`) or below.
pub(crate) fn bound_of(piece: &Piece, at: usize) -> Option<bool> {
    let from = at.saturating_sub(4);
    let words: Vec<&str> = piece.tokens[from..at].iter().map(|own| own.text.as_str()).collect();
    let has = |word: &str| words.contains(&word);
    let pair = |a: &str, b: &str| words.windows(2).any(|two| two == [a, b]);
    let is_denied = piece.has("never not no none nowhere nothing neither")
        || piece.tokens[from..at].iter().any(|own| own.text.ends_with("n't"));
    let above = pair("more", "than")
        || pair("at", "least")
        || pair("better", "than")
        || ["exceeds", "exceed", "exceeded", "passed", "passes", "topped"].into_iter().any(has)
        || has("above")
        || has("over")
        || pair("larger", "than")
        || pair("higher", "than");
    let below = pair("less", "than")
        || pair("at", "most")
        || has("below")
        || has("under")
        || pair("up", "to")
        || has("within")
        || has("inside")
        || pair("lower", "than")
        || pair("fewer", "than")
        || pair("smaller", "than");
    let is_reached = ["reach", "reaches", "reached", "past", "beyond"].into_iter().any(has)
        || [
            ("gets", "to"),
            ("get", "to"),
            ("got", "to"),
            ("as", "far"),
            ("as", "much"),
            ("as", "many"),
        ]
        .into_iter()
        .any(|(a, b)| pair(a, b));
    let is_short = is_denied && is_reached;
    match (above, below) {
        _ if is_short => Some(false),
        (true, false) => Some(!is_denied),
        (false, true) => Some(is_denied),
        _ => None,
    }
}

/// How much of a bound its rounding may be.
const MOST_SLACK: f64 = 0.03;

/// Words of a difference that a bound may be of.
const STEPS: &str = "gain gains gained win wins lose loses lost loss drop drops costs cost save saves saved difference differ \
    differs apart gap improves increase increases decrease grow grows shrink fell falls rise rises add adds added extra \
    longer shorter penalty overhead reduces reduced boost speedup between moves move varies vary";

/// "No run got as far as 3.39 Mpps", "every run is above 2 Mpps": the ends of runs of a block.
fn ends_of_runs(grid: &Grid, piece: &Piece, places: &[Place], above: bool) -> Option<Vec<Place>> {
    const ALL: &str = "no none never every all each any single";
    let of_runs = piece.has(ALL) && piece.has("run runs bench benches sample samples trial");
    let end = if above { Measure::Least } else { Measure::Most };
    let is_end = |own: &&Place| grid.columns[own.1].measure == end;
    let is_open = grid.is_block && of_runs && piece.columns.is_empty() && !piece.rows.is_empty();
    is_open.then(|| places.iter().filter(is_end).copied().collect())
}

/// "The only one that does not reach 50 Mpps": it, and no other row.
fn of_only(grid: &Grid, (row, column): Place, is_so: impl Fn(&Place) -> bool) -> CellVerdict {
    let is_odd = |other: &usize| {
        grid.at((*other, column)).is_some() && is_so(&(*other, column)) != (*other == row)
    };
    let odd = (0..grid.rows.len()).find(is_odd);
    odd.map_or(CellVerdict::Holds, |other| CellVerdict::Wrong(grid.shown((other, column))))
}

/// "Never exceeds 100 us", "stays below 18 us".
pub(crate) fn of_bound(
    grid: &Grid,
    piece: &Piece,
    claimed: &Claimed,
    places: &[Place],
    above: bool,
) -> CellVerdict {
    let number = claimed.number;
    // "at least 1 Mpps" is not half of it
    let slack = number.half.min(MOST_SLACK * number.value.abs());
    let is_beyond = |place: &&Place| {
        value(grid, **place, number.unit).is_some_and(|(value, half)| {
            if above {
                value < number.value - half - slack
            } else {
                value > number.value + half + slack
            }
        })
    };
    let ends = ends_of_runs(grid, piece, places, above);
    let places = ends.as_deref().unwrap_or(places);
    let mut columns: Vec<usize> = places.iter().map(|place| place.1).collect();
    columns.sort_unstable();
    columns.dedup();
    if let ([row], true, [column]) =
        (piece.own_rows().as_slice(), piece.has("only"), columns.as_slice())
    {
        return of_only(grid, (*row, *column), |place| !is_beyond(&place));
    }
    let odd: Vec<&Place> = places.iter().filter(is_beyond).collect();
    let Some(first) = odd.first() else { return CellVerdict::Holds };
    let is_of_all = odd.len() == places.len();
    const ALL: &str = "all every each any always never none no nothing nowhere";
    let is_universal = piece.has(ALL) || !piece.rows.is_empty();
    // "more than 9 Mpps" holds it against nothing else
    let is_than = |at: usize| piece.tokens[at].is("than") && claimed.at.abs_diff(at) > 2;
    let is_change =
        ((0..piece.tokens.len()).any(is_than) || piece.has(STEPS)) && piece.own_rows().len() != 1;
    let data = grid.shown(**first);
    // one of several rows may be meant
    let is_any = piece.is_group && !piece.has(ALL) && !is_of_all;
    match () {
        () if is_change || is_any => CellVerdict::Open,
        () if columns.len() == 1 && (is_of_all || is_universal) && !piece.has_taken_rows => {
            CellVerdict::Wrong(data)
        }
        () if is_of_all && !piece.rows.is_empty() => CellVerdict::Doubtful(data),
        () if columns.len() == 1 => CellVerdict::Doubtful(data),
        () => CellVerdict::Open,
    }
}
