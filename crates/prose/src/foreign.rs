//! What a finding calls wrong by sets that the sentence may not be of: it names another set, a row of a table, both
//! families, another unit, or a share of a difference. Such a finding is to be looked at, and no more.

use std::collections::BTreeSet;

use fwdlab_evidence::finding::AuditFinding;
use fwdlab_evidence::surroundings::{SourcedSet, Surroundings};
use fwdlab_grid::{Token, Unit, tokens};
use fwdlab_netbenches::name::{NamedFamily, family_word};
use fwdlab_netbenches::page::Item;
use fwdlab_sentence::clause::words;

use crate::grids::Grids;
use crate::named::stem;

/// Whether the sets that a finding shows may not be those of its claim.
pub(crate) fn is_foreign(
    (around, grids): (&Surroundings<'_>, &Grids),
    item: &Item,
    finding: &AuditFinding,
) -> bool {
    let is_shown = |set: &&SourcedSet<'_>| finding.data.contains(&format!("'{}'", set.set.legend));
    let all: Vec<&SourcedSet<'_>> = around.sets.iter().flatten().collect();
    let shown: Vec<&SourcedSet<'_>> = all.iter().copied().filter(is_shown).collect();
    if shown.is_empty() {
        return false;
    }
    let own = tokens(&finding.claim);
    is_of_other_sets(&own, &all, &shown)
        || is_of_both_families(&finding.claim, &all, &shown)
        || is_of_other_units(&own, &tokens(&finding.data))
        || is_share_of_a_difference(&finding.claim)
        || is_against_no_set(&finding.claim, &shown)
        || grids.names_table(item, &finding.claim)
}

/// A legend or a word as one name: "stable/14" is `stable14.pps`.
fn name_of(text: &str) -> String {
    let text = text.to_lowercase();
    let text = text.strip_suffix(".pps").unwrap_or(&text);
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Whether all sets that are named in full are others than those shown, or a word begins the glued names of some of
/// these and of others: `ipf` of `ipfwsf4` and `ipfsf4`.
fn is_of_other_sets(own: &[Token], all: &[&SourcedSet<'_>], shown: &[&SourcedSet<'_>]) -> bool {
    let is_word = |word: &String| {
        word.len() > 1 && word.starts_with(char::is_alphabetic) && family_word(word).is_none()
    };
    let said: BTreeSet<String> =
        own.iter().map(|own| name_of(&own.text)).filter(|word| is_word(word)).collect();
    let stems = |sets: &[&SourcedSet<'_>]| -> BTreeSet<String> {
        sets.iter().map(|set| stem(&name_of(&set.set.legend)).to_owned()).collect()
    };
    let (all_stems, shown_stems) = (stems(all), stems(shown));
    let mut named = said.iter().filter(|word| all_stems.contains(stem(word))).peekable();
    if named.peek().is_some() {
        return named.all(|word| !shown_stems.contains(stem(word)));
    }
    // of letters only: `debian` begins `debian12` as a word and its number
    let glued = |sets: &[&SourcedSet<'_>], word: &str| -> (BTreeSet<String>, bool) {
        let legends = sets.iter().map(|set| set.set.legend.to_lowercase());
        let words: BTreeSet<String> = legends
            .flat_map(|legend| {
                let words = legend.split(|c: char| !c.is_alphanumeric());
                words
                    .filter(|own| family_word(own).is_none())
                    .map(stem)
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .collect();
        let is_begun = |own: &&String| {
            own.strip_prefix(word).is_some_and(|rest| rest.starts_with(char::is_alphabetic))
        };
        (words.iter().filter(is_begun).cloned().collect(), words.contains(word))
    };
    said.iter().filter(|word| word.len() > 2).any(|word| {
        let (all, is_alone) = glued(all, word);
        let (shown, _) = glued(shown, word);
        !is_alone && !shown.is_empty() && all.len() > shown.len()
    })
}

/// "Unpatched, many flows are slower than a single one": what stands behind "than" is none of the sets shown, and no word
/// for what was there before.
fn is_against_no_set(claim: &str, shown: &[&SourcedSet<'_>]) -> bool {
    const BASES: &str = " before without stock base baseline unpatched vanilla old older earlier previous original default \
        normal plain it its that this them those these other others kernel head current stable generic reference expected ";
    let said: Vec<String> = words(claim).into_iter().map(|(_, word)| word).collect();
    let Some(at) = said.iter().position(|word| word == "than") else { return false };
    let is_end = |word: &&String| {
        !matches!(word.as_str(), "and" | "but" | "by" | "with" | "for" | "on" | "in")
    };
    let behind: Vec<&String> = said[at + 1..].iter().take_while(is_end).take(6).collect();
    let legends: Vec<String> = shown.iter().map(|set| set.set.legend.to_lowercase()).collect();
    let is_known = |word: &&&String| {
        BASES.contains(&format!(" {word} "))
            || family_word(word).is_some()
            || legends.iter().any(|legend| legend.contains(stem(word)))
    };
    // "more than half a percent"
    const NUMBERS: [&str; 6] = ["half", "third", "quarter", "percent", "twice", "ten"];
    let is_number = |word: &&String| {
        word.contains(|c: char| c.is_ascii_digit()) || NUMBERS.contains(&word.as_str())
    };
    let mut named = behind.iter().filter(|word| word.len() > 2).peekable();
    named.peek().is_some() && !behind.iter().any(is_number) && !named.any(|word| is_known(&word))
}

/// What holds one family against the other, of which one only is shown; or what names one, and the other is shown.
fn is_of_both_families(claim: &str, all: &[&SourcedSet<'_>], shown: &[&SourcedSet<'_>]) -> bool {
    let families: BTreeSet<NamedFamily> =
        shown.iter().filter_map(|set| family_of(set, all)).collect();
    let mut named = words(claim).into_iter().filter_map(|(_, word)| family_word(&word)).peekable();
    let is_other = named.peek().is_some() && named.all(|family| !families.contains(&family));
    families.len() == 1 && (is_other || compares_families(claim))
}

/// "Between inet and inet6", "IPv6 is faster than IPv4".
fn compares_families(claim: &str) -> bool {
    let said: Vec<String> = words(claim).into_iter().map(|(_, word)| word).collect();
    let places: Vec<(usize, NamedFamily)> =
        said.iter().enumerate().filter_map(|(at, w)| Some((at, family_word(w)?))).collect();
    let is_pair = |two: &[(usize, NamedFamily)]| {
        let between = &said[two[0].0..two[1].0];
        let is_against = |word: &String| matches!(word.as_str(), "than" | "vs" | "versus");
        let is_joined = said[..two[0].0].iter().any(|word| word == "between");
        two[0].1 != two[1].1 && (is_joined || between.iter().any(is_against))
    };
    places.windows(2).any(is_pair)
}

/// The family of a set; of `pf4` or `pf` beside `pf6` its digit says it.
fn family_of(set: &SourcedSet<'_>, all: &[&SourcedSet<'_>]) -> Option<NamedFamily> {
    let by_digit = || {
        let own = name_of(&set.set.legend);
        let has = |other: &str| all.iter().any(|set| name_of(&set.set.legend) == other);
        match own.strip_suffix('6') {
            Some(stem) if has(stem) || has(&format!("{stem}4")) => Some(NamedFamily::Inet6),
            None if has(&format!("{}6", own.strip_suffix('4').unwrap_or(&own))) => {
                Some(NamedFamily::Inet)
            }
            _ => None,
        }
    };
    set.family.or_else(by_digit)
}

/// A time, bits/s or a power alone, held against what has none; a time per packet is what rates give.
fn is_of_other_units(own: &[Token], data: &[Token]) -> bool {
    let units = |all: &[Token]| -> Vec<Unit> {
        let own = all.iter().filter_map(|own| own.number).map(|own| own.unit);
        own.filter(|unit| *unit != Unit::Plain).collect()
    };
    let is_per_packet = own.iter().any(|own| own.is("packet packets frame frames"));
    let (units_said, data) = (units(own), units(data));
    let is_other = |unit: &Unit| {
        matches!(unit, Unit::Seconds | Unit::Bits | Unit::Watts) && !data.contains(unit)
    };
    !is_per_packet && !units_said.is_empty() && units_said.iter().all(is_other)
}

/// "Three quarters of the loss", "80 % of the gain".
fn is_share_of_a_difference(claim: &str) -> bool {
    const SHARES: [&str; 13] = [
        "half", "halves", "third", "thirds", "quarter", "quarters", "fifth", "fifths", "part",
        "most", "bulk", "percent", "%",
    ];
    const DIFFERENCES: [&str; 16] = [
        "loss",
        "gain",
        "difference",
        "gap",
        "slowdown",
        "slow-down",
        "speedup",
        "speed-up",
        "regression",
        "improvement",
        "penalty",
        "overhead",
        "cost",
        "drop",
        "increase",
        "decrease",
    ];
    let said: Vec<String> = claim
        .to_lowercase()
        .split_whitespace()
        .map(|word| word.trim_end_matches(['.', ',', ';', ':', '\'', '"', ')']).to_owned())
        .collect();
    let is_share = |word: &str| SHARES.contains(&word) || word.ends_with('%');
    said.windows(4).any(|four| {
        is_share(&four[0])
            && four[1] == "of"
            && matches!(four[2].as_str(), "the" | "this" | "that" | "its")
            && DIFFERENCES.contains(&four[3].as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_compared_where_one_is_held_against_the_other() {
        for text in ["no difference between inet and inet6 with pf", "IPv6 is faster than IPv4"] {
            assert!(compares_families(text), "{text}");
        }
        for text in ["IPv4 and IPv6 gain 3%", "inet6 is faster than before", "between 3% and 5%"] {
            assert!(!compares_families(text), "{text}");
        }
    }

    #[test]
    fn a_share_of_a_difference_is_no_change() {
        for text in ["three quarters of the loss", "80% of that gain, at most"] {
            assert!(is_share_of_a_difference(text), "{text}");
        }
        for text in ["a loss of 80%", "half of the rate", "the gain of 3% of the router"] {
            assert!(!is_share_of_a_difference(text), "{text}");
        }
    }

    /// "By more than half a percent" was of no set that is shown.
    #[test]
    fn numbers_in_words_behind_than_are_no_sets() {
        assert!(!is_against_no_set("did the runs differ by more than half a percent", &[]));
        assert!(!is_against_no_set("it costs more than a third", &[]));
        assert!(is_against_no_set("slower than a single flow", &[]));
    }
}
