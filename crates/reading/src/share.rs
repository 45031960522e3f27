//! Shares, spreads and line rates: what one set is of another, of itself, and of what was offered.

use crate::amount::{Amount, Unit};
use crate::facts::{Cell, Facts};
use crate::level::{of_the_variant, reach};
use crate::piece::Piece;
use crate::scope::Scope;
use crate::softness::Soft;
use crate::truth::Truth;

/// "88 % of the baseline", "half of what IPv6 does": what one set is of another.
pub(crate) fn is_ratio(facts: &Facts, own: &Amount, scope: &Scope) -> bool {
    let scale = if own.unit == Unit::Percent { 100.0 } else { 1.0 };
    let cells = scope.cells(facts);
    let wide = Scope { roles: None, ..scope.clone() };
    let all: Vec<&Cell> = facts.cells.iter().collect();
    let changes = wide.changes(facts);
    let of_change = changes.iter().any(|change| {
        let (base, variant) = (&facts.cells[change.base], &facts.cells[change.variant]);
        own.fits(variant.mean() / base.mean() * scale)
            || own.fits(variant.median() / base.median() * scale)
    });
    let is_named = scope.parts.as_ref().is_some_and(|p| p.len() > 1)
        || scope.families.as_ref().is_some_and(|f| f.len() > 1);
    of_change
        || is_named
            && cells.iter().any(|a| {
                all.iter().any(|b| {
                    let is_alike = a.role == b.role && (a.part == b.part) != (a.family == b.family);
                    is_alike && own.fits(a.mean() / b.mean() * scale)
                })
            })
}

pub(crate) fn spread(facts: &Facts, piece: &Piece, own: &Amount, scope: &Scope) -> Option<Truth> {
    // "never exceeds 1 %", "under 0.5 % whatever the number of queues"
    const EACH: &str = "never always every each all whatever whichever any everywhere both no none";
    let mut own = own.clone();
    reach(piece, &mut own);
    let own = &own;
    let is_each = matches!(own.soft, Soft::Above | Soft::Below) && piece.has(EACH);
    let cells = scope.cells(facts);
    let changes = scope.changes(facts);
    let is_of_ends = piece.has("worst best slowest fastest lowest highest minimum maximum range");
    let is_of_set = |cell: &&Cell| {
        let scale = if own.unit == Unit::Percent { 100.0 / cell.mean() } else { 1.0 };
        let (sd, range) = (cell.sd() * scale, (cell.max() - cell.min()) * scale);
        match own.unit {
            Unit::Rate | Unit::Percent => !is_of_ends && own.fits(sd) || own.fits(range),
            _ => true,
        }
    };
    let is_of_change = changes.iter().any(|change| match own.unit {
        Unit::Rate => {
            let base = facts.cells[change.base].mean();
            own.fits(change.half / 100.0 * base)
        }
        Unit::Percent => own.fits(change.half) || own.fits(change.percent),
        _ => true,
    });
    if own.is_range() && own.unit == Unit::Rate {
        // "14-17 kpps": each within it
        let slack = own.step;
        let is_within =
            cells.iter().any(|cell| (own.low - slack..=own.high + slack).contains(&cell.sd()));
        return Some(if is_within { Truth::Holds } else { Truth::Doubtful(spreads(&cells)) });
    }
    let is_it = match is_each {
        true => cells.iter().all(is_of_set),
        false => cells.iter().any(is_of_set) || is_of_change,
    };
    Some(match is_it {
        true if cells.is_empty() => Truth::Open,
        true => Truth::Holds,
        false if cells.is_empty() => Truth::Open,
        false => Truth::Fails(spreads(&cells)),
    })
}

pub(crate) fn spreads(cells: &[&Cell]) -> String {
    let own = cells.iter().take(4).map(|cell| {
        format!(
            "'{}': standard deviation {:.0}, {:.0} from the slowest to the fastest run",
            cell.legend,
            cell.sd(),
            cell.max() - cell.min()
        )
    });
    own.collect::<Vec<_>>().join("; ")
}

/// "54 % of line rate", "at 14.88 Mpps": of what is offered.
pub(crate) fn line(facts: &Facts, piece: &Piece, own: &Amount, scope: &Scope) -> Option<Truth> {
    let parts: Vec<usize> = (0..facts.parts.len())
        .filter(|part| scope.parts.as_ref().is_none_or(|parts| parts.contains(part)))
        .collect();
    let rates: Vec<f64> = parts
        .iter()
        .flat_map(|part| {
            let part = &facts.parts[*part];
            part.line_rates.iter().chain(&part.loads).copied()
        })
        .collect();
    if rates.is_empty() {
        return Some(Truth::Open);
    }
    let mut own = own.clone();
    reach(piece, &mut own);
    let scope = of_the_variant(piece, &own, scope.clone(), facts);
    let cells = scope.cells(facts);
    // "the load is twice what it forwards"
    let is_load_first =
        piece.tokens[..own.first].iter().any(|t| t.is_in("load offered sends generator traffic"));
    let is_it = match own.unit {
        Unit::Percent | Unit::Fraction | Unit::Factor => {
            let scale = if own.unit == Unit::Percent { 100.0 } else { 1.0 };
            cells.iter().any(|cell| {
                rates.iter().any(|rate| {
                    own.fits(cell.mean() / rate * scale)
                        || is_load_first && own.fits(rate / cell.mean() * scale)
                })
            })
        }
        Unit::Rate => {
            rates
                .iter()
                .any(|rate| (own.middle() / rate - 1.0).abs() < 0.01 + own.step / own.middle())
                || cells.iter().any(|cell| own.fits(cell.mean()) || own.fits(cell.median()))
                || cells.iter().any(|cell| rates.iter().any(|rate| own.fits(rate - cell.mean())))
        }
        _ => return None,
    };
    Some(if is_it {
        Truth::Holds
    } else {
        Truth::Doubtful(
            "no set has such a share of the line rate or of what was offered".to_owned(),
        )
    })
}
