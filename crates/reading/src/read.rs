//! A sentence as a whole.

use crate::change;
use crate::counts;
use crate::cue::Say;
use crate::facts::Facts;
use crate::mention::Whom;
use crate::piece::{Piece, pieces};
use crate::quantity::Quantity;
use crate::rank;
use crate::role::SPREAD;
use crate::runs;
use crate::size;
use crate::truth::Truth;
use crate::wire;

/// What holding a sentence against the facts gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// All that it claims is so.
    Holds,
    /// Something that it claims is so in none of its readings; what the facts say.
    Fails(String),
    /// Nothing bears it out.
    Doubtful(String),
    /// Nothing was understood, or not all of it.
    Open,
}

/// Whom a sentence names: whether a part of the page, and whether a family, a set or a block.
pub fn names(facts: &Facts, sentence: &str) -> (bool, bool) {
    let all = pieces(facts, sentence);
    let named = || all.iter().flat_map(|piece| &piece.mentions);
    let is_part = |whom: &Whom| {
        matches!(whom, Whom::Part(_) | Whom::Parts(_) | Whom::EachPart | Whom::OtherPart)
    };
    let is_family = |whom: &Whom| {
        matches!(whom, Whom::Family(_) | Whom::EachFamily | Whom::OtherFamily | Whom::Blocks(_))
    };
    const MOST: &str = "smallest largest biggest strongest weakest greatest most least best worst";
    let is_of_all = all.iter().any(|p| is_of_several(p) || p.has(MOST) && !is_of_runs(p, MOST));
    (
        is_of_all || named().any(|m| is_part(&m.whom)),
        is_of_all || named().any(|m| is_family(&m.whom)),
    )
}

/// "All", "none", "two of three": of the things of a page. "All five runs" are those of what is named anyway.
fn is_of_several(piece: &Piece) -> bool {
    const EACH: &str = "all every each any both";
    let is_of_its_runs = piece.quantity == Quantity::All && is_of_runs(piece, EACH);
    !matches!(piece.quantity, Quantity::Plain) && !is_of_its_runs
}

/// Whether some words stand before runs: "all five runs", "the best run".
fn is_of_runs(piece: &Piece, words: &str) -> bool {
    const RUNS: &str = "run runs bench benches sample samples measurement measurements iteration iterations \
        trial trials";
    (0..piece.tokens.len()).any(|at| {
        let behind = &piece.tokens[at + 1..(at + 5).min(piece.tokens.len())];
        piece.tokens[at].is_in(words) && behind.iter().any(|token| token.is_in(RUNS))
    })
}

/// Holds a sentence against the facts.
pub fn read(facts: &Facts, sentence: &str) -> Judged {
    let pieces = pieces(facts, sentence);
    let mut all: Vec<Truth> = Vec::new();
    for piece in &pieces {
        let own = of_piece(facts, piece);
        let says = !piece.cues.is_empty() || piece.measured().next().is_some();
        if own.is_empty() && says {
            all.push(Truth::Open);
        }
        all.extend(own);
    }
    let fails = all.iter().find_map(|truth| match truth {
        Truth::Fails(data) => Some(data.clone()),
        _ => None,
    });
    if let Some(data) = fails {
        // what has several clauses, or holds things against each other, may be read otherwise
        return match is_plain(facts, &pieces) {
            true => Judged::Fails(data),
            false => Judged::Doubtful(data),
        };
    }
    let doubtful = all.iter().find_map(|truth| match truth {
        Truth::Doubtful(data) => Some(data.clone()),
        _ => None,
    });
    match doubtful {
        Some(data) => Judged::Doubtful(data),
        None if !all.is_empty() && all.iter().all(|truth| *truth == Truth::Holds) => Judged::Holds,
        None => Judged::Open,
    }
}

/// Whether a sentence makes one claim of one thing, or of each, so that there is but one way to read it. On a page
/// of one machine and its families it is taken to.
fn is_plain(facts: &Facts, pieces: &[Piece]) -> bool {
    const OTHERWISE: &str = "than what instead against compared vs versus over despite though although had nowhere take \
        already whatever whichever until unless";
    if facts.parts.len() < 2 {
        return true;
    }
    let says = |piece: &&Piece| !piece.cues.is_empty() || piece.measured().next().is_some();
    let mut own = pieces.iter().filter(says);
    let Some(piece) = own.next().filter(|_| own.next().is_none()) else { return false };
    let many = |wanted: fn(&Whom) -> bool| {
        let mut all: Vec<&Whom> =
            piece.mentions.iter().map(|m| &m.whom).filter(|w| wanted(w)).collect();
        all.dedup();
        all.len()
    };
    piece.tokens.len() <= 18
        && !piece.has(OTHERWISE)
        && many(|whom| matches!(whom, Whom::Part(_) | Whom::Parts(_) | Whom::EachPart)) <= 1
        && many(|whom| matches!(whom, Whom::Family(_) | Whom::EachFamily)) <= 1
}

/// What a piece claims.
fn of_piece(facts: &Facts, piece: &Piece) -> Vec<Truth> {
    let mut read = Vec::new();
    let mut found = counts::check(facts, piece);
    let special = runs::check(facts, piece, &mut read)
        .or_else(|| wire::check(facts, piece))
        .or_else(|| rank::gap(facts, piece, &mut read))
        .or_else(|| rank::check(facts, piece, &mut read));
    let is_special = special.is_some();
    found.extend(special);
    if !is_special {
        found.extend(change::check(facts, piece).filter(|_| !is_of_spread(piece)));
    }
    found.extend(size::check(facts, piece, &read));
    if is_of_rates(piece) {
        return found;
    }
    // it may be of anything
    let soften = |truth: Truth| match truth {
        Truth::Fails(data) => Truth::Doubtful(data),
        other => other,
    };
    found.into_iter().map(soften).collect()
}

/// Whether a piece says that it is of what was measured: it names something of it, or uses its words, or is short.
fn is_of_rates(piece: &Piece) -> bool {
    const RATES: &str = "pps kpps mpps rate rates throughput forwarding forwards packets performance faster \
    slower gain gains forward speed patch diff change impact difference improvement \
    regression loss slowdown speedup drop frames runs run benefit median % penalty";
    !piece.mentions.is_empty()
        || piece.scope != crate::scope::Scope::default()
        || piece.has(RATES)
        || piece.tokens.len() <= 6
        || piece.tokens[0].is_mark(&['→'])
}

/// Cues of a spread move no rate.
fn is_of_spread(piece: &Piece) -> bool {
    piece.has(SPREAD)
        && !piece.cues.iter().any(|cue| matches!(cue.say, Say::Proven | Say::Unproven))
}
