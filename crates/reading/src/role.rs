//! What a number in a sentence is: a level, a change, a share, and of which sets.

use std::collections::BTreeSet;

use crate::amount::{Amount, Unit};
use crate::change::{Predicate, predicate};
use crate::cue::Say;
use crate::facts::Facts;
use crate::mention::Whom;
use crate::piece::Piece;
use crate::scope::Scope;
use crate::token::listed;
use fwdlab_sentence::clause::Sign;

/// What a number may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// What a set has.
    Level,
    /// By how much one changes.
    Change,
    /// What one is of another.
    Ratio,
    /// How far the runs of a set are apart.
    Spread,
    /// Of the line rate.
    Line,
    /// What is said of no set.
    Nothing,
}

pub(crate) const SPREAD: &str = "deviation deviations stddev sd sigma scatter scatters scattered spread spreads range \
    ranges variance cv variation vary varies jitter stdev std fluctuate fluctuates apart \
    noisy";
const LINE: &str =
    "line-rate linerate wire wirespeed line gigabit nominal theoretical wire-speed gbe";
const LOAD: &str = "load offered generator pkt-gen sender sends sent generated traffic offers netmap \
    injected";
const OTHERS: &str = "cpu cycles idle interrupts cache memory mbufs loss-free watt euro latency battery price \
    lock samples utilization";

/// The tokens around an amount, up to the amounts next to it.
pub(crate) fn around(piece: &Piece, own: &Amount) -> (usize, usize) {
    let before = piece.measured().filter(|a| a.end <= own.first).map(|a| a.end).max().unwrap_or(0);
    let after = piece.measured().filter(|a| a.first >= own.end).map(|a| a.first).min();
    (before, after.unwrap_or(piece.tokens.len()))
}

/// Whether one of some words stands there.
pub(crate) fn near(piece: &Piece, (from, to): (usize, usize), words: &str) -> bool {
    piece.tokens[from..to].iter().any(|token| token.is_in(words))
}

/// The scope of one amount: the sets that are named next to it.
pub(crate) fn scope_at(facts: &Facts, piece: &Piece, own: &Amount) -> Scope {
    let mut scope = piece.scope.clone();
    let place = around(piece, own);
    let local = Scope::of(facts, &piece.named(place.0, place.1));
    let is_shared = |many: usize| many > 1;
    if is_shared(scope.parts.as_ref().map_or(0, BTreeSet::len)) && local.parts.is_some() {
        scope.parts.clone_from(&local.parts);
        scope.pairs.clear();
    }
    if is_shared(scope.families.as_ref().map_or(0, BTreeSet::len)) && local.families.is_some() {
        scope.families.clone_from(&local.families);
        scope.pairs.clear();
    }
    let levels = piece.amounts.iter().filter(|other| other.unit == own.unit).count();
    let mut roles = piece.mentions.iter().filter_map(|m| match &m.whom {
        Whom::Roles(roles) => Some((m.at, roles)),
        _ => None,
    });
    // "it has 2.51 where it used to have 2.69": the mention is of the amount next to it
    if let (2, Some((at, roles)), None, 2) = (levels, roles.next(), roles.next(), facts.widest())
        && at > piece.amounts[0].end
        && role_of(piece, own) == Role::Level
    {
        // what a word leads to is nearer than what it follows
        let far = |other: &Amount| match other.first > at {
            true => (other.first - at).saturating_sub(2),
            false => at - other.end.min(at),
        };
        let others = piece.amounts.iter().filter(|other| other.unit == own.unit);
        let is_nearest = others.map(far).all(|other| far(own) <= other);
        let rest = || (0..2).filter(|role| !roles.contains(role)).collect();
        scope.roles = Some(if is_nearest { roles.clone() } else { rest() });
        return scope;
    }
    if role_of(piece, own) == Role::Level
        && is_shared(scope.roles.as_ref().map_or(0, BTreeSet::len))
    {
        let near = piece.mentions.iter().filter_map(|m| match &m.whom {
            Whom::Roles(roles) if (place.0..place.1).contains(&m.at) => {
                Some((m.at.abs_diff(own.end).min(m.at.abs_diff(own.first)), roles.clone()))
            }
            _ => None,
        });
        if let Some((_, roles)) = near.min_by_key(|(far, _)| *far) {
            scope.roles = Some(roles);
        }
    }
    scope
}

/// Which way the change goes that an amount is of.
pub(crate) fn sign_of(piece: &Piece, own: &Amount) -> Option<Sign> {
    let of = |predicate| match predicate {
        Predicate::Moves(sign) | Predicate::ProvenMoves(sign) => Some(sign),
        _ => None,
    };
    let place = around(piece, own);
    let local =
        piece.cues.iter().filter(|cue| (place.0..=place.1).contains(&cue.at) && !cue.is_denied);
    let local: Vec<Sign> = local
        .filter_map(|cue| match cue.say {
            Say::Moves(sign) => Some(sign),
            _ => None,
        })
        .collect();
    let is_one = local.windows(2).all(|two| two[0] == two[1]);
    local.first().copied().filter(|_| is_one).or_else(|| predicate(piece).and_then(of)).or(own.sign)
}

/// The word that an amount follows, without those that only soften it.
fn lead<'p>(piece: &'p Piece, own: &Amount) -> &'p str {
    const SOFT: &str = "about around roughly some only just a the ~ nearly almost mere well barely over under than \
    more less approximately another full above below little bit at least up down";
    let before = |k: usize| own.first.checked_sub(k).map_or("", |at| piece.text(at));
    let mut back = 1;
    while listed(SOFT, before(back))
        && !(matches!(before(back), "up" | "down") && before(back - 1) != "to")
        && back < 6
    {
        back += 1;
    }
    before(back)
}

/// Whether an amount is of another machine, of the number of things, of the first part of a run, how sure
/// something is, or of what is no rate.
fn is_of_nothing(piece: &Piece, own: &Amount, place: (usize, usize)) -> bool {
    const SURE: &str = "confidence level interval significance significant certainty intervals ci ministat test \
    sure t";
    let after = &piece.tokens[own.end..(own.end + 7).min(place.1).max(own.end)];
    let is_elsewhere = after.windows(2).any(|two| {
        two[0].is_in("other another") && fwdlab_sentence::vocabulary::is_machine(&two[1].text)
    });
    let is_of_number =
        after.len() > 1 && after[..3.min(after.len())].iter().any(|t| t.is("number"));
    let is_of_runs = own.first > 0
        && piece.tokens[own.first - 1].is_in("first last")
        && own.unit == Unit::Percent;
    let is_level = own.unit == Unit::Percent
        && [90.0, 95.0, 98.0, 99.0, 99.5].contains(&own.low)
        && !own.is_range();
    let beside = (own.first.saturating_sub(4), (own.end + 4).min(piece.tokens.len()));
    is_elsewhere && piece.scope.parts.is_none()
        || is_of_number
        || is_of_runs
        || is_level && near(piece, beside, SURE)
        || near(piece, (place.0, (own.end + 6).min(place.1)), OTHERS)
            && !matches!(own.unit, Unit::Rate)
}

/// What an amount is, by its unit and the words around it.
pub(crate) fn role_of(piece: &Piece, own: &Amount) -> Role {
    let place = around(piece, own);
    if is_of_nothing(piece, own, place) {
        return Role::Nothing;
    }
    let is_of_load = near(piece, place, LOAD)
        && !near(piece, place, "forward forwards forwarded handles")
        && (own.unit == Unit::Rate || own.is_of);
    let is_of_line = near(piece, place, LINE)
        && (own.is_of || matches!(own.unit, Unit::Percent | Unit::Fraction | Unit::Rate));
    if is_of_load || is_of_line {
        return Role::Line;
    }
    // "the medians are 7 Kpps apart" is how far two sets are
    let is_of_two =
        piece.text(own.end) == "apart" && piece.has("medians means averages two sets both");
    if !is_of_two && near(piece, (place.0, place.1.min(own.end + 3)), SPREAD)
        || piece.text(own.first.wrapping_sub(1)) == "±"
    {
        return Role::Spread;
    }
    match own.unit {
        Unit::Percent | Unit::Fraction => of_share(piece, own),
        Unit::Factor => Role::Ratio,
        Unit::Rate | Unit::Time => of_rate(piece, own, place),
        _ => Role::Nothing,
    }
}

/// "92 % of what it had" against "8 % less".
fn of_share(piece: &Piece, own: &Amount) -> Role {
    const KEEPS: &str = "to is at reaches keeps only has gets delivers retains";
    let lead = lead(piece, own);
    let is_kept = own.is_of && listed(KEEPS, lead);
    let is_still = own.is_of
        && !piece.has("lost gone")
        && !piece.cues.iter().any(|cue| matches!(cue.say, Say::Moves(_)));
    let is_down_to = || {
        own.unit == Unit::Percent
            && lead == "to"
            && sign_of(piece, own) == Some(Sign::Down)
            && own.middle() > 50.0
    };
    if is_kept || is_still || is_down_to() { Role::Ratio } else { Role::Change }
}

/// "Drops by 20 kpps" against "drops to 680 kpps".
fn of_rate(piece: &Piece, own: &Amount, place: (usize, usize)) -> Role {
    const BY: &str = "by lost lose loses losing gain gains gained gaining costs cost saves save saved plus \
    minus adds extra additional of win wins shaves takes took drops grows back threw thrown";
    const BEHIND: &str = "apart more less fewer faster slower quicker extra additional on better worse gain loss higher \
    lower drop increase improvement cheaper dearer missing away saved lost gone wasted shaved worth longer shorter";
    const TO: &str = "to from at reads = : → reached reaches with";
    let lead = lead(piece, own);
    let next = piece.text(own.end);
    let is_change_noun =
        piece.cues.iter().any(|cue| cue.is_noun && (place.0..place.1).contains(&cue.at));
    let is_moving_verb = piece
        .cues
        .iter()
        .any(|cue| cue.end == own.first && !cue.is_noun && matches!(cue.say, Say::Moves(_)));
    let is_on = next == "on" && piece.text(own.end + 1) == "top";
    let is_behind = listed(BEHIND, next) && (next != "on" || is_on)
        || fwdlab_netbenches::name::family_word(next).is_some()
            && listed(BEHIND, piece.text(own.end + 1));
    let is_change = own.sign.is_some()
        || is_behind
        || listed(BY, lead) && lead != "of"
        || is_moving_verb
        || is_change_noun;
    if is_change && !listed(TO, lead) { Role::Change } else { Role::Level }
}
