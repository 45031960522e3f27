//! What a clause says of families: one against the other, both of them, the gap between them.

use std::collections::BTreeSet;

use crate::clause::{Clause, Sign, Stance, words};
use crate::label::Label;
use fwdlab_netbenches::name::{NamedFamily, family_word};

/// What is compared: how fast the families are, or what changed for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ranked {
    /// The rate of the first is the higher or the lower one.
    Rates(Sign),
    /// The first changes more, or less.
    Changes(Sign),
    /// The second does not change as the first does.
    Only(Sign),
    /// The first changes so many times as much.
    Times(f64),
}

/// What a clause says of two families, or of one against all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The family that it speaks of.
    pub first: NamedFamily,
    /// The one that it is held against.
    pub second: NamedFamily,
    /// How they are ranked.
    pub ranked: Ranked,
    /// The word that says so.
    pub word: String,
}

impl Ranking {
    /// What a clause ranks; `None` where it ranks nothing.
    pub fn of(clause: &Clause) -> Option<Self> {
        said(clause)
    }
}

fn said(clause: &Clause) -> Option<Ranking> {
    let words: Vec<String> = words(&clause.text).into_iter().map(|(_, w)| w).collect();
    let family = |words: &[String]| -> Option<NamedFamily> {
        let found: BTreeSet<NamedFamily> = words.iter().filter_map(|w| family_word(w)).collect();
        found
            .into_iter()
            .next()
            .filter(|_| words.iter().filter_map(|w| family_word(w)).count() == 1)
    };
    let only = words.iter().position(|w| w == "only");
    if let (Some(at), Some(first), Stance::Change(sign, _)) = (only, family(&words), &clause.stance)
    {
        let is_next = words.get(at + 1).is_some_and(|w| family_word(w) == Some(first));
        let is_the_only =
            at > 1 && words[at - 1] == "the" && words.get(at + 1).is_some_and(|w| w == "one");
        if is_next || is_the_only {
            let second = other(first);
            return Some(Ranking {
                first,
                second,
                ranked: Ranked::Only(*sign),
                word: "only".into(),
            });
        }
    }
    if let Some((factor, word)) = &clause.factor {
        let at = words.iter().rposition(|w| matches!(w.as_str(), "than" | "of"))?;
        let (first, second) = (family(&words[..at])?, family(&words[at + 1..])?);
        let ranked = Ranked::Times(*factor);
        return (first != second).then(|| Ranking { first, second, ranked, word: word.clone() });
    }
    if let Some(most) = words.iter().position(|w| matches!(w.as_str(), "most" | "least")) {
        const GETS: [&str; 6] = ["get", "gain", "benefit", "profit", "win", "improv"];
        let gets =
            words[..most].iter().rev().take(2).any(|w| GETS.iter().any(|g| w.starts_with(g)));
        let first = family(&words).filter(|_| gets)?;
        let second = other(first);
        let sign = if words[most] == "most" { Sign::Up } else { Sign::Down };
        return Some(Ranking {
            first,
            second,
            ranked: Ranked::Changes(sign),
            word: words[most].clone(),
        });
    }
    let than = words.iter().position(|w| w == "than")?;
    let (first, second) = (family(&words[..than])?, family(&words[than + 1..])?);
    let word = words[..than].last()?.clone();
    let is_down = matches!(clause.stance, Stance::Change(Sign::Down, _));
    let ranked = match word.as_str() {
        "faster" | "quicker" | "higher" | "better" => Ranked::Rates(Sign::Up),
        "slower" | "lower" | "worse" => Ranked::Rates(Sign::Down),
        // "the gain for IPv6 is larger than the one for IPv4"
        "larger" | "bigger" | "greater" | "smaller" => {
            let Stance::Change(way, _) = clause.stance else { return None };
            let is_smaller = word == "smaller";
            let is_up = (way == Sign::Up) != is_smaller;
            Ranked::Changes(if is_up { Sign::Up } else { Sign::Down })
        }
        "more" if is_down => Ranked::Changes(Sign::Down),
        "more" => Ranked::Changes(Sign::Up),
        "less" if is_down => Ranked::Changes(Sign::Up),
        "less" => Ranked::Changes(Sign::Down),
        _ => return None,
    };
    (first != second && !words[..than].iter().any(|w| matches!(w.as_str(), "not" | "no" | "isn't")))
        .then_some(Ranking { first, second, ranked, word })
}

const fn other(family: NamedFamily) -> NamedFamily {
    match family {
        NamedFamily::Inet => NamedFamily::Inet6,
        NamedFamily::Inet6 => NamedFamily::Inet,
    }
}

/// "IPv6 is faster than IPv4": one against the other, in words.
pub fn compares_families(clause: &Clause) -> bool {
    const AGAINST: [&str; 8] =
        ["than", "vs", "versus", "against", "over", "compared", "beats", "outperforms"];
    let words: Vec<String> = words(&clause.text).into_iter().map(|(_, word)| word).collect();
    clause.families.len() > 1 && words.iter().any(|word| AGAINST.contains(&word.as_str()))
        || ranks_one(&words)
}

/// "IPv6 stays the faster of the two", "IPv4 is the slower family".
fn ranks_one(words: &[String]) -> bool {
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
    });
    at.is_some_and(|at| {
        words[..at].iter().any(|w| family_word(w).is_some()) && is_of_both(&words[at + 2..])
    })
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
        if !is_between || !after.iter().take(6).any(is_family) || !clause.percents.is_empty() {
            return None;
        }
        let has = |list: &[&str]| {
            words.iter().any(|word| list.iter().any(|begin| word.starts_with(begin)))
        };
        let is_denied =
            words.iter().any(|w| matches!(w.as_str(), "not" | "no" | "never" | "n't" | "neither"));
        Some(match (&clause.factor, &clause.stance) {
            (Some((factor, _)), _) if !is_denied => Self::Times(*factor),
            (_, Stance::NoChange(_)) => Self::Same,
            _ if is_denied => Self::Other,
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
        assert_eq!(
            of("the difference between the IPv4 and IPv6 rates shrinks"),
            Some(Gap::Moves(Sign::Down))
        );
        assert_eq!(of("The gap between both kernels doubles."), None);
        assert_eq!(of("The gap between IPv6 and IPv4 falls to 5%."), None);
    }

    #[test]
    fn a_gain_may_be_larger_and_a_family_the_faster_one() {
        let of = |text: &str| Ranking::of(&clauses(text)[0]).map(|said| said.ranked);
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
