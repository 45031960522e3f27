//! A sentence cut into pieces that each make one claim, each with what it takes from the ones before it.

use crate::amount::{Amount, Unit, amounts};
use crate::cue::{Cue, cues, is_negation};
use crate::facts::Facts;
use crate::mention::{Mention, Whom, mentions};
use crate::scope::Scope;
use crate::softness::Soft;
use crate::token::{Token, tokens};

/// Over how many of what it may mean a claim is said to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Plain,
    All,
    None,
    Some,
    NotAll,
    /// Of what is named, and of nothing else.
    Only,
    /// So many of so many.
    Of(usize, Option<usize>),
}

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
        !(matches!(amount.unit, Unit::Count(_)) && mentions.iter().any(is_name))
    });
    if let Some(before) = before {
        share_unit(&mut amounts, before);
    }
    let mut cues = cues(&own, &amounts);
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
            own.low *= scale;
            own.high *= scale;
            own.step *= scale;
            own.unit = Unit::Rate;
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

/// Where a sentence is cut.
fn cuts(facts: &Facts, all: &[Token]) -> Vec<(usize, usize)> {
    const TURNS: &str = "but while whereas although though however yet because since whilst";
    let mut cuts = vec![0];
    let mut labels = Vec::new();
    let says = |from: usize, to: usize| {
        let own = &all[from..to];
        let amounts = amounts(own);
        let is_bound = |a: &Amount| a.step < 1.0 && matches!(a.soft, Soft::Above | Soft::Below);
        let has_result = amounts.iter().any(|a| !matches!(a.unit, Unit::Count(_)) || is_bound(a));
        has_result || !cues(own, &amounts).is_empty()
    };
    let names = |from: usize, to: usize| !mentions(facts, &all[from..to]).is_empty();
    let ends = |from: usize| {
        let stop = |t: &Token| t.is_mark(&[',', ';', '(', ')']) || t.is_in(TURNS) || t.is("and");
        (from..all.len()).find(|at| stop(&all[*at])).unwrap_or(all.len())
    };
    for at in 1..all.len() {
        let own = &all[at];
        let from = *cuts.last().unwrap_or(&0);
        let is_since = own.is("since")
            && (names(at + 1, (at + 4).min(all.len()))
                || all.get(at + 1).is_some_and(Token::is_number));
        let is_label = all.get(at + 1).is_some_and(|next| next.is_mark(&[':']))
            && at + 2 < all.len()
            && names(at, at + 1)
            && at > from;
        if is_label && says(from, at) {
            // the cut swallows no token
            cuts.push(at);
            labels.push(at);
            continue;
        }
        if is_since {
            continue;
        }
        let is_long = own.is_mark(&[':']) && at - from > 5;
        let is_full = is_long
            || own.is_mark(&[';', '!', '?', '—'])
            || own.is_in(TURNS)
                && !(own.is("but") && all[at - 1].is_in("all nothing anything none"));
        let is_dash = own.is_mark(&['-', '–']) && !all[at - 1].is_number();
        if is_full || is_dash && says(from, at) {
            cuts.push(at + 1);
            continue;
        }
        // "(7 %)" belongs to what stands before it
        let is_inline = own.is_mark(&['(']) && {
            let close = (at..all.len()).find(|at| all[*at].is_mark(&[')'])).unwrap_or(all.len());
            close - at <= 7
                && !names(at + 1, close)
                && !all[at + 1..close].iter().any(|t| t.is_mark(&['→']) || t.is("to"))
        };
        if is_inline {
            continue;
        }
        let is_joint = own.is_mark(&[',', '(', ':']) || own.is_in("and or nor");
        if !is_joint || at + 1 >= all.len() {
            continue;
        }
        let is_bracketed = |open: &str| all[from..at].iter().any(|t| t.is_in(open));
        let is_pair = own.is_in("and nor or") && is_bracketed("both between neither either");
        let end = ends(at + 1);
        let is_ellipsis = own.is_in("and nor") || own.is_mark(&[',']);
        let again = is_ellipsis
            && names(at + 1, end)
            && all[at + 1..end].iter().any(|t| t.is_in("not neither too likewise"))
            && !all[at + 1..end].iter().any(|t| t.is("or"));
        // "IPv4 and IPv6 gain": one claim of both
        let both = says(from, at) && (says(at + 1, end) || again);
        let is_list =
            own.is_in("and or") && !names(at + 1, end) && !says_by_amount(&all[at + 1..end]);
        if both && !is_pair && !is_list {
            cuts.push(at + 1);
        }
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (number, from) in cuts.iter().enumerate() {
        let to = cuts
            .get(number + 1)
            .map_or(all.len(), |next| if labels.contains(next) { *next } else { next - 1 });
        // the joint itself belongs to what follows it, where it denies
        let from = if *from > 0 && all[from - 1].is_in("nor") { from - 1 } else { *from };
        if from < to {
            found.push((from, to));
        }
    }
    found
}

fn says_by_amount(own: &[Token]) -> bool {
    amounts(own).iter().any(|a| !matches!(a.unit, Unit::Count(_)))
}

/// Over how many it is said.
fn quantity(own: &[Token], mentions: &[Mention]) -> Quantity {
    let text = |at: usize| own.get(at).map_or("", |token| token.text.as_str());
    let is_of_sets = |word: &str| {
        [
            "comparison",
            "difference",
            "case",
            "test",
            "block",
            "result",
            "set",
            "combination",
            "measurement",
            "configuration",
            "machine",
            "box",
            "famil",
            "of",
            "firewall",
            "scenario",
            "setup",
            "ups",
            "release",
            "kernel",
            "setting",
        ]
        .iter()
        .any(|root| word.starts_with(root))
    };
    for at in 0..own.len() {
        let number = crate::amount::number_word(text(at)).or_else(|| text(at).parse().ok());
        // "three of the four comparisons", "three out of four"
        if let Some(k) = number.filter(|k| *k < 20.0) {
            let mut next = at + 1;
            let is_out = text(next) == "out" || text(next) == "of" || text(next) == "in";
            while matches!(
                text(next),
                "out" | "of" | "the" | "in" | "all" | "these" | "our" | "my" | "those" | "your"
            ) {
                next += 1;
            }
            let all = crate::amount::number_word(text(next)).or_else(|| text(next).parse().ok());
            if k == 1.0 && at > 0 && text(at - 1) == "not" {
                return Quantity::None;
            }
            if let Some(n) = all.filter(|n| is_out && *n >= k && *n < 20.0) {
                let noun = (next + 1..next + 3)
                    .map(text)
                    .any(|w| w.is_empty() || is_of_sets(w) || w == "," || w == ".");
                if noun {
                    return Quantity::Of(k as usize, Some(n as usize));
                }
            }
        }
    }
    let has = |words: &str| own.iter().any(|token| token.is_in(words));
    let is_before_sets = |at: usize| {
        (1..=4).any(|k| is_of_sets(text(at + k)) && text(at + k) != "of") || text(at + 1) == "of"
    };
    for at in 0..own.len() {
        let denied = at > 0 && is_negation(text(at - 1));
        match text(at) {
            "not"
                if matches!(
                    text(at + 1),
                    "all" | "every" | "everything" | "both" | "each" | "always" | "everywhere"
                ) =>
            {
                return Quantity::NotAll;
            }
            "win" if text(at + 1) == "win" => {
                return if crate::cue::is_negated(own, at) {
                    Quantity::NotAll
                } else {
                    Quantity::All
                };
            }
            "not" if text(at + 1) == "one" && text(at + 2) == "of" => return Quantity::None,
            "neither" => return Quantity::None,
            "nowhere" if text(at + 1) != "near" => return Quantity::None,
            "none" if text(at + 1) == "of" => return Quantity::None,
            "no" if matches!(
                text(at + 1),
                "machine"
                    | "box"
                    | "family"
                    | "comparison"
                    | "case"
                    | "test"
                    | "combination"
                    | "one"
            ) =>
            {
                return Quantity::None;
            }
            "not" if text(at + 1) == "a" && text(at + 2) == "single" && is_before_sets(at) => {
                return Quantity::None;
            }
            "only" | "alone" | "solely" | "exclusively" if !denied => {
                let near = mentions.iter().any(|m| {
                    matches!(m.whom, Whom::Part(_) | Whom::Family(_) | Whom::Roles(_))
                        && (m.at.abs_diff(at) <= 2
                            || text(at) == "only"
                                && ((at..at + 4).contains(&m.at)
                                    || matches!(
                                        text(at + 1),
                                        "one"
                                            | "family"
                                            | "machine"
                                            | "box"
                                            | "test"
                                            | "case"
                                            | "set"
                                            | "scenario"
                                            | "comparison"
                                    )))
                });
                if near {
                    return Quantity::Only;
                }
            }
            "all" | "every" | "each" | "any" if !denied && is_before_sets(at) => {
                return Quantity::All;
            }
            "everything" | "everywhere" | "always" | "throughout" if !denied => {
                return Quantity::All;
            }
            "across" if text(at + 1) == "the" && text(at + 2) == "board" => return Quantity::All,
            "without" if text(at + 1) == "exception" => return Quantity::All,
            "both" if !denied => return Quantity::All,
            "some" | "one" if matches!(text(at + 1), "of") && is_of_sets(text(at + 3)) => {
                return Quantity::Some;
            }
            _ => {}
        }
    }
    if has("universally invariably uniformly") { Quantity::All } else { Quantity::Plain }
}
