//! Numbers that no fact is.

use std::ops::Range;

use crate::ground::beyond::beyond;
use crate::ground::claim::{Claim, claims};
use crate::ground::facts::{
    Fact, Part, Source, Ungrounded, across, cells, ratio, ratios, steps, together,
};
use crate::ground::scope::{Scope, Seen};
use crate::level::agrees;
use crate::model::{Measure, Place, is_of};
use crate::piece::Piece;
use crate::token::{Number, Unit};

/// How far from a bound what it bounds may be: "more than twice" of 2.4, and not of 9.
const REACH: f64 = 1.35;

/// The same of "stays below 2 Mpps".
const LOW_REACH: f64 = 2.0;

/// The first number that nothing bears out.
pub(crate) fn check(scope: &Scope<'_>, part: &Range<usize>) -> Option<Ungrounded> {
    // what another part of the page, or what a line carries, is held against
    const APART: [&str; 7] =
        ["section", "chapter", "previous", "earlier", "first table", "line rate", "line-rate"];
    let lower = scope.text.to_lowercase();
    if APART.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let found = claims(scope);
    let all: Vec<Number> = found.values().map(|own| own.number).collect();
    found.iter().filter(|(at, _)| part.contains(at)).find_map(|(at, own)| {
        let rest: Vec<Number> =
            all.iter().copied().filter(|other| other.value != own.number.value).collect();
        of_claim(scope, *at, own, &rest)
    })
}

fn of_claim(scope: &Scope<'_>, at: usize, own: &Claim, rest: &[Number]) -> Option<Ungrounded> {
    let unit = own.number.unit;
    let is_ratio = matches!(unit, Unit::Percent | Unit::Times);
    // "30 % of the machines are new"
    if is_ratio && !own.cue.is_change && !scope.is_of_any() {
        return None;
    }
    let mut all: Vec<Fact> = Vec::new();
    let meant = scope.meant(at);
    // of so many figures one agrees by chance
    if meant.iter().any(|(seen, piece)| seen.part(piece, |_| true).is_large()) {
        return None;
    }
    for (seen, piece) in &meant {
        all.extend(facts_of(seen, piece, at, own));
    }
    // nothing of its kind is measured there: the 60 s of a trial beside microseconds
    let is_near = |fact: &Fact| unit != Unit::Seconds || is_of_scale(own.number.value, fact.value);
    if !all.iter().any(is_near) {
        return None;
    }
    for (seen, piece) in meant.iter().take(MOST_ACROSS) {
        for (other, beside) in scope.others(at, seen.number) {
            all.extend(facts_across((seen, piece), (other, beside), unit));
        }
    }
    all.extend(stated(scope, rest, unit));
    all.extend(elsewhere(scope, at, own));
    if let Some(data) = beyond(scope, at, own) {
        return Some(Ungrounded { at, data });
    }
    if all.iter().any(|fact| is_it(own, fact)) {
        return None;
    }
    let near = nearest(own, &all)?;
    let data = format!(
        "nothing here gives {}: of {} figures that may be meant the nearest is {}{}",
        written(scope, at),
        all.len(),
        as_written(near.value, unit),
        shown(scope, near),
    );
    Some(Ungrounded { at, data })
}

/// Whether two times can be of one kind.
fn is_of_scale(said: f64, value: f64) -> bool {
    const FAR: f64 = 1e3;
    said < FAR * value && value < FAR * said
}

/// The cells of other tables that a number of three digits may be: hardly any is so by chance.
fn elsewhere(scope: &Scope<'_>, at: usize, own: &Claim) -> Vec<Fact> {
    let unit = own.number.unit;
    let is_level = !matches!(unit, Unit::Percent | Unit::Times | Unit::Plain);
    let is_exact = own.number.half <= own.number.value.abs() / 200.0;
    if !is_level || !is_exact || own.bound.is_some() {
        return Vec::new();
    }
    let meant: Vec<usize> = scope.meant(at).iter().map(|(seen, _)| seen.number).collect();
    let rest = scope.seen.iter().filter(|seen| !meant.contains(&seen.number));
    let of = |seen: &Seen<'_>| {
        let all = Piece::default();
        cells(&seen.whole(&all, |at| seen.grid.columns[at].unit == unit), unit)
    };
    rest.flat_map(of).collect()
}

/// Grids that are held against others.
const MOST_ACROSS: usize = 4;

/// What two grids give together.
fn facts_across(one: (&Seen<'_>, &Piece), other: (&Seen<'_>, &Piece), unit: Unit) -> Vec<Fact> {
    let is_ratio = matches!(unit, Unit::Percent | Unit::Times);
    let is_own = |seen: &Seen<'_>, at: usize| match is_ratio {
        true => !matches!(seen.grid.columns[at].unit, Unit::Percent | Unit::Times),
        false => seen.grid.columns[at].unit == unit,
    };
    let a = one.0.part(one.1, |at| is_own(one.0, at));
    let b = other.0.part(other.1, |at| is_own(other.0, at));
    let one = |(first, second): ((usize, Place), (usize, Place))| {
        let (x, y) = (a.grid.at(first.1)?, b.grid.at(second.1)?);
        let from = Source::Pair(first, second);
        if is_ratio {
            return ratio(x, y, from);
        }
        Some(Fact { value: (x.value - y.value).abs(), half: x.half + y.half, from })
    };
    across(&a, &b).into_iter().filter_map(one).collect()
}

/// The facts that a number may be.
fn facts_of(seen: &Seen<'_>, piece: &Piece, at: usize, own: &Claim) -> Vec<Fact> {
    const TOGETHER: &str = "together total totals sum combined altogether average averages mean overall both between add adds";
    let grid = seen.grid;
    let of = |column: usize| grid.columns[column].unit;
    let unit = own.number.unit;
    let is_together = piece.has(TOGETHER);
    let levels = |part: &Part<'_>, unit: Unit| {
        // the ends of runs, also where nothing names them
        let is_end =
            |at: &usize| matches!(grid.columns[*at].measure, Measure::Least | Measure::Most);
        let is_bare = grid.is_block && (!part.has_columns || part.columns.iter().any(is_end));
        let columns: Vec<usize> = (0..grid.columns.len()).filter(|_| is_bare).collect();
        let columns = if is_bare { columns } else { part.columns.clone() };
        let rest = part.nameless.iter().filter(|row| !part.rows.contains(row));
        let rows = part.rows.iter().chain(rest).copied().collect();
        let whole = Part { columns, rows, ..part.clone() };
        let mut found = match own.cue.is_step {
            true => Vec::new(),
            false => cells(&whole, unit),
        };
        let is_of_two = grid.is_block && grid.rows.len() == 2;
        if own.cue.is_change || own.cue.is_step || part.has_rows || part.has_columns || is_of_two {
            found.extend(steps(part, unit));
        }
        if is_together {
            found.extend(together(part, unit));
        }
        found
    };
    match unit {
        Unit::Percent | Unit::Times => {
            let is_of = |at: usize| !matches!(of(at), Unit::Percent | Unit::Times);
            let mut found = ratios(&seen.part(piece, is_of));
            // what is a ratio itself
            let shown = seen.part(piece, |at| of(at) == unit);
            let as_ratio = |own: Fact| {
                let scale = if unit == Unit::Percent { 0.01 } else { 1.0 };
                let from = Source::Shown(match own.from {
                    Source::Cell(number, place) => Some((number, place)),
                    _ => None,
                });
                Fact { value: scale * own.value.abs(), half: scale * own.half, from }
            };
            found.extend(levels(&shown, unit).into_iter().map(as_ratio));
            found
        }
        Unit::Plain => {
            let next = piece.tokens.iter().position(|own| own.at == at).map(|at| at + 1);
            let next = next.and_then(|at| piece.tokens.get(at));
            let is_own = |at: usize| {
                of(at) == Unit::Plain && next.is_some_and(|own| is_of(own, &grid.columns[at].name))
            };
            match (0..grid.columns.len()).any(is_own) {
                true => levels(&seen.part(piece, is_own), Unit::Plain),
                false => Vec::new(),
            }
        }
        Unit::Seconds => {
            let is_of = |at: usize| matches!(of(at), Unit::Seconds | Unit::Packets);
            levels(&seen.part(piece, is_of), unit)
        }
        unit => levels(&seen.part(piece, |at| of(at) == unit), unit),
    }
}

/// What the page states of it, and what the numbers of the sentence are to each other.
fn stated(scope: &Scope<'_>, rest: &[Number], unit: Unit) -> Vec<Fact> {
    let is_ratio = |unit: Unit| matches!(unit, Unit::Percent | Unit::Times);
    let scale = if unit == Unit::Percent { 0.01 } else { 1.0 };
    let from = if is_ratio(unit) { Source::Shown(None) } else { Source::Stated };
    let own = scope.stated.iter().filter(|own| own.unit == unit);
    let mut found: Vec<Fact> = own
        .map(|own| Fact { value: own.value.abs() * scale, half: own.half * scale, from })
        .collect();
    for (at, a) in rest.iter().enumerate() {
        for b in &rest[at + 1..] {
            if a.unit == b.unit && is_ratio(unit) && !is_ratio(a.unit) {
                found.extend(ratio(*a, *b, Source::Stated));
            } else if a.unit == b.unit && a.unit == unit {
                let half = scale * (a.half + b.half);
                let one = |value: f64| Fact { value: scale * value.abs(), half, from };
                found.extend([one(a.value - b.value), one(a.value + b.value)]);
            }
        }
    }
    found
}

/// What a fact may be written as: a ratio as a share, as a factor, as a change of the lower or of the higher value.
fn forms(own: &Claim, fact: &Fact) -> Vec<f64> {
    let ratio = fact.value;
    let up = 100.0 * (ratio - 1.0);
    let down = 100.0 * (1.0 - 1.0 / ratio);
    let (share, whole) = (100.0 / ratio, 100.0 * ratio);
    match (own.number.unit, fact.from) {
        (Unit::Percent, Source::Shown(_)) => vec![whole, (100.0 - whole).abs()],
        (Unit::Times, Source::Shown(_)) => vec![ratio],
        (Unit::Percent, _) if own.is_part && own.cue.is_up != Some(true) => vec![share, down],
        // "takes 60 % of it away" as much as "has 60 % of it"
        (Unit::Percent, _) if own.cue.is_share => vec![share, whole, down],
        (Unit::Percent, _) => {
            let mut found = Vec::new();
            match own.cue.is_up {
                Some(true) => found.push(up),
                Some(false) => found.push(down),
                None => found.extend([up, down]),
            }
            if !own.cue.is_change || own.is_rough {
                found.extend([share, whole]);
            }
            found
        }
        (Unit::Times, _) if own.number.value < 1.0 => vec![1.0 / ratio],
        (Unit::Times, _) if own.cue.is_up == Some(true) => vec![ratio, ratio - 1.0],
        (Unit::Times, _) => vec![ratio],
        _ => vec![fact.value],
    }
}

fn is_it(own: &Claim, fact: &Fact) -> bool {
    let half = if own.number.unit == Unit::Percent { 100.0 * fact.half } else { fact.half };
    forms(own, fact).into_iter().any(|value| is_value(own, value, half))
}

fn is_value(own: &Claim, value: f64, half: f64) -> bool {
    let number = own.number;
    let said = number.value.abs();
    if let Some((least, most)) = own.range {
        return (least..=most).contains(&value) || agrees(number, value, half, own.is_rough);
    }
    let slack = number.half.min(0.05 * said) + half;
    match own.bound {
        Some(true) => value >= said - slack && value <= REACH * said + slack,
        // "below 1 %"
        Some(false) => {
            let reach = if number.unit == Unit::Percent { REACH } else { LOW_REACH };
            let is_small = number.unit == Unit::Percent && said <= 5.0;
            let is_near = value >= said / reach - slack || is_small;
            value <= said + slack && is_near
        }
        None => {
            // cut, where it is not rounded
            let is_cut = value > said && value - said < (2.0 * number.half + half) * 0.999_999;
            is_cut
                || agrees(Number { half: 0.5 * number.half, ..number }, value, half, own.is_rough)
        }
    }
}

/// The fact that comes nearest.
fn nearest<'f>(own: &Claim, facts: &'f [Fact]) -> Option<&'f Fact> {
    let said = own.number.value.abs();
    let far = |fact: &Fact| {
        forms(own, fact).into_iter().map(|value| (value - said).abs()).fold(f64::MAX, f64::min)
    };
    facts.iter().min_by(|a, b| far(a).total_cmp(&far(b)))
}

fn written<'t>(scope: &Scope<'t>, at: usize) -> &'t str {
    let rest = scope.text.get(at..).unwrap_or("");
    let mut words = rest.match_indices(char::is_whitespace).map(|(end, _)| end);
    let first = words.next().unwrap_or(rest.len());
    let second = words.next().unwrap_or(rest.len());
    let has_unit = rest[..first].ends_with(|c: char| c.is_ascii_digit());
    rest[..if has_unit { second } else { first }].trim_end_matches(['.', ',', ';', ':', ')'])
}

fn as_written(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Percent | Unit::Times => format!(
            "{value:.3} times ({:+.1} %, {:+.1} %)",
            100.0 * (value - 1.0),
            100.0 * (1.0 / value - 1.0)
        ),
        Unit::Packets if value >= 1e6 => format!("{:.3} Mpps", value / 1e6),
        Unit::Packets => format!("{:.1} kpps", value / 1e3),
        Unit::Plain => format!("{value:.1}"),
        Unit::Bits => format!("{:.3} Gb/s", value / 1e9),
        Unit::Seconds if value < 1e-6 => format!("{:.1} ns", value * 1e9),
        Unit::Seconds if value < 1e-3 => format!("{:.2} us", value * 1e6),
        Unit::Seconds if value < 1.0 => format!("{:.2} ms", value * 1e3),
        Unit::Seconds => format!("{value:.2} s"),
        Unit::Watts => format!("{value:.2} W"),
    }
}

fn shown(scope: &Scope<'_>, fact: &Fact) -> String {
    let of = |number: usize, place| {
        scope.seen.get(number).map_or(String::new(), |own| own.grid.shown(place))
    };
    match fact.from {
        Source::Cell(number, place) => format!(", {}", of(number, place)),
        Source::Pair(a, b) => format!(", of {} and {}", of(a.0, a.1), of(b.0, b.1)),
        Source::Shown(Some((number, place))) => format!(", {}", of(number, place)),
        Source::Shown(None) => String::new(),
        Source::Together => ", of a column together or in the mean".to_owned(),
        Source::Stated => ", which the page states".to_owned(),
    }
}
