//! The numbers of a sentence: each has to be a figure of what it speaks of.

use std::collections::BTreeSet;

use crate::amount::{Amount, Unit};
use crate::change::{is_reverted, meant};
use crate::cue::is_negated;
use crate::facts::Facts;
use crate::level::{is_level, of_the_variant, reach};
use crate::piece::Piece;
use crate::quantity::Quantity;
use crate::role::{Role, role_of, scope_at, sign_of};
use crate::scope::Scope;
use crate::share::{is_ratio, line, spread};
use crate::softness::Soft;
use crate::truth::Truth;
use fwdlab_sentence::clause::Sign;

/// Each number of a piece but those that were read otherwise.
pub(crate) fn check(facts: &Facts, piece: &Piece, read: &[usize]) -> Vec<Truth> {
    let mut found = Vec::new();
    let paired = pairs(facts, piece, read, &mut found);
    for (at, own) in piece.amounts.iter().enumerate() {
        if read.contains(&at) || paired.contains(&at) {
            continue;
        }
        found.extend(one(facts, piece, own));
    }
    found
}

/// "From 640 to 797 kpps", "5.49 → 4.86 Mpps", "4.83 instead of 4.11": two levels, of a base and of a variant.
fn pairs(facts: &Facts, piece: &Piece, read: &[usize], found: &mut Vec<Truth>) -> Vec<usize> {
    let mut used = Vec::new();
    for at in 1..piece.amounts.len() {
        let (a, b) = (&piece.amounts[at - 1], &piece.amounts[at]);
        if a.unit != b.unit
            || !matches!(a.unit, Unit::Rate | Unit::Time)
            || read.contains(&at)
            || used.contains(&(at - 1))
        {
            continue;
        }
        let between = &piece.tokens[a.end..b.first];
        let has = |words: &str| between.iter().any(|t| t.is_in(words));
        let is_arrow = between.iter().any(|t| t.is_mark(&['→']));
        let is_back = has("from");
        let is_instead =
            between.iter().zip(between.iter().skip(1)).any(|(a, b)| a.is("instead") && b.is("of"));
        let is_used = between.windows(2).any(|two| two[0].is("used") && two[1].is("to"));
        let is_to = has("to") && !is_used || is_arrow;
        if !(is_to || is_instead || is_back) || between.len() > 9 {
            continue;
        }
        let (base, variant) = if is_instead || is_back && !is_to { (b, a) } else { (a, b) };
        // "from 5.1 up to 5.9" bounds nothing
        let plain = |own: &Amount| match own.soft {
            Soft::Below | Soft::Above => Amount { soft: Soft::Exact, ..own.clone() },
            _ => own.clone(),
        };
        let (base, variant) = (&plain(base), &plain(variant));
        let scope = piece.scope.clone();
        let of = |rate: f64| if a.unit == Unit::Time { 1.0 / rate * packets(piece) } else { rate };
        let is_gap = piece.has("gap distance lead");
        if is_gap {
            continue;
        }
        let all = meant(facts, piece, &scope);
        let is_it = all.iter().any(|change| {
            let (one, other) = (&facts.cells[change.base], &facts.cells[change.variant]);
            is_level(piece, base, one, of) && is_level(piece, variant, other, of)
        });
        used.extend([at - 1, at]);
        if all.is_empty() {
            continue;
        }
        // "unpredictable: from 3.99 to 4.48 Mpps" is where the runs of one set lie
        let is_range = is_to
            && scope.cells(facts).iter().any(|cell| {
                let (low, high) = (of(cell.min()), of(cell.max()));
                base.fits(low.min(high)) && variant.fits(low.max(high))
            });
        found.push(if is_it || is_range {
            Truth::Holds
        } else {
            let shown = all.iter().take(4).map(|change| {
                let (one, other) = (&facts.cells[change.base], &facts.cells[change.variant]);
                format!(
                    "'{}' has {:.0}, '{}' {:.0} packets/s",
                    one.legend,
                    one.mean(),
                    other.legend,
                    other.mean()
                )
            });
            Truth::Fails(shown.collect::<Vec<_>>().join("; "))
        });
    }
    used
}

/// "1000 packets took 1.2 ms": of how many packets a time is.
fn packets(piece: &Piece) -> f64 {
    let of = piece.amounts.iter().find_map(|own| match &own.unit {
        Unit::Count(noun) if noun.starts_with("packet") || noun.starts_with("frame") => {
            Some(own.low)
        }
        _ => None,
    });
    of.filter(|many| *many >= 1.0).unwrap_or(1.0)
}

/// One number.
fn one(facts: &Facts, piece: &Piece, own: &Amount) -> Option<Truth> {
    if piece.is_silent {
        return None;
    }
    // which of many sets are meant is not said: what is near may be it
    let wider = Amount { low: 0.9 * own.low, high: 1.1 * own.high, ..own.clone() };
    let is_any = facts.widest() > 2
        && piece.scope.roles.is_none()
        && own.soft == Soft::Exact
        && own.unit == Unit::Rate;
    let own = if is_any { &wider } else { own };
    let role = role_of(piece, own);
    let scope = scope_at(facts, piece, own);
    // "does not double": it is another amount
    let is_bound = matches!(own.soft, Soft::Above | Soft::Below);
    if matches!(role, Role::Change | Role::Ratio)
        && !is_bound
        && is_negated(&piece.tokens, own.first)
    {
        return Some(match is_change(facts, piece, own, &scope, None) {
            true => Truth::Open,
            false => Truth::Holds,
        });
    }
    // "twice what it can forward"
    if own.is_of && piece.has("can able") {
        return Some(Truth::Open);
    }
    match role {
        Role::Nothing => None,
        Role::Spread => spread(facts, piece, own, &scope),
        Role::Line => line(facts, piece, own, &scope),
        Role::Level => level(facts, piece, own, scope),
        Role::Change | Role::Ratio => moved(facts, piece, own, role, &scope),
    }
}

/// What a set has.
fn level(facts: &Facts, piece: &Piece, own: &Amount, scope: Scope) -> Option<Truth> {
    let is_each =
        piece.quantity == Quantity::All && scope.parts.as_ref().is_none_or(|p| p.len() != 1);
    let of = |rate: f64| if own.unit == Unit::Time { packets(piece) / rate } else { rate };
    let mut own = own.clone();
    reach(piece, &mut own);
    let scope = of_the_variant(piece, &own, scope, facts);
    let cells = scope.cells(facts);
    let mut is = cells.iter().map(|cell| is_level(piece, &own, cell, of));
    let is_several = scope.families.as_ref().is_some_and(|f| f.len() > 1)
        || scope.parts.as_ref().is_some_and(|p| p.len() > 1);
    let is_bound = matches!(own.soft, Soft::Above | Soft::Below);
    let is_it = if is_each && own.soft != Soft::Exact
        || is_several && is_bound && piece.quantity != Quantity::None
    {
        is.all(|is| is)
    } else {
        is.any(|is| is)
    };
    if cells.is_empty() {
        return Some(Truth::Open);
    }
    let is_both = piece.has_turn(&["or", "not"])
        || piece.has_turn(&["with", "or", "without"])
        || piece.has_turn(&["with", "and", "without"]);
    if is_both && own.soft == Soft::Exact {
        let all = Scope { roles: None, ..scope.clone() };
        if !all
            .cells(facts)
            .iter()
            .all(|cell| own.fits(of(cell.mean())) || own.fits(of(cell.median())))
        {
            return Some(Truth::Fails("it is no figure of each of them".to_owned()));
        }
    }
    if is_it || is_of_page(facts, &own) {
        return Some(Truth::Holds);
    }
    if is_change(facts, piece, &own, &scope, None) && !matches!(own.soft, Soft::Above | Soft::Below)
    {
        return Some(Truth::Open);
    }
    let shown = cells.iter().take(4).map(|cell| {
        if own.unit == Unit::Time {
            format!("'{}' takes {:.1} ns a packet", cell.legend, 1e9 / cell.mean())
        } else {
            format!("'{}' has {:.0} packets/s", cell.legend, cell.mean())
        }
    });
    Some(Truth::Fails(shown.collect::<Vec<_>>().join("; ")))
}

/// By how much one changes, or what one is of another.
fn moved(facts: &Facts, piece: &Piece, own: &Amount, role: Role, scope: &Scope) -> Option<Truth> {
    let unknown = |what: String| Some(Truth::Fails(what));
    let sign = sign_of(piece, own);
    if role == Role::Change
        && piece.quantity == Quantity::All
        && !of_each(facts, piece, own, scope, sign)
    {
        return unknown(crate::truth::shown(facts, &scope.changes(facts)));
    }
    if role == Role::Ratio
        && own.unit != Unit::Factor
        && piece.quantity == Quantity::All
        && !is_ratio_of_each(facts, piece, own, scope)
    {
        return unknown(crate::truth::shown(facts, &scope.changes(facts)));
    }
    let is_it = if role == Role::Change || own.unit == Unit::Factor {
        is_change(facts, piece, own, scope, sign)
    } else {
        is_ratio(facts, own, scope)
    };
    if is_it {
        return Some(Truth::Holds);
    }
    let changes = scope.changes(facts);
    if changes.is_empty() || facts.widest() > 2 && is_any_pair(facts, own, scope) {
        return Some(Truth::Open);
    }
    // "with the patch, IPv6 is 5.7 % slower": than the other family, it may be
    let is_compared = piece.has("slower faster quicker") && is_apart(facts, own, scope)
        || facts.is_of_topics
            && (piece.has("turning loading enabling going adding putting costs cost takes take")
                // That of "more than" is the number's.
                || own.soft == Soft::Exact && piece.has("than"))
            && is_of_a_topic(facts, own, scope);
    // the same figure in another role: a person has to look
    let is_other = is_compared
        || match role {
            Role::Ratio => own.unit != Unit::Factor && is_change(facts, piece, own, scope, sign),
            _ => own.is_of && !piece.has("lost gone") && is_ratio(facts, own, scope),
        };
    if is_other {
        return Some(Truth::Open);
    }
    unknown(crate::truth::shown(facts, &changes))
}

/// "Both gain more than 10 %": whether it is a change of each.
fn of_each(facts: &Facts, piece: &Piece, own: &Amount, scope: &Scope, sign: Option<Sign>) -> bool {
    let blocks: BTreeSet<usize> =
        scope.changes(facts).iter().map(|change| facts.cells[change.base].block).collect();
    let is_wide = facts.widest() > 2;
    if is_wide {
        return meant(facts, piece, scope).iter().all(|change| {
            let is_down = change.percent < 0.0;
            sign.is_none_or(|sign| (sign == Sign::Down) == is_down)
                && match own.unit {
                    Unit::Percent => own.fits(change.percent),
                    Unit::Fraction => own.fits(change.percent / 100.0),
                    _ => true,
                }
        });
    }
    blocks.into_iter().all(|block| {
        let one = Scope { blocks: Some([block].into()), ..scope.clone() };
        is_change(facts, piece, own, &one, sign)
    })
}

fn is_of_page(facts: &Facts, own: &Amount) -> bool {
    let loads = facts.parts.iter().flat_map(|part| part.loads.iter().chain(&part.line_rates));
    own.unit == Unit::Rate
        && own.soft == Soft::Exact
        && loads.copied().any(|load| (own.middle() / load - 1.0).abs() < 1e-4)
}

/// Whether an amount is some change of a scope, in the direction given.
pub(crate) fn is_change(
    facts: &Facts,
    piece: &Piece,
    own: &Amount,
    scope: &Scope,
    sign: Option<Sign>,
) -> bool {
    let is_of_time = own.unit == Unit::Time
        || piece.has("time ns per-packet expensive cycles microseconds") && !piece.has("same");
    let all = meant(facts, piece, scope);
    all.iter().any(|change| {
        let (base, variant) = (&facts.cells[change.base], &facts.cells[change.variant]);
        let goes = |value: f64| sign.is_none_or(|sign| value * sign.factor() > 0.0);
        match own.unit {
            Unit::Percent | Unit::Fraction => {
                let scale = if own.unit == Unit::Percent { 1.0 } else { 0.01 };
                let time = |percent: f64| (100.0 / (100.0 + percent) - 1.0) * 100.0;
                let mut all = vec![change.percent, change.median_percent];
                if is_of_time || is_reverted(facts, piece) {
                    all = all.iter().map(|own| -time(*own)).collect();
                    if is_reverted(facts, piece) {
                        all.extend([change.percent, change.median_percent]);
                    }
                }
                // the ends of its interval, where a range or a bound is given
                let (low, high) = change.ends();
                let is_ends = own.is_range()
                    && own.fits_ends(low * scale, high * scale)
                    && goes(change.percent);
                is_ends || all.iter().any(|value| goes(*value) && own.fits(value * scale))
            }
            Unit::Rate => {
                let differences = [variant.mean() - base.mean(), variant.median() - base.median()];
                differences.iter().any(|value| goes(*value) && own.fits(*value))
            }
            Unit::Time => {
                let many = packets(piece);
                let differences = [
                    many / base.mean() - many / variant.mean(),
                    many / base.median() - many / variant.median(),
                ];
                differences.iter().any(|value| goes(*value) && own.fits(*value))
            }
            Unit::Factor => {
                let ratio = variant.mean() / base.mean();
                let median = variant.median() / base.median();
                let is_plus = piece.has("faster more higher better quicker");
                let fits = |ratio: f64| own.fits(ratio) || is_plus && own.fits(ratio - 1.0);
                match sign {
                    Some(Sign::Down) if own.middle() > 1.0 => fits(1.0 / ratio),
                    Some(_) => fits(ratio) || fits(median),
                    None => {
                        fits(ratio)
                            || fits(median)
                            || own.middle() > 1.0 && is_of_time && fits(1.0 / ratio)
                    }
                }
            }
            _ => false,
        }
    })
}

/// "All keep more than half": whether it is what each is of its base.
fn is_ratio_of_each(facts: &Facts, piece: &Piece, own: &Amount, scope: &Scope) -> bool {
    let scale = if own.unit == Unit::Percent { 100.0 } else { 1.0 };
    meant(facts, piece, scope).iter().all(|change| own.fits((1.0 + change.percent / 100.0) * scale))
}

/// "pf costs two thirds": what one thing is of another, with the same kernel and family.
fn is_of_a_topic(facts: &Facts, own: &Amount, scope: &Scope) -> bool {
    let cells = scope.cells(facts);
    cells.iter().any(|a| {
        let others = facts
            .cells
            .iter()
            .filter(|b| b.part != a.part && b.family == a.family && b.role == a.role);
        others.into_iter().any(|b| {
            let ratio = a.mean() / b.mean();
            match own.unit {
                Unit::Percent => own.fits((ratio - 1.0) * 100.0) || own.fits(ratio * 100.0),
                Unit::Fraction => own.fits(ratio - 1.0) || own.fits(ratio),
                Unit::Factor => own.fits(ratio) || own.fits(1.0 / ratio),
                Unit::Rate => own.fits(a.mean() - b.mean()),
                _ => false,
            }
        })
    })
}

/// Whether two families of one machine are so far apart.
fn is_apart(facts: &Facts, own: &Amount, scope: &Scope) -> bool {
    let cells = scope.cells(facts);
    cells.iter().any(|a| {
        facts
            .cells
            .iter()
            .filter(|b| b.part == a.part && b.family != a.family && b.role == a.role)
            .any(|b| {
                let ratio = a.mean() / b.mean();
                match own.unit {
                    Unit::Percent => own.fits((ratio - 1.0) * 100.0),
                    Unit::Factor => own.fits(ratio) || own.fits(1.0 / ratio),
                    _ => false,
                }
            })
    })
}

/// Whether any two sets of a block are so far apart.
fn is_any_pair(facts: &Facts, own: &Amount, scope: &Scope) -> bool {
    let wide = Scope { roles: None, ..scope.clone() };
    let all = wide.changes(facts).into_iter().chain(wide.others(facts));
    all.into_iter().any(|change| {
        let ratio = facts.cells[change.variant].mean() / facts.cells[change.base].mean();
        let rate = facts.cells[change.variant].mean() - facts.cells[change.base].mean();
        let is_of = |ratio: f64| match own.unit {
            Unit::Percent => own.fits((ratio - 1.0) * 100.0) || own.fits(ratio * 100.0),
            Unit::Fraction => own.fits(ratio - 1.0) || own.fits(ratio),
            Unit::Factor => own.fits(ratio),
            Unit::Rate => own.fits(rate),
            _ => true,
        };
        is_of(ratio) || is_of(1.0 / ratio)
    })
}

impl Amount {
    /// Whether a range is that of an interval.
    pub(crate) fn fits_ends(&self, low: f64, high: f64) -> bool {
        let (low, high) = if high < 0.0 { (-high, -low) } else { (low, high) };
        let slack = self.step + 0.25 * (high - low).abs();
        (self.low - low).abs() <= slack && (self.high - high).abs() <= slack
    }
}
