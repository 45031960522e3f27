//! What a clause says of families: one against the other, both of them, the gap between them.

use crate::clause::{Clause, Sign, Stance, words};
use crate::label::Label;
use crate::levels::extreme;
use fwdlab_netbenches::name::{NamedFamily, family_word};

/// What is compared: how fast the subjects are, or what changed for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ranked {
    /// The rate of the first is the higher or the lower one.
    Rates(Sign),
    /// The first changes more, or less.
    Changes(Sign),
    /// The second does not change as the first does.
    Only(Sign),
    /// The second does not change, whichever way.
    OnlyChanges,
    /// The second changes as the first does not.
    AllBut(Sign),
    /// The first changes so many times as much.
    Times(f64),
}

/// What a clause says of two subjects, or of one against all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking<S> {
    /// What it speaks of.
    pub first: S,
    /// What that is held against; all others where it does not say.
    pub second: Option<S>,
    /// How they are ranked.
    pub ranked: Ranked,
    /// The word that says so.
    pub word: String,
}

impl Ranking<NamedFamily> {
    /// How a clause ranks families; `None` where it ranks none.
    pub fn of_families(clause: &Clause) -> Option<Self> {
        Self::of(clause, |words| {
            let mut found = words.iter().filter_map(|w| family_word(w));
            found.next().filter(|_| found.next().is_none())
        })
    }
}

/// Beginnings of nouns of a change.
const CHANGES: [&str; 8] =
    ["gain", "improv", "loss", "drop", "regress", "increas", "decreas", "reduc"];

/// Words before which a ranking is denied.
const DENIED: [&str; 3] = ["not", "no", "isn't"];

impl<S: PartialEq> Ranking<S> {
    /// How a clause ranks subjects; `whom` gives the one subject that some words name, if it is one.
    pub fn of(clause: &Clause, whom: impl Fn(&[String]) -> Option<S>) -> Option<Self> {
        let words: Vec<String> = words(&clause.text).into_iter().map(|(_, w)| w).collect();
        let one = |first: S, ranked: Ranked, word: &str| {
            Some(Self { first, second: None, ranked, word: word.to_owned() })
        };
        if let Some(ranked) = only(clause, &words, |part| whom(part).is_some()) {
            return one(whom(&words)?, ranked, "only");
        }
        let against = words.iter().rposition(|w| matches!(w.as_str(), "than" | "of"));
        if let Some((factor, word)) = &clause.factor {
            // "forwards twice as much" is of rates, and of which is not said
            if words.iter().any(|w| w.starts_with("forward")) && clause.stance == Stance::Silent {
                return None;
            }
            let (first, second) = (whom(&words[..against?])?, whom(&words[against? + 1..])?);
            let ranked = Ranked::Times(*factor);
            let second = Some(second).filter(|second| *second != first)?;
            return Some(Self { first, second: Some(second), ranked, word: word.clone() });
        }
        if let Some((sign, word)) = most(clause, &words) {
            return one(whom(&words)?, Ranked::Changes(sign), &word);
        }
        if let Some((sign, word)) = ranks_one(&words, |part| whom(part).is_some()) {
            return one(whom(&words)?, Ranked::Rates(sign), word);
        }
        if let Some((sign, word)) = extreme(clause).filter(|_| !words.iter().any(|w| w == "than")) {
            return one(whom(&words)?, Ranked::Rates(sign), &word);
        }
        let than = words.iter().position(|w| w == "than")?;
        let (before, after) = words.split_at(than);
        let (first, second) = (whom(before)?, whom(after)?);
        let (ranked, word) = before.iter().rev().find_map(|word| {
            let ranked = against_other(clause, before, word)?;
            Some((ranked, word.clone()))
        })?;
        let is_denied = before.iter().any(|w| DENIED.contains(&w.as_str()));
        (first != second && !is_denied).then_some(Self {
            first,
            second: Some(second),
            ranked,
            word,
        })
    }
}

/// "Only IPv6 gains", "IPv6 is the only one that gains", "the only one that does not lose".
fn only(clause: &Clause, words: &[String], is_one: impl Fn(&[String]) -> bool) -> Option<Ranked> {
    let is_denied = |at: usize| at > 0 && words[at - 1] == "not";
    let at = words.iter().position(|w| w == "only").filter(|at| !is_denied(*at))?;
    let next = words.get(at + 1)?;
    // "the patch only helps IPv4"
    let is_behind = words.get(at + 2).is_some_and(|word| is_one(std::slice::from_ref(word)));
    let is_next = is_one(std::slice::from_ref(next)) || is_behind && is_change(next);
    let is_the_only = at > 0 && words[at - 1] == "the" && (next == "one" || is_next);
    match &clause.stance {
        Stance::Change(sign, _) if is_next || is_the_only => Some(Ranked::Only(*sign)),
        Stance::NotThat(sign, _) if is_the_only => Some(Ranked::AllBut(*sign)),
        Stance::Differs(_) | Stance::Silent if is_next && has_a_change(words) => {
            Some(Ranked::OnlyChanges)
        }
        _ => None,
    }
}

/// "Only inet4 shows a significant change", "only inet4 is affected".
fn has_a_change(words: &[String]) -> bool {
    let is_noun = |w: &String| matches!(w.as_str(), "change" | "difference" | "effect" | "impact");
    let is_verb =
        |w: &String| matches!(w.as_str(), "changes" | "changed" | "affected" | "impacted");
    let shows = words
        .iter()
        .any(|w| ["show", "see", "has", "have", "display"].iter().any(|verb| w.starts_with(verb)));
    words.iter().any(is_verb) || shows && words.iter().any(is_noun)
}

/// Whether a word alone says that something changes.
fn is_change(word: &str) -> bool {
    let clauses = crate::clause::clauses(word);
    clauses.first().is_some_and(|clause| matches!(clause.stance, Stance::Change(..)))
}

/// "IPv6 gains the most", "the biggest gain is for IPv6": who changes most or least.
fn most(clause: &Clause, words: &[String]) -> Option<(Sign, String)> {
    const GETS: [&str; 6] = ["get", "gain", "benefit", "profit", "win", "improv"];
    const LARGEST: [&str; 5] = ["biggest", "largest", "greatest", "highest", "worst"];
    const SMALLEST: [&str; 3] = ["smallest", "lowest", "least"];
    let loses = matches!(clause.stance, Stance::Change(Sign::Down, _));
    let way = |is_most: bool| if is_most == loses { Sign::Down } else { Sign::Up };
    let (at, word) = words.iter().enumerate().find(|(_, word)| {
        matches!(word.as_str(), "most" | "least")
            || LARGEST.contains(&word.as_str())
            || SMALLEST.contains(&word.as_str())
    })?;
    if words.iter().any(|w| DENIED.contains(&w.as_str())) {
        return None;
    }
    let is_most = word == "most" || LARGEST.contains(&word.as_str());
    let before = words[..at].iter().rev().take(2);
    if matches!(word.as_str(), "most" | "least") && before.into_iter().any(|w| begins(w, &GETS)) {
        return Some((if is_most { Sign::Up } else { Sign::Down }, word.clone()));
    }
    let noun = words.get(at + 1)?;
    let loses_most = word == "most" && before_is(words, at, &["lose", "loses", "lost", "suffers"]);
    (begins(noun, &CHANGES) && word != "most" || loses_most).then(|| (way(is_most), word.clone()))
}

fn begins(word: &str, list: &[&str]) -> bool {
    list.iter().any(|begin| word.starts_with(begin))
}

fn before_is(words: &[String], at: usize, list: &[&str]) -> bool {
    words[..at].iter().rev().take(2).any(|word| list.contains(&word.as_str()))
}

/// What a comparative says that stands before "than".
fn against_other(clause: &Clause, before: &[String], word: &str) -> Option<Ranked> {
    let way = |is_up: bool| if is_up { Sign::Up } else { Sign::Down };
    let is_of_a_change = before.iter().any(|w| begins(w, &CHANGES));
    Some(match (word, &clause.stance) {
        // "has a lower cost", "pays a bigger price"
        ("higher" | "bigger" | "larger" | "lower" | "smaller", Stance::Change(sign, said))
            if said.starts_with(word) && said.len() > word.len() =>
        {
            Ranked::Changes(*sign)
        }
        ("higher", Stance::Change(sign, _)) if is_of_a_change => Ranked::Changes(*sign),
        ("lower", Stance::Change(..)) if is_of_a_change => return None,
        ("faster" | "quicker" | "higher" | "better", _) => Ranked::Rates(Sign::Up),
        ("slower" | "lower" | "worse", _) => Ranked::Rates(Sign::Down),
        // "the gain for IPv6 is larger than the one for IPv4"
        ("larger" | "bigger" | "greater" | "smaller", Stance::Change(sign, _)) => {
            Ranked::Changes(way((*sign == Sign::Up) != (word == "smaller")))
        }
        ("larger" | "bigger" | "greater" | "smaller", _) => return None,
        // "forwards more than"
        ("more" | "less", Stance::Silent) => {
            const MOVES: [&str; 8] =
                ["forward", "deliver", "handle", "push", "process", "pass", "move", "route"];
            let is_of_rates = before.iter().any(|w| begins(w, &MOVES));
            is_of_rates.then_some(Ranked::Rates(way(word == "more")))?
        }
        ("more" | "less", stance) => {
            let is_down = matches!(stance, Stance::Change(Sign::Down, _));
            Ranked::Changes(way((word == "more") != is_down))
        }
        _ => return None,
    })
}

/// "IPv4 and IPv6 are forwarded at nearly the same rate": both as fast as each other, and not as before.
pub fn is_alike(clause: &Clause) -> bool {
    const RATES: [&str; 5] = ["rate", "speed", "throughput", "level", "pace"];
    let words: Vec<String> = words(&clause.text).into_iter().map(|(_, word)| word).collect();
    let is_same = words.windows(3).any(|w| {
        w[0] == "at"
            && matches!(w[1].as_str(), "the" | "nearly" | "almost" | "about")
            && w[2] == "same"
            || w[0] == "the" && w[1] == "same" && RATES.contains(&w[2].as_str())
    }) && words.iter().any(|w| w == "at");
    let is_joined = words.windows(3).any(|w| {
        let of = |k: usize| family_word(&w[k]);
        w[1] == "and" && of(0).is_some() && of(2).is_some() && of(0) != of(2)
    });
    let is_of_change =
        words.iter().any(|w| matches!(w.as_str(), "before" | "after" | "still" | "both" | "stay"));
    is_same && is_joined && !is_of_change && !is_of_a_patch(clause)
}

/// "IPv6 is faster than IPv4": one against the other, in words.
pub fn compares_families(clause: &Clause) -> bool {
    const AGAINST: [&str; 8] =
        ["than", "vs", "versus", "against", "over", "compared", "beats", "outperforms"];
    let words: Vec<String> = words(&clause.text).into_iter().map(|(_, word)| word).collect();
    clause.families.len() > 1 && words.iter().any(|word| AGAINST.contains(&word.as_str()))
        || ranks_one(&words, |part| part.iter().any(|w| family_word(w).is_some())).is_some()
}

/// "IPv6 stays the faster of the two", "IPv4 is the slower family".
fn ranks_one(words: &[String], is_one: impl Fn(&[String]) -> bool) -> Option<(Sign, &String)> {
    let is_of_both = |rest: &[String]| match rest {
        [of, the, two, ..] if of == "of" => {
            the == "both" || the == "the" && matches!(two.as_str(), "two" | "families")
        }
        [of, both] if of == "of" => both == "both",
        [one, ..] => one.starts_with("famil") || one.starts_with("protocol"),
        [] => false,
    };
    let at = words.windows(2).position(|pair| {
        pair[0] == "the" && matches!(pair[1].as_str(), "faster" | "slower" | "quicker")
    })?;
    let sign = if words[at + 1] == "slower" { Sign::Down } else { Sign::Up };
    (is_one(&words[..at]) && is_of_both(&words[at + 2..])).then_some((sign, &words[at + 1]))
}

/// What is said of the distance between the families: "the gap between the families doubles".
#[derive(Clone, Debug, PartialEq)]
pub enum Gap {
    /// It did not change.
    Same,
    /// It became wider, or narrower.
    Moves(Sign),
    /// It is so many times as wide.
    Times(f64),
    /// It is the widest, or the narrowest, where the clause says.
    Most(Sign),
    /// Something else.
    Other,
}

impl Gap {
    /// What a clause says of it; `None` where it speaks of something else, or gives a percentage.
    pub fn of(clause: &Clause) -> Option<Self> {
        const WIDER: [&str; 6] = ["widen", "grow", "grew", "wider", "larger", "bigger"];
        const NARROWER: [&str; 6] = ["narrow", "shrink", "shrank", "close", "smaller", "vanish"];
        let words: Vec<String> = words(&clause.text).into_iter().map(|(_, word)| word).collect();
        let is_gap =
            |word: &String| matches!(word.as_str(), "gap" | "difference" | "distance" | "ratio");
        let gap = words.iter().position(is_gap)?;
        let is_family = |word: &String| {
            word.starts_with("famil") || word.starts_with("protocol") || family_word(word).is_some()
        };
        let after = &words[gap + 1..];
        let is_between = after.first().is_some_and(|word| word == "between");
        // "between the kernels for inet" is of kernels
        let is_joint = |word: &&String| !matches!(word.as_str(), "for" | "on" | "in" | "with");
        let apart = || after.iter().take(6).take_while(is_joint);
        if !is_between || !apart().any(is_family) || !clause.percents.is_empty() {
            return None;
        }
        const WIDEST: [&str; 5] = ["widest", "largest", "biggest", "greatest", "highest"];
        const NARROWEST: [&str; 5] = ["narrowest", "smallest", "lowest", "least", "tightest"];
        let has = |list: &[&str]| {
            words.iter().any(|word| list.iter().any(|begin| word.starts_with(begin)))
        };
        let is_denied =
            words.iter().any(|w| matches!(w.as_str(), "not" | "no" | "never" | "n't" | "neither"));
        Some(match (&clause.factor, &clause.stance) {
            (Some((factor, _)), _) if !is_denied => Self::Times(*factor),
            (_, Stance::NoChange(_)) => Self::Same,
            _ if is_denied => Self::Other,
            _ if has(&WIDEST) => Self::Most(Sign::Up),
            _ if has(&NARROWEST) => Self::Most(Sign::Down),
            (_, Stance::Change(sign, _)) => Self::Moves(*sign),
            _ if has(&WIDER) => Self::Moves(Sign::Up),
            _ if has(&NARROWER) => Self::Moves(Sign::Down),
            _ if has(&["same"]) => Self::Same,
            _ => Self::Other,
        })
    }
}

/// "The patch brings 24 %": what a clause speaks of is a change, and not one of the families.
pub fn is_of_a_patch(clause: &Clause) -> bool {
    let words = words(&clause.text).into_iter().map(|(_, word)| word);
    let mut words = words.skip_while(|word| matches!(word.as_str(), "the" | "this" | "our" | "so"));
    let is_patch = words.next().is_some_and(|word| {
        matches!(word.as_str(), "patch" | "review" | "commit" | "change")
            || !Label::of(&word).patches.is_empty()
    });
    is_patch && words.next().is_some_and(|next| family_word(&next).is_none())
}

/// "17.6 % against 50 %": whether the number at `offset` is what the one before is held against.
pub fn is_held_against(text: &str, offset: usize) -> bool {
    const AGAINST: [&str; 6] = ["against", "vs", "vs.", "versus", "instead of", "compared to"];
    let before = text[..offset].trim_end_matches([' ', '~', '(', '+', '-']).to_lowercase();
    AGAINST.iter().any(|word| before.ends_with(word))
}

/// "For both families".
pub fn is_of_all_families(clause: &Clause) -> bool {
    let words = words(&clause.text);
    words.windows(2).any(|pair| {
        matches!(pair[0].1.as_str(), "both" | "all" | "each" | "either")
            && (pair[1].1.starts_with("famil") || pair[1].1.starts_with("protocol"))
    })
}

/// "No difference is proven", "none is significant": what the block says itself, and no more.
pub fn is_of_proof(clause: &Clause) -> bool {
    const PROOF: [&str; 4] = ["proven", "proved", "significant", "significantly"];
    words(&clause.text).iter().any(|(_, word)| PROOF.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clause::clauses;

    #[test]
    fn what_is_said_of_the_gap_is_read() {
        let of = |text: &str| Gap::of(&clauses(text)[0]);
        let between = |verb: &str| of(&format!("The gap between the families {verb} with D27401."));
        assert_eq!(between("doubles"), Some(Gap::Times(2.0)));
        assert_eq!(between("did not change"), Some(Gap::Same));
        assert_eq!(between("widens"), Some(Gap::Moves(Sign::Up)));
        assert_eq!(between("narrows"), Some(Gap::Moves(Sign::Down)));
        assert_eq!(between("is not smaller"), Some(Gap::Other));
        assert_eq!(between("is the smallest"), Some(Gap::Most(Sign::Down)));
        assert_eq!(between("is not the widest"), Some(Gap::Other));
        assert_eq!(
            of("the difference between the IPv4 and IPv6 rates shrinks"),
            Some(Gap::Moves(Sign::Down))
        );
        assert_eq!(of("The gap between both kernels doubles."), None);
        assert_eq!(of("no difference between the kernels for inet"), None);
        assert_eq!(of("The gap between IPv6 and IPv4 falls to 5%."), None);
    }

    #[test]
    fn a_gain_may_be_larger_and_a_family_the_faster_one() {
        let of = |text: &str| Ranking::of_families(&clauses(text)[0]).map(|said| said.ranked);
        let than = |what: &str, word: &str| {
            of(&format!("The {what} for IPv6 is {word} than the one for IPv4."))
        };
        assert_eq!(than("gain", "larger"), Some(Ranked::Changes(Sign::Up)));
        assert_eq!(than("loss", "larger"), Some(Ranked::Changes(Sign::Down)));
        assert_eq!(than("gain", "smaller"), Some(Ranked::Changes(Sign::Down)));
        assert_eq!(than("impact", "larger"), None);
        let compares = |text: &str| compares_families(&clauses(text)[0]);
        assert!(
            compares("IPv6 stays the faster of the two.") && compares("IPv4 is the slower family")
        );
        assert!(
            !compares("The patched kernel is the faster of the two.")
                && !compares("IPv4 is faster")
        );
    }

    #[test]
    fn a_patch_is_told_from_a_family() {
        let of = |text: &str| is_of_a_patch(&clauses(text)[0]);
        assert!(of("The patch brings 24% for IPv6.") && of("D27401 gives 24%."));
        for text in
            ["IPv6 with the patch is 24% faster.", "The patch IPv6 24%", "The patched kernel"]
        {
            assert!(!of(text), "{text}");
        }
    }
}
