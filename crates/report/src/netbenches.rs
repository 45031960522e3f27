//! The files by which other tools take the results over: `gnuplot.data` and
//! one `.pps` file per variant and traffic.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::listing::values;
use fwdlab_claims::claim::{Cell, Claims};
use fwdlab_results::units::plain_rate;
use fwdlab_results::{Metric, Results};

/// `gnuplot.data`: one line per variant and traffic, `#index median minimum
/// maximum`, in frames/s. A series without a kept trial stays as a comment.
pub fn gnuplot(claims: &Claims) -> String {
    let mut out = String::from("#index median minimum maximum\n");
    for (cell, index) in claims.cells.iter().zip(indices(claims)) {
        let _ = match cell.rate {
            Some(r) => writeln!(
                out,
                "{index} {} {} {}",
                plain_rate(r.median),
                plain_rate(r.minimum),
                plain_rate(r.maximum)
            ),
            None => writeln!(out, "#{index}: no trial kept of {} planned", cell.planned),
        };
    }
    out
}

/// The `.pps` files: name and content, one rate a line, one line a kept
/// trial, in the order of the blocks.
pub fn pps_files(claims: &Claims, results: &Results) -> Vec<(String, String)> {
    claims
        .cells
        .iter()
        .zip(indices(claims))
        .map(|(cell, index)| {
            let mut text = String::new();
            for value in values(cell, results, Metric::Rate) {
                let _ = writeln!(text, "{value}");
            }
            (format!("netbenches/{index}.pps"), text)
        })
        .collect()
}

/// The names of all series, no two alike: results of others may hold `a.b` with `c` beside `a` with `b.c`,
/// which experiments may not.
fn indices(claims: &Claims) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let name = |cell: &Cell| {
        let first = index(cell);
        let others = (2..).map(|number| format!("{first}-{number}"));
        let mut names = std::iter::once(first.clone()).chain(others);
        names.find(|name| seen.insert(name.clone())).unwrap_or(first)
    };
    claims.cells.iter().map(name).collect()
}

/// `radix.inet`: the name of a series where neither blanks nor slashes may stand.
fn index(cell: &Cell) -> String {
    let name = format!("{}.{}", cell.variant, cell.traffic);
    name.chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+') { c } else { '_' })
        .collect()
}
