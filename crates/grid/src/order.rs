//! "X exceeds Y", "the lowest maximum is that of 64 bytes", "X scatters more": what is more and what is less.

use std::collections::BTreeSet;

use crate::level::MOST;
use crate::model::{Grid, Measure, Place};
use crate::piece::Piece;
use crate::token::{Token, Unit};
use crate::verdict::CellVerdict;

const NEGATIONS: &str =
    "not no never neither nor cannot can't isn't doesn't don't none without hardly barely";

/// Words of more and of less; those of speed turn round where times are measured.
const MORE: &str =
    "exceeds exceed exceeded above ahead higher more larger greater bigger longer louder heavier";
const LESS: &str = "below behind lower less smaller fewer shorter quieter lighter cheaper";
const QUICK: &str = "faster beats beat outperforms quicker better overtakes overtook overtaken outruns outran sooner earlier";
const SLOW: &str = "slower worse later";

/// Whether the value of what stands first is the larger one.
pub(crate) fn direction(piece: &Piece, at: usize, unit: Unit) -> Option<bool> {
    let token = &piece.tokens[at];
    let is_time = unit == Unit::Seconds;
    if token.is(MORE) {
        Some(true)
    } else if token.is(LESS) {
        Some(false)
    } else if token.is(QUICK) {
        Some(!is_time)
    } else if token.is(SLOW) {
        Some(is_time)
    } else {
        None
    }
}

/// "IPv6 exceeds IPv4", "X is slower than Y".
pub(crate) fn compared(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    // "behind nftables" may be what a row is called
    let is_name = |at: usize| piece.rows.iter().any(|own| own.1 == at);
    let is_one = |at: &usize| direction(piece, *at, Unit::Packets).is_some() && !is_name(*at);
    let at = (0..piece.tokens.len()).find(is_one)?;
    // "less than six times what one does"
    let is_factor = |own: &Token| {
        let is_ratio = |unit: Unit| matches!(unit, Unit::Times | Unit::Percent);
        own.number.is_some_and(|own| is_ratio(own.unit)) || own.is("twice thrice half double")
    };
    let is_denied = |at: usize| piece.tokens[at].is(NEGATIONS) && !is_name(at);
    if (0..piece.tokens.len()).any(is_denied)
        || piece.tokens[at + 1..].iter().take(3).any(is_factor)
    {
        return None;
    }
    let sides = |all: &[(usize, usize)]| -> Option<(usize, usize)> {
        let mut first: Vec<usize> = all.iter().filter(|own| own.1 < at).map(|own| own.0).collect();
        let mut second: Vec<usize> = all.iter().filter(|own| own.1 > at).map(|own| own.0).collect();
        first.dedup();
        second.dedup();
        match (first.as_slice(), second.as_slice()) {
            ([a], [b]) if a != b => Some((*a, *b)),
            _ => None,
        }
    };
    // "100k routes with it are quicker than 1k without"
    if !grid.is_block
        && !piece.has_taken_rows
        && !piece.has_taken_columns
        && let (Some((a, b)), Some((c, d))) = (sides(&piece.rows), sides(&piece.columns))
        && grid.columns[c].unit == grid.columns[d].unit
    {
        let more = direction(piece, at, grid.columns[c].unit)?;
        let is_so = is_more(grid, (a, c), (b, d))? == more;
        let data = format!("{}; {}", grid.shown((a, c)), grid.shown((b, d)));
        return Some(if is_so { CellVerdict::Holds } else { CellVerdict::Wrong(data) });
    }
    if !piece.has_taken_columns
        && !grid.is_block
        && let Some((first, second)) = sides(&piece.columns)
        && grid.columns[first].unit == grid.columns[second].unit
    {
        return between_columns(grid, piece, at, (first, second));
    }
    if piece.has_taken_rows && !piece.is_referring {
        return None;
    }
    // "the worst run of one beats the best of the other"
    if grid.is_block && piece.own_columns().len() > 1 {
        let ((a, b), (c, d)) = (sides(&piece.rows)?, sides(&piece.columns)?);
        let more = direction(piece, at, grid.columns[c].unit)?;
        let is_so = is_more(grid, (a, c), (b, d))? == more;
        let data = format!("{}; {}", grid.shown((a, c)), grid.shown((b, d)));
        return Some(if is_so { CellVerdict::Holds } else { CellVerdict::Wrong(data) });
    }
    if piece.has("expensive costly cheaper cost") && piece.columns.is_empty() {
        return None;
    }
    let Some((first, second)) = sides(&piece.rows) else { return of_groups(grid, piece, at) };
    let columns = comparable(grid, piece);
    let one = |column: usize| {
        let more = direction(piece, at, grid.columns[column].unit)?;
        is_more(grid, (first, column), (second, column)).map(|own| own == more)
    };
    let all: Vec<bool> = columns.iter().filter_map(|column| one(*column)).collect();
    let data = || {
        let column = columns.first().copied().unwrap_or(0);
        format!("{}; {}", grid.shown((first, column)), grid.shown((second, column)))
    };
    match (all.contains(&true), all.contains(&false)) {
        (true, false) => Some(CellVerdict::Holds),
        (false, true) => Some(CellVerdict::Wrong(data())),
        // as much as the other, as far as it is written
        (false, false) if is_same(grid, &columns, first, second) => {
            Some(CellVerdict::Doubtful(data()))
        }
        _ => None,
    }
}

/// "IPv6 came off lighter than IPv4 both with it and without": rows of two kinds, each against that which is called as it
/// is but for the kind.
fn of_groups(grid: &Grid, piece: &Piece, at: usize) -> Option<CellVerdict> {
    let group = |is: &dyn Fn(usize) -> bool| -> BTreeSet<usize> {
        piece.rows.iter().filter(|own| is(own.1)).map(|own| own.0).collect()
    };
    let (first, second) = (group(&|own| own < at), group(&|own| own > at));
    let columns = piece.own_columns();
    let column = match columns.as_slice() {
        [one] => *one,
        [] if grid.columns.len() == 1 => 0,
        _ => return None,
    };
    let more = direction(piece, at, grid.columns[column].unit)?;
    let is_open = grid.is_block || piece.has_taken_rows || !first.is_disjoint(&second);
    if is_open || first.len() < 2 || first.len() != second.len() || first.len() > MOST {
        return None;
    }
    let is_alike = |a: usize, b: usize| {
        let (a, b) = (&grid.rows[a].words, &grid.rows[b].words);
        a.difference(b).count() == 1 && b.difference(a).count() == 1
    };
    let pairs = first.iter().map(|a| Some((*a, *second.iter().find(|b| is_alike(*a, **b))?)));
    let pairs: Vec<(usize, usize)> = pairs.collect::<Option<_>>()?;
    let is_so = |(a, b): &(usize, usize)| is_more(grid, (*a, column), (*b, column)) == Some(more);
    let odd: Vec<&(usize, usize)> = pairs.iter().filter(|own| !is_so(own)).collect();
    let Some((a, b)) = odd.first() else { return Some(CellVerdict::Holds) };
    let data = format!("{}; {}", grid.shown((*a, column)), grid.shown((*b, column)));
    let is_all = odd.len() == pairs.len() || piece.has("both all every each either always");
    is_all.then_some(CellVerdict::Doubtful(data))
}

/// Whether two rows have one value in each of some columns.
fn is_same(grid: &Grid, columns: &[usize], first: usize, second: usize) -> bool {
    let value = |row: usize, at: &usize| grid.at((row, *at)).map(|own| own.value);
    let is_it = |at: &usize| value(first, at).is_some() && value(first, at) == value(second, at);
    !columns.is_empty() && !grid.is_block && columns.iter().all(is_it)
}

/// "X ties with Y", "X is on a par with Y": two rows that are far apart in each column that may be meant.
pub(crate) fn level_with(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    const SAME: &str = "ties tie tied equals equal matches par identical";
    const FAR: f64 = 0.03;
    let is_same = piece.has(SAME)
        || piece.tokens.windows(2).any(|two| two[0].is("level same") && two[1].is("with as"));
    let is_open = piece.has(NEGATIONS) || piece.has_taken_rows || piece.is_group;
    let rows = piece.own_rows();
    let ([a, b], true, false) = (rows.as_slice(), is_same, is_open) else { return None };
    let pairs: Vec<(Place, Place)> = match piece.own_columns().as_slice() {
        [c, d] if grid.is_block => vec![((*a, *c), (*b, *d))],
        [_, _, ..] => return None,
        _ => comparable(grid, piece).iter().map(|at| ((*a, *at), (*b, *at))).collect(),
    };
    let is_far = |(a, b): &(Place, Place)| {
        let (Some(a), Some(b)) = (grid.at(*a), grid.at(*b)) else { return false };
        (a.value - b.value).abs() > FAR * a.value.abs() + a.half + b.half
    };
    let (one, other) = *pairs.first()?;
    let data = format!("{}; {}", grid.shown(one), grid.shown(other));
    pairs.iter().all(is_far).then_some(CellVerdict::Doubtful(data))
}

fn between_columns(
    grid: &Grid,
    piece: &Piece,
    at: usize,
    (first, second): (usize, usize),
) -> Option<CellVerdict> {
    let more = direction(piece, at, grid.columns[first].unit)?;
    let is_so = |row: usize| is_more(grid, (row, first), (row, second)).map(|own| own == more);
    let named = piece.own_rows();
    let shown = |row: usize| format!("{}; {}", grid.shown((row, first)), grid.shown((row, second)));
    if piece.has("only") && !named.is_empty() {
        let odd = (0..grid.rows.len())
            .find(|row| is_so(*row).is_some_and(|own| own != named.contains(row)));
        return Some(odd.map_or(CellVerdict::Holds, |row| CellVerdict::Wrong(shown(row))));
    }
    let rows = if named.is_empty() { (0..grid.rows.len()).collect() } else { named };
    let all: Vec<(usize, bool)> =
        rows.into_iter().filter_map(|row| Some((row, is_so(row)?))).collect();
    let odd = all.iter().find(|own| !own.1).map(|own| own.0);
    match (all.iter().any(|own| own.1), odd) {
        (true, None) => Some(CellVerdict::Holds),
        (false, Some(row)) => Some(CellVerdict::Wrong(shown(row))),
        (true, Some(row)) if piece.has("all every always each") => {
            Some(CellVerdict::Wrong(shown(row)))
        }
        _ => None,
    }
}

/// The columns in which rows are held against each other: those that are named, else those of what is measured.
fn comparable(grid: &Grid, piece: &Piece) -> Vec<usize> {
    let named = piece.own_columns();
    if !named.is_empty() {
        return named;
    }
    let is_own = |column: &usize| {
        let own = &grid.columns[*column];
        own.measure != Measure::Spread
            && !matches!(own.unit, Unit::Percent | Unit::Plain | Unit::Times)
            && (!grid.is_block || own.measure == Measure::Middle)
    };
    (0..grid.columns.len()).filter(is_own).collect()
}

/// `None` where they are the same as far as they are written.
pub(crate) fn is_more(grid: &Grid, first: Place, second: Place) -> Option<bool> {
    let (a, b) = (grid.at(first)?, grid.at(second)?);
    ((a.value - b.value).abs() > a.half + b.half).then_some(a.value > b.value)
}

const FIRST: &str = "highest largest biggest greatest most";
const LAST: &str = "lowest smallest least fewest";
const QUICKEST: &str = "fastest best quickest";
const SLOWEST: &str = "slowest worst";
const STEADY: &str = "stablest steadiest";
const NOISY: &str = "noisiest";

/// Whether a superlative is of all rows: "the slowest image", "the best of all", and not "the best firewall".
pub(crate) fn is_of_all(grid: &Grid, piece: &Piece, at: usize) -> bool {
    // "the best case" is of what is gained as often as of what is measured
    const ANY: &str = "of one ones setting settings result results series rate value average mean throughput \
        overall in with at and by for is are was were packet forwarding performance spread stddev noise setup variant";
    let Some(next) = piece.tokens.get(at + 1).filter(|_| !piece.tokens[at].is_last) else {
        return true;
    };
    let is_measure = piece.columns.iter().any(|own| own.1 == at + 1 || own.1 == at);
    let is_row = piece.rows.iter().any(|own| own.1 == at + 1);
    next.is(ANY) || is_measure || !is_row && grid.head.contains(&next.root)
}

/// Which columns a superlative is of, and whether the largest value is meant.
fn superlative(grid: &Grid, piece: &Piece) -> Option<(Vec<usize>, bool)> {
    let is_next =
        |at: usize, words: &str| piece.tokens.get(at + 1).is_some_and(|own| own.is(words));
    let steady = (0..piece.tokens.len()).find_map(|at| match &piece.tokens[at] {
        own if own.is(STEADY) || own.is("most") && is_next(at, "stable steady constant") => {
            Some(false)
        }
        own if own.is(NOISY) || own.is("most") && is_next(at, "noisy unstable") => Some(true),
        _ => None,
    });
    if let Some(is_noisy) = steady {
        let spread = grid.columns.iter().position(|own| own.measure == Measure::Spread)?;
        return Some((vec![spread], is_noisy));
    }
    let named: Vec<usize> = piece.own_columns();
    let columns = if named.is_empty() { comparable(grid, piece) } else { named };
    let is_time = grid.columns.get(*columns.first()?)?.unit == Unit::Seconds;
    let is_of_runs = |at: usize| {
        let mut behind = piece.tokens[at + 1..].iter().take(3);
        piece.tokens[at].is("fastest best slowest worst")
            && behind.any(|own| own.is("run runs bench sample trial value values one"))
    };
    let find = |list: &str| {
        (0..piece.tokens.len()).find(|at| {
            let is_free = piece.tokens[*at].seat.is_none() && !is_of_runs(*at);
            piece.tokens[*at].is(list) && is_free && is_of_all(grid, piece, *at)
        })
    };
    let price = if piece.own_columns().is_empty() { "" } else { "cheapest" };
    let lists =
        [(FIRST, true), (LAST, false), (price, false), (QUICKEST, !is_time), (SLOWEST, is_time)];
    let mut found = lists.iter().filter(|(list, _)| find(list).is_some()).map(|(_, most)| *most);
    let (most, None) = (found.next()?, found.next()) else { return None };
    Some((columns, most))
}

/// "The lowest maximum was seen with 64 byte frames", "16k shows the smallest minimum of all".
pub(crate) fn extreme(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    if let Some(verdict) = extreme_column(grid, piece) {
        return Some(verdict);
    }
    let rows = piece.own_rows();
    let [row] = rows.as_slice() else { return None };
    if piece.has_taken_rows
        || piece.has(NEGATIONS)
        || piece.has("second third except but after among")
    {
        return None;
    }
    let (columns, wants_most) = superlative(grid, piece)?;
    let is_far = |other: usize, column: usize| {
        other != *row && is_more(grid, (other, column), (*row, column)) == Some(wants_most)
    };
    let rival = |column: usize| (0..grid.rows.len()).find(|other| is_far(*other, column));
    let rivals: Vec<Option<usize>> = columns.iter().map(|column| rival(*column)).collect();
    if rivals.iter().any(Option::is_none) {
        return Some(CellVerdict::Holds);
    }
    let (column, other) = (columns[0], rivals[0]?);
    Some(CellVerdict::Wrong(format!(
        "{}; {}",
        grid.shown((*row, column)),
        grid.shown((other, column))
    )))
}

/// "At 10 k flows, vendor A is the fastest": columns of one unit held against each other in the rows that are named.
fn extreme_column(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    let named = piece.own_columns();
    let [column] = named.as_slice() else { return None };
    let own = &grid.columns[*column];
    let is_rival = |at: &usize| {
        *at != *column
            && grid.columns[*at].measure == Measure::Open
            && grid.columns[*at].unit == own.unit
    };
    let rivals: Vec<usize> = (0..grid.columns.len()).filter(is_rival).collect();
    if own.measure != Measure::Open
        || rivals.is_empty()
        || own.unit == Unit::Plain
        || piece.has(NEGATIONS)
        || piece.has("among except but")
    {
        return None;
    }
    let is_time = own.unit == Unit::Seconds;
    let lists = [(FIRST, true), (LAST, false), (QUICKEST, !is_time), (SLOWEST, is_time)];
    let (at, most) = lists.iter().find_map(|(list, most)| Some((piece.find(list)?, *most)))?;
    // "the highest power under load" is of rows
    if piece.columns.iter().any(|own| own.1 > at) {
        return None;
    }
    let rows = piece.own_rows();
    let rows = if rows.is_empty() { (0..grid.rows.len()).collect() } else { rows };
    let odd = |row: usize| {
        rivals.iter().find(|at| is_more(grid, (row, **at), (row, *column)) == Some(most)).copied()
    };
    let odds: Vec<(usize, usize)> =
        rows.iter().filter_map(|row| Some((*row, odd(*row)?))).collect();
    let is_every = piece.has("every each all always everywhere");
    match odds.first() {
        None => Some(CellVerdict::Holds),
        Some((row, other)) if odds.len() == rows.len() || is_every => Some(CellVerdict::Wrong(
            format!("{}; {}", grid.shown((*row, *column)), grid.shown((*row, *other))),
        )),
        Some(_) => None,
    }
}

/// "It grows monotonically", "the maximum goes up with every step": of a column from above to below.
pub(crate) fn monotonic(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    const UP: &str = "grow grows rise rises increase increases climbs up higher";
    const DOWN: &str = "fall falls drop drops decrease decreases shrinks down lower";
    let has_steps =
        piece.tokens.windows(2).any(|two| two[0].is("every each") && two[1].is("step row"));
    if !has_steps && !piece.has("monotonically monotonic strictly") || piece.has(NEGATIONS) {
        return None;
    }
    let is_up = match (piece.has(UP), piece.has(DOWN)) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    let columns = piece.own_columns();
    let [column] = columns.as_slice() else { return None };
    if grid.is_block || grid.rows.len() < 3 {
        return None;
    }
    let is_back = |row: &usize| is_more(grid, (*row, *column), (*row - 1, *column)) == Some(!is_up);
    Some(match (1..grid.rows.len()).find(is_back) {
        None => CellVerdict::Holds,
        Some(row) => CellVerdict::Wrong(format!(
            "{}; {}",
            grid.shown((row - 1, *column)),
            grid.shown((row, *column))
        )),
    })
}

/// "The series makes it more stable", "it spreads wider than stock": of two sets of a block.
pub(crate) fn steadier(grid: &Grid, piece: &Piece) -> Option<CellVerdict> {
    if !grid.is_block || grid.rows.len() != 2 || piece.has(NEGATIONS) || !piece.claimed.is_empty() {
        return None;
    }
    let spread = grid.columns.iter().position(|own| own.measure == Measure::Spread)?;
    let pair = |first: &str, second: &str| {
        piece.tokens.windows(2).position(|two| {
            (two[0].is(first) && two[1].is(second)) || (two[1].is(first) && two[0].is(second))
        })
    };
    let scatters = "spread spreads scatter scatters varies vary";
    let is_less = piece
        .find("steadier tighter stabler")
        .or_else(|| pair("more", "stable steady consistent reproducible repeatable"))
        .or_else(|| {
            pair("less", "noise noisy scatter variation variance jitter jittery spread scattered")
        })
        .or_else(|| pair("less tighter", scatters));
    let is_wide = piece
        .find("noisier")
        .or_else(|| pair("more", "widely"))
        .or_else(|| pair("less", "stable steady consistent reproducible repeatable"))
        .or_else(|| pair("more", "noise noisy scatter variation variance jitter jittery scattered"))
        .or_else(|| pair("more wider", scatters));
    let (at, wider) = match (is_less, is_wide) {
        (Some(at), None) => (at, false),
        (None, Some(at)) => (at, true),
        _ => return None,
    };
    let row = match piece.own_rows().as_slice() {
        [one] => *one,
        [..] if piece.has("than") => piece.rows.iter().find(|own| own.1 < at).map(|own| own.0)?,
        _ => return None,
    };
    // "than stock" alone: of the other one
    let than = piece.find("than").filter(|than| piece.rows.iter().all(|own| own.1 > *than));
    let row = if than.is_some() { 1 - row } else { row };
    let own = is_more(grid, (row, spread), (1 - row, spread))?;
    let data = || format!("{}; {}", grid.shown((row, spread)), grid.shown((1 - row, spread)));
    Some(if own == wider { CellVerdict::Holds } else { CellVerdict::Wrong(data()) })
}
