//! The words by which a sentence says how something moves, whether that is proven, and what denies them.

use fwdlab_sentence::clause::Sign;
use fwdlab_sentence::vocabulary::{Sense, sense, turn};

use crate::amount::{Amount, Unit};
use crate::token::{Token, listed};

/// What a cue says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Say {
    /// It moves up or down.
    Moves(Sign),
    /// It does not move.
    Alike,
    /// It moves, whichever way.
    Differs,
    /// It is proven.
    Proven,
    /// It is not.
    Unproven,
}

/// A cue in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cue {
    pub(crate) at: usize,
    pub(crate) end: usize,
    pub(crate) say: Say,
    pub(crate) is_denied: bool,
    /// A noun: a gain, the loss, and no verb.
    pub(crate) is_noun: bool,
}

const PROVEN: &str = "significant significantly proven proved proves prove measurable measurably detectable \
    detectably detect detected detects conclusive conclusively established resolve resolved \
    distinguish distinguishes provable provably demonstrable confirmed confirms \
    statistically";
const UNPROVEN: &str = "inconclusive undecided insignificant unproven undetectable unclear noise luck unresolved \
    coincidence";
const ALIKE: &str = "same identical identically unchanged unaffected untouched equal alike unimpacted \
    indistinguishable neutral flat";
/// Nouns of a change that does not say which way.
const CHANGES: &str = "difference differences change changes effect effects impact influence movement \
    consequence consequences shift variation";
/// Verbs of it.
const CHANGED: &str = "changed changes change affected affects affect moved moves move influenced influences \
    impacted impacts differ differs";
const UP: &str = "cheaper sped ahead additional extra plus upwards upward surplus winning wins winner \
    beats exceeds tops thrives uptick upside outstanding leads bonus healthier";
const DOWN: &str = "dearer behind minus missing downwards downward pays paying paid hit knock trails loses \
    worse poorer foots setback threw throw throws thrown waste wasted costlier";

/// All cues of a sentence.
pub(crate) fn cues(tokens: &[Token], amounts: &[Amount]) -> Vec<Cue> {
    let words: Vec<(usize, String)> = tokens.iter().map(|t| (t.at, t.text.clone())).collect();
    let mut found: Vec<Cue> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_of_amount = amounts.iter().find(|own| (own.first..own.end).contains(&at));
        if let Some(own) = is_of_amount {
            found.extend(of_amount(tokens, own, at));
            at = own.end.max(at + 1);
            continue;
        }
        let (say, end) = match turn(&words, at) {
            Some((sense, end)) => (of_sense(sense), end),
            None => (of_word(tokens, amounts, at), at + 1),
        };
        if let Some((say, mut is_denied)) = say {
            is_denied ^= is_negated(tokens, at);
            // "proves nothing"
            is_denied ^= tokens.get(end).is_some_and(|next| next.is_in("nothing none"));
            let say = burdened(tokens, at, say);
            let is_noun = is_noun(tokens, at, end);
            found.push(Cue { at, end, say, is_denied, is_noun });
        }
        at = end.max(at + 1);
    }
    found
}

fn of_sense(sense: Sense) -> Option<(Say, bool)> {
    Some(match sense {
        Sense::Rise | Sense::Good => (Say::Moves(Sign::Up), false),
        Sense::Fall | Sense::Bad => (Say::Moves(Sign::Down), false),
        Sense::Alike => (Say::Alike, false),
        Sense::Free | Sense::Harmless => (Say::Moves(Sign::Down), true),
        Sense::Useless => (Say::Moves(Sign::Up), true),
    })
}

/// "Doubled", "+5 %".
fn of_amount(tokens: &[Token], own: &Amount, at: usize) -> Option<Cue> {
    // "does not double" says nothing of which way
    if own.sign.is_none() && is_negated(tokens, at) {
        return None;
    }
    let sign = own.sign.or_else(|| {
        let word = tokens[at].text.as_str();
        let is_verb = |roots: &[&str]| roots.iter().any(|root| word.starts_with(root));
        match own.unit {
            Unit::Factor if is_verb(&["doubl", "tripl", "quadrupl", "trebl"]) => Some(Sign::Up),
            Unit::Factor if is_verb(&["halv"]) || word == "in" => Some(Sign::Down),
            _ => None,
        }
    })?;
    let is_denied = is_negated(tokens, at);
    Some(Cue {
        at,
        end: own.end,
        say: burdened(tokens, at, Say::Moves(sign)),
        is_denied,
        is_noun: false,
    })
}

/// What a word alone says, or beside its neighbours.
fn of_word(tokens: &[Token], amounts: &[Amount], at: usize) -> Option<(Say, bool)> {
    if !tokens[at].is_word() {
        return None;
    }
    let found = of_phrase(tokens, amounts, at).or_else(|| of_moving(tokens, amounts, at));
    found.unwrap_or_else(|| of_list(tokens, amounts, at))
}

/// The text of a token so many after another.
fn text(tokens: &[Token], at: usize, k: isize) -> &str {
    at.checked_add_signed(k).and_then(|at| tokens.get(at)).map_or("", |t| t.text.as_str())
}

const UPWARDS: Option<(Say, bool)> = Some((Say::Moves(Sign::Up), false));
const DOWNWARDS: Option<(Say, bool)> = Some((Say::Moves(Sign::Down), false));

/// Words that say something, or nothing, by what stands beside them; `None` where it is for others to say.
fn of_phrase(tokens: &[Token], amounts: &[Amount], at: usize) -> Option<Option<(Say, bool)>> {
    let text = |k: isize| text(tokens, at, k);
    let starts = |at: usize| amounts.iter().any(|own| own.first == at);
    let is_after =
        |unit: &[Unit]| amounts.iter().any(|own| own.end == at && unit.contains(&own.unit));
    Some(match text(0) {
        // what is offered and set
        "load" => None,
        "up" | "down" => of_up_or_down(tokens, amounts, at),
        "more" | "less" | "fewer" => more(tokens, amounts, at),
        "higher" | "larger" | "greater" | "bigger" if starts(at + 2) && text(1) == "than" => None,
        "smaller" | "lower" if starts(at + 2) && text(1) == "than" => None,
        "above" if is_after(&[Unit::Percent, Unit::Fraction, Unit::Rate]) => UPWARDS,
        "below" if is_after(&[Unit::Percent, Unit::Fraction, Unit::Rate]) => DOWNWARDS,
        "above" | "below" => None,
        "hit" if starts(at + 1) || matches!(text(1), "the") => None,
        "hits" => None,
        "cost" | "price" | "overhead" if is_burden_moved(tokens, at) => None,
        // "the most stable" is of runs
        "stable" | "steady" if listed("most least more less", text(-1)) => None,
        "low" | "lag" | "speed" => None,
        _ => return None,
    })
}

/// Words that say by what stands beside them that something moves.
fn of_moving(tokens: &[Token], amounts: &[Amount], at: usize) -> Option<Option<(Say, bool)>> {
    const EFFECTS: &str = "impact effect influence change difference";
    let text = |k: isize| text(tokens, at, k);
    let starts = |at: usize| amounts.iter().any(|own| own.first == at);
    let is_after_time = amounts.iter().any(|own| own.end == at && own.unit == Unit::Time);
    Some(match text(0) {
        "positive" if listed(EFFECTS, text(1)) => UPWARDS,
        "negative" if listed(EFFECTS, text(1)) => DOWNWARDS,
        "positively" => UPWARDS,
        "negatively" => DOWNWARDS,
        "good" | "great" | "nice" | "fine" if text(1) == "for" => UPWARDS,
        "bad" | "poor" if text(1) == "for" => DOWNWARDS,
        "faster" | "quicker" if matches!(text(1), "one" | "of") && text(-1) == "the" => UPWARDS,
        "takes" | "took" | "take" | "cut" | "knocks" | "shaves"
            if (1..=5).any(|k| matches!(text(k), "out" | "off" | "away"))
                && (1..=2).any(|k| starts(at.wrapping_add_signed(k))) =>
        {
            DOWNWARDS
        }
        "longer" if is_after_time => DOWNWARDS,
        "shorter" if is_after_time => UPWARDS,
        "saves" | "saved" | "saving" if amounts.iter().any(|own| own.unit == Unit::Time) => UPWARDS,
        "good" | "great" | "fine" if tokens.len() <= 4 => UPWARDS,
        "bad" | "poor" if tokens.len() <= 4 => DOWNWARDS,
        "gone" if text(-1) == "are" || text(-1) == "is" => DOWNWARDS,
        "lost" | "losing" => DOWNWARDS,
        "on" if text(1) == "top" => UPWARDS,
        _ => return None,
    })
}

/// "Up 5 %", "goes down", "up to": a movement, or none.
fn of_up_or_down(tokens: &[Token], amounts: &[Amount], at: usize) -> Option<(Say, bool)> {
    const BE: &str = "is are was were be goes go went gone comes came come moved moves gets got way speeds speed sped \
    pushes pushed picks brings brought bring slightly both : | all families pps";
    let text = |k: isize| text(tokens, at, k);
    let is_be = listed(BE, text(-1));
    let is_result = |own: &&Amount| !matches!(own.unit, Unit::Count(_));
    let is_moved = is_be
        || matches!(text(1), "from" | "by" | "for" | "in" | "on" | "" | "," | "." | "!" | ":")
        || amounts.iter().any(|own| own.first == at + 1)
        || amounts.iter().filter(is_result).any(|own| own.end == at);
    let is_up = text(0) == "up";
    let is_bound = is_up && text(1) == "to" && !is_be;
    let is_over = matches!(text(-1), "end" | "ends" | "ended" | "set") || text(1) == "and";
    match is_moved && !is_bound && !is_over || !is_up && text(1) == "to" {
        true if is_up => UPWARDS,
        true => DOWNWARDS,
        false => None,
    }
}

/// Words of the lists: which way, whether it is proven, whether it is the same.
fn of_list(tokens: &[Token], amounts: &[Amount], at: usize) -> Option<(Say, bool)> {
    const BEYOND: &str = "outside beyond above exceeds exceed dwarfs larger bigger";
    /// "The same machine" says nothing of its rates.
    const THINGS: &str = "machine box hardware page diff patch kernel flows story picture frames settings for goes \
    size amount drop gain loss number time way block revision order sequence command options script";
    let text = |k: isize| text(tokens, at, k);
    let is_result = |own: &&Amount| !matches!(own.unit, Unit::Count(_));
    let is_after_result = || amounts.iter().filter(is_result).any(|own| own.end == at);
    let word = text(0);
    match word {
        "within" if matches!(text(1), "noise" | "the") && text(2).starts_with("noise") => {
            Some((Say::Unproven, false))
        }
        "tell" | "told" if text(1) == "apart" || text(2) == "apart" || text(3) == "apart" => {
            Some((Say::Proven, false))
        }
        "tie" if text(-1) == "a" || text(-1) == "statistical" => Some((Say::Unproven, false)),
        "as" if matches!(text(1), "fast" | "quick" | "slow" | "many" | "well")
            && text(2) == "as"
            && !is_after_result() =>
        {
            (text(1) != "well").then_some((Say::Alike, false))
        }
        _ if listed(UP, word) => UPWARDS,
        _ if listed(DOWN, word) => DOWNWARDS,
        _ if listed(PROVEN, word) => Some((Say::Proven, false)),
        "noise"
            if (1..=5)
                .any(|k| listed(BEYOND, text(-k)) || text(-k) == "out" && text(1 - k) == "of") =>
        {
            Some((Say::Proven, false))
        }
        _ if listed(UNPROVEN, word) => Some((Say::Unproven, false)),
        _ if listed(ALIKE, word) => (!listed(THINGS, text(1))).then_some((Say::Alike, false)),
        _ if listed(CHANGES, word) && !is_agent(tokens, at) => Some((Say::Differs, false)),
        _ if listed(CHANGED, word) && is_of_things(tokens, at) => None,
        _ if listed(CHANGED, word) && !is_agent(tokens, at) && text(1) != "between" => {
            Some((Say::Differs, false))
        }
        _ => of_sense(sense(word)?),
    }
}

/// "Only the kernel was changed": what somebody did, and no rate.
fn is_of_things(tokens: &[Token], at: usize) -> bool {
    let before = &tokens[at.saturating_sub(5)..at];
    before.iter().any(|t| {
        t.is_in("kernel settings setting hardware config configuration cable nic cabling else")
    })
}

/// "The change costs", "with this change": what was done, and no difference.
fn is_agent(tokens: &[Token], at: usize) -> bool {
    let text = |k: isize| {
        at.checked_add_signed(k).and_then(|at| tokens.get(at)).map_or("", |t| t.text.as_str())
    };
    if !matches!(text(0), "change" | "changes" | "changed" | "move" | "moves") {
        return false;
    }
    let is_verb_of_it = text(0) == "changes" && !matches!(text(-1), "the" | "these" | "this");
    !is_verb_of_it
        && (matches!(text(-1), "the" | "this" | "that" | "from" | "of" | "d")
            || matches!(text(-2), "the" | "this" | "that")
                && !is_negation(text(-1))
                && text(-1) != "only")
        && !matches!(text(1), "in" | "of" | "is" | "was" | "on" | "for")
}

/// "27 % more", "95 ns less", "more packets": which way it goes.
fn more(tokens: &[Token], amounts: &[Amount], at: usize) -> Option<(Say, bool)> {
    let text = |k: usize| tokens.get(at + k).map_or("", |t| t.text.as_str());
    let is_more = text(0) == "more";
    let before = amounts.iter().find(|own| own.end == at && !matches!(own.unit, Unit::Count(_)));
    let is_costly = matches!(
        text(1),
        "expensive" | "costly" | "slowly" | "sluggish" | "time" | "cycles" | "ns"
    );
    let is_able = matches!(
        text(1),
        "performant"
            | "efficient"
            | "capable"
            | "powerful"
            | "quickly"
            | "throughput"
            | "performance"
            | "pps"
    );
    let is_of_packets = (1..=4).any(|k| {
        text(k).starts_with("packet")
            || text(k).starts_with("frame")
            || text(k) == "pps"
            || text(k) == "traffic"
    });
    let is_family = fwdlab_netbenches::name::family_word(text(1)).is_some();
    if text(1) == "than" && before.is_none() && !is_of_packets {
        return None;
    }
    let is_time = before.is_some_and(|own| own.unit == Unit::Time);
    let is_it = before.is_some() || is_costly || is_able || is_of_packets || is_family;
    let sign = if is_more ^ (is_costly || is_time) { Sign::Up } else { Sign::Down };
    is_it.then_some((Say::Moves(sign), false))
}

const BURDENS: &str =
    "time latency cost costs price overhead cycles duration ns microseconds nanoseconds";

/// "The time of a packet rises" is a loss.
fn burdened(tokens: &[Token], at: usize, say: Say) -> Say {
    let Say::Moves(sign) = say else { return say };
    let own = tokens[at].text.as_str();
    let is_movement = matches!(sense(own), Some(Sense::Rise | Sense::Fall))
        || matches!(own, "up" | "down" | "higher" | "lower")
        || tokens[at].is_number();
    let from = at.saturating_sub(9);
    let is_burden = |token: &Token| token.is_in(BURDENS);
    let mut before = tokens[from..at].iter().rev();
    let nearest = before.find(|t| is_burden(t) || t.is_in("rate throughput performance pps but"));
    let is_subject = nearest.is_some_and(is_burden);
    let is_object = tokens.get(at + 1..(at + 4).min(tokens.len())).is_some_and(|next| {
        next.iter().any(|t| t.is_in("time latency cost price overhead ns"))
            && !next.iter().any(|t| t.is_in("rate in by on"))
    });
    let is_time_measure = is_movement
        && (is_subject
            || is_object
                && matches!(
                    own,
                    "lower"
                        | "higher"
                        | "reduces"
                        | "reduced"
                        | "increases"
                        | "increased"
                        | "lowers"
                        | "raises"
                        | "cuts"
                ));
    if is_time_measure { Say::Moves(sign.turned()) } else { say }
}

fn is_burden_moved(tokens: &[Token], at: usize) -> bool {
    let next = tokens.get(at + 1..(at + 7).min(tokens.len())).unwrap_or_default();
    let is_price = tokens[at].is_in("cost price overhead");
    let before = at.checked_sub(1).map_or("", |at| tokens[at].text.as_str());
    is_price
        && !matches!(before, "would" | "will" | "does" | "not" | "to" | "may" | "could" | "should")
        && next.iter().any(|t| {
            matches!(sense(&t.text), Some(Sense::Rise | Sense::Fall))
                || t.is_in("up down went goes")
        })
}

/// A noun: "a gain", "the v4 loss".
fn is_noun(tokens: &[Token], at: usize, end: usize) -> bool {
    const NOUNS: &str = "gain gains loss losses drop drops increase decrease improvement improvements regression \
    regressions speedup slowdown win hit penalty benefit boost decline dip fall rise jump \
    degradation reduction cost costs price plus minus damage advantage growth uplift \
    difference differences change effect impact progress setback toll deficit shortfall \
    surplus bonus leap speed-up slump";
    let own = &tokens[end - 1];
    if !own.is_in(NOUNS) {
        return false;
    }
    let text = |k: usize| at.checked_sub(k).map_or("", |at| tokens[at].text.as_str());
    // "it drops", "IPv4 gains": verbs, unless an article or an adjective stands before them
    let is_only_noun = own.is_in(
        "improvement improvements regression regressions speedup slowdown penalty loss losses \
    degradation reduction advantage growth difference differences effect setback deficit \
    shortfall surplus bonus",
    );
    let is_behind = |word: &str| {
        matches!(
            word,
            "a" | "an"
                | "the"
                | "its"
                | "this"
                | "that"
                | "no"
                | "any"
                | "smaller"
                | "bigger"
                | "larger"
                | "forwarding"
                | "performance"
                | "'s"
                | "their"
                | "of"
                | "big"
                | "small"
                | "%"
                | "percent"
                | "relative"
                | "absolute"
                | "significant"
                | "rate"
                | "throughput"
                | "measurable"
                | "same"
        )
    };
    let is_family = |word: &str| fwdlab_netbenches::name::family_word(word).is_some();
    is_only_noun
        || is_behind(text(1))
        || is_family(text(1))
            && (is_behind(text(2))
                || tokens.get(end).is_some_and(|t| t.is_in("on of in is exceeds outweighs")))
}

pub(crate) fn is_negation(word: &str) -> bool {
    matches!(
        word,
        "not"
            | "no"
            | "never"
            | "without"
            | "neither"
            | "nor"
            | "none"
            | "nothing"
            | "nobody"
            | "hardly"
            | "scarcely"
            | "nowhere"
            | "non"
            | "zero"
            | "fails"
            | "failed"
            | "fail"
            | "barely"
            | "unable"
            | "refuses"
            | "lacks"
    )
}

/// Whether a negation before a word reaches it.
pub(crate) fn is_negated(tokens: &[Token], at: usize) -> bool {
    let mut denied = false;
    let mut steps = 0;
    for back in (0..at).rev() {
        let own = &tokens[back];
        steps += 1;
        let stops = own.is_mark(&[',', ';', ':', '(', '|'])
            || own.is_in("but and because since so while which");
        if steps > 7 || stops {
            break;
        }
        let next = tokens.get(back + 1).map_or("", |t| t.text.as_str());
        let is_only = own.is("not")
            && matches!(next, "only" | "just" | "merely" | "even" | "much" | "that")
            && next != "much";
        let is_far = own.is("far") && next == "from" || own.is("anything") && next == "but";
        let is_refused =
            own.is_in("wrong false incorrect untrue doubt") && matches!(next, "to" | "that");
        let is_patch_absent =
            own.is("without") && matches!(next, "the" | "it" | "this" | "any") && steps > 3;
        const LIGHT: &str =
            "a an any the measurable significant visible clear real noticeable much such";
        let is_absent = own.is("without") && !tokens[back + 1..at].iter().all(|t| t.is_in(LIGHT))
            || own.is("no") && next.starts_with("firewall");
        let is_number = own.is("zero")
            || own.is("no") && matches!(next, "less" | "more" | "longer" | "doubt" | "matter");
        if (is_negation(&own.text) && !is_only && !is_patch_absent && !is_absent && !is_number)
            || is_far
            || is_refused
        {
            denied = !denied;
            // "neither ... nor" is one
            if own.is_in("nor neither") {
                break;
            }
        }
        // another verb between: what is denied is that one
        if steps > 1 && is_moving(tokens, back) && denied {
            break;
        }
    }
    denied
}

fn is_moving(tokens: &[Token], at: usize) -> bool {
    let own = &tokens[at];
    own.is_word()
        && matches!(sense(&own.text), Some(Sense::Rise | Sense::Fall | Sense::Good | Sense::Bad))
}
