//! What is said of all rows, of none, of so many, of one only, and which gains or loses most.

use crate::bound::bound_of;
use crate::level::{agrees, is_rough};
use crate::model::{Grid, Measure, Place};
use crate::order::{direction, is_more};
use crate::piece::Piece;
use crate::ratio::{Ratio, ratios};
use crate::token::{Number, Token, Unit};
use crate::verdict::CellVerdict;

const ALL: &str = "all every each always everywhere whatever whichever throughout any";
const NONE: &str = "no none nothing nowhere never neither";
const UP: &str = "gain gains gained faster improve improves improved improvement improvements profit profits profited win wins";
const DOWN: &str = "lose loses lost loss losses drop drops dropped slower regress regresses regressed regression falls fell decrease \
    decreases decreased";
const MOVES: &str = "change changes changed move moves moved differ differs differed";

/// What is said of several rows at once; `None` where nothing is, or where it cannot be held against rows.
pub(crate) fn check(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    if piece.has("except but besides almost nearly") {
        return None;
    }
    both(grid, piece)
        .or_else(|| counted(grid, piece))
        .or_else(|| only(grid, piece))
        .or_else(|| most(grid, piece))
        .or_else(|| of_changes(grid, piece))
        .or_else(|| slower(grid, piece))
        .or_else(|| of_ratios(grid, piece))
        .or_else(|| nowhere(grid, piece))
}

/// How far each row goes from what it was to what it is, in per cent.
struct Changes {
    values: Vec<Option<Number>>,
    /// They stand in a column of their own.
    is_shown: bool,
}

impl Changes {
    fn of(grid: &Grid) -> Option<Self> {
        const NAMES: [&str; 7] = ["change", "diff", "difference", "delta", "gain", "impact", "vs"];
        if grid.is_block || grid.is_list {
            return None;
        }
        let column = |at: usize| (0..grid.rows.len()).map(move |row| grid.at((row, at)));
        let is_named = |at: &usize| {
            let own = &grid.columns[*at];
            own.unit == Unit::Percent
                && (NAMES.iter().any(|name| own.name.words.contains(*name))
                    || column(*at).flatten().any(|own| own.value < 0.0))
        };
        if let Some(at) = (0..grid.columns.len()).find(is_named) {
            return Some(Self { values: column(at).collect(), is_shown: true });
        }
        let (a, b) = pair(grid)?;
        let value = |row: usize| {
            let (a, b) = (grid.at((row, a))?, grid.at((row, b))?);
            let half = 100.0 * (a.half / a.value + b.half / b.value);
            let value = 100.0 * (b.value / a.value - 1.0);
            (a.value > 0.0).then_some(Number { value, half, unit: Unit::Percent })
        };
        Some(Self { values: (0..grid.rows.len()).map(value).collect(), is_shown: false })
    }

    /// Blames only by what is shown.
    fn told(&self, data: String) -> CellVerdict {
        if self.is_shown { CellVerdict::Wrong(data) } else { CellVerdict::Doubtful(data) }
    }

    fn shown(&self, grid: &Grid, row: usize) -> String {
        let value = self.values[row].map_or(0.0, |own| own.value);
        format!("'{}' changes by {value:+.1} %", grid.rows[row].text)
    }
}

/// The two columns of rates that a table has, if it has no third.
fn pair(grid: &Grid) -> Option<(usize, usize)> {
    let is_rate = |at: &usize| {
        let own = &grid.columns[*at];
        matches!(own.unit, Unit::Packets | Unit::Bits)
            && matches!(own.measure, Measure::Open | Measure::Middle)
    };
    let mut all = (0..grid.columns.len()).filter(is_rate);
    let (a, b, None) = (all.next()?, all.next()?, all.next()) else { return None };
    (grid.columns[a].unit == grid.columns[b].unit).then_some((a, b))
}

/// Which way a clause says that something goes: up, down, or either.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Up,
    Down,
    Any,
}

fn way(piece: &Piece) -> Option<Way> {
    match (piece.has(UP), piece.has(DOWN), piece.has(MOVES)) {
        (true, false, _) => Some(Way::Up),
        (false, true, _) => Some(Way::Down),
        (false, false, true) => Some(Way::Any),
        _ => None,
    }
}

fn along(way: Way, value: f64) -> f64 {
    match way {
        Way::Up => value,
        Way::Down => -value,
        Way::Any => value.abs(),
    }
}

/// The rows that are spoken of all together: those of a name that several have, else all.
fn rows(grid: &Grid, piece: &Piece) -> Option<Vec<usize>> {
    let named = piece.own_rows();
    match named.len() {
        0 => Some((0..grid.rows.len()).collect()),
        1 => None,
        _ => piece.is_group.then_some(named),
    }
}

fn is_of_all(piece: &Piece) -> bool {
    let is_not =
        piece.tokens.windows(2).any(|two| two[0].is("not") && two[1].is("all every each any"));
    !is_not && (piece.has(ALL) || piece.has(NONE))
}

/// "No virtio case lost more than 1 %", "nothing gains less than 10 %".
fn of_changes(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    let [claimed] = piece.claimed.as_slice() else { return None };
    let is_named = piece.own_columns().iter().any(|at| grid.columns[*at].unit != Unit::Percent);
    if !is_of_all(piece) || is_named || claimed.number.unit != Unit::Percent {
        return None;
    }
    let (way, above) = (way(piece)?, bound_of(piece, claimed.at)?);
    let (changes, rows) = (Changes::of(grid)?, rows(grid, piece)?);
    let is_odd = |row: &usize| {
        changes.values[*row].is_some_and(|own| {
            let slack = own.half + claimed.number.half;
            let over = along(way, own.value) - claimed.number.value.abs();
            if above { over < -slack } else { over > slack }
        })
    };
    Some(match rows.iter().find(|row| is_odd(row)) {
        None => CellVerdict::Holds,
        Some(row) => changes.told(changes.shown(grid, *row)),
    })
}

/// "Nowhere does it make anything slower", "every case improved".
fn slower(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    let is_other = !piece.claimed.is_empty() || !piece.columns.is_empty() || piece.has("than not");
    let way = way(piece).filter(|own| *own != Way::Any)?;
    // "no case": of what heads the rows
    let is_no =
        piece.tokens.windows(2).any(|two| two[0].is("no") && grid.head.contains(&two[1].root));
    let is_none = is_no || piece.has("nowhere nothing none never neither");
    let is_all = piece.has("all every each everywhere");
    if is_other || is_none == is_all || piece.has("packet packets frame frames no") && !is_no {
        return None;
    }
    let (changes, rows) = (Changes::of(grid)?, rows(grid, piece)?);
    let is_odd = |row: &usize| {
        changes.values[*row].is_some_and(|own| match is_none {
            true => along(way, own.value) > own.half,
            false => along(way, own.value) < -own.half,
        })
    };
    Some(match rows.iter().find(|row| is_odd(row)) {
        None => CellVerdict::Holds,
        Some(row) => changes.told(changes.shown(grid, *row)),
    })
}

/// "A never gets to half of B", "all keep more than 90 % of B", row by row.
fn of_ratios(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    let all = ratios(piece);
    let ([own], true) = (all.as_slice(), is_of_all(piece)) else { return None };
    let above = bound_of(piece, own.at)?;
    let (first, second) = sides(&piece.columns, own.at)?;
    let is_of = piece.tokens[own.at + 1..].iter().take(3).any(|token| token.is("of as what"));
    if !is_of || grid.is_block || grid.columns[first].unit != grid.columns[second].unit {
        return None;
    }
    let scale = if own.number.unit == Unit::Percent { 100.0 } else { 1.0 };
    let is_odd = |row: &usize| is_beyond(grid, (*row, first), (*row, second), (own, scale, above));
    let rows = rows(grid, piece)?;
    Some(match rows.iter().find(|row| is_odd(row)) {
        None => CellVerdict::Holds,
        Some(row) => {
            let (a, b) = ((*row, first), (*row, second));
            CellVerdict::Wrong(format!("{}; {}", grid.shown(a), grid.shown(b)))
        }
    })
}

/// Whether one cell is more of another than a bound allows, or less.
fn is_beyond(grid: &Grid, a: Place, b: Place, (own, scale, above): (&Ratio, f64, bool)) -> bool {
    let (Some(a), Some(b)) = (grid.at(a), grid.at(b)) else { return false };
    if a.value <= 0.0 || b.value <= 0.0 {
        return false;
    }
    let share = scale * a.value / b.value;
    let slack = share * (a.half / a.value + b.half / b.value) + own.number.half;
    let over = share - own.number.value;
    if above { over < -slack } else { over > slack }
}

/// The one that is named before a place and the one behind it.
fn sides(all: &[(usize, usize)], at: usize) -> Option<(usize, usize)> {
    let of = |is: &dyn Fn(usize) -> bool| {
        let mut own: Vec<usize> = all.iter().filter(|own| is(own.1)).map(|own| own.0).collect();
        own.dedup();
        own
    };
    match (of(&|own| own < at).as_slice(), of(&|own| own > at).as_slice()) {
        ([a], [b]) if a != b => Some((*a, *b)),
        _ => None,
    }
}

/// "Nowhere does A do worse than B".
fn nowhere(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    if grid.is_block
        || !piece.has("nowhere never")
        || !piece.has("than")
        || !piece.claimed.is_empty()
    {
        return None;
    }
    let at = (0..piece.tokens.len()).find(|at| direction(piece, *at, Unit::Packets).is_some())?;
    let (first, second) = sides(&piece.columns, at)?;
    let more = direction(piece, at, grid.columns[first].unit)?;
    if grid.columns[first].unit != grid.columns[second].unit {
        return None;
    }
    let is_so = |row: &usize| is_more(grid, (*row, first), (*row, second)) == Some(more);
    let rows = rows(grid, piece)?;
    Some(match rows.iter().find(|row| is_so(row)) {
        None => CellVerdict::Holds,
        Some(row) => {
            let (a, b) = ((*row, first), (*row, second));
            CellVerdict::Wrong(format!("{}; {}", grid.shown(a), grid.shown(b)))
        }
    })
}

/// "Three of the five gain at least 10 %".
fn counted(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    let count = |own: &Token| own.number.filter(|own| own.unit == Unit::Plain).map(|own| own.value);
    let is_of = |at: usize| {
        let mut behind = piece.tokens[at + 1..].iter().skip_while(|own| own.is("of the all"));
        piece.tokens.get(at + 1).is_some_and(|own| own.is("of"))
            && behind.next().and_then(count) == Some(as_value(grid.rows.len()))
    };
    let at =
        (0..piece.tokens.len()).find(|at| count(&piece.tokens[*at]).is_some() && is_of(*at))?;
    let said = count(&piece.tokens[at])?;
    let (way, changes) = (way(piece)?, Changes::of(grid)?);
    let limit = piece.claimed.iter().find(|own| own.number.unit == Unit::Percent);
    if way == Way::Any
        || piece.has(NONE)
        || limit.is_some_and(|own| bound_of(piece, own.at) != Some(true))
    {
        return None;
    }
    let least = limit.map_or(0.0, |own| own.number.value);
    let half = |own: &Number| own.half + limit.map_or(0.0, |own| own.number.half);
    let known = || changes.values.iter().flatten();
    let over = |own: &&Number| along(way, own.value) > least + half(own);
    let near = |own: &&Number| along(way, own.value) > least - half(own);
    let (fewest, most) = match limit {
        Some(_) => (known().filter(over).count(), known().filter(near).count()),
        // what is a gain of so little that none is meant
        None => (
            known().filter(|own| along(way, own.value) > CLEAR).count(),
            known().filter(over).count(),
        ),
    };
    let data = || format!("{fewest} to {most} of them do so");
    let is_so = (as_value(fewest)..=as_value(most)).contains(&said);
    Some(if is_so { CellVerdict::Holds } else { changes.told(data()) })
}

/// A change in per cent that nobody takes for none.
const CLEAR: f64 = 3.0;

fn as_value(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// "X is the only one that loses".
fn only(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    let named = piece.own_rows();
    let ([row], true) = (named.as_slice(), piece.has("only")) else { return None };
    let is_other = !piece.claimed.is_empty() || piece.has(NONE) || !piece.columns.is_empty();
    let (way, changes) = (way(piece)?, Changes::of(grid)?);
    if is_other || way == Way::Any {
        return None;
    }
    let is_so =
        |at: &usize| changes.values[*at].is_some_and(|own| along(way, own.value) > own.half);
    let odd = (0..grid.rows.len()).find(|at| is_so(at) != (at == row));
    Some(odd.map_or(CellVerdict::Holds, |at| changes.told(changes.shown(grid, at))))
}

/// "The best gain is seen with X", "X loses most".
fn most(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    const MOST: &str = "best biggest largest highest greatest deepest worst most steepest";
    let way = way(piece).filter(|own| *own != Way::Any)?;
    let is_said = |at: usize| {
        let is_verb = |own: &Token| own.is(UP) || own.is(DOWN);
        piece.tokens[at].is(MOST)
            && (piece.tokens.get(at + 1).is_some_and(is_verb)
                || piece.tokens[at].is("most") && at > 0 && is_verb(&piece.tokens[at - 1]))
    };
    let named = piece.own_rows();
    let is_open = named.is_empty() || piece.has_taken_rows || !piece.columns.is_empty();
    if !(0..piece.tokens.len()).any(is_said) || is_open || piece.has(NONE) || piece.has("not among")
    {
        return None;
    }
    let changes = Changes::of(grid)?;
    let value = |row: &usize| changes.values[*row].map(|own| along(way, own.value));
    let best = named.iter().filter_map(value).reduce(f64::max)?;
    let half =
        named.iter().filter_map(|row| changes.values[*row]).map(|own| own.half).fold(0.0, f64::max);
    let odd =
        (0..grid.rows.len()).find(|row| value(row).is_some_and(|own| own > best + 2.0 * half));
    Some(odd.map_or(CellVerdict::Holds, |row| changes.told(changes.shown(grid, row))))
}

/// "Both draw 61 W": each of the two.
fn both(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    let (rows, claimed) = (piece.own_rows(), piece.claimed.as_slice());
    let ([_, _], [claimed], true) = (rows.as_slice(), claimed, piece.has("both")) else {
        return None;
    };
    let number = claimed.number;
    let is_level = !matches!(number.unit, Unit::Percent | Unit::Times | Unit::Plain);
    if !is_level || bound_of(piece, claimed.at).is_some() || piece.has("together than by") {
        return None;
    }
    let named = piece.own_columns();
    let is_own = |at: &usize| {
        grid.columns[*at].unit == number.unit && (named.is_empty() || named.contains(at))
    };
    let columns: Vec<usize> = (0..grid.columns.len()).filter(is_own).collect();
    let rough = is_rough(piece, claimed.at);
    let is_it = |row: usize, at: usize| {
        grid.at((row, at)).is_some_and(|own| agrees(number, own.value, own.half, rough))
    };
    let has = |row: usize| columns.iter().any(|at| is_it(row, *at));
    let first = *columns.first()?;
    Some(match rows.into_iter().find(|row| !has(*row)) {
        None => CellVerdict::Holds,
        Some(row) => CellVerdict::Doubtful(grid.shown((row, first))),
    })
}
