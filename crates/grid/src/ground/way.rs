//! Which of two values is more, or better, by what their columns measure.

use crate::ground::words::Way;
use crate::model::{Column, Grid, Measure, Place};
use crate::piece::Piece;
use crate::token::Unit;

/// What a grid says of an order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    So,
    Not(String),
    Open,
}

/// Which way of a column is better; `None` where its name does not say.
fn is_better_high(column: &Column) -> Option<bool> {
    const COSTS: [&str; 24] = [
        "latency",
        "delay",
        "loss",
        "lost",
        "drop",
        "drops",
        "cycle",
        "cycles",
        "time",
        "cost",
        "memory",
        "load",
        "usage",
        "cpu",
        "error",
        "miss",
        "price",
        "power",
        "energy",
        "jitter",
        "retransmit",
        "size",
        "instruction",
        "busy",
    ];
    let has = |word: &str| column.name.words.contains(word);
    match column.unit {
        _ if column.measure == Measure::Spread => Some(false),
        Unit::Packets | Unit::Bits => Some(true),
        Unit::Seconds | Unit::Watts => Some(false),
        _ if COSTS.iter().any(|word| has(word)) => Some(false),
        _ => None,
    }
}

/// Whether the first of two values is the larger one, as a word has it; `None` where that may be either.
pub(crate) fn wants_more(column: &Column, way: Way) -> Option<bool> {
    match way {
        Way::More => Some(true),
        Way::Less => Some(false),
        Way::Better => is_better_high(column),
        Way::Worse => is_better_high(column).map(|own| !own),
        Way::Steadier => Some(false),
        Way::Noisier => Some(true),
    }
}

/// The columns in which rows are held against each other.
pub(crate) fn columns(grid: &Grid, piece: &Piece, way: Option<Way>) -> Vec<usize> {
    if way.is_some_and(Way::is_of_spread) {
        let is_spread = |at: &usize| grid.columns[*at].measure == Measure::Spread;
        return (0..grid.columns.len()).filter(is_spread).collect();
    }
    let named = piece.own_columns();
    let is_measured = |at: &usize| {
        let own = &grid.columns[*at];
        !grid.is_block || own.measure == Measure::Middle
    };
    let all = (0..grid.columns.len()).filter(is_measured);
    if named.is_empty() { all.collect() } else { named }
}

/// Whether an order is so of two cells; `None` where it cannot be told.
pub(crate) fn is_so(grid: &Grid, (a, b): (Place, Place), way: Way) -> Option<bool> {
    let (first, second) = (grid.at(a)?, grid.at(b)?);
    let column = &grid.columns[a.1];
    if column.unit != grid.columns[b.1].unit {
        return None;
    }
    let Some(more) = wants_more(column, way) else { return Some(first.value != second.value) };
    Some(if more { first.value > second.value } else { first.value < second.value })
}

/// Two columns of one unit each.
pub(crate) fn same_unit(grid: &Grid) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for a in 0..grid.columns.len() {
        for b in a + 1..grid.columns.len() {
            if grid.columns[a].unit == grid.columns[b].unit && !grid.is_block && found.len() < 64 {
                found.push((a, b));
            }
        }
    }
    found
}
