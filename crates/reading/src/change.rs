//! "IPv6 loses", "no impact on the Xeon", "only v4 gains", "three of four are significant": what is said of changes.

use std::collections::BTreeSet;

use crate::cue::Say;
use crate::facts::{Cell, Change, Facts};
use crate::mention::{Mention, Whom};
use crate::piece::Piece;
use crate::quantity::Quantity;
use crate::scope::Scope;
use crate::truth::{Is, Truth, judge, shown};
use fwdlab_sentence::clause::Sign;

/// Under so many per cent a change counts as none, whatever is proven.
const NONE: f64 = 1.0;
/// And above so many it counts as one even for "nearly the same".
const NEARLY: f64 = 3.0;

/// What is claimed of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Predicate {
    Moves(Sign),
    MovesNot(Sign),
    ProvenMoves(Sign),
    ProvenMovesNot(Sign),
    Alike,
    Differs,
    Proven,
    Unproven,
}

impl Predicate {
    pub(crate) fn is_of(self, change: &Change, is_nearly: bool) -> Is {
        let goes = |sign: Sign| change.percent * sign.factor() > 0.0;
        let size = change.percent.abs();
        match self {
            Self::Moves(sign) if !change.is_proven => {
                // what nobody could see is no change, whichever way it points
                if goes(sign) || size < change.half { Is::Unproven } else { Is::NotSo }
            }
            Self::Moves(sign) => goes(sign).into(),
            Self::MovesNot(sign) => {
                let least = if is_nearly { NEARLY } else { 0.3 };
                (!(change.is_proven && goes(sign) && size > least)).into()
            }
            Self::ProvenMoves(sign) => (change.is_proven && goes(sign)).into(),
            Self::ProvenMovesNot(sign) => (!(change.is_proven && goes(sign))).into(),
            Self::Alike if !change.is_proven => Is::So,
            Self::Alike => {
                let most = if is_nearly { NEARLY } else { NONE };
                match size {
                    size if size <= most => Is::So,
                    size if size <= most + 1.0 => Is::Open,
                    _ => Is::NotSo,
                }
            }
            Self::Differs | Self::Proven => change.is_proven.into(),
            Self::Unproven => (!change.is_proven).into(),
        }
    }
}

/// What the cues of a piece claim together; `None` where they claim nothing, or contrary things.
pub(crate) fn predicate(piece: &Piece) -> Option<Predicate> {
    if piece.is_silent {
        return None;
    }
    let of = |wanted: fn(Say) -> bool| piece.cues.iter().filter(move |cue| wanted(cue.say));
    let mut moves = of(|say| matches!(say, Say::Moves(_)));
    let first = moves.next().copied();
    let proven = of(|say| say == Say::Proven).next();
    let is_unproven = of(|say| say == Say::Unproven).any(|cue| !cue.is_denied);
    let is_alike = of(|say| say == Say::Alike).next();
    if let Some(first) = first {
        let is_same =
            |cue: &crate::cue::Cue| cue.say == first.say && cue.is_denied == first.is_denied;
        let Say::Moves(sign) = first.say else { return None };
        if is_alike.is_some() || !moves.all(is_same) {
            return None;
        }
        let is_denied = first.is_denied;
        return Some(match proven {
            _ if is_unproven && !is_denied => Predicate::Unproven,
            Some(cue) if cue.is_denied || is_denied => Predicate::ProvenMovesNot(sign),
            Some(_) => Predicate::ProvenMoves(sign),
            None if is_denied => Predicate::MovesNot(sign),
            None => Predicate::Moves(sign),
        });
    }
    let differs = of(|say| say == Say::Differs).next();
    match (is_alike, proven, differs) {
        _ if is_unproven => Some(Predicate::Unproven),
        (_, Some(cue), differs) => {
            let is_denied = cue.is_denied || differs.is_some_and(|cue| cue.is_denied);
            Some(if is_denied { Predicate::Unproven } else { Predicate::Proven })
        }
        (Some(cue), None, _) => {
            Some(if cue.is_denied { Predicate::Differs } else { Predicate::Alike })
        }
        (None, None, Some(cue)) if cue.is_denied => Some(Predicate::Alike),
        (None, None, Some(cue)) => (!cue.is_noun && is_strong(piece)).then_some(Predicate::Differs),
        (None, None, None) => (of(|say| say == Say::Unproven).next()).map(|_| Predicate::Proven),
    }
}

/// "Differs clearly": a verb of change with a word that says it is one.
fn is_strong(piece: &Piece) -> bool {
    piece.has("clearly visibly measurably clear visible really affected impacted differ differs")
}

/// Whether it speaks of taking the change back.
pub(crate) fn is_reverted(facts: &Facts, piece: &Piece) -> bool {
    if facts.words().has_absent {
        return false;
    }
    let is_it = |word: &str| {
        ["revert", "backing", "undo", "unappl", "removing"]
            .iter()
            .any(|root| word.starts_with(root))
    };
    piece.tokens.iter().any(|token| is_it(&token.text))
        || piece.has_turn(&["back", "it", "out"]) && !piece.has("please")
        || piece.has_turn(&["going", "back"])
        || piece.has_turn(&["without", "it"]) && piece.scope.roles == Some(BTreeSet::from([0]))
}

/// The change the other way round.
fn turned(change: &Change) -> Change {
    let back = |percent: f64| (100.0 / (100.0 + percent) - 1.0) * 100.0;
    Change {
        base: change.variant,
        variant: change.base,
        percent: back(change.percent),
        median_percent: back(change.median_percent),
        ..*change
    }
}

/// Words behind which stands what something is held against.
const AGAINST: &str = "than over against versus vs compared comparison relative since from of behind after below above \
    under";

/// The sets that are spoken of, and those that they are held against, by their places in blocks.
fn sides(facts: &Facts, piece: &Piece) -> [BTreeSet<usize>; 2] {
    let mut both = [BTreeSet::new(), BTreeSet::new()];
    let roles = |m: &Mention| match &m.whom {
        Whom::Roles(roles) => Some((m.at, roles.clone())),
        _ => None,
    };
    let all: Vec<(usize, BTreeSet<usize>)> = piece.mentions.iter().filter_map(roles).collect();
    // "between 2 and 4 queues", "from 12.1 to 13"
    let is_way = piece.has("between from") && piece.has("and to towards");
    for (number, (at, roles)) in all.iter().enumerate() {
        let before = &piece.tokens[at.saturating_sub(4)..*at];
        let is_against = before.iter().any(|t| t.is_in(AGAINST))
            || before
                .iter()
                .zip(before.iter().skip(1))
                .any(|(a, b)| a.is("place") && b.is("of") || a.is("instead") && b.is("of"));
        let is_second = if is_way && all.len() == 2 { number == 0 } else { is_against };
        both[usize::from(is_second)].extend(roles);
    }
    // "stateful in place of stateless with pf": of those that it may be, the one most like the other
    let names = |role: usize| {
        let own = facts.cells.iter().filter(move |cell| cell.role == role);
        own.flat_map(|cell| cell.names.iter()).collect::<BTreeSet<_>>()
    };
    for (own, other) in [(0, 1), (1, 0)] {
        if let (true, [single]) =
            (both[own].len() > 1, both[other].iter().copied().collect::<Vec<_>>().as_slice())
        {
            let alike = |role: &usize| names(*role).intersection(&names(*single)).count();
            let most =
                both[own].iter().filter(|role| *role != single).map(alike).max().unwrap_or(0);
            both[own].retain(|role| alike(role) == most && role != single);
        }
    }
    both
}

/// The role of the set whose setting is on.
fn enabled(facts: &Facts) -> Option<usize> {
    let is_on = |cell: &&Cell| cell.names.contains("enabled") || cell.names.contains("on");
    facts.cells.iter().find(is_on).map(|cell| cell.role)
}

/// The changes that a piece speaks of, turned where it speaks of the base against the others.
pub(crate) fn meant(facts: &Facts, piece: &Piece, scope: &Scope) -> Vec<Change> {
    let wide = Scope { roles: None, ..scope.clone() };
    if facts.widest() > 2 && piece.quantity == Quantity::All && piece.scope.roles.is_none() {
        return wide.changes(facts).into_iter().copied().collect();
    }
    if facts.widest() > 2 {
        let [own, other] = sides(facts, piece);
        let all = wide.changes(facts).into_iter().chain(wide.others(facts));
        let each = all.flat_map(|change| [*change, turned(change)]);
        let is_it = |change: &Change| {
            let (base, variant) = (facts.cells[change.base].role, facts.cells[change.variant].role);
            let is_own = if own.is_empty() {
                other.is_empty() && base < variant || other.contains(&base)
            } else {
                own.contains(&variant)
            };
            is_own
                && (other.is_empty() || other.contains(&base))
                && (own.len() < 2 || !other.is_empty() || base == 0 || !own.contains(&base))
        };
        let all: Vec<Change> = each.filter(is_it).collect();
        // what nothing is named against is held against the base first
        let of_base: Vec<Change> =
            all.iter().filter(|change| facts.cells[change.base].role == 0).copied().collect();
        return if other.is_empty()
            && !of_base.is_empty()
            && !own.is_empty()
            && is_reverted(facts, piece)
        {
            of_base
        } else {
            all
        };
    }
    let is_moving = piece.cues.iter().any(|cue| matches!(cue.say, Say::Moves(_)) && !cue.is_noun);
    let [own, other] = sides(facts, piece);
    let is_base = (own == BTreeSet::from([0])
        || own.is_empty() && piece.scope.roles == Some(BTreeSet::from([0])))
        && other.is_empty()
        && (facts.is_of_settings()
            || !piece.has("from before originally previously formerly initially"));
    let is_turned = is_base && is_moving || is_reverted(facts, piece);
    let all = wide.changes(facts);
    let is_open =
        facts.is_of_settings() && piece.scope.roles.as_ref().is_none_or(|roles| roles.len() != 1);
    if facts.is_of_settings() && is_base {
        return all.into_iter().map(turned).collect();
    }
    if is_open {
        // what a setting does is what turning it on does
        let is_first = enabled(facts) == Some(0);
        return all
            .into_iter()
            .map(|change| if is_first { turned(change) } else { *change })
            .collect();
    }
    all.into_iter().map(|change| if is_turned { turned(change) } else { *change }).collect()
}

/// "The improvement is the same for both": as large here as there.
fn same_size(facts: &Facts, piece: &Piece) -> Option<Truth> {
    const COSTS: &str = "cost costs overhead penalty price toll";
    let has_noun = piece.cues.iter().any(|cue| cue.is_noun && matches!(cue.say, Say::Moves(_)))
        || piece.tokens.windows(2).any(|two| two[0].is_in("same similar") && two[1].is_in(COSTS));
    let alike = piece
        .tokens
        .iter()
        .position(|t| t.is_in("same identical equal similar alike large big"))?;
    let is_as = piece.tokens[alike].is_in("large big")
        && alike > 0
        && piece.tokens[alike - 1].is("as")
        && piece.text(alike + 1) == "as";
    // of more than two sets that of the one which is named
    let is_of_one = facts.widest() < 3
        || piece.scope.roles.as_ref().is_some_and(|own| own.len() == 1 && !own.contains(&0));
    if !has_noun || piece.tokens[alike].is_in("large big") && !is_as || !is_of_one {
        return None;
    }
    let changes = piece.scope.changes(facts);
    let sizes: Vec<f64> = changes.iter().map(|change| change.percent.abs()).collect();
    let (low, high) =
        (sizes.iter().copied().fold(f64::MAX, f64::min), sizes.iter().copied().fold(0.0, f64::max));
    if sizes.len() < 2 {
        return None;
    }
    let is_alike = high - low < 0.25 * high || high - low < 1.0;
    let is_denied = crate::cue::is_negated(&piece.tokens, alike);
    Some(if is_alike != is_denied { Truth::Holds } else { Truth::Fails(shown(facts, &changes)) })
}

/// "Better with each release", "always more": from each set to the next.
fn steps(facts: &Facts, piece: &Piece, predicate: Predicate) -> Option<Truth> {
    let is_of_steps = piece.quantity == Quantity::All
        && piece.has("each always more every")
        && piece.scope.roles.is_none()
        && facts.widest() > 2;
    if !is_of_steps || piece.tokens.iter().any(|t| t.text.starts_with("firewall")) {
        return None;
    }
    let next =
        |change: &&Change| facts.cells[change.variant].role == facts.cells[change.base].role + 1;
    let all: Vec<&Change> = facts.changes.iter().chain(&facts.others).filter(next).collect();
    let is: Vec<Is> = all.iter().map(|change| predicate.is_of(change, false)).collect();
    Some(judge(Quantity::All, false, &is, || shown(facts, &all)))
}

/// What a piece claims of changes.
pub(crate) fn check(facts: &Facts, piece: &Piece) -> Option<Truth> {
    if piece.is_silent {
        return None;
    }
    if let Some(truth) = same_size(facts, piece) {
        return Some(truth);
    }
    let predicate = predicate(piece)?;
    if let Some(truth) = steps(facts, piece, predicate) {
        return Some(truth);
    }
    let is_nearly = piece.has(
        "nearly almost about roughly practically virtually basically hardly barely scarcely \
    essentially much",
    );
    let changes = meant(facts, piece, &piece.scope);
    // "one of the four gets slower, the IPv6 one": counted over all of them
    let changes = match piece.quantity {
        Quantity::Of(_, Some(n)) if changes.len() != n && facts.changes.len() == n => {
            facts.changes.clone()
        }
        _ => changes,
    };
    let refs: Vec<&Change> = changes.iter().collect();
    let is = answers(piece, predicate, &refs, is_nearly);
    let mut quantity = piece.quantity;
    if quantity == Quantity::Only {
        quantity = Quantity::Plain;
        if let Some(fails) = rest(facts, piece, predicate) {
            return Some(fails);
        }
    }
    if facts.widest() > 2 && quantity != Quantity::All {
        return Some(match quantity {
            Quantity::Plain => among_many(facts, piece, (predicate, is_nearly), &refs, &is),
            _ => Truth::Open,
        });
    }
    // "pf costs ...": beside forwarding without it, it may be
    let is_of_a_topic = facts.is_of_topics
        && piece.scope.parts.as_ref().is_some_and(|parts| parts.len() < facts.parts.len())
        && matches!(predicate, Predicate::Moves(_))
        && piece.has("turning loading enabling going adding putting costs cost takes take");
    if is_of_a_topic && !is.contains(&Is::So) {
        return Some(Truth::Open);
    }
    let is_named = named_each(piece, refs.len());
    Some(judge(quantity, is_named, &is, || shown(facts, &refs)))
}

/// What is so of each change. "Neither gains", "not all are alike": what denies is counted with the quantity.
fn answers(piece: &Piece, predicate: Predicate, changes: &[&Change], is_nearly: bool) -> Vec<Is> {
    let is_none = piece.quantity == Quantity::None;
    let is_not_all = piece.quantity == Quantity::NotAll;
    let has_differs = || piece.cues.iter().any(|cue| cue.say == Say::Differs);
    let counted = match predicate {
        own if !is_none && !is_not_all => own,
        Predicate::MovesNot(sign) => Predicate::Moves(sign),
        Predicate::ProvenMovesNot(sign) => Predicate::ProvenMoves(sign),
        Predicate::Alike if is_none || has_differs() => Predicate::Differs,
        Predicate::Unproven if is_none => Predicate::Proven,
        other => other,
    };
    // "no change at all": not even one that would pass for none
    let is_flat =
        piece.has_turn(&["at", "all"]) || piece.has("absolutely strictly whatsoever neither nor");
    let one = |change: &&Change| match counted.is_of(change, is_nearly) {
        Is::Unproven if is_not_all => Is::NotSo,
        Is::Open if is_flat => Is::NotSo,
        other => other,
    };
    changes.iter().map(one).collect()
}

/// Of the changes in blocks of more than two sets: any pair of a block may be meant.
fn among_many(
    facts: &Facts,
    piece: &Piece,
    (predicate, is_nearly): (Predicate, bool),
    changes: &[&Change],
    is: &[Is],
) -> Truth {
    let best =
        judge(Quantity::Plain, false, &by_block(facts, changes, is), || shown(facts, changes));
    let [own, other] = sides(facts, piece);
    if own.is_empty() || !other.is_empty() || best != Truth::Holds {
        return best;
    }
    // what is held against nothing is held against the base, where it is not the base
    let is_of_base = |change: &&Change| facts.cells[change.base].role == 0;
    let of_base: Vec<&Change> = changes.iter().copied().filter(is_of_base).collect();
    let is: Vec<Is> = of_base.iter().map(|change| predicate.is_of(change, is_nearly)).collect();
    let is_so = is.is_empty() || by_block(facts, &of_base, &is).iter().all(|own| *own == Is::So);
    if is_so { Truth::Holds } else { Truth::Open }
}

/// What is so of the best of each block: any of its pairs may be meant.
fn by_block(facts: &Facts, changes: &[&Change], is: &[Is]) -> Vec<Is> {
    let mut best: std::collections::BTreeMap<usize, Is> = std::collections::BTreeMap::new();
    let rank = |is: Is| match is {
        Is::So => 3,
        Is::Open => 2,
        Is::Unproven => 1,
        Is::NotSo => 0,
    };
    for (change, is) in changes.iter().zip(is) {
        let own = best.entry(facts.cells[change.base].block).or_insert(*is);
        if rank(*is) > rank(*own) {
            *own = *is;
        }
    }
    best.into_values().collect()
}

/// Whether each of several changes is named.
fn named_each(piece: &Piece, many: usize) -> bool {
    let parts = piece.scope.parts.as_ref().map_or(1, BTreeSet::len);
    let families = piece.scope.families.as_ref().map_or(1, BTreeSet::len);
    many <= parts * families && many > 0
}

/// "Only IPv4 gains": whether another does, too.
fn rest(facts: &Facts, piece: &Piece, predicate: Predicate) -> Option<Truth> {
    let place = piece
        .tokens
        .iter()
        .position(|t| t.is_in("only alone solely exclusively limited confined restricted"))?;
    let is_single =
        |m: &&crate::mention::Mention| matches!(m.whom, Whom::Part(_) | Whom::Family(_));
    let near = piece.mentions.iter().filter(is_single).min_by_key(|m| {
        let is_behind = m.at > place;
        m.at.abs_diff(place) * 2 + usize::from(!is_behind)
    })?;
    let mut scope = piece.scope.clone();
    scope.pairs.clear();
    match near.whom {
        Whom::Part(_) => {
            let own = scope.parts.clone().unwrap_or_default();
            scope.parts = Some((0..facts.parts.len()).filter(|part| !own.contains(part)).collect());
        }
        _ => {
            let own = scope.families.clone().unwrap_or_default();
            scope.families =
                Some(facts.families().into_iter().filter(|f| !own.contains(f)).collect());
        }
    }
    let changes = scope.changes(facts);
    let other: Vec<&Change> =
        changes.into_iter().filter(|change| predicate.is_of(change, false) == Is::So).collect();
    (!other.is_empty()).then(|| Truth::Fails(format!("so is {}", shown(facts, &other))))
}
