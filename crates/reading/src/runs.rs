//! Of single runs, their spread, and the interval of a change: "the sets do not overlap", "the slowest patched run beats
//! ...", "all five runs are above 6.4 Mpps", "the interval includes zero".

use crate::amount::Unit;
use crate::change::{Predicate, predicate};
use crate::cue::is_negated;
use crate::facts::{Cell, Change, Facts};
use crate::piece::Piece;
use crate::quantity::Quantity;
use crate::role::{Role, role_of, sign_of};
use crate::scope::Scope;
use crate::softness::Soft;
use crate::truth::{Is, Truth, judge, shown};

const LOW: &str = "worst lowest slowest minimum min weakest poorest";
const HIGH: &str = "best highest fastest maximum max peak strongest";

/// What is said of runs, spreads and intervals; `None` where nothing is.
pub(crate) fn check(facts: &Facts, piece: &Piece, read: &mut Vec<usize>) -> Option<Truth> {
    overlap(facts, piece)
        .or_else(|| against_noise(facts, piece))
        .or_else(|| interval(facts, piece, read))
        .or_else(|| extremes(facts, piece, read))
        .or_else(|| one_end(facts, piece, read))
        .or_else(|| every_run(facts, piece, read))
        .or_else(|| spreads(facts, piece))
}

/// "The uncertainty is larger than the difference itself": whether a change is told from what the runs vary by.
fn against_noise(facts: &Facts, piece: &Piece) -> Option<Truth> {
    const NOISE: &str = "uncertainty error noise half-width width margin uncertainties errors";
    const MORE: &str = "larger bigger exceeds exceed greater dwarfs swamps covers higher wider above outside beyond";
    const LESS: &str = "smaller less below under inside within lower";
    let at = |list: &str| piece.tokens.iter().position(|t| t.is_in(list));
    let (noise, change) = (at(NOISE)?, piece.cues.iter().find(|cue| cue.is_noun)?.at);
    let between = |list: &str| {
        let (from, to) = (noise.min(change), noise.max(change));
        piece.tokens[from..to].iter().any(|t| t.is_in(list))
    };
    let is_more = match (between(MORE), between(LESS)) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    let verb = piece.tokens.iter().position(|t| t.is_in(MORE) || t.is_in(LESS))?;
    let is_proven = ((noise < change) != is_more) != is_negated(&piece.tokens, verb);
    let changes = piece.scope.changes(facts);
    let is: Vec<Is> =
        changes.iter().map(|change| Is::from(change.is_proven == is_proven)).collect();
    Some(judge(piece.quantity, false, &is, || shown(facts, &changes)))
}

fn range(cell: &Cell) -> String {
    format!("'{}' from {:.0} to {:.0}", cell.legend, cell.min(), cell.max())
}

/// "The two sets do not overlap", "ranges are disjoint".
fn overlap(facts: &Facts, piece: &Piece) -> Option<Truth> {
    const JOINT: &str = "overlap overlaps overlapping overlapped intermingle intermingled interleave interleaved \
    mingle mixed-up entangled intersect intertwined mingled";
    const APART: &str = "disjoint separated separate separable distinct non-overlapping";
    let at = |list: &str| piece.tokens.iter().position(|t| t.is_in(list));
    let (place, is_joint) =
        at(JOINT).map(|at| (at, true)).or_else(|| at(APART).map(|at| (at, false)))?;
    let is_denied = is_negated(&piece.tokens, place)
        || piece.tokens[place.saturating_sub(5)..place]
            .iter()
            .any(|t| t.is("no") || t.is("without"));
    let is_said = is_joint != is_denied;
    let changes = Scope { roles: None, ..piece.scope.clone() }.changes(facts);
    let is = changes.iter().map(|change| {
        let (a, b) = (&facts.cells[change.base], &facts.cells[change.variant]);
        let is_overlapping = a.min() <= b.max() && b.min() <= a.max();
        Is::from(is_overlapping == is_said)
    });
    let is: Vec<Is> = is.collect();
    let quantity = if piece.quantity == Quantity::None { Quantity::Plain } else { piece.quantity };
    Some(judge(quantity, false, &is, || {
        let own = changes.iter().take(4).map(|change| {
            let (a, b) = (&facts.cells[change.base], &facts.cells[change.variant]);
            format!("{}, {}", range(a), range(b))
        });
        own.collect::<Vec<_>>().join("; ")
    }))
}

/// "The 95 % interval includes zero", "runs from -12.0 to -11.1 %".
fn interval(facts: &Facts, piece: &Piece, read: &mut Vec<usize>) -> Option<Truth> {
    let place = piece
        .tokens
        .iter()
        .position(|t| t.is_in("interval intervals ci error-bar bars bounds bound"))?;
    if piece.tokens[place].is_in("bars bound bounds") && !piece.has("error confidence lower upper")
    {
        return None;
    }
    let changes = piece.scope.changes(facts);
    let zero = piece.tokens.iter().position(|t| t.is("zero") || t.text == "0");
    let percents: Vec<usize> = (0..piece.amounts.len())
        .filter(|at| {
            let own = &piece.amounts[*at];
            let is_level = own.unit == Unit::Percent
                && [90.0, 95.0, 99.0].contains(&own.low)
                && !own.is_range();
            own.unit == Unit::Percent && !is_level
        })
        .collect();
    read.extend((0..piece.amounts.len()).filter(|at| piece.amounts[*at].unit == Unit::Percent));
    let data = || shown(facts, &changes);
    if let Some(zero) = zero.filter(|_| percents.is_empty()) {
        let is_within = holds_zero(piece, zero)?;
        let is: Vec<Is> =
            changes.iter().map(|change| Is::from(change.is_proven != is_within)).collect();
        return Some(judge(piece.quantity, false, &is, data));
    }
    if percents.is_empty() {
        return None;
    }
    let is: Vec<Is> =
        changes.iter().map(|change| Is::from(are_ends(piece, &percents, change))).collect();
    Some(judge(piece.quantity, false, &is, data))
}

/// Whether an interval is said to hold zero; `None` where nothing is said of it.
fn holds_zero(piece: &Piece, zero: usize) -> Option<bool> {
    const WITHIN: &str = "includes include including contains contain straddles straddle spans covers cover \
    crosses crossing included touches holds overlaps";
    const WITHOUT: &str = "excludes exclude clear excluding outside away misses avoids";
    let verb = |list: &str| piece.tokens.iter().position(|t| t.is_in(list));
    let (at, is_within) =
        verb(WITHIN).map(|at| (at, true)).or_else(|| verb(WITHOUT).map(|at| (at, false)))?;
    Some(is_within != (is_negated(&piece.tokens, at) || is_negated(&piece.tokens, zero)))
}

/// Whether the percentages of a piece are the interval of a change.
fn are_ends(piece: &Piece, percents: &[usize], change: &Change) -> bool {
    let (low, high) = change.ends();
    // as the text gives those of a loss
    let unsigned = || if high < 0.0 { (-high, -low) } else { (low, high) };
    let near = |own: f64, end: f64, step: f64| {
        (own.abs() - end.abs()).abs() <= step.max(0.15) + 0.1 * change.half
    };
    match percents {
        [one] if piece.amounts[*one].is_range() => {
            let own = &piece.amounts[*one];
            let (low, high) = unsigned();
            let is_signed = own.sign.is_some();
            let low = if is_signed { low.abs() } else { low };
            near(own.low, low, own.step) && near(own.high, high, own.step)
                || near(own.low, high, own.step) && near(own.high, low, own.step)
        }
        [one] if matches!(piece.amounts[*one].soft, Soft::Above | Soft::Below) => {
            let own = &piece.amounts[*one];
            let is_denied = is_negated(&piece.tokens, own.first)
                && piece.has("larger bigger higher more above over smaller lower less below");
            let (low, high) = unsigned();
            if (own.soft == Soft::Above) == is_denied { high <= own.low } else { low >= own.low }
        }
        [one] => {
            let own = &piece.amounts[*one];
            let is_half =
                piece.text(own.first.wrapping_sub(1)) == "±" || piece.has("wide width half");
            let mean = (change.percent.abs() - own.low).abs() <= own.step;
            near(own.low, low, own.step)
                || near(own.low, high, own.step)
                || mean
                || is_half && (own.fits(change.half) || own.fits(2.0 * change.half))
        }
        [one, other, ..] => {
            let (a, b) = (&piece.amounts[*one], &piece.amounts[*other]);
            let is_it = |x: f64, y: f64| near(a.low, x, a.step) && near(b.low, y, b.step);
            is_it(low, high) || is_it(high, low)
        }
        [] => true,
    }
}

fn is_of_runs(piece: &Piece) -> bool {
    piece.has(
        "run runs sample samples measurement measurements value values bench benches one \
    iteration iterations result trial trials",
    )
}

/// The two words of ends: "the slowest patched run is above the fastest stock one".
fn ends(piece: &Piece) -> Option<(usize, usize)> {
    let is_end = |at: &usize| piece.tokens[*at].is_in(LOW) || piece.tokens[*at].is_in(HIGH);
    let ends: Vec<usize> = (0..piece.tokens.len()).filter(is_end).collect();
    // "every patched run beats the fastest stock one": its slowest does
    let every = piece.tokens.iter().position(|t| t.is_in("every each all both"));
    let every = every.filter(|_| piece.quantity == Quantity::All && piece.has("run runs one ones"));
    match (ends.as_slice(), every) {
        ([last], Some(first)) if first < *last => Some((first, *last)),
        ([], Some(first)) => {
            let next = (first + 1..piece.tokens.len())
                .find(|at| piece.tokens[*at].is_in("every each any all"));
            next.map(|next| (first, next))
        }
        ([one, other], _) => Some((*one, *other)),
        _ => None,
    }
}

/// What is named with the first word of an end, and what with the second.
fn apart(facts: &Facts, piece: &Piece, one: usize, other: usize) -> Option<[Scope; 2]> {
    // what is named before the second end, but behind the words between, belongs to it
    let than = (one..other).rev().find(|at| {
        piece.tokens[*at]
            .is_in("than beats exceeds above below beat tops outruns is of under over behind")
    });
    let cut = than.unwrap_or(other);
    let side = |from: usize, to: usize| {
        let own = Scope::of(facts, &piece.named(from, to));
        own.with_roles(&Scope { roles: None, ..piece.scope.clone() })
    };
    let (mut first, mut second) = (side(0, cut), side(cut, piece.tokens.len()));
    let both = |scope: &Scope| scope.parts.as_ref().map_or(0, std::collections::BTreeSet::len);
    if both(&first) > both(&second) && both(&second) == 1 {
        first.parts.clone_from(&second.parts);
    }
    if piece.named(cut, piece.tokens.len()).is_empty() && first.roles.is_none() {
        return None;
    }
    if let (Some(own), None) = (&first.roles, &second.roles) {
        second.roles = Some((0..facts.widest()).filter(|role| !own.contains(role)).collect());
    }
    Some([first, second])
}

/// "The slowest patched run is above the fastest stock one".
fn extremes(facts: &Facts, piece: &Piece, read: &mut Vec<usize>) -> Option<Truth> {
    if !is_of_runs(piece) && !piece.has("minimum maximum") {
        return None;
    }
    let (one, other) = ends(piece)?;
    let [first, second] = apart(facts, piece, one, other)?;
    let is_above_said =
        piece.has("beats beat above faster quicker higher better exceeds tops outruns ahead");
    // "every run" is above when its slowest is; of those that it is above, when their fastest is below
    let value = |cell: &Cell, at: usize| match () {
        () if piece.tokens[at].is_in(LOW) => cell.min(),
        () if piece.tokens[at].is_in(HIGH) => cell.max(),
        () if (at == one) == is_above_said => cell.min(),
        () => cell.max(),
    };
    let has = |list: &str| piece.tokens[one..].iter().any(|t| t.is_in(list));
    let is_above =
        has("beats beat above faster quicker higher better exceeds tops outruns ahead over \
    outperforms surpasses");
    let is_below = has("below slower lower behind worse under trails");
    if is_above == is_below {
        return None;
    }
    let verb = piece.tokens.iter().position(|t| {
        t.is_in(
            "beats beat above faster quicker higher better exceeds below slower lower behind worse",
        )
    });
    let is_denied = verb.is_some_and(|at| is_negated(&piece.tokens, at));
    let rates: Vec<usize> =
        (0..piece.amounts.len()).filter(|at| piece.amounts[*at].unit == Unit::Rate).collect();
    read.extend(&rates);
    // one is by how much they are apart, or what one of them is; two are what both are
    let fits = |x: f64, y: f64| match rates.as_slice() {
        [] => true,
        [at] => [x - y, x, y].iter().any(|value| piece.amounts[*at].fits(*value)),
        [a, b, ..] => piece.amounts[*a].fits(x) && piece.amounts[*b].fits(y),
    };
    let mut is = Vec::new();
    for a in first.cells(facts) {
        for b in second
            .cells(facts)
            .into_iter()
            .filter(|b| b.part == a.part && b.family == a.family && b.role != a.role)
        {
            let (x, y) = (value(a, one), value(b, other));
            is.push(Is::from(((x > y) == is_above) != is_denied && fits(x, y)));
        }
    }
    Some(judge(Quantity::Plain, false, &is, || "the runs are in another order".to_owned()))
}

/// "In its worst run it costs 12 %", "in its best one it is even faster": one end of a set beside what the base has.
fn one_end(facts: &Facts, piece: &Piece, read: &mut Vec<usize>) -> Option<Truth> {
    const RUN: &str = "run sample measurement bench one iteration case trial";
    let is_end = |at: &usize| {
        let behind = &piece.tokens[at + 1..(at + 4).min(piece.tokens.len())];
        (piece.tokens[*at].is_in(LOW) || piece.tokens[*at].is_in(HIGH))
            && behind.iter().any(|token| token.is_in(RUN))
    };
    let mut ends = (0..piece.tokens.len()).filter(is_end);
    let end = ends.next().filter(|_| ends.next().is_none())?;
    let sign = match predicate(piece)? {
        Predicate::Moves(sign) | Predicate::ProvenMoves(sign) => sign,
        _ => return None,
    };
    let is_low = piece.tokens[end].is_in(LOW);
    let value = |cell: &Cell| if is_low { cell.min() } else { cell.max() };
    let mut measured = (0..piece.amounts.len())
        .filter(|at| matches!(piece.amounts[*at].unit, Unit::Percent | Unit::Rate));
    let amount = measured.next();
    if measured.next().is_some() {
        return None;
    }
    let own = amount.map(|at| &piece.amounts[at]);
    if own.is_some_and(|own| role_of(piece, own) != Role::Change) {
        return None;
    }
    let changes = piece.scope.changes(facts);
    let fits = |from: f64, to: f64| {
        let goes = (to - from) * sign.factor() > 0.0;
        goes && own.is_none_or(|own| match own.unit {
            Unit::Percent => own.fits((to / from - 1.0) * 100.0),
            _ => own.fits(to - from),
        })
    };
    let is: Vec<Is> = changes
        .iter()
        .map(|change| {
            let (base, variant) = (&facts.cells[change.base], &facts.cells[change.variant]);
            let of = [base.mean(), base.median(), value(base)];
            Is::from(of.into_iter().any(|from| fits(from, value(variant))))
        })
        .collect();
    read.extend(amount);
    Some(judge(piece.quantity, false, &is, || {
        let own = changes.iter().take(4).map(|change| {
            let (base, variant) = (&facts.cells[change.base], &facts.cells[change.variant]);
            format!(
                "that run of '{}' has {:.0}, '{}' {:.0}",
                variant.legend,
                value(variant),
                base.legend,
                base.mean()
            )
        });
        own.collect::<Vec<_>>().join("; ")
    }))
}

/// "At least 100 kpps lost in every run": what the run nearest to the base is off by.
fn every_loss(facts: &Facts, piece: &Piece, at: usize, read: &mut Vec<usize>) -> Option<Truth> {
    let own = &piece.amounts[at];
    let sign = sign_of(piece, own)?;
    let changes = piece.scope.changes(facts);
    read.push(at);
    let is: Vec<Is> = changes
        .iter()
        .map(|change| {
            let (base, variant) = (&facts.cells[change.base], &facts.cells[change.variant]);
            let all = [variant.min() - base.median(), variant.max() - base.median()];
            let least =
                all.into_iter().map(|own| own * sign.factor()).fold(f64::INFINITY, f64::min);
            Is::from(least >= own.low)
        })
        .collect();
    Some(judge(Quantity::Plain, false, &is, || {
        let own = changes.iter().take(4).map(|change| {
            let (base, variant) = (&facts.cells[change.base], &facts.cells[change.variant]);
            format!("{}, '{}' has {:.0}", range(variant), base.legend, base.median())
        });
        own.collect::<Vec<_>>().join("; ")
    }))
}

/// "All five patched runs lie above 6.4 Mpps", "not a single run came in below 5 Mpps".
fn every_run(facts: &Facts, piece: &Piece, read: &mut Vec<usize>) -> Option<Truth> {
    if !piece.has(
        "run runs sample samples measurement measurements value values bench benches trial trials",
    ) {
        return None;
    }
    let is_none = piece.has("no none never")
        || piece.has_turn(&["not", "a", "single"])
        || piece.has_turn(&["not", "one"]);
    let is_all = piece.has("all every each any");
    if !is_none && !is_all {
        return None;
    }
    let at = piece.amounts.iter().position(|own| {
        let is_bound = matches!(own.soft, Soft::Above | Soft::Below | Soft::Nearly | Soft::Beyond);
        own.unit == Unit::Rate && (is_bound || piece.has("reach reached exceeded exceed reaches"))
    })?;
    let own = &piece.amounts[at];
    let is_above = !matches!(own.soft, Soft::Below | Soft::Nearly);
    if is_all && !is_none && is_above && role_of(piece, own) == Role::Change {
        return every_loss(facts, piece, at, read);
    }
    read.push(at);
    let is: Vec<Is> = piece
        .scope
        .cells(facts)
        .into_iter()
        .map(|cell| {
            Is::from(match (is_none, is_above) {
                (false, true) => cell.min() >= own.low,
                (false, false) => cell.max() <= own.low,
                (true, true) => cell.max() <= own.low,
                (true, false) => cell.min() >= own.low,
            })
        })
        .collect();
    let cells = piece.scope.cells(facts);
    Some(judge(Quantity::All, true, &is, || {
        cells.iter().take(4).map(|cell| range(cell)).collect::<Vec<_>>().join("; ")
    }))
}

/// "The patched runs scatter more", "the standard deviation doubled": spreads of the two sets of a block.
fn spreads(facts: &Facts, piece: &Piece) -> Option<Truth> {
    const NOISY: &str =
        "scatter scatters spread deviation deviations noisier steadier variance stddev noisy";
    let place = piece.tokens.iter().position(|t| t.is_in(NOISY))?;
    if piece.measured().next().is_some() {
        return None;
    }
    let has = |list: &str| piece.has(list);
    let is_steady = piece.tokens[place].is("steadier");
    let is_more = has(
        "more larger higher bigger wider noisier greater increases increased grows grew doubled \
    up",
    );
    let is_less = has(
        "less smaller lower narrower tighter steadier decreases decreased shrinks shrank halved \
    down",
    );
    let more = match (is_more, is_less || is_steady) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    let is_denied = is_negated(&piece.tokens, place);
    let of_base =
        piece.scope.roles.as_ref().is_some_and(|roles| roles.len() == 1 && roles.contains(&0));
    let changes = Scope { roles: None, ..piece.scope.clone() }.changes(facts);
    let is: Vec<Is> = changes
        .iter()
        .map(|change| {
            let (a, b) = (&facts.cells[change.base], &facts.cells[change.variant]);
            let grown = if of_base { a.sd() > b.sd() } else { b.sd() > a.sd() };
            let ratio = (a.sd() / b.sd()).ln().abs();
            if ratio < 0.05 { Is::Open } else { Is::from((grown == more) != is_denied) }
        })
        .collect();
    Some(judge(piece.quantity, false, &is, || {
        let cells: Vec<&Cell> =
            changes.iter().flat_map(|c| [&facts.cells[c.base], &facts.cells[c.variant]]).collect();
        crate::share::spreads(&cells)
    }))
}
