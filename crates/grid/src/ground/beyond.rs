//! Bounds of all: "no run got as far as 3.39 Mpps", "each costs at least a quarter".

use crate::bound::value;
use crate::ground::claim::Claim;
use crate::ground::scope::Scope;
use crate::model::{Grid, Measure, Place};
use crate::token::Unit;

/// "No run got as far as 3.39 Mpps", "all stay below 100 us": a level that is a bound of all is one in each column that may
/// be meant, of what is named or of all.
pub(crate) fn beyond(scope: &Scope<'_>, at: usize, own: &Claim) -> Option<String> {
    let (Some(above), true) = (own.bound, own.cue.is_universal) else { return None };
    let unit = own.number.unit;
    if matches!(unit, Unit::Percent | Unit::Times) {
        return beyond_ratio(scope, at, own, above);
    }
    if unit == Unit::Plain || own.cue.is_up.is_some() {
        return None;
    }
    let mut shown = None;
    for (seen, piece) in scope.meant(at) {
        let grid = seen.grid;
        let of_runs =
            grid.is_block && piece.has("run runs bench benches trial trials sample samples");
        let end = if above { Measure::Least } else { Measure::Most };
        let is_own = |at: usize| grid.columns[at].unit == unit;
        let part = seen.part(piece, is_own);
        let ends = (0..grid.columns.len()).filter(|at| grid.columns[*at].measure == end);
        let columns: Vec<usize> = if of_runs { ends.collect() } else { part.columns.clone() };
        let slack = own.number.half.min(0.02 * own.number.value);
        let is_odd = |place: &Place| {
            value(grid, *place, unit).is_some_and(|(value, half)| match above {
                true => value < own.number.value - half - slack,
                false => value > own.number.value + half + slack,
            })
        };
        for column in columns {
            let odd = part.rows.iter().map(|row| (*row, column)).find(is_odd);
            // so of one column: that one is meant
            let odd = odd?;
            shown.get_or_insert(grid.shown(odd));
        }
    }
    shown.map(|own| format!("not so of all: {own}"))
}

/// "No case lost more than 3 %", "each costs at least a quarter": a change of all, row by row, in one of the ways in which
/// rows may change.
fn beyond_ratio(scope: &Scope<'_>, at: usize, own: &Claim, above: bool) -> Option<String> {
    let mut shown = None;
    for (seen, piece) in scope.meant(at) {
        let grid = seen.grid;
        let part = seen.part(piece, |_| true);
        // one that is named is that against which the others are held, or the only one that is meant
        let rows =
            if part.rows.len() > 1 { part.rows.clone() } else { (0..grid.rows.len()).collect() };
        for way in changes(grid, &rows) {
            let odd = way.iter().find(|(_, change)| !is_within(own, *change, above));
            // so of one of them: that one is meant
            let (row, _) = odd?;
            shown.get_or_insert_with(|| grid.rows[*row].text.clone());
        }
    }
    shown.map(|row| format!("not so of all rows, whichever change is meant: '{row}'"))
}

/// Whether a ratio is within a bound, as a change or as a share; what goes the other way is.
fn is_within(own: &Claim, ratio: f64, above: bool) -> bool {
    let scale = if own.number.unit == Unit::Percent { 100.0 } else { 1.0 };
    let said = own.number.value.abs();
    let slack = own.number.half.min(0.05 * said);
    let change = match own.cue.is_up {
        Some(true) => scale * (ratio - 1.0),
        Some(false) => scale * (1.0 - ratio),
        None => scale * (ratio - 1.0).abs(),
    };
    let is_in = |value: f64| if above { value >= said - slack } else { value <= said + slack };
    match own.cue.is_share || own.number.unit == Unit::Times {
        true => is_in(scale * ratio) || is_in(scale / ratio),
        false => is_in(change),
    }
}

/// The ways in which rows may change: a column of percentages, one column to another, each row to one of them.
fn changes(grid: &Grid, rows: &[usize]) -> Vec<Vec<(usize, f64)>> {
    let value = |place: Place| grid.at(place).map(|own| own.value).filter(|own| *own > 0.0);
    let is_rate = |at: &usize| !matches!(grid.columns[*at].unit, Unit::Percent | Unit::Times);
    let is_told = |at: &usize| !grid.is_block || grid.columns[*at].measure == Measure::Middle;
    let rates: Vec<usize> = (0..grid.columns.len()).filter(is_rate).filter(is_told).collect();
    let mut found: Vec<Vec<(usize, f64)>> = Vec::new();
    for column in (0..grid.columns.len()).filter(|at| grid.columns[*at].unit == Unit::Percent) {
        let of = |row: &usize| Some((*row, 1.0 + grid.at((*row, column))?.value / 100.0));
        found.push(rows.iter().filter_map(of).collect());
        let share = |row: &usize| Some((*row, grid.at((*row, column))?.value / 100.0));
        found.push(rows.iter().filter_map(share).collect());
    }
    for a in rates.iter().filter(|_| !grid.is_block) {
        for b in rates.iter().filter(|b| *b != a && grid.columns[**b].unit == grid.columns[*a].unit)
        {
            let of = |row: &usize| Some((*row, value((*row, *b))? / value((*row, *a))?));
            found.push(rows.iter().filter_map(of).collect());
        }
    }
    for column in &rates {
        for base in 0..grid.rows.len() {
            let of = |row: &usize| Some((*row, value((*row, *column))? / value((base, *column))?));
            found.push(rows.iter().filter(|row| **row != base).filter_map(of).collect());
        }
        if grid.is_block {
            // the ends of runs to each other, and their spread to the mean
            let ends = [Measure::Least, Measure::Most, Measure::Spread];
            let of = |measure| grid.columns.iter().position(|own| own.measure == measure);
            if let [Some(least), Some(most), Some(spread)] = ends.map(of) {
                let range =
                    |row: &usize| Some((*row, value((*row, most))? / value((*row, least))?));
                found.push(rows.iter().filter_map(range).collect());
                let share = |row: &usize| {
                    Some((*row, 1.0 + grid.at((*row, spread))?.value / value((*row, *column))?))
                };
                found.push(rows.iter().filter_map(share).collect());
            }
        }
    }
    found.retain(|own| !own.is_empty());
    found
}
