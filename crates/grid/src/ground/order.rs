//! Orders that are so of nothing that a clause names: one thing more, better or earlier than another, one of all at an
//! end, two that are the same.

use std::ops::Range;

use crate::ground::end::at_an_end;
use crate::ground::facts::Ungrounded;
use crate::ground::scope::{Scope, Seen};
use crate::ground::state::{moved, the_same};
use crate::ground::way::{Told, columns, is_so, wants_more};
use crate::ground::words::{Way, comparative};
use crate::model::{Grid, Place};
use crate::piece::Piece;

/// What a grid says of the orders of a clause, by where they stand.
type RuleOfClause = fn(&Seen<'_>, &Piece) -> Vec<(usize, Told)>;

/// The first order that nothing bears out.
pub(crate) fn check(scope: &Scope<'_>, part: &Range<usize>) -> Option<Ungrounded> {
    const RULES: [RuleOfClause; 4] = [compared, at_an_end, the_same, moved];
    for rule in RULES {
        let mut all: Vec<(usize, Told)> = Vec::new();
        for seen in &scope.seen {
            all.extend(seen.pieces.iter().flat_map(|piece| rule(seen, piece)));
        }
        let places: Vec<usize> =
            all.iter().map(|own| own.0).filter(|at| part.contains(at)).collect();
        for at in places {
            let mut own = all.iter().filter(|own| own.0 == at).map(|own| &own.1);
            if own.clone().any(|told| *told == Told::So) {
                continue;
            }
            if own.clone().all(|told| *told == Told::Open)
                && let Told::Not(data) = apart(scope, at)
            {
                return Some(Ungrounded { at, data });
            }
            if let Some(Told::Not(data)) = own.find(|told| matches!(told, Told::Not(_))) {
                return Some(Ungrounded { at, data: data.clone() });
            }
        }
    }
    None
}

/// Words between which a clause holds two things against each other.
struct Sides {
    first: Vec<usize>,
    second: Vec<usize>,
}

/// What is named before and behind the words of a comparison.
fn sides(all: &[(usize, usize)], (from, to): (usize, usize), is_back: bool) -> Option<Sides> {
    let of = |is: &dyn Fn(usize) -> bool| -> Vec<usize> {
        all.iter().filter(|own| is(own.1)).map(|own| own.0).collect()
    };
    let (first, second) = (of(&|at| at < from), of(&|at| at > to));
    let is_clear = !first.is_empty() && !second.is_empty();
    let is_apart = first.iter().any(|own| !second.contains(own));
    let own =
        if is_back { Sides { first: second, second: first } } else { Sides { first, second } };
    (is_clear && is_apart).then_some(own)
}

/// "X is slower than Y", "X beats Y", "X is behind Y".
fn compared(seen: &Seen<'_>, piece: &Piece) -> Vec<(usize, Told)> {
    let grid = seen.grid;
    let tokens = &piece.tokens;
    let is_name = |at: usize| piece.rows.iter().chain(&piece.columns).any(|own| own.1 == at);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let Some(own) = comparative(tokens, at).filter(|_| !is_name(at)) else { continue };
        let Some(to) = own.to else { continue };
        let is_denied = own.is_denied || piece.has("nowhere never none nobody nothing neither no");
        let told = match is_denied {
            true => Told::Open,
            false => of_sides(grid, piece, (at, to), own.way, own.is_back),
        };
        found.push((tokens[at].at, told));
    }
    found
}

/// Rows of grids that are named before and behind a comparison.
type Apart<'s> = [Vec<(&'s Seen<'s>, usize)>; 2];

/// What of each grid stands on either side of a comparison; `None` where that is left open.
fn named_apart<'s>(scope: &'s Scope<'_>, at: usize) -> Option<(Way, Apart<'s>)> {
    // of runs and of none nothing is said here
    const OPEN: &str = "nowhere never none nobody nothing neither no run runs best worst bench";
    let mut sides: Apart<'s> = [Vec::new(), Vec::new()];
    let mut way = None;
    for seen in &scope.seen {
        let Some(piece) = seen.piece_at(at) else { continue };
        let place = piece.tokens.iter().position(|own| own.at == at)?;
        let own = comparative(&piece.tokens, place)?;
        let to = own.to.filter(|_| !own.is_denied && !piece.has_taken_rows)?;
        if piece.is_group || piece.has(OPEN) {
            return None;
        }
        way = Some(own.way);
        let mut put = |row: usize, at: usize| {
            let side = usize::from((at > to) != own.is_back);
            if at < place || at > to {
                sides[side].push((seen, row));
            }
        };
        piece.rows.iter().for_each(|(row, at)| put(*row, *at));
        // where it is named as a whole, all of its rows
        if piece.rows.is_empty() {
            let is_head = |at: &usize| seen.heads.contains(&piece.tokens[*at].at);
            for at in (0..piece.tokens.len()).filter(is_head) {
                (0..seen.grid.rows.len()).for_each(|row| put(row, at));
            }
        }
    }
    Some((way?, sides))
}

/// "X is slower than Y" of rows of two grids.
fn apart(scope: &Scope<'_>, at: usize) -> Told {
    let Some((way, [first, second])) = named_apart(scope, at) else { return Told::Open };
    let mut told = Told::Open;
    for (a, row) in first.iter().take(MOST_APART) {
        let others = second.iter().filter(|own| own.0.number != a.number).take(MOST_APART);
        for (b, other) in others {
            for column in columns(a.grid, &Piece::default(), Some(way)) {
                let own = &a.grid.columns[column];
                let is_like = b.grid.columns.get(column).is_some_and(|like| like.unit == own.unit);
                let values = a.grid.at((*row, column)).zip(b.grid.at((*other, column)));
                let Some((x, y)) = values.filter(|_| is_like) else { continue };
                let Some(more) = wants_more(own, way) else { return Told::Open };
                if (x.value > y.value) == more {
                    return Told::So;
                }
                let shown =
                    [a.grid.shown((*row, column)), b.grid.shown((*other, column))].join("; ");
                told = Told::Not(format!("of no pair that may be meant this is so: {shown}"));
            }
        }
    }
    told
}

/// Rows on either side that are held against each other.
const MOST_APART: usize = 64;

fn of_sides(grid: &Grid, piece: &Piece, places: (usize, usize), way: Way, is_back: bool) -> Told {
    const ALL: &str =
        "all every each always both everywhere whatever whichever throughout any either";
    let is_universal = piece.has(ALL);
    let mut pairs: Vec<(Place, Place)> = Vec::new();
    let is_of_runs = grid.is_block && sides(&piece.rows, places, is_back).is_none();
    if let Some(own) = sides(&piece.columns, places, is_back).filter(|_| !is_of_runs) {
        let named = piece.own_rows();
        let rows = if named.is_empty() { (0..grid.rows.len()).collect() } else { named };
        for row in rows {
            for a in &own.first {
                let others = own.second.iter().filter(|b| *b != a && !own.first.contains(b));
                pairs.extend(others.map(|b| ((row, *a), (row, *b))));
            }
        }
        // each with its own row, where rows stand on both sides
        if let Some(rows) = sides(&piece.rows, places, is_back) {
            pairs.clear();
            for (a, b) in product(&rows) {
                pairs.extend(product(&own).into_iter().map(|(c, d)| ((a, c), (b, d))));
            }
        }
    } else if let Some(own) = sides(&piece.rows, places, is_back) {
        // "the worst run of one" against the other: which of its runs is not said
        if grid.is_block && !piece.columns.is_empty() && piece.own_columns().len() < 2 {
            return Told::Open;
        }
        for (a, b) in product(&own) {
            pairs.extend(
                columns(grid, piece, Some(way))
                    .into_iter()
                    .map(|column| ((a, column), (b, column))),
            );
        }
    }
    let all: Vec<((Place, Place), bool)> =
        pairs.into_iter().filter_map(|pair| Some((pair, is_so(grid, pair, way)?))).collect();
    let odd = all.iter().find(|own| !own.1);
    let Some(((a, b), _)) = odd else {
        return if all.is_empty() { Told::Open } else { Told::So };
    };
    let is_any = all.iter().any(|own| own.1);
    let is_of_one = all.iter().all(|own| own.0.0.1 == a.1) || grid.is_block;
    if is_any && !(is_universal && is_of_one) {
        return Told::So;
    }
    let shown = format!("{}; {}", grid.shown(*a), grid.shown(*b));
    Told::Not(format!(
        "of {} pairs that may be meant this is so of {}: {shown}",
        all.len(),
        how_many(is_any)
    ))
}

fn how_many(is_any: bool) -> &'static str {
    if is_any { "some only" } else { "none" }
}

fn product(own: &Sides) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for a in &own.first {
        for b in &own.second {
            if a != b && found.len() < MOST {
                found.push((*a, *b));
            }
        }
    }
    found
}

/// Pairs up to which things are held against each other.
const MOST: usize = 4_096;
