//! "Five runs of each", "40 runs in total", "four comparisons": how much of it there is.

use std::collections::BTreeSet;

use crate::amount::Unit;
use crate::facts::{Cell, Facts};
use crate::piece::Piece;
use crate::quantity::Quantity;
use crate::truth::Truth;

/// What is counted in a piece.
pub(crate) fn check(facts: &Facts, piece: &Piece) -> Vec<Truth> {
    if matches!(piece.quantity, Quantity::Of(..)) {
        return Vec::new();
    }
    piece
        .amounts
        .iter()
        .filter_map(|own| match &own.unit {
            Unit::Count(noun) if !own.is_range() && own.low < 10_000.0 => {
                let known = known(facts, piece, noun)?;
                let is_it = known.iter().any(|value| (own.low - value).abs() < 0.5);
                let shown: Vec<String> = known.iter().map(|value| format!("{value:.0}")).collect();
                // "one run", "two of them" may be some
                let is_few = own.low < 3.0
                    // "none of the 4 benches" are comparisons, wherever they stand
                    || noun.starts_with("bench") && piece.quantity != Quantity::Plain;
                Some(match is_it {
                    true => Truth::Holds,
                    false if is_few => Truth::Open,
                    false => Truth::Fails(format!("there are {}", shown.join(" or "))),
                })
            }
            _ => None,
        })
        .collect()
}

/// Numbers that a noun may have.
fn known(facts: &Facts, piece: &Piece, noun: &str) -> Option<Vec<f64>> {
    let is = |roots: &[&str]| roots.iter().any(|root| noun.starts_with(root));
    let total = |cells: &[&Cell]| f64::from(cells.iter().map(|cell| cell.runs).sum::<u32>());
    let all: Vec<&Cell> = facts.cells.iter().collect();
    if all.is_empty() {
        return None;
    }
    if is(&["run", "bench", "iteration", "repetition", "measurement", "sample", "value", "trial"]) {
        let is_total =
            piece.has("total altogether overall page went") || piece.has_turn(&["in", "all"]);
        let is_each = piece.has("each every per apiece");
        let own = piece.scope.cells(facts);
        let mut known: BTreeSet<u64> = BTreeSet::new();
        if !is_total {
            known.extend(own.iter().map(|cell| u64::from(cell.runs)));
        }
        if !is_each {
            known.insert(total(&own) as u64);
            if is_total {
                known.insert(total(&all) as u64);
            } else if piece.scope.parts.is_none() && piece.scope.families.is_none() {
                let mut groups: Vec<Vec<&Cell>> = Vec::new();
                groups.extend(
                    (0..facts.parts.len())
                        .map(|part| all.iter().copied().filter(|c| c.part == part).collect()),
                );
                groups.extend(
                    (0..all.len())
                        .map(|block| all.iter().copied().filter(|c| c.block == block).collect()),
                );
                known.extend(groups.iter().map(|group| total(group) as u64));
                known.insert(total(&all) as u64);
            }
        }
        return Some(known.into_iter().filter(|n| *n > 0).map(|n| n as f64).collect());
    }
    if is(&["machine", "box", "router"]) {
        return (facts.parts.len() > 1).then(|| vec![facts.parts.len() as f64]);
    }
    if is(&["comparison", "block"]) {
        let changes = facts.changes.len() as f64;
        return Some(vec![changes, facts.blocks() as f64, changes / facts.parts.len() as f64]);
    }
    if is(&["set", "series"]) {
        let count = facts.cells.len();
        let of = |part: usize| facts.cells.iter().filter(|cell| cell.part == part).count();
        let mut known = vec![count as f64, facts.widest() as f64];
        known.extend((0..facts.parts.len()).map(|part| of(part) as f64));
        return Some(known);
    }
    if is(&["famil", "protocol"]) && !facts.families().is_empty() {
        return Some(vec![facts.families().len() as f64]);
    }
    None
}
