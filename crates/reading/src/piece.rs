//! A sentence cut into pieces that each make one claim, each with what it takes from the ones before it.

use crate::amount::{Amount, Unit, amounts};
use crate::cue::{Cue, cues, is_negation};
use crate::cuts::cuts;
use crate::facts::Facts;
use crate::mention::{Mention, Whom, mentions};
use crate::quantity::{Quantity, quantity};
use crate::scope::Scope;
use crate::token::{Token, tokens};

/// A piece of a sentence.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) tokens: Vec<Token>,
    pub(crate) amounts: Vec<Amount>,
    pub(crate) cues: Vec<Cue>,
    pub(crate) mentions: Vec<Mention>,
    pub(crate) scope: Scope,
    pub(crate) quantity: Quantity,
    /// It speaks of other things than rates, or of what should be.
    pub(crate) is_silent: bool,
}

impl Piece {
    pub(crate) fn has(&self, words: &str) -> bool {
        self.tokens.iter().any(|token| token.is_in(words))
    }

    pub(crate) fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text.as_str())
    }

    pub(crate) fn has_turn(&self, turn: &[&str]) -> bool {
        self.tokens.windows(turn.len()).any(|w| w.iter().zip(turn).all(|(t, word)| t.is(word)))
    }

    /// Amounts of something measured.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &Amount> {
        self.amounts.iter().filter(|own| !matches!(own.unit, Unit::Count(_)))
    }

    /// What is named from one token to another.
    pub(crate) fn named(&self, from: usize, to: usize) -> Vec<Mention> {
        self.mentions.iter().filter(|m| (from..to).contains(&m.at)).cloned().collect()
    }
}

/// The pieces of a sentence.
pub(crate) fn pieces(facts: &Facts, sentence: &str) -> Vec<Piece> {
    let all = tokens(sentence);
    let mut found: Vec<Piece> = Vec::new();
    for (from, to) in cuts(facts, &all) {
        let own: Vec<Token> = all[from..to].to_vec();
        let before = found.last();
        let piece = piece(facts, own, before);
        found.push(piece);
    }
    found
}

fn piece(facts: &Facts, own: Vec<Token>, before: Option<&Piece>) -> Piece {
    let mut amounts = amounts(&own);
    let mut mentions = mentions(facts, &own);
    // a number that names a set is no amount
    amounts.retain(|amount| {
        let is_name = |m: &Mention| {
            matches!(m.whom, Whom::Roles(_)) && (amount.first..amount.end).contains(&m.at)
        };
        // "32k" may be one: a rate has a unit
        let is_bare = matches!(amount.unit, Unit::Count(_)) || own[amount.end - 1].is_in("k m g");
        !(is_bare && mentions.iter().any(is_name))
    });
    if let Some(before) = before {
        share_unit(&mut amounts, before);
    }
    // "xdp-drop" drops nothing
    let mut cues = cues(&own, &amounts);
    cues.retain(|cue| own[cue.at].is_number() || !facts.has_name(&own[cue.at].text));
    if let Some(before) = before {
        resolve_others(facts, &mut mentions, before);
    }
    let mut scope = Scope::of(facts, &mentions);
    let has_other = mentions.iter().any(|m| matches!(m.whom, Whom::OtherPart));
    let mut quantity = quantity(&own, &mentions);
    if let Some(before) = before {
        let is_of_all = matches!(quantity, Quantity::All | Quantity::None | Quantity::Of(..));
        let is_left_out =
            before.mentions.iter().any(|m| matches!(m.whom, Whom::NotPart(_) | Whom::NotFamily(_)));
        if (!is_of_all || is_left_out) && !has_other {
            let is_it = own.first().is_some_and(|token| token.is_in("it this that"));
            scope = if mentions.is_empty() && !is_it {
                scope.with_roles(&before.scope)
            } else {
                scope.or(&before.scope)
            };
        }
        let has_result = amounts.iter().any(|own| !matches!(own.unit, Unit::Count(_)));
        let is_short = own.len() <= 9;
        if cues.is_empty()
            && !has_result
            && is_short
            && !mentions.is_empty()
            && !before.cues.is_empty()
        {
            const AGAIN: &str =
                "not too well likewise also neither nor same does do did even none only";
            if own.iter().any(|token| token.is_in(AGAIN)) {
                let denied = own.iter().filter(|t| is_negation(&t.text)).count() % 2 == 1;
                let is_neither = own.iter().any(|t| t.is_in("neither nor"));
                cues = before.cues.clone();
                for cue in &mut cues {
                    cue.is_denied = if is_neither { true } else { cue.is_denied ^ denied };
                }
                if before.quantity != Quantity::Only {
                    quantity = Quantity::Plain;
                }
            }
        }
    }
    let is_silent = is_silent(&own, &mentions)
        || before.is_some_and(|before| before.is_silent) && mentions.is_empty() && cues.is_empty();
    Piece { tokens: own, amounts, cues, mentions, scope, quantity, is_silent }
}

/// What is measured beside rates, what is set, and what nobody measured.
fn is_silent(own: &[Token], mentions: &[Mention]) -> bool {
    const OTHERS: &str = "interrupt interrupts cpu misses pcie memory mbufs latency temperature threads samples \
    limit temperatures watts fan boot cycles branch idle utilization lock cores busy \
    processor settings setting config configuration hardware table entries driver senders \
    sender receiver ports port cable cables flows flow queue sockets error firmware sysctl \
    sysctls tunables options option compiler bug ram bios lines files graphs profile";
    const RATES: &str = "pps kpps mpps rate rates throughput forwarding forwards performance faster slower gain \
    gains forward speed loses loss improvement regression slowdown speedup drop drops impact";
    const THOUGHT: &str =
        "expected feared hoped expect hope promised predicted whether anticipated";
    let has = |list: &str| own.iter().any(|token| token.is_in(list));
    let is_need = own.windows(2).any(|two| two[0].is_in("need needs") && two[1].is("to"));
    let is_named = mentions.iter().any(|m| !matches!(m.whom, Whom::Roles(_)));
    has(OTHERS) && !has(RATES) && !is_named
        || has("should") && !has("not")
        || has(THOUGHT) && !own.windows(2).any(|two| two[0].is("as") && two[1].is_in(THOUGHT))
        || is_need && mentions.is_empty()
        || has("would") && mentions.is_empty()
}

/// "... 2.67 Mpps, and none exceeded 2.53": a decimal without a unit has that of the piece before.
fn share_unit(amounts: &mut [Amount], before: &Piece) {
    let Some(last) = before.amounts.iter().rfind(|own| own.unit == Unit::Rate) else { return };
    let written = before.tokens[last.first].text.replace(',', "").parse::<f64>();
    let Some(scale) = written.ok().filter(|own| *own > 0.0).map(|own| last.low / own) else {
        return;
    };
    for own in amounts.iter_mut().filter(|own| matches!(own.unit, Unit::Count(_)) && own.step < 1.0)
    {
        let ratio = own.low * scale / last.low;
        if (0.2..5.0).contains(&ratio) {
            own.rescale(scale, Unit::Rate);
        }
    }
}

/// "The other machine": the one that was not named before.
fn resolve_others(facts: &Facts, mentions: &mut [Mention], before: &Piece) {
    for mention in mentions {
        match mention.whom {
            Whom::OtherPart => {
                let parts = before.scope.parts.iter().flatten().copied().collect::<Vec<_>>();
                if let ([part], 2) = (parts.as_slice(), facts.parts.len()) {
                    mention.whom = Whom::Part(1 - part);
                }
            }
            Whom::OtherFamily => {
                let own = before.scope.families.iter().flatten().copied().collect::<Vec<_>>();
                let all = facts.families();
                let mut rest = all.into_iter().filter(|family| !own.contains(family));
                if let (1, Some(family)) = (own.len(), rest.next()) {
                    mention.whom = Whom::Family(family);
                }
            }
            _ => {}
        }
    }
}
