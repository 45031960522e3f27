//! "IPv6 is faster than IPv4", "the Xeon gains less than the APU2", "the loss outweighs the gain": one against another.

use crate::amount::{Amount, Unit};
use crate::change::{Predicate, predicate};
use crate::cue::{Say, is_negated};
use crate::facts::{Cell, Change, Facts};
use crate::mention::{Mention, Whom};
use crate::piece::Piece;
use crate::quantity::Quantity;
use crate::scope::Scope;
use crate::truth::{Is, Truth, judge, shown};
use fwdlab_sentence::clause::Sign;

/// Verbs of which the first is the higher.
const ABOVE: &str = "beats beat outruns outran outrun outperforms outperformed outperform overtakes overtook \
    overtake exceeds exceeded exceed surpasses surpassed outpaces outpaced outweighs \
    outweigh outweighed dwarfs dwarf dwarfed tops topped outdoes outstrips outstripped leads \
    overshadows trumps defeats outclasses outnumbers passes passed outshines";
/// Verbs of which it is the lower.
const BELOW: &str = "trails trailed lags lagged undercuts trailing lagging undershoots";
const MORE: &str = "more faster quicker higher bigger larger greater better stronger longer wider ahead \
    above harder";
const LESS: &str =
    "less fewer slower lower smaller worse weaker behind lesser milder below shorter";
/// What is done to the one that loses.
const STRUCK: &str = "impacted affected slowed harmed penalized penalised degraded touched";
const BETWEEN: &str = "than versus vs against over compared comparison relative what";

/// One against another.
struct Ranked {
    first: Scope,
    second: Scope,
    /// Whether the first is said to be the higher.
    is_above: Option<bool>,
    is_denied: bool,
    /// Whether changes are compared, and no rates.
    is_of_changes: bool,
    /// `Down` where it is losses that are compared.
    sign: Option<Sign>,
}

/// What is claimed of two; the amounts that belong to it are added to `read`.
pub(crate) fn check(facts: &Facts, piece: &Piece, read: &mut Vec<usize>) -> Option<Truth> {
    if let Some(ranked) = ranked(facts, piece) {
        let own = piece.amounts.iter().position(|own| match ranked.is_of_changes {
            true => matches!(own.unit, Unit::Factor | Unit::Fraction),
            false => matches!(own.unit, Unit::Factor | Unit::Percent | Unit::Fraction | Unit::Rate),
        });
        let truth = if ranked.is_of_changes {
            of_changes(facts, piece, &ranked, own.map(|at| &piece.amounts[at]))
        } else {
            of_rates(facts, piece, &ranked, own.map(|at| &piece.amounts[at]))
        };
        if truth.is_some() {
            read.extend(own);
        }
        return truth;
    }
    superlative(facts, piece)
        .or_else(|| most_changed(facts, piece))
        .or_else(|| definite(facts, piece))
}

/// "The smallest proven change is the one for IPv6", "IPv4 gains most": the first or the last of all changes.
fn most_changed(facts: &Facts, piece: &Piece) -> Option<Truth> {
    const MOST: &str = "biggest largest strongest greatest highest most worst";
    const LEAST: &str = "smallest least weakest tiniest lowest";
    let place = piece.tokens.iter().position(|t| t.is_in(MOST) || t.is_in(LEAST))?;
    let noun = piece.cues.iter().find(|cue| {
        cue.at > place && cue.at <= place + 4 && (cue.is_noun || cue.say == Say::Differs)
    });
    let noun = noun.or_else(|| {
        piece.cues.iter().find(|cue| cue.is_noun && cue.at > place && cue.at <= place + 4)
    })?;
    let is_most = piece.tokens[place].is_in(MOST);
    let own = piece.scope.changes(facts);
    let is_proven = piece.has("proven significant");
    let of = |change: &&Change| match noun.say {
        Say::Moves(sign) => {
            change.percent * sign.factor() > 0.0 && (change.is_proven || !is_proven)
        }
        _ => change.is_proven || !is_proven,
    };
    let all: Vec<&Change> = facts.changes.iter().filter(of).collect();
    if own.is_empty() || own.len() == facts.changes.len() || facts.widest() > 2 {
        return None;
    }
    let size = |change: &&Change| change.percent.abs();
    let first = match is_most {
        true => all.iter().copied().max_by(|a, b| size(a).total_cmp(&size(b))),
        false => all.iter().copied().min_by(|a, b| size(a).total_cmp(&size(b))),
    };
    let is_it = first.is_some_and(|first| {
        own.iter().any(|own| own.base == first.base && own.variant == first.variant)
    });
    // per cent and packets: either may be meant
    let rate = |change: &&Change| {
        (facts.cells[change.variant].mean() - facts.cells[change.base].mean()).abs()
    };
    let by_rate = match is_most {
        true => all.iter().copied().max_by(|a, b| rate(a).total_cmp(&rate(b))),
        false => all.iter().copied().min_by(|a, b| rate(a).total_cmp(&rate(b))),
    };
    let is_by_rate = by_rate.is_some_and(|first| own.iter().any(|own| own.base == first.base));
    Some(if is_it || is_by_rate { Truth::Holds } else { Truth::Fails(shown(facts, &all)) })
}

/// "The fastest is ipfw-stateless", "it peaks with 4 queues": the first or the last of the sets of each block.
fn superlative(facts: &Facts, piece: &Piece) -> Option<Truth> {
    const BEST: &str = "fastest best highest quickest peaks peak optimum cheapest maximum winner optimal \
    lightest strongest top";
    const WORST: &str = "slowest worst lowest minimum loser weakest costliest";
    if facts.widest() < 3 || piece.has("run runs value sample samples") && !piece.has("with is") {
        return None;
    }
    let place = piece.tokens.iter().position(|t| t.is_in(BEST) || t.is_in(WORST))?;
    let is_best = piece.tokens[place].is_in(BEST);
    let mut named = piece.mentions.iter().filter_map(|m| match &m.whom {
        Whom::Roles(roles) => Some(roles.clone()),
        _ => None,
    });
    let own = named.next().filter(|_| named.next().is_none())?;
    // "the fastest firewall" is none of all
    let is_of_others = piece.tokens.iter().any(|t| t.text.starts_with("firewall"))
        || piece.tokens[place].is("cheapest");
    let denied = is_negated(&piece.tokens, place);
    let blocks: std::collections::BTreeSet<usize> =
        piece.scope.cells(facts).iter().map(|cell| cell.block).collect();
    let is: Vec<Is> = blocks
        .into_iter()
        .filter_map(|block| {
            let all =
                facts.cells.iter().filter(|c| c.block == block && !(is_of_others && c.role == 0));
            let first = all.max_by(|a, b| {
                if is_best { a.mean().total_cmp(&b.mean()) } else { b.mean().total_cmp(&a.mean()) }
            })?;
            Some(Is::from(own.contains(&first.role) != denied))
        })
        .collect();
    Some(judge(Quantity::Plain, false, &is, || "another set is".to_owned()))
}

fn ranked(facts: &Facts, piece: &Piece) -> Option<Ranked> {
    if piece.is_silent {
        return None;
    }
    pivots(piece).into_iter().find_map(|(pivot, verb)| ranked_at(facts, piece, pivot, verb))
}

fn ranked_at(facts: &Facts, piece: &Piece, pivot: usize, verb: Option<Sign>) -> Option<Ranked> {
    let (before, after) = (piece.named(0, pivot), piece.named(pivot + 1, piece.tokens.len()));
    if after.is_empty() {
        return every_other(facts, piece, &before, verb);
    }
    let (mut first, mut second) = (Scope::of(facts, &before), Scope::of(facts, &after));
    first.pairs.clear();
    second.pairs.clear();
    if before.is_empty() && !after.is_empty() && verb.is_none() {
        return None;
    }
    let is_apart = |a: &Scope, b: &Scope| {
        let parts = a.parts.is_some() && b.parts.is_some() && a.parts != b.parts;
        let families = a.families.is_some() && b.families.is_some() && a.families != b.families;
        let roles = a.roles.is_some() && b.roles.is_some() && a.roles != b.roles;
        [parts, families, roles]
    };
    let apart = is_apart(&first, &second);
    if !apart.iter().any(|is| *is) {
        return None;
    }
    let own = first.clone();
    first = first.with_roles(&second);
    second = second.with_roles(&own);
    // what neither names is that of the piece
    first = first.or(&piece.scope);
    second = second.or(&piece.scope);
    if own.parts.is_none() && second.parts.is_none() {
        first.parts.clone_from(&piece.scope.parts);
    }
    let words = |list: &str| {
        (0..piece.tokens.len()).find(|at| piece.tokens[*at].is_in(list) && !is_bound(piece, *at))
    };
    let (more, less) = (words(MORE), words(LESS));
    let is_above = match verb {
        Some(sign) => Some(sign == Sign::Up),
        None => match (more, less) {
            (Some(_), None) => Some(true),
            (None, Some(_)) => Some(false),
            _ => None,
        },
    };
    let place = match verb {
        Some(_) => pivot,
        None => more.or(less).unwrap_or(pivot),
    };
    let noun = piece.cues.iter().find(|cue| cue.is_noun);
    let only_roles = !apart[0] && !apart[1];
    let moving = piece.cues.iter().find(|cue| {
        matches!(cue.say, Say::Moves(_))
            && !cue.is_noun
            && cue.end <= place
            && !piece.tokens[cue.at].is_in(MORE)
            && !piece.tokens[cue.at].is_in(LESS)
            && !piece.tokens[cue.at].is_in(ABOVE)
            && !piece.tokens[cue.at].is_in(BELOW)
            && !piece.tokens[cue.at].is_in("wins leads")
    });
    // "less impacted than", "the overhead of pf is twice that of ipfw": what each loses beside the first set
    let is_hit = piece.text(place + 1).ends_with("ed")
        && piece.tokens.get(place + 1).is_some_and(|t| t.is_in(STRUCK));
    let is_of_costs = is_hit || costs(facts, piece, pivot, [&first, &second]);
    let is_of_changes = is_of_costs
        || !only_roles
            && verb.is_none_or(|_| noun.is_some())
            && (noun.is_some() || moving.is_some());
    let sign = noun.or(moving).filter(|_| !is_of_costs).and_then(|cue| match cue.say {
        Say::Moves(sign) => Some(sign),
        _ => None,
    });
    if is_above.is_none() && piece.measured().next().is_none() {
        return None;
    }
    let is_denied = is_negated(&piece.tokens, place);
    Some(Ranked { first, second, is_above, is_denied, is_of_changes, sign })
}

/// Whether what two sets of a block cost beside its first one is compared.
fn costs(facts: &Facts, piece: &Piece, pivot: usize, both: [&Scope; 2]) -> bool {
    const COSTS: &str = "overhead overheads cost costs price penalty toll impact loss burden";
    let is_other = |scope: &Scope| {
        scope.roles.as_ref().is_some_and(|roles| !roles.is_empty() && !roles.contains(&0))
    };
    facts.widest() > 2
        && both.into_iter().all(is_other)
        && piece.tokens[..pivot].iter().any(|token| token.is_in(COSTS))
}

/// "13-head beats every release": one set against all others.
fn every_other(
    facts: &Facts,
    piece: &Piece,
    before: &[Mention],
    verb: Option<Sign>,
) -> Option<Ranked> {
    let first = Scope::of(facts, before).or(&piece.scope);
    let own =
        first.roles.clone().filter(|own| own.len() == 1 && piece.quantity == Quantity::All)?;
    let rest = (0..facts.widest()).filter(|role| !own.contains(role)).collect();
    let is_above = verb? == Sign::Up;
    let second = Scope { roles: Some(rest), ..first.clone() };
    Some(Ranked {
        first,
        second,
        is_above: Some(is_above),
        is_denied: false,
        is_of_changes: false,
        sign: None,
    })
}

/// "More than 5 %": a bound of a number, which compares no two.
fn is_bound(piece: &Piece, at: usize) -> bool {
    let is_than = piece.text(at + 1) == "than";
    is_than
        && piece
            .amounts
            .iter()
            .any(|own| own.first == at + 2 || own.first == at + 3 && piece.text(at + 2) == "a")
}

/// The words between two that are compared, and what they say where they are verbs.
fn pivots(piece: &Piece) -> Vec<(usize, Option<Sign>)> {
    let mut found = Vec::new();
    for at in 0..piece.tokens.len() {
        let own = &piece.tokens[at];
        let is_before_amount = piece.amounts.iter().any(|amount| amount.first == at + 1);
        let is_named = !piece.named(at + 1, at + 4).is_empty();
        let next = piece.text(at + 1);
        if own.is_in(ABOVE) && !is_before_amount && !(own.is("leads") && next == "to") {
            found.push((at, Some(Sign::Up)));
        } else if own.is_in(BELOW) || own.is("behind") && is_named {
            found.push((at, Some(Sign::Down)));
        } else if own.is("ahead") && next == "of" {
            found.push((at, Some(Sign::Up)));
        }
        // "three times the IPv6 loss"
        let is_times = own.is("the")
            && is_named
            && piece.amounts.iter().any(|amount| amount.end == at && amount.unit == Unit::Factor);
        if is_times {
            found.push((at, None));
        }
        let is_than =
            own.is_in(BETWEEN) && (!is_before_amount || is_named) && !(own.is("what") && at == 0);
        let is_over = own.is("over") && piece.named(at + 1, at + 4).is_empty();
        let is_as =
            own.is("as") && piece.tokens[at.saturating_sub(8)..at].iter().any(|t| t.is("as"));
        let is_that = own.is_in("that those one") && matches!(next, "of" | "on" | "in" | "for");
        if is_than && !is_over || is_as || is_that {
            found.push((at, None));
        }
    }
    // "more than ten times that on A": what a number follows is no border of two
    let (bounds, others): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|(at, _)| piece.amounts.iter().any(|amount| amount.first == at + 1));
    others.into_iter().chain(bounds).collect()
}

/// Sets of both sides that differ only in what is compared.
fn couples<'a>(facts: &'a Facts, ranked: &Ranked) -> Vec<(&'a Cell, &'a Cell)> {
    let (first, second) = (ranked.first.cells(facts), ranked.second.cells(facts));
    let mut found = Vec::new();
    let is_same = |a: bool, b: bool| a || b;
    let of_parts = ranked.first.parts != ranked.second.parts;
    let of_families = ranked.first.families != ranked.second.families;
    let of_roles = ranked.first.roles != ranked.second.roles;
    for a in &first {
        for b in &second {
            let is_alike = is_same(of_parts, a.part == b.part)
                && is_same(of_families, a.family == b.family)
                && is_same(of_roles, a.role == b.role);
            if is_alike && !std::ptr::eq(*a, *b) {
                found.push((*a, *b));
            }
        }
    }
    found
}

fn of_rates(facts: &Facts, piece: &Piece, ranked: &Ranked, own: Option<&Amount>) -> Option<Truth> {
    let couples = couples(facts, ranked);
    if couples.is_empty() {
        return None;
    }
    let is_of_time = piece.has("time ns expensive longer shorter cost costs") && !piece.has("rate");
    let is = |(a, b): &(&Cell, &Cell)| -> Is {
        let (a, b) =
            if is_of_time { (1.0 / a.mean(), 1.0 / b.mean()) } else { (a.mean(), b.mean()) };
        let ratio = a / b;
        let is_near = (ratio - 1.0).abs() < 0.002;
        let goes = match ranked.is_above {
            Some(_) if is_near => return Is::Open,
            Some(above) => (ratio > 1.0) == above,
            None => true,
        };
        if ranked.is_denied && own.is_none() {
            return (!goes).into();
        }
        let Some(own) = own else { return goes.into() };
        let is_plus = ranked.is_above.is_some();
        let fits = match own.unit {
            Unit::Factor => {
                let ratio = if ranked.is_above == Some(false) { 1.0 / ratio } else { ratio };
                own.fits(ratio) || is_plus && own.fits(ratio - 1.0)
            }
            Unit::Percent => {
                let percent = (ratio - 1.0) * 100.0;
                // "loses more than 40 % compared to": of what moves it is the way
                let is_level = own.is_of || !is_plus && ranked.sign.is_none();
                let is_way = ranked.sign.is_none_or(|sign| percent * sign.factor() > 0.0);
                is_way && own.fits(percent) || is_level && own.fits(ratio * 100.0)
            }
            Unit::Fraction => own.fits(ratio - 1.0) || (own.is_of || !is_plus) && own.fits(ratio),
            Unit::Rate => own.fits(a - b) || own.fits(a) || own.fits(b),
            _ => true,
        };
        let is_signed = own.sign.is_none_or(|sign| (ratio - 1.0) * sign.factor() > 0.0);
        (goes && fits && is_signed).into()
    };
    let all: Vec<Is> = couples.iter().map(is).collect();
    let quantity = match piece.quantity {
        Quantity::Only | Quantity::Of(..) => Quantity::Plain,
        Quantity::None => return None,
        other => other,
    };
    let data = || {
        let own = couples.iter().take(4).map(|(a, b)| {
            format!("'{}' has {:.0}, '{}' {:.0} packets/s", a.legend, a.mean(), b.legend, b.mean())
        });
        own.collect::<Vec<_>>().join("; ")
    };
    Some(judge(quantity, false, &all, data))
}

fn of_changes(
    facts: &Facts,
    piece: &Piece,
    ranked: &Ranked,
    own: Option<&Amount>,
) -> Option<Truth> {
    // what a set costs is what it costs beside the first one
    let changes = |scope: &Scope| match &scope.roles {
        Some(roles) if facts.widest() > 2 && !roles.contains(&0) => scope.beside_base(facts),
        _ => scope.changes(facts),
    };
    let (first, second) = (changes(&ranked.first), changes(&ranked.second));
    if first.is_empty() || second.is_empty() {
        return None;
    }
    // per cent and packets: either may be meant
    let rate =
        |change: &Change| facts.cells[change.variant].mean() - facts.cells[change.base].mean();
    let is_absolute = piece.has("absolute pps kpps packets");
    let is_relative = piece.has("relative relatively percent percentage % cent proportionally");
    let all: [&dyn Fn(&Change) -> f64; 2] = [&|change| change.percent, &rate];
    let measures: Vec<&dyn Fn(&Change) -> f64> = match (is_absolute, is_relative) {
        (true, false) => vec![all[1]],
        (false, true) => vec![all[0]],
        _ => all.to_vec(),
    };
    // where a loss and a gain are weighed, it is their sizes
    let is_mixed = piece
        .cues
        .iter()
        .filter(|cue| matches!(cue.say, Say::Moves(_)) && cue.is_noun)
        .map(|c| c.say)
        .collect::<Vec<_>>();
    // and of a setting that is on or off the penalty of one state is the gain of the other
    let is_of_sizes = ranked.sign.is_none()
        || facts.is_of_settings()
        || is_mixed.windows(2).any(|two| two[0] != two[1]);
    let value = |measure: &dyn Fn(&Change) -> f64, change: &Change| match ranked.sign {
        _ if is_of_sizes => measure(change).abs(),
        Some(sign) => measure(change) * sign.factor(),
        None => measure(change),
    };
    let mut is = Vec::new();
    for a in &first {
        for b in second.iter().filter(|b| b.base != a.base || b.variant != a.variant) {
            let holds = measures.iter().any(|measure| {
                let (x, y) = (value(*measure, a), value(*measure, b));
                let goes = ranked.is_above.is_none_or(|above| (x > y) == above);
                let fits = own.is_none_or(|own| match own.unit {
                    Unit::Factor => {
                        own.fits(if ranked.is_above == Some(false) { y / x } else { x / y })
                    }
                    Unit::Fraction => own.fits(x / y),
                    _ => true,
                });
                if ranked.is_denied { !goes } else { goes && fits }
            });
            is.push(Is::from(holds));
        }
    }
    let shown_all: Vec<&Change> = first.iter().chain(&second).copied().collect();
    Some(judge(Quantity::Plain, false, &is, || shown(facts, &shown_all)))
}

/// "Machine A takes the smaller hit", "the bigger gain is on B", "IPv4 is the faster one": without the other.
fn definite(facts: &Facts, piece: &Piece) -> Option<Truth> {
    let place = (1..piece.tokens.len()).find(|at| {
        piece.text(at - 1) == "the"
            && (piece.tokens[*at].is_in(MORE)
                || piece.tokens[*at].is_in(LESS)
                || piece.tokens[*at]
                    .is_in("biggest largest fastest slowest smallest highest lowest most least"))
    })?;
    let own = &piece.tokens[place];
    let is_above = own.is_in(MORE) || own.is_in("biggest largest fastest highest most");
    let is_of_runs = piece.has("run runs value sample");
    let subject: Vec<&Mention> = piece
        .mentions
        .iter()
        .filter(|m| matches!(m.whom, Whom::Part(_) | Whom::Family(_)))
        .collect();
    let is_of_roles =
        piece.mentions.iter().any(|m| matches!(m.whom, Whom::Roles(_)) && m.at < place);
    if is_of_runs || is_of_roles {
        return None;
    }
    let noun = piece
        .cues
        .iter()
        .find(|cue| cue.at > place && cue.at <= place + 3 && matches!(cue.say, Say::Moves(_)));
    let is_one = matches!(piece.text(place + 1), "one" | "of" | "");
    let sign = match (noun.map(|cue| cue.say), predicate(piece)) {
        (Some(Say::Moves(sign)), _) => sign,
        _ if is_one
            && piece.tokens[place].is_in("bigger smaller larger lesser biggest smallest") =>
        {
            // "and machine B the bigger one": of what the piece before speaks
            return None;
        }
        (_, Some(Predicate::Moves(sign))) if !is_one => sign,
        _ => Sign::Up,
    };
    let [first, ..] = subject.as_slice() else { return None };
    let mut scope = piece.scope.clone();
    scope.pairs.clear();
    let mut rest = scope.clone();
    match &first.whom {
        Whom::Part(part) => {
            scope.parts = Some([*part].into());
            rest.parts = Some((0..facts.parts.len()).filter(|own| own != part).collect());
        }
        Whom::Family(family) => {
            scope.families = Some([*family].into());
            rest.families =
                Some(facts.families().into_iter().filter(|own| own != family).collect());
        }
        _ => return None,
    }
    let ranked = Ranked {
        first: scope,
        second: rest,
        is_above: Some(is_above),
        is_denied: is_negated(&piece.tokens, place),
        is_of_changes: noun.is_some(),
        sign: Some(sign),
    };
    if noun.is_some() {
        of_changes(facts, piece, &ranked, None)
    } else if is_one && own.is_in("faster slower quicker fastest slowest") {
        of_rates(facts, piece, &ranked, None)
    } else {
        None
    }
}

/// "The gap between IPv4 and IPv6 widens": how far the families, or the machines, are apart.
pub(crate) fn gap(facts: &Facts, piece: &Piece, read: &mut Vec<usize>) -> Option<Truth> {
    let place = piece.tokens.iter().position(|t| t.is_in("gap distance lead"))?;
    let is_of_families = facts.families().len() == 2
        && piece.scope.families.as_ref().is_none_or(|own| own.len() == 2);
    if !is_of_families {
        return None;
    }
    const WIDER: &str = "widens widened wider grows grew grown increases increased larger opens bigger widen \
    widening doubles";
    const NARROWER: &str = "narrows narrowed narrower shrinks shrank shrunk closes closed smaller decreases \
    decreased narrow narrowing reduced";
    let behind = &piece.tokens[place..];
    let is_wider = behind.iter().any(|t| t.is_in(WIDER));
    let is_narrower = behind.iter().any(|t| t.is_in(NARROWER));
    // of many settings it is said with which it is widest
    if facts.widest() > 2 {
        return None;
    }
    let mut is = Vec::new();
    let parts = (0..facts.parts.len())
        .filter(|p| piece.scope.parts.as_ref().is_none_or(|own| own.contains(p)));
    let amounts: Vec<(usize, &Amount)> = piece
        .amounts
        .iter()
        .enumerate()
        .filter(|(_, a)| {
            a.first > place && matches!(a.unit, Unit::Rate | Unit::Percent | Unit::Factor)
        })
        .collect();
    for part in parts {
        let of = |role: usize| -> Option<(f64, f64)> {
            let own: Vec<&Cell> =
                facts.cells.iter().filter(|c| c.part == part && c.role == role).collect();
            let [a, b] = own.as_slice() else { return None };
            let (a, b) = (a.mean(), b.mean());
            Some(((a - b).abs(), (a.max(b) / a.min(b) - 1.0) * 100.0))
        };
        let Some((base, variant)) = of(0).zip(of(1)) else { continue };
        let is_moved = match (is_wider, is_narrower) {
            (true, false) => variant.0 > base.0 || variant.1 > base.1,
            (false, true) => variant.0 < base.0 || variant.1 < base.1,
            _ => true,
        };
        let fits = |own: &Amount, (rate, percent): (f64, f64)| match own.unit {
            Unit::Rate => (own.middle() - rate).abs() <= own.step.max(0.04 * rate),
            Unit::Factor => true,
            _ => own.fits(percent),
        };
        let all = match amounts.as_slice() {
            [] => true,
            [(_, one)] => fits(one, base) || fits(one, variant),
            [(_, one), (_, other), ..] => fits(one, base) && fits(other, variant),
        };
        is.push(Is::from(is_moved && all));
    }
    read.extend(amounts.iter().map(|(at, _)| *at));
    Some(judge(Quantity::Plain, false, &is, || "the families are otherwise apart".to_owned()))
}
