//! What moves, and what stays: "X gets slower", "no difference between X and Y".

use crate::ground::scope::Seen;
use crate::ground::way::{Told, columns, is_so, same_unit};
use crate::ground::words::moves;
use crate::level::MOST;
use crate::model::{Grid, Measure, Place};
use crate::piece::Piece;
use crate::token::Unit;

/// "X is the same as Y", "no difference between X and Y".
pub(crate) fn the_same(seen: &Seen<'_>, piece: &Piece) -> Vec<(usize, Told)> {
    const FAR: f64 = 0.03;
    const SAME: &str =
        "identical unchanged equal equals ties tie tied par unaffected indistinguishable";
    let grid = seen.grid;
    let tokens = &piece.tokens;
    let is_next = |at: usize, words: &str| tokens.get(at + 1).is_some_and(|own| own.is(words));
    let at = (0..tokens.len()).find(|at| {
        tokens[*at].is(SAME)
            || tokens[*at].is("no") && is_next(*at, "difference change effect impact influence")
            || tokens[*at].is("same")
                && is_next(*at, "as rate speed throughput performance level figure")
    });
    let Some(at) = at else { return Vec::new() };
    let is_denied = piece.has("not never n't except but") || !piece.claimed.is_empty();
    let (rows, named) = (piece.own_rows(), piece.own_columns());
    if is_denied || piece.has_taken_rows || piece.is_group || rows.len() > MOST {
        return Vec::new();
    }
    let mut pairs: Vec<(Place, Place)> = Vec::new();
    if rows.len() > 1 {
        for (at, a) in rows.iter().enumerate() {
            for b in &rows[at + 1..] {
                pairs.extend(
                    columns(grid, piece, None)
                        .into_iter()
                        .map(|column| ((*a, column), (*b, column))),
                );
            }
        }
    } else if let [row] = rows.as_slice() {
        let of = |(a, b): (usize, usize)| ((*row, a), (*row, b));
        let is_named =
            |(a, b): &(usize, usize)| named.is_empty() || named.contains(a) || named.contains(b);
        pairs.extend(same_unit(grid).into_iter().filter(is_named).map(of));
    }
    let near = |(a, b): &(Place, Place)| {
        let (a, b) = (grid.at(*a)?, grid.at(*b)?);
        let most = a.value.abs().max(b.value.abs());
        Some((a.value - b.value).abs() <= FAR * most + a.half + b.half)
    };
    let all: Vec<bool> = pairs.iter().filter_map(near).collect();
    let told = match (all.is_empty(), all.contains(&true), pairs.first()) {
        (false, false, Some((a, b))) => {
            let shown = [grid.shown(*a), grid.shown(*b)].join("; ");
            Told::Not(format!("no two of what it names are within 3 %: {shown}"))
        }
        (true, ..) => Told::Open,
        _ => Told::So,
    };
    vec![(tokens[at].at, told)]
}

/// "X gets slower", "the patch improves IPv6": of two states the second against the first, of more one against any other.
pub(crate) fn moved(seen: &Seen<'_>, piece: &Piece) -> Vec<(usize, Told)> {
    const OPEN: &str = "not no never none nothing nobody neither nor hardly barely if than as without compared against versus \
        would should may might could can win wins loss losses gap penalty difference variance stddev deviation spread noise \
        effect cost costs advantage interval only but except relative relatively absolute percent rather";
    let grid = seen.grid;
    let mut found = Vec::new();
    let rows = piece.own_rows();
    let named = piece.own_columns();
    let is_taken = piece.has_taken_rows && !rows.is_empty();
    if piece.has(OPEN)
        || is_taken
        || piece.has_taken_columns
        || piece.tokens.iter().any(|own| own.text.ends_with("n't"))
    {
        return found;
    }
    for at in 0..piece.tokens.len() {
        let is_name = piece.rows.iter().chain(&piece.columns).any(|own| own.1 == at);
        let Some(way) = moves(&piece.tokens, at).filter(|_| !is_name) else { continue };
        let pairs: Vec<(Place, Place)> = match states(grid, &rows, &named) {
            Some(pairs) => pairs,
            None => continue,
        };
        let all: Vec<((Place, Place), bool)> =
            pairs.into_iter().filter_map(|pair| Some((pair, is_so(grid, pair, way)?))).collect();
        let told = match all.first() {
            None => Told::Open,
            Some(_) if all.iter().any(|own| own.1) => Told::So,
            Some(((a, b), _)) => Told::Not(format!(
                "of {} pairs that may be meant this is so of none: {}; {}",
                all.len(),
                grid.shown(*a),
                grid.shown(*b)
            )),
        };
        found.push((piece.tokens[at].at, told));
    }
    found
}

/// What is after against what was before; where nothing tells these apart, what is named against the others.
fn states(grid: &Grid, rows: &[usize], named: &[usize]) -> Option<Vec<(Place, Place)>> {
    let is_middle = |at: &usize| !grid.is_block || grid.columns[*at].measure == Measure::Middle;
    let columns: Vec<usize> = match named.is_empty() {
        true => (0..grid.columns.len()).filter(is_middle).collect(),
        false => named.to_vec(),
    };
    if grid.is_block {
        let pair = match (grid.rows.len(), rows) {
            (2, [] | [1]) => vec![(1, 0)],
            (2, [0]) => vec![(0, 1)],
            (_, [row]) => {
                (0..grid.rows.len()).filter(|own| own != row).map(|own| (*row, own)).collect()
            }
            _ => return None,
        };
        let of = |(a, b): (usize, usize)| columns.iter().map(move |at| ((a, *at), (b, *at)));
        return Some(pair.into_iter().flat_map(of).collect());
    }
    let all: Vec<usize> = if rows.is_empty() { return None } else { rows.to_vec() };
    if let [(a, b)] = same_unit(grid).as_slice() {
        return Some(all.iter().map(|row| ((*row, *b), (*row, *a))).collect());
    }
    // a column of changes says it
    let is_change = |at: &usize| grid.columns[*at].unit == Unit::Percent;
    if (0..grid.columns.len()).any(|at| is_change(&at)) {
        return None;
    }
    let [row] = all.as_slice() else { return None };
    let others = (0..grid.rows.len()).filter(|own| own != row);
    let mut pairs: Vec<(Place, Place)> = Vec::new();
    for other in others {
        pairs.extend(columns.iter().map(|at| ((*row, *at), (other, *at))));
    }
    for (a, b) in same_unit(grid) {
        pairs.extend([((*row, a), (*row, b)), ((*row, b), (*row, a))]);
    }
    Some(pairs)
}
