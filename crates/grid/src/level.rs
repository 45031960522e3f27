//! Numbers of a clause that are values of cells, differences between them, or bounds of them.

use crate::bound::{bound_of, of_bound, value};
use crate::model::{Grid, Measure, Place};
use crate::piece::{Claimed, Piece};
use crate::token::{Number, Unit};
use crate::verdict::CellVerdict;

/// Words of what moves or is apart.
pub(crate) const CHANGES: &str = "more less faster slower above below ahead behind higher lower gain gains gained win \
    wins won lose loses lost loss drop drops dropped drops costs cost save saves saved difference differ apart over \
    under gap miss misses missed short improves improved improvement better worse increase increases increased decrease decreases decreased \
    grow grows grew shrink shrinks fell falls rise rises rose beats beat adds add added exceeds exceed gone missing \
    extra away between leaves shorter longer penalty overhead reduces reduced back off up down by boost speedup sooner bring brings brought \
    later earlier quieter louder cheaper lighter heavier";
/// Words of numbers that no cell is.
const OTHERS: &str = "offered offering sends sent generator generates limit target wanted theoretical datasheet \
    advertised spec nominal expected should would could maximal capacity together combined altogether total sum";
/// Words that make a number rough.
const SOFT: &str = "about around roughly approximately some nearly almost circa ~ near so ca approx just practically \
    hardly ish";

pub(crate) fn is_rough(piece: &Piece, at: usize) -> bool {
    let before = piece.tokens[at.saturating_sub(3)..at].iter();
    let behind = piece.tokens[at + 1..].iter().take(2);
    before.chain(behind).any(|own| own.is(SOFT)) || piece.tokens[at].text.starts_with(['~', '≈'])
}

/// Whether a written number is a value, as far as both are rounded.
pub fn agrees(own: Number, value: f64, half: f64, is_rough: bool) -> bool {
    let slack = if is_rough { 0.08 * own.value.abs() } else { 0.0 };
    (own.value.abs() - value.abs()).abs() <= (2.0 * own.half + half).max(slack) * 1.000_001
}

/// Whether a number can be of a column.
fn is_of_unit(grid: &Grid, column: usize, unit: Unit) -> bool {
    let own = &grid.columns[column];
    own.unit == unit
        || unit == Unit::Plain && own.unit == Unit::Packets
        || unit == Unit::Seconds && own.unit == Unit::Packets && own.measure != Measure::Spread
}

/// The columns that a number may be of.
fn columns(grid: &Grid, piece: &Piece, claimed: &Claimed) -> Vec<usize> {
    let is_own = |column: &usize| is_of_unit(grid, *column, claimed.number.unit);
    let named: Vec<usize> = piece.own_columns().into_iter().filter(is_own).collect();
    if !named.is_empty() {
        return named;
    }
    let is_told =
        |column: &usize| !grid.is_block || grid.columns[*column].measure != Measure::Spread;
    (0..grid.columns.len()).filter(is_own).filter(is_told).collect()
}

/// Every number of a clause that is no percentage and no factor.
pub(crate) fn check(grid: &Grid, piece: &Piece) -> Vec<CellVerdict> {
    let is_level = |own: &&Claimed| !matches!(own.number.unit, Unit::Percent | Unit::Times);
    let is_other = piece.has(OTHERS)
        || piece.has("load") && !grid.head.contains("load")
        || piece
            .tokens
            .windows(2)
            .any(|two| two[0].is("per each") && !two[1].is("packet frame second"));
    piece
        .claimed
        .iter()
        .filter(is_level)
        .map(|own| if is_other { CellVerdict::Open } else { of_number(grid, piece, own) })
        .collect()
}

fn of_number(grid: &Grid, piece: &Piece, claimed: &Claimed) -> CellVerdict {
    let columns = columns(grid, piece, claimed);
    let is_of_two = grid.is_block && grid.rows.len() == 2;
    let side = claimed.side.filter(|_| is_of_two);
    let next = row_behind(piece, claimed);
    let rows = side.or(next).map_or_else(|| piece.own_rows(), |row| vec![row]);
    let is_long = claimed.number.unit == Unit::Seconds && claimed.number.value > LONGEST;
    if is_of_another_scale(grid, claimed, &columns) {
        return CellVerdict::Open;
    }
    if columns.is_empty() || claimed.number.value == 0.0 || grid.is_block && is_long {
        return CellVerdict::Open;
    }
    let all: Vec<usize> =
        if rows.is_empty() { (0..grid.rows.len()).collect() } else { rows.clone() };
    let places: Vec<Place> =
        all.iter().flat_map(|row| columns.iter().map(move |column| (*row, *column))).collect();
    if let Some(above) = bound_of(piece, claimed.at)
        && (!piece.has(CHANGES_OF_TWO) || rows.len() < 2 || piece.has("both"))
        && side.is_none()
        && next.is_none()
    {
        return of_bound(grid, piece, claimed, &places, above);
    }
    let rough = is_rough(piece, claimed.at);
    let unit = claimed.number.unit;
    let is_it = |place: &Place| {
        value(grid, *place, unit)
            .is_some_and(|(value, half)| agrees(claimed.number, value, half, rough))
    };
    let moves = piece.has(CHANGES) && side.is_none() && next.is_none();
    if !moves || unit == Unit::Seconds {
        if places.iter().any(is_it) {
            let is_bound = !rows.is_empty() || unit == Unit::Seconds;
            return if is_bound { CellVerdict::Holds } else { CellVerdict::Open };
        }
        // "..., without any filter it is 253 ns": of a row that it does not name by its words
        if piece.has_taken_rows
            && grid.is_block
            && side.is_none()
            && any_middle(grid, &columns, is_it)
        {
            return CellVerdict::Holds;
        }
    } else if let Some(own) = of_difference(grid, piece, claimed, &columns) {
        return own;
    } else if rows.is_empty() && is_of_no_cells(grid, piece, claimed, &columns) {
        return CellVerdict::Doubtful(
            "no two cells of a row or a column are so far apart".to_owned(),
        );
    } else {
        return CellVerdict::Open;
    }
    // a difference, or a figure of something else
    let has_column = !piece.columns.is_empty() || grid.is_list && grid.columns.len() == 1;
    let is_bare = rows.len() == 1 && !piece.has_taken_rows && has_column && !moves;
    if !is_bare && is_apart(grid, claimed, rough) {
        return CellVerdict::Open;
    }
    let shown = || places.iter().take(4).map(|own| grid.shown(*own)).collect::<Vec<_>>().join("; ");
    let is_told = !piece.has_taken_rows
        || next.is_some()
        || !piece.own_columns().is_empty() && !piece.has_taken_columns
        || side.is_some();
    let is_named = rows.len() == 1 && is_told;
    // the time of a packet is one over a rate of the block
    let is_time =
        grid.is_block && unit == Unit::Seconds && piece.has("packet packets per-packet frame");
    match () {
        () if is_named
            && !moves
            && (side.is_none() || !piece.own_columns().is_empty() || unit == Unit::Seconds) =>
        {
            CellVerdict::Wrong(shown())
        }
        () if is_time && rows.len() < 2 && !moves => CellVerdict::Wrong(shown()),
        () if !rows.is_empty() => CellVerdict::Doubtful(shown()),
        () => CellVerdict::Open,
    }
}

/// The 60 s of a trial beside microseconds.
fn is_of_another_scale(grid: &Grid, claimed: &Claimed, columns: &[usize]) -> bool {
    const FAR: f64 = 2e3;
    let is_time = |at: &&usize| grid.columns[**at].unit == Unit::Seconds;
    let columns: Vec<&usize> = columns.iter().filter(is_time).collect();
    let cell = |at: usize| (0..grid.rows.len()).filter_map(move |row| grid.at((row, at)));
    let mut cells = columns.iter().flat_map(|at| cell(**at));
    let number = claimed.number;
    let is_near = |own: Number| number.value < FAR * own.value && own.value < FAR * number.value;
    number.unit == Unit::Seconds && !columns.is_empty() && !cells.any(is_near)
}

/// Seconds up to which a time is that of one packet.
const LONGEST: f64 = 1e-5;

/// "8.91 Mpps at 1 k": the one of several rows that stands behind a number.
fn row_behind(piece: &Piece, claimed: &Claimed) -> Option<usize> {
    let behind = |own: &&(usize, usize)| own.1 > claimed.at && own.1 <= claimed.at + 3;
    let is_between = |at: usize| piece.claimed.iter().any(|own| own.at > claimed.at && own.at < at);
    let (row, at) = *piece.rows.iter().find(behind)?;
    let is_beside = piece.tokens[claimed.at + 1].is("at with for on in by");
    (is_beside && piece.own_rows().len() > 1 && !is_between(at)).then_some(row)
}

/// Whether something is so of the mean or the median of any row.
fn any_middle(grid: &Grid, columns: &[usize], is_it: impl Fn(&Place) -> bool) -> bool {
    let middle = columns.iter().filter(|column| grid.columns[**column].measure == Measure::Middle);
    let mut places = middle.flat_map(|own| (0..grid.rows.len()).map(move |row| (row, *own)));
    places.any(|place| is_it(&place))
}

/// Words that hold two things against each other.
const CHANGES_OF_TWO: &str = "than";

/// "Doubling them adds another 3 Mpps" of a table in whose one column of that unit no two cells are so far apart.
fn is_of_no_cells(grid: &Grid, piece: &Piece, claimed: &Claimed, columns: &[usize]) -> bool {
    let rough = is_rough(piece, claimed.at);
    let mut cells = columns
        .iter()
        .flat_map(|at| (0..grid.rows.len()).filter_map(move |row| grid.at((row, *at))));
    let is_small = grid.rows.len() <= MOST && claimed.number.unit != Unit::Plain;
    let is_one = columns.len() == 1 && !grid.is_block && bound_of(piece, claimed.at).is_none();
    is_small
        && is_one
        && piece.has("another adds add gains loses brings costs")
        && !piece.has("than")
        && !is_apart(grid, claimed, rough)
        && !cells.any(|own| agrees(claimed.number, own.value, own.half, rough))
}

/// Whether a number is what two cells of one column, or of one row, are apart.
fn is_apart(grid: &Grid, claimed: &Claimed, rough: bool) -> bool {
    let is_own = |column: &usize| {
        grid.columns[*column].unit == claimed.number.unit
            || claimed.number.unit == Unit::Plain && grid.columns[*column].unit == Unit::Packets
    };
    let columns: Vec<usize> = (0..grid.columns.len()).filter(is_own).collect();
    let places: Vec<Place> = (0..grid.rows.len().min(MOST))
        .flat_map(|row| columns.iter().map(move |column| (row, *column)))
        .collect();
    places.iter().enumerate().any(|(at, one)| {
        places[at + 1..].iter().any(|other| {
            let is_beside = one.0 == other.0 || one.1 == other.1;
            let (Some(a), Some(b)) = (grid.at(*one), grid.at(*other)) else { return false };
            is_beside && agrees(claimed.number, a.value - b.value, a.half + b.half, rough)
        })
    })
}

/// Rows of which each is held against each other.
pub(crate) const MOST: usize = 24;

/// "1.5 Mpps above the fastest one": what two cells are apart.
fn of_difference(
    grid: &Grid,
    piece: &Piece,
    claimed: &Claimed,
    columns: &[usize],
) -> Option<CellVerdict> {
    let rough = is_rough(piece, claimed.at);
    let rows = piece.own_rows();
    let pair = match rows.as_slice() {
        [a, b] => (*a, *b),
        [_] | [] if grid.is_block && grid.rows.len() == 2 => (0, 1),
        [row] if !grid.is_block => {
            return Some(of_one_row(grid, piece, claimed, (*row, columns), rough));
        }
        _ => return None,
    };
    let is_plain = |column: &usize| {
        grid.columns[*column].measure != Measure::Spread || piece.own_columns().contains(column)
    };
    let columns: Vec<usize> = columns.iter().copied().filter(is_plain).collect();
    let places =
        |row: usize| columns.iter().map(move |column| (row, *column)).collect::<Vec<Place>>();
    let (first, second) = (places(pair.0), places(pair.1));
    let is_it = |one: &Place, other: &Place| {
        let (Some(a), Some(b)) = (grid.at(*one), grid.at(*other)) else { return false };
        agrees(claimed.number, a.value - b.value, a.half + b.half, rough)
            || agrees(claimed.number, b.value, b.half, rough)
            || agrees(claimed.number, a.value, a.half, rough)
    };
    let is_any = first.iter().any(|one| second.iter().any(|other| is_it(one, other)));
    let is_within = [&first, &second]
        .iter()
        .any(|own| own.iter().any(|one| own.iter().any(|other| is_it(one, other))));
    if is_any || is_within {
        return Some(CellVerdict::Holds);
    }
    if is_apart(grid, claimed, rough) {
        return None;
    }
    let (Some(one), Some(other)) = (first.last(), second.last()) else { return None };
    let data = format!("{}; {}", grid.shown(*one), grid.shown(*other));
    let is_certain = rows.len() == 2 && !piece.is_group && !piece.has_taken_rows
        || piece.own_columns().len() >= 2 && grid.rows.len() == 2;
    Some(if is_certain { CellVerdict::Wrong(data) } else { CellVerdict::Doubtful(data) })
}

/// "MACsec adds 4.7 us": a row of a table against whichever other.
fn of_one_row(
    grid: &Grid,
    piece: &Piece,
    claimed: &Claimed,
    (row, columns): (usize, &[usize]),
    rough: bool,
) -> CellVerdict {
    let own = claimed.number;
    // "5.3 s sooner on R2 than on R1"
    if let ([a, b], false) = (columns, piece.has_taken_columns || piece.own_columns().len() != 2) {
        let (Some(one), Some(other)) = (grid.at((row, *a)), grid.at((row, *b))) else {
            return CellVerdict::Open;
        };
        let is_it = agrees(own, one.value - other.value, one.half + other.half, rough)
            || [one, other].iter().any(|cell| agrees(own, cell.value, cell.half, rough));
        let data = format!("{}; {}", grid.shown((row, *a)), grid.shown((row, *b)));
        return match (is_it, piece.has_taken_rows) {
            (true, _) => CellVerdict::Holds,
            (false, false) => CellVerdict::Wrong(data),
            (false, true) => CellVerdict::Doubtful(data),
        };
    }
    let is_any = columns.iter().any(|column| {
        grid.at((row, *column)).is_some_and(|cell| {
            agrees(own, cell.value, cell.half, rough)
                || (0..grid.rows.len().min(MOST)).filter_map(|other| grid.at((other, *column))).any(
                    |other| agrees(own, cell.value - other.value, cell.half + other.half, rough),
                )
        })
    });
    if is_any || is_apart(grid, claimed, rough) {
        return CellVerdict::Holds;
    }
    let data = columns.first().map_or(String::new(), |column| grid.shown((row, *column)));
    let is_own = columns.len() == 1 && !piece.own_columns().is_empty()
        || columns.len() <= 2 && piece.columns.is_empty();
    let is_certain = is_own && !piece.has_taken_rows && !piece.has_taken_columns;
    if is_certain { CellVerdict::Wrong(data) } else { CellVerdict::Doubtful(data) }
}

/// "No frames were lost": a column of counts that are all 0.
pub(crate) fn none(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    let at = piece.find("no zero without")?;
    let is_next = |own: &&(usize, usize)| own.1 > at && own.1 <= at + 3;
    let (column, _) = piece.columns.iter().find(is_next)?;
    if grid.is_block
        || !piece.claimed.is_empty()
        || grid.columns[*column].unit != Unit::Plain
        || grid.columns[*column].measure != Measure::Open
    {
        return None;
    }
    let named = piece.own_rows();
    let rows = if named.is_empty() { (0..grid.rows.len()).collect() } else { named };
    let odd =
        rows.into_iter().find(|row| grid.at((*row, *column)).is_some_and(|own| own.value != 0.0));
    Some(odd.map_or(CellVerdict::Holds, |row| CellVerdict::Wrong(grid.shown((row, *column)))))
}
