//! "X is the slowest", "the highest rate is that of X", "X gains most".

use crate::ground::scope::Seen;
use crate::ground::way::{Told, columns, same_unit, wants_more};
use crate::ground::words::{Way, superlative};
use crate::model::Grid;
use crate::order::is_of_all;
use crate::piece::Piece;

/// A superlative of a clause.
struct End<'a> {
    grid: &'a Grid,
    piece: &'a Piece,
    way: Way,
    /// "The second best" is 2.
    rank: usize,
    /// What moves is spoken of as well as what is.
    is_of_change: bool,
    /// "The shortest p50": the column is what is measured, and no one of several.
    has_measure: bool,
}

pub(crate) fn at_an_end(seen: &Seen<'_>, piece: &Piece) -> Vec<(usize, Told)> {
    const SOME: &str = "among except but besides after apart than if unless not no never";
    let grid = seen.grid;
    let mut found = Vec::new();
    for at in 0..piece.tokens.len() {
        let Some((way, rank)) = superlative(&piece.tokens, at) else { continue };
        let is_name = piece.rows.iter().chain(&piece.columns).any(|own| own.1 == at);
        let has_change = has_change(piece);
        // "between the slowest and the fastest", "the worst ping"
        let is_other = |k: usize| k != at && superlative(&piece.tokens, k).is_some();
        let is_of_ends = (0..piece.tokens.len()).any(is_other);
        let is_of_all = way.is_of_spread() || has_change || is_of_all(grid, piece, at);
        if is_name || is_of_ends || !is_of_all || piece.has(SOME) || piece.has_taken_rows {
            continue;
        }
        let is_of_change = has_change || piece.tokens[at].is("best worst");
        let has_measure = piece.columns.iter().any(|own| own.1 > at && own.1 <= at + 2);
        let end = End { grid, piece, way, rank, is_of_change, has_measure };
        found.push((piece.tokens[at].at, end.told()));
    }
    found
}

impl End<'_> {
    fn told(&self) -> Told {
        let (grid, rows) = (self.grid, self.piece.own_rows());
        let is_of_rows = !rows.is_empty() && rows.len() < grid.rows.len();
        let mut all = self.of_columns();
        if is_of_rows {
            all.extend(self.of_rows(&rows));
            all.extend(self.of_changes(&rows));
        }
        if all.is_empty() || all.contains(&true) {
            return if all.is_empty() { Told::Open } else { Told::So };
        }
        let column = columns(grid, self.piece, Some(self.way)).first().copied();
        let shown = rows.iter().take(2).filter_map(|row| Some(grid.shown((*row, column?))));
        let shown = shown.collect::<Vec<_>>().join("; ");
        let count = all.len();
        Told::Not(format!("of {count} orders that may be meant none has it there: {shown}"))
    }

    /// Whether one of some has the value of the rank.
    fn is_end(
        &self,
        of: impl Fn(usize) -> Option<f64>,
        count: usize,
        own: &[usize],
        more: bool,
    ) -> bool {
        let mut ahead: Vec<f64> = (0..count).filter_map(&of).collect();
        ahead.sort_by(|a, b| if more { b.total_cmp(a) } else { a.total_cmp(b) });
        let wanted = ahead.get(self.rank - 1);
        wanted.is_some() && own.iter().any(|at| of(*at).as_ref() == wanted)
    }

    /// The rows that are named in each column that may be meant.
    fn of_rows(&self, rows: &[usize]) -> Vec<bool> {
        let grid = self.grid;
        let of = |column: usize| {
            let of = move |row: usize| grid.at((row, column)).map(|own| own.value);
            let ways = self.ways(column).into_iter();
            ways.map(|more| self.is_end(of, grid.rows.len(), rows, more)).collect::<Vec<_>>()
        };
        columns(grid, self.piece, Some(self.way)).into_iter().flat_map(of).collect()
    }

    /// The rows that are named in what two columns are apart.
    fn of_changes(&self, rows: &[usize]) -> Vec<bool> {
        const GAINS: &str = "gain gains improvement win benefit advantage";
        let grid = self.grid;
        let is_least = self.way == Way::Less || self.way == Way::Worse && self.piece.has(GAINS);
        let mut found = Vec::new();
        for (a, b) in same_unit(grid).into_iter().filter(|_| self.is_of_change) {
            let value = |row: usize| Some((grid.at((row, a))?.value, grid.at((row, b))?.value));
            let ratio = |row: usize| value(row).map(|(a, b)| (b / a).max(a / b));
            let step = |row: usize| value(row).map(|(a, b)| (b - a).abs());
            found.push(self.is_end(ratio, grid.rows.len(), rows, !is_least));
            found.push(self.is_end(step, grid.rows.len(), rows, !is_least));
        }
        found
    }

    /// The columns that are named in each row that may be meant.
    fn of_columns(&self) -> Vec<bool> {
        let (grid, rows, named) = (self.grid, self.piece.own_rows(), self.piece.own_columns());
        let Some(first) = named.first().copied() else { return Vec::new() };
        let unit = grid.columns[first].unit;
        let count = grid.columns.iter().filter(|own| own.unit == unit).count();
        let is_of_columns =
            !self.has_measure && named.len() < count && (rows.is_empty() || named.len() == 1);
        if !is_of_columns || self.way.is_of_spread() || grid.is_block {
            return Vec::new();
        }
        let rows = if rows.is_empty() { (0..grid.rows.len()).collect() } else { rows };
        let of = |row: usize| {
            let of = |column: usize| {
                let own = grid.at((row, column)).map(|own| own.value);
                own.filter(|_| grid.columns[column].unit == unit)
            };
            let ways = self.ways(first).into_iter();
            ways.map(|more| self.is_end(of, grid.columns.len(), &named, more)).collect::<Vec<_>>()
        };
        rows.into_iter().flat_map(of).collect()
    }

    /// Whether the largest value is meant, the smallest, or either.
    fn ways(&self, column: usize) -> Vec<bool> {
        wants_more(&self.grid.columns[column], self.way)
            .map_or_else(|| vec![true, false], |own| vec![own])
    }
}

/// Whether what moves is spoken of, and not what is.
fn has_change(piece: &Piece) -> bool {
    const MOVES: &str = "gain gains gained drop drops dropped loss losses lose loses lost cost costs penalty difference differences \
        gap gaps improvement improves improved increase increases decrease decreases regression profit profits profited benefit \
        benefits rise rises fall falls grow grows shrink shrinks change changes impact hit suffers suffer step jump advantage";
    piece.has(MOVES)
}
